/* matmul.c - C = A * B in tiles, in three loops.
 *
 * The left operand is stored transposed, K x M, as the matrix engine takes it:
 * a tile of it (TK x TM) is stationary, a tile of B (TK x TN) moves past it.
 * The loops run over rows m of C, columns n of C and depth k, U tiles of depth
 * an iteration. How often, m is loaded from memory by every engine, n and k
 * too with loaded=1. Tiles rotate: of A and B among `buffers` by the number of
 * k-iterations so far, sums among `banks` of PSUM.
 *
 *   s0  q0  loads of A (sp)       s2  pe   products
 *   s1  q1  loads of B (pool)     s3  act  copies out of PSUM
 *           q2  stores (act)
 *
 * Sums stay in PSUM over all of k: dve zeroes them in front of the k loop,
 * all products add, act copies them out behind it. With blocked=1 they stay
 * there for one iteration of k, and dve adds them to others in SBUF.
 */
#include <inttypes.h>

#include "gen/suite.h"

enum {
  MT,
  NT,
  KT,
  ROWS,
  COLS,
  DEPTH,
  INNER,
  BUFFERS,
  BANKS,
  LOADED,
  BLOCKED,
  MAX,
  SEED
};

/* What an engine does beside counting: a line or more each, or NULL. */
struct work {
  const char *engine;
  const char *start;   /* in front of everything */
  const char *m_begin; /* of an iteration */
  const char *n_begin;
  const char *k_begin;
  const char *k_tile; /* once for each of the U tiles, u from 0 .. */
  bool but_first;     /* .. for all but the first */
  const char *k_end;
  const char *n_end;
  const char *m_end;
};

/* r7 counts iterations of k, r12 those of n, and r13 is the bank of the
 * latter, r14 its place in ct, r8 and r9 are those of A and B. */
#define NEXT_K "    add  r7, r7, 1\n"
#define NEXT_N "    add  r12, r12, 1\n"
#define COUNT_K "    mov  r7, 0\n"
#define COUNT_N "    mov  r12, 0\n"
#define BANK_OF(count)                                                         \
  "    rem  r13, " count ", BANKS\n"                                           \
  "    mul  r13, r13, TN*4              ; the bank of the sums\n"
#define SUMS_OF_N                                                              \
  "    rem  r14, r12, BANKS\n"                                                 \
  "    mul  r14, r14, TN*4              ; where they go in SBUF\n"
#define A_TILE                                                                 \
  "    rem  r8, r7, BUFFERS\n"                                                 \
  "    mul  r8, r8, U*TM*2\n"
#define B_TILE                                                                 \
  "    rem  r9, r7, BUFFERS\n"                                                 \
  "    mul  r9, r9, U*TN*2\n"

static const struct work load_a = {
    .engine = "sp",
    .start = COUNT_K "    mov  r15, 0                      ; column of A\n",
    .n_begin = "    mov  r16, r15\n",
    .k_begin = A_TILE,
    .k_tile = "    dma  q0, ta+r8+u*TM*2[TM*2], a+r16{TK*(2*M)}[TM*2] ^s0\n"
              "    add  r16, r16, TK*M*2\n",
    .k_end = NEXT_K,
    .m_end = "    add  r15, r15, TM*2\n"};

static const struct work load_b = {
    .engine = "pool",
    .start = COUNT_K,
    .m_begin = "    mov  r15, 0                      ; column of B\n",
    .n_begin = "    mov  r16, r15\n",
    .k_begin = B_TILE,
    .k_tile = "    dma  q1, tb+r9+u*TN*2[TN*2], b+r16{TK*(2*N)}[TN*2] ^s1\n"
              "    add  r16, r16, TK*N*2\n",
    .k_end = NEXT_K,
    .n_end = "    add  r15, r15, TN*2\n"};

