/* test_metamorphic.c - changes that must not matter, to kernels and to what the
 * rewriter made of them.
 *
 * Of a kernel: other names of semaphores and registers, two engines that change
 * places, a barrier more, a conditional that never runs, a loop unrolled by
 * two, the whole kernel twice, smaller ranges of control words. Each is
 * rewritten and judged like the kernel as it was. Of an output: a wait once
 * more, a wait in front of its instruction, other names, smaller ranges in
 * both. Each is judged like the output, and the output as it is under all
 * schedules: whatever takes long, or short.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <nsr/gen.h>
#include <nsr/prove.h>
#include <nsr/rewrite.h>
#include <nsr/text.h>

#include "base/strbuf.h"
#include "gen/edit.h"
#include "gen/survey.h"
#include "prng.h"

enum { KERNELS = 10 };

struct turn {
  struct nsr_ctx *ctx;
  const struct nsr_isa *isa;
  struct prng *r;
  int64_t seed, size;
  enum nsr_scheme scheme;
  const struct nsr_kernel *k, *out;
  struct nsr_survey survey; /* of what is changed */
  struct nsr_edits edits;
  unsigned waits;               /* of out */
  unsigned *swapped, *unrolled; /* where there was something to change */
};

static void bad(const struct turn *t, const char *what, const char *why) {
  fail_msg("%s: random --isa=%s --seed=%d --instructions=%d, %s: %s", what,
           t->isa->name, (int)t->seed, (int)t->size, nsr_scheme_name(t->scheme),
           why);
}

static void must(const struct turn *t, const char *what,
                 enum nsr_status status) {
  const struct nsr_diag *d = nsr_ctx_first_error(t->ctx);
  if (status != NSR_OK)
    bad(t, what, d ? d->text : nsr_status_name(status));
}

/* ---- edits */

static enum nsr_status edit(struct turn *t, enum nsr_edit_kind kind, uint32_t s,
                            uint32_t i, const struct nsr_insn *insn) {
  struct nsr_edit e = {.kind = (uint8_t)kind,
                       .stream = s,
                       .at = i,
                       .from = kind == NSR_EDIT_REPLACE ? i : NSR_NONE};
  char why[100] = "";
  if (!nsr_encode(t->isa, insn, e.word, why, sizeof why))
    bad(t, "an instruction", why);
  NSR_PUSH(t->ctx, NSR_KEEP, &t->edits.list, e);
  return NSR_OK;
}

static void start(struct turn *t, const struct nsr_kernel *k) {
  t->edits.list.n = 0;
  must(t, "looking", nsr_survey_new(t->ctx, k, &t->survey));
}

static struct nsr_kernel *done(struct turn *t, const char *what) {
  struct nsr_kernel *changed;
  must(t, what, nsr_edit_apply(t->ctx, t->survey.k, &t->edits, &changed));
  must(t, what, nsr_kernel_check(t->ctx, changed));
  return changed;
}

#define EACH_INSN(t, s, i)                                                     \
  for (uint32_t s = 0; s < (t)->survey.k->nstreams; s++)                       \
    for (uint32_t i = 0; i < (t)->survey.streams[s].n; i++)

/* ---- judges */

static unsigned count_waits(struct turn *t, const struct nsr_kernel *k) {
  unsigned n = 0;
  start(t, k);
  EACH_INSN(t, s, i)
  n += nsr_survey_waits(k, &t->survey.streams[s].insns[i]);
  return n;
}

static void run(struct turn *t, const struct nsr_kernel *a,
                const struct nsr_kernel *b, bool every, const char *what) {
  const struct nsr_judge_options options = {
      .inputs = every ? 3 : 10, .seed = 3, .every_schedule = every};
  struct nsr_judgement j;
  must(t, what, nsr_cosimulate(t->ctx, a, b, &options, &j));
  if (j.verdict != NSR_EQUAL)
    bad(t, what, j.text);
}

/* Level 2 says equal, level 1 what it says of the output as it is. */
static void judge(struct turn *t, const struct nsr_kernel *a,
                  const struct nsr_kernel *b, const char *what) {
  struct nsr_proof before, proof;
  run(t, a, b, false, what);
  must(t, what, nsr_prove(t->ctx, t->k, t->out, NULL, &before));
  must(t, what, nsr_prove(t->ctx, a, b, NULL, &proof));
  if (before.verdict == NSR_PROOF_PROVED && proof.verdict != NSR_PROOF_PROVED)
    bad(t, what, proof.text);
}

