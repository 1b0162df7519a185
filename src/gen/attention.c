/* attention.c - attention over tiles of keys and values, one tile a time.
 *
 * H rows of queries meet T keys a tile: queries D x H, already scaled, keys
 * D x T, values T x D. Maximum, sum and output are kept for each row and
 * rescaled by each tile:
 *
 *   S = Q'K             matrix engine      df = old max - new max
 *   nn = -max           vector engine      nm = nn at the end of a tile
 *   p = exp(S + nn)     activation         al = exp(df)
 *   l = l*al + sum p    vector engine
 *   O = O*al + p'V      matrix engine (p turned first), vector engine
 *
 * paged-attention has a sequence's heads as rows: lens[s] tiles, each of them a
 * page of the cache that the table names. flash-attention has tiles of rows of
 * one matrix; with causal=1 those of tile i see the tiles of keys up to the
 * i-th, and of that one the keys up to their own number: a mask is added to the
 * scores, whose right half is for that tile and whose left half is 0.
 *
 * Rows without keys give 0. Tiles rotate among `buffers` by their number so
 * far, queries among two.
 */
#include <inttypes.h>
#include <string.h>

#include "gen/suite.h"

/* What both kernels have. */
enum { ROWS, COLS, DIM, BUFFERS, SEED, NCOMMON };
/* of paged-attention: T tokens in a page */
enum { SEQS = NCOMMON, PAGES, LONGEST, MAX };
/* of flash-attention: tiles of queries and of keys, and at most so many */
enum { QUERIES = NCOMMON, KEYS, CAUSAL, MAX_TILES };

enum { LOAD, MATRIX, VECTOR, ACTIVATION, STORE, NROLES };

static const struct nsr_gen_role roles[NROLES] = {
    [LOAD] = {"dma ld", NULL},
    [MATRIX] = {"ldw mm tp", NULL},
    [VECTOR] = {"tr ts tsp tt copy memset", NULL},
    [ACTIVATION] = {"act actb cast", NULL},
    [STORE] = {"dma ld", "iota"}};

#define ROWS_BEGIN NSR_GEN_BEGIN(1)
#define ROWS_END NSR_GEN_BEHIND(1)
#define TILE NSR_GEN_BEGIN(2)

static const struct nsr_gen_nest paged_nest = {
    .head = "    ld   r1, seqs\n",
    .nlevels = 2,
    .levels = {{"s", "r2", "r1", NULL},
               {"p", "r4", "r3",
                "    mul  r5, r2, 4\n"
                "    ld   r3, lens+r5                 ; pages of it\n"}}};

static const struct nsr_gen_nest full_nest = {
    .head = "    ld   r1, queries\n    ld   r3, keys\n",
    .nlevels = 2,
    .levels = {{"q", "r2", "r1", NULL}, {"k", "r4", "r3", NULL}}};

static const struct nsr_gen_nest causal_nest = {
    .head = "    ld   r1, queries\n    ld   r5, keys\n",
    .nlevels = 2,
    .levels = {{"q", "r2", "r1", NULL},
               {"k", "r4", "r3",
                "    add  r3, r2, 1\n"
                "    min  r3, r3, r5                  ; tiles it sees\n"}}};

/* What kernels have of their own: the loops, where a tile's queries are in
 * memory (r6), and where keys and values are (r6 and r7; r17 is kept). */
struct kind {
  const struct nsr_gen_nest *nest;
  const char *which_queries, *first_tile, *which_tile;
  const char *layout; /* constants: rows of queries, keys, values apart */
  bool masked;
};

static const struct kind paged = {
    .nest = &paged_nest,
    .which_queries = "    mul  r6, r2, D*H*2\n",
    .first_tile = "    mul  r17, r2, 4*L\n",
    .which_tile = "    ld   r6, table+r17\n"
                  "    add  r17, r17, 4\n"
                  "    mul  r6, r6, D*T*2               ; the page\n"
                  "    mov  r7, r6\n",
    .layout = ".const QS 2*H\n.const KS 2*T\n"};

#define OF_MATRIX                                                              \
  .which_queries = "    mul  r6, r2, H*2\n",                                   \
  .which_tile = "    mul  r6, r4, T*2\n"                                       \
                "    mul  r7, r4, T*D*2\n",                                    \
  .layout = ".const QS 2*H*NT\n.const KS 2*T*NT\n"

