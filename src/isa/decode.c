/* decode.c - a word to an instruction.
 *
 * Needs a word and the engine whose stream it lies in; makes the value, or the
 * first reason against it. Accepts a word only where encode gives exactly the
 * same bits back: whatever is absent must be zero.
 */
#include "isa/decoder.h"

#include <assert.h>

const char *nsr_wrong_text(uint64_t set) {
  static const char *const texts[] = {
      [WRONG_REGISTER] = "no such register",
      [WRONG_ABSENT_WAIT] = "no wait, but its bits are set",
      [WRONG_NOT_BY_ONE] = "increment or decrement by other than 1",
      [WRONG_ABSENT_UPDATE] = "no update, but its bits are set",
      [WRONG_ABSENT_DIMENSION] = "bits of an absent dimension are set",
      [WRONG_ABSENT_REGISTER] = "no offset register, but its bits are set",
      [WRONG_ABSENT_ACCUMULATION] = "accumulation where there is none",
      [WRONG_OTHER_SPACE] = "partition in DRAM, or a row step on chip",
      [WRONG_ALWAYS_WITH_OPERANDS] = "branch taken always, but with operands",
      [WRONG_IS_REGISTER] = "bad register flag",
      [WRONG_VALUE] = "bad value",
      [WRONG_WAIT_CMP] = "no such comparison in the wait",
      [WRONG_WAIT_SEM] = "no such semaphore in the wait",
      [WRONG_UPDATE_OP] = "no such update operation",
      [WRONG_UPDATE_SEM] = "no such semaphore in the update",
      [WRONG_UPDATE_VALUE] = "bad update value",
      [WRONG_EARLY] = "bad early bit",
      [WRONG_STEP] = "bad step",
      [WRONG_COUNT] = "bad count",
      [WRONG_COUNT_IS_REGISTER] = "bad count flag",
      [WRONG_SPACE] = "no such space",
      [WRONG_DTYPE] = "no such element type",
      [WRONG_ACC] = "bad accumulation flag",
      [WRONG_PART] = "bad partition",
      [WRONG_NPARTS] = "bad partitions",
      [WRONG_PSTEP] = "bad row step",
      [WRONG_OFFSET] = "bad offset",
      [WRONG_NDIMS] = "too many dimensions",
      [WRONG_CC] = "no such condition",
      [WRONG_TARGET] = "bad branch target",
      [WRONG_QUEUE] = "no such queue",
      [WRONG_ID] = "bad barrier id",
      [WRONG_ARGUMENT] = "no such value of an argument",
  };
  return texts[__builtin_ctzll(set)];
}

const struct nsr_insn_desc *nsr_word_desc(const struct nsr_isa *isa,
                                          const struct nsr_bits *bits) {
  const struct nsr_codec *any = isa->insns[0].codec;
  uint64_t opcode = nsr_bits_get(bits, any->opcode_lo, any->opcode_width);
  if (opcode >= isa->nopcodes || isa->by_opcode[opcode] == 0)
    return NULL;
  return &isa->insns[isa->by_opcode[opcode] - 1];
}

const char *nsr_decode(const struct nsr_isa *isa, int engine,
                       const uint8_t *word, struct nsr_insn *insn) {
  assert(engine >= 0 && engine < isa->nengines);
  return isa->decode(engine, word, insn);
}
