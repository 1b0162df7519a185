/* policy.c - schedules: who moves next.
 *
 * Needs the sets of engines, channels and sequences of others that may move
 * (one at least is not empty); makes one decision. Every policy ends a run
 * that can end: what it holds back goes at last.
 */
#include <stdio.h>

#include "sim/hash.h"
#include "sim/model.h"

static uint32_t lowest(uint32_t set) { return (uint32_t)__builtin_ctz(set); }

static struct nsr_action engine_move(uint32_t e) {
  return (struct nsr_action){NSR_MOVE_ENGINE, (uint8_t)e, 0};
}

static struct nsr_action head_move(uint32_t ch) {
  return (struct nsr_action){NSR_MOVE_HEAD, (uint8_t)ch, 0};
}

static uint32_t queues(const struct nsr_sim *sim) {
  return ~((UINT32_C(1) << sim->ncores) - 1);
}

/* The next member of a set behind the last one taken, around. */
static uint32_t next_in(struct nsr_policy *p, uint64_t set) {
  uint64_t behind = set & ~((UINT64_C(2) << p->last) - 1);
  p->last = (uint32_t)__builtin_ctzll(behind ? behind : set);
  return p->last;
}

/* Engines and channels in turn; engines are members 0..7. */
static struct nsr_action rotate(struct nsr_policy *p, uint32_t ready,
                                uint32_t busy) {
  uint32_t at = next_in(p, (uint64_t)ready | (uint64_t)busy << 8);
  return at < 8 ? engine_move(at) : head_move(at - 8);
}

static struct nsr_action round_robin(struct nsr_policy *p,
                                     const struct nsr_sim *sim) {
  return rotate(p, sim->ready, sim->busy);
}

static struct nsr_action hold_engine(struct nsr_policy *p,
                                     const struct nsr_sim *sim) {
  uint32_t others = sim->ready & ~(UINT32_C(1) << p->arg);
  if (others | sim->busy)
    return rotate(p, others, sim->busy);
  return engine_move(p->arg);
}

/* Work in flight that nobody else can go on without is done last. */
static struct nsr_action ahead_engine(struct nsr_policy *p,
                                      const struct nsr_sim *sim) {
  uint32_t own = UINT32_C(1) << p->arg;
  if (sim->ready & own)
    return engine_move(p->arg);
  if (sim->busy)
    return rotate(p, 0, sim->busy);
  return rotate(p, sim->ready, 0);
}

static struct nsr_action late(struct nsr_policy *p, const struct nsr_sim *sim,
                              uint32_t held) {
  uint32_t busy = sim->busy & ~held;
  if (sim->ready | busy)
    return rotate(p, sim->ready, busy);
  return rotate(p, 0, sim->busy);
}

static struct nsr_action late_queues(struct nsr_policy *p,
                                     const struct nsr_sim *sim) {
  return late(p, sim, queues(sim));
}

static struct nsr_action late_pipes(struct nsr_policy *p,
                                    const struct nsr_sim *sim) {
  return late(p, sim, ~queues(sim));
}

/* The newest instance of a channel that may still move, else its oldest. */
static uint32_t newest(const struct nsr_lane *l) {
  uint32_t i = l->n < l->window ? l->n : l->window;
  while (i-- > 0)
    if (nsr_lane_may(l, i))
      return i;
  return 0;
}

static struct nsr_action reverse(struct nsr_policy *p,
                                 const struct nsr_sim *sim) {
  if (sim->ready)
    return rotate(p, sim->ready, 0);
  /* stay on a channel until it is empty: highest first */
  uint32_t ch = 31 - (uint32_t)__builtin_clz(sim->busy);
  return (struct nsr_action){NSR_MOVE_SLOT, (uint8_t)ch,
                             newest(&sim->lane[ch])};
}

static uint32_t pick_bit(struct nsr_policy *p, uint32_t set, uint32_t n) {
  uint32_t skip = nsr_random_below(&p->state, n);
  while (skip--)
    set &= set - 1;
  return lowest(set);
}

