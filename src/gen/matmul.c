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
#include <assert.h>
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
  PREFETCH,
  MAX,
  SEED
};

/* r7 counts iterations of k, r12 those of n, and r13 is the bank of the
 * latter, r14 its place in ct, r8 and r9 are those of A and B. r15 and r16
 * walk over A, r17 and r18 over B, r19 and r20 over C. */
enum { LOAD_A, LOAD_B, SUM, MULTIPLY, STORE, NROLES };

#define M_BEGIN NSR_GEN_BEGIN(1)
#define M_END NSR_GEN_BEHIND(1)
#define N_BEGIN NSR_GEN_BEGIN(2)
#define N_END NSR_GEN_BEHIND(2)
#define K_BODY NSR_GEN_BEGIN(3)

static const char count_k[] = "    mov  r7, 0\n";
static const char next_k[] = "    add  r7, r7, 1\n";
static const char count_n[] = "    mov  r12, 0\n";
static const char next_n[] = "    add  r12, r12, 1\n";
static const char a_tile[] = "    rem  r8, r7, BUFFERS\n"
                             "    mul  r8, r8, U*TM*2\n";
static const char b_tile[] = "    rem  r9, r7, BUFFERS\n"
                             "    mul  r9, r9, U*TN*2\n";
static const char bank_of_n[] =
    "    rem  r13, r12, BANKS\n"
    "    mul  r13, r13, TN*4              ; the bank of the sums\n";
static const char bank_of_k[] =
    "    rem  r13, r7, BANKS\n"
    "    mul  r13, r13, TN*4              ; the bank of the sums\n";
static const char sums_of_n[] =
    "    rem  r14, r12, BANKS\n"
    "    mul  r14, r14, TN*4              ; where they go in SBUF\n";

static const struct nsr_gen_step loads[] = {
    {LOAD_A, NSR_GEN_START, count_k},
    {LOAD_A, NSR_GEN_START,
     "    mov  r15, 0                      ; column of "
     "A\n"},
    {LOAD_A, N_BEGIN, "    mov  r16, r15\n"},
    {LOAD_A, K_BODY, a_tile},
    {LOAD_A, K_BODY,
     ".repeat U, u\n"
     "    dma  q0, ta+r8+u*TM*2[TM*2], a+r16{TK*(2*M)}[TM*2] ^s0\n"
     "    add  r16, r16, TK*M*2\n"
     ".end\n"},
    {LOAD_A, M_END, "    add  r15, r15, TM*2\n"},
    {LOAD_B, NSR_GEN_START, count_k},
    {LOAD_B, M_BEGIN, "    mov  r17, 0                      ; column of B\n"},
    {LOAD_B, N_BEGIN, "    mov  r18, r17\n"},
    {LOAD_B, K_BODY, b_tile},
    {LOAD_B, K_BODY,
     ".repeat U, u\n"
     "    dma  q1, tb+r9+u*TN*2[TN*2], b+r18{TK*(2*N)}[TN*2] ^s1\n"
     "    add  r18, r18, TK*N*2\n"
     ".end\n"},
    {LOAD_B, N_END, "    add  r17, r17, TN*2\n"}};

/* With prefetch=1 an iteration loads what the next one multiplies, wherever in
 * m, n and k that is; the first tiles are loaded in front of everything. r15,
 * r17 and r18 are the k, n and m of what is loaded; behind the last tile comes
 * one that nobody needs. */
static const char first_tile[] =
    "    mov  r15, 0                      ; k, n and m of the tile\n"
    "    mov  r17, 0\n"
    "    mov  r18, 0\n"
    "    mov  r10, 0\n";
#define NEXT_TILE(ktrips, ntrips)                                              \
  "    add  r15, r15, 1\n"                                                     \
  "    lt   r10, r15, " ktrips "\n"                                            \
  "    mul  r15, r15, r10\n"                                                   \
  "    xor  r10, r10, 1\n"                                                     \
  "    add  r17, r17, r10\n"                                                   \
  "    lt   r10, r17, " ntrips "\n"                                            \
  "    mul  r17, r17, r10\n"                                                   \
  "    xor  r10, r10, 1\n"                                                     \
  "    add  r18, r18, r10\n"                                                   \
  "    min  r18, r18, M/TM-1\n"                                                \
  "    add  r10, r7, 1\n"                                                      \
  "    rem  r10, r10, BUFFERS           ; its place\n"
