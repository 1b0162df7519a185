/* random_kernel.h - kernels that use every field, name and table entry there
 * is, from a seed: what text and JSON must carry. They need not make sense to
 * a machine; branches, relocations and names are in order. */
#ifndef NSR_TESTS_RANDOM_KERNEL_H
#define NSR_TESTS_RANDOM_KERNEL_H

#include <stdlib.h>
#include <string.h>

#include <nsr/kernel.h>

#include "base/arena.h"
#include "prng.h"

enum { MAX_RANDOM = 24 }; /* instructions of a stream */

struct random_stream {
  uint8_t code[MAX_RANDOM * NSR_MAX_WORD];
  struct nsr_reloc relocs[MAX_RANDOM * 8];
  struct nsr_label labels[MAX_RANDOM];
  struct nsr_line lines[MAX_RANDOM];
};

struct random_kernel {
  struct nsr_kernel k;
  struct prng *r;
  struct nsr_stream streams[NSR_MAX_ENGINES];
  struct random_stream s[NSR_MAX_ENGINES];
  struct nsr_queue queues[NSR_MAX_QUEUES];
  struct nsr_tensor tensors[6];
  const char *files[5];
  struct nsr_section sections[4];
  uint8_t bytes[256];
  uint32_t *made; /* by description: how many instructions (may be NULL) */
};

/* Names that a careless reader takes for something else. */
static const char *const odd_names[] = {"x",
                                        "r1",
                                        "s3",
                                        "add",
                                        "br.lt",
                                        "sbuf",
                                        "dram",
                                        "q0",
                                        "inf",
                                        "nan",
                                        "end",
                                        "@3",
                                        "a b",
                                        "\"quoted\"",
                                        "back\\slash",
                                        ";comment",
                                        "#also",
                                        "colon:",
                                        "tiefe\xc3\xa4",
                                        "$dollar",
                                        "_",
                                        ".engine",
                                        "_.$",
                                        "12",
                                        "0x10",
                                        "a,b",
                                        "{0:1}",
                                        "\\x41",
                                        "wait",
                                        "at",
                                        "range",
                                        "data",
                                        "\xf0\x9f\x8c\x8d",
                                        " ",
                                        "psum"};
enum { NODD = sizeof odd_names / sizeof *odd_names };

static inline bool chance(struct prng *r, int percent) {
  return prng_in(r, 1, 100) <= percent;
}

/* Names i, i+1, .. are different ones. */
static inline const char *odd_name(uint64_t i) { return odd_names[i % NODD]; }

/* Small, or at a power of two, or anything; often negative. */
static inline int64_t random_value(struct prng *r, unsigned bits) {
  uint64_t v = prng_next(r) >> (64 - prng_in(r, 1, bits));
  if (chance(r, 30))
    v = UINT64_C(1) << prng_in(r, 0, bits - 1);
  v -= chance(r, 30);
  return chance(r, 40) ? -(int64_t)v : (int64_t)v;
}

static inline struct nsr_val random_val(struct random_kernel *x) {
  if (chance(x->r, 40))
    return (struct nsr_val){true,
                            (int32_t)prng_in(x->r, 0, x->k.isa->registers - 1)};
  return (struct nsr_val){false, (int32_t)random_value(x->r, 31)};
}

static inline int64_t random_arg(struct random_kernel *x,
                                 const struct nsr_arg_desc *arg) {
  static const uint32_t floats[] = {
      0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7fc00001,
      0xffc00000, 0x7f800001, 1,          0x007fffff, 0x7f7fffff, 0x3f800000,
      0x3eaaaaab, 0x4b800000, 0x4b800001, 0xcb7fffff};
  int n = 0;
  switch (arg->kind) {
  case NSR_ARG_ENUM:
    while (arg->names[n])
      n++;
    return prng_in(x->r, 0, n - 1);
  case NSR_ARG_F32:
    return chance(x->r, 50) ? floats[prng_in(x->r, 0, 15)]
                            : (int64_t)(uint32_t)prng_next(x->r);
  default:
    return random_value(x->r, chance(x->r, 50) ? 4 : 31);
  }
}