static struct nsr_action random_move(struct nsr_policy *p,
                                     const struct nsr_sim *sim) {
  uint32_t ne = (uint32_t)__builtin_popcount(sim->ready);
  uint32_t nc = (uint32_t)__builtin_popcount(sim->busy);
  if (nsr_random_below(&p->state, ne + nc) < ne)
    return engine_move(pick_bit(p, sim->ready, ne));
  uint32_t ch = pick_bit(p, sim->busy, nc);
  const struct nsr_lane *l = &sim->lane[ch];
  uint32_t w = l->n < l->window ? l->n : l->window;
  uint32_t slot = nsr_random_below(&p->state, w);
  if (!nsr_lane_may(l, slot))
    slot = 0;
  return (struct nsr_action){NSR_MOVE_SLOT, (uint8_t)ch, slot};
}

/* Events of others as early as they may, or as late. */
static bool external_now(struct nsr_policy *p, const struct nsr_sim *sim) {
  if (!sim->due)
    return false;
  if (p->external == NSR_EARLY || !(sim->ready | sim->busy))
    return true;
  return p->external == NSR_SOME_TIME && nsr_random_below(&p->state, 4) == 0;
}

struct nsr_action nsr_policy_next(struct nsr_policy *p,
                                  const struct nsr_sim *sim) {
  if (!external_now(p, sim))
    return p->next(p, sim);
  uint32_t n = (uint32_t)__builtin_popcount(sim->due);
  uint32_t which = p->external == NSR_EARLY ? lowest(sim->due)
                   : p->external == NSR_LATE
                       ? 31 - (uint32_t)__builtin_clz(sim->due)
                       : pick_bit(p, sim->due, n);
  return (struct nsr_action){NSR_MOVE_EXTERNAL, (uint8_t)which, 0};
}

void nsr_policy_init(struct nsr_policy *p, enum nsr_policy_kind kind,
                     uint32_t arg, uint64_t seed) {
  static const enum nsr_timing external[NSR_POLICIES] = {
      [NSR_AHEAD_ENGINE] = NSR_LATE,
      [NSR_LATE_QUEUES] = NSR_LATE,
      [NSR_REVERSE] = NSR_LATE,
      [NSR_RANDOM] = NSR_SOME_TIME}; /* early elsewhere */
  static struct nsr_action (*const next[NSR_POLICIES])(
      struct nsr_policy *, const struct nsr_sim *) = {
      [NSR_ROUND_ROBIN] = round_robin,   [NSR_HOLD_ENGINE] = hold_engine,
      [NSR_AHEAD_ENGINE] = ahead_engine, [NSR_LATE_QUEUES] = late_queues,
      [NSR_LATE_PIPES] = late_pipes,     [NSR_REVERSE] = reverse,
      [NSR_RANDOM] = random_move};
  *p = (struct nsr_policy){.kind = kind,
                           .arg = arg,
                           .seed = seed,
                           .next = next[kind],
                           .external = external[kind],
                           .state = seed};
}

void nsr_policy_describe(const struct nsr_policy *p,
                         const struct nsr_image *image, char *out,
                         size_t size) {
  const char *engine =
      p->arg < (uint32_t)image->nengines ? image->isa->engines[p->arg] : "?";
  switch (p->kind) {
  case NSR_HOLD_ENGINE:
    snprintf(out, size, "%s held back", engine);
    break;
  case NSR_AHEAD_ENGINE:
    snprintf(out, size, "%s ahead", engine);
    break;
  case NSR_LATE_QUEUES:
    snprintf(out, size, "queues late");
    break;
  case NSR_LATE_PIPES:
    snprintf(out, size, "pipelines late");
    break;
  case NSR_REVERSE:
    snprintf(out, size, "newest first");
    break;
  case NSR_RANDOM:
    snprintf(out, size, "random, seed %llu", (unsigned long long)p->seed);
    break;
  default:
    snprintf(out, size, "round robin");
    break;
  }
}
