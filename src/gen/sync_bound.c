/* sync_bound.c - a loop that does nothing but wait.
 *
 * Every engine does one small thing with what the engine before it made, and
 * the last result is the first one's operand in the next iteration:
 *
 *   general  a[j] = x[j] + e   activation  b[j] = a[j] + 1
 *   vector   c = max_j b[j]    matrix  d = c     sync  e = d
 *
 * so that after n iterations e = n * (max x + 1). Integers throughout.
 */
#include <inttypes.h>

#include "gen/suite.h"

enum { TILES, COLS, MAX, SEED };

enum { GENERAL, ACTIVATION, VECTOR, MATRIX, SYNC, NROLES };

static const struct nsr_gen_role roles[NROLES] = {
    [GENERAL] = {"tsp memset", "iota"},
    [ACTIVATION] = {"act", NULL},
    [VECTOR] = {"tr", NULL},
    [MATRIX] = {"ld st", "mm"},
    [SYNC] = {"ld st dma", NULL}};

static const struct nsr_gen_step steps[] = {
    {GENERAL, NSR_GEN_START, "    memset e value=0\n"},
    {SYNC, NSR_GEN_START, "    dma  q0, xt[C*4], x[C*4]\n"},
    {GENERAL, NSR_GEN_BODY, "    tsp  a[C*4], xt[C*4], e op=add ^s0\n"},
    {ACTIVATION, NSR_GEN_BODY,
     "    act  b[C*4], a[C*4] func=identity scale=1.0 bias=1.0 ?s0>=1 ^s1\n"},
    {VECTOR, NSR_GEN_BODY, "    tr   c, b[C*4] op=max ?s1>=1 ^s2\n"},
    {MATRIX, NSR_GEN_BODY,
     "    ld   r3, c ?s2>=1\n"
     "    st   d, r3 ^s3\n"},
    {SYNC, NSR_GEN_BODY,
     "    ld   r3, d ?s3>=1\n"
     "    st   e, r3\n"},
    {SYNC, NSR_GEN_END, "    dma  q0, out, e\n"}};
enum { NSTEPS = sizeof steps / sizeof *steps };

/* By hand: r11 is the number of this iteration from 1, r2 from 0. Each engine
 * waits for the one before it alone, the first one for the last: all that is
 * overwritten has been read on the way round.
 *
 *   s0 general  s1 activation  s2 vector  s3 matrix  s4 sync
 *   s5 what e starts with      s6 x
 */
static const char first[] = "    mov  r11, 1\n";
static const char next[] = "    add  r11, r11, 1\n";

static const struct nsr_gen_step manual[] = {
    {GENERAL, NSR_GEN_START, "    memset e value=0 ^s5\n"},
    {GENERAL, NSR_GEN_START, "    wait ?s6>=1\n    wait ?s5>=1\n"},
    {ACTIVATION, NSR_GEN_START, first},
    {VECTOR, NSR_GEN_START, first},
    {MATRIX, NSR_GEN_START, first},
    {SYNC, NSR_GEN_START, first},
    {SYNC, NSR_GEN_START, "    dma  q0, xt[C*4], x[C*4] ^s6\n"},
    {GENERAL, NSR_GEN_BODY, "    tsp  a[C*4], xt[C*4], e op=add ?s4>=r2 ^s0\n"},
    {ACTIVATION, NSR_GEN_BODY,
     "    act  b[C*4], a[C*4] func=identity scale=1.0 bias=1.0 ?s0>=r11 ^s1\n"},
    {VECTOR, NSR_GEN_BODY, "    tr   c, b[C*4] op=max ?s1>=r11 ^s2\n"},
    {MATRIX, NSR_GEN_BODY,
     "    ld   r3, c ?s2>=r11\n"
     "    st   d, r3 ^s3\n"},
    {SYNC, NSR_GEN_BODY,
     "    ld   r3, d ?s3>=r11\n"
     "    st   e, r3 ^s4\n"},
    {ACTIVATION, NSR_GEN_BODY, next},
    {VECTOR, NSR_GEN_BODY, next},
    {MATRIX, NSR_GEN_BODY, next},
    {SYNC, NSR_GEN_BODY, next},
    {SYNC, NSR_GEN_END,
     "    wait ?s5>=1\n"
     "    dma  q0, out, e ?s4>=r1\n"}};
