/* inputs.c - chooses inputs.
 *
 * Needs a kernel's tensors; makes a list of recipes and, from one of them,
 * contents. All vectors of small values where they fit; else equal ones,
 * those that differ in one word, large ones and random ones (trip counts find
 * bugs that schedules do not). Each range is tried up to its top, in steps, as
 * far as that does not take too long. Nothing depends on anything but the seed.
 */
#include "judge/inputs.h"

#include <string.h>

#include "sim/hash.h"
#include "sim/numeric.h"

enum {
  SMALL = 5,
  LARGE = 100,
  FAR = 11,
  MAX_BYTES = 1 << 22, /* of a control tensor */
  MOST = 13,           /* small values of a word */
  MOST_TURN = 8,       /* of buffers that come round: all trip counts up to 2
                          more are tried */
  ONE_OFF = 10,        /* one input in ten differs in one word alone */
  MOST_WORDS = 64,     /* of which pairs are followed */
  CANDIDATES = 32,
  MOST_STEPS = 40,    /* values on the way to the top of a range */
  NEAR_TOP = 1 << 16, /* ranges up to here go by powers of 2, not of 8 */
  TOP_SHARE = 5,      /* one input in five is on the way to a top */
  FEW_SHARE = 3       /* in three, where there are few others */
};

static uint32_t element_size(const struct nsr_tensor *t) {
  return nsr_dtype_bytes((enum nsr_dtype)t->dtype);
}

uint64_t nsr_input_size(const struct nsr_inputs *inputs, uint32_t tensor) {
  const struct nsr_tensor *t =
      &inputs->kernel->tensors[inputs->tensors[tensor]];
  return t->bytes / element_size(t);
}

static bool controls(const struct nsr_tensor *t) {
  return t->space == NSR_DRAM && t->role == NSR_INPUT && t->has_range &&
         t->hi >= t->lo && element_size(t) && t->bytes >= element_size(t) &&
         t->bytes <= MAX_BYTES;
}

/* ---- values of a word */

static int64_t at_most(const struct nsr_tensor *t, int64_t v) {
  return v < t->hi ? v : t->hi;
}

/* Small values are lo..lo+n-1, and reach n-1 where that is near. */
static uint64_t small_values(const struct nsr_inputs *inputs,
                             const struct nsr_tensor *t) {
  int64_t top = t->lo + inputs->small;
  if (top < inputs->small && t->lo >= -SMALL)
    top = inputs->small;
  return (uint64_t)(at_most(t, top) - t->lo) + 1;
}

static int64_t file_word(const struct nsr_tensor *t, uint64_t i) {
  uint64_t size = element_size(t);
  if (t->data && (i + 1) * size <= t->data_size)
    return nsr_element_bits((enum nsr_dtype)t->dtype, t->data + i * size);
  return at_most(t, (int64_t)t->lo + 2);
}

/* What is asked for, in the range that the kernel declares. */
static int64_t given_word(const struct nsr_inputs *inputs,
                          const struct nsr_tensor *t, uint64_t i) {
  const struct nsr_input_words *given = inputs->given;
  for (uint32_t g = 0; g < given->ntensors; g++)
    if (t->name && !strcmp(given->tensors[g].tensor, t->name)) {
      uint64_t last = given->tensors[g].n - 1;
      return given->tensors[g].words[i < last ? i : last];
    }
  return file_word(t, i);
}

/* How many values there are; never 0. */
static uint64_t all_values(const struct nsr_inputs *inputs,
                           const struct nsr_tensor *t) {
  (void)inputs;
  return (uint64_t)((int64_t)t->hi - t->lo) + 1;
}

