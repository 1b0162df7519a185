/* adamw.c - one step of AdamW over tiles of four streams.
 *
 *   m = b1 m + (1 - b1) g        v = b2 v + (1 - b2) g^2
 *   p = (1 - lr wd) p - m r      r = 1 / (sqrt(c2 v) + eps) scaled by lr c1
 *
 * A tile is P rows of D columns; its four streams come in through a queue
 * each, three go out again from where they were loaded, in place. They live in
 * M rotating buffers chosen by t rem M. Between them are eleven steps of one
 * element at a time, on three engines. One semaphore for each queue and
 * engine, counting from the last barrier:
 *
 *   s0 p  s1 g  s2 m  s3 v      s4 vector  s5 activation  s6 general
 */
#include <inttypes.h>
#include <string.h>

#include "gen/suite.h"

enum { TILES, ROWS, COLS, BUFFERS, MAX, SEED };

enum { LOAD, VECTOR, ACTIVATION, GENERAL, STORE, NROLES };

static const struct nsr_gen_role roles[NROLES] = {[LOAD] = {"dma", NULL},
                                                  [VECTOR] = {"ts tt", "scan"},
                                                  [ACTIVATION] = {"act", NULL},
                                                  [GENERAL] = {"ts tt", "iota"},
                                                  [STORE] = {"dma", "mm"}};

static const char buffer[] =
    "    rem  r3, r2, M\n"
    "    mul  r3, r3, 4*D                 ; the tile's buffers\n";

static const char load_start[] =
    "    mov  r4, 0                       ; offset of the tile\n";
static const char store_start[] =
    "    mov  r5, 0                       ; offset of the tile\n";

#define LOADED(q, tile, from, sync)                                            \
  "    dma  " q ", " tile "+r3[D*4], " from "+r4{P*(4*D)}[D*4]" sync "\n"

#define SCALED(to, from, factor, sync)                                         \
  "    ts   " to ", " from " op0=mul imm0=" factor " op1=none imm1=0.0" sync   \
  "\n"

static const struct nsr_gen_step steps[] = {
    {LOAD, NSR_GEN_START, load_start},
    {LOAD, NSR_GEN_BODY, buffer},
    {LOAD, NSR_GEN_BODY,
     LOADED("q1", "gb", "g", " ^s1") LOADED("q2", "mb", "m", " ^s2")
         LOADED("q3", "vb", "v", " ^s3")
             LOADED("q0", "pb", "p", " ^s0") "    add  r4, r4, P*D*4\n"},
    {VECTOR, NSR_GEN_BODY, buffer},
    {VECTOR, NSR_GEN_BODY,
     "    ts   mb+r3[D*4], mb+r3[D*4] op0=mul imm0=0.9 op1=none imm1=0.0 "
     "?s2>=1 ^s4\n" SCALED("t[D*4]", "gb+r3[D*4]", "0.1",
                           " ?s1>=1 ^s4") "    tt   mb+r3[D*4], mb+r3[D*4], "
                                          "t[D*4] op=add ?s4>=2 ^s4\n"
                                          "    ts   vb+r3[D*4], vb+r3[D*4] "
                                          "op0=mul imm0=0.99 op1=none imm1=0.0 "
                                          "?s3>=1 ^s4\n"},
    {ACTIVATION, NSR_GEN_BODY, buffer},
    {ACTIVATION, NSR_GEN_BODY,
     "    act  q[D*4], gb+r3[D*4] func=square scale=0.1 bias=0.0 ?s1>=1 ^s5\n"},
    {VECTOR, NSR_GEN_BODY,
     "    wait ?s4>=4\n"
     "    tt   vb+r3[D*4], vb+r3[D*4], q[D*4] op=add ?s5>=1 ^s4\n"},
    {ACTIVATION, NSR_GEN_BODY,
     "    act  s[D*4], vb+r3[D*4] func=sqrt scale=100.0 bias=0.0 ?s4>=5 ^s5\n"
     "    act  r[D*4], s[D*4] func=recip scale=100.0 bias=1e-06 ?s5>=2 ^s5\n"},
    {GENERAL, NSR_GEN_BODY, buffer},
    {GENERAL, NSR_GEN_BODY,
     "    tt   u[D*4], mb+r3[D*4], r[D*4] op=mul ?s5>=3 ^s6\n"
     "    ts   pb+r3[D*4], pb+r3[D*4] op0=mul imm0=0.9999 op1=none imm1=0.0 "
     "?s0>=1 "
     "^s6\n"
     "    tt   pb+r3[D*4], pb+r3[D*4], u[D*4] op=sub ?s6>=2 ^s6\n"},
    {STORE, NSR_GEN_START, store_start},
    {STORE, NSR_GEN_BODY, buffer},
    {STORE, NSR_GEN_BODY,
     "    dma  q5, mo+r5{P*(4*D)}[D*4], mb+r3[D*4] ?s4>=3\n"
     "    dma  q6, vo+r5{P*(4*D)}[D*4], vb+r3[D*4] ?s4>=5\n"
     "    dma  q4, po+r5{P*(4*D)}[D*4], pb+r3[D*4] ?s6>=3\n"
     "    add  r5, r5, P*D*4\n"}};
