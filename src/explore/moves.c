/* moves.c - what can happen in a state, and makes it happen.
 *
 * Needs a world and a row; makes the next row, and notes what is wrong with
 * it. Theory: a race is two conflicting instances in flight together. While
 * none is found, all that is in flight commutes, so that it does not matter
 * when an instance reads and writes before it retires; `split` makes these
 * moves of their own all the same, to show it.
 */
#include "explore/moves.h"

#include <string.h>

#include "sim/hash.h"

enum { STAGES = 4, ISSUED = 0, READ = 1, WRITTEN = 2 };
enum { ROOM = 256 /* where nothing is known yet */ };

/* ---- rows */

enum nsr_status nsr_search_init(struct nsr_search *s, bool room) {
  const struct nsr_world *w = s->w;
  uint32_t insts = (uint32_t)w->insts.n, slots = w->nslots;
  s->stale = false;
  s->insts = room ? insts * 2 + ROOM : insts;
  s->slots = room ? slots * 2 + ROOM : slots;
  s->words = (s->insts + 31) / 32;
  s->nengines = (uint32_t)w->image->nengines;
  s->nsequences = w->external ? w->external->nsequences : 0;
  s->nlanes = (uint32_t)w->image->nchannels;
  s->held = NSR_NONE;
  s->happened = s->nengines;
  s->sem = s->happened + s->nsequences;
  s->memory = s->sem + w->nsems;
  s->trace = s->memory + s->slots;
  s->done = s->trace + 4;
  s->lanes = s->done + s->words;
  s->fixed = s->lanes + s->nlanes;
  s->longest = s->fixed + 2 * s->insts;
  NSR_NEW(s->ctx, s->arena, s->before, (size_t)s->insts * s->words);
  memset(s->before, 0xff, (size_t)s->insts * s->words * sizeof *s->before);
  NSR_NEW(s->ctx, s->arena, s->issued, s->insts);
  return NSR_OK;
}

uint32_t nsr_row_length(const struct nsr_search *s, const uint32_t *row) {
  uint32_t n = 0;
  for (uint32_t l = 0; l < s->nlanes; l++)
    n += row[s->lanes + l];
  return s->fixed + 2 * n;
}

static uint32_t *entries(const struct nsr_search *s, uint32_t *row,
                         uint32_t lane) {
  uint32_t at = s->fixed;
  for (uint32_t l = 0; l < lane; l++)
    at += 2 * row[s->lanes + l];
  return row + at;
}

static const uint32_t *entries_of(const struct nsr_search *s,
                                  const uint32_t *row, uint32_t lane) {
  uint32_t at = s->fixed;
  for (uint32_t l = 0; l < lane; l++)
    at += 2 * row[s->lanes + l];
  return row + at;
}

static void set_done(const struct nsr_search *s, uint32_t *row, uint32_t inst) {
  row[s->done + inst / 32] |= UINT32_C(1) << (inst % 32);
}

/* More was found than the rows have room for. */
static bool outgrown(struct nsr_search *s) {
  s->stale = s->stale || s->w->insts.n > s->insts || s->w->nslots > s->slots;
  return s->stale;
}

/* ---- engines */

static bool holds(const struct nsr_station *p, int32_t value) {
  switch (p->cmp) {
  case NSR_CMP_NONE:
    return true;
  case NSR_CMP_GE:
    return value >= p->threshold;
  case NSR_CMP_GT:
    return value > p->threshold;
  case NSR_CMP_EQ:
    return value == p->threshold;
  case NSR_CMP_LE:
    return value <= p->threshold;
  default:
    return value < p->threshold;
  }
}

bool nsr_may_go(const struct nsr_search *s, const uint32_t *row, int engine) {
  if (!s->w->image->streams[engine].stream)
    return false;
  const struct nsr_station *p = &s->w->stations.v[row[engine]];
  return (p->kind == NSR_AT_ISSUE || p->kind == NSR_AT_PASS) &&
         (p->cmp == NSR_CMP_NONE || holds(p, (int32_t)row[s->sem + p->sem]));
}