/* Word i of tensor t, number n of all; *rest is what is left of an NTH. */
int64_t nsr_input_word(const struct nsr_inputs *inputs,
                       const struct nsr_input *in, uint32_t tensor, uint64_t i,
                       uint64_t n, uint64_t *rest) {
  const struct nsr_tensor *t =
      &inputs->kernel->tensors[inputs->tensors[tensor]];
  uint64_t r = nsr_combine(in->seed, n);
  int64_t lo = t->lo, v = 0;
  switch (in->kind) {
  case NSR_INPUT_FILE:
    return file_word(t, i);
  case NSR_INPUT_GIVEN:
    return given_word(inputs, t, i);
  case NSR_INPUT_NTH:
    v = (int64_t)(*rest % small_values(inputs, t));
    *rest /= small_values(inputs, t);
    break;
  case NSR_INPUT_ANY:
    v = (int64_t)(*rest % all_values(inputs, t));
    *rest /= all_values(inputs, t);
    break;
  case NSR_INPUT_EQUAL:
    v = (int64_t)in->a;
    break;
  case NSR_INPUT_ONE:
    v = (int64_t)(n == in->word ? in->a : in->b);
    break;
  case NSR_INPUT_SMALL:
    v = (int64_t)(r % small_values(inputs, t));
    break;
  case NSR_INPUT_WIDE: {
    uint64_t span = (uint64_t)(at_most(t, lo + (int64_t)in->a) - lo) + 1;
    v = (int64_t)(r % span);
    break;
  }
  }
  return at_most(t, lo + v);
}

/* ---- contents */

static enum nsr_status contents_at(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                                   const struct nsr_inputs *inputs,
                                   const struct nsr_input *in,
                                   struct nsr_contents **out) {
  struct nsr_contents *c;
  uint64_t n = 0, rest = in->a;
  NSR_NEW(ctx, arena, c, inputs->ntensors);
  for (uint32_t t = 0; t < inputs->ntensors; t++) {
    const struct nsr_tensor *tensor =
        &inputs->kernel->tensors[inputs->tensors[t]];
    uint64_t size = element_size(tensor), words = tensor->bytes / size;
    uint8_t *data;
    NSR_NEW(ctx, arena, data, tensor->bytes);
    for (uint64_t i = 0; i < words; i++, n++)
      nsr_element_put_bits((enum nsr_dtype)tensor->dtype, data + i * size,
                           (int32_t)nsr_input_word(inputs, in, t, i, n, &rest));
    c[t] = (struct nsr_contents){inputs->tensors[t], data, words * size};
  }
  *out = c;
  return NSR_OK;
}

enum nsr_status nsr_inputs_contents(struct nsr_ctx *ctx,
                                    enum nsr_arena_id arena,
                                    const struct nsr_inputs *inputs, size_t i,
                                    const struct nsr_contents **contents) {
  struct nsr_contents *c;
  NSR_TRY(contents_at(ctx, arena, inputs, &inputs->list.v[i], &c));
  *contents = c;
  return NSR_OK;
}

/* ---- the list */

struct maker {
  struct nsr_ctx *ctx;
  enum nsr_arena_id arena;
  struct nsr_inputs *inputs;
  size_t limit;
  uint64_t random;
  uint32_t series; /* so many so far */
  uint64_t *seen;  /* digests of vectors, never 0, hashed; 0: free */
  size_t mask;
};

static uint64_t digest(const struct nsr_inputs *inputs,
                       const struct nsr_input *in) {
  uint64_t h = 0, n = 0, rest = in->a;
  for (uint32_t t = 0; t < inputs->ntensors; t++) {
    const struct nsr_tensor *tensor =
        &inputs->kernel->tensors[inputs->tensors[t]];
    uint64_t words = tensor->bytes / element_size(tensor);
    for (uint64_t i = 0; i < words; i++, n++)
      h = nsr_combine(h, (uint64_t)nsr_input_word(inputs, in, t, i, n, &rest));
  }
  return h;
}

/* Where a digest is, or would be. */
static uint64_t *seen_at(const struct maker *m, uint64_t digest) {
  size_t at = digest & m->mask;
  while (m->seen[at] && m->seen[at] != digest)
    at = (at + 1) & m->mask;
  return &m->seen[at];
}