enum { NSTEPS = sizeof steps / sizeof *steps };

/* By hand: r11 is the number of this iteration from 1, r2 from 0, and r10 that
 * of the one that had the buffers before.
 *
 *   s0 p  s1 g  s2 m  s3 v    loads
 *   s4 t  s7 m  s8 b2 v  s9 v    vector      s5 q  s10 s  s11 r    activation
 *   s6 u  s12 decayed  s13 p     general     s14 p  s15 m  s16 v   stores
 *
 * What is not waited for follows: in-order retirement, and what others had
 * waited for. */
static const char now[] = "    mov  r11, 1\n";
static const char before[] = "    mov  r10, 1-M\n";
static const char next_now[] = "    add  r11, r11, 1\n";
static const char next_before[] = "    add  r10, r10, 1\n";

static const struct nsr_gen_step manual[] = {
    {LOAD, NSR_GEN_START, before},
    {LOAD, NSR_GEN_START, load_start},
    {VECTOR, NSR_GEN_START, now},
    {ACTIVATION, NSR_GEN_START, now},
    {GENERAL, NSR_GEN_START, now},
    {STORE, NSR_GEN_START, now},
    {STORE, NSR_GEN_START, store_start},
    {LOAD, NSR_GEN_BODY, buffer},
    {LOAD, NSR_GEN_BODY,
     LOADED("q1", "gb", "g", " ?s9>=r10 ^s1") "    wait ?s6>=r10\n" LOADED(
         "q2", "mb", "m",
         " ?s15>=r10 ^s2") "    wait ?s10>=r10\n" LOADED("q3", "vb", "v",
                                                         " ?s16>=r10 ^s3")
         LOADED("q0", "pb", "p", " ?s14>=r10 ^s0") "    add  r4, r4, P*D*4\n"},
    {VECTOR, NSR_GEN_BODY, buffer},
    {VECTOR, NSR_GEN_BODY,
     "    ts   mb+r3[D*4], mb+r3[D*4] op0=mul imm0=0.9 op1=none imm1=0.0 "
     "?s2>=r11\n" SCALED("t[D*4]", "gb+r3[D*4]", "0.1",
                         " ?s1>=r11 ^s4") "    tt   mb+r3[D*4], mb+r3[D*4], "
                                          "t[D*4] op=add ?s4>=r11 ^s7\n"
                                          "    ts   vb+r3[D*4], vb+r3[D*4] "
                                          "op0=mul imm0=0.99 op1=none imm1=0.0 "
                                          "?s3>=r11 "
                                          "^s8\n"},
    {ACTIVATION, NSR_GEN_BODY, buffer},
    {ACTIVATION, NSR_GEN_BODY,
     "    wait ?s9>=r2\n"
     "    act  q[D*4], gb+r3[D*4] func=square scale=0.1 bias=0.0 ?s1>=r11 "
     "^s5\n"},
    {VECTOR, NSR_GEN_BODY,
     "    wait ?s8>=r11\n"
     "    tt   vb+r3[D*4], vb+r3[D*4], q[D*4] op=add ?s5>=r11 ^s9\n"},
    {ACTIVATION, NSR_GEN_BODY,
     "    act  s[D*4], vb+r3[D*4] func=sqrt scale=100.0 bias=0.0 ?s9>=r11 "
     "^s10\n"
     "    wait ?s6>=r2\n"
     "    act  r[D*4], s[D*4] func=recip scale=100.0 bias=1e-06 ?s10>=r11 "
     "^s11\n"},
    {GENERAL, NSR_GEN_BODY, buffer},
    {GENERAL, NSR_GEN_BODY,
     "    wait ?s13>=r2\n"
     "    tt   u[D*4], mb+r3[D*4], r[D*4] op=mul ?s11>=r11 ^s6\n"
     "    ts   pb+r3[D*4], pb+r3[D*4] op0=mul imm0=0.9999 op1=none imm1=0.0 "
     "?s0>=r11 "
     "^s12\n"
     "    tt   pb+r3[D*4], pb+r3[D*4], u[D*4] op=sub ?s12>=r11 ^s13\n"},
    {STORE, NSR_GEN_BODY, buffer},
    {STORE, NSR_GEN_BODY,
     "    dma  q5, mo+r5{P*(4*D)}[D*4], mb+r3[D*4] ?s7>=r11 ^s15\n"
     "    dma  q6, vo+r5{P*(4*D)}[D*4], vb+r3[D*4] ?s9>=r11 ^s16\n"
     "    dma  q4, po+r5{P*(4*D)}[D*4], pb+r3[D*4] ?s13>=r11 ^s14\n"
     "    add  r5, r5, P*D*4\n"},
    {LOAD, NSR_GEN_BODY, next_before},
    {VECTOR, NSR_GEN_BODY, next_now},
    {ACTIVATION, NSR_GEN_BODY, next_now},
    {GENERAL, NSR_GEN_BODY, next_now},
    {STORE, NSR_GEN_BODY, next_now}};
