/* rotating_banks.c - products that stay in their bank of PSUM until it is
 * needed again.
 *
 * Iteration i takes the product of tile i - B out of bank i rem B and lets the
 * matrix engine put that of tile i there: tiles of x move past one weight
 * matrix w, K x M. So only two things bind the engines to each other: the copy
 * waits for the product of B iterations ago, the product for this iteration's
 * copy. Tiles in SBUF rotate alike. The first B tiles of y are what the banks
 * held before, zeros; behind those of the loop come what they still hold, bank
 * by bank.
 *
 *   s0  q0  loads      s1  copies out      q1  stores
 */
#include <inttypes.h>

#include "gen/suite.h"

enum { TILES, ROWS, COLS, DEPTH, BANKS, MAX, SEED };

enum { LOAD, COPY, MATRIX, STORE, NROLES };

static const struct nsr_gen_role roles[NROLES] = {
    [LOAD] = {"dma", NULL},
    [COPY] = {"copy memset", "act"},
    [MATRIX] = {"ldw mm", NULL},
    [STORE] = {"dma", "iota"}};

static const char bank[] =
    "    rem  r3, r2, B\n"
    "    mul  r3, r3, N*4                 ; the bank, and the place in yb\n";
static const char place[] =
    "    rem  r6, r2, B\n"
    "    mul  r6, r6, N*2                 ; the place in xb\n";

static const struct nsr_gen_step steps[] = {
    {LOAD, NSR_GEN_START,
     "    mov  r4, 0                       ; offset of the tile in x\n"
     "    dma  q0, w[M*2], wd{K*(2*M)}[M*2] ^s0\n"},
    {COPY, NSR_GEN_START, "    memset p[(B*N)*4] value=0\n"},
    {MATRIX, NSR_GEN_START, "    ldw  w[M*2] ?s0>=1\n"},
    {STORE, NSR_GEN_START,
     "    mov  r5, 0                       ; offset of the tile in y\n"},
    {LOAD, NSR_GEN_BODY, place},
    {LOAD, NSR_GEN_BODY,
     "    dma  q0, xb+r6[N*2], x+r4{K*(2*N)}[N*2] ^s0\n"
     "    add  r4, r4, K*N*2\n"},
    {COPY, NSR_GEN_BODY, bank},
    {COPY, NSR_GEN_BODY, "    copy yb+r3[N*4], p+r3[N*4] ^s1\n"},
    {MATRIX, NSR_GEN_BODY, bank},
    {MATRIX, NSR_GEN_BODY, place},
    {MATRIX, NSR_GEN_BODY,
     "    wait ?s0>=1\n"
     "    mm   p+r3[N*4], xb+r6[N*2] ?s1>=1\n"},
    {STORE, NSR_GEN_BODY, bank},
    {STORE, NSR_GEN_BODY,
     "    dma  q1, y+r5{M*(4*N)}[N*4], yb+r3[N*4] ?s1>=1\n"
     "    add  r5, r5, M*N*4\n"},
    {COPY, NSR_GEN_END, "    copy yb[(B*N)*4], p[(B*N)*4] ^s1\n"},
    {STORE, NSR_GEN_END,
     "    dma  q1, y+r5{M*(4*N)}[B*(4*M*N), N*4], yb[B*(4*N), N*4] "
     "?s1>=1\n"}};
enum { NSTEPS = sizeof steps / sizeof *steps };

/* By hand: r11 is the number of this iteration from 1, r10 of the one that had
 * the bank before.
 *
 *   s0 loads  s1 copies  s2 products  s3 stores
 *   s4 w      s5 zeros   s6 what is left
 */
static const char now[] = "    mov  r11, 1\n";
static const char before[] = "    mov  r10, 1-B\n";
static const char next_now[] = "    add  r11, r11, 1\n";
static const char next_before[] = "    add  r10, r10, 1\n";

