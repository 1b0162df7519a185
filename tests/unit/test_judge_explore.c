/* One run speaks for all: on random small kernels the judge says what an
 * exhaustive search over all orders of issue and retirement finds. The search
 * knows nothing of clocks, atoms or the model: it has its own record of what
 * the kernel does.
 */
#include "judge_case.h"
#include "prng.h"

enum {
  ENGINES = 3,
  CHANNELS = 5, /* three pipelines, two queues */
  SEMS = 7,
  MOST = 5, /* instructions per engine */
  MOST_WAITS = 5,
  KERNELS = 900,
  TEXT = 4096
};

static const char *const engine_names[ENGINES] = {"act", "dve", "pool"};
static const int queue_engine[CHANNELS] = {0, 1, 2, 0, 2};

struct bytes { /* of one row of SBUF; end 0: none */
  int begin, end;
};

struct op {
  int channel;
  struct bytes read, write;
  bool load;
  int nwaits;
  struct wait {
    int sem, threshold;
    bool equality;
  } waits[MOST_WAITS]; /* the first one on the instruction itself */
  int update_sem;      /* -1: none */
  char text[160];
};

struct kernel {
  struct op ops[ENGINES][MOST];
  int n[ENGINES];
  bool in_order[CHANNELS];
  char text[TEXT];
  size_t head; /* of text: up to the first engine */
};

/* ---- making kernels */

static const char *buffer(struct prng *r, struct bytes *b, char *out,
                          size_t size) {
  int which = (int)prng_in(r, 0, 2), slice = (int)prng_in(r, 0, 3);
  int first = slice == 2 ? 8 : 0, n = slice < 2 ? 16 : 8;
  b->begin = which * 16 + first;
  b->end = b->begin + n;
  snprintf(out, size, "x%d+%d[%d*4]", which, first, n / 4);
  return out;
}

static void make_work(struct prng *r, struct op *o, int engine) {
  char dst[32], src[32];
  int what = (int)prng_in(r, 0, 9);
  bool queue = engine != 1 && prng_in(r, 0, 2) == 0;
  o->channel = queue ? (engine == 0 ? 3 : 4) : engine;
  if (what == 0) {
    snprintf(o->text, sizeof o->text, queue ? "qnop q%d" : "nop",
             o->channel - 3);
  } else if (what == 1 && !queue) {
    o->load = true;
    buffer(r, &o->read, src, sizeof src);
    o->read.end = o->read.begin + 4;
    *strchr(src, '[') = 0;
    snprintf(o->text, sizeof o->text, "ld r1, %s", src);
  } else if (what < 5 && !queue) {
    snprintf(o->text, sizeof o->text, "memset %s value=1",
             buffer(r, &o->write, dst, sizeof dst));
  } else {
    do {
      buffer(r, &o->write, dst, sizeof dst);
      buffer(r, &o->read, src, sizeof src);
    } while (o->read.end - o->read.begin != o->write.end - o->write.begin);
    if (queue)
      snprintf(o->text, sizeof o->text, "dma q%d, %s, %s", o->channel - 3, dst,
               src);
    else
      snprintf(o->text, sizeof o->text, "copy %s, %s", dst, src);
  }
}

static bool overlap(const struct bytes *a, const struct bytes *b) {
  return a->end && b->end && a->begin < b->end && b->begin < a->end;
}

static bool conflict(const struct op *a, const struct op *b) {
  return overlap(&a->write, &b->write) || overlap(&a->write, &b->read) ||
         overlap(&a->read, &b->write);
}

/* How many of the semaphores' updates came before now; who issued what. */
struct making {
  int count[SEMS];
  struct past {
    const struct op *op;
    int count; /* of its channel's semaphore, itself included */
  } past[ENGINES * MOST];
  int n;
};

static void add_wait(struct op *o, int sem, int threshold, bool equality) {
  for (int i = 0; i < o->nwaits; i++)
    if (o->waits[i].sem == sem && !equality) {
      if (threshold > o->waits[i].threshold)
        o->waits[i].threshold = threshold;
      return;
    }
  if (o->nwaits == MOST_WAITS)
    return;
  /* an equality is tested last, with the instruction */
  if (equality && o->nwaits)
    o->waits[o->nwaits] = o->waits[0];
  o->waits[equality ? 0 : o->nwaits] = (struct wait){sem, threshold, equality};
  o->nwaits++;
}

