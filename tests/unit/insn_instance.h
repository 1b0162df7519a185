/* insn_instance.h - a random instance of any instruction that has operands:
 * shapes that its numeric semantics take, places of their own for all
 * operands, and a kernel that holds nothing else. */
#ifndef NSR_TESTS_INSN_INSTANCE_H
#define NSR_TESTS_INSN_INSTANCE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <nsr/kernel.h>

#include "mem/footprint.h"
#include "prng.h"
#include "sim/model.h"
#include "sim/numeric.h"

/* Operand k lies in bytes k*AREA.. of its space, partitions below PARTS. */
enum { AREA = 512, PARTS = 24, SPACES = 3, BYTES = AREA * 5 };

/* A bit per byte, or the bytes themselves. */
struct image {
  uint8_t at[SPACES][PARTS][BYTES];
};

struct instance {
  struct nsr_insn insn[3]; /* [0]: what loads hidden state, if it is read */
  int n;                   /* insn[n-1]: halt, insn[n-2]: the instruction */
  uint8_t code[3 * NSR_MAX_WORD];
  struct nsr_stream stream;
  struct nsr_queue queue;
  struct nsr_kernel kernel;
};

static inline struct nsr_insn *instance_insn(struct instance *x) {
  return &x->insn[x->n - 2];
}

/* ---- operands */

/* n elements in each of nparts partitions or rows; the innermost dimension is
 * of `inner` elements where that is not 0. */
struct want_shape {
  uint32_t nparts, n, inner;
};

static inline bool encodes(const struct nsr_isa *isa,
                           const struct nsr_insn *insn) {
  uint8_t word[NSR_MAX_WORD];
  char why[100];
  return nsr_encode(isa, insn, word, why, sizeof why);
}

/* Another value of a member where the format has it. */
#define TRY_MEMBER(isa, insn, member, value)                                   \
  do {                                                                         \
    uint8_t old_ = (member);                                                   \
    (member) = (uint8_t)(value);                                               \
    if (!encodes(isa, insn))                                                   \
      (member) = old_;                                                         \
  } while (0)

static inline void add_dims(struct nsr_operand *o, int maxdims,
                            struct want_shape w, struct prng *r) {
  uint32_t left = w.n, inner = w.inner ? w.inner : 1;
  int32_t step = nsr_dtype_bytes((enum nsr_dtype)o->dtype);
  struct nsr_dim d[NSR_MAX_DIMS];
  int n = 0;
  if (w.inner)
    left /= inner;
  for (int i = 0; i < maxdims; i++) { /* innermost first */
    uint32_t count = i == 0 && w.inner ? inner : left;
    if (!(i == 0 && w.inner)) {
      uint32_t part = (uint32_t)prng_in(r, 2, 4);
      if (i + 1 < maxdims && left % part == 0)
        count = part;
      left /= count;
    }
    if (count == 1 && !(i == 0 && w.inner) && left == 1)
      break;
    step *= (int32_t)prng_in(r, 1, 2);
    d[n++] = (struct nsr_dim){step, (int32_t)count, false};
    step *= (int32_t)count;
  }
  assert_int_equal(left, 1);
  for (int i = 0; i < n; i++) {
    o->dims[i] = d[n - 1 - i];
    if (prng_in(r, 0, 3) == 0) { /* backwards */
      o->offset += (int64_t)o->dims[i].step * (o->dims[i].count - 1);
      o->dims[i].step = -o->dims[i].step;
    }
  }
  o->ndims = (uint8_t)n;
}

static inline int64_t row_bytes(const struct nsr_operand *o) {
  int64_t n = nsr_dtype_bytes((enum nsr_dtype)o->dtype);
  for (int i = 0; i < o->ndims; i++)
    n += (o->dims[i].count - 1) *
         (int64_t)(o->dims[i].step < 0 ? -o->dims[i].step : o->dims[i].step);
  return n;
}

static inline void place_operand(const struct nsr_isa *isa,
                                 struct nsr_insn *insn, int k,
                                 enum nsr_dtype dtype, struct want_shape w,
                                 struct prng *r) {
  struct nsr_operand *o = &insn->operands[k];
  TRY_MEMBER(isa, insn, o->space, prng_in(r, NSR_DRAM, NSR_PSUM));
  TRY_MEMBER(isa, insn, o->dtype, dtype);
  o->offset = (int64_t)k * AREA;
  o->nparts = (uint16_t)w.nparts;
  const struct nsr_operand blank = *o;
  int64_t rows;
  do { /* gaps may be too wide */
    *o = blank;
    add_dims(o, insn->desc->operands[k].maxdims, w, r);
    if (o->space == NSR_DRAM && w.nparts > 1)
      o->pstep = (int32_t)(row_bytes(o) + prng_in(r, 0, 3));
    rows = o->pstep * (int64_t)(w.nparts - 1);
  } while (rows + row_bytes(o) > AREA);
  if (o->space != NSR_DRAM)
    o->part = (uint16_t)prng_in(r, 0, PARTS - w.nparts);
}