static struct nsr_kernel *rewrite(struct turn *t, const struct nsr_kernel *k) {
  struct nsr_rewrite_options o = {.verify = NSR_VERIFY_NONE,
                                  .scheme = t->scheme};
  struct nsr_rewrite_report report;
  struct nsr_kernel *out;
  return nsr_rewrite(t->ctx, k, NULL, 0, &o, &out, &report) == NSR_OK ? out
                                                                      : NULL;
}

/* A changed kernel, rewritten in the same way. */
static unsigned follow(struct turn *t, const struct nsr_kernel *k,
                       const char *what) {
  struct nsr_kernel *out = rewrite(t, k);
  if (!out)
    bad(t, what, nsr_ctx_first_error(t->ctx)->text);
  judge(t, k, out, what);
  return count_waits(t, out);
}

/* ---- names */

static void shuffle(struct prng *r, uint16_t *v, uint32_t n) {
  for (uint32_t i = n; i-- > 1;) {
    uint32_t j = (uint32_t)prng_in(r, 0, i);
    uint16_t x = v[i];
    v[i] = v[j];
    v[j] = x;
  }
}

static struct nsr_kernel *other_semaphores(struct turn *t,
                                           const struct nsr_kernel *k) {
  uint16_t name[1 << 10];
  uint32_t first = k->owned_first, n = k->owned_last + 1u - first;
  start(t, k);
  for (uint32_t i = 0; i < n; i++)
    name[first + i] = (uint16_t)(first + i);
  shuffle(t->r, name + first, n);
  EACH_INSN(t, s, i) {
    struct nsr_insn insn = t->survey.streams[s].insns[i];
    bool waits = nsr_survey_waits(k, &insn), ups = nsr_survey_updates(k, &insn);
    if (waits)
      insn.wait.sem = name[insn.wait.sem];
    if (ups)
      insn.update.sem = name[insn.update.sem];
    if (waits || ups)
      must(t, "names", edit(t, NSR_EDIT_REPLACE, s, i, &insn));
  }
  return done(t, "other semaphores");
}

/* All registers, or those of which the kernel does not know. */
static void register_names(struct turn *t, uint32_t s, bool counts,
                           uint16_t *name) {
  uint16_t some[1 << 10], mixed[1 << 10];
  uint32_t n = 0;
  for (uint16_t r = 0; r < t->isa->registers; r++) {
    const struct nsr_survey_stream *stream = &t->survey.streams[s];
    name[r] = r;
    if (!counts || nsr_survey_counts(stream, r) ||
        !(stream->registers[r] & NSR_REG_NAMED))
      some[n++] = r;
  }
  memcpy(mixed, some, n * sizeof *some);
  shuffle(t->r, mixed, n);
  for (uint32_t i = 0; i < n; i++)
    name[some[i]] = mixed[i];
}

static struct nsr_kernel *
other_registers(struct turn *t, const struct nsr_kernel *k, bool counts) {
  uint16_t name[1 << 10];
  start(t, k);
  for (uint32_t s = 0; s < k->nstreams; s++) {
    register_names(t, s, counts, name);
    for (uint32_t i = 0; i < t->survey.streams[s].n; i++) {
      struct nsr_insn insn = t->survey.streams[s].insns[i];
      nsr_insn_rename(name, &insn);
      must(t, "names", edit(t, NSR_EDIT_REPLACE, s, i, &insn));
    }
  }
  return done(t, "other registers");
}

/* ---- engines that change places */

static int other_of(int e, int x, int y) { return e == x ? y : e == y ? x : e; }

/* Whether engine `to` has all instructions of stream s. */
static bool fits(const struct turn *t, uint32_t s, int to) {
  const struct nsr_survey_stream *stream = &t->survey.streams[s];
  for (uint32_t i = 0; i < stream->n; i++)
    if (!(stream->insns[i].desc->engines >> to & 1))
      return false;
  return true;
}

/* Engines x and y do what the other one did, its queues fed by it; NULL: one
 * has other instructions. */
