/* machine.h - limits and costs of a machine, from a machine file
 * (isa/NAME.machine, an INI file; its text is built in). The judges' runs use
 * its limits alone, timed runs (timed.h) all of it.
 */
#ifndef NSR_SIM_MACHINE_H
#define NSR_SIM_MACHINE_H

#include <nsr/isa.h>

#include "base/vec.h"

enum { NSR_MAX_WINDOW = 4096 };

/* Figures are kept in thousandths: of cycles, ns, GHz, GB/s, or of one. */
enum { NSR_MILLI = 1000 };

/* Figures of pipelines: of all, of an engine's, of an instruction. */
enum nsr_pipe_figure {
  NSR_PIPE_WINDOW,  /* instructions in flight */
  NSR_PIPE_CLOCK,   /* GHz */
  NSR_PIPE_ISSUE,   /* cycles at the program counter */
  NSR_PIPE_LEAST,   /* cycles that an instruction occupies the unit at least, */
  NSR_PIPE_FIXED,   /* in any case, */
  NSR_PIPE_ELEMENT, /* for each element of a partition, */
  NSR_PIPE_INPUT,   /* for each of a further input of full size */
  NSR_PIPE_START,   /* cycles from the last of these to retirement */
  NSR_PIPE_F32,     /* times as long with an operand of f32 */
  NSR_PIPE_HALF,    /* with none of more than 2 bytes */
  NSR_PIPE_DRAM,    /* ns more with an operand in DRAM */
  NSR_PIPE_FIGURES
};

enum nsr_machine_figure {
  NSR_QUEUE_DEPTH,      /* issued and not retired */
  NSR_QUEUE_WINDOW,     /* of these, under way at the same time */
  NSR_QUEUE_ISSUE,      /* cycles of the engine that feeds it */
  NSR_QUEUE_START,      /* ns from issue to the first byte */
  NSR_QUEUE_FINISH,     /* ns from the last byte to retirement */
  NSR_QUEUE_RATE,       /* GB/s of a queue */
  NSR_DMA_RATE,         /* GB/s of all of them */
  NSR_CONTROL_REGISTER, /* cycles of a register operation, */
  NSR_CONTROL_BRANCH,   /* of a branch, */
  NSR_CONTROL_WAIT,     /* of an instruction that only waits */
  NSR_SEM_UPDATE,       /* ns from retirement to where others see the update */
  NSR_SEM_WAIT,         /* ns from there until a blocked engine goes on */
  NSR_BARRIER_COST,     /* ns on top of the drain and two updates */
  NSR_MACHINE_FIGURES
};

struct nsr_pipe_figures {
  int64_t v[NSR_PIPE_FIGURES];
  uint32_t given; /* bit per figure */
};

struct nsr_insn_figures {
  uint16_t insn; /* index in the instruction set */
  int8_t engine; /* -1: wherever it runs */
  struct nsr_pipe_figures f;
};

struct nsr_machine {
  const struct nsr_isa *isa;
  const char *name;
  uint32_t pipe_window[NSR_MAX_ENGINES]; /* in flight, per engine */
  uint32_t queue_depth;                  /* issued and not retired */
  uint32_t queue_window;                 /* of these, moving bytes */
  uint32_t assumed;                      /* figures marked as assumed */
  struct nsr_pipe_figures pipe, pipe_of[NSR_MAX_ENGINES];
  NSR_VEC(struct nsr_insn_figures) insns;
  int64_t v[NSR_MACHINE_FIGURES];
  uint32_t given;
};

/* Reads one machine file. name is for messages. Every limit must be there;
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

/* Another figure: "queue.depth=8", "instruction.mm.least=32"; of a section
 * whose name stands alone, its cost: "barrier=20us". NSR_E_USAGE: no such. */
NSR_MUST_USE enum nsr_status
nsr_machine_set(struct nsr_ctx *ctx, struct nsr_machine *m, const char *text);

/* Whether all is there that a timed run asks for; NSR_E_FORMAT says what is
 * not. */
NSR_MUST_USE enum nsr_status nsr_machine_costs(struct nsr_ctx *ctx,
                                               const struct nsr_machine *m);

/* A figure of an instruction of an engine: the most special one given; 0, of
 * factors 1, where there is none. insn < 0: of the pipeline as such. */
int64_t nsr_machine_pipe(const struct nsr_machine *m, int engine, int insn,
                         enum nsr_pipe_figure figure);
#endif
