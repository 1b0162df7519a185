/* test_isa.c - the codec, as properties over every instruction of every
 * description: the shipped ones, and tests/isagen/good-*.isa, which use what
 * the shipped ones do not. Fields and their bounds come from the descriptions.
 *
 * Random parts print their seed; NSR_SEED sets it.
 */
#include "isa/codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t state;

static uint64_t rnd(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * UINT64_C(0x2545f4914f6cdd1d) >> 11;
}

static uint64_t below(uint64_t n) { return rnd() % n; }

/* Calls f for every instruction of every instruction set. */
static void each(void (*f)(const struct nsr_isa *isa,
                           const struct nsr_insn_desc *desc)) {
  for (const struct nsr_isa *const *isa = nsr_isas; *isa; isa++)
    for (int i = 0; i < (*isa)->ninsns; i++)
      f(*isa, &(*isa)->insns[i]);
}

static int some_engine(const struct nsr_insn_desc *desc) {
  int e = 0;
  while (!(desc->engines >> e & 1))
    e++;
  return e;
}

static void blank(const struct nsr_isa *isa, const struct nsr_insn_desc *desc,
                  uint8_t *word) {
  struct nsr_insn insn;
  char why[128];
  nsr_insn_init(desc, &insn);
  if (!nsr_encode(isa, &insn, word, why, sizeof why))
    fail_msg("%s: an empty one does not encode: %s", desc->mnemonic, why);
}

/* Whether word decodes; if so it has to encode to the same bytes. */
static bool legal(const struct nsr_isa *isa, const struct nsr_insn_desc *desc,
                  const uint8_t *word) {
  struct nsr_insn insn;
  uint8_t again[NSR_MAX_WORD];
  char why[128];
  if (nsr_decode(isa, some_engine(desc), word, &insn))
    return false;
  if (!nsr_encode(isa, &insn, again, why, sizeof why))
    fail_msg("%s: decodes, but does not encode: %s", desc->mnemonic, why);
  if (memcmp(word, again, isa->word) != 0)
    fail_msg("%s: encodes to another word", desc->mnemonic);
  return true;
}

static const struct nsr_named_field *field(const struct nsr_insn_desc *desc,
                                           int i) {
  return &desc->codec->fields[i];
}

static bool get_bit(const uint8_t *word, int b) {
  return word[b / 8] >> b % 8 & 1;
}

static void flip_bit(uint8_t *word, int b) {
  word[b / 8] ^= (uint8_t)(1u << b % 8);
}

static void set_raw(const struct nsr_named_field *f, uint8_t *word,
                    uint64_t raw) {
  for (int i = 0; i < f->width; i++)
    if (get_bit(word, f->lo + i) != (raw >> i & 1))
      flip_bit(word, f->lo + i);
}

static uint64_t ones(int width) { return (UINT64_C(1) << width) - 1; }

static uint64_t random_raw(const struct nsr_named_field *f) {
  uint64_t raw = below(3) ? rnd() & ones(f->width) : f->max;
  return raw > f->max ? below(f->max + 1) : raw;
}

/* A random word that decodes: fields get random values in random places, and
 * keep those that leave the word legal. */
static void legal_word(const struct nsr_isa *isa,
                       const struct nsr_insn_desc *desc, uint8_t *word) {
  int n = nsr_desc_fields(desc), engine = some_engine(desc);
  blank(isa, desc, word);
  for (int tries = n + (int)below((uint64_t)n + 1); n && tries; tries--) {
    uint8_t next[NSR_MAX_WORD];
    struct nsr_insn insn;
    const struct nsr_named_field *f = field(desc, (int)below((uint64_t)n));
    memcpy(next, word, sizeof next);
    set_raw(f, next, random_raw(f));
    if (!nsr_decode(isa, engine, next, &insn))
      memcpy(word, next, sizeof next);
  }
}

/* The boundaries of every pair of fields, the rest empty; each field has to be
 * legal at its largest value in at least one of these words. */
