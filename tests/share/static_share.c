/* static_share.c - how much of what the rewriter makes the static judge proves.
 *
 * Rewrites random kernels in all ways to count, asks the static judge alone,
 * and prints for each way how much is proved, undecided and refuted; behind
 * that why, the reasons without their places, the most frequent first, with one
 * kernel each.
 *
 * usage: static_share [-n KERNELS] [-f FIRST-SEED] [-i INSNS] [-s WAY]
 *                     [-a] [-c] [-v]
 *   -n: kernels (100)  -i: instructions of a kernel, at most (700)
 *   -s: this way alone, as in the table  -a: each kernel in all ways; else in
 *   one after the other
 *   -c: exit 1 where less than 99 % are proved, or one is refuted
 *   -v: prints each that is not proved
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nsr/gen.h>
#include <nsr/prove.h>
#include <nsr/rewrite.h>
#include <nsr/text.h>

/* A way to count. */
struct way {
  const char *name;
  enum nsr_scheme scheme, published;
  bool recent;
};

static const struct way ways[] = {
    {"auto", NSR_SCHEME_AUTO, NSR_SCHEME_AUTO, false},
    {"per-instruction", NSR_SCHEME_PER_INSTRUCTION, NSR_SCHEME_AUTO, false},
    {"per-loop", NSR_SCHEME_PER_LOOP, NSR_SCHEME_AUTO, false},
    {"per-engine", NSR_SCHEME_PER_ENGINE, NSR_SCHEME_AUTO, false},
    {"equal-weight", NSR_SCHEME_EQUAL_WEIGHT, NSR_SCHEME_AUTO, false},
    {"published/instruction", NSR_SCHEME_PUBLISHED, NSR_SCHEME_PER_INSTRUCTION,
     false},
    {"published/loop", NSR_SCHEME_PUBLISHED, NSR_SCHEME_PER_LOOP, false},
    {"published/engine", NSR_SCHEME_PUBLISHED, NSR_SCHEME_PER_ENGINE, false},
    {"recent/instruction", NSR_SCHEME_PUBLISHED, NSR_SCHEME_PER_INSTRUCTION,
     true},
    {"recent/loop", NSR_SCHEME_PUBLISHED, NSR_SCHEME_PER_LOOP, true},
    {"recent/engine", NSR_SCHEME_PUBLISHED, NSR_SCHEME_PER_ENGINE, true}};
enum { NWAYS = sizeof ways / sizeof *ways, MAX_REASONS = 200, TEXT = 300 };

struct reason {
  char text[TEXT];
  char example[TEXT];
  uint64_t n;
};

struct row {
  uint64_t said[3], refused; /* by verdict */
};

struct table {
  struct row rows[NWAYS];
  struct reason reasons[MAX_REASONS];
  int nreasons;
  int64_t kernels, first, insns;
  const char *only;
  bool all, check, verbose;
};

/* One kernel, one way. */
struct question {
  const struct nsr_isa *isa;
  int64_t seed, size;
  const struct way *way;
};

/* ---- reasons */

/* A word that names a place or a number. */
static bool is_place(const char *word, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (isdigit((unsigned char)word[i]))
      return true;
  return false;
}

static void without_places(const char *text, char *out) {
  size_t at = 0;
  while (*text && at + 2 < TEXT) {
    size_t n = strcspn(text, " ");
    n = n < TEXT - at - 2 ? n : TEXT - at - 2;
    if (is_place(text, n)) {
      out[at++] = '#';
    } else {
      memcpy(out + at, text, n);
      at += n;
    }
    text += n;
    text += strspn(text, " ");
    if (*text)
      out[at++] = ' ';
  }
  out[at] = 0;
}

static void count_reason(struct table *t, const struct question *q,
                         const struct nsr_proof *p) {
  char plain[TEXT], text[TEXT];
  int i = 0;
  without_places(p->text, plain);
  snprintf(text, sizeof text, "%s, %.20s: %.250s",
           nsr_proof_verdict_name(p->verdict), nsr_proof_rule_name(p->rule),
           plain);
  while (i < t->nreasons && strcmp(t->reasons[i].text, text) != 0)
    i++;
  if (i == MAX_REASONS)
    return;
  struct reason *r = &t->reasons[i];
  if (i == t->nreasons) {
    t->nreasons++;
    memcpy(r->text, text, sizeof text);
    snprintf(r->example, sizeof r->example,
             "random --isa=%s --seed=%" PRId64 " --instructions=%" PRId64
             ", %s",
             q->isa->name, q->seed, q->size, q->way->name);
  }
  r->n++;
}

static int by_number(const void *a, const void *b) {
  const struct reason *x = a, *y = b;
  return (x->n < y->n) - (x->n > y->n);
}

/* ---- kernels */

