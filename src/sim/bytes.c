/* bytes.c - the memory of numeric mode.
 *
 * Needs accesses in bounds; makes real bytes, in pages that exist once they
 * are written. What instructions compute is in numeric.c.
 */
#include "sim/bytes.h"

#include <string.h>

#include "sim/hash.h"
#include "sim/numeric.h"
#include "sim/runs.h"

enum { PAGE = 1 << 12, MAX_OPERAND = 1 << 28 };

struct page {
  uint64_t key; /* page number + 1, space above; 0: free */
  uint8_t *data;
};

/* Hidden state of an engine: a copy of an operand's elements. */
struct state {
  struct nsr_elements elements; /* in NULL: nothing yet */
  uint8_t *bytes;
  size_t cap;
};

struct nsr_byte_memory {
  struct nsr_memory memory; /* first: the model's view */
  struct nsr_ctx *ctx;
  enum nsr_arena_id arena;
  const struct nsr_image *image;
  struct page *pages;
  size_t n, cap;
  struct page last;
  struct state *states; /* by hidden state of the image */
};

struct nsr_memory *nsr_bytes_memory(struct nsr_byte_memory *m) {
  return &m->memory;
}

/* ---- pages */

static enum nsr_status pages_grow(struct nsr_byte_memory *m) {
  size_t cap = m->cap ? m->cap * 2 : 256;
  struct page *pages;
  NSR_NEW(m->ctx, m->arena, pages, cap);
  for (size_t i = 0; i < m->cap; i++) {
    if (!m->pages[i].key)
      continue;
    size_t at = nsr_spread(m->pages[i].key) & (cap - 1);
    while (pages[at].key)
      at = (at + 1) & (cap - 1);
    pages[at] = m->pages[i];
  }
  m->pages = pages;
  m->cap = cap;
  return NSR_OK;
}

/* Where a page is, or would be; some are free. */
static struct page *page_slot(const struct nsr_byte_memory *m, uint64_t key) {
  size_t at = nsr_spread(key) & (m->cap - 1);
  while (m->pages[at].key && m->pages[at].key != key)
    at = (at + 1) & (m->cap - 1);
  return &m->pages[at];
}

static uint64_t page_key(enum nsr_space space, uint64_t number) {
  return (number << 2 | (uint64_t)space) + 1;
}

/* NULL: never written. */
static const uint8_t *page_find(struct nsr_byte_memory *m, uint64_t key) {
  if (m->last.key == key)
    return m->last.data;
  const struct page *p = m->cap ? page_slot(m, key) : NULL;
  if (!p || !p->key)
    return NULL;
  m->last = *p;
  return p->data;
}

static enum nsr_status page_at(struct nsr_byte_memory *m, uint64_t key,
                               uint8_t **data) {
  if (m->last.key != key) {
    if (m->n * 2 >= m->cap)
      NSR_TRY(pages_grow(m));
    struct page *p = page_slot(m, key);
    if (!p->key) {
      uint8_t *fresh;
      NSR_NEW(m->ctx, m->arena, fresh, PAGE);
      memset(fresh, 0xff, PAGE);
      *p = (struct page){key, fresh};
      m->n++;
    }
    m->last = *p;
  }
  *data = m->last.data;
  return NSR_OK;
}

static void read_page(struct nsr_byte_memory *m, uint64_t key, size_t at,
                      uint8_t *out, size_t n) {
  const uint8_t *page = page_find(m, key);
  if (page)
    memcpy(out, page + at, n);
  else
    memset(out, 0xff, n);
}

/* Moves n bytes in (out NULL) or out (in NULL). */
static enum nsr_status transfer(struct nsr_byte_memory *m, enum nsr_space space,
                                uint32_t part, uint64_t offset, uint8_t *out,
                                const uint8_t *in, size_t n) {
  const struct nsr_isa *isa = m->image->isa;
  uint64_t row = space == NSR_DRAM   ? 0
                 : space == NSR_SBUF ? isa->sbuf_bytes
                                     : isa->psum_bytes;
  uint64_t address = part * row + offset;
  while (n > 0) {
    uint64_t key = page_key(space, address / PAGE);
    size_t at = address % PAGE;
    size_t here = PAGE - at < n ? PAGE - at : n;
    if (out) {
      read_page(m, key, at, out, here);
      out += here;
    } else {
      uint8_t *page;
      NSR_TRY(page_at(m, key, &page));
      memcpy(page + at, in, here);
      in += here;
    }
    address += here;
    n -= here;
  }
  return NSR_OK;
}

