/* moe.c - a mixture of experts that drops no token.
 *
 * Tokens come in blocks of T, blocks in groups of the same expert. Memory says
 * how many groups there are, and for each the expert and the number of blocks;
 * for each block the tokens. A token is in as many blocks as it has experts,
 * once in a block:
 *
 *   X = x[tokens]            loads, by index; turned by the matrix engine
 *   H = relu(W1' X')         matrix engine, activation
 *   y[tokens] += H' W2       matrix engine; y is taken by index, added to by
 *                            the vector engine, and put back
 *
 * Which rows of y a block changes nobody knows, so each taking of rows waits
 * for the last putting back. Tokens rotate among `buffers` by the number of
 * blocks so far, weights among two by that of groups.
 */
#include <inttypes.h>

#include "gen/suite.h"

enum { GROUPS, BLOCKS, TOKENS, TILE, DIM, HIDDEN, EXPERTS, BUFFERS, MAX, SEED };

enum { LOAD, MATRIX, VECTOR, ACTIVATION, STORE, NROLES };

static const struct nsr_gen_role roles[NROLES] = {
    [LOAD] = {"dma dmag ld", NULL},
    [MATRIX] = {"ldw mm tp", NULL},
    [VECTOR] = {"tt", "tr"},
    [ACTIVATION] = {"act copy", NULL},
    [STORE] = {"dmag dmas", "iota"}};

#define GROUP NSR_GEN_BEGIN(1)
#define BLOCK NSR_GEN_BEGIN(2)

static const struct nsr_gen_nest nest = {
    .head = "    ld   r1, groups\n",
    .nlevels = 2,
    .levels = {{"g", "r2", "r1", NULL},
               {"b", "r4", "r3",
                "    mul  r5, r2, 4\n"
                "    ld   r3, blocks+r5               ; blocks of it\n"}}};

/* r12 counts blocks so far, r8 is the place of the tokens' numbers, r9 that of
 * the tokens, r10 and r7 those of the weights. */
static const char count_blocks[] = "    mov  r12, 0\n";
static const char next_block[] = "    add  r12, r12, 1\n";
static const char numbers[] = "    rem  r8, r12, M\n"
                              "    mul  r8, r8, T*4\n";
static const char tokens[] = "    rem  r9, r12, M\n"
                             "    mul  r9, r9, D*2\n";
static const char weights[] = "    rem  r10, r2, 2\n"
                              "    mul  r7, r10, D*2\n"
                              "    mul  r10, r10, F*2\n";
static const char which_expert[] =
    "    ld   r6, expert+r5\n"
    "    mul  r6, r6, D*F*2               ; its weights\n";
static const char which_numbers[] = "    mul  r6, r12, T*4\n";

#define LOAD_W1 "    dma  q0, w1b+r10[F*2], w1+r6{D*(2*F)}[F*2]"
#define LOAD_W2 "    dma  q0, w2b+r7[D*2], w2+r6{F*(2*D)}[D*2]"
#define LOAD_NUMBERS "    dma  q0, ib+r8[T*4], idx+r6[T*4]"
#define LOAD_X "    dmag q0, xb+r9[D*2], x{(N)*(2*D)}[D*2], ib+r8[T*4]"
#define TURN "    tp   xt[T*2], xb+r9[D*2]"
#define COPY "    copy xtb[T*2], xt[T*2]"
#define FIRST "    mm   ht[T*4], xtb[T*2]"
#define RELU "    act  hb[T*2], ht[T*4] func=relu scale=1.0 bias=0.0"
#define SECOND "    mm   yp[D*4], w2b+r7[D*2]"
#define TAKE "    dmag q1, yo[D*4], y{(N)*(4*D)}[D*4], ib+r8[T*4]"
#define ADD "    tt   yn[D*4], yo[D*4], yp[D*4] op=add"
#define PUT "    dmas q1, y{(N)*(4*D)}[D*4], yn[D*4], ib+r8[T*4]"

/*   s0 numbers of tokens   s2 matrix engine   s4 vector engine
 *   s1 tokens              s3 activation      s5 rows of y
 */