static void ask(struct table *t, const struct question *q) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_setting settings[] = {{"seed", q->seed},
                                   {"instructions", q->size}};
  struct nsr_gen_options gen = {
      .isa = q->isa, .nsettings = 2, .settings = settings};
  struct nsr_rewrite_options o = {.verify = NSR_VERIFY_STATIC,
                                  .scheme = q->way->scheme,
                                  .published = q->way->published,
                                  .published_recent = q->way->recent};
  struct row *row = &t->rows[q->way - ways];
  struct nsr_rewrite_report report = {0};
  struct nsr_kernel *k, *out;
  bool good = ctx && nsr_gen(ctx, "random", &gen, &k) == NSR_OK &&
              nsr_kernel_check(ctx, k) == NSR_OK;
  if (good)
    good = nsr_rewrite(ctx, k, NULL, 0, &o, &out, &report) == NSR_OK ||
           report.proof.verdict == NSR_PROOF_REFUTED;
  row->refused += !good;
  const struct nsr_proof *p = &report.proof;
  if (good)
    row->said[p->verdict]++;
  if (good && p->verdict != NSR_PROOF_PROVED) {
    count_reason(t, q, p);
    if (t->verbose)
      printf("random --isa=%s --seed=%" PRId64 " --instructions=%" PRId64
             ", %s: %s\n",
             q->isa->name, q->seed, q->size, q->way->name, p->text);
  }
  nsr_ctx_free(ctx);
}

static void one_kernel(struct table *t, int64_t i) {
  int nisas = 0;
  while (nsr_isas[nisas])
    nisas++;
  int64_t seed = t->first + i, least = 10;
  struct question q = {.isa = nsr_isas[seed % nisas], .seed = seed};
  q.size = least + seed * 37 % (t->insns > least ? t->insns - least + 1 : 1);
  for (int w = 0; w < NWAYS; w++) {
    bool due = t->all || t->only || seed / nisas % NWAYS == w;
    q.way = &ways[w];
    if (due && (!t->only || strcmp(t->only, ways[w].name) == 0))
      ask(t, &q);
  }
}

/* ---- the table */

static void print_row(const char *name, const struct row *r) {
  uint64_t all = r->said[NSR_PROOF_PROVED] + r->said[NSR_PROOF_REFUTED] +
                 r->said[NSR_PROOF_UNDECIDED];
  if (!all && !r->refused)
    return;
  printf("| %s | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | ",
         name, all, r->said[NSR_PROOF_PROVED], r->said[NSR_PROOF_UNDECIDED],
         r->said[NSR_PROOF_REFUTED]);
  if (all)
    printf("%.2f", 100.0 * (double)r->said[NSR_PROOF_PROVED] / (double)all);
  printf(" | %" PRIu64 " |\n", r->refused);
}

static struct row sum_of(const struct table *t) {
  struct row sum = {0};
  for (int w = 0; w < NWAYS; w++) {
    for (int v = 0; v < 3; v++)
      sum.said[v] += t->rows[w].said[v];
    sum.refused += t->rows[w].refused;
  }
  return sum;
}

static void print_table(struct table *t) {
  struct row sum = sum_of(t);
  printf("| way to count | judged | proved | undecided | refuted | proved %% | "
         "not rewritten |\n| --- | --- | --- | --- | --- | --- | --- |\n");
  for (int w = 0; w < NWAYS; w++)
    print_row(ways[w].name, &t->rows[w]);
  print_row("all", &sum);
  qsort(t->reasons, (size_t)t->nreasons, sizeof *t->reasons, by_number);
  for (int i = 0; i < t->nreasons; i++)
    printf("%" PRIu64 " %s\n    %s\n", t->reasons[i].n, t->reasons[i].text,
           t->reasons[i].example);
}

static bool read_options(struct table *t, int argc, char **argv) {
  int c;
  while ((c = getopt(argc, argv, "n:f:i:s:acv")) != -1)
    switch (c) {
    case 'n':
      t->kernels = strtoll(optarg, NULL, 0);
      break;
    case 'f':
      t->first = strtoll(optarg, NULL, 0);
      break;
    case 'i':
      t->insns = strtoll(optarg, NULL, 0);
      break;
    case 's':
      t->only = optarg;
      break;
    case 'a':
      t->all = true;
      break;
    case 'c':
      t->check = true;
      break;
    case 'v':
      t->verbose = true;
      break;
    default:
      return false;
    }
  return t->first >= 0;
}

int main(int argc, char **argv) {
  struct table *t = calloc(1, sizeof *t);
  if (!t)
    return 1;
  t->kernels = 100;
  t->first = 1;
  t->insns = 700;
  if (!read_options(t, argc, argv))
    return 2;
  for (int64_t i = 0; i < t->kernels; i++) {
    one_kernel(t, i);
    if (i % 100 == 99)
      fprintf(stderr, "%" PRId64 " of %" PRId64 " kernels\n", i + 1,
              t->kernels);
  }
  print_table(t);
  struct row sum = sum_of(t);
  uint64_t bad = sum.said[NSR_PROOF_UNDECIDED],
           good = sum.said[NSR_PROOF_PROVED];
  bool fail =
      t->check && (sum.said[NSR_PROOF_REFUTED] || bad * 99 > good || !good);
  free(t);
  return fail;
}
