/* matmul.c - C = A * B in tiles, in three loops.
 *
 * The left operand is stored transposed, K x M, as the matrix engine takes it:
 * a tile of it (TK x TM) is stationary, a tile of B (TK x TN) moves past it.
 * The loops run over rows m of C, columns n of C and depth k, U tiles of depth
 * an iteration. How often, m is loaded from memory by every engine, n and k
 * too with loaded=1. Tiles rotate: of A and B among `buffers` by the number of
 * k-iterations so far, sums among `banks` of PSUM.
 *
 *   s0  q0  loads of A      s2  matrix engine  products
 *   s1  q1  loads of B      s3  activation     copies out of PSUM
 *           q2  stores
 *
 * Sums stay in PSUM over all of k: the vector engine zeroes them in front of
 * the k loop, all products add, activation copies them out behind it. With
 * blocked=1 they stay there for one iteration of k, and the vector engine adds
 * them to others in SBUF.
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

/* Where a work has lines, of m, n and k: in front of everything, at the begin
 * and the end of an iteration, and for each of the U tiles, u from 0. */
enum place {
  START,
  M_BEGIN,
  N_BEGIN,
  K_BEGIN,
  K_TILE,
  K_END,
  N_END,
  M_END,
  NPLACES
};

/* What a role does; lines or NULL. An engine with several of them does them in
 * the order of their roles. */
struct work {
  struct nsr_gen_role role;
  bool counts_n, counts_k; /* iterations */
  bool but_first;          /* K_TILE for all tiles but the first */
  const char *at[NPLACES];
};

/* r7 counts iterations of k, r12 those of n, and r13 is the bank of the
 * latter, r14 its place in ct, r8 and r9 are those of A and B. r15 and r16
 * walk over A, r17 and r18 over B, r19 and r20 over C. */
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
    .role = {"dma", NULL},
    .counts_k = true,
    .at[START] = "    mov  r15, 0                      ; column of A\n",
    .at[N_BEGIN] = "    mov  r16, r15\n",
    .at[K_BEGIN] = A_TILE,
    .at[K_TILE] = "    dma  q0, ta+r8+u*TM*2[TM*2], a+r16{TK*(2*M)}[TM*2] ^s0\n"
                  "    add  r16, r16, TK*M*2\n",
    .at[M_END] = "    add  r15, r15, TM*2\n"};

static const struct work load_b = {
    .role = {"dma", "iota"},
    .counts_k = true,
    .at[M_BEGIN] = "    mov  r17, 0                      ; column of B\n",
    .at[N_BEGIN] = "    mov  r18, r17\n",
    .at[K_BEGIN] = B_TILE,
    .at[K_TILE] = "    dma  q1, tb+r9+u*TN*2[TN*2], b+r18{TK*(2*N)}[TN*2] ^s1\n"
                  "    add  r18, r18, TK*N*2\n",
    .at[N_END] = "    add  r17, r17, TN*2\n"};

static const struct work multiply = {
    .role = {"ldw mm", NULL},
    .counts_n = true,
    .counts_k = true,
    .at[N_BEGIN] = BANK_OF("r12"),
    .at[K_BEGIN] = A_TILE B_TILE,
    .at[K_TILE] =
        "    ldw  ta+r8+u*TM*2[TM*2] ?s0>=u+1\n"
        "    mm   p+r13[TN*4] !acc, tb+r9+u*TN*2[TN*2] ?s1>=u+1 ^s2\n"};

static const struct work zero = {
    .role = {"memset", "scan"},
    .counts_n = true,
    .at[N_BEGIN] = BANK_OF("r12") "    memset p+r13[TN*4] value=0\n"};

#define NEXT_COLS "    add  r20, r20, TN*4\n"
#define NEXT_ROWS "    add  r19, r19, TM*N*4\n"

