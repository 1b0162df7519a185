/* record.c - watches a run for what takes time.
 *
 * Needs an image and the contents of its control tensors; makes a record. The
 * schedule is of no importance; memory is that of tokens, since loaded values
 * steer control.
 */
#include "sim/record.h"

#include <string.h>

#include "sim/runs.h"

enum { MAX_REPEATS = 64 };

/* A wait that was passed and whose instruction has not been heard of since. */
struct passed {
  bool any;
  uint32_t insn;
  int32_t threshold;
  uint32_t control[NSR_CONTROL_KINDS];
};

struct recorder {
  struct nsr_ctx *ctx;
  struct nsr_record *record;
  struct nsr_sim *sim;
  enum nsr_status status;
  struct passed passed[NSR_MAX_ENGINES];
  uint32_t seen[NSR_MAX_ENGINES][NSR_CONTROL_KINDS];
  uint32_t *last[NSR_MAX_ENGINES]; /* by instruction: its last variant + 1 */
};

/* ---- variants */

static bool is_index(const struct nsr_insn_desc *d, int operand) {
  for (int i = 0; i < d->noperands; i++)
    if (d->operands[i].indexed_by == operand)
      return true;
  return false;
}

static uint64_t elements_of(const struct nsr_flight *f, int i) {
  const struct nsr_operand *o = &f->step->access[i].op;
  uint64_t n = f->empty[i] ? 0 : 1;
  for (int d = 0; d < o->ndims; d++)
    n *= o->dims[d].count_is_reg ? f->count[i][d] : (uint32_t)o->dims[d].count;
  return n;
}

static void add_operand(struct nsr_variant *v, const struct nsr_flight *f,
                        int i) {
  const struct nsr_operand *o = &f->step->access[i].op;
  enum nsr_role role = (enum nsr_role)o->role;
  uint64_t n = elements_of(f, i);
  v->dram = v->dram || o->space == NSR_DRAM;
  v->half = v->half && nsr_dtype_bytes((enum nsr_dtype)o->dtype) <= 2;
  v->f32 = v->f32 || (o->dtype == NSR_F32 && !nsr_role_writes(role));
  if (n > v->elements) {
    v->elements = n;
    v->inputs = 0;
  }
  v->inputs += n == v->elements && nsr_role_reads(role);
  if (f->step->desc->operands[i].indexed_by >= 0 ||
      is_index(f->step->desc, i) || f->empty[i])
    return;
  struct nsr_shape shape = nsr_flight_shape(f, i);
  uint64_t bytes = nsr_shape_bytes(&shape);
  v->bytes = bytes > v->bytes ? bytes : v->bytes;
}

static struct nsr_variant variant_of(const struct nsr_flight *f) {
  struct nsr_variant v;
  memset(&v, 0, sizeof v); /* compared as bytes */
  v.step = f->step;
  v.insn = f->insn;
  v.engine = f->engine;
  v.channel = f->channel;
  v.half = f->step->naccess > 0;
  for (int i = 0; i < f->step->naccess; i++)
    add_operand(&v, f, i);
  return v;
}

static bool all_fixed(const struct nsr_step *s) {
  for (int i = 0; i < s->naccess; i++)
    if (!s->access[i].fixed)
      return false;
  return true;
}

static enum nsr_status add_variant(struct recorder *r,
                                   const struct nsr_variant *v, uint32_t *id) {
  struct nsr_record *rec = r->record;
  uint32_t *last = &r->last[v->engine][v->insn];
  if (!*last || memcmp(&rec->variants.v[*last - 1], v, sizeof *v) != 0) {
    NSR_PUSH(r->ctx, NSR_KEEP, &rec->variants, *v);
    *last = (uint32_t)rec->variants.n;
  }
  *id = *last - 1;
  return NSR_OK;
}

static enum nsr_status
flight_variant(struct recorder *r, const struct nsr_flight *f, uint32_t *id) {
  uint32_t last = r->last[f->engine][f->insn];
  if (last && all_fixed(f->step)) {
    *id = last - 1;
    return NSR_OK;
  }
  struct nsr_variant v = variant_of(f);
  return add_variant(r, &v, id);
}

/* ---- events */

/* Control since the last event of the engine. */
static void take_control(struct recorder *r, int e, uint32_t *control) {
  const struct nsr_core *c = &r->sim->core[e];
  for (int k = 0; k < NSR_CONTROL_KINDS; k++) {
    control[k] = c->control[k] - r->seen[e][k];
    r->seen[e][k] = c->control[k];
  }
}