static enum nsr_status seen_new(struct maker *m) {
  size_t cap = 16;
  while (cap < m->limit * 2)
    cap *= 2;
  m->mask = cap - 1;
  NSR_NEW(m->ctx, m->arena, m->seen, cap);
  return NSR_OK;
}

/* Adds an input that is not there yet, while there is room. */
static enum nsr_status add(struct maker *m, struct nsr_input in) {
  if (m->inputs->list.n >= m->limit)
    return NSR_OK;
  uint64_t h = digest(m->inputs, &in) | 1;
  uint64_t *at = seen_at(m, h);
  if (*at)
    return NSR_OK;
  *at = h;
  NSR_PUSH(m->ctx, m->arena, &m->inputs->list, in);
  return NSR_OK;
}

static enum nsr_status add_equal(struct maker *m, uint64_t v, bool optional) {
  return add(m, (struct nsr_input){
                    .kind = NSR_INPUT_EQUAL, .a = v, .optional = optional});
}

static enum nsr_status add_wide(struct maker *m, uint64_t span) {
  return add(m, (struct nsr_input){.kind = NSR_INPUT_WIDE,
                                   .a = span,
                                   .seed = nsr_random(&m->random),
                                   .optional = true});
}

/* A few large ones: what grows too fast or wraps shows there. */
static enum nsr_status add_large(struct maker *m) {
  NSR_TRY(add_equal(m, FAR, true));
  NSR_TRY(add_wide(m, 9));
  uint64_t n = m->inputs->nwords;
  for (uint64_t w = 0; w < n && w < 2; w++)
    NSR_TRY(add(m, (struct nsr_input){.kind = NSR_INPUT_ONE,
                                      .a = LARGE,
                                      .b = 2,
                                      .word = w ? n - 1 : 0,
                                      .optional = true}));
  return add_wide(m, 63);
}

/* How many vectors there are, limit + 1 at most. */
static uint64_t count_vectors(const struct nsr_inputs *inputs, uint64_t limit,
                              uint64_t (*values)(const struct nsr_inputs *,
                                                 const struct nsr_tensor *)) {
  uint64_t n = 1;
  for (uint32_t t = 0; t < inputs->ntensors; t++) {
    const struct nsr_tensor *tensor =
        &inputs->kernel->tensors[inputs->tensors[t]];
    uint64_t words = tensor->bytes / element_size(tensor);
    for (uint64_t i = 0; i < words && values(inputs, tensor) > 1; i++) {
      n *= values(inputs, tensor);
      if (n > limit)
        return limit + 1;
    }
  }
  return n;
}

/* ---- up to the tops of ranges */

/* Steps from the small values to the top, above lo. */
static size_t steps_of(const struct nsr_inputs *inputs,
                       const struct nsr_tensor *t, uint64_t *steps) {
  uint64_t top = all_values(inputs, t) - 1;
  size_t n = 0;
  if (top < small_values(inputs, t))
    return 0;
  uint64_t factor = top <= NEAR_TOP ? 2 : 8;
  for (uint64_t v = 8; v < top && n < MOST_STEPS - 1; v *= factor)
    steps[n++] = v;
  steps[n++] = top;
  return n;
}

/* At most `room` steps of a word, the top among them; the others stay low. */
static enum nsr_status add_series(struct maker *m, const struct nsr_tensor *t,
                                  uint64_t word, size_t room) {
  uint64_t steps[MOST_STEPS];
  size_t n = steps_of(m->inputs, t, steps);
  size_t some = n < room ? n : room;
  m->series++;
  for (size_t i = 0; i < some; i++)
    NSR_TRY(add(m, (struct nsr_input){.kind = NSR_INPUT_ONE,
                                      .a = steps[(i + 1) * n / some - 1],
                                      .b = 2,
                                      .word = word,
                                      .optional = true,
                                      .series = m->series}));
  return NSR_OK;
}