static inline void random_operand(struct random_kernel *x,
                                  const struct nsr_operand_desc *desc,
                                  struct nsr_operand *o) {
  struct prng *r = x->r;
  o->space = (uint8_t)prng_in(r, 0, NSR_PSUM);
  o->dtype = (uint8_t)prng_in(r, 0, NSR_U8);
  o->acc = desc->acc && chance(r, 40);
  o->reg = NSR_NO_REG;
  if (chance(r, 30))
    o->reg = (int16_t)prng_in(r, 0, x->k.isa->registers - 1);
  bool dram = o->space == NSR_DRAM;
  o->part = dram ? 0 : (uint16_t)prng_in(r, 0, 31);
  o->nparts = (uint16_t)(chance(r, 50) ? 1 : prng_in(r, 0, 63));
  o->pstep = dram && chance(r, 60) ? (int32_t)random_value(r, 12) : 0;
  o->offset = random_value(r, chance(r, 30) ? 18 : 8);
  o->ndims = (uint8_t)prng_in(r, 0, desc->maxdims);
  for (int d = 0; d < o->ndims; d++) {
    o->dims[d].step = (int32_t)random_value(r, 11);
    o->dims[d].count_is_reg = chance(r, 25);
    o->dims[d].count = (int32_t)prng_in(r, 0, chance(r, 50) ? 19 : 31);
  }
}

static inline void random_insn(struct random_kernel *x,
                               const struct nsr_insn_desc *desc, uint32_t i,
                               uint32_t n, struct nsr_insn *insn) {
  struct prng *r = x->r;
  const struct nsr_isa *isa = x->k.isa;
  int regs = isa->registers - 1;
  nsr_insn_init(desc, insn);
  if (desc->has_wait && chance(r, 60)) {
    insn->wait.cmp = (uint8_t)prng_in(r, NSR_CMP_GE, NSR_CMP_LT);
    insn->wait.sem = (uint16_t)prng_in(r, 0, isa->semaphores - 1);
    insn->wait.value = random_val(x);
  }
  if (desc->has_update && chance(r, 60)) {
    insn->update.op = (uint8_t)prng_in(r, NSR_UPD_INC, NSR_UPD_SET);
    insn->update.sem = (uint16_t)prng_in(r, 0, isa->semaphores - 1);
    insn->update.value =
        insn->update.op >= NSR_UPD_ADD ? (int32_t)random_value(r, 15) : 1;
  }
  insn->queue = desc->queue ? (int8_t)prng_in(r, 0, x->k.nqueues - 1) : -1;
  insn->cc = (uint8_t)prng_in(r, 0, NSR_CC_GE);
  insn->dst = insn->dst < 0 ? -1 : (int16_t)prng_in(r, 0, regs);
  insn->cond = insn->cond < 0 ? -1 : (int16_t)prng_in(r, 0, regs);
  if (insn->value_reg >= 0 || desc->sem == NSR_SEM_STORE)
    insn->value_reg = (int16_t)prng_in(r, 0, regs);
  if (desc->cls == NSR_LOAD ||
      (desc->ctl >= NSR_CTL_MOV && desc->ctl <= NSR_CTL_SEL))
    insn->dst = (int16_t)prng_in(r, 0, regs);
  if (desc->ctl == NSR_CTL_SEL)
    insn->cond = (int16_t)prng_in(r, 0, regs);
  bool valued = desc->cls == NSR_CONTROL && desc->ctl != NSR_CTL_WAIT &&
                desc->ctl != NSR_CTL_HALT;
  if (desc->ctl == NSR_CTL_BR) {
    insn->displacement = (int32_t)(prng_in(r, 0, n) - i);
    valued = insn->cc != NSR_CC_ALWAYS;
  }
  if (valued)
    insn->a = random_val(x);
  if (valued && desc->ctl != NSR_CTL_MOV && desc->ctl != NSR_CTL_JUMP)
    insn->b = random_val(x);
  if (desc->cls == NSR_BARRIER)
    insn->id = (int32_t)(prng_next(r) >> prng_in(r, 33, 63));
  for (int a = 0; a < desc->nargs; a++)
    insn->args[a] = random_arg(x, &desc->args[a]);
  for (int o = 0; o < desc->noperands; o++)
    random_operand(x, &desc->operands[o], &insn->operands[o]);
}