static const struct work copy_out = {
    .role = {"copy dma", "act"},
    .counts_n = true,
    .at[START] = "    mov  r19, 0                      ; row of C\n",
    .at[M_BEGIN] = "    mov  r20, r19\n",
    .at[N_BEGIN] = BANK_OF("r12") SUMS_OF_N,
    .at[N_END] =
        "    copy ct+r14[TN*4], p+r13[TN*4] ^s3\n"
        "    dma  q2, c+r20{TM*(4*N)}[TN*4], ct+r14[TN*4] ?s3>=1\n" NEXT_COLS,
    .at[M_END] = NEXT_ROWS};

/* ---- blocked */

static const struct work multiply_block = {
    .role = {"ldw mm", NULL},
    .counts_k = true,
    .at[K_BEGIN] = A_TILE B_TILE BANK_OF(
        "r7") "    ldw  ta+r8[TM*2] ?s0>=1\n"
              "    mm   p+r13[TN*4], tb+r9[TN*2] ?s1>=1 ^s2\n",
    .at[K_TILE] =
        "    ldw  ta+r8+(u+1)*TM*2[TM*2] ?s0>=u+2\n"
        "    mm   p+r13[TN*4] !acc, tb+r9+(u+1)*TN*2[TN*2] ?s1>=u+2 ^s2\n",
    .but_first = true};

static const struct work add_block = {
    .role = {"memset tt", "scan"},
    .counts_n = true,
    .counts_k = true,
    .at[N_BEGIN] = SUMS_OF_N "    memset ct+r14[TN*4] value=0\n",
    .at[K_BEGIN] = BANK_OF("r7"),
    .at[K_END] = "    tt   ct+r14[TN*4], ct+r14[TN*4], p+r13[TN*4] op=add "
                 "?s2>=U\n"};

static const struct work store = {
    .role = {"dma", "act"},
    .counts_n = true,
    .at[START] = "    mov  r19, 0                      ; row of C\n",
    .at[M_BEGIN] = "    mov  r20, r19\n",
    .at[N_BEGIN] = SUMS_OF_N,
    .at[N_END] = "    dma  q2, c+r20{TM*(4*N)}[TN*4], ct+r14[TN*4]\n" NEXT_COLS,
    .at[M_END] = NEXT_ROWS};

/* ---- text */

struct trips { /* what n and k are compared with */
  const char *n, *k;
};

/* The works of one engine, NULL-terminated. */
enum { LOAD_A, LOAD_B, SUM, MULTIPLY, STORE, NROLES };

struct stream {
  const struct work *works[NROLES + 1];
  bool counts_n, counts_k;
};

static void put(struct nsr_strbuf *out, const struct stream *s,
                enum place place) {
  for (int i = 0; s->works[i]; i++)
    if (s->works[i]->at[place])
      nsr_strbuf_puts(out, s->works[i]->at[place]);
}

static void k_loop(struct nsr_strbuf *out, const struct stream *s,
                   const struct trips *t) {
  nsr_strbuf_printf(out, "kloop:\n    br.ge r6, %s, kdone\n", t->k);
  for (int i = 0; s->works[i]; i++) {
    const struct work *w = s->works[i];
    nsr_strbuf_puts(out, w->at[K_BEGIN] ? w->at[K_BEGIN] : "");
    if (w->at[K_TILE])
      nsr_strbuf_printf(out, ".repeat U%s, u\n%s.end\n",
                        w->but_first ? "-1" : "", w->at[K_TILE]);
    nsr_strbuf_puts(out, w->at[K_END] ? w->at[K_END] : "");
  }
  nsr_strbuf_puts(out, s->counts_k ? NEXT_K : "");
  nsr_strbuf_puts(out, "    add  r6, r6, 1\n"
                       "    sync\n"
                       "    br   kloop\n"
                       "kdone:\n");
}

