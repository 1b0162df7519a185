/* test_overlap.c - random access patterns: no, may or must, against sets of
 * bytes and, where isl is installed, against isl.
 *
 * NSR_SEED sets the seed, NSR_PAIRS how many pairs (both oracles; by default
 * isl, which takes longer, sees some of them only).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#ifdef NSR_ISL
#include <isl/ctx.h>
#include <isl/options.h>
#include <isl/set.h>
#endif

#include "mem/conflict.h"
#include "prng.h"

enum {
  LOW = -640,
  BYTES = 1664,
  PARTS = 8,
  WORDS = BYTES / 64,
  PAIRS = 100000,
  ISL_PAIRS = 1000
};

static const struct nsr_isa isa = {
    .sbuf_bytes = 1000, .psum_bytes = 256, .partitions = PARTS};
/* The whole of what an address that nobody knows may reach. */
static const struct nsr_tensor tensors[] = {
    {.name = "d", .space = NSR_DRAM, .offset = 40, .bytes = 200},
    {.name = "s",
     .space = NSR_SBUF,
     .nparts = PARTS,
     .offset = 90,
     .bytes = 64},
    {.name = "p", .space = NSR_PSUM, .nparts = PARTS, .bytes = 128},
};
static const struct nsr_kernel kernel = {
    .isa = &isa, .ntensors = 3, .tensors = tensors};

/* An operand, and what is known of its address register. */
struct access {
  struct nsr_operand op;
  int32_t value;
  bool known;
};

struct set {
  uint64_t bits[PARTS][WORDS];
};

/* ---- the patterns */

static bool chance(struct prng *r, int percent) {
  return prng_in(r, 1, 100) <= percent;
}

/* Broadcasts, steps backwards, runs that join, touch or leave gaps. */
static struct nsr_dim random_dim(struct prng *r, int bytes) {
  int32_t step = (int32_t)prng_in(r, -24, 24);
  if (chance(r, 40))
    step = (int32_t)prng_in(r, -2, 4) * bytes;
  return (struct nsr_dim){step, (int32_t)prng_in(r, chance(r, 4) ? 0 : 1, 6),
                          false};
}

static struct access random_access(struct prng *r) {
  struct access a = {
      .op = {.role = (uint8_t)prng_in(r, NSR_R, NSR_MRW),
             .space = (uint8_t)prng_in(r, 0, 5),
             .dtype = (uint8_t)prng_in(r, NSR_F32, NSR_U8),
             .indexed_by = -1,
             .reg = NSR_NO_REG,
             .nparts = (uint16_t)prng_in(r, chance(r, 4) ? 0 : 1, 4),
             .offset = prng_in(r, 0, 120),
             .ndims = (uint8_t)prng_in(r, 0, NSR_MAX_DIMS)}};
  struct nsr_operand *op = &a.op;
  op->space = op->space < 3 ? NSR_DRAM : op->space < 5 ? NSR_SBUF : NSR_PSUM;
  if (op->space == NSR_DRAM)
    op->pstep = (int32_t)prng_in(r, -40, 40);
  else
    op->part = (uint16_t)prng_in(r, 0, PARTS - 4);
  for (int i = 0; i < op->ndims; i++)
    op->dims[i] = random_dim(r, nsr_dtype_bytes((enum nsr_dtype)op->dtype));
  if (chance(r, 25)) {
    op->reg = 5;
    a.known = chance(r, 70);
    a.value = (int32_t)prng_in(r, -60, 60);
  }
  if (op->ndims && chance(r, 3))
    op->dims[0].count_is_reg = true;
  return a;
}

/* The other access of a pair: any, or one that all but meets the first. */
static struct access random_partner(struct prng *r, const struct access *a) {
  struct access b = *a;
  if (chance(r, 70))
    return random_access(r);
  b.op.role = (uint8_t)prng_in(r, NSR_R, NSR_MRW);
  b.op.offset += prng_in(r, -9, 9);
  if (chance(r, 30))
    b.op.dtype = (uint8_t)prng_in(r, NSR_F32, NSR_U8);
  if (b.op.ndims && chance(r, 30))
    b.op.dims[b.op.ndims - 1].count = (int32_t)prng_in(r, 1, 6);
  if (b.op.space != NSR_DRAM)
    b.op.part = (uint16_t)prng_in(r, 0, PARTS - 4);
  return b;
}

/* ---- what they mean, byte by byte, knowing nothing of footprints */

static bool unknown(const struct access *a) {
  return (a->op.reg != NSR_NO_REG && !a->known) ||
         (a->op.ndims && a->op.dims[0].count_is_reg);
}

static bool touches_nothing(const struct nsr_operand *op) {
  for (int i = 0; i < op->ndims; i++)
    if (!op->dims[i].count_is_reg && op->dims[i].count == 0)
      return true;
  return op->nparts == 0;
}