static const struct kind full = {.nest = &full_nest, OF_MATRIX};
static const struct kind causal = {
    .nest = &causal_nest, .masked = true, OF_MATRIX};

/* r12 counts tiles so far, r8 and r9 are the places of keys and values, r10
 * that of queries. */
static const char count_tiles[] = "    mov  r12, 0\n";
static const char next_tile[] = "    add  r12, r12, 1\n";
static const char places[] = "    rem  r8, r12, M\n"
                             "    mul  r9, r8, D*2\n"
                             "    mul  r8, r8, T*2\n";
static const char queries[] = "    rem  r10, r2, 2\n"
                              "    mul  r10, r10, H*2\n";
static const char which_out[] = "    mul  r6, r2, H*D*4\n";

#define LOAD_Q "    dma  q0, qb+r10[H*2], q+r6{D*QS}[H*2]"
#define LOAD_K "    dma  q0, kb+r8[T*2], k+r6{D*KS}[T*2]"
#define LOAD_V "    dma  q0, vb+r9[D*2], v+r7{T*(2*D)}[D*2]"
#define SCORES "    mm   sc[T*4], kb+r8[T*2]"
#define LOAD_MASK "    dma  q0, mk[(2*T)*4], mask{H*(8*T)}[(2*T)*4]"
#define WHICH_MASK                                                             \
  "    eq   r15, r4, r2\n"                                                     \
  "    mul  r15, r15, T*4               ; its half of the mask\n"
#define MASK "    tt   s[T*4], sc[T*4], mk+r15[T*4] op=add"
#define TOP(s) "    tr   mx, " s "[T*4] op=max"
#define NEGATE "    ts   mx, mx op0=mul imm0=-1.0 imm1=0"
#define NEW_MAX "    tt   nn, nm, mx op=min"
#define CHANGE "    tt   df, nn, nm op=sub"
#define KEEP_MAX "    copy nm, nn"
#define EXP(s) "    actb p[T*4], " s "[T*4], nn func=exp scale=1.0"
#define FACTOR "    act  al, df func=exp scale=1.0 bias=0.0"
#define ROW_SUM "    tr   rs, p[T*4] op=add"
#define SCALE_SUM "    tt   l, l, al op=mul"
#define ADD_SUM "    tt   l, l, rs op=add"
#define SCALE_OUT "    tsp  o[D*4], o[D*4], al op=mul"
#define ADD_OUT "    tt   o[D*4], o[D*4], pv[D*4] op=add"
#define TURN "    tp   pt[H*4], p[T*4]"
#define ROUND "    cast pb[H*2], pt[H*4]"
#define VALUES "    mm   pv[D*4], vb+r9[D*2]"
#define NO_ZERO "    ts   lm, l op0=max imm0=1e-30 imm1=0"
#define INVERSE "    act  ri, lm func=recip scale=1.0 bias=0.0"
#define RESULT "    tsp  ob[D*4], o[D*4], ri op=mul"
#define STORE_OUT "    dma  q1, out+r6{H*(4*D)}[D*4], ob[D*4]"

/* Stand for what a kernel has instead (text_of). */
static const char which_queries[] = "which queries";
static const char first_tile[] = "first tile";
static const char which_tile[] = "which tile";
static const char load_mask[] = "load mask";
static const char row_max[] = "row maximum", row_max_by_hand[] = "by hand";
static const char exponent[] = "exponent", exponent_by_hand[] = "by hand";

/*   s0 keys      s2 scores          s4 exponentials  s7 products with values
 *   s1 values    s3 vector engine   s5 p turned      s6 and rounded
 */
