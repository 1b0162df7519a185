/* paged_attention.c - attention of one query token per sequence over a cache
 * of keys and values in pages.
 *
 * For sequence s the loop over its pages runs lens[s] times; page j of it is
 * page table[s * L + j] of the cache, T tokens: keys D x T, values T x D. H
 * heads share keys and values; their queries, D x H, come already scaled.
 * Maximum, sum and output are kept for each head and rescaled by each page:
 *
 *   S = Q'K             matrix engine      df = old max - new max
 *   nn = -max           vector engine      nm = nn at the end of a page
 *   p = exp(S + nn)     activation         al = exp(df)
 *   l = l*al + sum p    vector engine
 *   O = O*al + p'V      matrix engine (p turned first), vector engine
 *
 * A sequence without pages gives 0. Pages rotate among `buffers` by the number
 * of pages so far, queries among two by that of sequences.
 */
#include <inttypes.h>

#include "gen/suite.h"

enum { SEQS, HEADS, DIM, TOKENS, PAGES, LONGEST, BUFFERS, MAX, SEED };

enum { LOAD, MATRIX, VECTOR, ACTIVATION, STORE, NROLES };

static const struct nsr_gen_role roles[NROLES] = {
    [LOAD] = {"dma ld", NULL},
    [MATRIX] = {"ldw mm tp", NULL},
    [VECTOR] = {"tr ts tsp tt copy memset", NULL},
    [ACTIVATION] = {"act actb cast", NULL},
    [STORE] = {"dma ld", "iota"}};

#define SEQ_BEGIN NSR_GEN_BEGIN(1)
#define SEQ_END NSR_GEN_BEHIND(1)
#define PAGE NSR_GEN_BEGIN(2)

static const struct nsr_gen_nest nest = {
    .head = "    ld   r1, seqs\n",
    .nlevels = 2,
    .levels = {{"s", "r2", "r1", NULL},
               {"p", "r4", "r3",
                "    mul  r5, r2, 4\n"
                "    ld   r3, lens+r5                 ; pages of it\n"}}};

/* r12 counts pages so far, r8 and r9 are the places of keys and values, r10
 * that of queries. */
static const char count_pages[] = "    mov  r12, 0\n";
static const char next_page[] = "    add  r12, r12, 1\n";
static const char places[] = "    rem  r8, r12, M\n"
                             "    mul  r9, r8, D*2\n"
                             "    mul  r8, r8, T*2\n";
static const char queries[] = "    rem  r10, r2, 2\n"
                              "    mul  r10, r10, H*2\n";
static const char which_queries[] = "    mul  r6, r2, D*H*2\n";
static const char first_entry[] = "    mul  r7, r2, 4*L\n";
static const char which_page[] =
    "    ld   r5, table+r7\n"
    "    add  r7, r7, 4\n"
    "    mul  r6, r5, D*T*2               ; the page\n";
static const char which_out[] = "    mul  r6, r2, H*D*4\n";

#define LOAD_Q "    dma  q0, qb+r10[H*2], q+r6{D*(2*H)}[H*2]"
#define LOAD_K "    dma  q0, kb+r8[T*2], kc+r6{D*(2*T)}[T*2]"
#define LOAD_V "    dma  q0, vb+r9[D*2], vc+r6{T*(2*D)}[D*2]"
#define SCORES "    mm   sc[T*4], kb+r8[T*2]"
#define TOP "    tr   mx, sc[T*4] op=max"
#define NEGATE "    ts   mx, mx op0=mul imm0=-1.0 imm1=0"
#define NEW_MAX "    tt   nn, nm, mx op=min"
#define CHANGE "    tt   df, nn, nm op=sub"
#define KEEP_MAX "    copy nm, nn"
#define EXP "    actb p[T*4], sc[T*4], nn func=exp scale=1.0"
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

/*   s0 keys      s2 scores          s4 exponentials  s7 products with values
 *   s1 values    s3 vector engine   s5 p turned      s6 and rounded
 */