enum nsr_status nsr_bytes_get(struct nsr_byte_memory *m, enum nsr_space space,
                              uint32_t part, uint64_t offset, uint8_t *out,
                              size_t n) {
  return transfer(m, space, part, offset, out, NULL, n);
}

enum nsr_status nsr_bytes_put(struct nsr_byte_memory *m, enum nsr_space space,
                              uint32_t part, uint64_t offset, const uint8_t *in,
                              size_t n) {
  return transfer(m, space, part, offset, NULL, in, n);
}

bool nsr_bytes_written(const struct nsr_byte_memory *m, enum nsr_space space,
                       size_t *at, uint64_t *begin, uint64_t *end) {
  while (*at < m->cap) {
    uint64_t key = m->pages[(*at)++].key;
    if (!key || ((key - 1) & 3) != (uint64_t)space)
      continue;
    *begin = ((key - 1) >> 2) * PAGE;
    *end = *begin + PAGE;
    return true;
  }
  return false;
}

/* ---- launch */

static bool is_integer(enum nsr_dtype d) {
  return d == NSR_I32 || d == NSR_I16 || d == NSR_I8 || d == NSR_U8;
}

static void made_up(const struct nsr_tensor *t, uint64_t seed, uint64_t i,
                    uint8_t *out) {
  enum nsr_dtype d = (enum nsr_dtype)t->dtype;
  uint32_t r = (uint32_t)(nsr_combine(seed, i) >> 40);
  int64_t lo = t->has_range ? t->lo : 0;
  int64_t hi = t->has_range ? t->hi : 3;
  if (is_integer(d))
    nsr_element_put_bits(d, out,
                         (int32_t)(lo + (hi > lo ? r % (hi - lo + 1) : 0)));
  else /* exact in every format: multiples of an eighth */
    nsr_element_put(d, out, (float)(int)(r % 16) / 8.0f - 1.0f);
}

static enum nsr_status fill_input(struct nsr_byte_memory *m,
                                  const struct nsr_tensor *t) {
  uint64_t size = nsr_dtype_bytes((enum nsr_dtype)t->dtype);
  uint64_t seed = t->name ? nsr_hash(t->name, strlen(t->name)) : 0;
  if (t->bytes > MAX_OPERAND)
    return nsr_fail(m->ctx, NSR_E_RANGE, NSR_NOWHERE,
                    "input %.60s without contents is too large to make up",
                    t->name ? t->name : "");
  for (uint64_t i = 0; i + size <= t->bytes; i += size) {
    uint8_t element[8];
    made_up(t, seed, i / size, element);
    NSR_TRY(nsr_bytes_put(m, NSR_DRAM, 0, t->offset + i, element, size));
  }
  return NSR_OK;
}

static enum nsr_status launch(struct nsr_byte_memory *m) {
  const struct nsr_kernel *k = m->image->kernel;
  for (uint32_t i = k->ntensors; i-- > 0;) { /* the first one wins */
    const struct nsr_tensor *t = &k->tensors[i];
    if (t->space != NSR_DRAM)
      continue;
    if (t->role == NSR_INPUT && !t->data_size)
      NSR_TRY(fill_input(m, t));
    if (t->data && t->data_size)
      NSR_TRY(nsr_bytes_put(m, NSR_DRAM, 0, t->offset, t->data, t->data_size));
  }
  return NSR_OK;
}

/* ---- accesses */

static enum nsr_status place(struct nsr_memory *memory, struct nsr_flight *f) {
  (void)memory;
  (void)f;
  return NSR_OK;
}

/* Where an instance's operands lie in f->bytes: what it read, what it will
 * write, and which elements of that. */
struct layout {
  struct nsr_shape shape[NSR_MAX_OPERANDS];
  size_t in[NSR_MAX_OPERANDS], out[NSR_MAX_OPERANDS], mask[NSR_MAX_OPERANDS];
  size_t total;
};

static bool is_masked(enum nsr_role role) {
  return nsr_role_may(role) && nsr_role_writes(role);
}