/* What has retired when an instance issues; never at another time less. */
static void note_issue(struct nsr_search *s, const uint32_t *row,
                       uint32_t inst) {
  uint32_t *before = s->before + (size_t)inst * s->words;
  s->issued[inst] = true;
  for (uint32_t i = 0; i < s->words; i++)
    before[i] &= row[s->done + i];
}

static enum nsr_status find_race(struct nsr_search *s, const uint32_t *row,
                                 uint32_t inst) {
  const uint32_t *end = row + nsr_row_length(s, row);
  unsigned how;
  if (s->held != NSR_NONE) {
    NSR_TRY(nsr_world_meet(s->w, s->held, inst, &how));
    if (how & NSR_MEET_MUST)
      return nsr_found_race(s, s->held, inst);
  }
  for (const uint32_t *e = row + s->fixed; e < end; e += 2) {
    NSR_TRY(nsr_world_meet(s->w, e[0] / STAGES, inst, &how));
    if (how & NSR_MEET_MUST)
      return nsr_found_race(s, e[0] / STAGES, inst);
  }
  return NSR_OK;
}

static enum nsr_status issue(struct nsr_search *s, uint32_t *row,
                             uint32_t inst) {
  uint32_t lane = nsr_inst(s->w, inst)->lane;
  NSR_TRY(find_race(s, row, inst));
  note_issue(s, row, inst);
  uint32_t *end = row + nsr_row_length(s, row);
  uint32_t *at = entries(s, row, lane) + 2 * row[s->lanes + lane];
  memmove(at + 2, at, (size_t)(end - at) * sizeof *at);
  at[0] = inst * STAGES + ISSUED;
  at[1] = 0;
  row[s->lanes + lane]++;
  return NSR_OK;
}

/* An engine is at a station: some of them are findings. */
static enum nsr_status come_to(struct nsr_search *s, uint32_t *row, int engine,
                               uint32_t station) {
  const struct nsr_station *p = &s->w->stations.v[station];
  row[engine] = station;
  switch (p->kind) {
  case NSR_AT_FAULT:
    return nsr_found_fault(s, &p->fault);
  case NSR_AT_ENDLESS:
    return nsr_found_endless(s, engine, p->pc);
  case NSR_AT_LOST:
    return nsr_found_lost(s, engine, p->pc, p->why);
  case NSR_AT_HALTED:
    break;
  default:
    return NSR_OK;
  }
  for (uint32_t l = 0; l < s->nlanes; l++)
    if (row[s->lanes + l] &&
        nsr_channel_engine(s->w->image->kernel, (int)l) == engine)
      return nsr_found_flight(s, engine, entries(s, row, l)[0] / STAGES);
  return NSR_OK;
}

static enum nsr_status go_engine(struct nsr_search *s, uint32_t *row,
                                 int engine) {
  uint32_t at = row[engine], next;
  uint32_t inst = s->w->stations.v[at].inst, event = s->w->stations.v[at].event;
  NSR_TRY(nsr_world_next(s->w, at, &next));
  if (outgrown(s))
    return NSR_OK;
  if (event != NSR_NONE) {
    note_issue(s, row, event);
    set_done(s, row, event);
  }
  if (s->w->stations.v[at].kind == NSR_AT_ISSUE)
    NSR_TRY(issue(s, row, inst));
  return come_to(s, row, engine, next);
}

/* ---- instances in flight */

/* Whether the channel's order lets slot read or write by now. */
static bool may_stage(const struct nsr_search *s, const uint32_t *row, int lane,
                      uint32_t slot) {
  const uint32_t *e = entries_of(s, row, (uint32_t)lane);
  enum nsr_order order = nsr_channel_order(s->w->image->kernel, lane);
  bool all = order == NSR_ORDER_FULL;
  if (e[2 * slot] % STAGES == WRITTEN)
    return false;
  if (!all && (order == NSR_ORDER_NONE ||
               !nsr_inst(s->w, e[2 * slot] / STAGES)->ordered))
    return true;
  for (uint32_t i = 0; i < slot; i++)
    if (e[2 * i] % STAGES != WRITTEN &&
        (all || nsr_inst(s->w, e[2 * i] / STAGES)->ordered))
      return false;
  return true;
}