static const struct work multiply = {
    .engine = "pe",
    .start = COUNT_K COUNT_N,
    .n_begin = BANK_OF("r12"),
    .k_begin = A_TILE B_TILE,
    .k_tile = "    ldw  ta+r8+u*TM*2[TM*2] ?s0>=u+1\n"
              "    mm   p+r13[TN*4] !acc, tb+r9+u*TN*2[TN*2] ?s1>=u+1 ^s2\n",
    .k_end = NEXT_K,
    .n_end = NEXT_N};

static const struct work zero = {
    .engine = "dve",
    .start = COUNT_N,
    .n_begin = BANK_OF("r12") "    memset p+r13[TN*4] value=0\n",
    .n_end = NEXT_N};

#define NEXT_COLS "    add  r16, r16, TN*4\n"
#define NEXT_ROWS "    add  r15, r15, TM*N*4\n"

static const struct work copy_out = {
    .engine = "act",
    .start = COUNT_N "    mov  r15, 0                      ; row of C\n",
    .m_begin = "    mov  r16, r15\n",
    .n_begin = BANK_OF("r12") SUMS_OF_N,
    .n_end =
        "    copy ct+r14[TN*4], p+r13[TN*4] ^s3\n"
        "    dma  q2, c+r16{TM*(4*N)}[TN*4], ct+r14[TN*4] ?s3>=1\n" NEXT_COLS
            NEXT_N,
    .m_end = NEXT_ROWS};

/* ---- blocked */

static const struct work multiply_block = {
    .engine = "pe",
    .start = COUNT_K,
    .k_begin = A_TILE B_TILE BANK_OF(
        "r7") "    ldw  ta+r8[TM*2] ?s0>=1\n"
              "    mm   p+r13[TN*4], tb+r9[TN*2] ?s1>=1 ^s2\n",
    .k_tile =
        "    ldw  ta+r8+(u+1)*TM*2[TM*2] ?s0>=u+2\n"
        "    mm   p+r13[TN*4] !acc, tb+r9+(u+1)*TN*2[TN*2] ?s1>=u+2 ^s2\n",
    .but_first = true,
    .k_end = NEXT_K};

static const struct work add_block = {
    .engine = "dve",
    .start = COUNT_K COUNT_N,
    .n_begin = SUMS_OF_N "    memset ct+r14[TN*4] value=0\n",
    .k_begin = BANK_OF("r7"),
    .k_end = "    tt   ct+r14[TN*4], ct+r14[TN*4], p+r13[TN*4] op=add "
             "?s2>=U\n" NEXT_K,
    .n_end = NEXT_N};

static const struct work store = {
    .engine = "act",
    .start = COUNT_N "    mov  r15, 0                      ; row of C\n",
    .m_begin = "    mov  r16, r15\n",
    .n_begin = SUMS_OF_N,
    .n_end =
        "    dma  q2, c+r16{TM*(4*N)}[TN*4], ct+r14[TN*4]\n" NEXT_COLS NEXT_N,
    .m_end = NEXT_ROWS};

/* ---- text */

struct trips { /* what n and k are compared with */
  const char *n, *k;
};

static void puts_or_not(struct nsr_strbuf *out, const char *text) {
  if (text)
    nsr_strbuf_puts(out, text);
}

static void k_loop(struct nsr_strbuf *out, const struct work *w,
                   const struct trips *t) {
  nsr_strbuf_printf(out, "kloop:\n    br.ge r6, %s, kdone\n", t->k);
  puts_or_not(out, w->k_begin);
  if (w->k_tile)
    nsr_strbuf_printf(out, ".repeat U%s, u\n%s.end\n", w->but_first ? "-1" : "",
                      w->k_tile);
  puts_or_not(out, w->k_end);
  nsr_strbuf_puts(out, "    add  r6, r6, 1\n"
                       "    sync\n"
                       "    br   kloop\n"
                       "kdone:\n");
}