static bool lay_out(const struct nsr_flight *f, struct layout *l) {
  const struct nsr_step *s = f->step;
  l->total = 0;
  for (int i = 0; i < s->naccess; i++) {
    enum nsr_role role = (enum nsr_role)s->access[i].op.role;
    l->shape[i] = nsr_flight_shape(f, i);
    uint64_t n = nsr_shape_bytes(&l->shape[i]);
    if (n > MAX_OPERAND)
      return false;
    l->in[i] = l->total;
    l->total += nsr_role_reads(role) ? n : 0;
    l->out[i] = l->total;
    l->total += nsr_role_writes(role) ? n : 0;
    l->mask[i] = l->total;
    l->total += is_masked(role) ? n / l->shape[i].bytes : 0;
  }
  return true;
}

static enum nsr_status read_operand(struct nsr_byte_memory *m,
                                    const struct nsr_flight *f, int i,
                                    const struct nsr_shape *s, uint8_t *out) {
  struct nsr_runs r;
  for (nsr_runs_first(&r, s, f->offset[i]); r.more; nsr_runs_next(&r)) {
    NSR_TRY(transfer(m, (enum nsr_space)s->space, r.part, (uint64_t)r.begin,
                     out, NULL, r.len));
    out += r.len;
  }
  return NSR_OK;
}

/* The marked ones of n elements. */
static enum nsr_status write_marked(struct nsr_byte_memory *m,
                                    const struct nsr_shape *s, uint32_t part,
                                    uint64_t begin, const uint8_t *in,
                                    const uint8_t *mask, size_t n) {
  for (size_t i = 0; i < n; i++) {
    size_t first = i;
    while (i < n && mask[i])
      i++;
    NSR_TRY(transfer(m, (enum nsr_space)s->space, part,
                     begin + first * s->bytes, NULL, in + first * s->bytes,
                     (i - first) * s->bytes));
  }
  return NSR_OK;
}

/* mask NULL: all of it. */
static enum nsr_status write_operand(struct nsr_byte_memory *m,
                                     const struct nsr_flight *f, int i,
                                     const struct nsr_shape *s,
                                     const uint8_t *in, const uint8_t *mask) {
  struct nsr_runs r;
  for (nsr_runs_first(&r, s, f->offset[i]); r.more; nsr_runs_next(&r)) {
    size_t n = r.len / s->bytes;
    if (mask) {
      NSR_TRY(write_marked(m, s, r.part, (uint64_t)r.begin, in, mask, n));
      mask += n;
    } else {
      NSR_TRY(transfer(m, (enum nsr_space)s->space, r.part, (uint64_t)r.begin,
                       NULL, in, r.len));
    }
    in += r.len;
  }
  return NSR_OK;
}

static struct nsr_elements elements_of(const struct nsr_flight *f, int i,
                                       const struct layout *l) {
  const struct nsr_operand *o = &f->step->access[i].op;
  enum nsr_role role = (enum nsr_role)o->role;
  struct nsr_elements e = {.dtype = (enum nsr_dtype)o->dtype,
                           .nparts = o->nparts,
                           .ndims = o->ndims};
  for (int d = 0; d < o->ndims; d++)
    e.dims[d] =
        o->dims[d].count_is_reg ? f->count[i][d] : (uint32_t)o->dims[d].count;
  if (nsr_role_reads(role))
    e.in = f->bytes + l->in[i];
  if (nsr_role_writes(role))
    e.out = f->bytes + l->out[i];
  if (is_masked(role))
    e.mask = f->bytes + l->mask[i];
  return e;
}

/* ---- hidden state */

static int first_read(const struct nsr_step *s) {
  for (int i = 0; i < s->naccess; i++)
    if (nsr_role_reads((enum nsr_role)s->access[i].op.role))
      return i;
  return -1;
}

/* What hidden state an instance leaves: its first reading operand. */
static enum nsr_status keep_state(struct nsr_byte_memory *m,
                                  const struct nsr_flight *f, int h,
                                  const struct layout *l) {
  struct state *s = &m->states[f->step->hidden[h]];
  int i = first_read(f->step);
  if (i < 0)
    return NSR_OK;
  size_t n = nsr_shape_bytes(&l->shape[i]);
  if (s->cap < n || !s->bytes) {
    NSR_NEW(m->ctx, m->arena, s->bytes, n + 1);
    s->cap = n;
  }
  s->elements = elements_of(f, i, l);
  if (n)
    memcpy(s->bytes, s->elements.in, n);
  s->elements.in = s->bytes;
  return NSR_OK;
}

