/* judged_pairs.c - rewritten kernels and mutants of them, with what
 * co-simulation says of each, for other judges to say what they think.
 *
 * Rewrites random kernels in all ways to count (subject.h) until there are so
 * many accepted ones and so many mutants; operators take turns. Engines keep
 * only hidden state in order. Prints for each pair a line
 *
 *   {"name":WORDS,"mutant":BOOL,"few":VERDICT,"many":VERDICT,"lines":[A,B]}
 *
 * and both kernels as JSON lines (A and B of them). Verdicts, of 8 and of 60
 * inputs: 0 equal as far as it went, 1 different.
 *
 * usage: judged_pairs [KERNELS [MUTANTS [SEED [INSNS]]]]
 */
#include <stdlib.h>
#include <string.h>

#include <nsr/gen.h>
#include <nsr/judge.h>
#include <nsr/text.h>

#include "subject.h"

enum { FEW = 8, MANY = 60 };

static enum nsr_status verdict(const struct subject *s,
                               const struct nsr_kernel *b, uint32_t inputs,
                               int *out) {
  const struct nsr_judge_options options = {.inputs = inputs};
  struct nsr_judgement j;
  NSR_TRY(nsr_cosimulate(s->pool, s->before, b, &options, &j));
  *out = j.verdict == NSR_REFUTED || j.verdict == NSR_INPUT_BROKEN;
  return NSR_OK;
}

static size_t lines_of(const char *text, size_t n) {
  size_t lines = 0;
  for (size_t i = 0; i < n; i++)
    lines += text[i] == '\n';
  return lines;
}

static enum nsr_status print_pair(const struct subject *s,
                                  const struct nsr_kernel *b, const char *extra,
                                  int *few) {
  const char *texts[2];
  size_t n[2];
  int many;
  char name[SUBJECT_NAME];
  subject_name(s, name);
  NSR_TRY(verdict(s, b, FEW, few));
  NSR_TRY(verdict(s, b, MANY, &many));
  NSR_TRY(nsr_to_json(s->pool, s->before, &texts[0], &n[0]));
  NSR_TRY(nsr_to_json(s->pool, b, &texts[1], &n[1]));
  printf("{\"name\":\"%s%s\",\"mutant\":%s,\"few\":%d,\"many\":%d,"
         "\"lines\":[%zu,%zu]}\n",
         name, extra, *extra ? "true" : "false", *few, many,
         lines_of(texts[0], n[0]), lines_of(texts[1], n[1]));
  fwrite(texts[0], 1, n[0], stdout);
  fwrite(texts[1], 1, n[1], stdout);
  return NSR_OK;
}

/* A mutant of the operator whose turn it is, or of the next one with a place.
 */
static enum nsr_status mutant_of(struct subject *s, uint64_t turn,
                                 struct nsr_kernel **out, char extra[80]) {
  size_t n = 0;
  *out = NULL;
  while (nsr_operators[n].number)
    n++;
  for (size_t i = 0; i < n && !*out; i++) {
    const struct nsr_operator *op = &nsr_operators[(turn + i) % n];
    const char *what;
    uint64_t places;
    if (op->instead)
      continue;
    NSR_TRY(nsr_mutate(s->pool, s->after, op, UINT64_MAX, out, &what, &places));
    if (!places)
      continue;
    uint64_t index = prng_next(&s->r) % places;
    NSR_TRY(nsr_mutate(s->pool, s->after, op, index, out, &what, &places));
    snprintf(extra, 80, ", operator %d, index %" PRIu64, op->number, index);
  }
  return NSR_OK;
}

struct wanted {
  uint64_t kernels, mutants;
};

static enum nsr_status one_kernel(struct subject *s, struct wanted *left) {
  struct nsr_kernel *mutant;
  char extra[80] = "";
  int wrong;
  if (!subject_make(s))
    return NSR_OK;
  if (left->kernels) {
    NSR_TRY(print_pair(s, s->after, "", &wrong));
    left->kernels -= !wrong;
  }
  if (!left->mutants)
    return NSR_OK;
  NSR_TRY(mutant_of(s, (uint64_t)s->seed, &mutant, extra));
  if (!mutant)
    return NSR_OK;
  left->mutants--;
  return print_pair(s, mutant, extra, &wrong);
}

int main(int argc, char **argv) {
  uint64_t numbers[] = {1000, 1000, 1, 110};
  for (int i = 1; i < argc; i++)
    if (i > 4 || (numbers[i - 1] = strtoull(argv[i], NULL, 0)) > INT32_MAX)
      return 2;
  struct wanted left = {numbers[0], numbers[1]};
  for (int64_t seed = (int64_t)numbers[2]; left.kernels || left.mutants;
       seed++) {
    struct subject s;
    subject_choose(&s, seed, (int64_t)numbers[3]);
    s.alone = true;
    s.home = nsr_ctx_new();
    s.pool = nsr_ctx_new();
    enum nsr_status status =
        s.home && s.pool ? one_kernel(&s, &left) : NSR_E_NOMEM;
    nsr_ctx_free(s.home);
    nsr_ctx_free(s.pool);
    if (status != NSR_OK) {
      fprintf(stderr, "judged_pairs: seed %" PRId64 ": %s\n", seed,
              nsr_status_name(status));
      return 1;
    }
  }
  return fflush(stdout) != 0;
}