static int64_t base_of(const struct access *a) {
  return a->op.offset + (a->op.reg != NSR_NO_REG ? a->value : 0);
}

static void put(struct set *s, int64_t part, int64_t at) {
  assert_in_range(part, 0, PARTS - 1);
  assert_in_range(at - LOW, 0, BYTES - 1);
  s->bits[part][(at - LOW) / 64] |= UINT64_C(1) << ((at - LOW) % 64);
}

/* Row by row of DRAM, partition by partition elsewhere. */
static void put_row(struct set *s, const struct nsr_operand *op, int64_t base,
                    int64_t part) {
  int bytes = nsr_dtype_bytes((enum nsr_dtype)op->dtype);
  int64_t n[NSR_MAX_DIMS] = {1, 1, 1};
  for (int i = 0; i < op->ndims; i++)
    n[i] = op->dims[i].count;
  for (int64_t x = 0; x < n[0]; x++)
    for (int64_t y = 0; y < n[1]; y++)
      for (int64_t z = 0; z < n[2]; z++)
        for (int i = 0; i < bytes; i++)
          put(s, part,
              base + x * op->dims[0].step + y * op->dims[1].step +
                  z * op->dims[2].step + i);
}

static void put_tensor(struct set *s, const struct nsr_operand *op) {
  const struct nsr_tensor *t = &tensors[op->space];
  bool dram = op->space == NSR_DRAM;
  for (int64_t p = 0; p < (dram ? 1 : op->nparts); p++)
    for (uint64_t i = 0; i < t->bytes; i++)
      put(s, dram ? 0 : op->part + p, (int64_t)(t->offset + i));
}

static void enumerate(const struct access *a, struct set *s) {
  const struct nsr_operand *op = &a->op;
  memset(s, 0, sizeof *s);
  if (touches_nothing(op))
    return;
  if (unknown(a)) {
    put_tensor(s, op);
    return;
  }
  for (int64_t p = 0; p < op->nparts; p++)
    if (op->space == NSR_DRAM)
      put_row(s, op, base_of(a) + p * op->pstep, 0);
    else
      put_row(s, op, base_of(a), op->part + p);
}

static bool sets_meet(const struct set *a, const struct set *b) {
  for (int p = 0; p < PARTS; p++)
    for (int i = 0; i < WORDS; i++)
      if (a->bits[p][i] & b->bits[p][i])
        return true;
  return false;
}

/* no: not a byte in common. must: both are known to the byte and touch all of
 * it. */
static enum nsr_overlap expected(const struct access *a, const struct access *b,
                                 bool meet) {
  if (a->op.space != b->op.space || !meet)
    return NSR_OVERLAP_NO;
  bool may =
      unknown(a) || unknown(b) || a->op.role >= NSR_MR || b->op.role >= NSR_MR;
  return may ? NSR_OVERLAP_MAY : NSR_OVERLAP_MUST;
}

/* ---- what isl says of them */

#ifdef NSR_ISL
struct text {
  char s[1000];
  size_t n;
};

static void add(struct text *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct text *t, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  t->n += (size_t)vsnprintf(t->s + t->n, sizeof t->s - t->n, fmt, args);
  va_end(args);
  assert_true(t->n < sizeof t->s);
}

/* { [part, byte] : .. } */
static isl_set *isl_of(isl_ctx *isl, const struct access *a) {
  const struct nsr_operand *op = &a->op;
  const struct nsr_tensor *t = &tensors[op->space];
  bool dram = op->space == NSR_DRAM;
  struct text x = {.n = 0};
  add(&x, "{ [p, b] : exists (r, x0, x1, x2, e : 0 <= r < %d and ", op->nparts);
  add(&x, dram ? "p = 0" : "p = r + %d", op->part);
  for (int i = 0; i < op->ndims; i++)
    if (!op->dims[i].count_is_reg)
      add(&x, " and 0 <= x%d < %d", i, op->dims[i].count);
  if (unknown(a)) {
    add(&x, " and %lld <= b < %lld) }", (long long)t->offset,
        (long long)(t->offset + t->bytes));
    return isl_set_read_from_str(isl, x.s);
  }
  add(&x, " and 0 <= e < %d and b = %lld + e + %d r",
      nsr_dtype_bytes((enum nsr_dtype)op->dtype), (long long)base_of(a),
      dram ? op->pstep : 0);
  for (int i = 0; i < op->ndims; i++)
    add(&x, " + %d x%d", op->dims[i].step, i);
  add(&x, ") }");
  return isl_set_read_from_str(isl, x.s);
}

