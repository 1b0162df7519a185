/* image.c - decodes a kernel once.
 *
 * Needs a kernel, checked or not; makes a struct nsr_image that the model can
 * run without looking at words again. Distrusts every number that the model
 * will use as an index.
 */
#include "sim/image.h"

#include <assert.h>
#include <string.h>

#include "sim/hash.h"

struct builder {
  struct nsr_ctx *ctx;
  enum nsr_arena_id arena;
  struct nsr_image *image;
  const struct nsr_stream *stream; /* being decoded */
  struct nsr_access *next;         /* free accesses */
};

struct nsr_place nsr_image_place(const struct nsr_image *image, int engine,
                                 uint32_t insn) {
  const struct nsr_stream *s = image->streams[engine].stream;
  if (s && insn < s->n)
    return nsr_insn_place(image->kernel, s, insn);
  return (struct nsr_place){.engine = image->isa->engines[engine],
                            .insn = insn};
}

/* ---- hidden state: numbered by engine and by first use of the name */

static int hidden_names(const struct nsr_isa *isa, const char *want,
                        int *index) {
  const char *seen[64];
  int n = 0;
  for (uint32_t i = 0; i < isa->ninsns; i++)
    for (int h = 0; h < isa->insns[i].nhidden; h++) {
      const char *name = isa->insns[i].hidden[h].name;
      int at = 0;
      while (at < n && strcmp(seen[at], name) != 0)
        at++;
      if (at == n && n < 64)
        seen[n++] = name;
      if (want && strcmp(want, name) == 0)
        *index = at;
    }
  return n;
}

static uint16_t hidden_id(const struct nsr_image *image, int engine,
                          const char *name) {
  int index = 0;
  int n = hidden_names(image->isa, name, &index);
  return (uint16_t)(engine * n + index);
}

/* ---- operands */

/* a + b * c, held inside what a 64-bit address can say. */
static int64_t add_product(int64_t a, int64_t b, int64_t c) {
  int64_t p, s;
  if (__builtin_mul_overflow(b, c, &p))
    return (b < 0) != (c < 0) ? INT64_MIN : INT64_MAX;
  if (__builtin_add_overflow(a, p, &s))
    return a < 0 ? INT64_MIN : INT64_MAX;
  return s;
}

static void shape_add(struct nsr_shape *s, int32_t step, uint32_t count) {
  s->dims[s->ndims].step = step;
  s->dims[s->ndims].count = count;
  s->ndims++;
}

bool nsr_access_resolve(const struct nsr_access *access, const uint32_t *count,
                        struct nsr_shape *shape, int64_t *low, int64_t *high) {
  const struct nsr_operand *o = &access->op;
  bool dram = o->space == NSR_DRAM;
  *shape = (struct nsr_shape){.space = o->space,
                              .bytes = nsr_dtype_bytes(o->dtype),
                              .part = dram ? 0 : o->part,
                              .nparts = dram ? 1 : o->nparts};
  if (dram)
    shape_add(shape, o->pstep, o->nparts);
  for (int d = 0; d < o->ndims; d++)
    shape_add(shape, o->dims[d].step,
              o->dims[d].count_is_reg ? count[d] : (uint32_t)o->dims[d].count);
  *low = 0;
  *high = shape->bytes;
  bool some = shape->nparts > 0;
  for (int d = 0; d < shape->ndims; d++) {
    int64_t n = (int64_t)shape->dims[d].count, step = shape->dims[d].step;
    some = some && n > 0;
    if (step < 0)
      *low = add_product(*low, step, n - 1);
    else
      *high = add_product(*high, step, n - 1);
  }
  return some;
}

static enum nsr_status bad(struct builder *b, uint32_t i, const char *what,
                           long long n) {
  return nsr_fail(b->ctx, NSR_E_FORMAT,
                  nsr_image_place(b->image, b->stream->engine, i),
                  "no such %s: %lld", what, n);
}

static enum nsr_status check_register(struct builder *b, uint32_t i, int reg) {
  if (reg >= b->image->isa->registers || reg < NSR_NO_REG)
    return bad(b, i, "register", reg);
  return NSR_OK;
}

