/* cells.c - which cells there are, and which of them scopes change. */
#include "prove/cells.h"

/* Cells that the open scopes change, one row for each depth. */
struct opened {
  NSR_VEC(uint32_t) cells;
  bool *has;
};

struct opener {
  struct nsr_ctx *ctx;
  struct nsr_cells *c;
  NSR_VEC(struct opened *) rows;
  uint32_t depth;
  NSR_VEC(uint32_t) scopes; /* steps */
};

static enum nsr_status touch(struct opener *o, uint32_t cell) {
  struct opened *row = o->rows.v[o->depth - 1];
  if (row->has[cell])
    return NSR_OK;
  row->has[cell] = true;
  NSR_PUSH(o->ctx, NSR_SCRATCH, &row->cells, cell);
  return NSR_OK;
}

static enum nsr_status touch_list(struct opener *o,
                                  const struct nsr_track_list *list) {
  for (uint32_t i = 0; i < list->n; i++)
    NSR_TRY(
        touch(o, nsr_cell_track(o->c, o->c->tracks->lists[list->first + i])));
  return NSR_OK;
}

static enum nsr_status touch_group(struct opener *o, uint32_t g) {
  NSR_TRY(touch(o, g));
  NSR_TRY(touch(o, nsr_cell_exact(o->c, g)));
  NSR_TRY(touch(o, nsr_cell_low(o->c, g)));
  return touch_list(o, &o->c->tracks->by_count[g]);
}

/* What a barrier behind it changes. */
static enum nsr_status touch_region(struct opener *o, uint32_t region) {
  struct nsr_cells *c = o->c;
  NSR_TRY(touch(o, nsr_cell_base(c)));
  NSR_TRY(touch(o, nsr_cell_epoch(c)));
  for (uint32_t g = c->first_group[region]; g != NSR_NONE; g = c->next_group[g])
    NSR_TRY(touch_group(o, g));
  return NSR_OK;
}

static enum nsr_status touch_register(struct opener *o, uint32_t reg) {
  if (o->c->constant_of[reg] == NSR_NONE)
    return NSR_OK;
  NSR_TRY(touch(o, o->c->constant_of[reg]));
  return touch_list(o, &o->c->tracks->by_reg[reg]);
}

static enum nsr_status touch_step(struct opener *o, uint32_t i) {
  struct nsr_cells *c = o->c;
  const struct nsr_step *s = &c->s->steps[i];
  if (s->kind == NSR_STEP_WORK && s->group != NSR_NONE)
    c->scope_of[s->member] =
        o->scopes.n ? o->scopes.v[o->scopes.n - 1] : NSR_NONE;
  if (!o->depth)
    return NSR_OK;
  if (s->kind == NSR_STEP_WORK && s->group != NSR_NONE)
    return touch_group(o, s->group);
  if (s->kind == NSR_STEP_SET)
    return touch_register(o, c->tracks->sets.v[c->tracks->set_of[i]].reg);
  return s->kind == NSR_STEP_BARRIER ? touch_region(o, c->s->region[i])
                                     : NSR_OK;
}

static enum nsr_status open_scope(struct opener *o, uint32_t i) {
  if (o->depth == o->rows.n) {
    struct opened *row;
    NSR_NEW(o->ctx, NSR_SCRATCH, row, 1);
    NSR_NEW(o->ctx, NSR_SCRATCH, row->has, o->c->n);
    NSR_PUSH(o->ctx, NSR_SCRATCH, &o->rows, row);
  }
  o->depth++;
  NSR_PUSH(o->ctx, NSR_SCRATCH, &o->scopes, i);
  uint32_t count = o->c->tracks->count_of[i];
  return count == NSR_NONE ? NSR_OK
                           : touch_list(o, &o->c->tracks->by_count[count]);
}

/* What it changes, the scope around it changes, too. */
static enum nsr_status close_scope(struct opener *o, uint32_t i) {
  struct nsr_cells *c = o->c;
  struct opened *row = o->rows.v[--o->depth];
  uint32_t begin = o->scopes.v[--o->scopes.n];
  struct nsr_extent *x = &c->extents[c->extent_of[begin]];
  x->first = (uint32_t)c->lists.n;
  x->n = (uint32_t)row->cells.n;
  x->member = c->s->steps[begin].member;
  x->end_member = c->s->steps[i].member;
  for (size_t k = 0; k < row->cells.n; k++) {
    NSR_APPEND(o->ctx, NSR_SCRATCH, &c->lists, row->cells.v[k]);
    row->has[row->cells.v[k]] = false;
    if (o->depth)
      NSR_TRY(touch(o, row->cells.v[k]));
  }
  row->cells.n = 0;
  return NSR_OK;
}

static enum nsr_status find_extents(struct nsr_ctx *ctx, struct nsr_cells *c) {
  struct opener o = {.ctx = ctx, .c = c};
  NSR_NEW(ctx, NSR_SCRATCH, c->extent_of, c->s->nsteps);
  for (uint32_t i = 0; i < c->s->nsteps; i++) {
    uint8_t kind = c->s->steps[i].kind;
    if (kind == NSR_STEP_LOOP || kind == NSR_STEP_ARM)
      c->extent_of[i] = c->nextents++;
  }
  NSR_NEW(ctx, NSR_SCRATCH, c->extents, c->nextents);
  for (uint32_t i = 0; i < c->s->nsteps; i++) {
    const struct nsr_step *s = &c->s->steps[i];
    if (s->kind == NSR_STEP_LOOP || s->kind == NSR_STEP_ARM)
      NSR_TRY(open_scope(&o, i));
    else if (s->kind == NSR_STEP_END)
      NSR_TRY(close_scope(&o, i));
    else
      NSR_TRY(touch_step(&o, i));
  }
  return NSR_OK;
}

/* A cell for the constant of each register that is in a sum. */
static enum nsr_status find_constants(struct nsr_ctx *ctx,
                                      struct nsr_cells *c) {
  const struct nsr_tracks *t = c->tracks;
  NSR_NEW(ctx, NSR_SCRATCH, c->constant_of, t->nregisters);
  for (uint32_t r = 0; r < t->nregisters; r++)
    c->constant_of[r] = t->by_reg[r].n ? c->n++ : NSR_NONE;
  return NSR_OK;
}

static enum nsr_status list_groups(struct nsr_ctx *ctx, struct nsr_cells *c) {
  NSR_NEW(ctx, NSR_SCRATCH, c->first_group, (size_t)c->s->nsteps + 1);
  NSR_NEW(ctx, NSR_SCRATCH, c->next_group, c->s->ngroups);
  for (uint32_t r = 0; r <= c->s->nsteps; r++)
    c->first_group[r] = NSR_NONE;
  for (uint32_t g = c->s->ngroups; g-- > 0;) {
    uint32_t *first = &c->first_group[c->s->groups[g].region];
    c->next_group[g] = *first;
    *first = g;
  }
  return NSR_OK;
}

enum nsr_status nsr_cells_find(struct nsr_ctx *ctx, const struct nsr_score *s,
                               const struct nsr_tracks *tracks,
                               struct nsr_cells *out) {
  *out = (struct nsr_cells){.s = s, .tracks = tracks};
  NSR_TRY(list_groups(ctx, out));
  out->n = nsr_cell_track(out, (uint32_t)tracks->v.n);
  NSR_TRY(find_constants(ctx, out));
  out->n++;
  NSR_NEW(ctx, NSR_SCRATCH, out->scope_of, s->nmembers);
  return find_extents(ctx, out);
}
