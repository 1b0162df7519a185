/* judge_notes.c - what a verdict does not cover: code that no input entered,
 * assumptions about others.
 */
#include "judge/cosim.h"
#include "judge/witness.h"

enum { MOST_LINES = 24 };

struct notes {
  struct nsr_strbuf b;
  const struct nsr_judge *j;
  int lines, left_out;
};

/* A new line, unless there are many already. */
static bool line(struct notes *n) {
  if (n->lines == MOST_LINES) {
    n->left_out++;
    return false;
  }
  n->lines++;
  return true;
}

static void never_ran(struct notes *n, int engine, uint32_t first,
                      uint32_t end) {
  if (!line(n))
    return;
  nsr_strbuf_puts(&n->b, "never ran: ");
  nsr_say_insn(&n->b, n->j->a, engine, first);
  if (end - first > 1)
    nsr_strbuf_printf(&n->b, " and %u behind it", (unsigned)(end - first - 1));
  nsr_strbuf_puts(&n->b, "\n");
}

static void never_taken(struct notes *n, int engine, uint32_t i) {
  if (!line(n))
    return;
  nsr_strbuf_puts(&n->b, "loop never went round: ");
  nsr_say_insn(&n->b, n->j->a, engine, i);
  nsr_strbuf_puts(&n->b, "\n");
}

static void coverage(struct notes *n, int engine) {
  const struct nsr_image_stream *s = &n->j->a->streams[engine];
  const uint32_t *ran = n->j->ran[engine], *taken = n->j->taken[engine];
  for (uint32_t i = 0; i < s->n; i++) {
    uint32_t first = i;
    while (i < s->n && !ran[i])
      i++;
    if (i > first)
      never_ran(n, engine, first, i);
    if (i < s->n && s->steps[i].desc->ctl == NSR_CTL_BR &&
        (uint32_t)s->steps[i].target <= i && !taken[i])
      never_taken(n, engine, i);
  }
}

/* What others were taken to do, and what they had no occasion for. */
static void others(struct notes *n) {
  const struct nsr_external *x = n->j->options.external;
  if (!x) {
    if (n->j->a->has_foreign)
      nsr_strbuf_puts(&n->b, "assumed: waits on semaphores of others hold at "
                             "once, and their accesses to DRAM are ordered by "
                             "these semaphores alone\n");
    return;
  }
  for (uint32_t s = 0; s < x->nsequences; s++) {
    uint32_t i = x->first[s] + n->j->happened[s];
    if (i == x->first[s + 1] || !line(n))
      continue;
    nsr_say_event(&n->b, x, i);
    nsr_strbuf_puts(&n->b, " never happened\n");
  }
  nsr_strbuf_printf(&n->b,
                    "assumed: others do what %s says, at each launch, "
                    "and nothing else\n",
                    x->path);
}

static void assumptions(struct notes *n) {
  const struct nsr_judge *j = n->j;
  if (j->skipped)
    nsr_strbuf_printf(
        &n->b, "%u large inputs left out: more than %llu instructions\n",
        (unsigned)j->skipped, (unsigned long long)(j->budget / 4));
  if (j->left)
    nsr_strbuf_printf(&n->b, "stopped in front of the last %zu of %zu inputs\n",
                      j->left, j->inputs.list.n);
  if (j->options.nstarts)
    nsr_strbuf_puts(&n->b, "assumed: semaphores of the second kernel start as "
                           "was asked for\n");
  if (j->options.unsigned_waits)
    nsr_strbuf_puts(&n->b, "assumed: waits of the second kernel compare "
                           "without sign\n");
  if (j->options.budget < j->budget)
    nsr_strbuf_printf(&n->b,
                      "the first %u inputs did not end in %llu instructions: "
                      "the others were followed for %llu\n",
                      (unsigned)NSR_CUT_OFF_MANY, (unsigned long long)j->budget,
                      (unsigned long long)j->options.budget);
  others(n);
  if (j->may_pairs)
    nsr_strbuf_printf(&n->b,
                      "assumed: %llu may pairs that the first kernel leaves "
                      "unordered are disjoint\n",
                      (unsigned long long)j->may_pairs);
  if (j->odd)
    nsr_strbuf_printf(&n->b, "%s: only the schedules tried are covered\n",
                      j->odd);
}

enum nsr_status nsr_judge_ranges(struct nsr_judge *j, const char **lines) {
  struct nsr_strbuf b;
  nsr_strbuf_init(&b, j->ctx, NSR_KEEP);
  for (uint32_t i = 0; i < j->inputs.ntensors; i++) {
    const struct nsr_tensor *t = &j->a->kernel->tensors[j->inputs.tensors[i]];
    if (j->most[i] != INT64_MIN && j->most[i] < t->hi)
      nsr_strbuf_printf(&b, "range of %s: tried up to %lld of %lld\n",
                        t->name ? t->name : "?", (long long)j->most[i],
                        (long long)t->hi);
  }
  return nsr_strbuf_done(&b, lines, NULL);
}

enum nsr_status nsr_judge_notes(struct nsr_judge *j, const char *ranges,
                                const char **notes) {
  struct notes n = {.j = j};
  nsr_strbuf_init(&n.b, j->ctx, NSR_KEEP);
  for (int e = 0; e < j->a->nengines; e++)
    coverage(&n, e);
  if (n.left_out)
    nsr_strbuf_printf(&n.b, "and %d more places never entered\n", n.left_out);
  nsr_strbuf_puts(&n.b, ranges);
  assumptions(&n);
  return nsr_strbuf_done(&n.b, notes, NULL);
}