static const struct nsr_gen_step steps[] = {
    {LOAD, NSR_GEN_START, count_tiles},
    {LOAD, NSR_GEN_START, load_mask},
    {MATRIX, NSR_GEN_START, count_tiles},
    {LOAD, ROWS_BEGIN, queries},
    {LOAD, ROWS_BEGIN, which_queries},
    {LOAD, ROWS_BEGIN, LOAD_Q "\n"},
    {LOAD, ROWS_BEGIN, first_tile},
    {MATRIX, ROWS_BEGIN, queries},
    {VECTOR, ROWS_BEGIN,
     "    memset nm value=100000\n"
     "    memset l value=0\n"
     "    memset o[D*4] value=0\n"},
    {LOAD, TILE, places},
    {LOAD, TILE, which_tile},
    {LOAD, TILE, LOAD_K " ^s0\n" LOAD_V " ^s1\n"},
    {LOAD, TILE, next_tile},
    {MATRIX, TILE, places},
    {MATRIX, TILE, "    ldw  qb+r10[H*2]\n" SCORES " ?s0>=1 ^s2\n"},
    {VECTOR, TILE, row_max},
    {VECTOR, TILE,
     NEGATE " ?s3>=1 ^s3\n" NEW_MAX " ?s3>=2 ^s3\n" CHANGE
            " ?s3>=3 ^s3\n" KEEP_MAX " ?s3>=4 ^s3\n"},
    {ACTIVATION, TILE, exponent},
    {ACTIVATION, TILE, FACTOR " ?s3>=4 ^s4\n"},
    {VECTOR, TILE,
     ROW_SUM " ?s4>=2 ^s3\n" SCALE_SUM " ^s3\n" SCALE_OUT " ^s3\n" ADD_SUM
             " ?s3>=8 ^s3\n"},
    {MATRIX, TILE, TURN " ?s4>=2 ^s5\n"},
    {ACTIVATION, TILE, ROUND " ?s5>=1 ^s6\n"},
    {MATRIX, TILE, "    ldw  pb[H*2] ?s6>=1\n" VALUES " ?s1>=1 ^s7\n"},
    {MATRIX, TILE, next_tile},
    {VECTOR, TILE, ADD_OUT " ?s7>=1\n"},
    {VECTOR, ROWS_END, NO_ZERO " ^s3\n"},
    {ACTIVATION, ROWS_END, INVERSE " ?s3>=1 ^s4\n"},
    {VECTOR, ROWS_END, RESULT " ?s4>=1 ^s3\n"},
    {STORE, ROWS_END, which_out},
    {STORE, ROWS_END, STORE_OUT " ?s3>=2\n"}};
enum { NSTEPS = sizeof steps / sizeof *steps };

/* By hand: channels count tiles, s8, s9, s20, s22, s24 and s25 tiles of rows.
 * r12 is the number of tiles so far, r11 one more, r13 the number of these rows
 * from 1, r15 tiles so far less buffers, r16 those before the last rows.
 * The vector engine retires in order: to know a later step of its own, or of
 * others that waited for one, is to know all before. So a new maximum tells
 * activation and the matrix engine that the last tile is done with, and the
 * first keys that the mask is there.
 *
 *   s0 keys      s8 queries      s17 sum scaled     s22 result
 *   s1 values    s9 stores       s18 sum added      s23 factor
 *   s2 scores    s11 row maximum s19 output scaled  s24 sum not 0
 *   s4 exp       s12 negated     s20 set to 0       s25 its inverse
 *   s5 turned    s13 new maximum
 *   s6 rounded   s14 its change
 *   s7 product
 */
static const char this_tile[] = "    mov  r11, 1\n";
static const char next_this[] = "    add  r11, r11, 1\n";
static const char these_rows[] = "    add  r13, r2, 1\n";