/* Each word's way to the top; where there are many, one word's per tensor. */
static enum nsr_status add_tops(struct maker *m, size_t room) {
  const struct nsr_inputs *inputs = m->inputs;
  bool each = inputs->nwords <= room;
  uint64_t n = 0, series = each ? inputs->nwords : inputs->ntensors;
  size_t share = series && series < room ? (size_t)(room / series) : 1;
  for (uint32_t t = 0; t < inputs->ntensors; t++) {
    const struct nsr_tensor *tensor =
        &inputs->kernel->tensors[inputs->tensors[t]];
    uint64_t words = tensor->bytes / element_size(tensor);
    for (uint64_t i = 0; i < words && (each || i == 0); i++) {
      if (room < share)
        return NSR_OK;
      room -= share;
      NSR_TRY(add_series(m, tensor, n + i, share));
    }
    n += words;
  }
  return NSR_OK;
}

/* Whatever else there is, where that is asked for. */
static enum nsr_status add_rest(struct maker *m) {
  uint64_t widest = 1;
  for (uint32_t t = 0; t < m->inputs->ntensors; t++) {
    uint64_t n = all_values(m->inputs,
                            &m->inputs->kernel->tensors[m->inputs->tensors[t]]);
    widest = n > widest ? n : widest;
  }
  unsigned bits = 64 - (unsigned)__builtin_clzll(widest);
  for (size_t tries = 0; tries < m->limit; tries++)
    NSR_TRY(
        add_wide(m, (UINT64_C(1) << nsr_random(&m->random) % bits) * 2 - 1));
  for (uint64_t i = 0; i < count_vectors(m->inputs, m->limit, all_values); i++)
    NSR_TRY(add(m, (struct nsr_input){
                       .kind = NSR_INPUT_ANY, .a = i, .optional = true}));
  return NSR_OK;
}

/* ---- few words */

static enum nsr_status add_all_small(struct maker *m, uint64_t size) {
  for (uint64_t i = size; i-- > 0;)
    NSR_TRY(add(m, (struct nsr_input){.kind = NSR_INPUT_NTH, .a = i}));
  NSR_TRY(add_large(m));
  return add_tops(m, m->limit / FEW_SHARE);
}

static enum nsr_status add_one_off(struct maker *m, size_t n) {
  static const uint8_t pairs[][2] = {{0, 2}, {3, 1}, {1, 3}};
  for (size_t i = 0; i < n; i++) {
    const uint8_t *p = pairs[i % 3];
    uint64_t word = i / 3 < m->inputs->nwords && m->inputs->nwords <= n / 3
                        ? i / 3
                        : nsr_random(&m->random) % m->inputs->nwords;
    NSR_TRY(
        add(m, (struct nsr_input){
                   .kind = NSR_INPUT_ONE, .a = p[0], .b = p[1], .word = word}));
  }
  return NSR_OK;
}

/* ---- pairs of words: small inputs are chosen so that every two values of
 * every two words meet early (what goes wrong depends on one or two counts
 * in most cases) */

struct pairs {
  uint64_t words; /* 0: too many to follow */
  uint8_t *met;   /* bit v*MOST+w of pair (i, j): a byte each */
  uint8_t *vector;
};

static enum nsr_status pairs_new(struct maker *m, struct pairs *p) {
  uint64_t n = m->inputs->nwords;
  *p = (struct pairs){.words = n <= MOST_WORDS ? n : 0};
  NSR_NEW(m->ctx, m->arena, p->vector, p->words);
  NSR_NEW(m->ctx, m->arena, p->met, p->words * p->words * MOST * MOST);
  return NSR_OK;
}

