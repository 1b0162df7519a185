/* outputs.c - kernels by their numbers: runs in numeric mode, and whether two
 * kernels that need not resemble each other write the same outputs.
 *
 * One schedule each: what the numbers say about order is for cosim.c to say.
 */
#include <nsr/judge.h>

#include <math.h>
#include <string.h>

#include "base/strbuf.h"
#include "sim/bytes.h"
#include "sim/numeric.h"

enum { BUDGET = 20000000, JUDGE_BUDGET = 2000000 };

const char *nsr_verdict_name(enum nsr_verdict verdict) {
  static const char *const names[] = {"equal", "refuted", "undecided",
                                      "input broken", "prefix only"};
  return names[verdict];
}

const char *nsr_fault_name(enum nsr_fault_kind kind) {
  static const char *const names[] = {"none",   "trace",   "reads",
                                      "memory", "race",    "hang",
                                      "leak",   "machine", "shape"};
  return names[kind];
}

/* ---- one run */

struct numbers {
  const struct nsr_kernel *kernel;
  struct nsr_byte_memory *memory;
  struct nsr_sim *sim;
  struct nsr_image *image;
};

static enum nsr_status numbers_run(struct nsr_ctx *ctx,
                                   const struct nsr_kernel *k, uint64_t budget,
                                   struct numbers *n) {
  struct nsr_machine machine;
  struct nsr_policy policy;
  n->kernel = k;
  NSR_TRY(nsr_machine_default(ctx, k->isa, &machine));
  NSR_TRY(nsr_image_new(ctx, NSR_SCRATCH, k, &n->image));
  NSR_TRY(nsr_bytes_new(ctx, NSR_SCRATCH, n->image, &n->memory));
  nsr_policy_init(&policy, NSR_ROUND_ROBIN, 0, 0);
  const struct nsr_sim_options options = {.image = n->image,
                                          .machine = &machine,
                                          .memory = nsr_bytes_memory(n->memory),
                                          .policy = &policy,
                                          .budget = budget};
  NSR_TRY(nsr_sim_new(ctx, NSR_SCRATCH, &options, &n->sim));
  return nsr_sim_run(n->sim);
}

static const char *blocked(const struct nsr_core *c) {
  switch (c->state) {
  case NSR_CORE_WAITING:
    return "waits for a semaphore";
  case NSR_CORE_ARRIVED:
    return "waits at a barrier";
  case NSR_CORE_HALTED:
    return "has halted";
  default:
    return "is stalled";
  }
}

/* "act[9] waits for a semaphore; dve[3] waits at a barrier" */
static enum nsr_status hang_text(struct nsr_ctx *ctx, const struct numbers *n,
                                 const char **text) {
  struct nsr_strbuf b;
  const char *between = "";
  nsr_strbuf_init(&b, ctx, NSR_KEEP);
  for (int e = 0; e < n->sim->ncores; e++) {
    const struct nsr_core *c = &n->sim->core[e];
    if (c->state == NSR_CORE_ABSENT)
      continue;
    nsr_strbuf_printf(&b, "%s%s[%u] %s", between, n->kernel->isa->engines[e],
                      (unsigned)c->pc, blocked(c));
    between = "; ";
  }
  return nsr_strbuf_done(&b, text, NULL);
}

/* Why a run did not end well: NULL text where it did. */
static enum nsr_status trouble(struct nsr_ctx *ctx, const struct numbers *n,
                               enum nsr_fault_kind *kind,
                               struct nsr_place *place, const char **text) {
  const struct nsr_sim *sim = n->sim;
  *kind = NSR_FAULT_NONE;
  *place = NSR_NOWHERE;
  *text = NULL;
  switch (sim->end) {
  case NSR_DONE:
    return NSR_OK;
  case NSR_SIM_HANG:
    *kind = NSR_FAULT_HANG;
    return hang_text(ctx, n, text);
  case NSR_SIM_BUDGET:
    *text = "instance budget used up";
    return NSR_OK;
  case NSR_SIM_ENDLESS:
    *kind = NSR_FAULT_HANG;
    *text = "a loop without end";
    break;
  default:
    *kind = NSR_FAULT_MACHINE;
    *text = sim->fault.text;
    break;
  }
  *place = nsr_image_place(n->image, sim->fault.engine, sim->fault.insn);
  return NSR_OK;
}