/* Mostly a wait for what conflicts, sometimes one for something else, rarely
 * one too many. */
static void make_sync(struct prng *r, struct op *o, struct making *m,
                      bool mixed) {
  bool careful = prng_in(r, 0, 9) > 0;
  for (int i = 0; i < m->n && careful; i++)
    if (m->past[i].op->update_sem >= 0 && conflict(m->past[i].op, o))
      add_wait(o, m->past[i].op->channel, m->past[i].count, false);
  if (prng_in(r, 0, 9) < 3) {
    int sem = (int)prng_in(r, 0, mixed ? SEMS - 1 : CHANNELS - 1);
    int most = m->count[sem] + (prng_in(r, 0, 9) == 0);
    add_wait(o, sem, (int)prng_in(r, most > 0, most),
             mixed && prng_in(r, 0, 2) == 0);
  }
  o->update_sem = -1;
  if (prng_in(r, 0, 19) > 0)
    o->update_sem = mixed && prng_in(r, 0, 3) == 0 ? CHANNELS : o->channel;
}

static void print_wait(const struct wait *w, char **at, char *end) {
  *at += snprintf(*at, (size_t)(end - *at), " ?s%d%s%d", w->sem,
                  w->equality ? "==" : ">=", w->threshold);
}

static void print_op(const struct op *o, char **at, char *end) {
  for (int i = 1; i < o->nwaits; i++) {
    *at += snprintf(*at, (size_t)(end - *at), " wait");
    print_wait(&o->waits[i], at, end);
    *at += snprintf(*at, (size_t)(end - *at), "\n");
  }
  *at += snprintf(*at, (size_t)(end - *at), " %s", o->text);
  if (o->nwaits)
    print_wait(&o->waits[0], at, end);
  if (o->update_sem >= 0)
    *at += snprintf(*at, (size_t)(end - *at), " ^s%d", o->update_sem);
  *at += snprintf(*at, (size_t)(end - *at), "\n");
}

static void print_body(struct kernel *k) {
  char *at = k->text + k->head, *end = k->text + sizeof k->text;
  for (int e = 0; e < ENGINES; e++) {
    at += snprintf(at, (size_t)(end - at), ".engine %s\n", engine_names[e]);
    for (int i = 0; i < k->n[e]; i++)
      print_op(&k->ops[e][i], &at, end);
    at += snprintf(at, (size_t)(end - at), " sync 9\n halt\n");
  }
}

static void print_kernel(struct prng *r, struct kernel *k) {
  static const char *const orders[] = {"hidden", "none", "full"};
  char *at = k->text, *end = k->text + sizeof k->text;
  int order[CHANNELS];
  for (int c = 0; c < CHANNELS; c++) {
    order[c] = (int)prng_in(r, 0, 9) < 8 ? (int)prng_in(r, 0, 1) : 2;
    k->in_order[c] = order[c] == 2;
  }
  at += snprintf(at, (size_t)(end - at),
                 ".isa tile64\n.kernel \"t\"\n.queue q0 act %s\n"
                 ".queue q1 pool %s\n",
                 orders[order[3]], orders[order[4]]);
  for (int e = 0; e < ENGINES; e++)
    at += snprintf(at, (size_t)(end - at), ".order %s %s\n", engine_names[e],
                   orders[order[e]]);
  for (int b = 0; b < 3; b++)
    at += snprintf(at, (size_t)(end - at),
                   ".tensor x%d sbuf i32 [1, 4] at 0:1, %d scratch range 0 3\n",
                   b, b * 16);
  k->head = (size_t)(at - k->text);
  print_body(k);
}

static void make_kernel(struct prng *r, struct kernel *k, bool mixed) {
  struct making m = {.n = 0};
  int total = (int)prng_in(r, 3, 12);
  memset(k, 0, sizeof *k);
  for (int i = 0; i < total; i++) {
    int e = (int)prng_in(r, 0, ENGINES - 1);
    if (k->n[e] == MOST)
      continue;
    struct op *o = &k->ops[e][k->n[e]++];
    make_work(r, o, e);
    make_sync(r, o, &m, mixed);
    if (o->update_sem >= 0)
      m.count[o->update_sem]++;
    m.past[m.n++] = (struct past){o, m.count[o->channel]};
  }
  print_kernel(r, k);
}