static const struct nsr_gen_step steps[] = {
    {LOAD, NSR_GEN_START, count_pages},
    {MATRIX, NSR_GEN_START, count_pages},
    {LOAD, SEQ_BEGIN, queries},
    {LOAD, SEQ_BEGIN, which_queries},
    {LOAD, SEQ_BEGIN, LOAD_Q "\n"},
    {LOAD, SEQ_BEGIN, first_entry},
    {MATRIX, SEQ_BEGIN, queries},
    {VECTOR, SEQ_BEGIN,
     "    memset nm value=100000\n"
     "    memset l value=0\n"
     "    memset o[D*4] value=0\n"},
    {LOAD, PAGE, places},
    {LOAD, PAGE, which_page},
    {LOAD, PAGE, LOAD_K " ^s0\n" LOAD_V " ^s1\n"},
    {LOAD, PAGE, next_page},
    {MATRIX, PAGE, places},
    {MATRIX, PAGE, "    ldw  qb+r10[H*2]\n" SCORES " ?s0>=1 ^s2\n"},
    {VECTOR, PAGE,
     TOP " ?s2>=1 ^s3\n" NEGATE " ?s3>=1 ^s3\n" NEW_MAX " ?s3>=2 ^s3\n" CHANGE
         " ?s3>=3 ^s3\n" KEEP_MAX " ?s3>=4 ^s3\n"},
    {ACTIVATION, PAGE, EXP " ?s3>=3 ^s4\n" FACTOR " ?s3>=4 ^s4\n"},
    {VECTOR, PAGE,
     ROW_SUM " ?s4>=2 ^s3\n" SCALE_SUM " ^s3\n" SCALE_OUT " ^s3\n" ADD_SUM
             " ?s3>=8 ^s3\n"},
    {MATRIX, PAGE, TURN " ?s4>=2 ^s5\n"},
    {ACTIVATION, PAGE, ROUND " ?s5>=1 ^s6\n"},
    {MATRIX, PAGE, "    ldw  pb[H*2] ?s6>=1\n" VALUES " ?s1>=1 ^s7\n"},
    {MATRIX, PAGE, next_page},
    {VECTOR, PAGE, ADD_OUT " ?s7>=1\n"},
    {VECTOR, SEQ_END, NO_ZERO " ^s3\n"},
    {ACTIVATION, SEQ_END, INVERSE " ?s3>=1 ^s4\n"},
    {VECTOR, SEQ_END, RESULT " ?s4>=1 ^s3\n"},
    {STORE, SEQ_END, which_out},
    {STORE, SEQ_END, STORE_OUT " ?s3>=2\n"}};
enum { NSTEPS = sizeof steps / sizeof *steps };

/* By hand: channels count pages, s8, s9, s20, s22, s24 and s25 sequences. r12
 * is the number of pages so far, r11 one more, r13 the number of this sequence
 * from 1, r15 pages so far less buffers, r16 those before the last sequence.
 * The vector engine retires in order: to know a later step of its own, or of
 * others that waited for one, is to know all before. So a new maximum tells
 * activation and the matrix engine that the last page is done with.
 *
 *   s0 keys      s8 queries      s17 sum scaled     s22 result
 *   s1 values    s9 stores       s18 sum added      s23 factor
 *   s2 scores    s11 row maximum s19 output scaled  s24 sum not 0
 *   s4 exp       s12 negated     s20 set to 0       s25 its inverse
 *   s5 turned    s13 new maximum
 *   s6 rounded   s14 its change
 *   s7 product
 */
static const char this_page[] = "    mov  r11, 1\n";
static const char next_this[] = "    add  r11, r11, 1\n";
static const char this_seq[] = "    add  r13, r2, 1\n";