/* ---- shapes by semantics */

static inline void shapes_of(const struct nsr_insn_desc *desc, uint32_t p,
                             uint32_t n, struct want_shape w[NSR_MAX_OPERANDS],
                             struct prng *r) {
  uint32_t m = (uint32_t)prng_in(r, 2, 5);
  for (int i = 0; i < NSR_MAX_OPERANDS; i++)
    w[i] = (struct want_shape){p, n, 0};
  const struct want_shape one = {p, 1, 0};
  switch (desc->sem) {
  case NSR_SEM_STORE:
    w[0] = (struct want_shape){1, 1, 0};
    break;
  case NSR_SEM_TENSOR_ROWSCALAR:
  case NSR_SEM_ACTIVATION_ROWBIAS:
    w[2] = one;
    break;
  case NSR_SEM_ACTIVATION_SUM:
    w[1] = one;
    break;
  case NSR_SEM_ACTIVATION_ROWBIAS_SUM:
    w[1] = w[3] = one;
    break;
  case NSR_SEM_TENSOR_REDUCE:
    w[1] = (struct want_shape){p, n * m, m};
    break;
  case NSR_SEM_SCAN:
    w[3] = one;
    break;
  case NSR_SEM_MAX8:
    w[0].n = 8;
    w[1].n = 9;
    break;
  case NSR_SEM_GATHER:
    w[1].n = m;
    break;
  case NSR_SEM_GATHER_ROWS:
    w[1].nparts = m;
    w[2] = p & 1 ? (struct want_shape){1, p, 0} : one;
    break;
  case NSR_SEM_SCATTER_ROWS:
  case NSR_SEM_SCATTER_ACCUMULATE:
    w[0].nparts = p + m; /* some are left */
    w[2] = p & 1 ? (struct want_shape){1, p, 0} : one;
    break;
  case NSR_SEM_MATMUL: /* n x p weights */
    w[0] = (struct want_shape){n, m, 0};
    w[1] = (struct want_shape){p, m, 0};
    break;
  case NSR_SEM_TRANSPOSE:
    w[0] = (struct want_shape){n, p, 0};
    break;
  default:
    break;
  }
}

static inline void random_args(struct nsr_insn *insn, struct prng *r) {
  for (int i = 0; i < insn->desc->nargs; i++) {
    const struct nsr_arg_desc *a = &insn->desc->args[i];
    int n = 0;
    while (a->kind == NSR_ARG_ENUM && a->names[n])
      n++;
    if (a->kind == NSR_ARG_ENUM)
      insn->args[i] = prng_in(r, 0, n - 1);
    else if (a->kind == NSR_ARG_INT)
      insn->args[i] = prng_in(r, 0, 3);
    else
      insn->args[i] = prng_in(r, 0, 1) ? 0x3f800000 : 0x3fc00000; /* 1, 1.5 */
  }
}

static inline enum nsr_dtype some_dtype(struct prng *r) {
  return (enum nsr_dtype)prng_in(r, NSR_F32, NSR_U8);
}

/* What loads the hidden state that products read. */
static inline const struct nsr_insn_desc *
load_stationary(const struct nsr_isa *isa) {
  for (int i = 0; i < isa->ninsns; i++)
    if (isa->insns[i].sem == NSR_SEM_LOAD_STATIONARY)
      return &isa->insns[i];
  fail_msg("%s loads no weights", isa->name);
  return NULL;
}

static inline void encode_instance(struct instance *x,
                                   const struct nsr_isa *isa) {
  char why[200];
  for (int i = 0; i < x->n; i++)
    if (!nsr_encode(isa, &x->insn[i], x->code + i * isa->word, why, sizeof why))
      fail_msg("%s: %s", x->insn[i].desc->mnemonic, why);
}

/* Other arguments. */
static inline void instance_args(struct instance *x, struct prng *r) {
  random_args(instance_insn(x), r);
  encode_instance(x, x->kernel.isa);
}

