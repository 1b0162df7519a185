/* rounds.c - rounds through a loop, symbolic and from constants.
 *
 * Needs the steps of a round; makes forms. A register that a round brings from
 * its start to its start plus a constant counts; those that constants are
 * turned into constants again and again rotate, together, so that they may take
 * turns with each other.
 */
#include "mem/rounds.h"

#include <string.h>

#include "base/bitset.h"

void nsr_forms_forget(struct nsr_form *env, uint32_t nregs,
                      const uint64_t *set) {
  for (uint32_t r = nsr_bits_next(set, nregs, 0); r < nregs;
       r = nsr_bits_next(set, nregs, r + 1))
    env[r] = nsr_form_unknown;
}

void nsr_forms_copy(struct nsr_form *to, const struct nsr_form *from,
                    uint32_t nregs, const uint64_t *set) {
  for (uint32_t r = nsr_bits_next(set, nregs, 0); r < nregs;
       r = nsr_bits_next(set, nregs, r + 1))
    to[r] = from[r];
}

/* ---- one round */

/* Where two ways meet, or where a way ends, to[q] is what it is on both. */
static void meet(struct nsr_form *to, const struct nsr_form *other) {
  if (!nsr_form_equal(to, other))
    *to = nsr_form_unknown;
}

/* A way ends as all before it did (join), or is the first one. */
static void end_at(const struct nsr_round *r, struct nsr_form *at, bool join,
                   const struct nsr_form *env) {
  for (size_t i = 0; i < r->set.n; i++) {
    uint32_t q = r->set.v[i];
    if (join)
      meet(&at[q], &env[q]);
    else
      at[q] = env[q];
  }
}

/* A way leads out of the loop, and not back from the same place. Without a
 * barrier on it, the next trip goes on where this iteration started. */
static void leave(struct nsr_round *r, const struct nsr_form *env) {
  const struct nsr_form *start = r->room[NSR_ROOM_START];
  r->unsure |= r->passed == NSR_BARRED_SOME;
  if (r->passed == NSR_BARRED_ALL) {
    end_at(r, r->room[NSR_ROOM_LEFT], r->left, env);
    r->left = true;
    return;
  }
  for (size_t i = 0; i < r->set.n; i++)
    if (!nsr_form_equal(&env[r->set.v[i]], &start[r->set.v[i]]))
      nsr_bit_set(r->spoilt, r->set.v[i]);
}

static void end_way(struct nsr_round *r, uint8_t ends,
                    const struct nsr_form *env) {
  r->unsure |= ends == 0;
  if (ends & NSR_ENDS_EXIT) {
    r->barred |= r->passed != NSR_BARRED_NONE;
    r->not_barred |= r->passed != NSR_BARRED_ALL;
  }
  if (ends & NSR_ENDS_BACK) {
    r->unsure |= r->passed != NSR_BARRED_ALL;
    end_at(r, r->room[NSR_ROOM_BACK], r->returns, env);
    r->returns = true;
  } else {
    leave(r, env);
  }
}

static bool run_steps(struct nsr_round *r, size_t from, size_t to,
                      struct nsr_form *env);

/* Both arms of the fork at step i, or the one that is taken; whether a way
 * goes on behind them. */
static bool run_fork(struct nsr_round *r, size_t i, struct nsr_form *env) {
  const struct nsr_step *s = &r->steps.v[i];
  const uint16_t *regs = r->regs.v + s->first_reg;
  struct nsr_form *kept = r->kept + s->first_reg;
  size_t first = i + 1, second = first + s->n, end = second + s->m;
  uint8_t way = s->test == NSR_NONE ? NSR_WAY_UNKNOWN : r->steps.v[s->test].way;
  uint8_t passed = r->passed;
  if (way != NSR_WAY_UNKNOWN && !s->leaves)
    return way == s->way ? run_steps(r, first, second, env)
                         : run_steps(r, second, end, env);
  for (uint32_t j = 0; j < s->nregs; j++)
    kept[j] = env[regs[j]];
  bool goes_on = run_steps(r, first, second, env);
  uint8_t behind = r->passed;
  r->passed = passed;
  for (uint32_t j = 0; j < s->nregs; j++) {
    struct nsr_form f = env[regs[j]];
    env[regs[j]] = kept[j];
    kept[j] = f;
  }
  bool other = run_steps(r, second, end, env);
  if (!goes_on)
    return other;
  for (uint32_t j = 0; j < s->nregs; j++)
    if (other)
      meet(&env[regs[j]], &kept[j]);
    else
      env[regs[j]] = kept[j];
  r->passed = !other || behind == r->passed ? behind : NSR_BARRED_SOME;
  return true;
}

