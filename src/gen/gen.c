/* gen.c - the suite: finds a kernel, resolves its settings, makes its text.
 *
 * Kernels are made as assembly, which a person can read and change, and go
 * through the assembler like everybody's.
 */
#include <inttypes.h>
#include <string.h>

#include <nsr/text.h>

#include "gen/suite.h"

static const struct nsr_gen_kernel *const suite[] = {
    &nsr_gen_sync_bound,      &nsr_gen_rmsnorm,         &nsr_gen_matmul,
    &nsr_gen_adamw,           &nsr_gen_rotating_banks,  &nsr_gen_page_table,
    &nsr_gen_paged_attention, &nsr_gen_flash_attention, &nsr_gen_moe,
    &nsr_gen_random};
enum { NSUITE = sizeof suite / sizeof *suite };

const char *const nsr_gen_names[] = {"sync-bound",
                                     "rmsnorm",
                                     "tiled-matmul",
                                     "adamw",
                                     "rotating-banks",
                                     "page-table",
                                     "paged-attention",
                                     "flash-attention",
                                     "moe",
                                     "random",
                                     NULL};
_Static_assert(sizeof nsr_gen_names / sizeof *nsr_gen_names == NSUITE + 1,
               "every kernel of the suite has a name");

static const struct nsr_gen_kernel *find(const char *name) {
  for (size_t i = 0; i < NSUITE; i++)
    if (!strcmp(suite[i]->name, name) ||
        (suite[i]->alias && !strcmp(suite[i]->alias, name)))
      return suite[i];
  return NULL;
}

const char *nsr_gen_about(const char *name) {
  const struct nsr_gen_kernel *g = find(name);
  return g ? g->about : NULL;
}

static enum nsr_status unknown_kernel(struct nsr_ctx *ctx, const char *name) {
  struct nsr_strbuf b;
  const char *known;
  nsr_strbuf_init(&b, ctx, NSR_KEEP);
  for (size_t i = 0; i < NSUITE; i++)
    nsr_strbuf_printf(&b, "%s%s", i ? ", " : "", suite[i]->name);
  NSR_TRY(nsr_strbuf_done(&b, &known, NULL));
  return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                  "no kernel is called '%s'; there are %s", name, known);
}

static enum nsr_status unknown_setting(struct nsr_ctx *ctx,
                                       const struct nsr_gen_kernel *g,
                                       const char *key) {
  struct nsr_strbuf b;
  const char *known;
  nsr_strbuf_init(&b, ctx, NSR_KEEP);
  for (uint32_t i = 0; i < g->nparams; i++)
    nsr_strbuf_printf(&b, "%s%s", i ? ", " : "", g->params[i].key);
  NSR_TRY(nsr_strbuf_done(&b, &known, NULL));
  return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                  "%s has no setting '%s'; it has %s", g->name, key, known);
}

static int64_t highest(const struct nsr_gen_param *p,
                       const struct nsr_isa *isa) {
  if (p->bound == NSR_GEN_ENGINES)
    return isa->nengines;
  return p->bound == NSR_GEN_PARTITIONS ? isa->partitions : p->hi;
}

static int64_t lowest(const struct nsr_gen_param *p,
                      const struct nsr_isa *isa) {
  return p->bound == NSR_GEN_PER_ENGINE ? p->lo * isa->nengines : p->lo;
}

static enum nsr_status set(struct nsr_ctx *ctx, const struct nsr_gen_kernel *g,
                           const struct nsr_isa *isa,
                           const struct nsr_setting *s, int64_t *v) {
  for (uint32_t i = 0; i < g->nparams; i++) {
    const struct nsr_gen_param *p = &g->params[i];
    if (strcmp(p->key, s->key))
      continue;
    if (s->value < lowest(p, isa) || s->value > highest(p, isa))
      return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                      "%s of %s: %" PRId64 " is not in %" PRId64 "..%" PRId64,
                      p->key, g->name, s->value, lowest(p, isa),
                      highest(p, isa));
    v[i] = s->value;
    return NSR_OK;
  }
  return unknown_setting(ctx, g, s->key);
}

/* The settings of a size, before any is set. */
static void defaults(const struct nsr_gen_kernel *g, const struct nsr_isa *isa,
                     bool real_size, int64_t *v) {
  for (uint32_t i = 0; i < g->nparams; i++) {
    int64_t most = highest(&g->params[i], isa);
    v[i] = real_size ? g->params[i].real : g->params[i].small;
    v[i] = v[i] > most ? most : v[i];
  }
  if (real_size && g->fit)
    g->fit(isa, v);
}

enum nsr_status nsr_gen_text(struct nsr_ctx *ctx, const char *name,
                             const struct nsr_gen_options *options,
                             const char **text, size_t *n) {
  const struct nsr_gen_kernel *g = find(name);
  if (!g)
    return unknown_kernel(ctx, name);
  const struct nsr_isa *isa = options->isa ? options->isa : nsr_isas[0];
  int64_t v[NSR_GEN_MAX_PARAMS] = {0};
  defaults(g, isa, options->real_size, v);
  for (uint32_t i = 0; i < options->nsettings; i++)
    NSR_TRY(set(ctx, g, isa, &options->settings[i], v));
  if (options->manual && !g->manual)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE, "%s has no manual form",
                    g->name);
  struct nsr_strbuf out;
  nsr_strbuf_init(&out, ctx, NSR_KEEP);
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  const struct nsr_gen_request r = {isa, v, options->manual, options->shares};
  enum nsr_status status = g->make(ctx, &r, &out);
  nsr_scratch_release(ctx, mark);
  NSR_TRY(status);
  return nsr_strbuf_done(&out, text, n);
}

enum nsr_status nsr_gen(struct nsr_ctx *ctx, const char *name,
                        const struct nsr_gen_options *options,
                        struct nsr_kernel **k) {
  const char *text;
  size_t n;
  NSR_TRY(nsr_gen_text(ctx, name, options, &text, &n));
  const char *path = nsr_printf(ctx, NSR_KEEP, "%s.s", name);
  if (!path)
    return NSR_E_NOMEM;
  return nsr_assemble(ctx, path, text, n, k);
}