/* The vector of an input, values from 0; large ones count as the largest. */
static void pairs_vector(const struct maker *m, struct pairs *p,
                         const struct nsr_input *in) {
  uint64_t n = 0, rest = in->a;
  for (uint32_t t = 0; t < m->inputs->ntensors; t++) {
    const struct nsr_tensor *tensor =
        &m->inputs->kernel->tensors[m->inputs->tensors[t]];
    uint64_t words = tensor->bytes / element_size(tensor);
    for (uint64_t i = 0; i < words; i++, n++) {
      int64_t v = nsr_input_word(m->inputs, in, t, i, n, &rest) - tensor->lo;
      p->vector[n] = (uint8_t)(v < 0 ? 0 : v < MOST ? v : MOST - 1);
    }
  }
}

/* How many pairs of values are new in an input; marks them if it is taken. */
static uint32_t pairs_new_in(const struct maker *m, struct pairs *p,
                             const struct nsr_input *in, bool taken) {
  uint32_t found = 0;
  if (!p->words)
    return 0;
  pairs_vector(m, p, in);
  for (uint64_t i = 0; i < p->words; i++)
    for (uint64_t j = i + 1; j < p->words; j++) {
      uint8_t *met = &p->met[((i * p->words + j) * MOST + p->vector[i]) * MOST +
                             p->vector[j]];
      found += !*met;
      if (taken)
        *met = 1;
    }
  return found;
}

static enum nsr_status add_small(struct maker *m, struct pairs *p) {
  struct nsr_input best = {.kind = NSR_INPUT_SMALL};
  uint32_t most = 0;
  for (int i = 0; i < CANDIDATES; i++) {
    struct nsr_input in = {.kind = NSR_INPUT_SMALL,
                           .seed = nsr_random(&m->random)};
    uint32_t found = pairs_new_in(m, p, &in, false);
    if (i == 0 || found > most) {
      most = found;
      best = in;
    }
  }
  (void)pairs_new_in(m, p, &best, true);
  return add(m, best);
}

static enum nsr_status add_samples(struct maker *m) {
  static const uint8_t equal[] = {2, 3, 1, 4, 0};
  struct pairs p;
  NSR_TRY(pairs_new(m, &p));
  for (size_t i = 0; i < sizeof equal; i++)
    NSR_TRY(add_equal(m, equal[i], false));
  NSR_TRY(add_large(m));
  NSR_TRY(add_tops(m, m->limit / TOP_SHARE));
  NSR_TRY(add_one_off(m, m->limit / ONE_OFF));
  for (size_t i = 0; i < m->inputs->list.n; i++)
    (void)pairs_new_in(m, &p, &m->inputs->list.v[i], true);
  for (size_t tries = 0; tries < m->limit * 2; tries++) {
    if (m->inputs->list.n == m->limit)
      break;
    NSR_TRY(add_small(m, &p));
  }
  return NSR_OK;
}

static enum nsr_status find_tensors(struct nsr_ctx *ctx,
                                    enum nsr_arena_id arena,
                                    const struct nsr_kernel *k,
                                    struct nsr_inputs *inputs,
                                    bool *has_contents) {
  NSR_NEW(ctx, arena, inputs->tensors, k->ntensors);
  for (uint32_t i = 0; i < k->ntensors; i++) {
    const struct nsr_tensor *t = &k->tensors[i];
    if (!controls(t))
      continue;
    inputs->tensors[inputs->ntensors++] = i;
    inputs->nwords += t->bytes / element_size(t);
    *has_contents |= t->data && t->data_size >= element_size(t);
  }
  return NSR_OK;
}

/* Trip counts up to two more than a buffer has places tell apart all that can
 * happen to it. Where places come round shows in remainders and masks. */