static const struct nsr_gen_step manual[] = {
    {LOAD, NSR_GEN_START, count_pages},
    {LOAD, NSR_GEN_START,
     "    mov  r15, 1-M\n"
     "    mov  r16, 0\n"},
    {MATRIX, NSR_GEN_START, count_pages},
    {MATRIX, NSR_GEN_START, this_page},
    {VECTOR, NSR_GEN_START, count_pages},
    {VECTOR, NSR_GEN_START, this_page},
    {VECTOR, NSR_GEN_START, "    mov  r14, 0\n"},
    {ACTIVATION, NSR_GEN_START, this_page},
    {LOAD, SEQ_BEGIN, queries},
    {LOAD, SEQ_BEGIN, which_queries},
    {LOAD, SEQ_BEGIN,
     "    sub  r14, r2, 1\n"
     "    wait ?s8>=r14\n" LOAD_Q " ?s2>=r16 ^s8\n"
     "    mov  r16, r12\n"},
    {LOAD, SEQ_BEGIN, first_entry},
    {MATRIX, SEQ_BEGIN, queries},
    {MATRIX, SEQ_BEGIN, this_seq},
    {ACTIVATION, SEQ_BEGIN, this_seq},
    {VECTOR, SEQ_BEGIN, this_seq},
    {VECTOR, SEQ_BEGIN,
     "    add  r14, r14, 3\n"
     "    memset nm value=100000 ^s20\n"
     "    memset l value=0 ^s20\n"
     "    memset o[D*4] value=0 ^s20\n"
     "    wait ?s20>=r14\n"},
    {LOAD, PAGE, places},
    {LOAD, PAGE, which_page},
    {LOAD, PAGE, LOAD_K " ?s2>=r15 ^s0\n" LOAD_V " ?s7>=r15 ^s1\n"},
    {LOAD, PAGE, next_page},
    {LOAD, PAGE, "    add  r15, r15, 1\n"},
    {MATRIX, PAGE, places},
    {MATRIX, PAGE, "    ldw  qb+r10[H*2] ?s8>=r13\n" SCORES " ?s0>=r11 ^s2\n"},
    {VECTOR, PAGE,
     TOP " ?s2>=r11 ^s11\n" NEGATE " ?s11>=r11 ^s12\n" NEW_MAX
         " ?s12>=r11 ^s13\n" CHANGE " ?s13>=r11 ^s14\n" KEEP_MAX
         " ?s14>=r11\n"},
    {ACTIVATION, PAGE, EXP " ?s13>=r11 ^s4\n" FACTOR " ?s14>=r11 ^s23\n"},
    {VECTOR, PAGE,
     ROW_SUM " ?s4>=r11\n" SCALE_SUM " ?s23>=r11 ^s17\n" SCALE_OUT
             " ^s19\n" ADD_SUM " ?s17>=r11 ^s18\n"},
    {MATRIX, PAGE, TURN " ?s4>=r11 ^s5\n"},
    {ACTIVATION, PAGE, ROUND " ?s5>=r11 ^s6\n"},
    {MATRIX, PAGE, "    ldw  pb[H*2] ?s6>=r11\n" VALUES " ?s1>=r11 ^s7\n"},
    {VECTOR, PAGE, "    wait ?s19>=r11\n" ADD_OUT " ?s7>=r11\n"},
    {MATRIX, PAGE, next_page},
    {MATRIX, PAGE, next_this},
    {VECTOR, PAGE, next_page},
    {VECTOR, PAGE, next_this},
    {ACTIVATION, PAGE, next_this},
    {VECTOR, SEQ_END, NO_ZERO " ?s18>=r12 ^s24\n"},
    {ACTIVATION, SEQ_END, INVERSE " ?s24>=r13 ^s25\n"},
    {VECTOR, SEQ_END, "    wait ?s9>=r2\n" RESULT " ?s25>=r13 ^s22\n"},
    {STORE, SEQ_BEGIN, this_seq},
    {STORE, SEQ_END, which_out},
    {STORE, SEQ_END, STORE_OUT " ?s22>=r13 ^s9\n"}};
enum { NMANUAL = sizeof manual / sizeof *manual };

static void table(struct nsr_strbuf *out, const char *name, int64_t at,
                  int64_t n, uint64_t seed, int64_t most) {
  nsr_strbuf_printf(out,
                    ".tensor %s dram i32 [%" PRId64 "] at %" PRId64
                    " input range 0 %" PRId64,
                    name, n, at, most);
  nsr_gen_random_below(out, seed, (uint64_t)n, (uint32_t)(most + 1));
  nsr_strbuf_puts(out, "\n");
}

/* Rows of bf16, or without contents of f32; gives the place behind them. */
static int64_t rows(struct nsr_strbuf *out, const char *name, int64_t at,
                    int64_t n, int64_t cols, int64_t seed) {
  nsr_strbuf_printf(
      out, ".tensor %s dram %s [%" PRId64 ", %" PRId64 "] at %" PRId64 " %s",
      name, seed ? "bf16" : "f32", n, cols, at, seed ? "input" : "output");
  if (seed)
    nsr_gen_random_bf16(out, (uint64_t)seed, (uint64_t)(n * cols));
  nsr_strbuf_puts(out, "\n");
  return at + (n * cols * (seed ? 2 : 4) + 63) / 64 * 64;
}

static int64_t sequences(const int64_t *v) {
  return v[MAX] > v[SEQS] ? v[MAX] : v[SEQS];
}

static void in_memory(const int64_t *v, struct nsr_strbuf *out) {
  int64_t top = sequences(v), seed = 8 * v[SEED] + 1;
  nsr_strbuf_printf(out,
                    ".tensor seqs dram i32 [1] at 0 input range 0 %" PRId64
                    " words %" PRId64 "\n",
                    top, v[SEQS]);
  table(out, "lens", 64, top, (uint64_t)seed, v[LONGEST]);
  table(out, "table", 64 + 4 * top, top * v[LONGEST], (uint64_t)seed + 1,
        v[PAGES] - 1);
  int64_t at = (64 + 4 * top * (1 + v[LONGEST]) + 63) / 64 * 64;
  at = rows(out, "q", at, top * v[DIM], v[HEADS], seed + 2);
  at = rows(out, "kc", at, v[PAGES] * v[DIM], v[TOKENS], seed + 3);
  at = rows(out, "vc", at, v[PAGES] * v[TOKENS], v[DIM], seed + 4);
  rows(out, "out", at, top * v[HEADS], v[DIM], 0);
}

