/* An event of others is what an engine does that waits, touches its bytes and
 * then updates: random kernels with events, and the same with an engine of
 * the kernel in place of each sequence, get the same verdict. */
#include "judge_case.h"

#include "prng.h"

enum { KERNELS = 2500, WORDS = 8, OWNED = 3, FOREIGN = 4, SEQUENCES = 2 };

#define HEAD                                                                   \
  ".isa tile64\n.kernel \"t\"\n"                                               \
  ".tensor w dram i32 [8] at 0 scratch range 0 3\n"

/* The two forms side by side. */
struct twins {
  char kernel[4000], events[2000], twin[6000];
};

static void add(char *to, size_t size, const char *fmt, ...) NSR_PRINTF(3, 4);
static void add(char *to, size_t size, const char *fmt, ...) {
  va_list ap;
  size_t n = strlen(to);
  va_start(ap, fmt);
  vsnprintf(to + n, size - n, fmt, ap);
  va_end(ap);
}
#define ADD(to, ...) add(to, sizeof(to), __VA_ARGS__)

/* A semaphore of others is s200 + k, in the twin s10 + k. */
static void add_wait(struct prng *r, struct twins *t) {
  int threshold = prng_in(r, 0, 3) ? 1 : 2;
  int k = (int)prng_in(r, 0, OWNED + FOREIGN - 1);
  if (prng_in(r, 0, 1))
    return;
  bool owned = k < OWNED;
  ADD(t->kernel, " ?s%d>=%d", owned ? k : 200 + k - OWNED, threshold);
  ADD(t->twin, " ?s%d>=%d", owned ? k : 10 + k - OWNED, threshold);
}

/* One of first..end-1 that `who` updates, -1: none. */
static int choose(struct prng *r, const int *updater, int first, int end,
                  int who) {
  int n = end - first, at = (int)prng_in(r, 0, n - 1);
  for (int i = 0; i < n && prng_in(r, 0, 7); i++)
    if (updater[first + (at + i) % n] == who)
      return first + (at + i) % n;
  return -1;
}

static void add_update(struct prng *r, struct twins *t, const int *updater,
                       int who) {
  int k = choose(r, updater, 0, OWNED + FOREIGN, who);
  if (k < 0)
    return;
  bool owned = k < OWNED;
  ADD(t->kernel, " ^s%d", owned ? k : 200 + k - OWNED);
  ADD(t->twin, " ^s%d", owned ? k : 10 + k - OWNED);
}

static void make_engine(struct prng *r, struct twins *t, const int *updater,
                        int engine) {
  static const char *const names[] = {"act", "dve", "sp"};
  ADD(t->kernel, ".engine %s\n mov r9, 1\n", names[engine]);
  ADD(t->twin, ".engine %s\n mov r9, 1\n", names[engine]);
  for (int64_t n = prng_in(r, 1, 3); n > 0; n--) {
    int64_t op = prng_in(r, 0, 3), word = prng_in(r, 0, WORDS - 1) * 4;
    char text[40] = " nop";
    if (op < 3)
      snprintf(text, sizeof text, op ? " st w+%d, r9" : " ld r1, w+%d",
               (int)word);
    ADD(t->kernel, "%s", text);
    ADD(t->twin, "%s", text);
    add_wait(r, t);
    add_update(r, t, updater, engine);
    ADD(t->kernel, "\n");
    ADD(t->twin, "\n");
  }
  ADD(t->kernel, " sync 9\n halt\n");
  ADD(t->twin, " sync 9\n halt\n");
}

static void make_event(struct prng *r, struct twins *t, const int *updater,
                       int sequence, int *stores) {
  int own = 30 + sequence;
  bool writes = prng_in(r, 0, 2) > 0;
  int word = (int)prng_in(r, 0, WORDS - 1) * 4;
  if (*stores)
    ADD(t->twin, " wait ?s%d>=%d\n", own, *stores);
  if (prng_in(r, 0, 1)) {
    int k = (int)prng_in(r, 0, FOREIGN - 1);
    ADD(t->events, " ?s%d>=1", 200 + k);
    ADD(t->twin, " wait ?s%d>=1\n", 10 + k);
  }
  ADD(t->events, " %s w+%d:4", writes ? "write" : "read", word);
  if (writes)
    ADD(t->twin, " st w+%d, r9 ^s%d\n nop ?s%d>=%d", word, own, own, ++*stores);
  else
    ADD(t->twin, " ld r1, w+%d\n nop", word);
  int k = choose(r, updater, OWNED, OWNED + FOREIGN, 10 + sequence) - OWNED;
  if (k >= 0) {
    ADD(t->events, " ^s%d", 200 + k);
    ADD(t->twin, " ^s%d", 10 + k);
  }
  ADD(t->events, "\n");
  ADD(t->twin, "\n");
}

