/* sync_bound.c - a loop that does nothing but wait.
 *
 * Every engine does one small thing with what the engine before it made, and
 * the last result is the first one's operand in the next iteration:
 *
 *   pool  a[j] = x[j] + e      act  b[j] = a[j] + 1     dve  c = max_j b[j]
 *   pe    d = c                sp   e = d
 *
 * so that after n iterations e = n * (max x + 1). Integers throughout.
 */
#include <inttypes.h>

#include "gen/suite.h"

enum { TILES, COLS, MAX, SEED };

static const char pool[] = "\n.engine pool\n"
                           "    ld   r1, tiles\n"
                           "    mov  r2, 0\n"
                           "    memset e value=0\n"
                           "    sync\n"
                           "loop:\n"
                           "    br.ge r2, r1, done\n"
                           "    tsp  a[C*4], xt[C*4], e op=add ^s0\n"
                           "    add  r2, r2, 1\n"
                           "    sync\n"
                           "    br   loop\n"
                           "done:\n"
                           "    sync\n"
                           "    halt\n";

static const char act[] =
    "\n.engine act\n"
    "    ld   r1, tiles\n"
    "    mov  r2, 0\n"
    "    sync\n"
    "loop:\n"
    "    br.ge r2, r1, done\n"
    "    act  b[C*4], a[C*4] func=identity scale=1.0 bias=1.0 ?s0>=1 ^s1\n"
    "    add  r2, r2, 1\n"
    "    sync\n"
    "    br   loop\n"
    "done:\n"
    "    sync\n"
    "    halt\n";

static const char dve[] = "\n.engine dve\n"
                          "    ld   r1, tiles\n"
                          "    mov  r2, 0\n"
                          "    sync\n"
                          "loop:\n"
                          "    br.ge r2, r1, done\n"
                          "    tr   c, b[C*4] op=max ?s1>=1 ^s2\n"
                          "    add  r2, r2, 1\n"
                          "    sync\n"
                          "    br   loop\n"
                          "done:\n"
                          "    sync\n"
                          "    halt\n";

static const char pe[] = "\n.engine pe\n"
                         "    ld   r1, tiles\n"
                         "    mov  r2, 0\n"
                         "    sync\n"
                         "loop:\n"
                         "    br.ge r2, r1, done\n"
                         "    ld   r3, c ?s2>=1\n"
                         "    st   d, r3 ^s3\n"
                         "    add  r2, r2, 1\n"
                         "    sync\n"
                         "    br   loop\n"
                         "done:\n"
                         "    sync\n"
                         "    halt\n";

static const char sp[] = "\n.engine sp\n"
                         "    ld   r1, tiles\n"
                         "    mov  r2, 0\n"
                         "    dma  q0, xt[C*4], x[C*4]\n"
                         "    sync\n"
                         "loop:\n"
                         "    br.ge r2, r1, done\n"
                         "    ld   r3, d ?s3>=1\n"
                         "    st   e, r3\n"
                         "    add  r2, r2, 1\n"
                         "    sync\n"
                         "    br   loop\n"
                         "done:\n"
                         "    dma  q0, out, e\n"
                         "    sync\n"
                         "    halt\n";

static enum nsr_status make(struct nsr_ctx *ctx, const int64_t *v,
                            struct nsr_strbuf *out) {
  (void)ctx;
  int64_t top = v[MAX] > v[TILES] ? v[MAX] : v[TILES];
  nsr_strbuf_printf(out,
                    "; sync-bound: a dependence chain over all engines\n"
                    ".isa tile64\n"
                    ".kernel \"sync-bound\"\n"
                    ".const C %" PRId64 "\n"
                    ".queue q0 sp\n"
                    ".tensor tiles dram i32 [1] at 0 input range 0 %" PRId64
                    " words %" PRId64 "\n"
                    ".tensor out dram i32 [1] at 64 output\n"
                    ".tensor x dram i32 [1, C] at 128 input",
                    v[COLS], top, v[TILES]);
  nsr_gen_random_i32(out, (uint64_t)v[SEED], (uint64_t)v[COLS]);
  nsr_strbuf_puts(out, "\n"
                       ".tensor xt sbuf i32 [1, C] at 0:1, 0 scratch\n"
                       ".tensor a sbuf i32 [1, C] at 0:1, 4*C scratch\n"
                       ".tensor b sbuf i32 [1, C] at 0:1, 8*C scratch\n");
  /* pe and sp move these through a register, so they declare a range. */
  const char *words = "cde";
  for (int i = 0; words[i]; i++)
    nsr_strbuf_printf(out,
                      ".tensor %c sbuf i32 [1, 1] at 0:1, 12*C+%d scratch"
                      " range 0 %" PRId64 "\n",
                      words[i], 4 * i, 256 * top);
  nsr_strbuf_puts(out, pe);
  nsr_strbuf_puts(out, act);
  nsr_strbuf_puts(out, dve);
  nsr_strbuf_puts(out, pool);
  nsr_strbuf_puts(out, sp);
  return NSR_OK;
}

/* f32 arithmetic counts exactly up to 2^24: 256 * 65535 stays below. */
const struct nsr_gen_kernel nsr_gen_sync_bound = {
    "sync-bound",
    "one loop, tiny work on every engine, a dependence chain across all",
    4,
    {[TILES] = {"tiles", 3, 1000, 0, 65535},
     [COLS] = {"cols", 4, 16, 1, 4096},
     [MAX] = {"max", 100, 1000, 100, 65535},
     [SEED] = {"seed", 1, 1, 0, 65535}},
    make};