static enum nsr_status add_event(struct recorder *r, int e,
                                 const struct nsr_record_event *event) {
  NSR_APPEND(r->ctx, NSR_KEEP, &r->record->events[e], *event);
  return NSR_OK;
}

/* The wait of a control instruction is an event of its own. */
static enum nsr_status flush_wait(struct recorder *r, int e) {
  struct passed *p = &r->passed[e];
  if (!p->any)
    return NSR_OK;
  struct nsr_variant v;
  memset(&v, 0, sizeof v);
  v.step = &r->record->image->streams[e].steps[p->insn];
  v.insn = p->insn;
  v.engine = (uint8_t)e;
  v.channel = (uint8_t)e;
  struct nsr_record_event event = {.kind = NSR_RECORD_WAIT,
                                   .threshold = p->threshold};
  memcpy(event.control, p->control, sizeof event.control);
  p->any = false;
  NSR_TRY(add_variant(r, &v, &event.variant));
  return add_event(r, e, &event);
}

static void on_waited(void *self, int e, uint32_t insn, int32_t threshold) {
  struct recorder *r = self;
  if (r->status == NSR_OK)
    r->status = flush_wait(r, e);
  r->passed[e] = (struct passed){true, insn, threshold, {0}};
  take_control(r, e, r->passed[e].control);
}

static enum nsr_status note_issue(struct recorder *r,
                                  const struct nsr_flight *f) {
  struct passed *p = &r->passed[f->engine];
  struct nsr_record_event event = {.kind = NSR_RECORD_ISSUE};
  if (p->any && p->insn == f->insn) {
    event.threshold = p->threshold;
    memcpy(event.control, p->control, sizeof event.control);
    p->any = false;
  } else {
    NSR_TRY(flush_wait(r, f->engine));
    take_control(r, f->engine, event.control);
  }
  r->record->issued[f->channel]++;
  NSR_TRY(flight_variant(r, f, &event.variant));
  return add_event(r, f->engine, &event);
}

static bool on_issued(void *self, struct nsr_flight *f) {
  struct recorder *r = self;
  if (r->status == NSR_OK)
    r->status = note_issue(r, f);
  return r->status == NSR_OK;
}

static void note_plain(struct recorder *r, int e, enum nsr_record_kind kind) {
  struct nsr_record_event event = {.variant = r->sim->core[e].pc,
                                   .kind = (uint8_t)kind};
  if (r->status == NSR_OK)
    r->status = flush_wait(r, e);
  take_control(r, e, event.control);
  if (r->status == NSR_OK)
    r->status = add_event(r, e, &event);
}

static void on_barrier(void *self) {
  struct recorder *r = self;
  for (int e = 0; e < r->sim->ncores; e++)
    if (r->sim->core[e].state == NSR_CORE_ARRIVED)
      note_plain(r, e, NSR_RECORD_BARRIER);
}

static void on_halted(void *self, int e) {
  note_plain(self, e, NSR_RECORD_HALT);
}

/* ---- runs */

static void forget(struct recorder *r) {
  struct nsr_record *rec = r->record;
  rec->variants.n = 0;
  memset(rec->issued, 0, sizeof rec->issued);
  memset(r->seen, 0, sizeof r->seen);
  for (int e = 0; e < rec->image->nengines; e++) {
    rec->events[e].n = 0;
    r->passed[e].any = false;
    memset(r->last[e], 0, rec->image->streams[e].n * sizeof *r->last[e]);
  }
}

struct setting {
  const struct nsr_machine *machine;
  const struct nsr_contents *contents;
  uint32_t ncontents;
  uint64_t budget;
};

static enum nsr_status run_once(struct recorder *r, struct nsr_ctx *pool,
                                struct nsr_atoms *atoms,
                                const struct setting *s) {
  const struct nsr_observer observer = {.self = r,
                                        .waited = on_waited,
                                        .issued = on_issued,
                                        .barrier = on_barrier,
                                        .halted = on_halted};
  struct nsr_opaque *memory;
  struct nsr_policy policy;
  nsr_policy_init(&policy, NSR_ROUND_ROBIN, 0, 0);
  NSR_TRY(nsr_opaque_new(pool, NSR_SCRATCH, r->record->image, atoms,
                         s->contents, s->ncontents, &memory));
  const struct nsr_sim_options options = {.image = r->record->image,
                                          .machine = s->machine,
                                          .memory = &memory->memory,
                                          .policy = &policy,
                                          .observer = &observer,
                                          .budget = s->budget};
  forget(r);
  NSR_TRY(nsr_sim_new(pool, NSR_SCRATCH, &options, &r->sim));
  NSR_TRY(nsr_sim_run(r->sim));
  return r->status;
}