static const char next_tile[] = NEXT_TILE("KT", "NT");
static const char next_tile_loaded[] = NEXT_TILE("r5", "r3");
#define LOAD_TILE_A                                                            \
  "    mul  r8, r10, U*TM*2\n"                                                 \
  "    mul  r16, r15, U*TK*M*2\n"                                              \
  "    mul  r11, r18, TM*2\n"                                                  \
  "    add  r16, r16, r11               ; where it is in A\n"                  \
  ".repeat U, u\n"                                                             \
  "    dma  q0, ta+r8+u*TM*2[TM*2], a+r16{TK*(2*M)}[TM*2]\n"                   \
  "    add  r16, r16, TK*M*2\n"                                                \
  ".end\n"
#define LOAD_TILE_B                                                            \
  "    mul  r9, r10, U*TN*2\n"                                                 \
  "    mul  r16, r15, U*TK*N*2\n"                                              \
  "    mul  r11, r17, TN*2\n"                                                  \
  "    add  r16, r16, r11               ; where it is in B\n"                  \
  ".repeat U, u\n"                                                             \
  "    dma  q1, tb+r9+u*TN*2[TN*2], b+r16{TK*(2*N)}[TN*2]\n"                   \
  "    add  r16, r16, TK*N*2\n"                                                \
  ".end\n"

static const struct nsr_gen_step first_loads[] = {
    {LOAD_A, NSR_GEN_START, count_k},     {LOAD_A, NSR_GEN_START, first_tile},
    {LOAD_A, NSR_GEN_START, LOAD_TILE_A}, {LOAD_B, NSR_GEN_START, count_k},
    {LOAD_B, NSR_GEN_START, first_tile},  {LOAD_B, NSR_GEN_START, LOAD_TILE_B}};

static const struct nsr_gen_step next_loads[] = {{LOAD_A, K_BODY, LOAD_TILE_A},
                                                 {LOAD_B, K_BODY, LOAD_TILE_B}};

/* ---- sums in PSUM */

#define MULTIPLY_TILES(wait_a, wait_b)                                         \
  ".repeat U, u\n"                                                             \
  "    ldw  ta+r8+u*TM*2[TM*2]" wait_a "\n"                                    \
  "    mm   p+r13[TN*4] !acc, tb+r9+u*TN*2[TN*2]" wait_b " ^s2\n"              \
  ".end\n"

static const char products[] = MULTIPLY_TILES(" ?s0>=u+1", " ?s1>=u+1");
static const char products_prefetched[] = MULTIPLY_TILES("", "");

static const struct nsr_gen_step in_psum[] = {
    {SUM, NSR_GEN_START, count_n},
    {SUM, N_BEGIN, bank_of_n},
    {SUM, N_BEGIN, "    memset p+r13[TN*4] value=0\n"},
    {MULTIPLY, NSR_GEN_START, count_k},
    {MULTIPLY, NSR_GEN_START, count_n},
    {MULTIPLY, N_BEGIN, bank_of_n},
    {MULTIPLY, K_BODY, a_tile},
    {MULTIPLY, K_BODY, b_tile}};

static const struct nsr_gen_step store_start[] = {
    {STORE, NSR_GEN_START, count_n},
    {STORE, NSR_GEN_START, "    mov  r19, 0                      ; row of C\n"},
    {STORE, M_BEGIN, "    mov  r20, r19\n"},
    {STORE, M_END, "    add  r19, r19, TM*N*4\n"}};

static const struct nsr_gen_step out_of_psum[] = {
    {STORE, N_BEGIN, bank_of_n},
    {STORE, N_BEGIN, sums_of_n},
    {STORE, N_END,
     "    copy ct+r14[TN*4], p+r13[TN*4] ^s3\n"
     "    dma  q2, c+r20{TM*(4*N)}[TN*4], ct+r14[TN*4] ?s3>=1\n"
     "    add  r20, r20, TN*4\n"}};

