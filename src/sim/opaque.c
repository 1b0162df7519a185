/* opaque.c - the memory of tokens.
 *
 * Needs atoms that every access is a union of; makes tokens, and bytes where
 * control may depend on them.
 */
#include "sim/opaque.h"

#include <string.h>

#include "base/vec.h"
#include "sim/hash.h"
#include "sim/numeric.h"
#include "sim/runs.h"

enum { MAX_CONCRETE = 1 << 24 /* bytes of one access that stay concrete */ };

enum origin {
  POISON = 1,
  INPUT = 2,
  CONTENTS = 3,
  HIDDEN = 4,
  EVENT = 5,
  ANY = 6
};

static bool is_integer(uint8_t dtype) {
  return dtype == NSR_I32 || dtype == NSR_I16 || dtype == NSR_I8 ||
         dtype == NSR_U8;
}

/* ---- at launch */

/* Contents that a register may come to hold. */
static bool keeps_bytes(const struct nsr_image *image,
                        const struct nsr_tensor *t) {
  return t->space == NSR_DRAM && t->data && t->data_size &&
         (is_integer(t->dtype) || t->has_range || image->loads_float);
}

enum nsr_status nsr_opaque_cuts(struct nsr_atoms *atoms,
                                const struct nsr_image *image) {
  const struct nsr_kernel *k = image->kernel;
  for (uint32_t i = 0; i < k->ntensors; i++) {
    const struct nsr_tensor *t = &k->tensors[i];
    if (t->space != NSR_DRAM || !t->bytes)
      continue;
    NSR_TRY(nsr_atoms_need_dram(atoms, t->offset, t->offset + t->bytes));
    if (t->data_size)
      NSR_TRY(nsr_atoms_need_dram(atoms, t->offset, t->offset + t->data_size));
  }
  const int64_t dram_end = INT64_C(1) << 62;
  for (uint32_t i = 0; i < image->naccesses; i++) {
    const struct nsr_access *a = &image->accesses[i];
    int64_t begin, end;
    if (!a->fixed || a->empty || a->op.reg != NSR_NO_REG ||
        __builtin_add_overflow(a->op.offset, a->low, &begin) ||
        __builtin_add_overflow(a->op.offset, a->high, &end))
      continue;
    int64_t size = a->op.space == NSR_DRAM   ? dram_end
                   : a->op.space == NSR_SBUF ? image->isa->sbuf_bytes
                                             : image->isa->psum_bytes;
    if (begin >= 0 && end <= size &&
        (a->op.space == NSR_DRAM ||
         a->op.part + a->op.nparts <= image->isa->partitions))
      NSR_TRY(nsr_atoms_need(atoms, &a->shape, a->op.offset));
  }
  return NSR_OK;
}

struct nsr_atom_range nsr_atoms_dram(const struct nsr_atoms *a, uint64_t begin,
                                     uint64_t end) {
  struct nsr_atom_range r;
  r.first = nsr_atoms_at(a, NSR_DRAM, 0, begin);
  if (nsr_atoms_extent(a, r.first).begin < begin)
    r.first++;
  r.end = nsr_atoms_at(a, NSR_DRAM, 0, end);
  if (nsr_atoms_extent(a, r.end).begin < end)
    r.end++;
  return r;
}

static void set_tokens(struct nsr_opaque *m, uint64_t begin, uint64_t end,
                       enum origin origin) {
  struct nsr_atom_range r = nsr_atoms_dram(m->atoms, begin, end);
  for (uint32_t a = r.first; a < r.end; a++)
    m->token[a] = nsr_combine(origin, nsr_atoms_extent(m->atoms, a).begin);
}

/* Contents begin at byte `at` of DRAM; only atoms inside them count. */
static void set_bytes(struct nsr_opaque *m, uint64_t at, const uint8_t *data,
                      uint64_t size) {
  struct nsr_atom_range r = nsr_atoms_dram(m->atoms, at, at + size);
  for (uint32_t a = r.first; a < r.end; a++) {
    struct nsr_extent x = nsr_atoms_extent(m->atoms, a);
    if (x.end <= at + size)
      m->bytes[a] = data + (x.begin - at);
    m->token[a] = nsr_combine(CONTENTS, x.begin);
  }
}