static const struct nsr_gen_step manual[] = {
    {LOAD, NSR_GEN_START, before},
    {LOAD, NSR_GEN_START,
     "    mov  r4, 0                       ; offset of the tile in x\n"
     "    dma  q0, w[M*2], wd{K*(2*M)}[M*2] ^s4\n"},
    {COPY, NSR_GEN_START, before},
    {COPY, NSR_GEN_START,
     "    memset p[(B*N)*4] value=0 ^s5\n"
     "    wait ?s5>=1\n"},
    {MATRIX, NSR_GEN_START, now},
    {MATRIX, NSR_GEN_START, "    ldw  w[M*2] ?s4>=1\n"},
    {STORE, NSR_GEN_START, now},
    {STORE, NSR_GEN_START,
     "    mov  r5, 0                       ; offset of the tile in y\n"},
    {LOAD, NSR_GEN_BODY, place},
    {LOAD, NSR_GEN_BODY,
     "    dma  q0, xb+r6[N*2], x+r4{K*(2*N)}[N*2] ?s2>=r10 ^s0\n"
     "    add  r4, r4, K*N*2\n"},
    {COPY, NSR_GEN_BODY, bank},
    {COPY, NSR_GEN_BODY,
     "    wait ?s3>=r10\n"
     "    copy yb+r3[N*4], p+r3[N*4] ?s2>=r10 ^s1\n"},
    {MATRIX, NSR_GEN_BODY, bank},
    {MATRIX, NSR_GEN_BODY, place},
    {MATRIX, NSR_GEN_BODY,
     "    wait ?s0>=r11\n"
     "    mm   p+r3[N*4], xb+r6[N*2] ?s1>=r11 ^s2\n"},
    {STORE, NSR_GEN_BODY, bank},
    {STORE, NSR_GEN_BODY,
     "    dma  q1, y+r5{M*(4*N)}[N*4], yb+r3[N*4] ?s1>=r11 ^s3\n"
     "    add  r5, r5, M*N*4\n"},
    {LOAD, NSR_GEN_BODY, next_before},
    {COPY, NSR_GEN_BODY, next_before},
    {MATRIX, NSR_GEN_BODY, next_now},
    {STORE, NSR_GEN_BODY, next_now},
    {COPY, NSR_GEN_END,
     "    wait ?s3>=r1\n"
     "    copy yb[(B*N)*4], p[(B*N)*4] ?s2>=r1 ^s6\n"},
    {STORE, NSR_GEN_END,
     "    dma  q1, y+r5{M*(4*N)}[B*(4*M*N), N*4], yb[B*(4*N), N*4] "
     "?s6>=1\n"}};
enum { NMANUAL = sizeof manual / sizeof *manual };

static void tensors(const int64_t *v, int64_t top, struct nsr_strbuf *out) {
  uint64_t seed = (uint64_t)v[SEED];
  nsr_strbuf_printf(out,
                    ".tensor tiles dram i32 [1] at 0 input range 0 %" PRId64
                    " words %" PRId64 "\n"
                    ".tensor wd dram bf16 [K, M] at 64 input",
                    top, v[TILES]);
  nsr_gen_random_bf16(out, seed + 1, (uint64_t)(v[DEPTH] * v[ROWS]));
  nsr_strbuf_printf(
      out, "\n.tensor x dram bf16 [%" PRId64 "*K, N] at 64+2*K*M input", top);
  nsr_gen_random_bf16(out, seed, (uint64_t)(v[TILES] * v[DEPTH] * v[COLS]));
  nsr_strbuf_printf(out,
                    "\n.tensor y dram f32 [(%" PRId64
                    "+B)*M, N] at 64+2*K*(M+%" PRId64 "*N) output\n",
                    top, top);
  nsr_strbuf_puts(out, ".tensor yb sbuf f32 [M, B*N] at 0:M, 0 scratch\n"
                       ".tensor xb sbuf bf16 [K, B*N] at 0:K, 4*B*N scratch\n"
                       ".tensor w sbuf bf16 [K, M] at 0:K, 6*B*N scratch\n"
                       ".tensor p psum f32 [M, B*N] at 0:M, 0 scratch\n");
}

static int64_t sbuf_bytes(const int64_t *v) {
  return 6 * v[BANKS] * v[COLS] + 2 * v[ROWS];
}