static const struct nsr_gen_step steps[] = {
    {LOAD, NSR_GEN_START, count_blocks},
    {MATRIX, NSR_GEN_START, count_blocks},
    {STORE, NSR_GEN_START, count_blocks},
    {LOAD, GROUP, weights},
    {LOAD, GROUP, which_expert},
    {LOAD, GROUP, LOAD_W1 "\n" LOAD_W2 "\n"},
    {MATRIX, GROUP, weights},
    {LOAD, BLOCK, numbers},
    {LOAD, BLOCK, tokens},
    {LOAD, BLOCK, which_numbers},
    {LOAD, BLOCK, LOAD_NUMBERS " ^s0\n" LOAD_X " ?s0>=1 ^s1\n"},
    {STORE, BLOCK, numbers},
    {STORE, BLOCK, TAKE " ?s0>=1 ^s5\n"},
    {MATRIX, BLOCK, tokens},
    {MATRIX, BLOCK, TURN " ?s1>=1 ^s2\n"},
    {ACTIVATION, BLOCK, COPY " ?s2>=1 ^s3\n"},
    {MATRIX, BLOCK, "    ldw  w1b+r10[F*2]\n" FIRST " ?s3>=1 ^s2\n"},
    {ACTIVATION, BLOCK, RELU " ?s2>=2 ^s3\n"},
    {MATRIX, BLOCK, "    ldw  hb[T*2] ?s3>=2\n" SECOND " ^s2\n"},
    {VECTOR, BLOCK, "    wait ?s5>=1\n" ADD " ?s2>=3 ^s4\n"},
    {STORE, BLOCK, PUT " ?s4>=1\n"},
    {LOAD, BLOCK, next_block},
    {MATRIX, BLOCK, next_block},
    {STORE, BLOCK, next_block}};
enum { NSTEPS = sizeof steps / sizeof *steps };

/* By hand: channels count blocks, s10 loads of weights. r12 is the number of
 * blocks so far, r11 one more, r14 the loads of weights up to the last group,
 * r15 blocks so far less buffers, r16 those before the last group. Rows of y
 * that are put back tell that all buffers of their block are free; tokens that
 * have come tell that the weights in front of them have.
 *
 *   s0 numbers   s4 first product    s8 sum
 *   s1 tokens    s5 relu             s9 rows put back
 *   s2 turned    s6 second product   s10 weights
 *   s3 copied    s7 rows taken
 */
static const char this_block[] = "    mov  r11, 1\n";
static const char next_this[] = "    add  r11, r11, 1\n";

static const struct nsr_gen_step manual[] = {
    {LOAD, NSR_GEN_START, count_blocks},
    {LOAD, NSR_GEN_START, this_block},
    {LOAD, NSR_GEN_START,
     "    mov  r15, 1-M\n"
     "    mov  r16, 0\n"
     "    mov  r14, -2\n"},
    {MATRIX, NSR_GEN_START, count_blocks},
    {MATRIX, NSR_GEN_START, this_block},
    {STORE, NSR_GEN_START, count_blocks},
    {STORE, NSR_GEN_START, this_block},
    {VECTOR, NSR_GEN_START, this_block},
    {ACTIVATION, NSR_GEN_START, this_block},
    {LOAD, GROUP, weights},
    {LOAD, GROUP, which_expert},
    {LOAD, GROUP,
     "    wait ?s10>=r14\n" LOAD_W1 " ?s6>=r16 ^s10\n" LOAD_W2 " ^s10\n"
     "    add  r14, r14, 2\n"
     "    mov  r16, r12\n"},
    {MATRIX, GROUP, weights},
    {LOAD, BLOCK, numbers},
    {LOAD, BLOCK, tokens},
    {LOAD, BLOCK, which_numbers},
    {LOAD, BLOCK, LOAD_NUMBERS " ?s9>=r15 ^s0\n" LOAD_X " ?s0>=r11 ^s1\n"},
    {STORE, BLOCK, numbers},
    {STORE, BLOCK, "    wait ?s0>=r11\n" TAKE " ?s9>=r12 ^s7\n"},
    {MATRIX, BLOCK, tokens},
    {MATRIX, BLOCK, TURN " ?s1>=r11 ^s2\n"},
    {ACTIVATION, BLOCK, COPY " ?s2>=r11 ^s3\n"},
    {MATRIX, BLOCK, "    ldw  w1b+r10[F*2]\n" FIRST " ?s3>=r11 ^s4\n"},
    {ACTIVATION, BLOCK, RELU " ?s4>=r11 ^s5\n"},
    {MATRIX, BLOCK, "    ldw  hb[T*2] ?s5>=r11\n" SECOND " ?s8>=r12 ^s6\n"},
    {VECTOR, BLOCK, "    wait ?s7>=r11\n" ADD " ?s6>=r11 ^s8\n"},
    {STORE, BLOCK, PUT " ?s8>=r11 ^s9\n"},
    {LOAD, BLOCK, next_block},
    {LOAD, BLOCK, next_this},
    {LOAD, BLOCK, "    add  r15, r15, 1\n"},
    {MATRIX, BLOCK, next_block},
    {MATRIX, BLOCK, next_this},
    {STORE, BLOCK, next_block},
    {STORE, BLOCK, next_this},
    {VECTOR, BLOCK, next_this},
    {ACTIVATION, BLOCK, next_this}};