static const struct nsr_gen_step manual[] = {
    {LOAD, NSR_GEN_START, count_tiles},
    {LOAD, NSR_GEN_START, load_mask},
    {LOAD, NSR_GEN_START,
     "    mov  r15, 1-M\n"
     "    mov  r16, 0\n"},
    {MATRIX, NSR_GEN_START, count_tiles},
    {MATRIX, NSR_GEN_START, this_tile},
    {VECTOR, NSR_GEN_START, count_tiles},
    {VECTOR, NSR_GEN_START, this_tile},
    {VECTOR, NSR_GEN_START, "    mov  r14, 0\n"},
    {ACTIVATION, NSR_GEN_START, this_tile},
    {LOAD, ROWS_BEGIN, queries},
    {LOAD, ROWS_BEGIN, which_queries},
    {LOAD, ROWS_BEGIN,
     "    sub  r14, r2, 1\n"
     "    wait ?s8>=r14\n" LOAD_Q " ?s2>=r16 ^s8\n"
     "    mov  r16, r12\n"},
    {LOAD, ROWS_BEGIN, first_tile},
    {MATRIX, ROWS_BEGIN, queries},
    {MATRIX, ROWS_BEGIN, these_rows},
    {ACTIVATION, ROWS_BEGIN, these_rows},
    {VECTOR, ROWS_BEGIN, these_rows},
    {VECTOR, ROWS_BEGIN,
     "    add  r14, r14, 3\n"
     "    memset nm value=100000 ^s20\n"
     "    memset l value=0 ^s20\n"
     "    memset o[D*4] value=0 ?s22>=r2 ^s20\n"
     "    wait ?s20>=r14\n"},
    {LOAD, TILE, places},
    {LOAD, TILE, which_tile},
    {LOAD, TILE, LOAD_K " ?s2>=r15 ^s0\n" LOAD_V " ?s7>=r15 ^s1\n"},
    {LOAD, TILE, next_tile},
    {LOAD, TILE, "    add  r15, r15, 1\n"},
    {MATRIX, TILE, places},
    {MATRIX, TILE, "    ldw  qb+r10[H*2] ?s8>=r13\n" SCORES " ?s0>=r11 ^s2\n"},
    {VECTOR, TILE, row_max_by_hand},
    {VECTOR, TILE,
     NEGATE " ?s11>=r11 ^s12\n" NEW_MAX " ?s12>=r11 ^s13\n" CHANGE
            " ?s13>=r11 ^s14\n" KEEP_MAX " ?s14>=r11\n"},
    {ACTIVATION, TILE, exponent_by_hand},
    {ACTIVATION, TILE, FACTOR " ?s14>=r11 ^s23\n"},
    {VECTOR, TILE,
     ROW_SUM " ?s4>=r11\n" SCALE_SUM " ?s23>=r11 ^s17\n" SCALE_OUT
             " ^s19\n" ADD_SUM " ?s17>=r11 ^s18\n"},
    {MATRIX, TILE, TURN " ?s4>=r11 ^s5\n"},
    {ACTIVATION, TILE, ROUND " ?s5>=r11 ^s6\n"},
    {MATRIX, TILE, "    ldw  pb[H*2] ?s6>=r11\n" VALUES " ?s1>=r11 ^s7\n"},
    {VECTOR, TILE, "    wait ?s19>=r11\n" ADD_OUT " ?s7>=r11\n"},
    {MATRIX, TILE, next_tile},
    {MATRIX, TILE, next_this},
    {VECTOR, TILE, next_tile},
    {VECTOR, TILE, next_this},
    {ACTIVATION, TILE, next_this},
    {VECTOR, ROWS_END, NO_ZERO " ?s18>=r12 ^s24\n"},
    {ACTIVATION, ROWS_END, INVERSE " ?s24>=r13 ^s25\n"},
    {VECTOR, ROWS_END, "    wait ?s9>=r2\n" RESULT " ?s25>=r13 ^s22\n"},
    {STORE, ROWS_BEGIN, these_rows},
    {STORE, ROWS_END, which_out},
    {STORE, ROWS_END, STORE_OUT " ?s22>=r13 ^s9\n"}};
enum { NMANUAL = sizeof manual / sizeof *manual };

enum { MAX_STEPS = NSTEPS + NMANUAL };

static const struct {
  const char *stands, *plain, *masked;
} variants[] = {{load_mask, NULL, LOAD_MASK "\n"},
                {row_max, TOP("sc") " ?s2>=1 ^s3\n",
                 WHICH_MASK MASK " ?s2>=1 ^s8\n" TOP("s") " ?s8>=1 ^s3\n"},
                {row_max_by_hand, TOP("sc") " ?s2>=r11 ^s11\n",
                 WHICH_MASK MASK
                 " ?s2>=r11 ^s21\n" TOP("s") " ?s21>=r11 ^s11\n"},
                {exponent, EXP("sc") " ?s3>=3 ^s4\n", EXP("s") " ?s3>=3 ^s4\n"},
                {exponent_by_hand, EXP("sc") " ?s13>=r11 ^s4\n",
                 EXP("s") " ?s13>=r11 ^s4\n"}};

static const char *text_of(const struct kind *kind, const char *text) {
  if (text == which_queries)
    return kind->which_queries;
  if (text == first_tile)
    return kind->first_tile;
  if (text == which_tile)
    return kind->which_tile;
  for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
    if (text == variants[i].stands)
      return kind->masked ? variants[i].masked : variants[i].plain;
  return text;
}