static int64_t psum_bytes(const int64_t *v) { return 4 * v[BANKS] * v[COLS]; }

static void fit(const struct nsr_isa *isa, int64_t *v) {
  while ((psum_bytes(v) > isa->psum_bytes || sbuf_bytes(v) > isa->sbuf_bytes) &&
         v[COLS] > 1)
    v[COLS] /= 2;
}

static enum nsr_status check(struct nsr_ctx *ctx, const struct nsr_isa *isa,
                             const int64_t *v, int64_t top) {
  struct nsr_gen_reach reach = nsr_gen_reach(isa);
  if (sbuf_bytes(v) > isa->sbuf_bytes || psum_bytes(v) > isa->psum_bytes)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "%" PRId64 " banks of %" PRId64 " columns need %" PRId64
                    " bytes of a partition of PSUM and %" PRId64
                    " of SBUF, which has %" PRIu32 " and %" PRIu32,
                    v[BANKS], v[COLS], psum_bytes(v), sbuf_bytes(v),
                    isa->psum_bytes, isa->sbuf_bytes);
  int64_t y = (top + v[BANKS]) * v[ROWS] * v[COLS] * 4;
  int64_t x = top * v[DEPTH] * v[COLS] * 2 + 2 * v[DEPTH] * v[ROWS] + 64;
  int64_t step = 4 * v[COLS] > 2 * v[ROWS] ? 4 * v[COLS] : 2 * v[ROWS];
  if (y > INT32_MAX || x > INT32_MAX || x + y > reach.offset ||
      step > reach.step)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "%" PRId64 " tiles of %" PRId64 " x %" PRId64
                    " are beyond what offsets and steps can say",
                    top, v[DEPTH], v[COLS]);
  return NSR_OK;
}

static enum nsr_status make(struct nsr_ctx *ctx,
                            const struct nsr_gen_request *request,
                            struct nsr_strbuf *out) {
  const struct nsr_isa *isa = request->isa;
  const int64_t *v = request->v;
  int64_t top = v[MAX] > v[TILES] ? v[MAX] : v[TILES];
  int engines[NROLES];
  NSR_TRY(nsr_gen_engines(ctx, isa, "rotating-banks",
                          "ld mov add mul rem br sync halt", roles, NROLES,
                          engines));
  NSR_TRY(check(ctx, isa, v, top));
  nsr_strbuf_printf(
      out,
      "; rotating-banks: products copied out when their bank comes round\n"
      ".isa %s\n"
      ".kernel \"rotating-banks\"\n"
      ".const M %" PRId64 "\n.const N %" PRId64 "\n.const K %" PRId64
      "\n.const B %" PRId64 "\n.queue q0 %s\n.queue q1 %s\n",
      isa->name, v[ROWS], v[COLS], v[DEPTH], v[BANKS],
      isa->engines[engines[LOAD]], isa->engines[engines[STORE]]);
  tensors(v, top, out);
  nsr_gen_streams(out, isa, &nsr_gen_loop, request->manual ? manual : steps,
                  request->manual ? NMANUAL : NSTEPS, engines, request->manual);
  return NSR_OK;
}

const struct nsr_gen_kernel nsr_gen_rotating_banks = {
    .name = "rotating-banks",
    .about = "banks of PSUM in turn, each copied out when it comes round",
    .manual = true,
    .nparams = 7,
    .params = {[TILES] = {"tiles", 3, 64, 0, 1 << 16, NSR_GEN_PLAIN},
               [ROWS] = {"rows", 4, 128, 1, 0, NSR_GEN_PARTITIONS},
               [COLS] = {"cols", 8, 512, 1, 4096, NSR_GEN_PLAIN},
               [DEPTH] = {"depth", 4, 128, 1, 0, NSR_GEN_PARTITIONS},
               [BANKS] = {"banks", 8, 8, 1, 8, NSR_GEN_PLAIN},
               [MAX] = {"max", 40, 64, 1, 1 << 16, NSR_GEN_PLAIN},
               [SEED] = {"seed", 1, 1, 0, 65535, NSR_GEN_PLAIN}},
    .make = make,
    .fit = fit};