static enum nsr_way way_of(const struct nsr_form *env,
                           const struct nsr_operation *x) {
  struct nsr_form taken = nsr_form_taken(env, x);
  if (taken.kind != NSR_FORM_CONST)
    return NSR_WAY_UNKNOWN;
  return taken.base ? NSR_WAY_TARGET : NSR_WAY_ON;
}

/* Whether the way goes on behind the steps. */
static bool run_steps(struct nsr_round *r, size_t from, size_t to,
                      struct nsr_form *env) {
  for (size_t i = from; i < to; i++) {
    struct nsr_step *s = &r->steps.v[i];
    switch (s->kind) {
    case NSR_STEP_OPERATION:
      nsr_forms_apply(env, &r->nodes[s->insn], &r->operations[s->insn]);
      break;
    case NSR_STEP_FORGET:
      nsr_forms_forget(env, r->nregs, s->set);
      break;
    case NSR_STEP_TEST:
      s->way = way_of(env, &r->operations[s->insn]);
      break;
    case NSR_STEP_BARRIER:
      r->passed = NSR_BARRED_ALL;
      break;
    case NSR_STEP_END:
      end_way(r, s->ends, env);
      return false;
    default:
      if (!run_fork(r, i, env))
        return false;
      i += s->n + s->m;
    }
  }
  return true;
}

/* Makes env, the registers at the start of an iteration, those at the start of
 * the next one. */
static void run_round(struct nsr_round *r, struct nsr_form *env) {
  struct nsr_form *back = r->room[NSR_ROOM_BACK];
  end_at(r, r->room[NSR_ROOM_START], false, env);
  memset(r->spoilt, 0, nsr_bits_words(r->nregs) * sizeof *r->spoilt);
  r->passed = NSR_BARRED_NONE;
  r->returns = r->left = r->barred = r->not_barred = r->unsure = false;
  run_steps(r, 0, r->steps.n, env);
  for (size_t i = 0; i < r->set.n; i++) {
    uint32_t q = r->set.v[i];
    bool good = r->returns;
    if (r->in_loop)
      good &=
          !r->unsure && !nsr_bit(r->spoilt, q) &&
          (!r->left || nsr_form_equal(&r->room[NSR_ROOM_LEFT][q], &back[q]));
    env[q] = good ? back[q] : nsr_form_unknown;
  }
}

static enum nsr_barred ways_out(const struct nsr_round *r) {
  if (r->unsure || (r->barred && r->not_barred))
    return NSR_BARRED_SOME;
  return r->barred ? NSR_BARRED_ALL : NSR_BARRED_NONE;
}

/* ---- what a round does again and again */

enum { MOST_ROUNDS = 64 }; /* after which all registers come back together */

/* What is looked for: the forms of the registers that the loop sets. Of other
 * registers nothing is read here, nor written. */
struct seek {
  uint32_t scope;
  bool trip;
  struct nsr_form *before; /* in front of the loop */
  struct nsr_form *env;    /* that rounds run on */
  struct nsr_form *found;
  bool *turns; /* by register: constant in each round so far */
};

static bool sought(const struct seek *k, uint32_t q) {
  return k->before[q].kind == NSR_FORM_CONST &&
         k->found[q].kind == NSR_FORM_UNKNOWN;
}

static bool is_constant(const struct nsr_form *f) {
  return f->kind == NSR_FORM_CONST && !nsr_form_symbolic(f);
}

/* The same, of what may come again: a value that is known. */
static bool may_turn(const struct seek *k, uint32_t q) {
  return sought(k, q) && is_constant(&k->before[q]);
}