bool nsr_may_retire(const struct nsr_search *s, const uint32_t *row, int lane,
                    uint32_t slot) {
  const uint32_t *e = entries_of(s, row, (uint32_t)lane);
  if (slot && !nsr_any_order(s, lane))
    return false;
  return s->split ? e[2 * slot] % STAGES == WRITTEN
                  : may_stage(s, row, lane, slot);
}

static enum nsr_status read(struct nsr_search *s, uint32_t *row, uint32_t *e) {
  const struct nsr_instance *x = nsr_inst(s->w, e[0] / STAGES);
  uint64_t sum[2];
  uint32_t id;
  s->tokens.n = 0;
  NSR_RESERVE(s->ctx, s->arena, &s->tokens, x->nreads + 1); /* not NULL */
  for (uint32_t i = 0; i < x->nreads; i++)
    s->tokens.v[i] = row[s->memory + x->reads[i]];
  NSR_TRY(nsr_world_read(s->w, e[0] / STAGES, s->tokens.v, &id));
  const struct nsr_reading *r = &s->w->readings.v[id];
  memcpy(sum, row + s->trace, sizeof sum);
  sum[0] += r->trace[0];
  sum[1] += r->trace[1];
  memcpy(row + s->trace, sum, sizeof sum);
  e[0] += READ - ISSUED;
  e[1] = id;
  return NSR_OK;
}

static void write(struct nsr_search *s, uint32_t *row, uint32_t *e) {
  const struct nsr_instance *x = nsr_inst(s->w, e[0] / STAGES);
  const struct nsr_reading *r = &s->w->readings.v[e[1]];
  for (uint32_t i = 0; i < x->nwrites; i++)
    row[s->memory + x->writes[i]] = r->out[i];
  e[0] += WRITTEN - READ;
  e[1] = x->load ? e[1] : 0; /* only a load's value is asked for again */
}

static enum nsr_status stage(struct nsr_search *s, uint32_t *row, int lane,
                             uint32_t slot) {
  uint32_t *e = entries(s, row, (uint32_t)lane) + 2 * slot;
  if (e[0] % STAGES == ISSUED)
    return read(s, row, e);
  write(s, row, e);
  return NSR_OK;
}

/* False: the count overflows. */
static bool update(const struct nsr_search *s, uint32_t *row,
                   const struct nsr_update *u) {
  uint32_t *count = &row[s->sem + s->w->sem_slot[u->sem]];
  int64_t next = (int32_t)*count;
  switch (u->op) {
  case NSR_UPD_INC:
    next++;
    break;
  case NSR_UPD_DEC:
    next--;
    break;
  case NSR_UPD_ADD:
    next += u->value;
    break;
  case NSR_UPD_SUB:
    next -= u->value;
    break;
  default:
    next = u->value;
    break;
  }
  int64_t limit = INT64_C(1) << (s->w->image->isa->semaphore_bits - 1);
  if (next < -limit || next >= limit)
    return false;
  *count = (uint32_t)(int32_t)next;
  return true;
}

static enum nsr_status found_overflow(struct nsr_search *s,
                                      const struct nsr_instance *x) {
  struct nsr_sim_fault f = {.kind = NSR_MF_SEMAPHORE,
                            .engine = x->flight.engine,
                            .insn = x->flight.insn,
                            .text = "a semaphore overflows"};
  return nsr_found_fault(s, &f);
}

static enum nsr_status loaded(struct nsr_search *s, uint32_t *row,
                              uint32_t inst, uint32_t reading) {
  int engine = nsr_inst(s->w, inst)->flight.engine;
  const struct nsr_reading *r = &s->w->readings.v[reading];
  uint32_t next;
  if (r->why)
    return nsr_found_lost(s, engine, nsr_inst(s->w, inst)->flight.insn, r->why);
  NSR_TRY(nsr_world_loaded(s->w, row[engine], r->value, &next));
  return outgrown(s) ? NSR_OK : come_to(s, row, engine, next);
}