static void on_chip(struct nsr_strbuf *out) {
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
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    nsr_strbuf_printf(out, ".tensor %s sbuf f32 [H, 1] at 0:H, C+%zu scratch\n",
                      columns[i], 4 * i);
  nsr_strbuf_puts(out, ".tensor sc psum f32 [H, T] at 0:H, 0 scratch\n"
                       ".tensor pt psum f32 [T, H] at 0:T, 4*T scratch\n"
                       ".tensor pv psum f32 [H, D] at 0:H, 4*T+4*H scratch\n");
}

static int64_t sbuf_bytes(const int64_t *v) {
  int64_t pages = 2 * v[BUFFERS] * (v[TOKENS] + v[DIM]);
  return 6 * v[HEADS] + pages + 4 * v[TOKENS] + 8 * v[DIM] + 36;
}

static int64_t psum_bytes(const int64_t *v) {
  return 4 * (v[TOKENS] + v[HEADS] + v[DIM]);
}

static void fit(const struct nsr_isa *isa, int64_t *v) {
  while (sbuf_bytes(v) > isa->sbuf_bytes && v[BUFFERS] > 1)
    v[BUFFERS]--;
}

static enum nsr_status check(struct nsr_ctx *ctx, const struct nsr_isa *isa,
                             const int64_t *v) {
  struct nsr_gen_reach reach = nsr_gen_reach(isa);
  if (sbuf_bytes(v) > isa->sbuf_bytes || psum_bytes(v) > isa->psum_bytes)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "%" PRId64 " buffers of %" PRId64 " tokens of %" PRId64
                    " need %" PRId64 " bytes of SBUF and %" PRId64
                    " of PSUM, which have %" PRIu32 " and %" PRIu32,
                    v[BUFFERS], v[TOKENS], v[DIM], sbuf_bytes(v), psum_bytes(v),
                    isa->sbuf_bytes, isa->psum_bytes);
  int64_t bytes = 4 * v[PAGES] * v[DIM] * v[TOKENS] +
                  sequences(v) * (6 * v[DIM] * v[HEADS] + 4 + 4 * v[LONGEST]);
  if (bytes + 64 * 6 > INT32_MAX || bytes + 64 * 6 > reach.offset)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "%" PRId64 " pages and %" PRId64
                    " sequences are beyond what offsets can say",
                    v[PAGES], sequences(v));
  return NSR_OK;
}

static enum nsr_status make(struct nsr_ctx *ctx,
                            const struct nsr_gen_request *request,
                            struct nsr_strbuf *out) {
  const struct nsr_isa *isa = request->isa;
  const int64_t *v = request->v;
  int engines[NROLES];
  NSR_TRY(nsr_gen_engines(ctx, isa, "paged-attention",
                          "ld mov add sub mul rem br sync halt", roles, NROLES,
                          engines));
  NSR_TRY(check(ctx, isa, v));
  nsr_strbuf_printf(out,
                    "; paged-attention: queries over pages that memory names\n"
                    ".isa %s\n"
                    ".kernel \"paged-attention\"\n"
                    ".const H %" PRId64 "\n.const D %" PRId64
                    "\n.const T %" PRId64 "\n.const L %" PRId64
                    "\n.const M %" PRId64 "\n.queue q0 %s\n.queue q1 %s\n",
                    isa->name, v[HEADS], v[DIM], v[TOKENS], v[LONGEST],
                    v[BUFFERS], isa->engines[engines[LOAD]],
                    isa->engines[engines[STORE]]);
  in_memory(v, out);
  on_chip(out);
  nsr_gen_streams(out, isa, &nest, request->manual ? manual : steps,
                  request->manual ? NMANUAL : NSTEPS, engines, request->manual);
  return NSR_OK;
}

const struct nsr_gen_kernel nsr_gen_paged_attention = {
    .name = "paged-attention",
    .about = "attention over pages of keys and values that memory names",
    .manual = true,
    .nparams = 9,
    .params = {[SEQS] = {"seqs", 3, 16, 0, 1 << 16, NSR_GEN_PLAIN},
               [HEADS] = {"heads", 3, 64, 1, 0, NSR_GEN_PARTITIONS},
               [DIM] = {"dim", 4, 128, 1, 0, NSR_GEN_PARTITIONS},
               [TOKENS] = {"tokens", 5, 128, 1, 0, NSR_GEN_PARTITIONS},
               [PAGES] = {"pages", 6, 32, 1, 1 << 16, NSR_GEN_PLAIN},
               [LONGEST] = {"longest", 4, 16, 1, 1 << 12, NSR_GEN_PLAIN},
               [BUFFERS] = {"buffers", 2, 3, 1, 8, NSR_GEN_PLAIN},
               [MAX] = {"max", 8, 32, 1, 1 << 16, NSR_GEN_PLAIN},
               [SEED] = {"seed", 1, 1, 0, 65535, NSR_GEN_PLAIN}},
    .make = make,
    .fit = fit};
