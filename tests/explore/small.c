/* small.c - makes the text of small kernels (small.h). */
#include "small.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../unit/prng.h"

enum {
  ENGINES = 4, /* two that compute, the matrix, one that only moves */
  QUEUES = 2,
  CHANNELS = ENGINES + QUEUES,
  WORDS = 8,
  MOST_WORK = 9,
  MOST_DEPTH = 2,
  MOST_TOUCHES = 4
};

struct touch {
  int space, begin, end; /* bytes of one of the three spaces */
  bool write;
};

struct work {
  int channel;
  int ntouches;
  struct touch touches[MOST_TOUCHES];
  int count; /* of its channel's semaphore, itself included */
};

struct maker {
  struct prng r;
  const struct nsr_isa *isa;
  const char *engine[ENGINES];
  int feeds[QUEUES];
  struct small_with with;
  char body[ENGINES][SMALL_TEXT / 8];
  size_t n[ENGINES];
  struct work region[64];
  int nregion, count[CHANNELS];
  int made, words, labels, depth;
  int loops; /* of these depths, a loop each */
};

/* ---- text */

__attribute__((format(printf, 3, 4))) static void emit(struct maker *m, int e,
                                                       const char *fmt, ...) {
  va_list ap;
  size_t room = sizeof m->body[e] - m->n[e];
  va_start(ap, fmt);
  int n = vsnprintf(m->body[e] + m->n[e], room, fmt, ap);
  va_end(ap);
  if (n > 0 && (size_t)n < room)
    m->n[e] += (size_t)n;
}

#define ALL(m, ...)                                                            \
  for (int e_ = 0; e_ < ENGINES; e_++)                                         \
  emit(m, e_, __VA_ARGS__)

static int in(struct maker *m, int lo, int hi) {
  return (int)prng_in(&m->r, lo, hi);
}

static void barrier(struct maker *m) {
  ALL(m, " sync\n");
  m->nregion = 0;
  memset(m->count, 0, sizeof m->count);
}

/* ---- operands */

static void touch(struct work *w, int space, int begin, int end, bool write) {
  w->touches[w->ntouches++] = (struct touch){space, begin, end, write};
}

/* Four words of one of three buffers, or the first or last two; sometimes a
 * slot of a buffer that an iteration selects. */
static void sbuf(struct maker *m, struct work *w, int words, bool write,
                 char out[64]) {
  int which = in(m, 0, 2), half = words == 2 ? in(m, 0, 1) : 0;
  if (m->loops && !m->with.plain && in(m, 0, 3) == 0) {
    touch(w, 0, 64, 64 + 32, write);
    snprintf(out, 64, "y+r%d[%d*4]", 10 + m->depth - 1, words);
    return;
  }
  touch(w, 0, which * 16 + half * 8, which * 16 + half * 8 + words * 4, write);
  snprintf(out, 64, "x%d+%d[%d*4]", which, half * 8, words);
}

static void dram(struct maker *m, struct work *w, int words, bool write,
                 char out[64]) {
  int at = in(m, 0, 1) * 8;
  touch(w, 1, at, at + words * 4, write);
  snprintf(out, 64, "d+%d[%d*4]", at, words);
}

static void any(struct maker *m, struct work *w, int words, bool write,
                char out[64]) {
  if (in(m, 0, 3) == 0)
    dram(m, w, words, write, out);
  else
    sbuf(m, w, words, write, out);
}

/* ---- work */

static void matrix(struct maker *m, struct work *w, char out[200]) {
  int half = in(m, 0, 1);
  if (in(m, 0, 2) == 0) {
    touch(w, 0, 128, 132, false);
    touch(w, 2, 64, 65, true);
    snprintf(out, 200, "ldw w");
    return;
  }
  touch(w, 2, 64, 65, false);
  touch(w, 0, 128, 132, false);
  touch(w, 2, half * 8, half * 8 + 8, true);
  snprintf(out, 200, "mm p+%d[2*4]%s, w[2*0]", half * 8,
           in(m, 0, 1) ? " !acc" : "");
}

/* It may touch all that there is. */
static void custom(struct work *w, char out[200]) {
  for (int space = 0; space < 3; space++)
    touch(w, space, 0, 1 << 20, true);
  snprintf(out, 200, "custom code=7");
}