static struct nsr_kernel *swapped(struct turn *t, int x, int y) {
  struct nsr_kernel *k = nsr_alloc(t->ctx, NSR_KEEP, sizeof *k);
  struct nsr_stream *streams =
      nsr_alloc(t->ctx, NSR_KEEP, t->k->nstreams * sizeof *streams);
  struct nsr_queue *queues =
      nsr_alloc(t->ctx, NSR_KEEP, (t->k->nqueues + 1) * sizeof *queues);
  assert_true(k && streams && queues);
  start(t, t->k);
  *k = *t->k;
  k->nstreams = 0;
  for (int e = 0; e < t->isa->nengines; e++)
    for (uint32_t s = 0; s < t->k->nstreams; s++) {
      if (other_of(t->k->streams[s].engine, x, y) != e)
        continue;
      if (!fits(t, s, e))
        return NULL;
      streams[k->nstreams] = t->k->streams[s];
      streams[k->nstreams++].engine = (uint8_t)e;
    }
  for (uint32_t q = 0; q < k->nqueues; q++) {
    queues[q] = t->k->queues[q];
    queues[q].engine = (uint8_t)other_of(queues[q].engine, x, y);
  }
  k->pipe_order[x] = t->k->pipe_order[y];
  k->pipe_order[y] = t->k->pipe_order[x];
  k->streams = streams;
  k->queues = queues;
  must(t, "engines", nsr_kernel_check(t->ctx, k));
  return k;
}

/* ---- smaller ranges */

/* No control word above `most`, nor above the range's top. */
static struct nsr_kernel *clipped(struct turn *t, const struct nsr_kernel *k,
                                  int32_t most) {
  struct nsr_kernel *out = nsr_alloc(t->ctx, NSR_KEEP, sizeof *out);
  struct nsr_tensor *tensors =
      nsr_alloc(t->ctx, NSR_KEEP, k->ntensors * sizeof *tensors);
  assert_true(out && tensors);
  *out = *k;
  out->tensors = tensors;
  for (uint32_t i = 0; i < k->ntensors; i++) {
    struct nsr_tensor *x = &tensors[i];
    *x = k->tensors[i];
    if (!x->has_range || x->hi <= most || x->lo > most)
      continue;
    x->hi = most;
    int32_t *words = nsr_alloc(t->ctx, NSR_KEEP, x->data ? x->bytes : 1);
    assert_non_null(words);
    if (x->data)
      memcpy(words, x->data, x->bytes);
    for (size_t w = 0; x->data && w < x->bytes / sizeof *words; w++)
      words[w] = words[w] > most ? most : words[w];
    x->data = x->data ? (const uint8_t *)words : NULL;
  }
  must(t, "ranges", nsr_kernel_check(t->ctx, out));
  return out;
}

/* ---- more of the same */

/* One more barrier in front of the exit barrier, or of the first one. */
static struct nsr_kernel *more_barriers(struct turn *t, bool last) {
  start(t, t->k);
  for (uint32_t s = 0; s < t->k->nstreams; s++) {
    const struct nsr_survey_stream *stream = &t->survey.streams[s];
    uint32_t at = stream->n;
    for (uint32_t i = 0; i < stream->n; i++)
      if (stream->insns[i].desc->cls == NSR_BARRIER &&
          (last || at == stream->n))
        at = i;
    struct nsr_insn sync = stream->insns[at];
    sync.id = 9999;
    must(t, "barrier", edit(t, NSR_EDIT_INSERT, s, at, &sync));
  }
  return done(t, "a barrier more");
}

/* In front of each engine's code a branch past a no-op, which so never runs.
 * (Work could be in no order with that of others, for all that is known.) */
static struct nsr_kernel *never_runs(struct turn *t) {
  start(t, t->k);
  for (uint32_t s = 0; s < t->k->nstreams; s++) {
    struct nsr_insn br, nop;
    nsr_insn_init(nsr_isa_control(t->isa, NSR_CTL_BR), &br);
    nsr_insn_init(nsr_isa_nop(t->isa, false), &nop);
    br.cc = NSR_CC_EQ;
    br.a = br.b = (struct nsr_val){false, 3};
    must(t, "branch", edit(t, NSR_EDIT_SLIP, s, 0, &br));
    must(t, "no-op", edit(t, NSR_EDIT_SLIP, s, 0, &nop));
  }
  return done(t, "a conditional that never runs");
}

static size_t line_size(const char *line) { return strcspn(line, "\n") + 1; }

/* Whether the line is `before`, then `name`, and no longer name. */
static bool is_line(const char *line, const char *before, const char *name) {
  size_t n = strlen(before), m = strlen(name);
  return strncmp(line, before, n) == 0 && strncmp(line + n, name, m) == 0 &&
         strchr(" :\n", line[n + m]);
}