static enum nsr_status check_value(struct builder *b, uint32_t i,
                                   const struct nsr_val *v) {
  if (v->is_reg && (v->v < 0 || v->v >= b->image->isa->registers))
    return bad(b, i, "register", v->v);
  return NSR_OK;
}

static enum nsr_status access_new(struct builder *b, uint32_t i, int operand,
                                  const struct nsr_insn *insn) {
  struct nsr_image *image = b->image;
  const struct nsr_operand *o = &insn->operands[operand];
  struct nsr_access *a = b->next++;
  *a = (struct nsr_access){.op = *o, .fixed = true};
  a->uid = (uint32_t)(a - image->accesses);
  a->tensor = nsr_operand_tensor(b->stream, i, operand);
  if (a->tensor != NSR_NONE && a->tensor >= image->kernel->ntensors)
    return bad(b, i, "tensor", a->tensor);
  NSR_TRY(check_register(b, i, o->reg));
  for (int d = 0; d < o->ndims; d++) {
    if (!o->dims[d].count_is_reg)
      continue;
    a->fixed = false;
    NSR_TRY(check_register(b, i, o->dims[d].count));
    if (o->dims[d].count < 0)
      return bad(b, i, "register", o->dims[d].count);
  }
  if (a->fixed)
    a->empty = !nsr_access_resolve(a, NULL, &a->shape, &a->low, &a->high);
  image->has_may |= nsr_role_may(o->role);
  return NSR_OK;
}

/* ---- what makes two instructions the same, addresses and owned
 * synchronisation aside */

struct words {
  int64_t v[160];
  size_t n;
};

static void put(struct words *w, int64_t v) {
  assert(w->n < sizeof w->v / sizeof *w->v);
  w->v[w->n++] = v;
}

static void put_operand(struct words *w, const struct nsr_operand *o) {
  put(w, o->role | o->space << 8 | o->dtype << 16 | o->ndims << 24);
  put(w, (o->acc ? 1 : 0) | (o->indexed_by + 1) << 1);
  put(w, o->part | (int64_t)o->nparts << 32);
  put(w, o->pstep);
  for (int d = 0; d < o->ndims; d++) {
    put(w, o->dims[d].step);
    put(w, o->dims[d].count_is_reg ? -1 : o->dims[d].count);
  }
}

static uint64_t signature(const struct nsr_kernel *k,
                          const struct nsr_insn *insn, uint8_t flags) {
  struct words w = {.n = 0};
  put(&w, insn->desc->index);
  put(&w, insn->queue);
  put(&w, insn->desc->cls == NSR_LOAD ? insn->dst : -1);
  for (int i = 0; i < insn->noperands; i++)
    put_operand(&w, &insn->operands[i]);
  for (int i = 0; i < insn->desc->nargs; i++)
    put(&w, insn->args[i]);
  if (flags & NSR_STEP_FOREIGN_WAIT) {
    put(&w, insn->wait.cmp | insn->wait.sem << 8);
    put(&w, insn->wait.value.is_reg ? 0 : insn->wait.value.v);
  }
  if (insn->update.op != NSR_UPD_NONE && !nsr_owned(k, insn->update.sem)) {
    put(&w, insn->update.op | insn->update.sem << 8);
    put(&w, insn->update.value);
  }
  return nsr_hash(w.v, w.n * sizeof *w.v);
}

/* ---- instructions */