/* ---- sums in SBUF */

#define MULTIPLY_BLOCK(wait_a, wait_b, wait_more_a, wait_more_b)               \
  "    ldw  ta+r8[TM*2]" wait_a "\n"                                           \
  "    mm   p+r13[TN*4], tb+r9[TN*2]" wait_b " ^s2\n"                          \
  ".repeat U-1, u\n"                                                           \
  "    ldw  ta+r8+(u+1)*TM*2[TM*2]" wait_more_a "\n"                           \
  "    mm   p+r13[TN*4] !acc, tb+r9+(u+1)*TN*2[TN*2]" wait_more_b " ^s2\n"     \
  ".end\n"

static const char block[] =
    MULTIPLY_BLOCK(" ?s0>=1", " ?s1>=1", " ?s0>=u+2", " ?s1>=u+2");
static const char block_prefetched[] = MULTIPLY_BLOCK("", "", "", "");

static const struct nsr_gen_step in_sbuf[] = {
    {SUM, NSR_GEN_START, count_k},
    {SUM, NSR_GEN_START, count_n},
    {SUM, N_BEGIN, sums_of_n},
    {SUM, N_BEGIN, "    memset ct+r14[TN*4] value=0\n"},
    {SUM, K_BODY, bank_of_k},
    {SUM, K_BODY,
     "    tt   ct+r14[TN*4], ct+r14[TN*4], p+r13[TN*4] op=add ?s2>=U\n"},
    {MULTIPLY, NSR_GEN_START, count_k},
    {MULTIPLY, K_BODY, a_tile},
    {MULTIPLY, K_BODY, b_tile},
    {MULTIPLY, K_BODY, bank_of_k}};

static const struct nsr_gen_step out_of_sbuf[] = {
    {STORE, N_BEGIN, sums_of_n},
    {STORE, N_END,
     "    dma  q2, c+r20{TM*(4*N)}[TN*4], ct+r14[TN*4]\n"
     "    add  r20, r20, TN*4\n"}};

/* ---- by hand */

/* r10 and r11 count tiles: what a load's place was last used for, and the next
 * product. r21 counts iterations of n from 1, r22 is that of the one that had
 * the bank before (of k for products of blocks), r23 and r8 sum up what has to
 * be done by now. Loads run ahead by themselves, whatever prefetch says.
 *
 *   s0 s1  tiles of A, of B   s3  copies out   s5  zeroed
 *   s2     products           s4  stores       s6  blocks added
 */
static const char load_first[] = "    mov  r10, 1-BUFFERS*U\n";
static const char product_first[] = "    mov  r11, 1\n";
static const char n_first[] = "    mov  r21, 1\n";
static const char n_next[] = "    add  r21, r21, 1\n";
static const char bank_first[] = "    mov  r22, 1-BANKS\n";
static const char bank_next[] = "    add  r22, r22, 1\n";

static const struct nsr_gen_step manual_loads[] = {
    {LOAD_A, NSR_GEN_START, count_k},
    {LOAD_A, NSR_GEN_START, load_first},
    {LOAD_A, NSR_GEN_START,
     "    mov  r15, 0                      ; column of "
     "A\n"},
    {LOAD_A, N_BEGIN, "    mov  r16, r15\n"},
    {LOAD_A, K_BODY, a_tile},
    {LOAD_A, K_BODY,
     ".repeat U, u\n"
     "    dma  q0, ta+r8+u*TM*2[TM*2], a+r16{TK*(2*M)}[TM*2] ?s2>=r10 ^s0\n"
     "    add  r10, r10, 1\n"
     "    add  r16, r16, TK*M*2\n"
     ".end\n"},
    {LOAD_A, M_END, "    add  r15, r15, TM*2\n"},
    {LOAD_B, NSR_GEN_START, count_k},
    {LOAD_B, NSR_GEN_START, load_first},
    {LOAD_B, M_BEGIN, "    mov  r17, 0                      ; column of B\n"},
    {LOAD_B, N_BEGIN, "    mov  r18, r17\n"},
    {LOAD_B, K_BODY, b_tile},
    {LOAD_B, K_BODY,
     ".repeat U, u\n"
     "    dma  q1, tb+r9+u*TN*2[TN*2], b+r18{TK*(2*N)}[TN*2] ?s2>=r10 ^s1\n"
     "    add  r10, r10, 1\n"
     "    add  r18, r18, TK*N*2\n"
     ".end\n"},
    {LOAD_B, N_END, "    add  r17, r17, TN*2\n"}};