/* From what it is in front of the loop. */
static struct nsr_form affine(const struct seek *k, uint32_t q, int32_t step) {
  struct nsr_form f = k->before[q];
  f.kind = NSR_FORM_AFFINE;
  f.trip = k->trip;
  f.loop = k->scope;
  f.step = step;
  return f;
}

/* Whether a symbolic round makes it what some register was, plus a constant. */
static bool starts(const struct seek *k, uint32_t q) {
  return sought(k, q) && k->env[q].kind == NSR_FORM_START &&
         !nsr_form_symbolic(&k->env[q]);
}

static void find_counters(const struct nsr_round *r, const struct seek *k) {
  for (size_t i = 0; i < r->set.n; i++) {
    uint32_t q = r->set.v[i];
    if (starts(k, q) && k->env[q].step == (int32_t)q)
      k->found[q] = affine(k, q, k->env[q].base);
  }
}

/* What takes over a counter of the iteration before, as if it had always. */
static void find_followers(const struct nsr_round *r, const struct seek *k) {
  for (size_t i = 0; i < r->set.n; i++) {
    uint32_t q = r->set.v[i];
    if (!starts(k, q))
      continue;
    const struct nsr_form *of = &k->found[k->env[q].step];
    if (of->kind == NSR_FORM_AFFINE && nsr_form_related(of, &k->before[q]) &&
        (uint32_t)k->before[q].base ==
            (uint32_t)of->base - (uint32_t)of->step + (uint32_t)k->env[q].base)
      k->found[q] = affine(k, q, of->step);
  }
}

/* Starts a round with what turns; the values it then has. */
static void start_round(const struct nsr_round *r, const struct seek *k,
                        int32_t *values) {
  for (size_t i = 0; i < r->set.n; i++) {
    uint32_t q = r->set.v[i];
    if (k->turns[q])
      values[q] = k->env[q].base;
    else
      k->env[q] = nsr_form_unknown;
  }
}

/* What turns no longer is left out; false: something was. */
static bool all_turn(const struct nsr_round *r, const struct seek *k) {
  bool all = true;
  for (size_t i = 0; i < r->set.n; i++) {
    uint32_t q = r->set.v[i];
    if (k->turns[q] && !is_constant(&k->env[q])) {
      k->turns[q] = false;
      all = false;
    }
  }
  return all;
}

static bool all_back(const struct nsr_round *r, const struct seek *k) {
  for (size_t i = 0; i < r->set.n; i++) {
    uint32_t q = r->set.v[i];
    if (k->turns[q] && k->env[q].base != k->before[q].base)
      return false;
  }
  return true;
}

/* The registers that the loop sets, as in another place. */
static void set_all(const struct nsr_round *r, struct nsr_form *to,
                    const struct nsr_form *from) {
  for (size_t i = 0; i < r->set.n; i++)
    to[r->set.v[i]] = from[r->set.v[i]];
}

/* Runs rounds from the constants in front of the loop until all that turns has
 * its first value again: after how many, 0: that was not seen. */
static uint32_t turn(struct nsr_round *r, const struct seek *k,
                     int32_t *values) {
  uint32_t left = 2 * MOST_ROUNDS, n = 0;
  bool any = false;
  for (size_t i = 0; i < r->set.n; i++)
    any |= k->turns[r->set.v[i]] = may_turn(k, r->set.v[i]);
  if (!any)
    return 0;
  set_all(r, k->env, k->before);
  while (left-- > 0 && n < MOST_ROUNDS) {
    start_round(r, k, values + (size_t)n * r->nregs);
    run_round(r, k->env);
    n++;
    if (!all_turn(r, k)) {
      set_all(r, k->env, k->before);
      n = 0;
    } else if (all_back(r, k)) {
      return n;
    }
  }
  return 0;
}

/* The form of a register whose values over n rounds, which then come again,
 * are values[0], values[nregs], .. */