static const struct nsr_tensor *find_tensor(const struct nsr_kernel *k,
                                            const char *name) {
  for (uint32_t i = 0; i < k->ntensors; i++)
    if (k->tensors[i].space == NSR_DRAM && k->tensors[i].name &&
        strcmp(k->tensors[i].name, name) == 0)
      return &k->tensors[i];
  return NULL;
}

static enum nsr_status run_numeric(struct nsr_ctx *ctx,
                                   const struct nsr_kernel *k,
                                   const struct nsr_tensor *t, uint8_t *out) {
  struct numbers n;
  enum nsr_fault_kind kind;
  struct nsr_place place;
  const char *text;
  NSR_TRY(numbers_run(ctx, k, BUDGET, &n));
  NSR_TRY(trouble(ctx, &n, &kind, &place, &text));
  if (text)
    return nsr_fail(ctx, kind == NSR_FAULT_HANG ? NSR_E_HANG : NSR_E_FAULT,
                    place, "%s", text);
  return nsr_bytes_get(n.memory, NSR_DRAM, 0, t->offset, out, t->bytes);
}

enum nsr_status nsr_run_numeric(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                                const char *name, const uint8_t **data,
                                size_t *size) {
  const struct nsr_tensor *t = find_tensor(k, name);
  uint8_t *out;
  if (!t)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE, "no tensor '%s' in DRAM",
                    name);
  NSR_NEW(ctx, NSR_KEEP, out, t->bytes);
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  enum nsr_status status = run_numeric(ctx, k, t, out);
  nsr_scratch_release(ctx, mark);
  *data = out;
  *size = t->bytes;
  return status;
}

/* ---- two runs */

static bool near(enum nsr_dtype d, const uint8_t *a, const uint8_t *b,
                 double tolerance) {
  size_t size = nsr_dtype_bytes(d);
  if (memcmp(a, b, size) == 0)
    return true;
  double x = (double)nsr_element_get(d, a), y = (double)nsr_element_get(d, b);
  if (isnan(x) || isnan(y))
    return isnan(x) && isnan(y);
  return x == y || fabs(x - y) <= tolerance + tolerance * fabs(x);
}

static enum nsr_status differ(struct nsr_ctx *ctx, const struct nsr_tensor *t,
                              uint64_t element, const uint8_t *a,
                              const uint8_t *b, struct nsr_judgement *out) {
  enum nsr_dtype d = (enum nsr_dtype)t->dtype;
  out->verdict = NSR_REFUTED;
  out->fault = NSR_FAULT_MEMORY;
  out->text =
      nsr_printf(ctx, NSR_KEEP,
                 "output %s, element %llu: %.9g in the first kernel, %.9g "
                 "in the second",
                 t->name, (unsigned long long)element,
                 (double)nsr_element_get(d, a), (double)nsr_element_get(d, b));
  return out->text ? NSR_OK : NSR_E_NOMEM;
}

struct two { /* the same tensor in two runs */
  struct nsr_byte_memory *memory[2];
  const struct nsr_tensor *tensor[2];
  double tolerance;
};

static enum nsr_status both(const struct two *p, uint64_t element, uint8_t x[8],
                            uint8_t y[8]) {
  uint64_t size = nsr_dtype_bytes((enum nsr_dtype)p->tensor[0]->dtype);
  NSR_TRY(nsr_bytes_get(p->memory[0], NSR_DRAM, 0,
                        p->tensor[0]->offset + element * size, x, size));
  return nsr_bytes_get(p->memory[1], NSR_DRAM, 0,
                       p->tensor[1]->offset + element * size, y, size);
}

/* Lowers *first to the first different element in from..end. */
static enum nsr_status first_different(const struct two *p, uint64_t from,
                                       uint64_t end, uint64_t *first) {
  uint8_t x[8], y[8];
  for (uint64_t i = from; i < end && i < *first; i++) {
    NSR_TRY(both(p, i, x, y));
    if (!near((enum nsr_dtype)p->tensor[0]->dtype, x, y, p->tolerance))
      *first = i;
  }
  return NSR_OK;
}