static void check_pairs(const struct nsr_isa *isa,
                        const struct nsr_insn_desc *desc) {
  int n = nsr_desc_fields(desc);
  for (int i = 0; i < n; i++) {
    bool alive = false;
    for (int k = 0; k < n; k++)
      for (int which = 0; which < 4; which++) {
        uint8_t word[NSR_MAX_WORD];
        blank(isa, desc, word);
        nsr_desc_field_set(desc, k, which >> 1, word);
        nsr_desc_field_set(desc, i, which & 1, word);
        bool ok = legal(isa, desc, word);
        alive |= ok && (which & 1);
      }
    if (!alive)
      fail_msg("%s: %s is never legal", desc->mnemonic, field(desc, i)->name);
  }
}

static void fields_round_trip(void **unused) {
  (void)unused;
  each(check_pairs);
}

/* Boundaries and the values around them, in words full of other values. */
static void check_boundaries(const struct nsr_isa *isa,
                             const struct nsr_insn_desc *desc) {
  for (int i = 0; i < nsr_desc_fields(desc); i++) {
    const struct nsr_named_field *f = field(desc, i);
    uint64_t half = ones(f->width) / 2;
    const uint64_t raws[] = {0,      1,    f->max / 2, f->max - 1,
                             f->max, half, half + 1,   half + 2};
    for (size_t r = 0; r < sizeof raws / sizeof *raws; r++) {
      uint8_t word[NSR_MAX_WORD];
      legal_word(isa, desc, word);
      set_raw(f, word, raws[r] & ones(f->width));
      (void)legal(isa, desc, word);
    }
  }
}

static void boundaries_round_trip(void **unused) {
  (void)unused;
  for (int i = 0; i < 2; i++)
    each(check_boundaries);
}

static void check_field_set(const struct nsr_isa *isa,
                            const struct nsr_insn_desc *desc) {
  for (int i = 0; i < nsr_desc_fields(desc); i++) {
    const struct nsr_named_field *f = field(desc, i);
    uint8_t a[NSR_MAX_WORD], b[NSR_MAX_WORD];
    legal_word(isa, desc, a);
    for (int which = 0; which < 2; which++) {
      memcpy(b, a, sizeof b);
      set_raw(f, b, which ? f->max : 0);
      assert_string_equal(nsr_desc_field_set(desc, i, which, a), f->name);
      assert_memory_equal(a, b, isa->word);
    }
  }
}

static void field_set_changes_one_field(void **unused) {
  (void)unused;
  each(check_field_set);
}

/* Raw values past a field's largest one are refused wherever they appear. */
static void check_too_large(const struct nsr_isa *isa,
                            const struct nsr_insn_desc *desc) {
  for (int i = 0; i < nsr_desc_fields(desc); i++) {
    const struct nsr_named_field *f = field(desc, i);
    for (uint64_t raw = f->max + 1;
         f->max < ones(f->width) && raw <= ones(f->width); raw++) {
      uint8_t word[NSR_MAX_WORD];
      legal_word(isa, desc, word);
      set_raw(f, word, raw);
      if (legal(isa, desc, word))
        fail_msg("%s: %s may be %d", desc->mnemonic, f->name, (int)raw);
    }
  }
}

static void illegal_values_are_refused(void **unused) {
  (void)unused;
  each(check_too_large);
}

static bool in_range(int bit, int lo, int width) {
  return bit >= lo && bit < lo + width;
}

static bool is_named(const struct nsr_insn_desc *desc, int bit) {
  for (int i = 0; i < nsr_desc_fields(desc); i++)
    if (in_range(bit, field(desc, i)->lo, field(desc, i)->width))
      return true;
  return in_range(bit, desc->codec->opcode_lo, desc->codec->opcode_width);
}

static void check_reserved(const struct nsr_isa *isa,
                           const struct nsr_insn_desc *desc) {
  uint8_t word[NSR_MAX_WORD];
  legal_word(isa, desc, word);
  for (int bit = 0; bit < isa->word * 8; bit++) {
    if (is_named(desc, bit))
      continue;
    flip_bit(word, bit);
    if (legal(isa, desc, word))
      fail_msg("%s: bit %d may be flipped", desc->mnemonic, bit);
    flip_bit(word, bit);
  }
  assert_true(legal(isa, desc, word));
}

