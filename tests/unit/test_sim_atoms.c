/* Atoms against sets of bytes: after the cuts are made, the atoms of an
 * access hold its bytes, all of them and no other, whatever else was cut; the
 * walk in element order goes through the same bytes. */
#include "prng.h"
#include "sim_kernel.h"

#include "sim/runs.h"

enum { PARTS = 128, WIDTH = 256, ROUNDS = 300, SHAPES = 12 };

struct access {
  struct nsr_shape shape;
  int64_t offset;
  uint8_t hit[PARTS][WIDTH]; /* by brute force */
};

static uint8_t got[PARTS][WIDTH];

/* Bytes of an access one element at a time, as json.md defines them. */
static bool brute(struct access *a) {
  const struct nsr_shape *s = &a->shape;
  uint32_t at[NSR_MAX_DIMS + 1] = {0};
  memset(a->hit, 0, sizeof a->hit);
  for (;;) {
    int64_t byte = a->offset;
    for (int d = 0; d < s->ndims; d++)
      byte += (int64_t)s->dims[d].step * at[d];
    if (byte < 0 || byte + s->bytes > WIDTH)
      return false;
    for (uint32_t p = 0; p < s->nparts; p++)
      memset(&a->hit[s->part + p][byte], 1, s->bytes);
    int d = s->ndims - 1;
    while (d >= 0 && ++at[d] == s->dims[d].count)
      at[d--] = 0;
    if (d < 0)
      return true;
  }
}

static void random_access(struct prng *r, struct access *a) {
  static const int sizes[] = {1, 2, 4};
  do {
    struct nsr_shape s = {0};
    s.space = (uint8_t)prng_in(r, NSR_DRAM, NSR_PSUM);
    s.bytes = (uint8_t)sizes[prng_in(r, 0, 2)];
    s.nparts = s.space == NSR_DRAM ? 1 : (uint32_t)prng_in(r, 1, 6);
    s.part = s.space == NSR_DRAM ? 0 : (uint32_t)prng_in(r, 0, 8);
    s.ndims = (uint8_t)prng_in(r, 0, s.space == NSR_DRAM ? 4 : 3);
    for (int d = 0; d < s.ndims; d++) {
      s.dims[d].step = (int32_t)prng_in(r, -40, 40);
      s.dims[d].count = (uint32_t)prng_in(r, 1, 5);
    }
    a->shape = s;
    a->offset = prng_in(r, 0, WIDTH - 1);
  } while (!brute(a));
}

static void check_cover(const struct nsr_atoms *atoms, const struct access *a,
                        const struct nsr_cover *c) {
  uint32_t n = 0;
  memset(got, 0, sizeof got);
  for (struct nsr_cover_iter it = nsr_cover_first(c); it.more;
       nsr_cover_next(&it), n++) {
    struct nsr_extent x = nsr_atoms_extent(atoms, it.atom);
    assert_int_equal(x.space, a->shape.space);
    assert_true(x.end <= WIDTH && x.part + x.nparts <= PARTS);
    assert_int_equal(nsr_atoms_at(atoms, x.space, x.part, x.begin), it.atom);
    for (uint32_t p = 0; p < x.nparts; p++)
      for (uint64_t b = x.begin; b < x.end; b++) {
        assert_int_equal(got[x.part + p][b], 0); /* each atom once */
        got[x.part + p][b] = 1;
      }
  }
  assert_int_equal(n, c->n);
  assert_memory_equal(got, a->hit, sizeof got);
}

static void check_runs(const struct access *a) {
  struct nsr_runs r;
  uint64_t n = 0;
  memset(got, 0, sizeof got);
  for (nsr_runs_first(&r, &a->shape, a->offset); r.more; nsr_runs_next(&r)) {
    assert_true(r.begin >= 0 && r.begin + r.len <= WIDTH);
    memset(&got[r.part][r.begin], 1, r.len);
    n += r.len;
  }
  assert_int_equal(n, nsr_shape_bytes(&a->shape));
  assert_memory_equal(got, a->hit, sizeof got);
}