/* ---- tensors */

static void on_chip(const struct kind *kind, struct nsr_strbuf *out) {
  nsr_strbuf_puts(out,
                  ".const B 4*H+2*M*T+2*M*D+2*H\n"
                  ".tensor qb sbuf bf16 [D, 2*H] at 0:D, 0 scratch\n"
                  ".tensor kb sbuf bf16 [D, M*T] at 0:D, 4*H scratch\n"
                  ".tensor vb sbuf bf16 [T, M*D] at 0:T, 4*H+2*M*T scratch\n"
                  ".tensor pb sbuf bf16 [T, H] at 0:T, B-2*H scratch\n"
                  ".tensor p sbuf f32 [H, T] at 0:H, B scratch\n"
                  ".tensor o sbuf f32 [H, D] at 0:H, B+4*T scratch\n"
                  ".tensor ob sbuf f32 [H, D] at 0:H, B+4*T+4*D scratch\n"
                  ".const C B+4*T+8*D\n");
  static const char *const columns[] = {"mx", "nn", "nm", "df", "al",
                                        "rs", "l",  "lm", "ri"};
  enum { NCOLUMNS = sizeof columns / sizeof *columns };
  for (size_t i = 0; i < NCOLUMNS; i++)
    nsr_strbuf_printf(out, ".tensor %s sbuf f32 [H, 1] at 0:H, C+%zu scratch\n",
                      columns[i], 4 * i);
  if (kind->masked)
    nsr_strbuf_printf(out,
                      ".tensor s sbuf f32 [H, T] at 0:H, C+%d scratch\n"
                      ".tensor mk sbuf i32 [H, 2*T] at 0:H, C+%d+4*T scratch\n",
                      4 * NCOLUMNS, 4 * NCOLUMNS);
  nsr_strbuf_puts(out, ".tensor sc psum f32 [H, T] at 0:H, 0 scratch\n"
                       ".tensor pt psum f32 [T, H] at 0:T, 4*T scratch\n"
                       ".tensor pv psum f32 [H, D] at 0:H, 4*T+4*H scratch\n");
}

static int64_t sbuf_bytes(const int64_t *v, bool masked) {
  int64_t tiles = 2 * v[BUFFERS] * (v[COLS] + v[DIM]);
  return 6 * v[ROWS] + tiles + 4 * v[COLS] + 8 * v[DIM] + 36 +
         (masked ? 12 * v[COLS] : 0);
}

static int64_t psum_bytes(const int64_t *v) {
  return 4 * (v[COLS] + v[ROWS] + v[DIM]);
}

static void fit(const struct nsr_isa *isa, int64_t *v) {
  while (sbuf_bytes(v, true) > isa->sbuf_bytes && v[BUFFERS] > 1)
    v[BUFFERS]--;
}

/* bytes: in memory, where rows are so far apart at most. */
static enum nsr_status check(struct nsr_ctx *ctx, const struct nsr_isa *isa,
                             const struct kind *kind, const int64_t *v,
                             int64_t bytes, int64_t apart) {
  struct nsr_gen_reach reach = nsr_gen_reach(isa);
  int64_t sbuf = sbuf_bytes(v, kind->masked), psum = psum_bytes(v);
  if (sbuf > isa->sbuf_bytes || psum > isa->psum_bytes)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "%" PRId64 " buffers of %" PRId64 " keys need %" PRId64
                    " bytes of SBUF and %" PRId64
                    " of PSUM, which have %" PRIu32 " and %" PRIu32,
                    v[BUFFERS], v[COLS], sbuf, psum, isa->sbuf_bytes,
                    isa->psum_bytes);
  if (bytes > INT32_MAX || bytes > reach.offset || apart > reach.step)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "%" PRId64 " bytes in memory, in rows of up to %" PRId64
                    ", are beyond what offsets and steps can say",
                    bytes, apart);
  return NSR_OK;
}

