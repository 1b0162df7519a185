/* machine.h - the structural limits of the engine model, from a machine file
 * (isa/NAME.machine, an INI file; its text is built in).
 */
#ifndef NSR_SIM_MACHINE_H
#define NSR_SIM_MACHINE_H

#include <nsr/isa.h>

enum { NSR_MAX_WINDOW = 4096 };

struct nsr_machine {
  uint32_t pipe_window[NSR_MAX_ENGINES]; /* in flight, per engine */
  uint32_t queue_depth;                  /* issued and not retired */
  uint32_t queue_window;                 /* of these, moving bytes */
  uint32_t assumed;                      /* figures marked as assumed */
};

/* Reads one machine file. name is for messages. Every figure must be there;
 * [pipeline.ENGINE] overrides [pipeline]. One that names another instruction
 * set is refused. */
NSR_MUST_USE enum nsr_status
nsr_machine_parse(struct nsr_ctx *ctx, const struct nsr_isa *isa,
                  const char *name, const char *text, struct nsr_machine *m);

/* A machine file that is built in, by name ("v2"). */
NSR_MUST_USE enum nsr_status nsr_machine_find(struct nsr_ctx *ctx,
                                              const struct nsr_isa *isa,
                                              const char *name,
                                              struct nsr_machine *m);

/* The first one built in that names this instruction set, else the first that
 * names none. */
NSR_MUST_USE enum nsr_status nsr_machine_default(struct nsr_ctx *ctx,
                                                 const struct nsr_isa *isa,
                                                 struct nsr_machine *m);
#endif