static void launch(struct nsr_opaque *m, const struct nsr_contents *contents,
                   uint32_t ncontents) {
  const struct nsr_kernel *k = m->image->kernel;
  uint32_t n = nsr_atoms_count(m->atoms);
  for (uint32_t a = 0; a < n; a++)
    m->token[a] = nsr_combine(POISON, a);
  for (int h = 0; h < m->image->nhidden; h++)
    m->hidden[h] = nsr_combine(HIDDEN, (uint64_t)h);
  for (uint32_t i = k->ntensors; i-- > 0;) { /* the first one wins */
    const struct nsr_tensor *t = &k->tensors[i];
    if (t->space != NSR_DRAM || !t->bytes)
      continue;
    if (t->role == NSR_INPUT)
      set_tokens(m, t->offset, t->offset + t->bytes, INPUT);
    if (keeps_bytes(m->image, t))
      set_bytes(m, t->offset, t->data, t->data_size);
    else if (t->data_size)
      set_tokens(m, t->offset, t->offset + t->data_size, CONTENTS);
  }
  for (uint32_t i = ncontents; i-- > 0;) {
    const struct nsr_tensor *t = &k->tensors[contents[i].tensor];
    if (contents[i].size)
      set_bytes(m, t->offset, contents[i].data, contents[i].size);
  }
}

/* ---- placing */

static enum nsr_status place_operand(struct nsr_opaque *m, struct nsr_flight *f,
                                     int i) {
  const struct nsr_access *a = &f->step->access[i];
  struct nsr_shape shape;
  uint32_t id;
  if (!a->fixed) {
    shape = nsr_flight_shape(f, i);
    NSR_TRY(nsr_atoms_shape(m->atoms, &shape, &id));
    return nsr_atoms_cover(m->atoms, id, f->offset[i], &f->cover[i]);
  }
  if (!m->last[a->uid].known) {
    NSR_TRY(nsr_atoms_shape(m->atoms, &a->shape, &id));
    m->last[a->uid].shape = id;
    m->last[a->uid].known = true;
  } else if (m->last[a->uid].cover && m->last[a->uid].offset == f->offset[i]) {
    f->cover[i] = m->last[a->uid].cover;
    return NSR_OK;
  }
  NSR_TRY(nsr_atoms_cover(m->atoms, m->last[a->uid].shape, f->offset[i],
                          &f->cover[i]));
  m->last[a->uid].offset = f->offset[i];
  m->last[a->uid].cover = f->cover[i];
  return NSR_OK;
}

static enum nsr_status place(struct nsr_memory *memory, struct nsr_flight *f) {
  struct nsr_opaque *m = (struct nsr_opaque *)memory;
  for (int i = 0; i < f->step->naccess; i++)
    if (!f->empty[i])
      NSR_TRY(place_operand(m, f, i));
  return NSR_OK;
}

/* ---- concrete contents */

/* The bytes of one run inside one atom. */
struct window {
  uint32_t atom;
  size_t at; /* in the atom's contents */
  size_t n;
};

static struct window window_at(const struct nsr_opaque *m, uint8_t space,
                               uint32_t part, uint64_t begin, size_t n) {
  uint32_t atom = nsr_atoms_at(m->atoms, space, part, begin);
  struct nsr_extent x = nsr_atoms_extent(m->atoms, atom);
  size_t width = x.end - x.begin;
  size_t left = x.end - begin;
  return (struct window){atom, (part - x.part) * width + (begin - x.begin),
                         n < left ? n : left};
}

static bool all_concrete(const struct nsr_opaque *m,
                         const struct nsr_cover *c) {
  for (struct nsr_cover_iter it = nsr_cover_first(c); it.more;
       nsr_cover_next(&it))
    if (!m->bytes[it.atom])
      return false;
  return true;
}

static void gather_bytes(const struct nsr_opaque *m, const struct nsr_shape *s,
                         int64_t offset, uint8_t *out) {
  struct nsr_runs r;
  for (nsr_runs_first(&r, s, offset); r.more; nsr_runs_next(&r))
    for (size_t done = 0; done < r.len;) {
      struct window w = window_at(m, s->space, r.part, (uint64_t)r.begin + done,
                                  r.len - done);
      memcpy(out, m->bytes[w.atom] + w.at, w.n);
      out += w.n;
      done += w.n;
    }
}