#define MANUAL_TILES(count, tile, acc)                                         \
  ".repeat " count ", u\n"                                                     \
  "    ldw  ta+r8+(" tile ")*TM*2[TM*2] ?s0>=r11\n"                            \
  "    mm   p+r13[TN*4]" acc ", tb+r9+(" tile ")*TN*2[TN*2] ?s1>=r11 ^s2\n"    \
  "    add  r11, r11, 1\n"                                                     \
  ".end\n"

static const struct nsr_gen_step manual_in_psum[] = {
    {SUM, NSR_GEN_START, count_n},
    {SUM, NSR_GEN_START, bank_first},
    {SUM, N_BEGIN, bank_of_n},
    {SUM, N_BEGIN, "    memset p+r13[TN*4] value=0 ?s3>=r22 ^s5\n"},
    {MULTIPLY, NSR_GEN_START, count_k},
    {MULTIPLY, NSR_GEN_START, count_n},
    {MULTIPLY, NSR_GEN_START, product_first},
    {MULTIPLY, NSR_GEN_START, n_first},
    {MULTIPLY, N_BEGIN, bank_of_n},
    {MULTIPLY, N_BEGIN, "    wait ?s5>=r21\n"},
    {MULTIPLY, K_BODY, a_tile},
    {MULTIPLY, K_BODY, b_tile},
    {MULTIPLY, K_BODY, MANUAL_TILES("U", "u", " !acc")},
    {MULTIPLY, N_END, n_next},
    {STORE, NSR_GEN_START, n_first},
    {STORE, NSR_GEN_START, bank_first},
    {STORE, N_BEGIN, bank_of_n},
    {STORE, N_BEGIN, sums_of_n},
    {STORE, N_END,
     "    add  r23, r23, r0\n"
     "    wait ?s5>=r21\n"
     "    wait ?s4>=r22\n"
     "    copy ct+r14[TN*4], p+r13[TN*4] ?s2>=r23 ^s3\n"
     "    dma  q2, c+r20{TM*(4*N)}[TN*4], ct+r14[TN*4] ?s3>=r21 ^s4\n"
     "    add  r20, r20, TN*4\n"},
    {SUM, N_END, bank_next},
    {STORE, N_END, n_next},
    {STORE, N_END, bank_next}};

/* Of a block the first product is not added. */
static const struct nsr_gen_step manual_in_sbuf[] = {
    {SUM, NSR_GEN_START, count_k},
    {SUM, NSR_GEN_START, count_n},
    {SUM, NSR_GEN_START, n_first},
    {SUM, NSR_GEN_START, bank_first},
    {SUM, NSR_GEN_START, "    mov  r8, U\n"},
    {SUM, N_BEGIN, sums_of_n},
    {SUM, N_BEGIN,
     "    memset ct+r14[TN*4] value=0 ?s4>=r22 ^s5\n"
     "    wait ?s5>=r21\n"},
    {SUM, K_BODY, bank_of_k},
    {SUM, K_BODY,
     "    wait ?s6>=r7\n"
     "    tt   ct+r14[TN*4], ct+r14[TN*4], p+r13[TN*4] op=add ?s2>=r8 ^s6\n"
     "    add  r8, r8, U\n"},
    {MULTIPLY, NSR_GEN_START, count_k},
    {MULTIPLY, NSR_GEN_START, product_first},
    {MULTIPLY, NSR_GEN_START, bank_first},
    {MULTIPLY, K_BODY, a_tile},
    {MULTIPLY, K_BODY, b_tile},
    {MULTIPLY, K_BODY, bank_of_k},
    {MULTIPLY, K_BODY, "    wait ?s6>=r22\n"},
    {MULTIPLY, K_BODY, MANUAL_TILES("1", "u", "")},
    {MULTIPLY, K_BODY, MANUAL_TILES("U-1", "u+1", " !acc")},
    {MULTIPLY, K_BODY, bank_next},
    {STORE, NSR_GEN_START, n_first},
    {STORE, N_BEGIN, sums_of_n},
    {STORE, N_END,
     "    add  r23, r23, r0\n"
     "    wait ?s5>=r21\n"
     "    dma  q2, c+r20{TM*(4*N)}[TN*4], ct+r14[TN*4] ?s6>=r23 ^s4\n"
     "    add  r20, r20, TN*4\n"},
    {SUM, N_END, n_next},
    {SUM, N_END, bank_next},
    {STORE, N_END, n_next}};