static void stream(struct nsr_strbuf *out, const char *engine,
                   const struct stream *s, bool loaded, const struct trips *t) {
  nsr_strbuf_printf(out, "\n.engine %s\n    ld   r1, mt\n", engine);
  if (loaded)
    nsr_strbuf_puts(out, "    ld   r3, nt\n    ld   r5, kt\n");
  nsr_strbuf_puts(out, s->counts_k ? COUNT_K : "");
  nsr_strbuf_puts(out, s->counts_n ? COUNT_N : "");
  put(out, s, START);
  nsr_strbuf_puts(out, "    mov  r2, 0\n    sync\n"
                       "mloop:\n    br.ge r2, r1, mdone\n");
  put(out, s, M_BEGIN);
  nsr_strbuf_printf(out,
                    "    mov  r4, 0\n    sync\n"
                    "nloop:\n    br.ge r4, %s, ndone\n",
                    t->n);
  put(out, s, N_BEGIN);
  nsr_strbuf_puts(out, "    mov  r6, 0\n    sync\n");
  k_loop(out, s, t);
  put(out, s, N_END);
  nsr_strbuf_puts(out, s->counts_n ? NEXT_N : "");
  nsr_strbuf_puts(out, "    add  r4, r4, 1\n    sync\n    br   nloop\n"
                       "ndone:\n");
  put(out, s, M_END);
  nsr_strbuf_puts(out, "    add  r2, r2, 1\n    sync\n    br   mloop\n"
                       "mdone:\n    sync\n    halt\n");
}

/* Every engine's stream, with or without works. */
static void streams(struct nsr_strbuf *out, const struct nsr_isa *isa,
                    const struct work *const *works, const int *engines,
                    bool loaded) {
  const struct trips t = {loaded ? "r3" : "NT", loaded ? "r5" : "KT"};
  for (int e = 0; e < isa->nengines; e++) {
    struct stream s = {0};
    int n = 0;
    for (int i = 0; i < NROLES; i++) {
      if (engines[i] != e)
        continue;
      s.works[n++] = works[i];
      s.counts_n |= works[i]->counts_n;
      s.counts_k |= works[i]->counts_k;
    }
    stream(out, isa->engines[e], &s, loaded, &t);
  }
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

static int64_t psum_bytes(const int64_t *v) { return v[BANKS] * v[COLS] * 4; }

static int64_t sbuf_bytes(const int64_t *v) {
  return v[BUFFERS] * v[INNER] * 2 * (v[ROWS] + v[COLS]) + 4 + psum_bytes(v);
}

static void fit(const struct nsr_isa *isa, int64_t *v) {
  while ((psum_bytes(v) > isa->psum_bytes || sbuf_bytes(v) > isa->sbuf_bytes) &&
         v[COLS] > 1)
    v[COLS] /= 2;
}

static enum nsr_status check(struct nsr_ctx *ctx, const struct nsr_isa *isa,
                             const int64_t *v, const struct sizes *s) {
  struct nsr_gen_reach reach = nsr_gen_reach(isa);
  if (sbuf_bytes(v) > isa->sbuf_bytes)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "tiles need %" PRId64
                    " bytes of a partition of SBUF, which has %" PRIu32,
                    sbuf_bytes(v), isa->sbuf_bytes);
  if (psum_bytes(v) > isa->psum_bytes)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "%" PRId64 " sums of %" PRId64 " columns need %" PRId64
                    " bytes of a partition of PSUM, which has %" PRIu32,
                    v[BANKS], v[COLS], psum_bytes(v), isa->psum_bytes);
  int64_t widest = at_least(s->m, 2 * s->n);
  int64_t most = at_least(at_least(s->k * s->m, s->k * s->n), 2 * s->m * s->n);
  int64_t last = 64 + 2 * s->k * (s->m + s->n) + 4 * s->m * s->n;
  if (2 * widest > reach.step || 2 * most > INT32_MAX || last > reach.offset)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "matrices of %" PRId64 " x %" PRId64 " x %" PRId64
                    " are beyond what steps and offsets can say",
                    s->m, s->n, s->k);
  return NSR_OK;
}