static void scatter_bytes(struct nsr_opaque *m, const struct nsr_shape *s,
                          int64_t offset, const uint8_t *in) {
  struct nsr_runs r;
  for (nsr_runs_first(&r, s, offset); r.more; nsr_runs_next(&r))
    for (size_t done = 0; done < r.len;) {
      struct window w = window_at(m, s->space, r.part, (uint64_t)r.begin + done,
                                  r.len - done);
      if (m->bytes[w.atom])
        memcpy(m->own[w.atom] + w.at, in, w.n);
      in += w.n;
      done += w.n;
    }
}

/* Reads operand i into f->bytes where all of it has contents. */
static enum nsr_status read_bytes(struct nsr_opaque *m, struct nsr_flight *f,
                                  int i) {
  if (f->empty[i] || f->any_reads >> i & 1 || !all_concrete(m, f->cover[i]))
    return NSR_OK;
  struct nsr_shape s = nsr_flight_shape(f, i);
  uint64_t n = nsr_shape_bytes(&s);
  if (n > MAX_CONCRETE)
    return NSR_OK;
  NSR_TRY(nsr_flight_reserve(m->ctx, m->arena, f, n));
  gather_bytes(m, &s, f->offset[i], f->bytes);
  f->nbytes = n;
  f->concrete = true;
  return NSR_OK;
}

/* The bytes that a fill, iota or store writes. */
static enum nsr_status make_bytes(struct nsr_opaque *m, struct nsr_flight *f) {
  const struct nsr_access *a = &f->step->access[0];
  const struct nsr_image_stream *s = &m->image->streams[f->engine];
  struct nsr_shape shape = nsr_flight_shape(f, 0);
  uint64_t n = nsr_shape_bytes(&shape);
  if (f->empty[0] || n > MAX_CONCRETE)
    return NSR_OK;
  NSR_TRY(nsr_flight_reserve(m->ctx, m->arena, f, n));
  struct nsr_insn insn;
  NSR_TRY(
      nsr_stream_decode(m->ctx, m->image->kernel, s->stream, f->insn, &insn));
  struct nsr_elements e[NSR_MAX_OPERANDS] = {
      {.dtype = (enum nsr_dtype)a->op.dtype,
       .nparts = a->op.nparts,
       .ndims = a->op.ndims,
       .out = f->bytes}};
  for (int d = 0; d < a->op.ndims; d++)
    e[0].dims[d] = a->op.dims[d].count_is_reg ? f->count[0][d]
                                              : (uint32_t)a->op.dims[d].count;
  if (nsr_numeric(&insn, e, NULL, f->value) != NULL)
    return NSR_OK;
  f->nbytes = n;
  f->concrete = true;
  return NSR_OK;
}

static int first_operand(const struct nsr_step *s, bool writes) {
  for (int i = 0; i < s->naccess; i++) {
    enum nsr_role role = (enum nsr_role)s->access[i].op.role;
    if (writes ? nsr_role_writes(role) : nsr_role_reads(role))
      return i;
  }
  return -1;
}

/* What this instance will write is known byte by byte. */
static enum nsr_status find_bytes(struct nsr_opaque *m, struct nsr_flight *f) {
  const struct nsr_step *s = f->step;
  int src = first_operand(s, false);
  if (s->desc->cls == NSR_LOAD)
    return read_bytes(m, f, 0);
  if (s->desc->meaning == NSR_MEANING_COPY && src >= 0)
    return read_bytes(m, f, src);
  bool made = s->desc->meaning == NSR_MEANING_FILL ||
              s->desc->meaning == NSR_MEANING_IOTA ||
              s->desc->sem == NSR_SEM_STORE;
  if (made && s->naccess == 1 && is_integer(s->access[0].op.dtype))
    return make_bytes(m, f);
  return NSR_OK;
}

/* ---- read and write */

static enum nsr_status gather_more(struct nsr_opaque *m, size_t n) {
  if (m->gather_cap - m->gathered >= n)
    return NSR_OK;
  void *p = nsr_vec_grow(m->ctx, m->arena, m->gather, m->gathered,
                         &m->gather_cap, n, sizeof *m->gather);
  if (!p)
    return NSR_E_NOMEM;
  m->gather = p;
  return NSR_OK;
}

