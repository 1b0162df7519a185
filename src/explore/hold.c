/* hold.c - one order, and what can happen while one instance is held back.
 *
 * For kernels whose counts only grow and are waited for with >= or >: what may
 * happen stays possible, whatever else happens first (a barrier needs all
 * engines, and then nothing else may happen). So engines go on while they
 * can; then something in flight has to retire. Whichever it is, p: everything
 * else goes on first, on a copy, as far as it can without p. What issues
 * there can be in flight together with p, and nothing else can: if p meets
 * none of it then retiring p now loses no order in which something goes wrong
 * (it commutes with all that comes before it in any order), and the next
 * instance's turn comes. If conflicting x and y, neither of them p, can come in
 * either order, then each can issue without the other having retired, so both
 * can be in flight together, and that stays so behind p.
 *
 * The price is the square of a region's length; the answer is that of all
 * orders: races, hangs, faults, work in flight at a halt, and for each two
 * instances whether one has always retired when the other issues. All of this
 * holds as well where a channel's instances retire in any order: then it is a
 * set of retirements, not a number, that only grows.
 */
#include "explore/search.h"

#include <string.h>

struct held {
  struct nsr_search *s;
  bool scout;
  uint32_t *row, *copy;
};

static bool on(const struct held *h) {
  const struct nsr_search *s = h->s;
  if (h->scout)
    return !s->stale && !s->w->full && !s->more;
  return nsr_search_on(s);
}

static enum nsr_status move(struct held *h, uint32_t *row, enum nsr_go go,
                            uint32_t index, uint32_t slot) {
  struct nsr_go_to m = {(uint8_t)go, (uint8_t)index, (uint16_t)slot};
  if (h->s->states++ >= h->s->limit) {
    h->s->more = true;
    return NSR_OK;
  }
  return nsr_move(h->s, row, m);
}

static uint32_t in_flight_at(const struct nsr_search *s, const uint32_t *row,
                             uint32_t lane, uint32_t slot) {
  uint32_t at = s->fixed;
  for (uint32_t l = 0; l < lane; l++)
    at += 2 * row[s->lanes + l];
  return row[at + 2 * slot];
}

/* All that may retire, but for what a lane holds from `word` on. */
static enum nsr_status retire_all(struct held *h, uint32_t *row, uint32_t lane,
                                  uint32_t word, bool *any) {
  const struct nsr_search *s = h->s;
  for (uint32_t l = 0; l < s->nlanes; l++)
    for (uint32_t i = 0; on(h) && i < row[s->lanes + l];) {
      bool is = l == lane && in_flight_at(s, row, l, i) == word;
      if (is || !nsr_may_retire(s, row, (int)l, i)) {
        if (!nsr_any_order(s, (int)l))
          break;
        i++;
        continue;
      }
      NSR_TRY(move(h, row, NSR_GO_RETIRE, l, i));
      *any = true;
    }
  return NSR_OK;
}

/* Every engine but one as far as it can; *any: one of them could. */
static enum nsr_status go_all_but(struct held *h, uint32_t *row, uint32_t but,
                                  bool *any) {
  for (uint32_t e = 0; e < h->s->nengines; e++)
    while (on(h) && e != but && nsr_may_go(h->s, row, (int)e)) {
      NSR_TRY(move(h, row, NSR_GO_ENGINE, e, 0));
      *any = true;
    }
  return NSR_OK;
}

/* All that others do; *any: there was something. */
static enum nsr_status others_all(struct held *h, uint32_t *row, bool *any) {
  for (uint32_t i = 0; i < h->s->nsequences; i++)
    while (on(h)) {
      uint32_t event = nsr_next_event(h->s, row, i);
      if (event == NSR_NONE || event == h->s->held)
        break;
      NSR_TRY(move(h, row, NSR_GO_OTHERS, i, 0));
      *any = true;
    }
  return NSR_OK;
}