static void reserved_bits_are_refused(void **unused) {
  (void)unused;
  for (int i = 0; i < 4; i++)
    each(check_reserved);
}

/* Legal words, and what one more random field makes of them. */
static void check_random_words(const struct nsr_isa *isa,
                               const struct nsr_insn_desc *desc) {
  int n = nsr_desc_fields(desc);
  for (int i = 0; i < 100; i++) {
    uint8_t word[NSR_MAX_WORD];
    legal_word(isa, desc, word);
    assert_true(legal(isa, desc, word));
    for (int k = 0; n && k < 10; k++) {
      const struct nsr_named_field *f = field(desc, (int)below((uint64_t)n));
      set_raw(f, word, rnd() & ones(f->width));
      (void)legal(isa, desc, word);
    }
  }
}

static void random_words_round_trip(void **unused) {
  (void)unused;
  each(check_random_words);
}

/* Bytes of any kind: a reason or a round trip, never more. */
static void random_bytes_round_trip(void **unused) {
  (void)unused;
  for (const struct nsr_isa *const *isa = nsr_isas; *isa; isa++)
    for (int n = 0; n < 50000; n++) {
      uint8_t word[NSR_MAX_WORD];
      struct nsr_insn insn;
      for (int i = 0; i < (*isa)->word; i++)
        word[i] = below(8) ? 0 : (uint8_t)rnd();
      int engine = (int)below((*isa)->nengines);
      if (!nsr_decode(*isa, engine, word, &insn))
        assert_true(legal(*isa, insn.desc, word));
    }
}

static void check_engines(const struct nsr_isa *isa,
                          const struct nsr_insn_desc *desc) {
  uint8_t word[NSR_MAX_WORD];
  legal_word(isa, desc, word);
  for (int e = 0; e < isa->nengines; e++) {
    struct nsr_insn insn;
    const char *error = nsr_decode(isa, e, word, &insn);
    assert_int_equal(error == NULL, desc->engines >> e & 1);
    if (!error)
      assert_ptr_equal(insn.desc, desc);
  }
}

static void engines_are_checked(void **unused) {
  (void)unused;
  each(check_engines);
}

static void opcodes_are_checked(void **unused) {
  (void)unused;
  for (const struct nsr_isa *const *p = nsr_isas; *p; p++) {
    const struct nsr_isa *isa = *p;
    const struct nsr_codec *c = isa->insns[0].codec;
    struct nsr_named_field opcode = {"opcode", c->opcode_lo, c->opcode_width,
                                     0};
    int known = 0;
    for (unsigned raw = 0; raw <= ones(c->opcode_width); raw++) {
      uint8_t word[NSR_MAX_WORD] = {0};
      struct nsr_insn insn;
      bool exists = raw < isa->nopcodes && isa->by_opcode[raw];
      set_raw(&opcode, word, raw);
      const char *error = nsr_decode(isa, 0, word, &insn);
      assert_int_equal(exists, !error || strcmp(error, "illegal opcode") != 0);
      known += exists;
    }
    assert_int_equal(known, isa->ninsns);
  }
}

int main(void) {
  const char *seed = getenv("NSR_SEED");
  state = seed ? strtoull(seed, NULL, 0) | 1 : 20240607;
  printf("seed %llu\n", (unsigned long long)state);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fields_round_trip),
      cmocka_unit_test(boundaries_round_trip),
      cmocka_unit_test(field_set_changes_one_field),
      cmocka_unit_test(illegal_values_are_refused),
      cmocka_unit_test(reserved_bits_are_refused),
      cmocka_unit_test(random_words_round_trip),
      cmocka_unit_test(random_bytes_round_trip),
      cmocka_unit_test(engines_are_checked),
      cmocka_unit_test(opcodes_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