static enum nsr_status gather_tokens(struct nsr_opaque *m,
                                     const struct nsr_cover *c) {
  NSR_TRY(gather_more(m, c->n));
  for (struct nsr_cover_iter it = nsr_cover_first(c); it.more;
       nsr_cover_next(&it))
    m->gather[m->gathered++] = m->token[it.atom];
  return NSR_OK;
}

static enum nsr_status read(struct nsr_memory *memory, struct nsr_flight *f,
                            const char **why) {
  struct nsr_opaque *m = (struct nsr_opaque *)memory;
  const struct nsr_step *s = f->step;
  (void)why;
  if (f->number == 0)
    return NSR_OK;
  m->gathered = 0;
  for (int i = 0; i < s->naccess; i++)
    if (nsr_role_reads((enum nsr_role)s->access[i].op.role) && !f->empty[i] &&
        !(f->any_reads >> i & 1))
      NSR_TRY(gather_tokens(m, f->cover[i]));
  NSR_TRY(gather_more(m, s->desc->nhidden));
  for (int h = 0; h < s->desc->nhidden; h++)
    if (nsr_role_reads(s->desc->hidden[h].role))
      m->gather[m->gathered++] = m->hidden[s->hidden[h]];
  f->digest = nsr_hash(m->gather, m->gathered * sizeof *m->gather);
  return find_bytes(m, f);
}

/* Every atom of a written operand gets its token; what may be left as it was
 * adds to the token, in whatever order. */
static void write_tokens(struct nsr_opaque *m, const struct nsr_cover *c,
                         uint64_t base, bool may) {
  for (struct nsr_cover_iter it = nsr_cover_first(c); it.more;
       nsr_cover_next(&it)) {
    base += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t t = nsr_spread(base);
    m->token[it.atom] = may ? m->token[it.atom] + t : t;
    m->bytes[it.atom] = NULL;
  }
}

/* Several write at once, in any order. */
static void write_any(struct nsr_opaque *m, const struct nsr_cover *c) {
  for (struct nsr_cover_iter it = nsr_cover_first(c); it.more;
       nsr_cover_next(&it)) {
    m->token[it.atom] = nsr_combine(ANY, it.atom);
    m->bytes[it.atom] = NULL;
  }
}

static enum nsr_status write_bytes(struct nsr_opaque *m, struct nsr_flight *f,
                                   int i) {
  struct nsr_shape s = nsr_flight_shape(f, i);
  if (nsr_shape_bytes(&s) != f->nbytes)
    return NSR_OK; /* stays opaque */
  for (struct nsr_cover_iter it = nsr_cover_first(f->cover[i]); it.more;
       nsr_cover_next(&it)) {
    struct nsr_extent x = nsr_atoms_extent(m->atoms, it.atom);
    uint64_t size = (x.end - x.begin) * x.nparts;
    if (size > MAX_CONCRETE)
      continue;
    if (!m->own[it.atom])
      NSR_NEW(m->ctx, m->arena, m->own[it.atom], size);
    m->bytes[it.atom] = m->own[it.atom];
  }
  scatter_bytes(m, &s, f->offset[i], f->bytes);
  return NSR_OK;
}

static enum nsr_status write(struct nsr_memory *memory, struct nsr_flight *f) {
  struct nsr_opaque *m = (struct nsr_opaque *)memory;
  const struct nsr_step *s = f->step;
  if (f->number == 0)
    return NSR_OK;
  uint64_t instance[4] = {f->identity, f->channel, f->number, f->digest};
  uint64_t base = nsr_hash(instance, sizeof instance);
  int dst = first_operand(s, true);
  for (int i = 0; i < s->naccess; i++) {
    enum nsr_role role = (enum nsr_role)s->access[i].op.role;
    if (!nsr_role_writes(role) || f->empty[i])
      continue;
    if (f->any_writes >> i & 1) {
      write_any(m, f->cover[i]);
      continue;
    }
    write_tokens(m, f->cover[i], nsr_combine(base, (uint64_t)i),
                 nsr_role_may(role));
    if (f->concrete && i == dst && role == NSR_W)
      NSR_TRY(write_bytes(m, f, i));
  }
  for (int h = 0; h < s->desc->nhidden; h++)
    if (nsr_role_writes(s->desc->hidden[h].role))
      m->hidden[s->hidden[h]] =
          nsr_combine(base, UINT64_C(1) << 32 | (uint64_t)h);
  return NSR_OK;
}