/* ---- all orders of issue and retirement */

struct state {
  uint8_t issued[ENGINES], retired[CHANNELS];
};

struct search {
  const struct kernel *k;
  const struct op *in[CHANNELS][MOST]; /* by channel, in order */
  uint8_t seen[6 * 6 * 6 * 6 * 6 * 6 * 6 * 6 / 8];
  bool race, hang;
  int states;
};

static bool mark(struct search *s, const struct state *x) {
  uint32_t code = 0;
  for (int e = 0; e < ENGINES; e++)
    code = code * 6 + x->issued[e];
  for (int c = 0; c < CHANNELS; c++)
    code = code * 6 + x->retired[c];
  bool before = s->seen[code / 8] >> (code % 8) & 1;
  s->seen[code / 8] |= (uint8_t)(1 << (code % 8));
  return !before;
}

static int issued_in(const struct kernel *k, const struct state *x, int c) {
  int n = 0, e = queue_engine[c];
  for (int i = 0; i < x->issued[e]; i++)
    n += k->ops[e][i].channel == c;
  return n;
}

static int value(const struct search *s, const struct state *x, int sem) {
  int n = 0;
  for (int c = 0; c < CHANNELS; c++)
    for (int i = 0; i < x->retired[c]; i++)
      n += s->in[c][i]->update_sem == sem;
  return n;
}

static bool may_issue(const struct search *s, const struct state *x, int e) {
  int i = x->issued[e];
  if (i == s->k->n[e])
    return false;
  const struct op *o = &s->k->ops[e][i];
  if (i > 0 && s->k->ops[e][i - 1].load &&
      x->retired[e] < issued_in(s->k, x, e))
    return false;
  for (int w = 0; w < o->nwaits; w++) {
    int v = value(s, x, o->waits[w].sem);
    if (o->waits[w].equality ? v != o->waits[w].threshold
                             : v < o->waits[w].threshold)
      return false;
  }
  return true;
}

/* Whether what is about to issue meets something in flight. */
static bool meets(const struct search *s, const struct state *x,
                  const struct op *o) {
  for (int c = 0; c < CHANNELS; c++)
    for (int i = x->retired[c]; i < issued_in(s->k, x, c); i++)
      if (conflict(s->in[c][i], o) && !(c == o->channel && s->k->in_order[c]))
        return true;
  return false;
}

static void explore(struct search *s, const struct state *x) {
  bool moved = false, done = true;
  if (!mark(s, x))
    return;
  s->states++;
  for (int e = 0; e < ENGINES; e++) {
    done = done && x->issued[e] == s->k->n[e];
    if (!may_issue(s, x, e))
      continue;
    struct state y = *x;
    if (meets(s, x, &s->k->ops[e][x->issued[e]]))
      s->race = true;
    y.issued[e]++;
    moved = true;
    explore(s, &y);
  }
  for (int c = 0; c < CHANNELS; c++) {
    if (x->retired[c] == issued_in(s->k, x, c))
      continue;
    struct state y = *x;
    y.retired[c]++;
    moved = true;
    explore(s, &y);
  }
  s->hang = s->hang || (!moved && !done);
}

static void search(struct search *s, const struct kernel *k) {
  struct state start = {{0}, {0}};
  memset(s, 0, sizeof *s);
  s->k = k;
  for (int c = 0; c < CHANNELS; c++) {
    int n = 0, e = queue_engine[c];
    for (int i = 0; i < k->n[e]; i++)
      if (k->ops[e][i].channel == c)
        s->in[c][n++] = &k->ops[e][i];
  }
  explore(s, &start);
}

/* ---- the same verdict */

static void disagree(const struct kernel *k, const struct search *s,
                     const struct nsr_judgement *j, uint64_t seed) {
  fail_msg("seed %llu: search says%s%s, judge %s, %s\n%s\n%s",
           (unsigned long long)seed, s->race ? " race" : "",
           s->hang ? " hang" : "", nsr_verdict_name(j->verdict),
           nsr_fault_name(j->fault), k->text, j->text);
}