static void compute(struct maker *m, struct work *w, char out[200]) {
  char dst[64], src[64], pred[64];
  int words = in(m, 1, 2) * 2, what = in(m, 0, 9);
  if (m->with.unknown && w->channel == 1 && in(m, 0, 2) == 0) {
    custom(w, out);
    return;
  }
  if (what == 0) {
    snprintf(out, 200, "nop");
  } else if (what < 3) {
    sbuf(m, w, 2, false, src);
    w->touches[0].end = w->touches[0].begin + 4;
    *strchr(src, '[') = 0;
    snprintf(out, 200, "ld r1, %s", src);
  } else if (what < 5) {
    sbuf(m, w, words, true, dst);
    snprintf(out, 200, "memset %s value=%d", dst, in(m, 0, 3));
  } else if (what < 7 && m->with.may && w->channel) {
    sbuf(m, w, words, true, dst);
    sbuf(m, w, words, false, src);
    sbuf(m, w, words, false, pred);
    snprintf(out, 200, "copyp %s, %s, %s", dst, src, pred);
  } else {
    sbuf(m, w, words, true, dst);
    sbuf(m, w, words, false, src);
    snprintf(out, 200, "copy %s, %s", dst, src);
  }
}

static void transfer(struct maker *m, struct work *w, char out[200]) {
  char dst[64], src[64];
  int words = in(m, 1, 2) * 2;
  if (in(m, 0, 7) == 0) {
    snprintf(out, 200, "qnop q%d", w->channel - ENGINES);
    return;
  }
  any(m, w, words, true, dst);
  any(m, w, words, false, src);
  snprintf(out, 200, "dma q%d, %s, %s", w->channel - ENGINES, dst, src);
}

static bool conflict(const struct work *a, const struct work *b) {
  for (int i = 0; i < a->ntouches; i++)
    for (int j = 0; j < b->ntouches; j++) {
      const struct touch *x = &a->touches[i], *y = &b->touches[j];
      if ((x->write || y->write) && x->space == y->space && x->begin < y->end &&
          y->begin < x->end)
        return true;
    }
  return false;
}

/* What others make happen, or see; nobody here waits for it. The wait at
 * hand then comes first. */
static void tell(struct maker *m, int e, char wait[32]) {
  int sem = m->isa->owned_last + 1 + in(m, 0, 1);
  if (!m->with.others || in(m, 0, 3))
    return;
  if (*wait)
    emit(m, e, " wait %s\n", wait);
  *wait = 0;
  switch (in(m, 0, 2)) {
  case 0:
    emit(m, e, " nop ^s%d\n", sem);
    break;
  case 1:
    emit(m, e, " wait ?s%d>=1\n", sem);
    break;
  default:
    snprintf(wait, 32, "?s%d>=1", sem);
  }
}

static void put_work(struct maker *m) {
  struct work w = {.channel = in(m, 0, CHANNELS - 1)};
  char text[200], wait[32] = "";
  int need[CHANNELS] = {0};
  int e = w.channel < ENGINES ? w.channel : m->feeds[w.channel - ENGINES];
  if (m->made == MOST_WORK)
    return;
  m->made++;
  if (w.channel >= ENGINES)
    transfer(m, &w, text);
  else if (w.channel == 2)
    matrix(m, &w, text);
  else if (w.channel == 3)
    snprintf(text, sizeof text, "nop");
  else
    compute(m, &w, text);
  for (int i = 0; i < m->nregion; i++)
    if (conflict(&m->region[i], &w))
      need[m->region[i].channel] = m->region[i].count;
  for (int c = 0; c < CHANNELS; c++) {
    if (!need[c])
      continue;
    if (*wait)
      emit(m, e, " wait %s\n", wait);
    bool odd = m->with.odd && in(m, 0, 3) == 0;
    snprintf(wait, sizeof wait, "?s%d%s%d", c, odd ? "==" : ">=", need[c]);
  }
  tell(m, e, wait);
  emit(m, e, " %s %s ^s%d\n", text, wait, w.channel);
  w.count = ++m->count[w.channel];
  m->region[m->nregion++] = w;
}

/* ---- structure */

static void put_body(struct maker *m);