static void test_covers(void **state) {
  (void)state;
  struct prng r = prng_seed("test_covers", 1);
  for (int round = 0; round < ROUNDS; round++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_atoms *atoms = nsr_atoms_new(ctx, nsr_isas[0]);
    static struct access a[SHAPES];
    const struct nsr_cover *c;
    uint32_t id[SHAPES];
    for (int i = 0; i < SHAPES; i++) {
      random_access(&r, &a[i]);
      assert_int_equal(nsr_atoms_shape(atoms, &a[i].shape, &id[i]), NSR_OK);
      check_runs(&a[i]);
    }
    for (int i = 0; i < SHAPES; i++) /* met one by one, as in a run */
      assert_int_equal(nsr_atoms_cover(atoms, id[i], a[i].offset, &c), NSR_OK);
    assert_true(nsr_atoms_pending(atoms));
    assert_int_equal(nsr_atoms_commit(atoms), NSR_OK);
    for (int i = 0; i < SHAPES; i++) {
      assert_int_equal(nsr_atoms_cover(atoms, id[i], a[i].offset, &c), NSR_OK);
      check_cover(atoms, &a[i], c);
    }
    assert_false(nsr_atoms_pending(atoms)); /* one commit is enough */
    nsr_atoms_free(atoms);
    nsr_ctx_free(ctx);
  }
}

static void test_shapes_are_numbered_once(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_atoms *atoms = nsr_atoms_new(ctx, nsr_isas[0]);
  struct prng r = prng_seed("test_shapes", 2);
  static struct access a[1000];
  static uint32_t id[1000];
  for (int i = 0; i < 1000; i++) {
    random_access(&r, &a[i]);
    assert_int_equal(nsr_atoms_shape(atoms, &a[i].shape, &id[i]), NSR_OK);
  }
  for (int i = 0; i < 1000; i++)
    for (int j = 0; j < i; j++)
      assert_int_equal(id[i] == id[j],
                       memcmp(&a[i].shape, &a[j].shape, sizeof a->shape) == 0);
  nsr_atoms_free(atoms);
  nsr_ctx_free(ctx);
}

/* Regular patterns stay small, whatever their size. */
static void test_pieces(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_atoms *atoms = nsr_atoms_new(ctx, nsr_isas[0]);
  struct nsr_shape s = {.space = NSR_DRAM, .bytes = 4, .nparts = 1, .ndims = 2};
  const struct nsr_cover *c;
  uint32_t id;
  s.dims[0].step = 4096;
  s.dims[0].count = 1000;
  s.dims[1].step = 4;
  s.dims[1].count = 16;
  assert_int_equal(nsr_atoms_shape(atoms, &s, &id), NSR_OK);
  assert_int_equal(nsr_atoms_cover(atoms, id, 64, &c), NSR_OK);
  assert_int_equal(nsr_atoms_commit(atoms), NSR_OK);
  assert_int_equal(nsr_atoms_cover(atoms, id, 64, &c), NSR_OK);
  assert_int_equal(c->n, 1000);
  assert_int_equal(c->npieces, 1);
  nsr_atoms_free(atoms);
  nsr_ctx_free(ctx);
}

/* Too many runs to follow: said, not tried. */
static void test_overflow(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_atoms *atoms = nsr_atoms_new(ctx, nsr_isas[0]);
  struct nsr_shape s = {.space = NSR_DRAM, .bytes = 1, .nparts = 1, .ndims = 2};
  s.dims[0].step = 1 << 20;
  s.dims[0].count = 1 << 20;
  s.dims[1].step = 2;
  s.dims[1].count = 1 << 10;
  assert_int_equal(nsr_atoms_need(atoms, &s, 0), NSR_OK);
  assert_true(nsr_atoms_overflow(atoms));
  nsr_atoms_free(atoms);
  nsr_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_covers),
      cmocka_unit_test(test_shapes_are_numbered_once),
      cmocka_unit_test(test_pieces), cmocka_unit_test(test_overflow)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