static bool agrees(const struct search *s, const struct nsr_judgement *j) {
  if (s->race)
    return j->verdict == NSR_INPUT_BROKEN && j->fault == NSR_FAULT_RACE;
  if (s->hang)
    return j->verdict == NSR_INPUT_BROKEN && j->fault == NSR_FAULT_HANG;
  return j->verdict == NSR_EQUAL;
}

static void test_agrees(void **state) {
  (void)state;
  const struct nsr_judge_options options = {.every_schedule = true};
  struct prng r = prng_seed("test_agrees", 11);
  static struct search s;
  static struct kernel k;
  int races = 0, hangs = 0, states = 0;
  for (int i = 0; i < KERNELS; i++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_judgement j;
    uint64_t seed = r.state;
    make_kernel(&r, &k, false);
    search(&s, &k);
    judge_texts(ctx, k.text, NULL, &options, &j);
    if (!agrees(&s, &j))
      disagree(&k, &s, &j, seed);
    races += s.race;
    hangs += s.hang && !s.race;
    states += s.states;
    nsr_ctx_free(ctx);
  }
  printf("%d kernels: %d race, %d hang; %d states\n", KERNELS, races, hangs,
         states);
  assert_true(races > KERNELS / 5 && hangs > 10 &&
              races + hangs < KERNELS * 4 / 5);
}

/* Where one schedule does not speak for all, the judge may be undecided, and
 * is never wrong: what it calls broken is, and it calls nothing equal. */
static void test_never_wrong(void **state) {
  (void)state;
  struct prng r = prng_seed("test_never_wrong", 12);
  static struct search s;
  static struct kernel k;
  int undecided = 0, broken = 0;
  for (int i = 0; i < KERNELS; i++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_judgement j;
    uint64_t seed = r.state;
    make_kernel(&r, &k, true);
    search(&s, &k);
    judge_texts(ctx, k.text, NULL, NULL, &j);
    bool bad = s.race || s.hang;
    if ((bad && j.verdict == NSR_EQUAL) ||
        (!bad && j.verdict == NSR_INPUT_BROKEN) || j.verdict == NSR_REFUTED)
      disagree(&k, &s, &j, seed);
    undecided += j.verdict == NSR_UNDECIDED;
    broken += j.verdict == NSR_INPUT_BROKEN;
    nsr_ctx_free(ctx);
  }
  printf("%d kernels: %d broken, %d undecided\n", KERNELS, broken, undecided);
  assert_true(undecided > 20 && broken > 20);
}

struct tally {
  int mutants, killed;
};

/* k with one wait changed in m, against k. */
static void judge_mutant(const struct kernel *k, struct kernel *m,
                         uint64_t seed, struct tally *t) {
  static struct search s;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_judgement j;
  print_body(m);
  search(&s, m);
  judge_texts(ctx, k->text, m->text, NULL, &j);
  bool refuted = j.verdict == NSR_REFUTED && j.fault == NSR_FAULT_RACE;
  if (refuted != s.race || s.hang || (!refuted && j.verdict != NSR_EQUAL))
    disagree(m, &s, &j, seed);
  t->mutants++;
  t->killed += refuted;
  nsr_ctx_free(ctx);
}

/* A wait lowered or dropped in a sound kernel: refuted if and only if the
 * search finds a race. */
static void test_mutants(void **state) {
  (void)state;
  struct prng r = prng_seed("test_mutants", 13);
  static struct search s;
  static struct kernel k, m;
  struct tally t = {0, 0};
  for (int i = 0; i < KERNELS / 2; i++) {
    uint64_t seed = r.state;
    make_kernel(&r, &k, false);
    search(&s, &k);
    if (s.race || s.hang)
      continue;
    for (int e = 0; e < ENGINES; e++)
      for (int n = 0; n < k.n[e]; n++)
        for (int w = 0; w < k.ops[e][n].nwaits; w++) {
          m = k;
          m.ops[e][n].waits[w].threshold -= 1;
          judge_mutant(&k, &m, seed, &t);
          m.ops[e][n].waits[w].threshold = 0;
          judge_mutant(&k, &m, seed, &t);
        }
  }
  printf("%d mutants, %d refuted\n", t.mutants, t.killed);
  assert_true(t.killed > t.mutants / 10 && t.killed < t.mutants);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_agrees),
                                     cmocka_unit_test(test_never_wrong),
                                     cmocka_unit_test(test_mutants)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