static bool isl_meet(isl_ctx *isl, const struct access *a,
                     const struct access *b) {
  isl_set *both = isl_set_intersect(isl_of(isl, a), isl_of(isl, b));
  isl_bool empty = isl_set_is_empty(both);
  assert_true(empty != isl_bool_error);
  isl_set_free(both);
  return empty == isl_bool_false;
}
#endif

/* ---- the comparison */

static struct nsr_footprint footprint(const struct access *a) {
  struct nsr_footprint f;
  nsr_footprint_of(&kernel, &a->op, a->op.space, a->known ? &a->value : NULL,
                   &f);
  return f;
}

static int64_t wanted_pairs(int64_t usual) {
  const char *s = getenv("NSR_PAIRS");
  return s ? strtoll(s, NULL, 0) : usual;
}

/* Pairs by answer. */
struct tally {
  int64_t n[NSR_OVERLAP_MUST + 1];
};

static void print_tally(const struct tally *t) {
  printf("  no %" PRId64 ", may %" PRId64 ", must %" PRId64 "\n", t->n[0],
         t->n[1], t->n[2]);
  for (int i = 0; i <= NSR_OVERLAP_MUST; i++)
    assert_true(t->n[i] > 0);
}

static void test_enumeration(void **state) {
  (void)state;
  struct prng r = prng_seed(__func__, 1);
  struct tally tally = {{0}};
  static struct set sa, sb;
  for (int64_t i = wanted_pairs(PAIRS); i > 0; i--) {
    struct access a = random_access(&r), b = random_partner(&r, &a);
    struct nsr_footprint fa = footprint(&a), fb = footprint(&b);
    enumerate(&a, &sa);
    enumerate(&b, &sb);
    enum nsr_overlap want = expected(&a, &b, sets_meet(&sa, &sb));
    assert_int_equal(nsr_overlap(&fa, &fb, NULL), want);
    assert_int_equal(nsr_overlap(&fb, &fa, NULL), want);
    tally.n[want]++;
  }
  print_tally(&tally);
}

/* Several operands of an instruction each, read, written and updated in
 * place: conflicts of two instructions, and of one with itself. */
static void test_instructions(void **state) {
  (void)state;
  enum { OPERANDS = 3, N = 2 * OPERANDS };
  struct prng r = prng_seed(__func__, 2);
  struct tally tally = {{0}};
  static struct set sets[N];
  for (int64_t n = wanted_pairs(PAIRS) / 10; n > 0; n--) {
    struct access a[N];
    struct nsr_access v[N];
    enum nsr_overlap want[2][2] = {{NSR_OVERLAP_NO}};
    for (int i = 0; i < N; i++) {
      a[i] = i && chance(&r, 50) ? random_partner(&r, &a[i - 1])
                                 : random_access(&r);
      v[i].footprint = footprint(&a[i]);
      v[i].owner = i >= OPERANDS;
      enumerate(&a[i], &sets[i]);
    }
    for (int i = 0; i < N; i++)
      for (int j = i; j < N; j++) {
        enum nsr_overlap x =
            expected(&a[i], &a[j], sets_meet(&sets[i], &sets[j]));
        enum nsr_overlap *to = &want[i >= OPERANDS][j >= OPERANDS];
        bool writes = nsr_role_writes((enum nsr_role)a[i].op.role) ||
                      nsr_role_writes((enum nsr_role)a[j].op.role);
        *to = writes && x > *to ? x : *to;
      }
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_conflicts got;
    assert_int_equal(nsr_conflicts_find(ctx, NSR_KEEP, v, N, &got), NSR_OK);
    enum nsr_overlap is[2][2] = {{NSR_OVERLAP_NO}};
    for (size_t i = 0; i < got.n; i++)
      is[got.v[i].a][got.v[i].b] = got.v[i].overlap;
    assert_memory_equal(is, want, sizeof is);
    tally.n[want[0][1]]++;
    nsr_ctx_free(ctx);
  }
  print_tally(&tally);
}

static void test_isl(void **state) {
  (void)state;
#ifdef NSR_ISL
  struct prng r = prng_seed(__func__, 3);
  struct tally tally = {{0}};
  isl_ctx *isl = isl_ctx_alloc();
  for (int64_t i = wanted_pairs(ISL_PAIRS); i > 0; i--) {
    struct access a = random_access(&r), b = random_partner(&r, &a);
    struct nsr_footprint fa = footprint(&a), fb = footprint(&b);
    enum nsr_overlap want = NSR_OVERLAP_NO;
    if (a.op.space == b.op.space)
      want = expected(&a, &b, isl_meet(isl, &a, &b));
    assert_int_equal(nsr_overlap(&fa, &fb, NULL), want);
    tally.n[want]++;
  }
  isl_ctx_free(isl);
  print_tally(&tally);
#else
  skip();
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_enumeration),
      cmocka_unit_test(test_instructions),
      cmocka_unit_test(test_isl),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
