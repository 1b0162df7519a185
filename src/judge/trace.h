/* trace.h - what a run did, per channel: instances in order, no-ops that only
 * touch owned semaphores left out. Engines' events at the program counter
 * follow behind the channels.
 */
#ifndef NSR_JUDGE_TRACE_H
#define NSR_JUDGE_TRACE_H

#include "judge/clocks.h"

struct nsr_trace_entry {
  uint64_t identity; /* instruction, addresses, values */
  uint64_t digest;   /* of what it read */
  uint32_t insn;
  uint32_t ordinal; /* on its channel, no-ops counted */
  uint32_t row;     /* its engine's clock at issue */
  bool read;        /* it got as far as that */
};

struct nsr_trace {
  NSR_VEC(struct nsr_trace_entry) of[NSR_MAX_CLOCK];
};
#endif