static struct nsr_form rotation(const struct nsr_round *r, const struct seek *k,
                                const int32_t *values, uint32_t n) {
  for (uint32_t p = 1; p <= n && p <= NSR_MAX_PERIOD; p++) {
    struct nsr_form f = {.kind = NSR_FORM_PERIODIC,
                         .period = (uint8_t)p,
                         .trip = k->trip,
                         .loop = k->scope};
    bool good = n % p == 0;
    for (uint32_t i = 0; i < n && good; i++) {
      if (i < p)
        f.values[i] = values[(size_t)i * r->nregs];
      good = values[(size_t)i * r->nregs] == f.values[i % p];
    }
    if (good)
      return p == 1 ? nsr_form_constant(values[0]) : f;
  }
  return nsr_form_unknown;
}

/* What comes back though others that turn do not: one at a time. */
static void find_orbit(struct nsr_round *r, const struct seek *k, uint32_t q) {
  int32_t *values = r->turned, v = k->before[q].base;
  for (uint32_t n = 0; n < NSR_MAX_PERIOD; n++) {
    values[(size_t)n * r->nregs] = v;
    for (size_t i = 0; i < r->set.n; i++)
      k->env[r->set.v[i]] = nsr_form_unknown;
    k->env[q] = nsr_form_constant(v);
    run_round(r, k->env);
    if (!is_constant(&k->env[q]))
      return;
    v = k->env[q].base;
    if (v == k->before[q].base) {
      k->found[q] = rotation(r, k, values, n + 1);
      return;
    }
  }
}

static void find_rotations(struct nsr_round *r, const struct seek *k) {
  uint32_t n = turn(r, k, r->turned);
  for (size_t i = 0; i < r->set.n; i++) {
    uint32_t q = r->set.v[i];
    if (n > 0 && k->turns[q])
      k->found[q] = rotation(r, k, r->turned + q, n);
    else if (n == 0 && may_turn(k, q))
      find_orbit(r, k, q);
  }
}

/* Runs one round with registers as they are at its start. */
static void run_symbolic(struct nsr_round *r, bool trip, struct nsr_form *env) {
  bool in_loop = r->in_loop;
  for (size_t i = 0; i < r->set.n; i++)
    env[r->set.v[i]] = (struct nsr_form){
        .kind = NSR_FORM_START, .step = (int32_t)r->set.v[i], .loop = NSR_NONE};
  r->in_loop = in_loop && !trip; /* how it was left, a trip does not see */
  run_round(r, env);
  if (!trip)
    r->out = (uint8_t)ways_out(r);
  r->in_loop = in_loop;
}

void nsr_round_ways(struct nsr_round *r, struct nsr_form *env) {
  run_symbolic(r, false, env);
}

void nsr_round_forms(struct nsr_round *r, uint32_t scope, bool trip,
                     struct nsr_form *env) {
  const struct seek k = {.scope = scope,
                         .trip = trip,
                         .before = r->room[NSR_ROOM_BEFORE],
                         .env = env,
                         .found = r->room[NSR_ROOM_FOUND],
                         .turns = r->turns};
  bool in_loop = r->in_loop;
  set_all(r, k.before, env);
  for (size_t i = 0; i < r->set.n; i++)
    k.found[r->set.v[i]] = nsr_form_unknown;
  run_symbolic(r, trip, env);
  r->in_loop = in_loop && !trip;
  find_counters(r, &k);
  find_followers(r, &k);
  find_rotations(r, &k);
  r->in_loop = in_loop;
  set_all(r, env, k.found);
}

enum nsr_status nsr_round_init(struct nsr_ctx *ctx, uint32_t nregs,
                               struct nsr_round *out) {
  *out = (struct nsr_round){.nregs = nregs};
  NSR_NEW(ctx, NSR_SCRATCH, out->spoilt, nsr_bits_words(nregs));
  NSR_NEW(ctx, NSR_SCRATCH, out->turns, nregs);
  NSR_NEW(ctx, NSR_SCRATCH, out->turned, (size_t)MOST_ROUNDS * nregs);
  for (int i = 0; i < NSR_ROUND_ROOMS; i++)
    NSR_NEW(ctx, NSR_SCRATCH, out->room[i], nregs);
  return NSR_OK;
}
