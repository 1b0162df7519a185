/* bench - measures for tools/bench.sh.
 *
 *   bench run CMD ARG ..    runs a program a few times: the least processor
 *                           time (seconds, user and system), the most memory
 *                           (bytes), its exit code
 *   bench decode FILE       decodes every instruction of a kernel file, and
 *                           copies the same bytes: instructions, the least
 *                           seconds of each
 *   bench judge A B         judges kernel B against A on one input, with and
 *                           without looking for races: instructions run, the
 *                           least seconds of each
 *
 * Processor time, since machines are shared; the least of several runs, since
 * everything else that happens makes it more.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nsr/judge.h>

enum { RUNS = 5 };
static const double enough = 1.0; /* seconds that all runs together take */

static double seconds(struct timeval t) {
  return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- run */

static int run_once(char **argv, double *time, double *bytes) {
  struct rusage usage;
  int status;
  pid_t child = fork();
  if (child == 0) {
    execvp(argv[0], argv);
    _exit(127);
  }
  if (child < 0 || wait4(child, &status, 0, &usage) != child)
    return 127;
  *time = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  *bytes = (double)usage.ru_maxrss * 1024;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int run(char **argv) {
  double best = 0, most = 0, all = 0, time = 0, bytes = 0;
  int code = 0;
  for (int i = 0; i < RUNS && all < enough && code == 0; i++) {
    code = run_once(argv, &time, &bytes);
    all += time;
    best = i == 0 || time < best ? time : best;
    most = bytes > most ? bytes : most;
  }
  fprintf(stderr, "%.6f %.0f %d\n", best, most, code);
  return 0;
}

/* ---- decode */

/* Something that depends on every instruction, so that none is left out. */
static uint64_t decode(const struct nsr_kernel *k) {
  uint64_t sum = 0;
  struct nsr_insn insn;
  for (uint32_t s = 0; s < k->nstreams; s++)
    for (uint32_t i = 0; i < k->streams[s].n; i++) {
      const uint8_t *word = nsr_stream_word(k, &k->streams[s], i);
      if (!nsr_decode(k->isa, k->streams[s].engine, word, &insn))
        sum += insn.noperands + insn.wait.sem;
    }
  return sum;
}

static uint64_t copy(const struct nsr_kernel *k, uint8_t *to) {
  uint64_t sum = 0;
  for (uint32_t s = 0; s < k->nstreams; s++) {
    size_t n = (size_t)k->streams[s].n * k->isa->word;
    memcpy(to, k->streams[s].code, n);
    sum += to[n / 2];
    to += n;
  }
  return sum;
}

static int measure(const struct nsr_kernel *k, uint64_t n) {
  uint8_t *to = malloc(n * k->isa->word);
  double best[2] = {0}, all = 0;
  uint64_t sum = 0;
  if (!to)
    return 70;
  for (int i = 0; i < RUNS || (all < enough && i < 100000); i++) {
    double a = now();
    sum += decode(k);
    double b = now();
    sum += copy(k, to);
    double c = now();
    best[0] = i == 0 || b - a < best[0] ? b - a : best[0];
    best[1] = i == 0 || c - b < best[1] ? c - b : best[1];
    all += c - a;
  }
  free(to);
  printf("%" PRIu64 " %.9f %.9f\n", n, best[0], best[1]);
  return sum == 0;
}

static int bench_decode(const char *path) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *k = NULL;
  const uint8_t *data;
  size_t size;
  int code = 70;
  if (ctx && nsr_file_read(ctx, path, &data, &size) == NSR_OK &&
      nsr_kernel_read(ctx, path, data, size, &k) == NSR_OK) {
    uint64_t n = 0;
    for (uint32_t s = 0; s < k->nstreams; s++)
      n += k->streams[s].n;
    code = measure(k, n);
  }
  nsr_ctx_free(ctx);
  return code;
}

/* ---- judge */

/* The least time of a few; 0: it cannot be judged, or not as equal. */
static double judged(struct nsr_ctx *ctx, const struct nsr_kernel *a,
                     const struct nsr_kernel *b, bool no_order, uint64_t *n) {
  const struct nsr_judge_options options = {.inputs = 1,
                                            .budget = UINT64_C(1) << 40,
                                            .no_relaunch = true,
                                            .no_order = no_order};
  struct nsr_judgement j;
  double best = 0, all = 0;
  for (int i = 0; i < RUNS || (all < enough && i < 1000); i++) {
    double start = now();
    if (nsr_cosimulate(ctx, a, b, &options, &j) != NSR_OK ||
        j.verdict != NSR_EQUAL)
      return 0;
    double time = now() - start;
    best = i == 0 || time < best ? time : best;
    all += time;
  }
  *n = j.instances;
  return best;
}

static int bench_judge(const char *path_a, const char *path_b) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_kernel *a, *b;
  int code = 1;
  if (ctx && nsr_kernel_load(ctx, path_a, &a) == NSR_OK &&
      nsr_kernel_load(ctx, path_b, &b) == NSR_OK) {
    uint64_t n = 0;
    double with = judged(ctx, a, b, false, &n);
    double without = judged(ctx, a, b, true, &n);
    printf("%" PRIu64 " %.9f %.9f\n", n, with, without);
    code = with <= 0 || without <= 0;
  }
  nsr_ctx_free(ctx);
  return code;
}

int main(int argc, char **argv) {
  if (argc > 2 && strcmp(argv[1], "run") == 0)
    return run(argv + 2);
  if (argc == 3 && strcmp(argv[1], "decode") == 0)
    return bench_decode(argv[2]);
  if (argc == 4 && strcmp(argv[1], "judge") == 0)
    return bench_judge(argv[2], argv[3]);
  fprintf(stderr, "usage: bench run CMD ARG .. | bench decode FILE | bench "
                  "judge A B\n");
  return 2;
}