static enum nsr_status retire(struct nsr_search *s, uint32_t *row, int lane,
                              uint32_t slot) {
  uint32_t *e = entries(s, row, (uint32_t)lane) + 2 * slot;
  while (e[0] % STAGES != WRITTEN)
    NSR_TRY(stage(s, row, lane, slot));
  uint32_t inst = e[0] / STAGES, reading = e[1];
  const struct nsr_instance *x = nsr_inst(s->w, inst);
  if (x->sem != NSR_NONE && !update(s, row, &x->flight.step->update))
    NSR_TRY(found_overflow(s, x));
  if (x->flight.step->desc->external && s->w->cores != NSR_NONE)
    row[s->sem + s->w->cores]++;
  set_done(s, row, inst);
  uint32_t *end = row + nsr_row_length(s, row);
  memmove(e, e + 2, (size_t)(end - e - 2) * sizeof *e);
  row[s->lanes + (uint32_t)lane]--;
  return x->load ? loaded(s, row, inst, reading) : NSR_OK;
}

/* ---- barriers */

static bool present(const struct nsr_search *s, uint32_t engine) {
  return s->w->image->streams[engine].stream != NULL;
}

static int32_t barrier_id(const struct nsr_search *s, const uint32_t *row,
                          uint32_t engine) {
  const struct nsr_station *p = &s->w->stations.v[row[engine]];
  return s->w->image->streams[engine].steps[p->pc].target;
}

/* All engines are at barriers, with nothing in flight; *odd: one whose id is
 * another than that of the first, NSR_NONE: none. */
static bool all_at_barrier(const struct nsr_search *s, const uint32_t *row,
                           uint32_t *odd) {
  uint32_t first = NSR_NONE;
  *odd = NSR_NONE;
  if (nsr_row_length(s, row) != s->fixed)
    return false;
  for (uint32_t e = 0; e < s->nengines; e++) {
    if (!present(s, e))
      continue;
    if (s->w->stations.v[row[e]].kind != NSR_AT_BARRIER)
      return false;
    first = first == NSR_NONE ? e : first;
    if (barrier_id(s, row, e) != barrier_id(s, row, first))
      *odd = e;
  }
  return first != NSR_NONE;
}

static enum nsr_status mismatch(struct nsr_search *s, const uint32_t *row,
                                uint32_t engine) {
  struct nsr_sim_fault f = {.kind = NSR_MF_BARRIER,
                            .engine = (int)engine,
                            .insn = s->w->stations.v[row[engine]].pc,
                            .text = "barriers with different ids meet"};
  return nsr_found_fault(s, &f);
}

static enum nsr_status pass_barrier(struct nsr_search *s, uint32_t *row) {
  const struct nsr_kernel *k = s->w->image->kernel;
  for (uint32_t i = 0; i < s->w->nsems; i++)
    if (nsr_owned(k, s->w->sem_at[i]))
      row[s->sem + i] = 0;
  for (uint32_t e = 0; e < s->nengines; e++) {
    uint32_t next;
    if (!present(s, e))
      continue;
    NSR_TRY(nsr_world_next(s->w, row[e], &next));
    if (outgrown(s))
      return NSR_OK;
    NSR_TRY(come_to(s, row, (int)e, next));
  }
  return NSR_OK;
}

/* ---- others */

static enum nsr_status happen(struct nsr_search *s, uint32_t *row,
                              uint32_t sequence) {
  uint32_t inst = nsr_next_event(s, row, sequence);
  const struct nsr_instance *x = nsr_inst(s->w, inst);
  NSR_TRY(find_race(s, row, inst));
  note_issue(s, row, inst);
  set_done(s, row, inst);
  for (uint32_t i = 0; i < x->nwrites; i++)
    row[s->memory + x->writes[i]] = x->puts[i];
  for (uint32_t i = 0; i < x->others->nupdates; i++)
    if (!update(s, row, &x->others->updates[i]))
      NSR_TRY(nsr_found_outside(s, inst, "a semaphore overflows"));
  row[s->happened + sequence]++;
  return NSR_OK;
}

/* ---- all together */