static uint8_t flags_of(const struct nsr_image *image,
                        const struct nsr_insn *insn) {
  const struct nsr_insn_desc *d = insn->desc;
  const struct nsr_kernel *k = image->kernel;
  uint8_t flags = 0;
  if (insn->wait.cmp != NSR_CMP_NONE && !nsr_owned(k, insn->wait.sem))
    flags |= NSR_STEP_FOREIGN_WAIT;
  if (d->external ||
      (insn->update.op != NSR_UPD_NONE && !nsr_owned(k, insn->update.sem)))
    flags |= NSR_STEP_FOREIGN_UPDATE;
  bool ordered = d->nhidden > 0;
  for (int i = 0; i < insn->noperands; i++) {
    const struct nsr_operand *o = &insn->operands[i];
    ordered |= o->space == NSR_PSUM && nsr_role_writes(o->role);
    if (o->space == NSR_DRAM)
      flags |= NSR_STEP_DRAM;
  }
  if (ordered)
    flags |= NSR_STEP_ORDERED;
  if (d->cls == NSR_DATAPATH && d->meaning == NSR_MEANING_NOP && !flags &&
      !d->unknown_effects && !insn->noperands)
    flags |= NSR_STEP_SKIP;
  return flags;
}

static enum nsr_status check_insn(struct builder *b, uint32_t i,
                                  const struct nsr_insn *insn) {
  const struct nsr_kernel *k = b->image->kernel;
  const struct nsr_isa *isa = k->isa;
  NSR_TRY(check_register(b, i, insn->dst));
  NSR_TRY(check_register(b, i, insn->cond));
  NSR_TRY(check_register(b, i, insn->value_reg));
  NSR_TRY(check_value(b, i, &insn->a));
  NSR_TRY(check_value(b, i, &insn->b));
  NSR_TRY(check_value(b, i, &insn->wait.value));
  if (insn->wait.cmp != NSR_CMP_NONE && insn->wait.sem >= isa->semaphores)
    return bad(b, i, "semaphore", insn->wait.sem);
  if (insn->update.op != NSR_UPD_NONE && insn->update.sem >= isa->semaphores)
    return bad(b, i, "semaphore", insn->update.sem);
  if (!insn->desc->queue)
    return NSR_OK;
  if (insn->queue < 0 || (uint32_t)insn->queue >= k->nqueues)
    return bad(b, i, "queue", insn->queue);
  if (k->queues[insn->queue].engine != b->stream->engine)
    return nsr_fail(
        b->ctx, NSR_E_FORMAT, nsr_image_place(b->image, b->stream->engine, i),
        "queue %s is fed by another engine", k->queues[insn->queue].name);
  return NSR_OK;
}

static enum nsr_status check_target(struct builder *b, uint32_t i,
                                    const struct nsr_insn *insn,
                                    int32_t *target) {
  int64_t t = (int64_t)i + insn->displacement;
  if (insn->desc->ctl == NSR_CTL_BR && (t < 0 || t > b->stream->n))
    return nsr_fail(b->ctx, NSR_E_FORMAT,
                    nsr_image_place(b->image, b->stream->engine, i),
                    "branch to %lld leaves the section", (long long)t);
  *target = insn->desc->ctl == NSR_CTL_BR ? (int32_t)t : insn->id;
  return NSR_OK;
}

static void note_load(struct nsr_image *image, const struct nsr_insn *insn) {
  enum nsr_dtype d = insn->operands[0].dtype;
  if (insn->desc->cls == NSR_LOAD)
    image->loads_float |=
        d != NSR_I32 && d != NSR_I16 && d != NSR_I8 && d != NSR_U8;
}