/* ---- an instance */

static enum nsr_status compute(struct nsr_byte_memory *m, struct nsr_flight *f,
                               const struct layout *l, const char **why) {
  const struct nsr_image_stream *s = &m->image->streams[f->engine];
  const struct nsr_insn_desc *desc = f->step->desc;
  struct nsr_insn insn;
  struct nsr_elements e[NSR_MAX_OPERANDS] = {{0}}, state[NSR_MAX_HIDDEN];
  if (desc->cls == NSR_LOAD || desc->meaning == NSR_MEANING_NOP ||
      desc->external)
    return NSR_OK;
  NSR_TRY(
      nsr_stream_decode(m->ctx, m->image->kernel, s->stream, f->insn, &insn));
  for (int i = 0; i < f->step->naccess; i++) {
    size_t n = nsr_shape_bytes(&l->shape[i]) / l->shape[i].bytes;
    e[i] = elements_of(f, i, l);
    if (e[i].mask && n)
      memset(e[i].mask, 0, n);
  }
  for (int h = 0; h < desc->nhidden; h++)
    state[h] = m->states[f->step->hidden[h]].elements;
  *why = desc->unknown_effects ? "unknown effects have no numeric meaning"
                               : nsr_numeric(&insn, e, state, f->value);
  return NSR_OK;
}

static enum nsr_status read(struct nsr_memory *memory, struct nsr_flight *f,
                            const char **why) {
  struct nsr_byte_memory *m = (struct nsr_byte_memory *)memory;
  struct layout l;
  if (!lay_out(f, &l)) {
    *why = "an operand is too large for numeric mode";
    return NSR_OK;
  }
  NSR_TRY(nsr_flight_reserve(m->ctx, m->arena, f, l.total));
  for (int i = 0; i < f->step->naccess; i++)
    if (nsr_role_reads((enum nsr_role)f->step->access[i].op.role))
      NSR_TRY(read_operand(m, f, i, &l.shape[i], f->bytes + l.in[i]));
  f->nbytes = l.total;
  return compute(m, f, &l, why);
}

static enum nsr_status write(struct nsr_memory *memory, struct nsr_flight *f) {
  struct nsr_byte_memory *m = (struct nsr_byte_memory *)memory;
  const struct nsr_insn_desc *desc = f->step->desc;
  struct layout l;
  if (!lay_out(f, &l))
    return NSR_OK;
  for (int i = 0; i < f->step->naccess; i++) {
    enum nsr_role role = (enum nsr_role)f->step->access[i].op.role;
    const uint8_t *mask = is_masked(role) ? f->bytes + l.mask[i] : NULL;
    if (nsr_role_writes(role))
      NSR_TRY(write_operand(m, f, i, &l.shape[i], f->bytes + l.out[i], mask));
  }
  for (int h = 0; h < desc->nhidden; h++)
    if (nsr_role_writes(desc->hidden[h].role))
      NSR_TRY(keep_state(m, f, h, &l));
  return NSR_OK;
}

static bool value(struct nsr_memory *memory, const struct nsr_flight *f,
                  int32_t *v, const char **why) {
  const struct nsr_operand *o = &f->step->access[0].op;
  (void)memory;
  *why = "loads nothing";
  if (f->nbytes < nsr_dtype_bytes((enum nsr_dtype)o->dtype))
    return false;
  *v = nsr_element_bits((enum nsr_dtype)o->dtype, f->bytes);
  return true;
}

static const struct nsr_memory_ops ops = {place, read, write, value, NULL};

enum nsr_status nsr_bytes_new(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                              const struct nsr_image *image,
                              struct nsr_byte_memory **memory) {
  struct nsr_byte_memory *m;
  NSR_NEW(ctx, arena, m, 1);
  m->memory.ops = &ops;
  m->ctx = ctx;
  m->arena = arena;
  m->image = image;
  NSR_NEW(ctx, arena, m->states, (size_t)image->nhidden);
  NSR_TRY(launch(m));
  *memory = m;
  return NSR_OK;
}
