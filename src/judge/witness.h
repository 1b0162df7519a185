/* witness.h - findings in words that a person can follow to the source. */
#ifndef NSR_JUDGE_WITNESS_H
#define NSR_JUDGE_WITNESS_H

#include "base/strbuf.h"
#include "judge/watch.h"

/* "event fill (k.ev:3)" */
void nsr_say_event(struct nsr_strbuf *b, const struct nsr_external *external,
                   uint32_t index);
/* "act[9] <loop> (k.s:61) `copy ...`" */
void nsr_say_insn(struct nsr_strbuf *b, const struct nsr_image *image,
                  int engine, uint32_t insn);
/* The instruction of a channel's instance, "act[9] .. , no. 5 of act". */
void nsr_say_instance(struct nsr_strbuf *b, const struct nsr_watch *w,
                      uint32_t component, uint32_t ordinal);
/* "sbuf partitions [0,4) bytes [32,64)"; hidden state and events by name. */
void nsr_say_place(struct nsr_strbuf *b, const struct nsr_watch *w,
                   uint32_t atom);
/* "sp 1, q0 6": what an engine knows, channels it knows nothing of left out */
void nsr_say_clock(struct nsr_strbuf *b, const struct nsr_watch *w,
                   const uint32_t *clock);

/* " at dst byte 64, src byte 0": the addresses and value of an instance */
void nsr_say_addresses(struct nsr_strbuf *b, const struct nsr_flight *f);

/* Each sets w->finding (or w->status where memory is short). engine -1: insn
 * is an event of others. */
void nsr_witness_race(struct nsr_watch *w, int engine, uint32_t insn,
                      uint32_t component, uint32_t ordinal,
                      const uint32_t *clock, const struct nsr_clash *clash);
void nsr_witness_identity(struct nsr_watch *w, const struct nsr_flight *f);
void nsr_witness_event(struct nsr_watch *w, int engine, uint32_t insn);
void nsr_witness_reads(struct nsr_watch *w, const struct nsr_flight *f);
void nsr_witness_length(struct nsr_watch *w, uint32_t component);
void nsr_witness_memory(struct nsr_watch *w, uint32_t atom);
void nsr_witness_flight(struct nsr_watch *w, int engine, uint32_t channel);
void nsr_witness_semaphores(struct nsr_watch *w);
/* An engine knows more of a component than in the first kernel (clocks now
 * and before, that one's) at something that it waits for or that is seen. */
void nsr_witness_awaits_more(struct nsr_watch *w, int engine, uint32_t insn,
                             uint32_t component, const uint32_t *now,
                             const uint32_t *before, bool seen);
/* The reference goes no further: equal up to there. */
void nsr_witness_prefix(struct nsr_watch *w);
/* Of a run that ended otherwise than all done: fault, hang, budget, .. */
void nsr_witness_end(struct nsr_watch *w);

#endif
