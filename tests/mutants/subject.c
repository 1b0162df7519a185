/* subject.c - random kernels, rewritten. */
#include "subject.h"

#include <nsr/gen.h>

/* A way to rewrite. */
static const struct way {
  const char *name;
  enum nsr_scheme scheme, published;
  bool recent;
} ways[] = {
    {"--alloc=auto", NSR_SCHEME_AUTO, NSR_SCHEME_AUTO, false},
    {"--alloc=per-loop", NSR_SCHEME_PER_LOOP, NSR_SCHEME_AUTO, false},
    {"--alloc=per-engine", NSR_SCHEME_PER_ENGINE, NSR_SCHEME_AUTO, false},
    {"--alloc=equal-weight", NSR_SCHEME_EQUAL_WEIGHT, NSR_SCHEME_AUTO, false},
    {"--alloc=per-instruction", NSR_SCHEME_PER_INSTRUCTION, NSR_SCHEME_AUTO,
     false},
    {"--alloc=published", NSR_SCHEME_PUBLISHED, NSR_SCHEME_AUTO, false},
    {"--alloc=published --published-alloc=per-instruction",
     NSR_SCHEME_PUBLISHED, NSR_SCHEME_PER_INSTRUCTION, false},
    {"--alloc=published --published-alloc=per-engine", NSR_SCHEME_PUBLISHED,
     NSR_SCHEME_PER_ENGINE, false},
    {"--alloc=published --published-most-recent", NSR_SCHEME_PUBLISHED,
     NSR_SCHEME_AUTO, true},
};
enum { NWAYS = sizeof ways / sizeof *ways };

void subject_choose(struct subject *s, int64_t seed, int64_t insns) {
  static const uint32_t few[] = {1, 2, 3, 4, 6, 8};
  int nisas = 0;
  while (nsr_isas[nisas])
    nisas++;
  const struct way *way = &ways[seed / nisas % NWAYS];
  *s = (struct subject){.isa = nsr_isas[seed % nisas],
                        .seed = seed,
                        .way = way->name,
                        .r = {(uint64_t)seed},
                        .options = {.verify = NSR_VERIFY_NONE,
                                    .scheme = way->scheme,
                                    .published = way->published,
                                    .published_recent = way->recent}};
  struct nsr_rewrite_options *o = &s->options;
  int64_t least = 4 * s->isa->nengines;
  s->size = prng_in(&s->r, least, insns > least ? insns : least);
  o->limit_registers = prng_in(&s->r, 0, 7) == 0;
  o->limit_semaphores = prng_in(&s->r, 0, 7) == 0;
  if (o->limit_registers)
    o->max_registers = few[prng_in(&s->r, 0, 5)];
  if (o->limit_semaphores)
    o->max_semaphores = few[prng_in(&s->r, 0, 5)];
  s->unknown = prng_in(&s->r, 0, 4) == 0 ? 10 : 0;
}

void subject_name(const struct subject *s, char name[SUBJECT_NAME]) {
  const struct nsr_rewrite_options *o = &s->options;
  int n = snprintf(name, SUBJECT_NAME,
                   "random --isa=%s --seed=%" PRId64 " --instructions=%" PRId64
                   " --unknown=%" PRId64 ", %s",
                   s->isa->name, s->seed, s->size, s->unknown, s->way);
  if (o->limit_registers)
    n += snprintf(name + n, (size_t)(SUBJECT_NAME - n),
                  " --max-registers=%" PRIu32, o->max_registers);
  if (o->limit_semaphores)
    snprintf(name + n, (size_t)(SUBJECT_NAME - n), " --max-semaphores=%" PRIu32,
             o->max_semaphores);
}

static enum nsr_status make(struct subject *s, struct nsr_kernel **k) {
  struct nsr_setting settings[] = {
      {"seed", s->seed}, {"instructions", s->size}, {"unknown", s->unknown}};
  struct nsr_gen_options gen = {
      .isa = s->isa, .nsettings = 3, .settings = settings};
  NSR_TRY(nsr_gen(s->home, "random", &gen, k));
  for (int e = 0; e < s->isa->nengines && s->alone; e++)
    (*k)->pipe_order[e] = NSR_ORDER_HIDDEN;
  return nsr_kernel_check(s->home, *k);
}

bool subject_make(struct subject *s) {
  struct nsr_rewrite_report report;
  struct nsr_kernel *k, *out;
  bool good =
      make(s, &k) == NSR_OK &&
      nsr_rewrite(s->home, k, NULL, 0, &s->options, &out, &report) == NSR_OK &&
      report.changed;
  if (!good)
    return false;
  s->before = k;
  s->after = out;
  return true;
}