/* Up to the tensors in memory. */
static enum nsr_status begin(struct nsr_ctx *ctx, const char *name,
                             const char *title,
                             const struct nsr_gen_request *request,
                             int *engines, struct nsr_strbuf *out) {
  const int64_t *v = request->v;
  const struct nsr_isa *isa = request->isa;
  NSR_TRY(nsr_gen_engines(ctx, isa, name,
                          "ld mov add sub mul rem min eq br sync halt", roles,
                          NROLES, engines));
  nsr_strbuf_printf(
      out,
      "; %s: %s\n"
      ".isa %s\n"
      ".kernel \"%s\"\n"
      ".const H %" PRId64 "\n.const D %" PRId64 "\n.const T %" PRId64
      "\n.const M %" PRId64 "\n.queue q0 %s\n.queue q1 %s\n",
      name, title, isa->name, name, v[ROWS], v[DIM], v[COLS], v[BUFFERS],
      isa->engines[engines[LOAD]], isa->engines[engines[STORE]]);
  return NSR_OK;
}

static void streams(const struct kind *kind,
                    const struct nsr_gen_request *request, const int *engines,
                    struct nsr_strbuf *out) {
  struct nsr_gen_step all[MAX_STEPS];
  int n = request->manual ? NMANUAL : NSTEPS;
  memcpy(all, request->manual ? manual : steps, (size_t)n * sizeof *all);
  for (int i = 0; i < n; i++)
    all[i].text = text_of(kind, all[i].text);
  on_chip(kind, out);
  nsr_gen_streams(out, request->isa, kind->nest, all, n, engines,
                  request->manual);
}

static void trips(struct nsr_strbuf *out, const char *name, int64_t at,
                  int64_t n, int64_t top) {
  nsr_strbuf_printf(out,
                    ".tensor %s dram i32 [1] at %" PRId64
                    " input range 0 %" PRId64 " words %" PRId64 "\n",
                    name, at, top, n);
}