/* Ties operands to tensors of their space and records branches. */
static inline void random_relocs(struct random_kernel *x, struct nsr_stream *s,
                                 uint32_t i, const struct nsr_insn *insn) {
  struct nsr_reloc *to = x->s[s->engine].relocs;
  for (int o = 0; o < insn->noperands; o++) {
    uint32_t t = (uint32_t)prng_in(x->r, 0, (int64_t)x->k.ntensors);
    if (t < x->k.ntensors && x->tensors[t].space == insn->operands[o].space)
      to[s->nrelocs++] = (struct nsr_reloc){i, NSR_RELOC_TENSOR, (uint8_t)o, t};
  }
  if (insn->desc->ctl == NSR_CTL_BR && chance(x->r, 40))
    to[s->nrelocs++] = (struct nsr_reloc){
        i, NSR_RELOC_BRANCH, 0, (uint32_t)((int64_t)i + insn->displacement)};
  if (insn->desc->ctl == NSR_CTL_JUMP)
    for (int64_t j = prng_in(x->r, 0, 4); j > 0; j--)
      to[s->nrelocs++] = (struct nsr_reloc){i, NSR_RELOC_BRANCH, 0,
                                            (uint32_t)prng_in(x->r, 0, s->n)};
}

/* One word that encodes, of a random description legal on the engine. */
static inline void random_word(struct random_kernel *x, struct nsr_stream *s,
                               uint32_t i) {
  const struct nsr_isa *isa = x->k.isa;
  uint8_t *word = x->s[s->engine].code + (size_t)i * isa->word;
  const struct nsr_insn_desc *desc = NULL;
  struct nsr_insn insn;
  char why[200];
  for (int tries = 0;; tries++) {
    if (tries % 3000 == 0) /* some kinds seldom encode: give each its chance */
      do
        desc = &isa->insns[prng_in(x->r, 0, isa->ninsns - 1)];
      while (!(desc->engines >> s->engine & 1) ||
             (desc->queue && !x->k.nqueues));
    random_insn(x, desc, i, s->n, &insn);
    if (nsr_encode(isa, &insn, word, why, sizeof why))
      break;
  }
  if (nsr_decode(isa, s->engine, word, &insn))
    abort(); /* the codec's own tests say more */
  if (x->made)
    x->made[desc->index]++;
  random_relocs(x, s, i, &insn);
}

static inline void random_stream(struct random_kernel *x, int engine) {
  struct nsr_stream *s = &x->streams[x->k.nstreams++];
  struct random_stream *to = &x->s[engine];
  *s = (struct nsr_stream){.engine = (uint8_t)engine,
                           .code = to->code,
                           .relocs = to->relocs,
                           .labels = to->labels};
  s->n = (uint32_t)prng_in(x->r, 0, MAX_RANDOM);
  for (uint32_t i = 0; i < s->n; i++)
    random_word(x, s, i);
  uint64_t name = prng_next(x->r) % NODD;
  for (uint32_t i = 0; i <= s->n; i++)
    while (s->nlabels < MAX_RANDOM && chance(x->r, 25))
      to->labels[s->nlabels++] = (struct nsr_label){odd_name(name++), i};
  int lined = (int)prng_in(x->r, 0, 2); /* none, an empty table, some */
  for (uint32_t i = 0; i < s->n; i++) {
    bool has = lined == 2 && x->k.nfiles && chance(x->r, 70);
    to->lines[i] = (struct nsr_line){0};
    if (has)
      to->lines[i] = (struct nsr_line){
          (uint32_t)prng_in(x->r, 0, x->k.nfiles - 1),
          (uint32_t)(prng_next(x->r) >> prng_in(x->r, 32, 63)) | 1};
  }
  s->lines = lined && s->n ? to->lines : NULL;
}