enum { NMANUAL = sizeof manual / sizeof *manual };

/* ---- tensors */

static int64_t groups(const int64_t *v) {
  return v[MAX] > v[GROUPS] ? v[MAX] : v[GROUPS];
}

static int64_t up(int64_t at) { return (at + 63) / 64 * 64; }

/* Tokens of each block: T in a row, from somewhere. */
static void block_tokens(const int64_t *v, int64_t at, struct nsr_strbuf *out) {
  int64_t n = groups(v) * v[BLOCKS];
  nsr_strbuf_printf(out,
                    ".tensor idx dram i32 [%" PRId64 ", T] at %" PRId64
                    " input range 0 (N-1) words ",
                    n, at);
  for (int64_t i = 0; i < n; i++)
    for (int64_t t = 0; t < v[TILE]; t++)
      nsr_strbuf_printf(out, "%s%" PRId64, i + t ? ", " : "",
                        (i * (v[TILE] / 2 + 1) + v[SEED] + t) % v[TOKENS]);
  nsr_strbuf_puts(out, "\n");
}

static void tensors(const int64_t *v, struct nsr_strbuf *out) {
  int64_t top = groups(v), at = up(64 + 8 * top);
  uint64_t seed = 8 * (uint64_t)v[SEED] + 1;
  nsr_strbuf_printf(out,
                    ".tensor groups dram i32 [1] at 0 input range 0 %" PRId64
                    " words %" PRId64 "\n",
                    top, v[GROUPS]);
  nsr_gen_table(out, "expert", 64, top, seed, v[EXPERTS] - 1);
  nsr_gen_table(out, "blocks", 64 + 4 * top, top, seed + 1, v[BLOCKS]);
  block_tokens(v, at, out);
  at = up(at + 4 * top * v[BLOCKS] * v[TILE]);
  at = nsr_gen_rows(out, "x", at, v[TOKENS], v[DIM], seed + 2);
  at = nsr_gen_rows(out, "w1", at, v[EXPERTS] * v[DIM], v[HIDDEN], seed + 3);
  at = nsr_gen_rows(out, "w2", at, v[EXPERTS] * v[HIDDEN], v[DIM], seed + 4);
  nsr_strbuf_printf(out, ".tensor y dram f32 [N, D] at %" PRId64 " output", at);
  nsr_gen_random_f32(out, seed + 5, (uint64_t)(v[TOKENS] * v[DIM]));
  nsr_strbuf_puts(out,
                  "\n.tensor w1b sbuf bf16 [D, 2*F] at 0:D, 0 scratch\n"
                  ".tensor w2b sbuf bf16 [F, 2*D] at 0:F, 4*F scratch\n"
                  ".tensor xb sbuf bf16 [T, M*D] at 0:T, 4*F+4*D scratch\n"
                  ".const B 4*F+4*D+2*M*D\n"
                  ".tensor xtb sbuf bf16 [D, T] at 0:D, B scratch\n"
                  ".tensor hb sbuf bf16 [F, T] at 0:F, B+2*T scratch\n"
                  ".tensor ib sbuf i32 [1, M*T] at 0:1, B+4*T scratch\n"
                  ".tensor yo sbuf f32 [T, D] at 0:T, B+4*T+4*M*T scratch\n"
                  ".tensor yn sbuf f32 [T, D] at 0:T, B+4*T+4*M*T+4*D scratch\n"
                  ".tensor xt psum bf16 [D, T] at 0:D, 0 scratch\n"
                  ".tensor ht psum f32 [F, T] at 0:F, 2*T scratch\n"
                  ".tensor yp psum f32 [T, D] at 0:T, 6*T scratch\n");
}