static enum nsr_status step_new(struct builder *b, uint32_t i,
                                struct nsr_step *s) {
  struct nsr_image *image = b->image;
  struct nsr_insn insn;
  NSR_TRY(nsr_stream_decode(b->ctx, image->kernel, b->stream, i, &insn));
  NSR_TRY(check_insn(b, i, &insn));
  int32_t target = 0;
  NSR_TRY(check_target(b, i, &insn, &target));
  int64_t *args = NULL;
  if (insn.desc->nargs) {
    NSR_NEW(b->ctx, b->arena, args, insn.desc->nargs);
    memcpy(args, insn.args, insn.desc->nargs * sizeof *args);
  }
  const struct nsr_access *access = b->next;
  for (int o = 0; o < insn.noperands; o++)
    NSR_TRY(access_new(b, i, o, &insn));
  uint8_t flags = flags_of(image, &insn);
  *s = (struct nsr_step){
      .desc = insn.desc,
      .access = access,
      .args = args,
      .wait = insn.wait,
      .update = insn.update,
      .a = insn.a,
      .b = insn.b,
      .target = target,
      .dst = insn.dst,
      .cond = insn.cond,
      .value_reg = insn.value_reg,
      .cc = insn.cc,
      .channel = (uint8_t)nsr_channel(image->kernel, b->stream->engine, &insn),
      .naccess = insn.noperands,
      .flags = flags,
      .signature = signature(image->kernel, &insn, flags)};
  for (int h = 0; h < insn.desc->nhidden; h++)
    s->hidden[h] =
        hidden_id(image, b->stream->engine, insn.desc->hidden[h].name);
  note_load(image, &insn);
  image->has_foreign |=
      (flags & (NSR_STEP_FOREIGN_WAIT | NSR_STEP_FOREIGN_UPDATE)) != 0;
  image->has_unknown |= insn.desc->unknown_effects;
  return NSR_OK;
}

static enum nsr_status stream_new(struct builder *b,
                                  const struct nsr_stream *s) {
  struct nsr_image_stream *out = &b->image->streams[s->engine];
  struct nsr_step *steps;
  out->stream = s;
  b->stream = s;
  NSR_NEW(b->ctx, b->arena, steps, s->n);
  for (uint32_t i = 0; i < s->n; i++)
    NSR_TRY(step_new(b, i, &steps[i]));
  out->steps = steps;
  out->n = s->n;
  return NSR_OK;
}

/* Engines and queues that exist, each stream once. */
static enum nsr_status check_kernel(struct nsr_ctx *ctx,
                                    const struct nsr_kernel *k) {
  uint32_t seen = 0;
  if (k->isa->nengines > NSR_MAX_ENGINES || k->nqueues > NSR_MAX_QUEUES)
    return nsr_fail(ctx, NSR_E_FORMAT, NSR_NOWHERE,
                    "more engines or queues than the model holds");
  for (uint32_t i = 0; i < k->nstreams; i++) {
    uint32_t e = k->streams[i].engine;
    if (e >= k->isa->nengines || (seen >> e & 1))
      return nsr_fail(ctx, NSR_E_FORMAT, NSR_NOWHERE,
                      "engine %u has no or two streams", (unsigned)e);
    seen |= UINT32_C(1) << e;
  }
  return NSR_OK;
}

/* Operands of all instructions: those of datapath and loads. */
static enum nsr_status count_accesses(struct nsr_ctx *ctx,
                                      const struct nsr_kernel *k,
                                      uint32_t *total) {
  struct nsr_insn insn;
  uint64_t n = 0;
  for (uint32_t i = 0; i < k->nstreams; i++)
    for (uint32_t j = 0; j < k->streams[i].n; j++) {
      NSR_TRY(nsr_stream_decode(ctx, k, &k->streams[i], j, &insn));
      n += insn.noperands;
    }
  if (n >= UINT32_MAX)
    return nsr_fail(ctx, NSR_E_RANGE, NSR_NOWHERE, "too many operands");
  *total = (uint32_t)n;
  return NSR_OK;
}

enum nsr_status nsr_image_new(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                              const struct nsr_kernel *k,
                              struct nsr_image **image) {
  struct nsr_image *im;
  NSR_TRY(check_kernel(ctx, k));
  NSR_NEW(ctx, arena, im, 1);
  im->kernel = k;
  im->isa = k->isa;
  im->nengines = k->isa->nengines;
  im->nchannels = nsr_nchannels(k);
  im->nhidden = im->nengines * hidden_names(k->isa, NULL, NULL);
  NSR_TRY(count_accesses(ctx, k, &im->naccesses));
  NSR_NEW(ctx, arena, im->accesses, im->naccesses);
  struct builder b = {
      .ctx = ctx, .arena = arena, .image = im, .next = im->accesses};
  for (uint32_t i = 0; i < k->nstreams; i++)
    NSR_TRY(stream_new(&b, &k->streams[i]));
  *image = im;
  return NSR_OK;
}
