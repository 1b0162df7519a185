/* record.h - what a run did that takes time, engine by engine: waits that were
 * passed, instances that were issued, barriers. In a kernel without races this
 * is the same in every schedule, so that one record can be timed on many
 * machines (timed.h).
 */
#ifndef NSR_SIM_RECORD_H
#define NSR_SIM_RECORD_H

#include "base/vec.h"
#include "sim/opaque.h"

/* An instruction with the sizes of its operands. */
struct nsr_variant {
  const struct nsr_step *step;
  uint32_t insn;
  uint8_t engine, channel;
  bool dram;         /* an operand lies there */
  bool f32;          /* an operand that is only read has this dtype */
  bool half;         /* no operand has elements of more than 2 bytes */
  uint32_t inputs;   /* operands read that have all elements */
  uint64_t elements; /* of a partition, of the operand that has most */
  uint64_t bytes;    /* that a transfer moves */
};

enum nsr_record_kind {
  NSR_RECORD_WAIT,  /* a control instruction has passed its wait */
  NSR_RECORD_ISSUE, /* an instance; it passed its wait, if it has one */
  NSR_RECORD_BARRIER,
  NSR_RECORD_HALT
};

struct nsr_record_event {
  uint32_t variant; /* of BARRIER and HALT: the instruction */
  uint32_t control[NSR_CONTROL_KINDS]; /* on the way here */
  int32_t threshold;
  uint8_t kind; /* enum nsr_record_kind */
};

struct nsr_record {
  const struct nsr_image *image;
  NSR_VEC(struct nsr_record_event) events[NSR_MAX_ENGINES];
  NSR_VEC(struct nsr_variant) variants;
  uint64_t executed;                 /* instructions */
  uint64_t issued[NSR_MAX_CHANNELS]; /* instances */
  uint32_t *ran[NSR_MAX_ENGINES];    /* by instruction: how often */
};

/* Runs a kernel to its end, in ctx's keep arena. machine: its limits. What is
 * wrong with the kernel (a fault, a hang, a value that only real numbers could
 * tell, more than budget instructions) is NSR_E_FAULT, NSR_E_HANG or
 * NSR_E_REFUSED. */
NSR_MUST_USE enum nsr_status nsr_record_run(struct nsr_ctx *ctx,
                                            const struct nsr_image *image,
                                            const struct nsr_machine *machine,
                                            const struct nsr_contents *contents,
                                            uint32_t ncontents, uint64_t budget,
                                            struct nsr_record **record);

#endif