static void stream(struct nsr_strbuf *out, const struct work *w, bool loaded,
                   const struct trips *t) {
  nsr_strbuf_printf(out, "\n.engine %s\n    ld   r1, mt\n", w->engine);
  if (loaded)
    nsr_strbuf_puts(out, "    ld   r3, nt\n    ld   r5, kt\n");
  puts_or_not(out, w->start);
  nsr_strbuf_puts(out, "    mov  r2, 0\n    sync\n"
                       "mloop:\n    br.ge r2, r1, mdone\n");
  puts_or_not(out, w->m_begin);
  nsr_strbuf_printf(out,
                    "    mov  r4, 0\n    sync\n"
                    "nloop:\n    br.ge r4, %s, ndone\n",
                    t->n);
  puts_or_not(out, w->n_begin);
  nsr_strbuf_puts(out, "    mov  r6, 0\n    sync\n");
  k_loop(out, w, t);
  puts_or_not(out, w->n_end);
  nsr_strbuf_puts(out, "    add  r4, r4, 1\n    sync\n    br   nloop\n"
                       "ndone:\n");
  puts_or_not(out, w->m_end);
  nsr_strbuf_puts(out, "    add  r2, r2, 1\n    sync\n    br   mloop\n"
                       "mdone:\n    sync\n    halt\n");
}

/* ---- tensors */

struct sizes {
  int64_t top; /* trips that tensors have room for, where they are loaded */
  int64_t m, n, k;
};

static int64_t at_least(int64_t a, int64_t b) { return a > b ? a : b; }

static struct sizes sizes_of(const int64_t *v) {
  struct sizes s = {.top = at_least(v[MAX], v[MT])};
  if (v[LOADED])
    s.top = at_least(s.top, at_least(v[NT], v[KT]));
  s.m = s.top * v[ROWS];
  s.n = (v[LOADED] ? s.top : at_least(v[NT], 1)) * v[COLS];
  s.k = (v[LOADED] ? s.top : at_least(v[KT], 1)) * v[INNER] * v[DEPTH];
  return s;
}

static void trip_tensor(struct nsr_strbuf *out, const char *name, int at,
                        int64_t top, int64_t trips) {
  nsr_strbuf_printf(out,
                    ".tensor %s dram i32 [1] at %d input range 0 %" PRId64
                    " words %" PRId64 "\n",
                    name, at, top, trips);
}

static void tensors(struct nsr_strbuf *out, const int64_t *v,
                    const struct sizes *s) {
  uint64_t seed = (uint64_t)v[SEED];
  trip_tensor(out, "mt", 0, s->top, v[MT]);
  if (v[LOADED]) {
    trip_tensor(out, "nt", 4, s->top, v[NT]);
    trip_tensor(out, "kt", 8, s->top, v[KT]);
  }
  nsr_strbuf_puts(out, ".tensor a dram bf16 [K, M] at 64 input");
  nsr_gen_random_bf16(out, seed, (uint64_t)(s->k * s->m));
  nsr_strbuf_puts(out, "\n.tensor b dram bf16 [K, N] at 64+2*K*M input");
  nsr_gen_random_bf16(out, seed + 1, (uint64_t)(s->k * s->n));
  nsr_strbuf_puts(
      out, "\n.tensor c dram f32 [M, N] at 64+2*K*M+2*K*N output\n"
           ".tensor ta sbuf bf16 [TK, BUFFERS*U*TM] at 0:TK, 0 scratch\n"
           ".tensor tb sbuf bf16 [TK, BUFFERS*U*TN] at 0:TK, TB scratch\n"
           ".tensor ct sbuf f32 [TM, BANKS*TN] at 0:TM, CT scratch\n"
           ".tensor p psum f32 [TM, BANKS*TN] at 0:TM, 0 scratch\n");
}