static void widen_small(struct nsr_inputs *inputs) {
  const struct nsr_kernel *k = inputs->kernel;
  for (uint32_t s = 0; s < k->nstreams; s++)
    for (uint32_t i = 0; i < k->streams[s].n; i++) {
      const uint8_t *word = nsr_stream_word(k, &k->streams[s], i);
      struct nsr_insn insn;
      if (nsr_decode(k->isa, k->streams[s].engine, word, &insn) ||
          insn.b.is_reg)
        continue;
      int64_t turn = insn.desc->ctl == NSR_CTL_REM   ? insn.b.v
                     : insn.desc->ctl == NSR_CTL_AND ? (int64_t)insn.b.v + 1
                                                     : 0;
      if (turn <= MOST_TURN && turn + 2 > inputs->small)
        inputs->small = turn + 2;
    }
}

enum nsr_status nsr_inputs_new(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                               const struct nsr_kernel *k, uint32_t limit,
                               bool all, uint64_t seed,
                               struct nsr_inputs *inputs) {
  bool has_contents = false;
  struct maker m = {.ctx = ctx,
                    .arena = arena,
                    .inputs = inputs,
                    .limit = limit,
                    .random = seed};
  *inputs = (struct nsr_inputs){.kernel = k, .small = SMALL - 1};
  widen_small(inputs);
  NSR_TRY(find_tensors(ctx, arena, k, inputs, &has_contents));
  NSR_TRY(seen_new(&m));
  if (has_contents || !inputs->nwords)
    NSR_TRY(add(&m, (struct nsr_input){.kind = NSR_INPUT_FILE}));
  if (!inputs->nwords)
    return NSR_OK;
  uint64_t size = count_vectors(inputs, limit, small_values);
  NSR_TRY(size <= limit ? add_all_small(&m, size) : add_samples(&m));
  return all ? add_rest(&m) : NSR_OK;
}

/* ---- one input */

static enum nsr_status check_given(struct nsr_ctx *ctx,
                                   const struct nsr_inputs *inputs,
                                   const struct nsr_words *w) {
  for (uint32_t i = 0; i < inputs->ntensors; i++) {
    const struct nsr_tensor *t = &inputs->kernel->tensors[inputs->tensors[i]];
    if (!t->name || strcmp(t->name, w->tensor) != 0)
      continue;
    for (uint64_t n = 0; n < w->n; n++)
      if (w->words[n] < INT32_MIN || w->words[n] > INT32_MAX)
        return nsr_fail(
            ctx, NSR_E_USAGE, NSR_NOWHERE, "word %llu of %s is no word: %lld",
            (unsigned long long)n, w->tensor, (long long)w->words[n]);
    if (w->n && w->n <= t->bytes / element_size(t))
      return NSR_OK;
  }
  return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                  "the first kernel has no control tensor %s of %llu words",
                  w->tensor, (unsigned long long)w->n);
}

enum nsr_status nsr_inputs_given(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                                 const struct nsr_kernel *k,
                                 const struct nsr_input_words *given,
                                 struct nsr_inputs *inputs) {
  bool has_contents = false;
  *inputs = (struct nsr_inputs){.kernel = k, .given = given};
  NSR_TRY(find_tensors(ctx, arena, k, inputs, &has_contents));
  for (uint32_t i = 0; i < given->ntensors; i++)
    NSR_TRY(check_given(ctx, inputs, &given->tensors[i]));
  NSR_PUSH(ctx, arena, &inputs->list,
           ((struct nsr_input){.kind = NSR_INPUT_GIVEN}));
  return NSR_OK;
}

void nsr_inputs_use_ranges(const struct nsr_inputs *inputs,
                           const struct nsr_image *image,
                           const struct nsr_facts_file *facts) {
  for (uint32_t t = 0; t < inputs->ntensors; t++)
    nsr_facts_ranged(facts, inputs->tensors[t]);
  for (int e = 0; facts && e < image->nengines; e++)
    for (uint32_t i = 0; i < image->streams[e].n; i++) {
      const struct nsr_step *s = &image->streams[e].steps[i];
      if (s->desc->cls == NSR_LOAD && s->naccess)
        nsr_facts_ranged(facts, s->access[0].tensor);
    }
}