static inline void finish_instance(struct instance *x,
                                   const struct nsr_isa *isa, int engine) {
  nsr_insn_init(nsr_isa_control(isa, NSR_CTL_HALT), &x->insn[x->n++]);
  encode_instance(x, isa);
  x->stream = (struct nsr_stream){
      .engine = (uint8_t)engine, .n = (uint32_t)x->n, .code = x->code};
  x->queue = (struct nsr_queue){"q0", (uint8_t)engine, NSR_ORDER_NONE};
  x->kernel = (struct nsr_kernel){.isa = isa,
                                  .name = "t",
                                  .owned_last = isa->owned_last,
                                  .nqueues = 1,
                                  .nstreams = 1,
                                  .queues = &x->queue,
                                  .streams = &x->stream};
}

/* weights: hidden state that the instruction reads is loaded before it. */
static inline void instance_make(struct instance *x, const struct nsr_isa *isa,
                                 const struct nsr_insn_desc *desc, bool weights,
                                 struct prng *r) {
  uint32_t p = (uint32_t)prng_in(r, 1, 4), n = (uint32_t)prng_in(r, 2, 6);
  struct want_shape w[NSR_MAX_OPERANDS];
  enum nsr_dtype dtype = some_dtype(r);
  bool keeps = desc->meaning == NSR_MEANING_COPY; /* its dtype */
  memset(x, 0, sizeof *x);
  shapes_of(desc, p, n, w, r);
  if (desc->sem == NSR_SEM_MATMUL && weights) {
    nsr_insn_init(load_stationary(isa), &x->insn[0]);
    place_operand(isa, &x->insn[0], 0, NSR_F32, (struct want_shape){p, n, 0},
                  r);
    x->insn[0].operands[0].offset += 4 * (int64_t)AREA;
    x->n = 1;
  }
  struct nsr_insn *insn = &x->insn[x->n++];
  nsr_insn_init(desc, insn);
  random_args(insn, r);
  for (int k = 0; k < desc->noperands; k++)
    place_operand(isa, insn, k, keeps ? dtype : some_dtype(r), w[k], r);
  struct nsr_operand *dst = &insn->operands[0];
  if (desc->operands[0].acc && prng_in(r, 0, 1)) {
    dst->acc = true;
    dst->role = NSR_RW;
  }
  if (desc->sem == NSR_SEM_STORE)
    insn->value_reg = 0;
  finish_instance(x, isa, __builtin_ctz(desc->engines));
}

/* ---- sets of bytes */

static inline void add_footprint(struct image *set,
                                 const struct nsr_footprint *f, uint8_t mark) {
  int64_t n[NSR_FOOTPRINT_DIMS] = {1, 1, 1, 1};
  for (int i = 0; i < f->ndims; i++)
    n[i] = f->dims[i].count;
  assert_int_equal(f->kind, NSR_FOOTPRINT_EXACT);
  for (uint32_t p = f->part; p < f->part + f->nparts; p++)
    for (int64_t a = 0; a < n[0]; a++)
      for (int64_t b = 0; b < n[1]; b++)
        for (int64_t c = 0; c < n[2]; c++)
          for (int64_t d = 0; d < n[3]; d++)
            for (int64_t i = 0; i < f->run; i++) {
              int64_t at = f->lo + i + a * f->dims[0].step +
                           b * f->dims[1].step + c * f->dims[2].step +
                           d * f->dims[3].step;
              assert_in_range(at, 0, BYTES - 1);
              set->at[f->space][p][at] |= mark;
            }
}

enum { READ = 1, WRITTEN = 2, SOME = 4 }; /* SOME: perhaps written */

/* What footprints say of all instructions of an instance. */
static inline void footprints(const struct instance *x, struct image *set) {
  memset(set, 0, sizeof *set);
  for (int i = 0; i < x->n; i++)
    for (int k = 0; k < x->insn[i].noperands; k++) {
      struct nsr_footprint f;
      nsr_footprint_of(&x->kernel, &x->insn[i].operands[k], NSR_NONE, NULL, &f);
      enum nsr_role role = (enum nsr_role)f.role;
      if (nsr_role_reads(role))
        add_footprint(set, &f, READ);
      if (nsr_role_writes(role))
        add_footprint(set, &f, nsr_role_may(role) ? SOME : WRITTEN);
    }
}

/* Instructions with operands, for which numbers have a meaning. */
static inline bool has_work(const struct nsr_insn_desc *d) {
  return d->cls == NSR_DATAPATH && d->noperands > 0;
}

#endif