/* Whether a label of the stream is the word, and defined between two lines. */
static bool defined_in(const struct nsr_stream *s, const char *word, size_t n,
                       const char *from, const char *to) {
  for (uint32_t l = 0; l < s->nlabels; l++) {
    const char *name = s->labels[l].name;
    if (strlen(name) != n || strncmp(name, word, n) != 0)
      continue;
    for (const char *at = from; at < to; at += line_size(at))
      if (is_line(at, "", name))
        return true;
  }
  return false;
}

/* The lines once more: labels defined there, alone or as words, have other
 * names, and barriers other ids. */
static void copy_lines(struct nsr_strbuf *b, const struct nsr_stream *s,
                       const char *from, const char *to) {
  for (const char *at = from; at < to;) {
    if (strncmp(at, "    sync ", 9) == 0) {
      nsr_strbuf_printf(b, "    sync %d\n", 1000 + atoi(at + 9));
      at += line_size(at);
      continue;
    }
    size_t word = strcspn(at, " :\n");
    nsr_strbuf_add(b, at, word);
    if (word && defined_in(s, at, word, from, to))
      nsr_strbuf_puts(b, "_again");
    nsr_strbuf_add(b, at + word, 1);
    at += word + 1;
  }
}

static struct nsr_kernel *assembled(struct turn *t, struct nsr_strbuf *b,
                                    const char *what) {
  struct nsr_kernel *k;
  const char *text;
  size_t n;
  must(t, what, nsr_strbuf_done(b, &text, &n));
  must(t, what, nsr_assemble(t->ctx, "changed.s", text, n, &k));
  must(t, what, nsr_kernel_check(t->ctx, k));
  return k;
}

/* The kernel behind itself: what is in front of each engine's halt, twice. */
static struct nsr_kernel *twice(struct turn *t) {
  struct nsr_strbuf b;
  const char *text, *body = NULL;
  size_t n;
  int stream = -1;
  must(t, "text", nsr_disassemble(t->ctx, t->k, &text, &n));
  nsr_strbuf_init(&b, t->ctx, NSR_KEEP);
  for (const char *line = text; *line; line += line_size(line)) {
    if (strncmp(line, ".engine", 7) == 0) {
      stream++;
      body = line + line_size(line);
      body += line_size(body); /* behind .file */
    }
    if (strncmp(line, "    halt", 8) == 0)
      copy_lines(&b, &t->k->streams[stream], body, line);
    nsr_strbuf_add(&b, line, line_size(line));
  }
  return assembled(t, &b, "twice");
}

/* ---- a loop unrolled by two */

/* What comes in front of the last branch back to `head`, twice; false: the
 * stream's text, up to `end`, has no loop of that form. */
static bool unroll(struct nsr_strbuf *b, const struct nsr_stream *s,
                   const char *head, const char *text, const char *end) {
  const char *from = NULL, *to = NULL;
  for (const char *at = text; at < end; at += line_size(at)) {
    from = is_line(at, "", head) ? at : from;
    to = from && is_line(at, "    br ", head) ? at : to;
  }
  if (!to)
    return false;
  nsr_strbuf_add(b, text, (size_t)(to - text));
  copy_lines(b, s, from + line_size(from), to);
  nsr_strbuf_add(b, to, (size_t)(end - to));
  return true;
}

/* A loop of all engines that ends in a branch back; NULL: none. */
static struct nsr_kernel *unrolled(struct turn *t) {
  const struct nsr_stream *first = &t->k->streams[0];
  const char *text;
  size_t n;
  must(t, "text", nsr_disassemble(t->ctx, t->k, &text, &n));
  uint32_t start = (uint32_t)prng_in(t->r, 0, INT32_MAX);
  for (uint32_t i = 0; i < first->nlabels; i++) {
    const char *head = first->labels[(start + i) % first->nlabels].name;
    const char *at = strstr(text, "\n.engine") + 1, *end;
    bool good = strncmp(head, "loop", 4) == 0;
    struct nsr_strbuf b;
    nsr_strbuf_init(&b, t->ctx, NSR_KEEP);
    nsr_strbuf_add(&b, text, (size_t)(at - text));
    for (uint32_t s = 0; good && s < t->k->nstreams; s++, at = end) {
      end = strstr(at, "\n.engine");
      end = end ? end + 1 : text + n;
      good = unroll(&b, &t->k->streams[s], head, at, end);
    }
    if (good)
      return assembled(t, &b, "a loop unrolled");
  }
  return NULL;
}

/* ---- outputs */

