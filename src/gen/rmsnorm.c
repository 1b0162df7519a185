/* rmsnorm.c - y = x / sqrt(mean(x^2) + eps) * gamma, row by row.
 *
 * A tile is P rows (partitions) of D columns. The number of tiles is loaded
 * from memory by every engine. Loads go through a queue of sp, stores through
 * one of pool; x and y live in M rotating buffers chosen by t rem M, so their
 * addresses are run-time offsets into a tensor. One semaphore per channel,
 * counting from the last barrier:
 *
 *   s0  q0    load                              s2  dve   reduce, mean + eps,
 *   s1  act   square, rsqrt                               scale, times gamma
 */
#include <inttypes.h>

#include "gen/suite.h"

enum { TILES, ROWS, COLS, BUFFERS, MAX, SEED };

static const char pe[] = "\n.engine pe\n"
                         "    ld   r1, tiles\n"
                         "    mov  r2, 0\n"
                         "    sync\n"
                         "loop:\n"
                         "    br.ge r2, r1, done\n"
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
    "    rem  r3, r2, M\n"
    "    mul  r3, r3, 4*D                 ; the tile's buffer\n"
    "    act  sq[D*4], xb+r3[D*4] func=square scale=1.0 bias=0.0 ?s0>=1 ^s1\n"
    "    act  rs, ms func=rsqrt scale=1.0 bias=0.0 ?s2>=2 ^s1\n"
    "    add  r2, r2, 1\n"
    "    sync\n"
    "    br   loop\n"
    "done:\n"
    "    sync\n"
    "    halt\n";

/* %.9g: the reciprocal of the number of columns. */
static const char dve[] =
    "\n.engine dve\n"
    "    ld   r1, tiles\n"
    "    mov  r2, 0\n"
    "    sync\n"
    "loop:\n"
    "    br.ge r2, r1, done\n"
    "    rem  r3, r2, M\n"
    "    mul  r3, r3, 4*D\n"
    "    tr   ss, sq[D*4] op=add ?s1>=1 ^s2\n"
    "    ts   ms, ss op0=mul imm0=%.9g op1=add imm1=1e-05 ?s2>=1 ^s2\n"
    "    tsp  yb+r3[D*4], xb+r3[D*4], rs op=mul ?s1>=2 ^s2\n"
    "    tt   yb+r3[D*4], yb+r3[D*4], g[D*4] op=mul ?s2>=3 ^s2\n"
    "    add  r2, r2, 1\n"
    "    sync\n"
    "    br   loop\n"
    "done:\n"
    "    sync\n"
    "    halt\n";

static const char pool[] =
    "\n.engine pool\n"
    "    ld   r1, tiles\n"
    "    mov  r2, 0\n"
    "    mov  r4, 0                       ; offset of the tile in y\n"
    "    sync\n"
    "loop:\n"
    "    br.ge r2, r1, done\n"
    "    rem  r3, r2, M\n"
    "    mul  r3, r3, 4*D\n"
    "    dma  q1, y+r4{P*(4*D)}[D*4], yb+r3[D*4] ?s2>=4\n"
    "    add  r4, r4, P*D*4\n"
    "    add  r2, r2, 1\n"
    "    sync\n"
    "    br   loop\n"
    "done:\n"
    "    sync\n"
    "    halt\n";

static const char sp[] =
    "\n.engine sp\n"
    "    ld   r1, tiles\n"
    "    mov  r2, 0\n"
    "    mov  r4, 0                       ; offset of the tile in x\n"
    "    dma  q0, g[D*4], gamma{P*0}[D*4] ; the same row for all partitions\n"
    "    sync\n"
    "loop:\n"
    "    br.ge r2, r1, done\n"
    "    rem  r3, r2, M\n"
    "    mul  r3, r3, 4*D\n"
    "    dma  q0, xb+r3[D*4], x+r4{P*(4*D)}[D*4] ^s0\n"
    "    add  r4, r4, P*D*4\n"
    "    add  r2, r2, 1\n"
    "    sync\n"
    "    br   loop\n"
    "done:\n"
    "    sync\n"
    "    halt\n";