/* ---- loads */

/* The tensor with a declared range that a load reads from. */
static const struct nsr_tensor *ranged(const struct nsr_opaque *m,
                                       const struct nsr_flight *f) {
  const struct nsr_kernel *k = m->image->kernel;
  const struct nsr_access *a = &f->step->access[0];
  if (a->tensor != NSR_NONE)
    return k->tensors[a->tensor].has_range ? &k->tensors[a->tensor] : NULL;
  for (uint32_t i = 0; i < k->ntensors; i++) {
    const struct nsr_tensor *t = &k->tensors[i];
    bool inside = t->space == a->op.space &&
                  f->offset[0] >= (int64_t)t->offset &&
                  f->offset[0] < (int64_t)(t->offset + t->bytes) &&
                  (t->space == NSR_DRAM ||
                   (a->op.part >= t->part && a->op.part < t->part + t->nparts));
    if (inside && t->has_range)
      return t;
  }
  return NULL;
}

static bool value(struct nsr_memory *memory, const struct nsr_flight *f,
                  int32_t *v, const char **why) {
  const struct nsr_opaque *m = (const struct nsr_opaque *)memory;
  const struct nsr_access *a = &f->step->access[0];
  if (f->concrete && f->nbytes >= nsr_dtype_bytes(a->op.dtype)) {
    *v = nsr_element_bits((enum nsr_dtype)a->op.dtype, f->bytes);
    return true;
  }
  const struct nsr_tensor *t = ranged(m, f);
  if (!t || t->hi < t->lo) {
    *why = "loads an opaque value from a tensor without a range";
    return false;
  }
  uint64_t span = (uint64_t)((int64_t)t->hi - t->lo) + 1;
  *v = (int32_t)(t->lo + (int64_t)(nsr_spread(f->digest) % span));
  return true;
}

/* ---- events of others */

/* The bytes of an event; both kernels have the same ones. */
static enum nsr_status external(struct nsr_memory *memory,
                                const struct nsr_external_event *e,
                                uint32_t index) {
  struct nsr_opaque *m = (struct nsr_opaque *)memory;
  uint64_t seed = nsr_combine(EVENT, index);
  for (uint32_t i = 0; i < e->naccesses; i++) {
    const struct nsr_external_access *x = &e->accesses[i];
    struct nsr_atom_range r = nsr_atoms_dram(m->atoms, x->begin, x->end);
    for (uint32_t a = r.first; x->writes && a < r.end; a++) {
      uint64_t begin = nsr_atoms_extent(m->atoms, a).begin;
      m->token[a] = nsr_combine(seed, begin);
      m->bytes[a] = x->data ? x->data + (begin - x->begin) : NULL;
    }
  }
  return NSR_OK;
}

enum nsr_status nsr_opaque_external_cuts(struct nsr_atoms *atoms,
                                         const struct nsr_external *external) {
  for (uint32_t i = 0; i < external->nevents; i++) {
    const struct nsr_external_event *e = &external->events[i];
    for (uint32_t j = 0; j < e->naccesses; j++)
      NSR_TRY(
          nsr_atoms_need_dram(atoms, e->accesses[j].begin, e->accesses[j].end));
  }
  return NSR_OK;
}

static const struct nsr_memory_ops ops = {place, read, write, value, external};

enum nsr_status nsr_opaque_new(struct nsr_ctx *ctx, enum nsr_arena_id arena,
                               const struct nsr_image *image,
                               struct nsr_atoms *atoms,
                               const struct nsr_contents *contents,
                               uint32_t ncontents, struct nsr_opaque **memory) {
  struct nsr_opaque *m;
  uint32_t n = nsr_atoms_count(atoms);
  NSR_NEW(ctx, arena, m, 1);
  m->memory.ops = &ops;
  m->ctx = ctx;
  m->arena = arena;
  m->image = image;
  m->atoms = atoms;
  NSR_NEW(ctx, arena, m->token, n);
  NSR_NEW(ctx, arena, m->bytes, n);
  NSR_NEW(ctx, arena, m->own, n);
  NSR_NEW(ctx, arena, m->hidden, (size_t)image->nhidden);
  NSR_NEW(ctx, arena, m->last, image->naccesses);
  launch(m, contents, ncontents);
  *memory = m;
  return NSR_OK;
}