/* What r23 grows by: products, or blocks, of an iteration of n. */
static const char *store_total(const int64_t *v) {
  if (v[BLOCKED])
    return v[LOADED] ? "    mov  r0, r5\n    mov  r23, 0\n"
                     : "    mov  r0, KT\n    mov  r23, 0\n";
  return v[LOADED] ? "    mul  r0, r5, U\n    mov  r23, 0\n"
                   : "    mov  r0, KT*U\n    mov  r23, 0\n";
}

/* ---- all of it */

/* What is counted goes on behind all that uses it. */
static const struct nsr_gen_step nexts_in_psum[] = {
    {LOAD_A, K_BODY, next_k},   {LOAD_B, K_BODY, next_k},
    {MULTIPLY, K_BODY, next_k}, {SUM, N_END, next_n},
    {MULTIPLY, N_END, next_n},  {STORE, N_END, next_n}};

static const struct nsr_gen_step nexts_in_sbuf[] = {
    {LOAD_A, K_BODY, next_k},   {LOAD_B, K_BODY, next_k},
    {MULTIPLY, K_BODY, next_k}, {SUM, K_BODY, next_k},
    {SUM, N_END, next_n},       {STORE, N_END, next_n}};

enum { MAX_STEPS = 64 };

struct table {
  int n;
  struct nsr_gen_step v[MAX_STEPS];
};

static void add_step(struct table *t, struct nsr_gen_step step) {
  assert(t->n < MAX_STEPS);
  t->v[t->n++] = step;
}

static void add_steps(struct table *t, const struct nsr_gen_step *v, size_t n) {
  for (size_t i = 0; i < n; i++)
    add_step(t, v[i]);
}
#define ADD(t, v) add_steps(t, v, sizeof v / sizeof *v)

static void add_text(struct table *t, int role, int place, const char *text) {
  add_step(t, (struct nsr_gen_step){role, place, text});
}

static void add_loads(const int64_t *v, struct table *t) {
  const char *next = v[LOADED] ? next_tile_loaded : next_tile;
  if (!v[PREFETCH]) {
    ADD(t, loads);
    return;
  }
  ADD(t, first_loads);
  add_text(t, LOAD_A, K_BODY, next);
  add_text(t, LOAD_B, K_BODY, next);
  ADD(t, next_loads);
}

static void make_manual(const int64_t *v, struct table *t) {
  ADD(t, manual_loads);
  ADD(t, store_start);
  add_text(t, STORE, NSR_GEN_START, store_total(v));
  if (v[BLOCKED]) {
    ADD(t, manual_in_sbuf);
    ADD(t, nexts_in_sbuf);
  } else {
    ADD(t, manual_in_psum);
    ADD(t, nexts_in_psum);
  }
}

