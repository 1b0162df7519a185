/* ideal.c - true dependences of a run.
 *
 * Needs a kernel and an input; makes, for each instance, the youngest
 * retirement of every channel that it has to wait for, those left out that its
 * engine has waited for earlier. The judge's shadow memory has them at hand
 * when an instance is issued.
 */
#include "judge/ideal.h"

#include <string.h>

#include "judge/accesses.h"
#include "judge/cosim.h"

enum { MAX_REPEATS = 64 };

struct numbers { /* of a channel's instances, by ordinal */
  NSR_VEC(uint32_t) of;
};

struct spot {               /* where an instance stands */
  uint32_t insn, iteration; /* of its loop */
};

struct finder {
  struct nsr_ctx *ctx;
  struct nsr_ctx *pool;
  struct nsr_true_needs *needs;
  const struct nsr_image *image;
  struct nsr_watch *watch;
  struct numbers numbers[NSR_MAX_CHANNELS];
  uint32_t known[NSR_MAX_ENGINES][NSR_MAX_CHANNELS]; /* waited for so far */
  uint32_t want[NSR_MAX_CHANNELS];                   /* the instance at hand */
  const struct nsr_loop_map *map;
  struct nsr_pairs *pairs;
  NSR_VEC(struct spot) spots[NSR_MAX_CHANNELS]; /* by number - 1 */
  enum nsr_status status;
};

static void want(struct finder *f, uint32_t channel, uint32_t number) {
  if (channel < (uint32_t)f->image->nchannels && number > f->want[channel])
    f->want[channel] = number;
}

static void want_ordinal(struct finder *f, uint32_t channel, uint32_t ordinal) {
  want(f, channel, f->numbers[channel].of.v[ordinal - 1]);
}

/* ---- conflicts of one access */

static void last_of_atom(struct finder *f, const struct nsr_shadow *s,
                         const struct nsr_may_access *a) {
  const struct nsr_shadow_writer *w = &s->writer[a->location];
  bool own = w->channel == a->component;
  if (w->ordinal && !(own && (a->same_free || a->write_free)))
    want_ordinal(f, w->channel, w->ordinal);
  const uint32_t *readers = s->reader + (size_t)a->location * s->width;
  for (uint64_t left = a->writes ? w->readers : 0; left; left &= left - 1) {
    uint32_t ch = (uint32_t)__builtin_ctzll(left);
    if (!(ch == a->component && a->same_free))
      want_ordinal(f, ch, readers[ch]);
  }
}

static bool visit(void *self, const struct nsr_may_access *a, int operand) {
  struct finder *f = self;
  const struct nsr_watch *w = f->watch;
  (void)operand;
  bool event = w->may && a->location >= w->may->external;
  if (!w->o.may && !event) {
    last_of_atom(f, w->shadow, a);
    return true;
  }
  for (uint32_t i = w->may->head[a->location]; i;
       i = w->may->lists.v[i - 1].next) {
    const struct nsr_may_list *l = &w->may->lists.v[i - 1];
    if (nsr_may_conflict(l, a))
      want(f, l->component, nsr_may_known(l, a->clock));
  }
  return true;
}

/* ---- instances */

static enum nsr_status keep_needs(struct finder *f,
                                  const struct nsr_flight *flight) {
  uint32_t *known = f->known[flight->engine];
  uint8_t ch = flight->channel;
  for (int c = 0; c < f->image->nchannels; c++) {
    if (f->want[c] <= known[c])
      continue;
    known[c] = f->want[c];
    NSR_APPEND(f->ctx, NSR_KEEP, &f->needs->all[ch],
               ((struct nsr_true_need){f->want[c], (uint8_t)c}));
  }
  NSR_APPEND(f->ctx, NSR_KEEP, &f->needs->first[ch], f->needs->all[ch].n);
  return NSR_OK;
}

/* The iteration that an instruction about to be counted stands in. */
static uint32_t iteration_of(const struct finder *f,
                             const struct nsr_flight *flight, uint32_t loop) {
  uint32_t entry = f->map->entry[loop * NSR_MAX_ENGINES + flight->engine];
  return f->watch->sim->core[flight->engine].ran[entry] +
         (entry == flight->insn);
}

static enum nsr_status note_pairs(struct finder *f,
                                  const struct nsr_flight *flight) {
  uint8_t e = flight->engine;
  uint32_t loop = f->map->loop[e][flight->insn];
  struct spot spot = {.insn = flight->insn};
  if (loop != NSR_NONE)
    spot.iteration = iteration_of(f, flight, loop);
  NSR_PUSH(f->pool, NSR_KEEP, &f->spots[flight->channel], spot);
  for (int c = 0; loop != NSR_NONE && c < f->image->nchannels; c++) {
    if (!f->want[c])
      continue;
    const struct spot *p = &f->spots[c].v[f->want[c] - 1];
    uint8_t pe = (uint8_t)nsr_channel_engine(f->image->kernel, c);
    if (f->map->loop[pe][p->insn] != loop || p->iteration > spot.iteration)
      continue;
    const struct nsr_pair pair = {.p_engine = pe,
                                  .c_engine = e,
                                  .p = p->insn,
                                  .c = flight->insn,
                                  .loop = loop,
                                  .distance = spot.iteration - p->iteration};
    NSR_TRY(nsr_pairs_add(f->ctx, f->pairs, &pair));
  }
  return NSR_OK;
}

