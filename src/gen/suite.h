/* suite.h - what a kernel of the suite is: a name, settings, a text. */
#ifndef NSR_GEN_SUITE_H
#define NSR_GEN_SUITE_H

#include <nsr/gen.h>

#include "base/strbuf.h"

/* What bounds a setting beside lo and hi: the number of partitions or engines
 * instead of hi; so much as lo for each engine instead of lo. */
enum nsr_gen_bound {
  NSR_GEN_PLAIN,
  NSR_GEN_PARTITIONS,
  NSR_GEN_ENGINES,
  NSR_GEN_PER_ENGINE
};

/* A setting: its value at either size, and what it may be set to. */
struct nsr_gen_param {
  const char *key;
  int64_t small, real, lo, hi;
  enum nsr_gen_bound bound;
};

enum { NSR_GEN_MAX_PARAMS = 16 };

/* What is asked for: settings as params. */
struct nsr_gen_request {
  const struct nsr_isa *isa;
  const int64_t *v;
  bool manual; /* waits as a person writes them, no barrier but the exit one */
  struct nsr_random_shares *shares; /* to be filled by `random`, or NULL */
};

struct nsr_gen_kernel {
  const char *name, *about;
  const char *alias; /* another name, NULL: none */
  bool manual;       /* there is a manual form */
  uint32_t nparams;
  struct nsr_gen_param params[NSR_GEN_MAX_PARAMS];
  /* Writes the kernel's text. Settings that do not go together, or not with
   * the instruction set, are NSR_E_USAGE. */
  enum nsr_status (*make)(struct nsr_ctx *ctx,
                          const struct nsr_gen_request *request,
                          struct nsr_strbuf *out);
  /* Lowers the settings of the real size until the machine holds them; NULL:
   * every machine does. */
  void (*fit)(const struct nsr_isa *isa, int64_t *v);
};

extern const struct nsr_gen_kernel nsr_gen_sync_bound, nsr_gen_rmsnorm,
    nsr_gen_matmul, nsr_gen_adamw, nsr_gen_rotating_banks, nsr_gen_page_table,
    nsr_gen_paged_attention, nsr_gen_flash_attention, nsr_gen_moe,
    nsr_gen_random;

/* What is asked of one engine: instructions that it must have, and one that
 * tells which kind is meant where several could do (NULL: any). Mnemonics,
 * with spaces between. */
struct nsr_gen_role {
  const char *needs, *likes;
};

bool nsr_gen_has(const struct nsr_isa *isa, int engine, const char *words);

/* engines[i]: who does roles[i], an engine of its own if there is one; all:
 * what every engine must have. An instruction set that lacks something is
 * NSR_E_USAGE. */
NSR_MUST_USE enum nsr_status
nsr_gen_engines(struct nsr_ctx *ctx, const struct nsr_isa *isa,
                const char *kernel, const char *all,
                const struct nsr_gen_role *roles, int n, int *engines);

/* A kernel of loops in each other, all of them on every engine. Level 0 is the
 * kernel, level l the body of the l-th loop from outside. */
struct nsr_gen_level {
  const char *label; /* in front of `loop` and `done` */
  const char *counter, *trips;
  const char *head; /* lines of every engine in front of the loop, or NULL */
};

enum { NSR_GEN_MAX_LEVELS = 4 };

struct nsr_gen_nest {
  const char *head; /* the first lines of every engine */
  int nlevels;
  struct nsr_gen_level levels[NSR_GEN_MAX_LEVELS];
};

/* Where a step stands: at the begin of a level, in front of the loop inside
 * it, or behind that loop. */
#define NSR_GEN_BEGIN(level) (2 * (level))
#define NSR_GEN_BEHIND(level) (2 * (level) + 1)

/* Of a kernel of one loop. */
enum {
  NSR_GEN_START = NSR_GEN_BEGIN(0),
  NSR_GEN_BODY = NSR_GEN_BEGIN(1),
  NSR_GEN_END = NSR_GEN_BEHIND(0)
};

/* Lines of one role; steps come in an order that keeps what depends on each
 * other. What two roles of an engine have in common, the same text, is there
 * once. */
struct nsr_gen_step {
  int role;
  int place;
  const char *text; /* NULL: none */
};

/* All streams; engines without work only count. Barriers stand in front of
 * each loop and at the end of each iteration, and before the halts; in manual
 * form there alone. */
void nsr_gen_streams(struct nsr_strbuf *out, const struct nsr_isa *isa,
                     const struct nsr_gen_nest *nest,
                     const struct nsr_gen_step *steps, int n,
                     const int *engines, bool manual);

/* One loop over r2 = 0 .. up to the word in tensor `tiles`, in r1. */
extern const struct nsr_gen_nest nsr_gen_loop;

/* Bounds of transfers in DRAM: offset and bytes between rows. */
struct nsr_gen_reach {
  int64_t offset, step;
};
struct nsr_gen_reach nsr_gen_reach(const struct nsr_isa *isa);

/* ` data "BASE64"`: n pseudo-random elements, the same for the same seed; f32
 * in -2..2 in steps of 1/512, bf16 in -2..2 in steps of 1/32, or i32 in 0..255.
 * Nothing for n = 0. */
void nsr_gen_random_bf16(struct nsr_strbuf *out, uint64_t seed, uint64_t n);
void nsr_gen_random_f32(struct nsr_strbuf *out, uint64_t seed, uint64_t n);
void nsr_gen_random_i32(struct nsr_strbuf *out, uint64_t seed, uint64_t n);
/* f32 in 0..2. */
void nsr_gen_random_positive(struct nsr_strbuf *out, uint64_t seed, uint64_t n);
/* Tensors in DRAM with such contents: numbers 0..most, with that range; rows
 * of bf16, which gives the place behind them. */
void nsr_gen_table(struct nsr_strbuf *out, const char *name, int64_t at,
                   int64_t n, uint64_t seed, int64_t most);
int64_t nsr_gen_rows(struct nsr_strbuf *out, const char *name, int64_t at,
                     int64_t n, int64_t cols, uint64_t seed);

/* i32 in 0..below-1. */
void nsr_gen_random_below(struct nsr_strbuf *out, uint64_t seed, uint64_t n,
                          uint32_t below);

#endif