static inline void random_tensor(struct random_kernel *x, struct nsr_tensor *t,
                                 const char *name) {
  struct prng *r = x->r;
  *t = (struct nsr_tensor){.name = name};
  t->space = (uint8_t)prng_in(r, 0, NSR_PSUM);
  t->dtype = (uint8_t)prng_in(r, 0, NSR_U8);
  t->role = (uint8_t)prng_in(r, 0, NSR_TENSOR_SCRATCH);
  t->nshape = (uint8_t)prng_in(r, 0, 4);
  t->bytes = nsr_dtype_bytes((enum nsr_dtype)t->dtype);
  for (int i = 0; i < t->nshape; i++) {
    t->shape[i] = (uint32_t)prng_in(r, 0, 9);
    t->bytes *= i || t->space == NSR_DRAM ? t->shape[i] : 1;
  }
  if (chance(r, 30))
    t->bytes = (uint64_t)prng_in(r, 0, INT64_C(1) << 40);
  t->offset = (uint64_t)prng_in(r, 0, chance(r, 20) ? INT64_C(1) << 61 : 3000);
  if (t->space != NSR_DRAM) {
    t->part = (uint16_t)prng_in(r, 0, 40);
    t->nparts = (uint16_t)prng_in(r, 1, 128);
  } else if (chance(r, 50)) {
    t->data = x->bytes;
    t->data_size = (uint64_t)prng_in(r, 0, sizeof x->bytes);
    t->data_size = t->data_size > t->bytes ? t->bytes : t->data_size;
  }
  t->has_range = chance(r, 30);
  t->lo = t->has_range ? (int32_t)random_value(r, 31) : 0;
  t->hi = t->has_range ? (int32_t)prng_in(r, t->lo, INT32_MAX) : 0;
}

static inline void random_sections(struct random_kernel *x) {
  static const uint32_t types[] = {1, 7, 0x70000001, 8};
  x->k.nsections = (uint32_t)prng_in(x->r, 0, 4);
  uint64_t name = prng_next(x->r) % NODD;
  for (uint32_t i = 0; i < x->k.nsections; i++) {
    struct nsr_section *s = &x->sections[i];
    *s = (struct nsr_section){.name = odd_name(name++),
                              .type = types[prng_in(x->r, 0, 3)],
                              .flags = prng_next(x->r) & 0x30,
                              .align = UINT64_C(1) << prng_in(x->r, 0, 4),
                              .info = (uint32_t)prng_in(x->r, 0, 5)};
    s->size = (uint64_t)prng_in(x->r, 0, sizeof x->bytes);
    s->entsize = chance(x->r, 30) && s->size ? s->size : 0;
    s->data = s->type == 8 ? NULL : x->bytes;
  }
}

/* Valid until ctx goes; NULL: out of memory. */
static inline struct random_kernel *random_kernel(struct nsr_ctx *ctx,
                                                  const struct nsr_isa *isa,
                                                  struct prng *r,
                                                  uint32_t *made) {
  struct random_kernel *x = nsr_alloc(ctx, NSR_KEEP, sizeof *x);
  if (!x)
    return NULL;
  x->r = r;
  x->made = made;
  x->k.isa = isa;
  x->k.name = chance(r, 20) ? "" : odd_name(prng_next(r) % NODD);
  for (size_t i = 0; i < sizeof x->bytes; i++)
    x->bytes[i] = (uint8_t)prng_next(r);
  for (int e = 0; e < isa->nengines; e++)
    x->k.pipe_order[e] = (enum nsr_order)prng_in(r, 0, NSR_ORDER_FULL);
  x->k.owned_first = (uint16_t)prng_in(r, 0, isa->semaphores - 1);
  x->k.owned_last = (uint16_t)prng_in(r, x->k.owned_first, isa->semaphores - 1);
  uint64_t name = prng_next(r) % NODD;
  x->k.nqueues = (uint32_t)prng_in(r, 0, NSR_MAX_QUEUES);
  for (uint32_t q = 0; q < x->k.nqueues; q++)
    x->queues[q] = (struct nsr_queue){
        odd_name(name++), (uint8_t)prng_in(r, 0, isa->nengines - 1),
        (enum nsr_order)prng_in(r, 0, NSR_ORDER_FULL)};
  x->k.ntensors = (uint32_t)prng_in(r, 0, 6);
  for (uint32_t t = 0; t < x->k.ntensors; t++)
    random_tensor(x, &x->tensors[t], odd_name(name++));
  x->k.nfiles = (uint32_t)prng_in(r, 0, 5);
  for (uint32_t f = 0; f < x->k.nfiles; f++) /* may repeat */
    x->files[f] = odd_name(name + prng_next(r) % 4);
  x->k.queues = x->queues;
  x->k.tensors = x->tensors;
  x->k.files = x->files;
  x->k.streams = x->streams;
  x->k.sections = x->sections;
  random_sections(x);
  for (int e = 0; e < isa->nengines; e++)
    if (chance(r, 60))
      random_stream(x, e);
  return x;
}
#endif