/* What neither run has written is the same in both. */
static enum nsr_status compare_tensor(struct nsr_ctx *ctx, const struct two *p,
                                      struct nsr_judgement *out) {
  uint64_t size = nsr_dtype_bytes((enum nsr_dtype)p->tensor[0]->dtype);
  uint64_t n = p->tensor[0]->bytes / size, first = n;
  for (int side = 0; side < 2; side++) {
    uint64_t offset = p->tensor[side]->offset, begin, end;
    for (size_t at = 0;
         nsr_bytes_written(p->memory[side], NSR_DRAM, &at, &begin, &end);) {
      if (end <= offset)
        continue;
      uint64_t from = begin > offset ? (begin - offset) / size : 0;
      uint64_t to = (end - offset - 1) / size + 1;
      NSR_TRY(first_different(p, from, to < n ? to : n, &first));
    }
  }
  if (first == n)
    return NSR_OK;
  uint8_t x[8], y[8];
  NSR_TRY(both(p, first, x, y));
  return differ(ctx, p->tensor[0], first, x, y, out);
}

/* Whether a run ended; else it decides the verdict. */
static enum nsr_status ended(struct nsr_ctx *ctx, const struct numbers *n,
                             const char *which, enum nsr_verdict verdict,
                             struct nsr_judgement *out) {
  struct nsr_place place;
  const char *text;
  NSR_TRY(trouble(ctx, n, &out->fault, &place, &text));
  if (!text)
    return NSR_OK;
  out->verdict = out->fault == NSR_FAULT_NONE ? NSR_UNDECIDED : verdict;
  struct nsr_diag diag = {.severity = NSR_ERROR, .place = place, .text = text};
  char line[400];
  nsr_diag_format(&diag, line, sizeof line);
  out->text = nsr_printf(ctx, NSR_KEEP, "%s kernel: %s", which, line);
  return out->text ? NSR_OK : NSR_E_NOMEM;
}

static enum nsr_status no_partner(struct nsr_ctx *ctx, const char *name,
                                  struct nsr_judgement *out) {
  out->verdict = NSR_REFUTED;
  out->fault = NSR_FAULT_SHAPE;
  out->text = nsr_printf(ctx, NSR_KEEP,
                         "output %s is not in the second kernel, or of "
                         "another type or size",
                         name);
  return out->text ? NSR_OK : NSR_E_NOMEM;
}

static enum nsr_status compare_outputs(struct nsr_ctx *ctx,
                                       const struct nsr_kernel *a,
                                       const struct nsr_kernel *b,
                                       double tolerance, uint64_t budget,
                                       struct nsr_judgement *out) {
  struct numbers x, y;
  NSR_TRY(numbers_run(ctx, a, budget, &x));
  NSR_TRY(numbers_run(ctx, b, budget, &y));
  out->instances = x.sim->executed + y.sim->executed;
  NSR_TRY(ended(ctx, &x, "first", NSR_INPUT_BROKEN, out));
  if (out->verdict == NSR_EQUAL)
    NSR_TRY(ended(ctx, &y, "second", NSR_REFUTED, out));
  for (uint32_t i = 0; i < a->ntensors && out->verdict == NSR_EQUAL; i++) {
    const struct nsr_tensor *t = &a->tensors[i];
    if (t->role != NSR_OUTPUT || t->space != NSR_DRAM || !t->name)
      continue;
    const struct nsr_tensor *u = find_tensor(b, t->name);
    if (!u || u->dtype != t->dtype || u->bytes != t->bytes)
      return no_partner(ctx, t->name, out);
    const struct two both = {{x.memory, y.memory}, {t, u}, tolerance};
    NSR_TRY(compare_tensor(ctx, &both, out));
  }
  out->inputs = out->verdict == NSR_EQUAL;
  out->undecided = out->verdict == NSR_UNDECIDED;
  return NSR_OK;
}

enum nsr_status nsr_compare_outputs(struct nsr_ctx *ctx,
                                    const struct nsr_kernel *a,
                                    const struct nsr_kernel *b,
                                    double tolerance,
                                    const struct nsr_judge_options *options,
                                    struct nsr_judgement *out) {
  uint64_t budget = options && options->budget ? options->budget : JUDGE_BUDGET;
  *out = (struct nsr_judgement){
      .verdict = NSR_EQUAL,
      .text = "",
      .input = "",
      .notes = "one schedule was run; races were not looked for\n"};
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  enum nsr_status status = compare_outputs(ctx, a, b, tolerance, budget, out);
  nsr_scratch_release(ctx, mark);
  return status;
}
