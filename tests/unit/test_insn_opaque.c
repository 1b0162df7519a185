/* test_insn_opaque.c - every instruction on tokens: its digest depends on
 * what it reads, all of it and nothing else; what it must write does not
 * depend on what was there, what it may write does, and the rest stays. */
#include "insn_instance.h"

#include "sim/opaque.h"

struct machine {
  struct nsr_ctx *ctx;
  struct nsr_machine machine;
};

/* The digest of the one instruction, or of a no-op 0. */
static bool on_read(void *self, const struct nsr_flight *f) {
  *(uint64_t *)self = f->digest;
  return true;
}

struct outcome {
  uint64_t digest;
  uint32_t n, nhidden;
  uint64_t *token, *hidden;
};

enum { NOTHING = -1 };

/* A run in which one token was another, of an atom or of hidden state. */
static struct outcome run(struct machine *m, const struct instance *x,
                          struct nsr_image *image, struct nsr_atoms *atoms,
                          int64_t atom, int64_t hidden) {
  struct outcome o = {0};
  struct nsr_opaque *memory;
  struct nsr_policy policy;
  struct nsr_sim *sim;
  const struct nsr_observer observer = {.self = &o.digest, .read = on_read};
  (void)x;
  assert_int_equal(
      nsr_opaque_new(m->ctx, NSR_SCRATCH, image, atoms, NULL, 0, &memory), 0);
  if (atom >= 0)
    memory->token[atom] ^= 5;
  if (hidden >= 0)
    memory->hidden[hidden] ^= 5;
  nsr_policy_init(&policy, NSR_ROUND_ROBIN, 0, 0);
  const struct nsr_sim_options options = {.image = image,
                                          .machine = &m->machine,
                                          .memory = &memory->memory,
                                          .policy = &policy,
                                          .observer = &observer,
                                          .registers = NSR_REGS_GARBAGE,
                                          .seed = 1,
                                          .budget = 100};
  assert_int_equal(nsr_sim_new(m->ctx, NSR_SCRATCH, &options, &sim), NSR_OK);
  assert_int_equal(nsr_sim_run(sim), NSR_OK);
  assert_int_equal(sim->end, NSR_DONE);
  assert_false(nsr_atoms_pending(atoms));
  o.n = nsr_atoms_count(atoms);
  o.nhidden = (uint32_t)image->nhidden;
  o.token = memory->token;
  o.hidden = memory->hidden;
  return o;
}

static uint8_t mark_of(const struct nsr_atoms *atoms, uint32_t atom,
                       const struct image *set) {
  struct nsr_extent e = nsr_atoms_extent(atoms, atom);
  if (e.part >= PARTS || e.begin >= BYTES)
    return 0;
  return set->at[e.space][e.part][e.begin];
}

/* What the description says of hidden state h of the image. */
static enum nsr_role hidden_role(const struct nsr_image *image, int engine,
                                 int64_t h, bool *any) {
  const struct nsr_step *s = &image->streams[engine].steps[0];
  *any = false;
  for (int i = 0; i < s->desc->nhidden; i++)
    if (s->hidden[i] == h) {
      *any = true;
      return s->desc->hidden[i].role;
    }
  return NSR_R;
}

#define EXPECT(condition, ...)                                                 \
  do {                                                                         \
    if (!(condition))                                                          \
      fail_msg(__VA_ARGS__);                                                   \
  } while (0)

/* One token of memory is another. */
static void check_atom(const char *name, const struct outcome *base,
                       const struct outcome *o, uint32_t atom,
                       const struct nsr_atoms *atoms, const struct image *set) {
  uint8_t mark = mark_of(atoms, atom, set);
  EXPECT((base->digest != o->digest) == (mark & READ),
         "%s: atom %u, mark %u: its digest %s", name, atom, mark,
         base->digest != o->digest ? "differs" : "is the same");
  for (uint32_t i = 0; i < o->n; i++) {
    uint8_t m = mark_of(atoms, i, set);
    bool same = base->token[i] == o->token[i];
    bool fed = (mark & READ) && (m & (WRITTEN | SOME));
    bool stays = i == atom && !(m & WRITTEN);
    EXPECT(same == !(fed || stays), "%s: atom %u after %u: %s", name, i, atom,
           same ? "the same" : "another");
  }
  for (uint32_t h = 0; h < o->nhidden; h++)
    EXPECT((base->hidden[h] == o->hidden[h]) || (mark & READ),
           "%s: hidden state knows atom %u", name, atom);
}