enum nsr_status nsr_search_start(struct nsr_search *s, uint32_t *row) {
  memset(row, 0, s->longest * sizeof *row);
  for (uint32_t e = 0; e < s->nengines; e++)
    if (s->w->image->streams[e].stream)
      NSR_TRY(come_to(s, row, (int)e, s->w->start[e]));
  return NSR_OK;
}

static void add(struct nsr_go_to *moves, uint32_t *n, enum nsr_go go,
                uint32_t index, uint32_t slot) {
  moves[*n].go = (uint8_t)go;
  moves[*n].index = (uint8_t)index;
  moves[(*n)++].slot = (uint16_t)slot;
}

uint32_t nsr_moves(const struct nsr_search *s, const uint32_t *row,
                   struct nsr_go_to *moves) {
  uint32_t n = 0, odd;
  for (uint32_t e = 0; e < s->nengines; e++)
    if (nsr_may_go(s, row, (int)e))
      add(moves, &n, NSR_GO_ENGINE, e, 0);
  for (uint32_t l = 0; l < s->nlanes; l++)
    for (uint32_t i = 0; i < row[s->lanes + l]; i++) {
      if (s->split && may_stage(s, row, (int)l, i))
        add(moves, &n, NSR_GO_STAGE, l, i);
      if (nsr_may_retire(s, row, (int)l, i))
        add(moves, &n, NSR_GO_RETIRE, l, i);
    }
  if (!n && all_at_barrier(s, row, &odd) && odd == NSR_NONE)
    add(moves, &n, NSR_GO_BARRIER, 0, 0);
  for (uint32_t i = 0; i < s->nsequences; i++)
    if (nsr_next_event(s, row, i) != NSR_NONE)
      add(moves, &n, NSR_GO_OTHERS, i, 0);
  return n;
}

enum nsr_status nsr_move(struct nsr_search *s, uint32_t *row,
                         struct nsr_go_to move) {
  switch (move.go) {
  case NSR_GO_ENGINE:
    return go_engine(s, row, move.index);
  case NSR_GO_STAGE:
    return stage(s, row, move.index, move.slot);
  case NSR_GO_RETIRE:
    return retire(s, row, move.index, move.slot);
  case NSR_GO_OTHERS:
    return happen(s, row, move.index);
  default:
    return pass_barrier(s, row);
  }
}

/* ---- ends */

static enum nsr_status outcome(struct nsr_search *s, const uint32_t *row) {
  struct nsr_outcome o = {{0}, {0}};
  for (uint32_t i = 0; i < s->w->nslots; i++) {
    uint32_t now = row[s->memory + i];
    if (!now)
      continue;
    uint64_t h = nsr_combine(s->w->slot_at.v[i], s->w->tokens.v[now - 1].value);
    o.memory[0] += h;
    o.memory[1] += nsr_combine(h, 1);
  }
  memcpy(o.trace, row + s->trace, sizeof o.trace);
  for (size_t i = 0; i < s->outcomes.n; i++)
    if (memcmp(&s->outcomes.v[i], &o, sizeof o) == 0)
      return NSR_OK;
  NSR_PUSH(s->ctx, s->arena, &s->outcomes, o);
  return NSR_OK;
}

enum nsr_status nsr_search_end(struct nsr_search *s, const uint32_t *row) {
  bool halted = true;
  uint32_t odd;
  if (all_at_barrier(s, row, &odd))
    return mismatch(s, row, odd);
  for (uint32_t e = 0; e < s->nengines; e++) {
    if (!present(s, e))
      continue;
    switch (s->w->stations.v[row[e]].kind) {
    case NSR_AT_HALTED:
      break;
    case NSR_AT_FAULT:
    case NSR_AT_ENDLESS:
    case NSR_AT_LOST:
    case NSR_AT_STALLED: /* by what it loaded */
      return NSR_OK;     /* noted when it came there */
    default:
      halted = false;
    }
  }
  if (!halted)
    return nsr_found_hang(s, row);
  for (uint32_t i = 0; i < s->w->nsems; i++)
    if (row[s->sem + i] && nsr_owned(s->w->image->kernel, s->w->sem_at[i]))
      NSR_TRY(nsr_found_count(s, i, (int32_t)row[s->sem + i]));
  return outcome(s, row);
}