static enum nsr_status make(struct nsr_ctx *ctx, const struct nsr_isa *isa,
                            const int64_t *v, struct nsr_strbuf *out) {
  static const struct work *const sums_in_psum[NROLES] = {
      &load_a, &load_b, &zero, &multiply, &copy_out};
  static const struct work *const sums_in_sbuf[NROLES] = {
      &load_a, &load_b, &add_block, &multiply_block, &store};
  const struct work *const *works = v[BLOCKED] ? sums_in_sbuf : sums_in_psum;
  const struct sizes s = sizes_of(v);
  struct nsr_gen_role roles[NROLES];
  int engines[NROLES];
  for (int i = 0; i < NROLES; i++)
    roles[i] = works[i]->role;
  NSR_TRY(nsr_gen_engines(ctx, isa, "matmul", "ld mov add mul rem br sync halt",
                          roles, NROLES, engines));
  NSR_TRY(check(ctx, isa, v, &s));
  nsr_strbuf_printf(out,
                    "; matmul: c = a transposed * b, in tiles\n"
                    ".isa %s\n"
                    ".kernel \"matmul\"\n"
                    ".const M %" PRId64 "\n.const N %" PRId64
                    "\n.const K %" PRId64 "\n.const NT %" PRId64
                    "\n.const KT %" PRId64 "\n",
                    isa->name, s.m, s.n, s.k, v[NT], v[KT]);
  nsr_strbuf_printf(
      out,
      ".const TM %" PRId64 "\n.const TN %" PRId64 "\n.const TK %" PRId64
      "\n.const U %" PRId64 "\n.const BUFFERS %" PRId64
      "\n.const BANKS %" PRId64 "\n.const TB 2*BUFFERS*U*TM\n"
      ".const CT (TB+2*BUFFERS*U*TN+3)/4*4\n"
      ".queue q0 %s\n.queue q1 %s\n.queue q2 %s\n",
      v[ROWS], v[COLS], v[DEPTH], v[INNER], v[BUFFERS], v[BANKS],
      isa->engines[engines[LOAD_A]], isa->engines[engines[LOAD_B]],
      isa->engines[engines[STORE]]);
  tensors(out, v, &s);
  streams(out, isa, works, engines, v[LOADED]);
  return NSR_OK;
}

const struct nsr_gen_kernel nsr_gen_matmul = {
    "matmul",
    "three loops, sums in PSUM over the innermost (blocked=1: in SBUF)",
    13,
    {[MT] = {"m", 2, 4, 0, 1 << 16, NSR_GEN_PLAIN},
     [NT] = {"n", 2, 4, 0, 1 << 16, NSR_GEN_PLAIN},
     [KT] = {"k", 2, 4, 0, 1 << 16, NSR_GEN_PLAIN},
     [ROWS] = {"rows", 4, 128, 1, 0, NSR_GEN_PARTITIONS},
     [COLS] = {"cols", 8, 512, 1, 4096, NSR_GEN_PLAIN},
     [DEPTH] = {"depth", 4, 128, 1, 0, NSR_GEN_PARTITIONS},
     [INNER] = {"inner", 2, 2, 1, 16, NSR_GEN_PLAIN},
     [BUFFERS] = {"buffers", 2, 2, 1, 8, NSR_GEN_PLAIN},
     [BANKS] = {"banks", 2, 2, 1, 8, NSR_GEN_PLAIN},
     [LOADED] = {"loaded", 0, 0, 0, 1, NSR_GEN_PLAIN},
     [BLOCKED] = {"blocked", 0, 0, 0, 1, NSR_GEN_PLAIN},
     [MAX] = {"max", 4, 4, 4, 1 << 16, NSR_GEN_PLAIN},
     [SEED] = {"seed", 1, 1, 0, 65535, NSR_GEN_PLAIN}},
    make,
    fit};
