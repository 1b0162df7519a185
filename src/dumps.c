/* dumps.c - what the passes made, as text, up to a stage of them. */
#include <nsr/dump.h>

#include <string.h>

#include "base/strbuf.h"
#include "dep/explicit.h"
#include "report/rewritten.h"
#include "report/stages.h"
#include "soft.h"

int nsr_stage_parse(const char *name) {
  static const char *const names[] = {"cfg", "scopes", "deps", "orders",
                                      "plan"};
  for (int i = 0; i <= NSR_STAGE_PLAN; i++)
    if (strcmp(names[i], name) == 0)
      return i;
  return -1;
}

/* For the stages before waits are read: islands are shown, orders are not. */
static enum nsr_status
order_without_waits(struct nsr_ctx *ctx,
                    const struct nsr_rewrite_options *options,
                    struct nsr_bench *b) {
  NSR_TRY(nsr_bench_recover(ctx, b));
  NSR_TRY(nsr_islands_find(ctx, &b->tree, NULL, 0, nsr_bench_wild(options),
                           &b->islands));
  NSR_TRY(nsr_explicit_map(ctx, &b->tree, &b->islands, true, &b->target));
  for (uint32_t w = 0; w < b->tree.nworks; w++)
    b->target[w] = NSR_NONE;
  return nsr_tree_linearize(ctx, &b->tree, &b->islands, &b->target);
}

/* Runs the passes that a stage needs. */
static enum nsr_status run_to(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                              enum nsr_stage stage,
                              const struct nsr_rewrite_options *options,
                              struct nsr_bench *b) {
  NSR_TRY(nsr_bench_read(ctx, k, options, b));
  NSR_TRY(stage >= NSR_STAGE_DEPS ? nsr_bench_analyse(ctx, options, b, true)
                                  : order_without_waits(ctx, options, b));
  if (stage == NSR_STAGE_ORDERS)
    return nsr_needs_select(ctx, &b->deps, false, &b->needs);
  if (stage != NSR_STAGE_PLAN)
    return NSR_OK;
  return nsr_bench_plan(ctx, options, b, true);
}

static enum nsr_status print_soft(struct nsr_ctx *ctx,
                                  const struct nsr_rewrite_options *options,
                                  const struct nsr_bench *b,
                                  struct nsr_strbuf *out) {
  struct nsr_rewrite_report report = {0};
  NSR_TRY(nsr_report_soft(ctx, options, b, &report));
  for (uint32_t i = 0; i < report.nsoft; i++)
    nsr_print_soft(out, &report.soft[i]);
  return NSR_OK;
}

enum nsr_status nsr_dump(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                         enum nsr_stage stage,
                         const struct nsr_rewrite_options *options,
                         const char **text) {
  struct nsr_bench b = {0};
  struct nsr_orders orders = {&b.deps, &b.needs, NULL};
  struct nsr_strbuf out;
  nsr_strbuf_init(&out, ctx, NSR_KEEP);
  NSR_TRY(run_to(ctx, k, stage, options, &b));
  orders.target = b.target;
  switch (stage) {
  case NSR_STAGE_CFG:
    nsr_print_cfg(&out, &b.tree);
    break;
  case NSR_STAGE_SCOPES:
    nsr_print_scopes(&out, &b.tree);
    break;
  case NSR_STAGE_DEPS:
    nsr_print_deps(&out, &b.deps);
    break;
  case NSR_STAGE_ORDERS:
    nsr_print_orders(&out, &orders);
    break;
  case NSR_STAGE_PLAN:
    nsr_print_plan(&out, &b.plan);
    NSR_TRY(print_soft(ctx, options, &b, &out));
    break;
  }
  return nsr_strbuf_done(&out, text, NULL);
}

enum nsr_status nsr_dump_dot(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                             enum nsr_stage stage,
                             const struct nsr_rewrite_options *options,
                             const char **text) {
  struct nsr_bench b = {0};
  struct nsr_orders orders = {&b.deps, &b.needs, NULL};
  struct nsr_strbuf out;
  if (stage != NSR_STAGE_SCOPES && stage != NSR_STAGE_ORDERS)
    return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                    "scopes and orders alone are graphs");
  nsr_strbuf_init(&out, ctx, NSR_KEEP);
  NSR_TRY(run_to(ctx, k, stage, options, &b));
  orders.target = b.target;
  if (stage == NSR_STAGE_SCOPES)
    nsr_dot_scopes(&out, &b.tree);
  else
    nsr_dot_orders(&out, &orders);
  return nsr_strbuf_done(&out, text, NULL);
}