/* A load stalls its engine until it has retired. */
static void learn_load(struct finder *f, const struct nsr_flight *flight) {
  if (flight->step->desc->cls == NSR_LOAD)
    f->known[flight->engine][flight->channel] = flight->number;
}

static enum nsr_status note(struct finder *f, struct nsr_watch *w,
                            const struct nsr_flight *flight) {
  NSR_PUSH(f->pool, NSR_KEEP, &f->numbers[flight->channel].of, flight->number);
  if (flight->number == 0)
    return NSR_OK;
  f->watch = w;
  memset(f->want, 0, sizeof f->want);
  (void)nsr_each_operand(w, flight, visit, f);
  if (w->o.wild)
    (void)nsr_each_event(w, flight, visit, f);
  if (f->want[flight->channel] >= flight->number) /* itself, in a list */
    f->want[flight->channel] = flight->number - 1;
  if (f->map)
    NSR_TRY(note_pairs(f, flight));
  NSR_TRY(keep_needs(f, flight));
  learn_load(f, flight);
  return NSR_OK;
}

static bool on_issue(void *self, struct nsr_watch *w,
                     const struct nsr_flight *flight) {
  struct finder *f = self;
  f->status = note(f, w, flight);
  return f->status == NSR_OK;
}

/* ---- runs */

static enum nsr_status forget(struct finder *f) {
  memset(f->known, 0, sizeof f->known);
  if (f->map)
    *f->pairs = (struct nsr_pairs){0};
  for (int c = 0; c < f->image->nchannels; c++) {
    f->numbers[c].of.n = f->spots[c].n = 0;
    f->needs->all[c].n = f->needs->first[c].n = 0;
    NSR_APPEND(f->ctx, NSR_KEEP, &f->needs->first[c], 0);
  }
  return NSR_OK;
}

static enum nsr_status conclude(struct finder *f, const struct nsr_watch *w) {
  NSR_TRY(f->status);
  bool whole = w->sim->end == NSR_DONE && w->finding.kind == NSR_FAULT_LEAK;
  if (whole || (w->finding.kind == NSR_FAULT_NONE && !w->finding.undecided))
    return NSR_OK; /* semaphores may be left as they are */
  enum nsr_status status =
      w->finding.kind == NSR_FAULT_RACE ? NSR_E_RACE : NSR_E_REFUSED;
  return nsr_fail(f->ctx, status, NSR_NOWHERE, "%s", w->finding.text);
}

static enum nsr_status run_all(struct finder *f, struct nsr_judge *j,
                               const struct nsr_contents *contents,
                               uint32_t ncontents) {
  struct nsr_watch *w;
  for (int i = 0; i < MAX_REPEATS && !nsr_atoms_overflow(j->atoms); i++) {
    struct nsr_mark mark = nsr_scratch_mark(j->pool);
    struct nsr_watch_options o = nsr_judge_run_options(j, j->a, 0, 0);
    o.contents = contents;
    o.ncontents = ncontents;
    o.probe_self = f;
    o.on_issue = on_issue;
    NSR_TRY(forget(f));
    NSR_TRY(nsr_watch_run(f->ctx, j->pool, &o, &w));
    if (!w->blind)
      return conclude(f, w);
    nsr_scratch_release(j->pool, mark);
    NSR_TRY(nsr_atoms_commit(j->atoms));
  }
  return nsr_fail(f->ctx, NSR_E_REFUSED, NSR_NOWHERE,
                  "memory is accessed in too many pieces to follow");
}

enum nsr_status
nsr_ideal_needs(struct nsr_ctx *ctx, const struct nsr_image *image,
                const struct nsr_contents *contents, uint32_t ncontents,
                uint64_t budget, const struct nsr_loop_map *map,
                struct nsr_pairs *pairs, struct nsr_true_needs **needs) {
  struct nsr_judge j;
  struct finder f = {.ctx = ctx, .image = image, .map = map, .pairs = pairs};
  const struct nsr_judge_options options = {.inputs = 1, .budget = budget};
  NSR_NEW(ctx, NSR_KEEP, f.needs, 1);
  enum nsr_status status =
      nsr_judge_open_images(&j, ctx, image, image, &options);
  if (status == NSR_OK) {
    j.inputs.list.v[0].optional = false; /* the whole budget */
    f.pool = j.pool;
    status = run_all(&f, &j, contents, ncontents);
  }
  nsr_judge_close(&j);
  *needs = f.needs;
  return status;
}
