/* test_insn_roles.c - what instructions read and write in numeric mode, byte
 * by byte, is what the footprints of their operands say: nothing else is
 * written, all that has to be written is, nothing else decides what, and each
 * element that is read can decide something. */
#include "insn_instance.h"

#include "sim/bytes.h"

/* ---- running */

struct machine {
  struct nsr_ctx *ctx;
  struct nsr_machine machine;
};

static void put_image(struct nsr_byte_memory *m, const struct image *from) {
  for (int s = 0; s < SPACES; s++)
    for (uint32_t p = 0; p < (s == NSR_DRAM ? 1 : PARTS); p++)
      assert_int_equal(
          nsr_bytes_put(m, (enum nsr_space)s, p, 0, from->at[s][p], BYTES),
          NSR_OK);
}

static void get_image(struct nsr_byte_memory *m, struct image *to) {
  for (int s = 0; s < SPACES; s++)
    for (uint32_t p = 0; p < (s == NSR_DRAM ? 1 : PARTS); p++)
      assert_int_equal(
          nsr_bytes_get(m, (enum nsr_space)s, p, 0, to->at[s][p], BYTES),
          NSR_OK);
}

static void run(struct machine *m, const struct instance *x,
                const struct image *before, struct image *after) {
  struct nsr_mark mark = nsr_scratch_mark(m->ctx);
  struct nsr_image *image;
  struct nsr_byte_memory *memory;
  struct nsr_policy policy;
  struct nsr_sim *sim;
  assert_int_equal(nsr_image_new(m->ctx, NSR_SCRATCH, &x->kernel, &image), 0);
  assert_int_equal(nsr_bytes_new(m->ctx, NSR_SCRATCH, image, &memory), NSR_OK);
  put_image(memory, before);
  nsr_policy_init(&policy, NSR_ROUND_ROBIN, 0, 0);
  const struct nsr_sim_options options = {.image = image,
                                          .machine = &m->machine,
                                          .memory = nsr_bytes_memory(memory),
                                          .policy = &policy,
                                          .registers = NSR_REGS_GARBAGE,
                                          .budget = 100};
  assert_int_equal(nsr_sim_new(m->ctx, NSR_SCRATCH, &options, &sim), NSR_OK);
  assert_int_equal(nsr_sim_run(sim), NSR_OK);
  if (sim->end != NSR_DONE)
    fail_msg("%s: %s", instance_insn((struct instance *)x)->desc->mnemonic,
             sim->fault.text);
  get_image(memory, after);
  nsr_scratch_release(m->ctx, mark);
}

/* ---- contents that operands can take */

/* Calls back for each element of an operand: where it lies. */
struct element {
  int space, part;
  int64_t at;
};

static struct element element_at(const struct nsr_operand *o, uint32_t i) {
  uint32_t per = 1, left;
  struct element e = {o->space, o->part, o->offset};
  for (int d = 0; d < o->ndims; d++)
    per *= (uint32_t)o->dims[d].count;
  left = i % per;
  for (int d = o->ndims - 1; d >= 0; d--) {
    e.at += (int64_t)(left % (uint32_t)o->dims[d].count) * o->dims[d].step;
    left /= (uint32_t)o->dims[d].count;
  }
  if (o->space == NSR_DRAM) {
    e.part = 0;
    e.at += (int64_t)(i / per) * o->pstep;
  } else {
    e.part += (int)(i / per);
  }
  return e;
}

static uint32_t elements(const struct nsr_operand *o) {
  uint32_t n = o->nparts;
  for (int d = 0; d < o->ndims; d++)
    n *= (uint32_t)o->dims[d].count;
  return n;
}

/* What indices of this operand count. */
static int64_t index_end(const struct nsr_insn *insn, int k) {
  for (int i = 0; i < insn->noperands; i++)
    if (insn->operands[i].indexed_by == k)
      return insn->desc->sem == NSR_SEM_GATHER
                 ? elements(&insn->operands[i]) / insn->operands[i].nparts
                 : insn->operands[i].nparts;
  return 0;
}

static void set_element(const struct nsr_insn *insn, int k, uint32_t i,
                        struct image *m, struct prng *r) {
  const struct nsr_operand *o = &insn->operands[k];
  struct element e = element_at(o, i);
  uint8_t *p = &m->at[e.space][e.part][e.at];
  enum nsr_dtype d = (enum nsr_dtype)o->dtype;
  int64_t end = index_end(insn, k);
  bool pred = strcmp(insn->desc->operands[k].name, "pred") == 0;
  if (end)
    nsr_element_put_bits(d, p, (int32_t)prng_in(r, 0, end - 1));
  else
    nsr_element_put(d, p, (float)prng_in(r, 0, pred ? 1 : 13));
}

/* Any bytes where nothing is read, numbers where something is. */
static void random_reads(const struct instance *x, struct image *m,
                         struct prng *r) {
  for (int i = 0; i < x->n; i++)
    for (int k = 0; k < x->insn[i].noperands; k++)
      if (nsr_role_reads((enum nsr_role)x->insn[i].operands[k].role))
        for (uint32_t j = 0; j < elements(&x->insn[i].operands[k]); j++)
          set_element(&x->insn[i], k, j, m, r);
}

static void random_image(const struct instance *x, struct image *m,
                         struct prng *r) {
  for (size_t i = 0; i < sizeof *m; i += 8) {
    uint64_t v = prng_next(r);
    memcpy((uint8_t *)m + i, &v, 8);
  }
  random_reads(x, m, r);
}

