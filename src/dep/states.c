/* states.c - the views of a part of the tree, all at once: starts of iterations
 * in it, and what its ways begin and end with.
 */
#include "dep/views.h"

/* ---- starts of iterations */

void nsr_view_settle_starts(const struct nsr_walk *w, struct nsr_view *v) {
  uint32_t i = w->nstarts ? w->item_starts[w->item] : 0;
  for (; i; i = w->starts.v[i - 1].further) {
    const struct nsr_walk_start *s = &w->starts.v[i - 1];
    uint32_t ch = (uint32_t)w->tree->works[s->p].channel;
    if ((v->starts[s->word] & nsr_start_bits(s)) &&
        !nsr_set_unknown(&w->slots, &v->set, ch, w->slot[s->p], 0))
      v->starts[s->word] &= ~nsr_start_bits(s);
  }
}

/* One more start, or (all) more than are told apart, of a work of which not all
 * is known. */
static void begin_start(const struct nsr_walk *w, struct nsr_view *v,
                        const struct nsr_walk_start *s, bool all) {
  uint32_t ch = (uint32_t)w->tree->works[s->p].channel;
  uint64_t bits = nsr_start_bits(s), *x = &v->starts[s->word];
  if (!nsr_set_unknown(&w->slots, &v->set, ch, w->slot[s->p], 0))
    *x &= ~bits;
  else if (all)
    *x |= bits;
  else
    *x |= ((*x & bits) << 1 | UINT64_C(1) << s->bit) & bits;
}

/* All views of the loop that starts are told, whether they are told by others
 * or not. What a view knows of other starts is settled already, since only a
 * wait (nsr_walk_wait) lets it know a work without knowing its starts: levels
 * and starts rise together with age, fall together where a channel is learnt,
 * and what two settled views both know of a work both know of its starts. */
enum nsr_status nsr_state_start(struct nsr_walk *w, uint32_t place,
                                bool entry) {
  uint32_t i = w->nstarts ? w->item_starts[w->item] : 0;
  for (; i; i = w->starts.v[i - 1].further) {
    const struct nsr_walk_start *s = &w->starts.v[i - 1];
    if (s->place != place || s->entry != entry)
      continue;
    const struct nsr_walk_range *r = &w->records[s->loop];
    for (uint32_t k = 0; k < nsr_range_views(r); k++) {
      struct nsr_view *v = *nsr_range_view(w, r, k);
      if (!v) /* it never ran */
        continue;
      NSR_TRY(nsr_view_renew(w, v));
      begin_start(w, v, s, entry);
    }
  }
  return NSR_OK;
}

uint32_t nsr_walk_find_start(const struct nsr_walk *w, uint32_t p,
                             uint32_t loop, bool entry) {
  for (uint32_t i = w->item_starts[w->item_of[p]]; i;
       i = w->starts.v[i - 1].further)
    if (w->starts.v[i - 1].p == p && w->starts.v[i - 1].loop == loop &&
        w->starts.v[i - 1].entry == entry)
      return i - 1;
  return NSR_NONE;
}

/* ---- states: the rows, and the records of a range */

/* The view in a place of the state, up to now. */
static enum nsr_status fresh(struct nsr_walk *w, struct nsr_view **place) {
  if (!*place) {
    NSR_TRY(nsr_view_take(w, place));
    NSR_TRY(nsr_view_never(w, *place));
  }
  return nsr_view_renew(w, *place);
}

/* All of them up to now. */
enum nsr_status nsr_state_renew(struct nsr_walk *w,
                                const struct nsr_walk_range *r) {
  for (uint32_t i = 0; i < nsr_range_views(r); i++)
    NSR_TRY(fresh(w, nsr_range_view(w, r, i)));
  return NSR_OK;
}

enum nsr_status nsr_state_copy(struct nsr_walk *w,
                               const struct nsr_walk_range *r,
                               struct nsr_view **out) {
  for (uint32_t i = 0; i < nsr_range_views(r); i++) {
    if (!out[i])
      NSR_TRY(nsr_view_take(w, &out[i]));
    NSR_TRY(nsr_view_copy(w, out[i], *nsr_range_view(w, r, i)));
  }
  return NSR_OK;
}

enum nsr_status nsr_state_set(struct nsr_walk *w,
                              const struct nsr_walk_range *r,
                              struct nsr_view **v) {
  for (uint32_t i = 0; i < nsr_range_views(r); i++)
    NSR_TRY(nsr_view_copy_now(w, *nsr_range_view(w, r, i), v[i]));
  return NSR_OK;
}

void nsr_state_swap(struct nsr_walk *w, const struct nsr_walk_range *r,
                    struct nsr_view **v) {
  for (uint32_t i = 0; i < nsr_range_views(r); i++) {
    struct nsr_view **place = nsr_range_view(w, r, i), *x = v[i];
    v[i] = *place;
    *place = x;
    nsr_view_stamp(w, x);
  }
}

enum nsr_status nsr_state_join(struct nsr_walk *w,
                               const struct nsr_walk_range *r,
                               struct nsr_view **v) {
  bool lost = false; /* nobody asks */
  for (uint32_t i = 0; i < nsr_range_views(r); i++)
    NSR_TRY(nsr_view_lose(w, *nsr_range_view(w, r, i), v[i], &lost));
  return NSR_OK;
}

/* Of a state that goes on, a copy is added: a barrier in an arm that ends here
 * makes known what other ways need not know. */
static enum nsr_status gather(struct nsr_walk *w, struct nsr_view **place,
                              bool last, bool first, struct nsr_view **acc) {
  struct nsr_view *v = *place;
  if (!*acc)
    NSR_TRY(nsr_view_take(w, acc));
  if (!v && last)
    NSR_TRY(nsr_view_take(w, place));
  struct nsr_view *now = last ? *place : first ? *acc : w->other;
  if (!v)
    NSR_TRY(nsr_view_never(w, now));
  else if (!last)
    NSR_TRY(nsr_view_copy(w, now, v));
  NSR_TRY(nsr_view_renew(w, now));
  bool lost = false; /* nobody asks */
  if (!first)
    return nsr_view_lose(w, *acc, now, &lost);
  if (last) {
    *place = *acc;
    *acc = now;
  }
  return NSR_OK;
}

enum nsr_status nsr_state_gather(struct nsr_walk *w,
                                 const struct nsr_walk_range *r, bool last,
                                 struct nsr_view **acc, bool *any) {
  for (uint32_t i = 0; i < nsr_range_views(r); i++)
    NSR_TRY(gather(w, nsr_range_view(w, r, i), last, !*any, &acc[i]));
  *any = true;
  return NSR_OK;
}
