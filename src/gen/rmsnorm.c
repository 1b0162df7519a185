/* rmsnorm.c - y = x / sqrt(mean(x^2) + eps) * gamma, row by row.
 *
 * A tile is P rows (partitions) of D columns. The number of tiles is loaded
 * from memory by every engine. Loads and stores go through a queue each; x and
 * y live in M rotating buffers chosen by t rem M, so their addresses are
 * run-time offsets into a tensor. One semaphore for each, counting from the
 * last barrier:
 *
 *   s0  queue q0    load                  s2  vector  reduce, mean + eps,
 *   s1  activation  square, rsqrt                     scale, times gamma
 */
#include <inttypes.h>
#include <string.h>

#include "gen/suite.h"

enum { TILES, ROWS, COLS, BUFFERS, MAX, SEED };

enum { LOAD, ACTIVATION, VECTOR, STORE, NROLES };

static const struct nsr_gen_role roles[NROLES] = {
    [LOAD] = {"dma", NULL},
    [ACTIVATION] = {"act", NULL},
    [VECTOR] = {"tr ts tsp tt", "scan"},
    [STORE] = {"dma", "iota"}};

static const char buffer[] =
    "    rem  r3, r2, M\n"
    "    mul  r3, r3, 4*D                 ; the tile's buffer\n";

/* The body of `mean` is made in make(): it holds a number. */
enum { MEAN = 6 };
static const struct nsr_gen_step steps[] = {
    {LOAD, NSR_GEN_START,
     "    mov  r4, 0                       ; offset of the tile in x\n"
     "    dma  q0, g[D*4], gamma{P*0}[D*4] ; the same row for all "
     "partitions\n"},
    {LOAD, NSR_GEN_BODY, buffer},
    {LOAD, NSR_GEN_BODY,
     "    dma  q0, xb+r3[D*4], x+r4{P*(4*D)}[D*4] ^s0\n"
     "    add  r4, r4, P*D*4\n"},
    {ACTIVATION, NSR_GEN_BODY, buffer},
    {ACTIVATION, NSR_GEN_BODY,
     "    act  sq[D*4], xb+r3[D*4] func=square scale=1.0 bias=0.0 ?s0>=1 "
     "^s1\n"},
    {VECTOR, NSR_GEN_BODY, buffer},
    [MEAN] = {VECTOR, NSR_GEN_BODY, NULL},
    {ACTIVATION, NSR_GEN_BODY,
     "    act  rs, ms func=rsqrt scale=1.0 bias=0.0 ?s2>=2 ^s1\n"},
    {VECTOR, NSR_GEN_BODY,
     "    tsp  yb+r3[D*4], xb+r3[D*4], rs op=mul ?s1>=2 ^s2\n"
     "    tt   yb+r3[D*4], yb+r3[D*4], g[D*4] op=mul ?s2>=3 ^s2\n"},
    {STORE, NSR_GEN_START,
     "    mov  r5, 0                       ; offset of the tile in y\n"},
    {STORE, NSR_GEN_BODY, buffer},
    {STORE, NSR_GEN_BODY,
     "    dma  q1, y+r5{P*(4*D)}[D*4], yb+r3[D*4] ?s2>=4\n"
     "    add  r5, r5, P*D*4\n"}};
enum { NSTEPS = sizeof steps / sizeof *steps };

/* By hand: r11 is the number of this iteration from 1, r2 from 0, and r10 that
 * of the one that had the buffers before.
 *
 *   s0 loads   s1 squares  s2 sums  s3 stores
 *   s4 rsqrt   s5 means    s6 scaled  s7 times gamma
 *
 * What is not waited for follows: who knows of the scaled tile knows that its
 * squares and its mean have been read, and gamma is the first of the loads. */
static const char now[] = "    mov  r11, 1\n";
static const char before[] = "    mov  r10, 1-M\n";
static const char next_now[] = "    add  r11, r11, 1\n";
static const char next_before[] = "    add  r10, r10, 1\n";

enum { MANUAL_MEAN = 13 };
static const struct nsr_gen_step manual[] = {
    {LOAD, NSR_GEN_START, before},
    {LOAD, NSR_GEN_START,
     "    mov  r4, 0                       ; offset of the tile in x\n"
     "    dma  q0, g[D*4], gamma{P*0}[D*4] ; the same row for all "
     "partitions\n"},
    {ACTIVATION, NSR_GEN_START, now},
    {VECTOR, NSR_GEN_START, now},
    {VECTOR, NSR_GEN_START, before},
    {STORE, NSR_GEN_START, now},
    {STORE, NSR_GEN_START,
     "    mov  r5, 0                       ; offset of the tile in y\n"},
    {LOAD, NSR_GEN_BODY, buffer},
    {LOAD, NSR_GEN_BODY,
     "    dma  q0, xb+r3[D*4], x+r4{P*(4*D)}[D*4] ?s6>=r10 ^s0\n"
     "    add  r4, r4, P*D*4\n"},
    {ACTIVATION, NSR_GEN_BODY, buffer},
    {ACTIVATION, NSR_GEN_BODY,
     "    wait ?s2>=r2\n"
     "    act  sq[D*4], xb+r3[D*4] func=square scale=1.0 bias=0.0 ?s0>=r11 "
     "^s1\n"},
    {VECTOR, NSR_GEN_BODY, buffer},
    {VECTOR, NSR_GEN_BODY, "    tr   ss, sq[D*4] op=add ?s1>=r11 ^s2\n"},
    [MANUAL_MEAN] = {VECTOR, NSR_GEN_BODY, NULL},
    {ACTIVATION, NSR_GEN_BODY,
     "    act  rs, ms func=rsqrt scale=1.0 bias=0.0 ?s5>=r11 ^s4\n"},
    {VECTOR, NSR_GEN_BODY,
     "    wait ?s3>=r10\n"
     "    tsp  yb+r3[D*4], xb+r3[D*4], rs op=mul ?s4>=r11 ^s6\n"
     "    tt   yb+r3[D*4], yb+r3[D*4], g[D*4] op=mul ?s6>=r11 ^s7\n"},
    {STORE, NSR_GEN_BODY, buffer},
    {STORE, NSR_GEN_BODY,
     "    dma  q1, y+r5{P*(4*D)}[D*4], yb+r3[D*4] ?s7>=r11 ^s3\n"
     "    add  r5, r5, P*D*4\n"},
    {LOAD, NSR_GEN_BODY, next_before},
    {ACTIVATION, NSR_GEN_BODY, next_now},
    {VECTOR, NSR_GEN_BODY, next_now},
    {VECTOR, NSR_GEN_BODY, next_before},
    {STORE, NSR_GEN_BODY, next_now}};