/* ---- the properties */

static const char *name_of(struct instance *x) {
  return instance_insn(x)->desc->mnemonic;
}

#define FOR_BYTES(s, p, b)                                                     \
  for (int s = 0; s < SPACES; s++)                                             \
    for (int p = 0; p < (s == NSR_DRAM ? 1 : PARTS); p++)                      \
      for (int b = 0; b < BYTES; b++)

static struct image set, before, after, other, result;

/* Nothing outside of what is written changes; what is not read decides
 * nothing; what must be written does not depend on what was there. */
static void check_writes(struct machine *m, struct instance *x,
                         struct prng *r) {
  footprints(x, &set);
  random_image(x, &before, r);
  run(m, x, &before, &after);
  random_image(x, &other, r);
  FOR_BYTES(s, p, b)
  if (set.at[s][p][b] & READ)
    other.at[s][p][b] = before.at[s][p][b];
  run(m, x, &other, &result);
  FOR_BYTES(s, p, b) {
    uint8_t old = before.at[s][p][b], now = after.at[s][p][b];
    uint8_t old2 = other.at[s][p][b], now2 = result.at[s][p][b];
    bool kept = old == now && old2 == now2, same = now == now2;
    uint8_t mark = set.at[s][p][b];
    if (!(mark & (WRITTEN | SOME)) ? !kept
        : mark & WRITTEN           ? !same
                                   : !kept && !same)
      fail_msg("%s: %s{%d}+%d, mark %d: %d to %d, and %d to %d", name_of(x),
               nsr_space_name((enum nsr_space)s), p, b, mark, old, now, old2,
               now2);
  }
}

/* Whether another value of one element makes another result, for some
 * arguments. */
static bool matters(struct machine *m, struct instance *x,
                    const struct nsr_insn *insn, int k, uint32_t i,
                    struct prng *r) {
  bool read = false;
  instance_args(x, r);
  random_image(x, &before, r);
  run(m, x, &before, &after);
  other = before;
  set_element(insn, k, i, &other, r);
  run(m, x, &other, &result);
  FOR_BYTES(s, p, b)
  if (set.at[s][p][b] & (WRITTEN | SOME))
    read |= after.at[s][p][b] != result.at[s][p][b];
  return read;
}

/* Every element that is read decides something, for some contents. */
static void check_reads(struct machine *m, struct instance *x, struct prng *r) {
  footprints(x, &set);
  for (int n = 0; n < x->n; n++) {
    const struct nsr_insn *insn = &x->insn[n];
    for (int k = 0; k < insn->noperands; k++) {
      const struct nsr_operand *o = &insn->operands[k];
      if (!nsr_role_reads((enum nsr_role)o->role))
        continue;
      uint32_t i = (uint32_t)prng_in(r, 0, elements(o) - 1);
      int tries = 0;
      while (!matters(m, x, insn, k, i, r))
        if (++tries == 200)
          fail_msg("%s: element %u of %s decides nothing", name_of(x), i,
                   insn->desc->operands[k].name);
    }
  }
}

/* Some elements of a may write are written, and some are not. */
static void check_some(struct machine *m, struct instance *x, struct prng *r) {
  bool wrote = false, kept = false;
  if (instance_insn(x)->operands[0].role != NSR_MW)
    return;
  footprints(x, &set);
  for (int i = 0; i < 20 && !(wrote && kept); i++) {
    random_image(x, &before, r);
    run(m, x, &before, &after);
    int changed = 0, all = 0;
    FOR_BYTES(s, p, b)
    if (set.at[s][p][b] & SOME) {
      changed += before.at[s][p][b] != after.at[s][p][b];
      all++;
    }
    wrote |= changed > 0;
    kept |= changed * 10 < all * 9; /* but for equal bytes */
  }
  if (!wrote || !kept)
    fail_msg("%s: %s of what it may write", name_of(x),
             wrote ? "writes all" : "writes nothing");
}

/* Without weights a stationary operand decides nothing: it is hidden. */
static bool checkable(const struct nsr_insn_desc *d) {
  return has_work(d) && d->sem != NSR_SEM_LOAD_STATIONARY;
}

static void roles_of(const struct nsr_isa *isa, struct prng *r) {
  struct machine m = {.ctx = nsr_ctx_new()};
  static struct instance x;
  int n = 0;
  assert_int_equal(nsr_machine_default(m.ctx, isa, &m.machine), NSR_OK);
  for (int i = 0; i < isa->ninsns; i++) {
    if (!checkable(&isa->insns[i]))
      continue;
    for (int round = 0; round < 6; round++) {
      instance_make(&x, isa, &isa->insns[i], true, r);
      for (int k = 0; k < 3; k++)
        check_writes(&m, &x, r);
      check_reads(&m, &x, r);
    }
    instance_make(&x, isa, &isa->insns[i], true, r);
    check_some(&m, &x, r);
    n++;
  }
  printf("%s: %d instructions\n", isa->name, n);
  assert_true(n > isa->ninsns / 3);
  nsr_ctx_free(m.ctx);
}

static void roles(void **state) {
  (void)state;
  struct prng r = prng_seed("roles", 5);
  for (int i = 0; nsr_isas[i]; i++)
    roles_of(nsr_isas[i], &r);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(roles)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