static void check_hidden(const char *name, const struct nsr_image *image,
                         int engine, const struct outcome *base,
                         const struct outcome *o, int64_t hidden) {
  bool any;
  enum nsr_role role = hidden_role(image, engine, hidden, &any);
  bool reads = any && nsr_role_reads(role);
  bool writes = any && nsr_role_writes(role);
  EXPECT((base->digest != o->digest) == reads, "%s: its digest and state",
         name);
  EXPECT((base->hidden[hidden] == o->hidden[hidden]) == (writes && !reads),
         "%s: hidden state is kept or not", name);
}

/* What the instruction leaves is not what was there. */
static void check_written(const char *name, const struct outcome *o,
                          const struct nsr_opaque *fresh,
                          const struct nsr_atoms *atoms,
                          const struct image *set) {
  for (uint32_t i = 0; i < o->n; i++)
    EXPECT((o->token[i] != fresh->token[i]) ==
               ((mark_of(atoms, i, set) & (WRITTEN | SOME)) != 0),
           "%s: atom %u was written or not", name, i);
}

static void check(struct machine *m, const struct nsr_isa *isa,
                  const struct nsr_insn_desc *desc, struct prng *r) {
  static struct instance x;
  static struct image set;
  struct nsr_image *image;
  struct nsr_opaque *fresh;
  struct nsr_mark mark = nsr_scratch_mark(m->ctx);
  instance_make(&x, isa, desc, false, r);
  footprints(&x, &set);
  int engine = x.stream.engine;
  assert_int_equal(nsr_image_new(m->ctx, NSR_SCRATCH, &x.kernel, &image), 0);
  struct nsr_atoms *atoms = nsr_atoms_new(m->ctx, x.kernel.isa);
  assert_int_equal(nsr_opaque_cuts(atoms, image), NSR_OK);
  assert_int_equal(nsr_atoms_commit(atoms), NSR_OK);
  assert_int_equal(
      nsr_opaque_new(m->ctx, NSR_SCRATCH, image, atoms, NULL, 0, &fresh), 0);
  struct outcome base = run(m, &x, image, atoms, NOTHING, NOTHING);
  check_written(desc->mnemonic, &base, fresh, atoms, &set);
  for (int i = 0; i < 60; i++) {
    struct nsr_mark inner = nsr_scratch_mark(m->ctx);
    uint32_t atom = (uint32_t)prng_in(r, 0, base.n - 1);
    while (i % 3 && !mark_of(atoms, atom, &set)) /* most in some operand */
      atom = (uint32_t)prng_in(r, 0, base.n - 1);
    struct outcome o = run(m, &x, image, atoms, atom, NOTHING);
    check_atom(desc->mnemonic, &base, &o, atom, atoms, &set);
    nsr_scratch_release(m->ctx, inner);
  }
  for (int h = 0; h < image->nhidden; h++) {
    struct outcome o = run(m, &x, image, atoms, NOTHING, h);
    check_hidden(desc->mnemonic, image, engine, &base, &o, h);
  }
  nsr_atoms_free(atoms);
  nsr_scratch_release(m->ctx, mark);
}

static void tokens_of(const struct nsr_isa *isa, struct prng *r) {
  struct machine m = {.ctx = nsr_ctx_new()};
  assert_int_equal(nsr_machine_default(m.ctx, isa, &m.machine), NSR_OK);
  int n = 0;
  for (int i = 0; i < isa->ninsns; i++) {
    if (!has_work(&isa->insns[i]))
      continue;
    for (int round = 0; round < 4; round++)
      check(&m, isa, &isa->insns[i], r);
    n++;
  }
  printf("%s: %d instructions\n", isa->name, n);
  assert_true(n > isa->ninsns / 3);
  nsr_ctx_free(m.ctx);
}

static void tokens(void **state) {
  (void)state;
  struct prng r = prng_seed("tokens", 3);
  for (int i = 0; nsr_isas[i]; i++)
    tokens_of(nsr_isas[i], &r);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tokens)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