enum { NMANUAL = sizeof manual / sizeof *manual };

/* Streams in DRAM follow each other; one that is written has no contents. */
static void streams(const int64_t *v, int64_t top, struct nsr_strbuf *out) {
  static const char *const names[] = {"p", "g", "m", "v", "po", "mo", "vo"};
  uint64_t seed = (uint64_t)v[SEED];
  uint64_t n = (uint64_t)(v[TILES] * v[ROWS] * v[COLS]);
  for (int i = 0; i < 7; i++) {
    nsr_strbuf_printf(
        out, ".tensor %s dram f32 [%" PRId64 ", D] at %" PRId64 " %s", names[i],
        top * v[ROWS], 128 + i * 4 * top * v[ROWS] * v[COLS],
        i < 4 ? "input" : "output");
    if (i < 3)
      nsr_gen_random_f32(out, seed + (uint64_t)i, n);
    else if (i == 3)
      nsr_gen_random_positive(out, seed + 3, n);
    nsr_strbuf_puts(out, "\n");
  }
}

static void tensors(const int64_t *v, int64_t top, struct nsr_strbuf *out) {
  nsr_strbuf_printf(out,
                    ".tensor tiles dram i32 [1] at 0 input range 0 %" PRId64
                    " words %" PRId64 "\n",
                    top, v[TILES]);
  streams(v, top, out);
  const char *buffers = "pgmv", *temps = "tqsru";
  for (int i = 0; buffers[i]; i++)
    nsr_strbuf_printf(out,
                      ".tensor %cb sbuf f32 [P, M*D] at 0:P, %d*M*D scratch\n",
                      buffers[i], 4 * i);
  for (int i = 0; temps[i]; i++)
    nsr_strbuf_printf(
        out, ".tensor %c sbuf f32 [P, D] at 0:P, 16*M*D+%d*D scratch\n",
        temps[i], 4 * i);
}

static int64_t sbuf_bytes(const int64_t *v) {
  return (4 * v[BUFFERS] + 5) * v[COLS] * 4;
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
  if (tiles > INT32_MAX || 7 * tiles + 128 > reach.offset ||
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
  int engines[NROLES];
  NSR_TRY(nsr_gen_engines(ctx, isa, "adamw", "ld mov add mul rem br sync halt",
                          roles, NROLES, engines));
  NSR_TRY(check(ctx, isa, v, top));
  nsr_strbuf_printf(out,
                    "; adamw: a step of the optimizer, tile by tile\n"
                    ".isa %s\n"
                    ".kernel \"adamw\"\n"
                    ".const P %" PRId64 "\n.const D %" PRId64
                    "\n.const M %" PRId64 "\n",
                    isa->name, v[ROWS], v[COLS], v[BUFFERS]);
  for (int q = 0; q < 7; q++)
    nsr_strbuf_printf(out, ".queue q%d %s\n", q,
                      isa->engines[engines[q < 4 ? LOAD : STORE]]);
  tensors(v, top, out);
  nsr_gen_streams(out, isa, &nsr_gen_loop, request->manual ? manual : steps,
                  request->manual ? NMANUAL : NSTEPS, engines, request->manual);
  return NSR_OK;
}

const struct nsr_gen_kernel nsr_gen_adamw = {
    .name = "adamw",
    .about = "four streams in, three out, eleven steps between",
    .manual = true,
    .nparams = 6,
    .params = {[TILES] = {"tiles", 3, 8, 0, 1 << 16, NSR_GEN_PLAIN},
               [ROWS] = {"rows", 4, 128, 1, 0, NSR_GEN_PARTITIONS},
               [COLS] = {"cols", 8, 512, 1, 8192, NSR_GEN_PLAIN},
               [BUFFERS] = {"buffers", 2, 3, 1, 8, NSR_GEN_PLAIN},
               [MAX] = {"max", 30, 30, 1, 1 << 16, NSR_GEN_PLAIN},
               [SEED] = {"seed", 1, 1, 0, 65535, NSR_GEN_PLAIN}},
    .make = make,
    .fit = fit};