static void make_sequence(struct prng *r, struct twins *t, const int *updater,
                          int sequence) {
  int stores = 0;
  ADD(t->twin, ".engine %s\n mov r9, 1\n", sequence ? "pool" : "pe");
  for (int64_t i = 0, n = prng_in(r, 1, 3); i < n; i++) {
    ADD(t->events, "%s", i ? "then" : "");
    make_event(r, t, updater, sequence, &stores);
  }
  ADD(t->twin, " sync 9\n halt\n");
}

static void make(struct prng *r, struct twins *t) {
  int updater[OWNED + FOREIGN], engines = (int)prng_in(r, 1, 3);
  *t = (struct twins){.kernel = HEAD, .twin = HEAD};
  for (int k = 0; k < OWNED + FOREIGN; k++)
    updater[k] = k < OWNED || prng_in(r, 0, 2) == 0
                     ? (int)prng_in(r, 0, engines - 1)
                     : 10 + (int)prng_in(r, 0, SEQUENCES - 1);
  for (int e = 0; e < engines; e++)
    make_engine(r, t, updater, e);
  for (int s = 0; s < SEQUENCES; s++)
    make_sequence(r, t, updater, s);
}

static void judge(struct nsr_ctx *ctx, const char *text, const char *events,
                  struct nsr_judgement *j) {
  struct nsr_kernel *k = kernel_of(ctx, text);
  struct nsr_external *x = NULL;
  char line[500];
  if (events &&
      nsr_external_parse(ctx, k, "k.ev", events, strlen(events), &x) != NSR_OK)
    fail_msg("%s\n%s", first_error(ctx, line, sizeof line), events);
  const struct nsr_judge_options options = {.external = x,
                                            .every_schedule = true};
  if (nsr_cosimulate(ctx, k, k, &options, j) != NSR_OK)
    fail_msg("%s\n%s", first_error(ctx, line, sizeof line), text);
}

/* What never happens leaves the twin's engine hanging, and nobody else. */
static bool comparable(const struct nsr_judgement *a,
                       const struct nsr_judgement *b) {
  return a->verdict != NSR_UNDECIDED && b->verdict != NSR_UNDECIDED &&
         (a->verdict != NSR_EQUAL || !strstr(a->notes, "never happened"));
}

static void test_twins(void **state) {
  struct prng r = prng_seed("twins", 1);
  int equal = 0, races = 0, events = 0;
  (void)state;
  for (int i = 0; i < KERNELS; i++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_judgement a, b;
    struct twins t;
    make(&r, &t);
    judge(ctx, t.kernel, t.events, &a);
    judge(ctx, t.twin, NULL, &b);
    bool same = a.verdict == b.verdict && a.fault == b.fault;
    if (comparable(&a, &b) && !same)
      fail_msg("%s, %s; its twin %s, %s\n%s\n%s\n%s\n%s\n%s",
               nsr_verdict_name(a.verdict), nsr_fault_name(a.fault),
               nsr_verdict_name(b.verdict), nsr_fault_name(b.fault), t.kernel,
               t.events, a.text, t.twin, b.text);
    if (comparable(&a, &b)) {
      equal += a.verdict == NSR_EQUAL;
      races += a.fault == NSR_FAULT_RACE;
      events += strstr(a.text, "race with an external event") != NULL;
    }
    nsr_ctx_free(ctx);
  }
  printf("twins: %d equal, %d races, %d of them with events\n", equal, races,
         events);
  assert_true(equal > KERNELS / 50);
  assert_true(races > KERNELS / 10);
  assert_true(events > KERNELS / 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_twins)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