static void make_table(const int64_t *v, struct table *t) {
  add_loads(v, t);
  ADD(t, store_start);
  if (v[BLOCKED]) {
    ADD(t, in_sbuf);
    add_text(t, MULTIPLY, K_BODY, v[PREFETCH] ? block_prefetched : block);
    ADD(t, out_of_sbuf);
    ADD(t, nexts_in_sbuf);
  } else {
    ADD(t, in_psum);
    add_text(t, MULTIPLY, K_BODY, v[PREFETCH] ? products_prefetched : products);
    ADD(t, out_of_psum);
    ADD(t, nexts_in_psum);
  }
}

static const struct nsr_gen_role in_psum_roles[NROLES] = {
    [LOAD_A] = {"dma", NULL},
    [LOAD_B] = {"dma", "iota"},
    [SUM] = {"memset", "scan"},
    [MULTIPLY] = {"ldw mm", NULL},
    [STORE] = {"copy dma", "act"}};

static const struct nsr_gen_role in_sbuf_roles[NROLES] = {
    [LOAD_A] = {"dma", NULL},
    [LOAD_B] = {"dma", "iota"},
    [SUM] = {"memset tt", "scan"},
    [MULTIPLY] = {"ldw mm", NULL},
    [STORE] = {"dma", "act"}};

/* How often the loops run: m is loaded, n and k may be. */
static const struct nsr_gen_nest constant_trips = {
    .head = "    ld   r1, mt\n",
    .nlevels = 3,
    .levels = {{"m", "r2", "r1", NULL},
               {"n", "r4", "NT", NULL},
               {"k", "r6", "KT", NULL}}};
static const struct nsr_gen_nest loaded_trips = {
    .head = "    ld   r1, mt\n    ld   r3, nt\n    ld   r5, kt\n",
    .nlevels = 3,
    .levels = {{"m", "r2", "r1", NULL},
               {"n", "r4", "r3", NULL},
               {"k", "r6", "r5", NULL}}};

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
  if (v[PREFETCH] && v[BUFFERS] < 2)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "prefetch=1 needs two buffers or more");
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

/* Whether the engine of a role has others, too. */
static bool shared(const int *engines, int role) {
  for (int i = 0; i < NROLES; i++)
    if (i != role && engines[i] == engines[role])
      return true;
  return false;
}

static enum nsr_status make(struct nsr_ctx *ctx,
                            const struct nsr_gen_request *request,
                            struct nsr_strbuf *out) {
  const struct nsr_isa *isa = request->isa;
  const int64_t *v = request->v;
  const struct sizes s = sizes_of(v);
  struct table t = {0};
  int engines[NROLES];
  NSR_TRY(nsr_gen_engines(
      ctx, isa, "tiled-matmul", "ld mov add mul rem br sync halt",
      v[BLOCKED] ? in_sbuf_roles : in_psum_roles, NROLES, engines));
  NSR_TRY(check(ctx, isa, v, &s));
  if (request->manual && (shared(engines, LOAD_A) || shared(engines, MULTIPLY)))
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "by hand, loads and products of tiled-matmul need engines "
                    "of their own, which %s does not have",
                    isa->name);
  if (request->manual)
    make_manual(v, &t);
  else
    make_table(v, &t);
  nsr_strbuf_printf(out,
                    "; tiled-matmul: c = a transposed * b\n"
                    ".isa %s\n"
                    ".kernel \"tiled-matmul\"\n"
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
  nsr_gen_streams(out, isa, v[LOADED] ? &loaded_trips : &constant_trips, t.v,
                  t.n, engines, request->manual);
  return NSR_OK;
}

const struct nsr_gen_kernel nsr_gen_matmul = {
    .name = "tiled-matmul",
    .alias = "matmul",
    .about =
        "three loops, sums in PSUM over the innermost (blocked=1: in SBUF)",
    .manual = true,
    .nparams = 14,
    .params = {[MT] = {"m", 2, 4, 0, 1 << 16, NSR_GEN_PLAIN},
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
               [PREFETCH] = {"prefetch", 0, 0, 0, 1, NSR_GEN_PLAIN},
               [MAX] = {"max", 4, 4, 4, 1 << 16, NSR_GEN_PLAIN},
               [SEED] = {"seed", 1, 1, 0, 65535, NSR_GEN_PLAIN}},
    .make = make,
    .fit = fit};