static enum nsr_status check(struct nsr_ctx *ctx, const int64_t *v,
                             const struct sizes *s) {
  enum { SBUF = 196608, PSUM = 16384, MAX_STEP = 8388607 };
  int64_t sbuf = v[BUFFERS] * v[INNER] * 2 * (v[ROWS] + v[COLS]) + 4 +
                 v[BANKS] * v[COLS] * 4;
  if (sbuf > SBUF)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "tiles need %" PRId64
                    " bytes of a partition of SBUF, which has %d",
                    sbuf, SBUF);
  if (v[BANKS] * v[COLS] * 4 > PSUM)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "%" PRId64 " sums of %" PRId64 " columns need %" PRId64
                    " bytes of a partition of PSUM, which has %d",
                    v[BANKS], v[COLS], v[BANKS] * v[COLS] * 4, PSUM);
  int64_t widest = at_least(s->m, 2 * s->n);
  int64_t most = at_least(at_least(s->k * s->m, s->k * s->n), 2 * s->m * s->n);
  if (2 * widest > MAX_STEP || 2 * most > INT32_MAX)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "matrices of %" PRId64 " x %" PRId64 " x %" PRId64
                    " are beyond what steps and offsets can say",
                    s->m, s->n, s->k);
  return NSR_OK;
}

static enum nsr_status make(struct nsr_ctx *ctx, const int64_t *v,
                            struct nsr_strbuf *out) {
  static const struct work *const sums_in_psum[] = {&multiply, &copy_out, &zero,
                                                    &load_b, &load_a};
  static const struct work *const sums_in_sbuf[] = {
      &multiply_block, &store, &add_block, &load_b, &load_a};
  const struct work *const *works = v[BLOCKED] ? sums_in_sbuf : sums_in_psum;
  const struct sizes s = sizes_of(v);
  const struct trips t = {v[LOADED] ? "r3" : "NT", v[LOADED] ? "r5" : "KT"};
  NSR_TRY(check(ctx, v, &s));
  nsr_strbuf_printf(out,
                    "; matmul: c = a transposed * b, in tiles\n"
                    ".isa tile64\n"
                    ".kernel \"matmul\"\n"
                    ".const M %" PRId64 "\n.const N %" PRId64
                    "\n.const K %" PRId64 "\n.const NT %" PRId64
                    "\n.const KT %" PRId64 "\n",
                    s.m, s.n, s.k, v[NT], v[KT]);
  nsr_strbuf_printf(out,
                    ".const TM %" PRId64 "\n.const TN %" PRId64
                    "\n.const TK %" PRId64 "\n.const U %" PRId64
                    "\n.const BUFFERS %" PRId64 "\n.const BANKS %" PRId64
                    "\n.const TB 2*BUFFERS*U*TM\n"
                    ".const CT (TB+2*BUFFERS*U*TN+3)/4*4\n"
                    ".queue q0 sp\n.queue q1 pool\n.queue q2 act\n",
                    v[ROWS], v[COLS], v[DEPTH], v[INNER], v[BUFFERS], v[BANKS]);
  tensors(out, v, &s);
  for (int i = 0; i < 5; i++)
    stream(out, works[i], v[LOADED], &t);
  return NSR_OK;
}

const struct nsr_gen_kernel nsr_gen_matmul = {
    "matmul",
    "three loops, sums in PSUM over the innermost (blocked=1: in SBUF)",
    13,
    {[MT] = {"m", 2, 4, 0, 1 << 16},
     [NT] = {"n", 2, 4, 0, 1 << 16},
     [KT] = {"k", 2, 4, 0, 1 << 16},
     [ROWS] = {"rows", 4, 128, 1, 128},
     [COLS] = {"cols", 8, 512, 1, 4096},
     [DEPTH] = {"depth", 4, 128, 1, 128},
     [INNER] = {"inner", 2, 2, 1, 16},
     [BUFFERS] = {"buffers", 2, 2, 1, 8},
     [BANKS] = {"banks", 2, 2, 1, 8},
     [LOADED] = {"loaded", 0, 0, 0, 1},
     [BLOCKED] = {"blocked", 0, 0, 0, 1},
     [MAX] = {"max", 4, 4, 4, 1 << 16},
     [SEED] = {"seed", 1, 1, 0, 65535}},
    make};