static void put_loop(struct maker *m) {
  int d = m->depth, label = m->labels++, word = m->words++;
  ALL(m, " ld r%d, n+%d\n mov r%d, 0\n mov r%d, 0\n", 20 - d, word * 4, 6 + d,
      10 + d);
  barrier(m);
  ALL(m, "l%d:\n br.ge r%d, r%d, e%d\n", label, 6 + d, 20 - d, label);
  m->depth++;
  m->loops++;
  put_body(m);
  m->loops--;
  m->depth--;
  barrier(m);
  ALL(m, " add r%d, r%d, 1\n rem r%d, r%d, 2\n mul r%d, r%d, 16\n br l%d\n",
      6 + d, 6 + d, 10 + d, 6 + d, 10 + d, 10 + d, label);
  ALL(m, "e%d:\n", label);
}

static void put_arm(struct maker *m) {
  int label = m->labels++, word = m->words++;
  ALL(m, " ld r3, n+%d\n", word * 4);
  barrier(m);
  ALL(m, " br.eq r3, 0, a%d\n", label);
  int depth = m->depth, loops = m->loops;
  put_work(m);
  put_work(m);
  m->depth = depth;
  m->loops = loops;
  barrier(m);
  ALL(m, "a%d:\n", label);
}

static void put_body(struct maker *m) {
  for (int i = in(m, 1, 3); i > 0; i--) {
    int x = in(m, 0, 9);
    if (x < 3 && m->depth < MOST_DEPTH && m->words < WORDS)
      put_loop(m);
    else if (x == 3 && m->words < WORDS)
      put_arm(m);
    else
      for (int k = in(m, 1, 3); k > 0; k--)
        put_work(m);
  }
}

static void find_engines(struct maker *m) {
  static const char *const wide[] = {"act", "dve", "pe", "sp"};
  static const char *const narrow[] = {"gen", "vec", "mat", "io"};
  bool few = nsr_isa_engine(m->isa, "act") < 0;
  memcpy(m->engine, few ? narrow : wide, sizeof m->engine);
  if (m->with.unknown && !few)
    m->engine[1] = "pool";
}

void small_kernel(const struct nsr_isa *isa, uint64_t seed,
                  struct small_with with, char text[SMALL_TEXT]) {
  static const char *const orders[] = {"hidden", "none", "full"};
  struct maker m = {.r = {seed}, .isa = isa, .with = with};
  char *at = text, *end = text + SMALL_TEXT;
  find_engines(&m);
  m.feeds[0] = 3;
  m.feeds[1] = in(&m, 0, 1);
  while (m.made < 4)
    put_body(&m);
  barrier(&m);
  ALL(&m, " halt\n");
  at += snprintf(at, (size_t)(end - at), ".isa %s\n.kernel \"small\"\n",
                 isa->name);
  for (int q = 0; q < QUEUES; q++)
    at += snprintf(at, (size_t)(end - at), ".queue q%d %s %s\n", q,
                   m.engine[m.feeds[q]], orders[in(&m, 0, 2)]);
  for (int e = 0; e < ENGINES; e++)
    at += snprintf(at, (size_t)(end - at), ".order %s %s\n", m.engine[e],
                   orders[in(&m, 0, 9) < 9 ? in(&m, 0, 1) : 2]);
  at += snprintf(at, (size_t)(end - at),
                 ".tensor n dram i32 [%d] at 0 input range 0 3 words %d", WORDS,
                 in(&m, 1, 2));
  for (int i = 1; i < WORDS; i++)
    at += snprintf(at, (size_t)(end - at), ", %d", in(&m, 0, 9) % 4);
  at += snprintf(at, (size_t)(end - at),
                 "\n.tensor d dram i32 [8] at 4096 output\n"
                 ".tensor y sbuf i32 [1, 8] at 0:1, 64 scratch range 0 3\n"
                 ".tensor w sbuf f32 [1, 1] at 0:1, 128 scratch\n"
                 ".tensor p psum f32 [1, 4] at 0:1, 0 scratch\n");
  for (int b = 0; b < 3; b++)
    at += snprintf(at, (size_t)(end - at),
                   ".tensor x%d sbuf i32 [1, 4] at 0:1, %d scratch range 0 3\n",
                   b, b * 16);
  for (int e = 0; e < ENGINES; e++)
    at += snprintf(at, (size_t)(end - at), ".engine %s\n%s", m.engine[e],
                   m.body[e]);
}