/* Tiles of f32 behind all other tensors. */
static void output(struct nsr_strbuf *out, int64_t at, int64_t tiles) {
  nsr_strbuf_printf(
      out, ".tensor out dram f32 [%" PRId64 "*H, D] at %" PRId64 " output\n",
      tiles, at);
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- paged-attention */

static enum nsr_status make_paged(struct nsr_ctx *ctx,
                                  const struct nsr_gen_request *request,
                                  struct nsr_strbuf *out) {
  const int64_t *v = request->v;
  int64_t top = larger(v[MAX], v[SEQS]);
  uint64_t seed = 8 * (uint64_t)v[SEED] + 1;
  int64_t at = (64 + 4 * top * (1 + v[LONGEST]) + 63) / 64 * 64;
  int64_t bytes = at + 4 * v[PAGES] * v[DIM] * v[COLS] +
                  top * 6 * v[DIM] * v[ROWS] + 4 * 64;
  int engines[NROLES];
  NSR_TRY(check(ctx, request->isa, &paged, v, bytes, 4 * v[COLS]));
  NSR_TRY(begin(ctx, "paged-attention", "queries over pages that memory names",
                request, engines, out));
  nsr_strbuf_printf(out, ".const L %" PRId64 "\n%s", v[LONGEST], paged.layout);
  trips(out, "seqs", 0, v[SEQS], top);
  nsr_gen_table(out, "lens", 64, top, seed, v[LONGEST]);
  nsr_gen_table(out, "table", 64 + 4 * top, top * v[LONGEST], seed + 1,
                v[PAGES] - 1);
  at = nsr_gen_rows(out, "q", at, top * v[DIM], v[ROWS], seed + 2);
  at = nsr_gen_rows(out, "k", at, v[PAGES] * v[DIM], v[COLS], seed + 3);
  at = nsr_gen_rows(out, "v", at, v[PAGES] * v[COLS], v[DIM], seed + 4);
  output(out, at, top);
  streams(&paged, request, engines, out);
  return NSR_OK;
}

const struct nsr_gen_kernel nsr_gen_paged_attention = {
    .name = "paged-attention",
    .about = "attention over pages of keys and values that memory names",
    .manual = true,
    .nparams = 9,
    .params = {[ROWS] = {"heads", 3, 64, 1, 0, NSR_GEN_PARTITIONS},
               [COLS] = {"tokens", 5, 128, 1, 0, NSR_GEN_PARTITIONS},
               [DIM] = {"dim", 4, 128, 1, 0, NSR_GEN_PARTITIONS},
               [BUFFERS] = {"buffers", 2, 3, 1, 8, NSR_GEN_PLAIN},
               [SEED] = {"seed", 1, 1, 0, 65535, NSR_GEN_PLAIN},
               [SEQS] = {"seqs", 3, 16, 0, 1 << 16, NSR_GEN_PLAIN},
               [PAGES] = {"pages", 6, 32, 1, 1 << 16, NSR_GEN_PLAIN},
               [LONGEST] = {"longest", 4, 16, 1, 1 << 12, NSR_GEN_PLAIN},
               [MAX] = {"max", 8, 32, 1, 1 << 16, NSR_GEN_PLAIN}},
    .make = make_paged,
    .fit = fit};

/* ---- flash-attention */

/* Row i of the right half lets the first i + 1 keys pass. */
static void mask(struct nsr_strbuf *out, int64_t at, int64_t n) {
  nsr_strbuf_printf(
      out, ".tensor mask dram i32 [H, 2*T] at %" PRId64 " input words ", at);
  for (int64_t i = 0; i < 2 * n * n; i++)
    nsr_strbuf_printf(out, "%s%d", i ? ", " : "",
                      i % (2 * n) > n + i / (2 * n) ? -100000 : 0);
  nsr_strbuf_puts(out, "\n");
}

static enum nsr_status make_flash(struct nsr_ctx *ctx,
                                  const struct nsr_gen_request *request,
                                  struct nsr_strbuf *out) {
  const int64_t *v = request->v;
  const struct kind *kind = v[CAUSAL] ? &causal : &full;
  int64_t top = larger(v[MAX_TILES], larger(v[QUERIES], v[KEYS]));
  int64_t most = larger(v[ROWS], v[COLS]), at = 128;
  uint64_t seed = 8 * (uint64_t)v[SEED] + 1;
  int64_t bytes = 6 * 64 + 8 * v[COLS] * v[ROWS] +
                  top * v[DIM] * (6 * v[ROWS] + 4 * v[COLS]);
  int engines[NROLES];
  if (v[CAUSAL] && v[ROWS] != v[COLS])
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "causal tiles are square, not %" PRId64 " x %" PRId64,
                    v[ROWS], v[COLS]);
  NSR_TRY(check(ctx, request->isa, kind, v, bytes,
                larger(2 * top * most, 8 * v[COLS])));
  NSR_TRY(begin(ctx, "flash-attention", "tiles of rows over tiles of keys",
                request, engines, out));
  nsr_strbuf_printf(out, ".const NT %" PRId64 "\n%s", top, kind->layout);
  trips(out, "queries", 0, v[QUERIES], top);
  trips(out, "keys", 64, v[KEYS], top);
  at = nsr_gen_rows(out, "q", at, v[DIM], top * v[ROWS], seed);
  at = nsr_gen_rows(out, "k", at, v[DIM], top * v[COLS], seed + 1);
  at = nsr_gen_rows(out, "v", at, top * v[COLS], v[DIM], seed + 2);
  if (v[CAUSAL])
    mask(out, at, v[ROWS]);
  output(out, at + 8 * v[ROWS] * v[COLS], top);
  streams(kind, request, engines, out);
  return NSR_OK;
}

const struct nsr_gen_kernel nsr_gen_flash_attention = {
    .name = "flash-attention",
    .about = "attention with running maximum and sum, causal or not",
    .manual = true,
    .nparams = 9,
    .params = {[ROWS] = {"rows", 4, 128, 1, 0, NSR_GEN_PARTITIONS},
               [COLS] = {"cols", 4, 128, 1, 0, NSR_GEN_PARTITIONS},
               [DIM] = {"dim", 5, 128, 1, 0, NSR_GEN_PARTITIONS},
               [BUFFERS] = {"buffers", 2, 3, 1, 8, NSR_GEN_PLAIN},
               [SEED] = {"seed", 1, 1, 0, 65535, NSR_GEN_PLAIN},
               [QUERIES] = {"queries", 3, 16, 0, 1 << 12, NSR_GEN_PLAIN},
               [KEYS] = {"keys", 3, 16, 0, 1 << 12, NSR_GEN_PLAIN},
               [CAUSAL] = {"causal", 1, 1, 0, 1, NSR_GEN_PLAIN},
               [MAX_TILES] = {"max", 8, 16, 1, 1 << 12, NSR_GEN_PLAIN}},
    .make = make_flash,
    .fit = fit};