/* Where nothing but an event is held back, engines pass barriers. */
static enum nsr_status pass_barrier(struct held *h, uint32_t *row, bool *any) {
  struct nsr_go_to moves[NSR_MAX_ENGINES + NSR_MAX_SEQUENCES + 1];
  if (*any || h->s->held == NSR_NONE || !on(h) ||
      !nsr_moves(h->s, row, moves) || moves[0].go != NSR_GO_BARRIER)
    return NSR_OK;
  *any = true;
  return move(h, row, NSR_GO_BARRIER, 0, 0);
}

/* Everything else happens, on a copy: an engine stays where it is, or a lane's
 * oldest instance in flight (NSR_NONE: none does). */
static enum nsr_status hold(struct held *h, uint32_t engine, uint32_t lane) {
  struct nsr_search *s = h->s;
  uint32_t word =
      lane == NSR_NONE ? NSR_NONE : in_flight_at(s, h->row, lane, 0);
  bool any = true;
  memcpy(h->copy, h->row, nsr_row_length(s, h->row) * sizeof *h->row);
  while (any && on(h)) {
    any = false;
    NSR_TRY(retire_all(h, h->copy, lane, word, &any));
    NSR_TRY(go_all_but(h, h->copy, engine, &any));
    NSR_TRY(others_all(h, h->copy, &any));
    NSR_TRY(pass_barrier(h, h->copy, &any));
  }
  return NSR_OK;
}

/* Every engine as far as it can. A wait for others is over at once, so what
 * can happen before it is looked at here. */
static enum nsr_status go_engines(struct held *h, uint32_t *row) {
  for (uint32_t e = 0; e < h->s->nengines; e++)
    while (on(h) && nsr_may_go(h->s, row, (int)e)) {
      if (!h->scout && h->s->w->stations.v[row[e]].event != NSR_NONE)
        NSR_TRY(hold(h, e, NSR_NONE));
      if (on(h))
        NSR_TRY(move(h, row, NSR_GO_ENGINE, e, 0));
    }
  return NSR_OK;
}

/* And events of others, which are over at once as well. */
static enum nsr_status go_all(struct held *h, uint32_t *row) {
  struct nsr_search *s = h->s;
  bool any = true;
  while (any && on(h)) {
    any = false;
    NSR_TRY(go_engines(h, row));
    for (uint32_t i = 0; i < s->nsequences && on(h); i++) {
      uint32_t event = nsr_next_event(s, row, i);
      if (event == NSR_NONE)
        continue;
      s->held = event;
      if (!h->scout)
        NSR_TRY(hold(h, NSR_NONE, NSR_NONE));
      s->held = NSR_NONE;
      if (on(h))
        NSR_TRY(move(h, row, NSR_GO_OTHERS, i, 0));
      any = true;
    }
  }
  return NSR_OK;
}

static enum nsr_status go_round(struct held *h, bool *ends) {
  struct nsr_search *s = h->s;
  struct nsr_go_to barrier[NSR_MAX_ENGINES + NSR_MAX_SEQUENCES + 1];
  uint32_t lane = 0;
  NSR_TRY(go_all(h, h->row));
  while (lane < s->nlanes && !nsr_in_flight(s, h->row, (int)lane))
    lane++;
  if (!on(h))
    return NSR_OK;
  if (lane < s->nlanes) {
    if (!h->scout)
      NSR_TRY(hold(h, NSR_NONE, lane));
    return on(h) ? move(h, h->row, NSR_GO_RETIRE, lane, 0) : NSR_OK;
  }
  if (nsr_moves(s, h->row, barrier))
    return move(h, h->row, NSR_GO_BARRIER, 0, 0);
  *ends = true;
  return nsr_search_end(s, h->row);
}

enum nsr_status nsr_search_held(struct nsr_search *s, bool scout) {
  struct held h = {.s = s, .scout = scout};
  bool ends = false;
  NSR_NEW(s->ctx, s->arena, h.row, (size_t)s->longest + 2);
  NSR_NEW(s->ctx, s->arena, h.copy, (size_t)s->longest + 2);
  NSR_TRY(nsr_search_start(s, h.row));
  s->states++;
  while (!ends && on(&h))
    NSR_TRY(go_round(&h, &ends));
  return NSR_OK;
}