static int64_t sbuf_bytes(const int64_t *v) {
  return 4 * v[HIDDEN] + 12 * v[DIM] + 4 * v[TILE] +
         v[BUFFERS] * (2 * v[DIM] + 4 * v[TILE]);
}

static enum nsr_status check(struct nsr_ctx *ctx, const struct nsr_isa *isa,
                             const int64_t *v) {
  struct nsr_gen_reach reach = nsr_gen_reach(isa);
  int64_t psum = 6 * v[TILE] + 4 * v[DIM];
  int64_t bytes = 64 * 8 + groups(v) * (8 + 4 * v[BLOCKS] * v[TILE]) +
                  4 * v[EXPERTS] * v[DIM] * v[HIDDEN] + 6 * v[TOKENS] * v[DIM];
  if (v[TOKENS] < v[TILE])
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "%" PRId64 " tokens do not fill a block of %" PRId64,
                    v[TOKENS], v[TILE]);
  if (sbuf_bytes(v) > isa->sbuf_bytes || psum > isa->psum_bytes)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "%" PRId64 " buffers of %" PRId64 " tokens need %" PRId64
                    " bytes of SBUF and %" PRId64
                    " of PSUM, which have %" PRIu32 " and %" PRIu32,
                    v[BUFFERS], v[TILE], sbuf_bytes(v), psum, isa->sbuf_bytes,
                    isa->psum_bytes);
  if (bytes > INT32_MAX || bytes > reach.offset || 4 * v[DIM] > reach.step)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "%" PRId64 " bytes in memory are beyond what offsets and "
                    "steps can say",
                    bytes);
  return NSR_OK;
}

static enum nsr_status make(struct nsr_ctx *ctx,
                            const struct nsr_gen_request *request,
                            struct nsr_strbuf *out) {
  const struct nsr_isa *isa = request->isa;
  const int64_t *v = request->v;
  int engines[NROLES];
  NSR_TRY(nsr_gen_engines(ctx, isa, "moe", "ld mov add mul rem br sync halt",
                          roles, NROLES, engines));
  NSR_TRY(check(ctx, isa, v));
  nsr_strbuf_printf(out,
                    "; moe: blocks of tokens, each through an expert\n"
                    ".isa %s\n"
                    ".kernel \"moe\"\n"
                    ".const N %" PRId64 "\n.const T %" PRId64
                    "\n.const D %" PRId64 "\n.const F %" PRId64
                    "\n.const M %" PRId64 "\n.queue q0 %s\n.queue q1 %s\n",
                    isa->name, v[TOKENS], v[TILE], v[DIM], v[HIDDEN],
                    v[BUFFERS], isa->engines[engines[LOAD]],
                    isa->engines[engines[STORE]]);
  tensors(v, out);
  nsr_gen_streams(out, isa, &nest, request->manual ? manual : steps,
                  request->manual ? NMANUAL : NSTEPS, engines, request->manual);
  return NSR_OK;
}

const struct nsr_gen_kernel nsr_gen_moe = {
    .name = "moe",
    .about = "tokens by index through experts that memory names, added up",
    .manual = true,
    .nparams = 10,
    .params = {[GROUPS] = {"groups", 3, 8, 0, 1 << 12, NSR_GEN_PLAIN},
               [BLOCKS] = {"blocks", 3, 4, 1, 1 << 10, NSR_GEN_PLAIN},
               [TOKENS] = {"tokens", 7, 1024, 1, 4095, NSR_GEN_PLAIN},
               [TILE] = {"tile", 3, 128, 1, 0, NSR_GEN_PARTITIONS},
               [DIM] = {"dim", 4, 128, 1, 0, NSR_GEN_PARTITIONS},
               [HIDDEN] = {"hidden", 5, 128, 1, 0, NSR_GEN_PARTITIONS},
               [EXPERTS] = {"experts", 3, 8, 1, 1 << 10, NSR_GEN_PLAIN},
               [BUFFERS] = {"buffers", 2, 3, 1, 8, NSR_GEN_PLAIN},
               [MAX] = {"max", 6, 16, 1, 1 << 12, NSR_GEN_PLAIN},
               [SEED] = {"seed", 1, 1, 0, 65535, NSR_GEN_PLAIN}},
    .make = make};
