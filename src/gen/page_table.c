/* page_table.c - pages that memory names.
 *
 * Iteration i reads page src[i] of a cache, makes y = x / 2 + 1, and writes
 * page dst[i] of it. Which pages these are is in two tables that two engines
 * read, so no page can be told from another, and a page may be read that was
 * written just before. Buffers in SBUF rotate by i rem M.
 *
 *   s0  q0  loads      s1  activation      q1  stores
 */
#include <inttypes.h>

#include "gen/suite.h"

enum { TILES, ROWS, COLS, PAGES, BUFFERS, MAX, SEED };

enum { LOAD, ACTIVATION, STORE, NROLES };

static const struct nsr_gen_role roles[NROLES] = {[LOAD] = {"dma ld", NULL},
                                                  [ACTIVATION] = {"act", NULL},
                                                  [STORE] = {"dma ld", "iota"}};

static const char buffer[] =
    "    rem  r3, r2, M\n"
    "    mul  r3, r3, 4*D                 ; the tile's buffer\n";
static const char entry[] =
    "    mul  r4, r2, 4                   ; its entry in the tables\n";

static const struct nsr_gen_step steps[] = {
    {LOAD, NSR_GEN_BODY, buffer},
    {LOAD, NSR_GEN_BODY, entry},
    {LOAD, NSR_GEN_BODY,
     "    ld   r5, src+r4\n"
     "    mul  r5, r5, P*D*4               ; the page to read\n"
     "    dma  q0, xb+r3[D*4], cache+r5{P*(4*D)}[D*4] ^s0\n"},
    {ACTIVATION, NSR_GEN_BODY, buffer},
    {ACTIVATION, NSR_GEN_BODY,
     "    act  yb+r3[D*4], xb+r3[D*4] func=identity scale=0.5 bias=1.0 "
     "?s0>=1 ^s1\n"},
    {STORE, NSR_GEN_BODY, buffer},
    {STORE, NSR_GEN_BODY, entry},
    {STORE, NSR_GEN_BODY,
     "    ld   r6, dst+r4\n"
     "    mul  r6, r6, P*D*4               ; the page to write\n"
     "    dma  q1, cache+r6{P*(4*D)}[D*4], yb+r3[D*4] ?s1>=1\n"}};
enum { NSTEPS = sizeof steps / sizeof *steps };

/* By hand: r11 is the number of this iteration from 1, r2 from 0. A page may be
 * the one written last, so a load waits for the store before it, and with it
 * for all that used its buffers.
 *
 *   s0 loads  s1 activation  s2 stores
 */
static const char now[] = "    mov  r11, 1\n";
static const char next[] = "    add  r11, r11, 1\n";

static const struct nsr_gen_step manual[] = {
    {ACTIVATION, NSR_GEN_START, now},
    {STORE, NSR_GEN_START, now},
    {LOAD, NSR_GEN_BODY, buffer},
    {LOAD, NSR_GEN_BODY, entry},
    {LOAD, NSR_GEN_BODY,
     "    ld   r5, src+r4\n"
     "    mul  r5, r5, P*D*4               ; the page to read\n"
     "    dma  q0, xb+r3[D*4], cache+r5{P*(4*D)}[D*4] ?s2>=r2 ^s0\n"},
    {ACTIVATION, NSR_GEN_BODY, buffer},
    {ACTIVATION, NSR_GEN_BODY,
     "    act  yb+r3[D*4], xb+r3[D*4] func=identity scale=0.5 bias=1.0 "
     "?s0>=r11 ^s1\n"},
    {STORE, NSR_GEN_BODY, buffer},
    {STORE, NSR_GEN_BODY, entry},
    {STORE, NSR_GEN_BODY,
     "    ld   r6, dst+r4\n"
     "    mul  r6, r6, P*D*4               ; the page to write\n"
     "    dma  q1, cache+r6{P*(4*D)}[D*4], yb+r3[D*4] ?s1>=r11 ^s2\n"},
    {ACTIVATION, NSR_GEN_BODY, next},
    {STORE, NSR_GEN_BODY, next}};
enum { NMANUAL = sizeof manual / sizeof *manual };