static void tensors(const int64_t *v, int64_t top, struct nsr_strbuf *out) {
  uint64_t seed = (uint64_t)v[SEED];
  int64_t y = (top * v[ROWS] + 1) * v[COLS] * 4 + 128;
  nsr_strbuf_printf(out,
                    ".tensor tiles dram i32 [1] at 0 input range 0 %" PRId64
                    " words %" PRId64 "\n"
                    ".tensor gamma dram f32 [D] at 128 input",
                    top, v[TILES]);
  nsr_gen_random_f32(out, seed + 1, (uint64_t)v[COLS]);
  nsr_strbuf_printf(out,
                    "\n.tensor x dram f32 [%" PRId64 ", D] at 128+4*D input",
                    top * v[ROWS]);
  nsr_gen_random_f32(out, seed, (uint64_t)(v[TILES] * v[ROWS] * v[COLS]));
  nsr_strbuf_printf(
      out, "\n.tensor y dram f32 [%" PRId64 ", D] at %" PRId64 " output\n",
      top * v[ROWS], y);
  nsr_strbuf_puts(out,
                  ".tensor xb sbuf f32 [P, M*D] at 0:P, 0 scratch\n"
                  ".tensor yb sbuf f32 [P, M*D] at 0:P, 4*M*D scratch\n"
                  ".tensor sq sbuf f32 [P, D] at 0:P, 8*M*D scratch\n"
                  ".tensor g sbuf f32 [P, D] at 0:P, 8*M*D+4*D scratch\n"
                  ".tensor ss sbuf f32 [P, 1] at 0:P, 8*M*D+8*D scratch\n"
                  ".tensor ms sbuf f32 [P, 1] at 0:P, 8*M*D+8*D+4 scratch\n"
                  ".tensor rs sbuf f32 [P, 1] at 0:P, 8*M*D+8*D+8 scratch\n");
}

static enum nsr_status make(struct nsr_ctx *ctx, const int64_t *v,
                            struct nsr_strbuf *out) {
  enum { SBUF = 196608, MAX_OFFSET = INT32_MAX };
  int64_t top = v[MAX] > v[TILES] ? v[MAX] : v[TILES];
  int64_t sbuf = (2 * v[BUFFERS] + 2) * v[COLS] * 4 + 12;
  if (sbuf > SBUF)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "%" PRId64 " buffers of %" PRId64 " columns need %" PRId64
                    " bytes of a partition, which has %d",
                    v[BUFFERS], v[COLS], sbuf, SBUF);
  if (top * v[ROWS] * v[COLS] * 4 > MAX_OFFSET)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "%" PRId64 " tiles of %" PRId64 " x %" PRId64
                    " are beyond a 32-bit offset",
                    top, v[ROWS], v[COLS]);
  nsr_strbuf_printf(out,
                    "; rmsnorm: rows normalised by their root mean square\n"
                    ".isa tile64\n"
                    ".kernel \"rmsnorm\"\n"
                    ".const P %" PRId64 "\n"
                    ".const D %" PRId64 "\n"
                    ".const M %" PRId64 "\n"
                    ".queue q0 sp\n"
                    ".queue q1 pool\n",
                    v[ROWS], v[COLS], v[BUFFERS]);
  tensors(v, top, out);
  nsr_strbuf_puts(out, pe);
  nsr_strbuf_puts(out, act);
  nsr_strbuf_printf(out, dve, (double)(1.0f / (float)v[COLS]));
  nsr_strbuf_puts(out, pool);
  nsr_strbuf_puts(out, sp);
  return NSR_OK;
}

const struct nsr_gen_kernel nsr_gen_rmsnorm = {
    "rmsnorm",
    "row tiles in rotating buffers: load, square-sum, rsqrt, scale, store",
    6,
    {[TILES] = {"tiles", 3, 4, 0, 1 << 20},
     [ROWS] = {"rows", 4, 128, 1, 128},
     [COLS] = {"cols", 8, 4096, 1, 16384},
     [BUFFERS] = {"buffers", 2, 3, 1, 8},
     [MAX] = {"max", 100, 100, 100, 1 << 20},
     [SEED] = {"seed", 1, 1, 0, 65535}},
    make};