static enum nsr_status hung(struct recorder *r) {
  for (int e = 0; e < r->sim->ncores; e++) {
    const struct nsr_core *c = &r->sim->core[e];
    if (c->state != NSR_CORE_HALTED && c->state != NSR_CORE_ABSENT)
      return nsr_fail(r->ctx, NSR_E_HANG,
                      nsr_image_place(r->record->image, e, c->pc),
                      "the kernel hangs here");
  }
  return NSR_E_HANG;
}

static enum nsr_status keep_counts(struct recorder *r) {
  for (int e = 0; e < r->sim->ncores; e++) {
    uint32_t n = r->record->image->streams[e].n;
    NSR_NEW(r->ctx, NSR_KEEP, r->record->ran[e], n);
    if (n)
      memcpy(r->record->ran[e], r->sim->core[e].ran,
             n * sizeof *r->record->ran[e]);
  }
  return NSR_OK;
}

static enum nsr_status conclude(struct recorder *r, const struct setting *s) {
  const struct nsr_sim *sim = r->sim;
  const struct nsr_sim_fault *f = &sim->fault;
  switch (sim->end) {
  case NSR_DONE:
    r->record->executed = sim->executed;
    return keep_counts(r);
  case NSR_SIM_HANG:
    return hung(r);
  case NSR_SIM_ENDLESS:
    return nsr_fail(r->ctx, NSR_E_HANG,
                    nsr_image_place(r->record->image, f->engine, f->insn),
                    "a loop without end");
  case NSR_SIM_FAULT:
  case NSR_SIM_OPAQUE:
    return nsr_fail(
        r->ctx, sim->end == NSR_SIM_FAULT ? NSR_E_FAULT : NSR_E_REFUSED,
        nsr_image_place(r->record->image, f->engine, f->insn), "%s", f->text);
  default:
    return nsr_fail(
        r->ctx, NSR_E_REFUSED,
        (struct nsr_place){.file = r->record->image->kernel->path, .insn = -1},
        "more than %llu instructions and no end",
        (unsigned long long)s->budget);
  }
}

/* Runs until no address needs new cuts. */
static enum nsr_status run_all(struct recorder *r, struct nsr_ctx *pool,
                               struct nsr_atoms *atoms,
                               const struct setting *s) {
  NSR_TRY(nsr_opaque_cuts(atoms, r->record->image));
  for (int i = 0; i < MAX_REPEATS; i++) {
    struct nsr_mark mark = nsr_scratch_mark(pool);
    NSR_TRY(nsr_atoms_commit(atoms));
    if (nsr_atoms_overflow(atoms))
      break;
    NSR_TRY(run_once(r, pool, atoms, s));
    if (!nsr_atoms_pending(atoms))
      return conclude(r, s);
    nsr_scratch_release(pool, mark);
  }
  return nsr_fail(r->ctx, NSR_E_REFUSED, NSR_NOWHERE,
                  "memory is accessed in too many pieces to follow");
}

enum nsr_status nsr_record_run(struct nsr_ctx *ctx,
                               const struct nsr_image *image,
                               const struct nsr_machine *machine,
                               const struct nsr_contents *contents,
                               uint32_t ncontents, uint64_t budget,
                               struct nsr_record **record) {
  struct recorder r = {.ctx = ctx};
  const struct setting s = {machine, contents, ncontents, budget};
  NSR_NEW(ctx, NSR_KEEP, r.record, 1);
  r.record->image = image;
  for (int e = 0; e < image->nengines; e++)
    NSR_NEW(ctx, NSR_KEEP, r.last[e], image->streams[e].n);
  struct nsr_ctx *pool = nsr_ctx_new();
  struct nsr_atoms *atoms = pool ? nsr_atoms_new(ctx, image->isa) : NULL;
  enum nsr_status status =
      atoms ? run_all(&r, pool, atoms, &s)
            : nsr_fail(ctx, NSR_E_NOMEM, NSR_NOWHERE, "out of memory");
  nsr_atoms_free(atoms);
  nsr_ctx_free(pool);
  *record = r.record;
  return status;
}