static void table(struct nsr_strbuf *out, const char *name, int64_t at,
                  const int64_t *v, int64_t top, int seed) {
  nsr_strbuf_printf(out,
                    ".tensor %s dram i32 [%" PRId64 "] at %" PRId64
                    " input range 0 %" PRId64,
                    name, top, at, v[PAGES] - 1);
  nsr_gen_random_below(out, (uint64_t)(v[SEED] + seed), (uint64_t)top,
                       (uint32_t)v[PAGES]);
  nsr_strbuf_puts(out, "\n");
}

static void tensors(const int64_t *v, int64_t top, struct nsr_strbuf *out) {
  nsr_strbuf_printf(out,
                    ".tensor tiles dram i32 [1] at 0 input range 0 %" PRId64
                    " words %" PRId64 "\n",
                    top, v[TILES]);
  table(out, "src", 64, v, top, 1);
  table(out, "dst", 64 + 4 * top, v, top, 2);
  nsr_strbuf_printf(
      out, ".tensor cache dram f32 [%" PRId64 ", D] at %" PRId64 " output",
      v[PAGES] * v[ROWS], 64 + 8 * top);
  nsr_gen_random_f32(out, (uint64_t)v[SEED],
                     (uint64_t)(v[PAGES] * v[ROWS] * v[COLS]));
  nsr_strbuf_puts(out, "\n.tensor xb sbuf f32 [P, M*D] at 0:P, 0 scratch\n"
                       ".tensor yb sbuf f32 [P, M*D] at 0:P, 4*M*D scratch\n");
}

static int64_t sbuf_bytes(const int64_t *v) {
  return 2 * v[BUFFERS] * v[COLS] * 4;
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
  int64_t cache = v[PAGES] * v[ROWS] * v[COLS] * 4;
  if (cache > INT32_MAX || cache + 8 * top + 64 > reach.offset ||
      4 * v[COLS] > reach.step)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "%" PRId64 " pages of %" PRId64 " x %" PRId64
                    " are beyond what offsets and steps can say",
                    v[PAGES], v[ROWS], v[COLS]);
  return NSR_OK;
}

static enum nsr_status make(struct nsr_ctx *ctx,
                            const struct nsr_gen_request *request,
                            struct nsr_strbuf *out) {
  const struct nsr_isa *isa = request->isa;
  const int64_t *v = request->v;
  int64_t top = v[MAX] > v[TILES] ? v[MAX] : v[TILES];
  int engines[NROLES];
  NSR_TRY(nsr_gen_engines(ctx, isa, "page-table",
                          "ld mov add mul rem br sync halt", roles, NROLES,
                          engines));
  NSR_TRY(check(ctx, isa, v, top));
  nsr_strbuf_printf(out,
                    "; page-table: pages that memory names\n"
                    ".isa %s\n"
                    ".kernel \"page-table\"\n"
                    ".const P %" PRId64 "\n.const D %" PRId64
                    "\n.const M %" PRId64 "\n.queue q0 %s\n.queue q1 %s\n",
                    isa->name, v[ROWS], v[COLS], v[BUFFERS],
                    isa->engines[engines[LOAD]], isa->engines[engines[STORE]]);
  tensors(v, top, out);
  nsr_gen_streams(out, isa, &nsr_gen_loop, request->manual ? manual : steps,
                  request->manual ? NMANUAL : NSTEPS, engines, request->manual);
  return NSR_OK;
}

const struct nsr_gen_kernel nsr_gen_page_table = {
    .name = "page-table",
    .about = "reads and writes pages of a cache that tables in memory name",
    .manual = true,
    .nparams = 7,
    .params = {[TILES] = {"tiles", 3, 64, 0, 1 << 16, NSR_GEN_PLAIN},
               [ROWS] = {"rows", 4, 128, 1, 0, NSR_GEN_PARTITIONS},
               [COLS] = {"cols", 8, 1024, 1, 4096, NSR_GEN_PLAIN},
               [PAGES] = {"pages", 5, 16, 1, 1 << 16, NSR_GEN_PLAIN},
               [BUFFERS] = {"buffers", 2, 2, 1, 8, NSR_GEN_PLAIN},
               [MAX] = {"max", 100, 100, 1, 1 << 16, NSR_GEN_PLAIN},
               [SEED] = {"seed", 1, 1, 0, 65535, NSR_GEN_PLAIN}},
    .make = make,
    .fit = fit};