/* Each wait once more in front of it, or only there. */
static struct nsr_kernel *waits_in_front(struct turn *t, bool split) {
  const struct nsr_insn_desc *desc = nsr_isa_control(t->isa, NSR_CTL_WAIT);
  start(t, t->out);
  EACH_INSN(t, s, i) {
    struct nsr_insn insn = t->survey.streams[s].insns[i], wait;
    if (!nsr_survey_waits(t->out, &insn) || prng_in(t->r, 0, 1))
      continue;
    nsr_insn_init(desc, &wait);
    wait.wait = insn.wait;
    must(t, "wait", edit(t, NSR_EDIT_INSERT, s, i, &wait));
    memset(&insn.wait, 0, sizeof insn.wait);
    if (split)
      must(t, "wait", edit(t, NSR_EDIT_REPLACE, s, i, &insn));
  }
  return done(t, split ? "waits in front" : "waits once more");
}

static void kernels(struct turn *t) {
  unsigned n = follow(t, other_semaphores(t, t->k), "other semaphores");
  if (n != t->waits)
    bad(t, "other semaphores", "another number of waits");
  n = follow(t, other_registers(t, t->k, false), "other registers");
  if (n != t->waits)
    bad(t, "other registers", "another number of waits");
  for (int last = 0; last < 2; last++)
    if (follow(t, more_barriers(t, last), "a barrier more") > t->waits)
      bad(t, "a barrier more", "more waits than without it");
  (void)follow(t, never_runs(t), "a conditional that never runs");
  (void)follow(t, twice(t), "twice");
  (void)follow(t, clipped(t, t->k, (int32_t)prng_in(t->r, 0, 2)),
               "smaller ranges");
}

/* Changes for which not every kernel has a place. */
static void some_kernels(struct turn *t) {
  for (int x = 0; x < t->isa->nengines; x++)
    for (int y = x + 1; y < t->isa->nengines; y++) {
      struct nsr_kernel *k = swapped(t, x, y);
      *t->swapped += k != NULL;
      if (k)
        (void)follow(t, k, "engines that change places");
    }
  struct nsr_kernel *k = unrolled(t);
  *t->unrolled += k != NULL;
  if (k)
    (void)follow(t, k, "a loop unrolled");
}

static void outputs(struct turn *t) {
  int32_t most = (int32_t)prng_in(t->r, 0, 2);
  judge(t, t->k, other_semaphores(t, t->out), "output, other semaphores");
  judge(t, t->k, other_registers(t, t->out, true), "output, other registers");
  judge(t, t->k, waits_in_front(t, false), "output, waits once more");
  judge(t, t->k, waits_in_front(t, true), "output, waits in front");
  judge(t, clipped(t, t->k, most), clipped(t, t->out, most),
        "output, smaller ranges");
  run(t, t->k, t->out, true, "output, all schedules");
}

static void one_kernel(struct turn *t) {
  struct nsr_setting settings[] = {{"seed", t->seed},
                                   {"instructions", t->size}};
  struct nsr_gen_options gen = {
      .isa = t->isa, .nsettings = 2, .settings = settings};
  struct nsr_kernel *k;
  t->ctx = nsr_ctx_new();
  must(t, "making", nsr_gen(t->ctx, "random", &gen, &k));
  must(t, "checking", nsr_kernel_check(t->ctx, k));
  t->k = k;
  t->out = rewrite(t, k);
  if (t->out) {
    t->waits = count_waits(t, t->out);
    kernels(t);
    some_kernels(t);
    outputs(t);
  }
  nsr_ctx_free(t->ctx);
  memset(&t->edits, 0, sizeof t->edits);
}

static void test_relations(void **state) {
  (void)state;
  struct prng r = prng_seed("relations", 1);
  unsigned swapped = 0, unrolled = 0;
  for (int i = 0; nsr_isas[i]; i++)
    for (int n = 0; n < KERNELS; n++) {
      struct turn t = {
          .isa = nsr_isas[i],
          .r = &r,
          .seed = prng_in(&r, 0, INT32_MAX),
          .size = prng_in(&r, 20, 160),
          .scheme = (enum nsr_scheme)prng_in(&r, 0, NSR_SCHEME_PER_INSTRUCTION),
          .swapped = &swapped,
          .unrolled = &unrolled};
      one_kernel(&t);
    }
  print_message("%u with engines swapped, %u with a loop unrolled\n", swapped,
                unrolled);
  assert_true(getenv("NSR_SEED") || (swapped > 0 && unrolled > 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_relations)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