enum { NMANUAL = sizeof manual / sizeof *manual };

static enum nsr_status check(struct nsr_ctx *ctx, const struct nsr_isa *isa,
                             const int64_t *v) {
  int64_t sbuf = 12 * v[COLS] + 12;
  if (sbuf > isa->sbuf_bytes)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "%" PRId64 " columns need %" PRId64
                    " bytes of a partition, which has %" PRIu32,
                    v[COLS], sbuf, isa->sbuf_bytes);
  return NSR_OK;
}

static enum nsr_status make(struct nsr_ctx *ctx,
                            const struct nsr_gen_request *request,
                            struct nsr_strbuf *out) {
  const struct nsr_isa *isa = request->isa;
  const int64_t *v = request->v;
  int engines[NROLES];
  NSR_TRY(nsr_gen_engines(ctx, isa, "sync-bound", "ld mov add br sync halt",
                          roles, NROLES, engines));
  NSR_TRY(check(ctx, isa, v));
  int64_t top = v[MAX] > v[TILES] ? v[MAX] : v[TILES];
  nsr_strbuf_printf(out,
                    "; sync-bound: a dependence chain over all engines\n"
                    ".isa %s\n"
                    ".kernel \"sync-bound\"\n"
                    ".const C %" PRId64 "\n"
                    ".queue q0 %s\n"
                    ".tensor tiles dram i32 [1] at 0 input range 0 %" PRId64
                    " words %" PRId64 "\n"
                    ".tensor out dram i32 [1] at 64 output\n"
                    ".tensor x dram i32 [1, C] at 128 input",
                    isa->name, v[COLS], isa->engines[engines[SYNC]], top,
                    v[TILES]);
  nsr_gen_random_i32(out, (uint64_t)v[SEED], (uint64_t)v[COLS]);
  nsr_strbuf_puts(out, "\n"
                       ".tensor xt sbuf i32 [1, C] at 0:1, 0 scratch\n"
                       ".tensor a sbuf i32 [1, C] at 0:1, 4*C scratch\n"
                       ".tensor b sbuf i32 [1, C] at 0:1, 8*C scratch\n");
  /* Two engines move these through a register, so they declare a range. */
  const char *words = "cde";
  for (int i = 0; words[i]; i++)
    nsr_strbuf_printf(out,
                      ".tensor %c sbuf i32 [1, 1] at 0:1, 12*C+%d scratch"
                      " range 0 %" PRId64 "\n",
                      words[i], 4 * i, 256 * top);
  nsr_gen_streams(out, isa, &nsr_gen_loop, request->manual ? manual : steps,
                  request->manual ? NMANUAL : NSTEPS, engines, request->manual);
  return NSR_OK;
}

/* f32 arithmetic counts exactly up to 2^24: 256 * 65535 stays below. */
const struct nsr_gen_kernel nsr_gen_sync_bound = {
    .name = "sync-bound",
    .about =
        "one loop, tiny work on every engine, a dependence chain across all",
    .manual = true,
    .nparams = 4,
    .params = {[TILES] = {"tiles", 3, 1000, 0, 65535, NSR_GEN_PLAIN},
               [COLS] = {"cols", 4, 16, 1, 4096, NSR_GEN_PLAIN},
               [MAX] = {"max", 100, 1000, 100, 65535, NSR_GEN_PLAIN},
               [SEED] = {"seed", 1, 1, 0, 65535, NSR_GEN_PLAIN}},
    .make = make};
