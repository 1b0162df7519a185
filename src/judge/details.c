/* details.c - a difference at one instance, seen from closer by.
 *
 * Needs two runs that differ in what one instance read, or in the instance
 * itself; runs again up to there (runs repeat exactly) and names the first
 * bytes that differ and their last writers, or the addresses.
 */
#include "judge/cosim.h"
#include "judge/witness.h"

struct seen {
  uint32_t atom, writer; /* writer: its ordinal, 0: nobody */
  uint64_t token;
  uint8_t channel;
};

struct glimpse { /* of the bytes an instance reads */
  uint32_t channel, number;
  NSR_VEC(struct seen) seen;
  enum nsr_status status;
};

static bool is_it(const struct glimpse *g, const struct nsr_flight *f) {
  return f->channel == g->channel && f->number == g->number;
}

static enum nsr_status note(struct glimpse *g, struct nsr_watch *w,
                            const struct nsr_flight *f) {
  for (int i = 0; i < f->step->naccess; i++) {
    if (f->empty[i] ||
        !nsr_role_reads((enum nsr_role)f->step->access[i].op.role))
      continue;
    for (struct nsr_cover_iter it = nsr_cover_first(f->cover[i]); it.more;
         nsr_cover_next(&it)) {
      const struct nsr_shadow_writer *last = &w->shadow->writer[it.atom];
      NSR_PUSH(w->pool, NSR_SCRATCH, &g->seen,
               ((struct seen){it.atom, last->ordinal, 0, last->channel}));
    }
  }
  return NSR_OK;
}

static bool on_issue(void *self, struct nsr_watch *w,
                     const struct nsr_flight *f) {
  struct glimpse *g = self;
  if (is_it(g, f))
    g->status = note(g, w, f);
  return g->status == NSR_OK;
}

static bool on_read(void *self, struct nsr_watch *w,
                    const struct nsr_flight *f) {
  struct glimpse *g = self;
  if (!is_it(g, f))
    return true;
  for (size_t i = 0; i < g->seen.n; i++)
    g->seen.v[i].token = w->memory->token[g->seen.v[i].atom];
  return false;
}

static enum nsr_status look(struct nsr_judge *j, const struct nsr_watch *of,
                            struct glimpse *g, struct nsr_watch **again) {
  struct nsr_watch_options o = of->o;
  o.probe_self = g;
  o.on_issue = on_issue;
  o.on_read = on_read;
  o.policy.state = o.policy.seed;
  o.policy.last = 0;
  NSR_TRY(nsr_watch_run(j->ctx, j->pool, &o, again));
  return g->status;
}

static void say_writer(struct nsr_strbuf *b, const char *which,
                       const struct nsr_watch *w, const struct seen *s) {
  nsr_strbuf_printf(b, "\n  %s: written by ", which);
  if (s->writer)
    nsr_say_instance(b, w, s->channel, s->writer);
  else
    nsr_strbuf_puts(b, "nobody");
}

static enum nsr_status add_writers(struct nsr_judge *j,
                                   struct nsr_watch *reference,
                                   struct nsr_watch *failed) {
  struct glimpse a = {0}, b = {0};
  struct nsr_watch *wa, *wb;
  if (failed->o.may) /* no shadow of single writers */
    return NSR_OK;
  a.channel = b.channel = failed->at_channel;
  a.number = b.number = failed->at_number;
  NSR_TRY(look(j, reference, &a, &wa));
  NSR_TRY(look(j, failed, &b, &wb));
  for (size_t i = 0; i < a.seen.n && i < b.seen.n; i++) {
    if (a.seen.v[i].token == b.seen.v[i].token)
      continue;
    struct nsr_strbuf text;
    nsr_strbuf_init(&text, j->ctx, NSR_KEEP);
    nsr_strbuf_printf(&text, "%s\n  ", failed->finding.text);
    nsr_say_place(&text, wb, b.seen.v[i].atom);
    say_writer(&text, "first kernel", wa, &a.seen.v[i]);
    say_writer(&text, "second", wb, &b.seen.v[i]);
    return nsr_strbuf_done(&text, &failed->finding.text, NULL);
  }
  return NSR_OK;
}

/* ---- addresses */

struct address {
  uint32_t channel, number;
  struct nsr_strbuf text;
  bool seen;
};

static bool on_address(void *self, struct nsr_watch *w,
                       const struct nsr_flight *f) {
  struct address *a = self;
  (void)w;
  if (f->channel != a->channel || f->number != a->number)
    return true;
  nsr_say_addresses(&a->text, f);
  a->seen = true;
  return false;
}

static enum nsr_status add_addresses(struct nsr_judge *j,
                                     struct nsr_watch *reference,
                                     struct nsr_watch *failed) {
  struct address a = {.channel = failed->at_channel,
                      .number = failed->at_number};
  struct nsr_watch_options o = reference->o;
  struct nsr_watch *again;
  nsr_strbuf_init(&a.text, j->ctx, NSR_KEEP);
  nsr_strbuf_printf(&a.text, "%s\n  it is", failed->finding.text);
  o.probe_self = &a;
  o.on_issue = on_address;
  o.policy.state = o.policy.seed;
  o.policy.last = 0;
  NSR_TRY(nsr_watch_run(j->ctx, j->pool, &o, &again));
  if (!a.seen)
    return NSR_OK;
  nsr_strbuf_puts(&a.text, " in the first kernel");
  return nsr_strbuf_done(&a.text, &failed->finding.text, NULL);
}

enum nsr_status nsr_judge_details(struct nsr_judge *j,
                                  struct nsr_watch *reference,
                                  struct nsr_watch *failed) {
  if (failed->finding.kind == NSR_FAULT_READS)
    return add_writers(j, reference, failed);
  if (failed->finding.kind == NSR_FAULT_TRACE && failed->at_number)
    return add_addresses(j, reference, failed);
  return NSR_OK;
}