enum { NMANUAL = sizeof manual / sizeof *manual };
enum { MAX_STEPS = NMANUAL + NSTEPS };

/* %.9g: the reciprocal of the number of columns. */
static const char manual_mean[] =
    "    ts   ms, ss op0=mul imm0=%.9g op1=add imm1=1e-05 ?s2>=r11 ^s5\n";
static const char mean[] =
    "    tr   ss, sq[D*4] op=add ?s1>=1 ^s2\n"
    "    ts   ms, ss op0=mul imm0=%.9g op1=add imm1=1e-05 ?s2>=1 ^s2\n";

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

static int64_t sbuf_bytes(const int64_t *v) {
  return (2 * v[BUFFERS] + 2) * v[COLS] * 4 + 12;
}

static void fit(const struct nsr_isa *isa, int64_t *v) {
  while (sbuf_bytes(v) > isa->sbuf_bytes && v[COLS] > 1)
    v[COLS] /= 2;
}

static enum nsr_status check(struct nsr_ctx *ctx, const struct nsr_isa *isa,
                             const int64_t *v, int64_t top) {
  struct nsr_gen_reach reach = nsr_gen_reach(isa);
  if (sbuf_bytes(v) > isa->sbuf_bytes)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "%" PRId64 " buffers of %" PRId64 " columns need %" PRId64
                    " bytes of a partition, which has %" PRIu32,
                    v[BUFFERS], v[COLS], sbuf_bytes(v), isa->sbuf_bytes);
  int64_t tiles = top * v[ROWS] * v[COLS] * 4;
  if (tiles > INT32_MAX || 2 * tiles + 4 * v[COLS] + 128 > reach.offset ||
      4 * v[COLS] > reach.step)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "%" PRId64 " tiles of %" PRId64 " x %" PRId64
                    " are beyond what offsets and steps can say",
                    top, v[ROWS], v[COLS]);
  return NSR_OK;
}

static enum nsr_status make(struct nsr_ctx *ctx,
                            const struct nsr_gen_request *request,
                            struct nsr_strbuf *out) {
  const struct nsr_isa *isa = request->isa;
  const int64_t *v = request->v;
  int64_t top = v[MAX] > v[TILES] ? v[MAX] : v[TILES];
  struct nsr_gen_step all[MAX_STEPS];
  int engines[NROLES], n = request->manual ? NMANUAL : NSTEPS;
  struct nsr_gen_step *x = &all[request->manual ? MANUAL_MEAN : MEAN];
  memcpy(all, request->manual ? manual : steps, (size_t)n * sizeof *all);
  x->text = nsr_printf(ctx, NSR_SCRATCH, request->manual ? manual_mean : mean,
                       (double)(1.0f / (float)v[COLS]));
  if (!x->text)
    return NSR_E_NOMEM;
  NSR_TRY(nsr_gen_engines(ctx, isa, "rmsnorm",
                          "ld mov add mul rem br sync halt", roles, NROLES,
                          engines));
  NSR_TRY(check(ctx, isa, v, top));
  nsr_strbuf_printf(out,
                    "; rmsnorm: rows normalised by their root mean square\n"
                    ".isa %s\n"
                    ".kernel \"rmsnorm\"\n"
                    ".const P %" PRId64 "\n"
                    ".const D %" PRId64 "\n"
                    ".const M %" PRId64 "\n"
                    ".queue q0 %s\n"
                    ".queue q1 %s\n",
                    isa->name, v[ROWS], v[COLS], v[BUFFERS],
                    isa->engines[engines[LOAD]], isa->engines[engines[STORE]]);
  tensors(v, top, out);
  nsr_gen_streams(out, isa, &nsr_gen_loop, all, n, engines, request->manual);
  return NSR_OK;
}

const struct nsr_gen_kernel nsr_gen_rmsnorm = {
    .name = "rmsnorm",
    .about =
        "row tiles in rotating buffers: load, square-sum, rsqrt, scale, store",
    .manual = true,
    .nparams = 6,
    .params = {[TILES] = {"tiles", 3, 4, 0, 1 << 20, NSR_GEN_PLAIN},
               [ROWS] = {"rows", 4, 128, 1, 0, NSR_GEN_PARTITIONS},
               [COLS] = {"cols", 8, 4096, 1, 16384, NSR_GEN_PLAIN},
               [BUFFERS] = {"buffers", 2, 3, 1, 8, NSR_GEN_PLAIN},
               [MAX] = {"max", 100, 100, 100, 1 << 20, NSR_GEN_PLAIN},
               [SEED] = {"seed", 1, 1, 0, 65535, NSR_GEN_PLAIN}},
    .make = make,
    .fit = fit};
