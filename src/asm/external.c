/* external.c - reads a file of external events.
 *
 * Needs the text and a kernel; makes the events. Lines, comments, numbers,
 * expressions, .const, .repeat and .macro are the assembler's, as are waits
 * and updates.
 */
#include <nsr/external.h>

#include <string.h>

#include "asm/asm.h"
#include "sim/numeric.h"

enum { MOST_BYTES = 1 << 24 /* of contents given, of one write */ };

struct reader {
  struct nsr_asm *a;
  const struct nsr_kernel *k;
  NSR_VEC(struct nsr_external_event) events;
  uint32_t nsequences;
  /* of the event at hand */
  NSR_VEC(struct nsr_external_wait) waits;
  NSR_VEC(struct nsr_external_access) accesses;
  NSR_VEC(struct nsr_update) updates;
};

static bool is(const char *s, size_t n, const char *word) {
  return strlen(word) == n && memcmp(s, word, n) == 0;
}

/* ---- semaphores */

static enum nsr_status foreign(struct reader *r, uint16_t *sem) {
  struct nsr_asm *a = r->a;
  struct nsr_asm_value v;
  const char *at = a->p;
  if (!nsr_asm_accept(a, "s"))
    return nsr_asm_expected(a, "a semaphore such as s200");
  NSR_TRY(nsr_asm_number(a, &v, NULL));
  NSR_TRY(nsr_asm_check_int(a, at, "the semaphore", 0,
                            r->k->isa->semaphores - 1, &v));
  *sem = (uint16_t)v.i;
  if (!nsr_owned(r->k, *sem))
    return NSR_OK;
  return nsr_asm_error(a, at,
                       "expected a semaphore of others, not one of %u..%u, "
                       "which the kernel owns",
                       (unsigned)r->k->owned_first, (unsigned)r->k->owned_last);
}

static enum nsr_status wait(struct reader *r) {
  struct nsr_asm *a = r->a;
  struct nsr_external_wait w = {.cores = nsr_asm_accept(a, "cbar")};
  int64_t v;
  if (!w.cores)
    NSR_TRY(foreign(r, &w.sem));
  bool equal = nsr_asm_accept(a, ">=");
  if (!equal && !nsr_asm_accept(a, ">"))
    return nsr_asm_expected(a, ">= or >");
  NSR_TRY(nsr_asm_int(a, "the threshold", INT32_MIN, INT32_MAX, &v));
  w.need = v + !equal;
  NSR_PUSH(a->ctx, NSR_KEEP, &r->waits, w);
  return NSR_OK;
}

static enum nsr_status update(struct reader *r) {
  struct nsr_asm *a = r->a;
  struct nsr_update u = {.value = 1};
  int64_t v;
  NSR_TRY(foreign(r, &u.sem));
  u.op = nsr_asm_accept(a, "--")   ? NSR_UPD_DEC
         : nsr_asm_accept(a, "++") ? NSR_UPD_INC
         : nsr_asm_accept(a, "+=") ? NSR_UPD_ADD
         : nsr_asm_accept(a, "-=") ? NSR_UPD_SUB
         : nsr_asm_accept(a, "=")  ? NSR_UPD_SET
                                   : NSR_UPD_INC;
  if (u.op != NSR_UPD_INC && u.op != NSR_UPD_DEC) {
    NSR_TRY(nsr_asm_int(a, "the update's value", INT32_MIN, INT32_MAX, &v));
    u.value = (int32_t)v;
  }
  NSR_PUSH(a->ctx, NSR_KEEP, &r->updates, u);
  return NSR_OK;
}

/* ---- bytes of DRAM */

static uint32_t find_tensor(const struct nsr_kernel *k, const char *s,
                            size_t n) {
  for (uint32_t i = 0; i < k->ntensors; i++)
    if (k->tensors[i].name && is(s, n, k->tensors[i].name))
      return i;
  return NSR_NONE;
}

/* NAME or dram; *base, *size: where that lies. */
static enum nsr_status base(struct reader *r, struct nsr_external_access *x,
                            uint64_t *size) {
  struct nsr_asm *a = r->a;
  const char *s, *at = a->p;
  size_t n;
  bool quoted;
  NSR_TRY(nsr_asm_name(a, "a tensor or dram", &s, &n, &quoted));
  x->tensor = NSR_NONE;
  x->begin = 0;
  *size = UINT64_C(1) << 62;
  if (!quoted && is(s, n, "dram"))
    return NSR_OK;
  x->tensor = find_tensor(r->k, s, n);
  if (x->tensor == NSR_NONE)
    return nsr_asm_error(a, at,
                         "expected a tensor of the kernel or dram, "
                         "found '%.*s'",
                         (int)(n > 200 ? 200 : n), s);
  const struct nsr_tensor *t = &r->k->tensors[x->tensor];
  if (t->space != NSR_DRAM)
    return nsr_asm_error(a, at, "expected a tensor in dram, %.200s is in %s",
                         t->name, nsr_space_name((enum nsr_space)t->space));
  x->begin = t->offset;
  *size = t->bytes;
  return NSR_OK;
}

/* BASE [+OFFSET] [:BYTES]; sized: BYTES is there. */
static enum nsr_status place(struct reader *r, struct nsr_external_access *x,
                             bool *sized) {
  struct nsr_asm *a = r->a;
  uint64_t size;
  int64_t v;
  nsr_asm_blank(a);
  const char *at = a->p;
  NSR_TRY(base(r, x, &size));
  if (nsr_asm_accept(a, "+")) {
    NSR_TRY(nsr_asm_int(a, "the offset", 0, (int64_t)size, &v));
    x->begin += (uint64_t)v;
    size -= (uint64_t)v;
  }
  *sized = nsr_asm_accept(a, ":");
  if (*sized) {
    NSR_TRY(nsr_asm_int(a, "the number of bytes", 1, (int64_t)size, &v));
    size = (uint64_t)v;
  }
  x->end = x->begin + size;
  return x->begin < x->end ? NSR_OK
                           : nsr_asm_error(a, at,
                                           "expected bytes of a tensor, "
                                           "there are none");
}

struct contents {
  enum nsr_dtype dtype;
  NSR_VEC(uint8_t) data;
};

static enum nsr_status element(struct reader *r, struct contents *c) {
  static const struct {
    int64_t lo, hi;
  } limits[] = {[NSR_I32] = {INT32_MIN, UINT32_MAX},
                [NSR_I16] = {INT16_MIN, UINT16_MAX},
                [NSR_I8] = {INT8_MIN, UINT8_MAX},
                [NSR_U8] = {0, UINT8_MAX}};
  struct nsr_asm *a = r->a;
  struct nsr_asm_value v;
  size_t size = nsr_dtype_bytes(c->dtype);
  nsr_asm_blank(a);
  const char *at = a->p;
  NSR_TRY(nsr_asm_expr(a, &v));
  if (c->data.n + size > MOST_BYTES)
    return nsr_asm_error(a, at, "contents of more than %d bytes", MOST_BYTES);
  NSR_RESERVE(a->ctx, NSR_KEEP, &c->data, size);
  uint8_t *out = c->data.v + c->data.n;
  if (c->dtype == NSR_I32 || c->dtype == NSR_I16 || c->dtype == NSR_I8 ||
      c->dtype == NSR_U8) {
    NSR_TRY(nsr_asm_check_int(a, at, "an element", limits[c->dtype].lo,
                              limits[c->dtype].hi, &v));
    nsr_element_put_bits(c->dtype, out, (int32_t)(uint32_t)v.i);
  } else {
    nsr_element_put(c->dtype, out, (float)(v.is_float ? v.f : (double)v.i));
  }
  c->data.n += size;
  return NSR_OK;
}

/* token, or elements of the tensor's dtype (u8 for an address). */
static enum nsr_status contents(struct reader *r, struct nsr_external_access *x,
                                bool sized) {
  struct nsr_asm *a = r->a;
  const char *s;
  size_t n;
  nsr_asm_blank(a);
  const char *at = a->p;
  if (nsr_asm_word(a, &s, &n) && is(s, n, "token"))
    return NSR_OK;
  a->p = at;
  struct contents c = {NSR_U8, {0}};
  if (x->tensor != NSR_NONE)
    c.dtype = (enum nsr_dtype)r->k->tensors[x->tensor].dtype;
  do
    NSR_TRY(element(r, &c));
  while (nsr_asm_accept(a, ","));
  if (c.data.n > x->end - x->begin || (sized && c.data.n < x->end - x->begin))
    return nsr_asm_error(a, at, "contents of %zu bytes for %llu", c.data.n,
                         (unsigned long long)(x->end - x->begin));
  x->end = x->begin + c.data.n;
  x->data = c.data.v;
  return NSR_OK;
}

static enum nsr_status bytes(struct reader *r, bool writes) {
  struct nsr_asm *a = r->a;
  struct nsr_external_access x = {.writes = writes};
  bool sized;
  nsr_asm_blank(a);
  const char *at = a->p;
  NSR_TRY(place(r, &x, &sized));
  bool given = writes && nsr_asm_accept(a, "=");
  if (given)
    NSR_TRY(contents(r, &x, sized));
  if (x.tensor == NSR_NONE && !sized && !x.data)
    return nsr_asm_error(a, at, "expected the number of bytes, dram+%llu:BYTES",
                         (unsigned long long)x.begin);
  NSR_PUSH(a->ctx, NSR_KEEP, &r->accesses, x);
  return NSR_OK;
}

/* ---- lines */

static enum nsr_status part(struct reader *r) {
  struct nsr_asm *a = r->a;
  const char *s;
  size_t n;
  nsr_asm_blank(a);
  const char *at = a->p;
  if (nsr_asm_accept(a, "?"))
    return wait(r);
  if (nsr_asm_accept(a, "^"))
    return update(r);
  if (nsr_asm_word(a, &s, &n) && (is(s, n, "write") || is(s, n, "read")))
    return bytes(r, *s == 'w');
  a->p = at;
  return nsr_asm_expected(a, "?wait, write, read, ^update or the end of the "
                             "line");
}

static enum nsr_status sequence(struct reader *r, const char *at, bool then,
                                struct nsr_external_event *e) {
  const struct nsr_external_event *last =
      r->events.n ? &r->events.v[r->events.n - 1] : NULL;
  if (then && !last)
    return nsr_asm_error(r->a, at, "expected an event before 'then'");
  e->sequence = then ? last->sequence : r->nsequences;
  e->ordinal = then ? last->ordinal + 1 : 1;
  if (e->sequence < NSR_MAX_SEQUENCES)
    return NSR_OK;
  r->a->fatal = true;
  return nsr_asm_error(r->a, at,
                       "more than %d events that no 'then' puts in order",
                       (int)NSR_MAX_SEQUENCES);
}

/* What follows NAME: and then. */
static enum nsr_status event(struct reader *r, const char *name, bool then,
                             const char *at) {
  struct nsr_asm *a = r->a;
  struct nsr_external_event e = {.name = name, .line = nsr_asm_line(a)};
  memset(&r->waits, 0, sizeof r->waits);
  memset(&r->accesses, 0, sizeof r->accesses);
  memset(&r->updates, 0, sizeof r->updates);
  NSR_TRY(sequence(r, at, then, &e));
  while (!nsr_asm_at_end(a))
    NSR_TRY(part(r));
  if (!r->accesses.n && !r->updates.n)
    return nsr_asm_error(a, at,
                         "expected an event that does something: "
                         "write, read or ^update");
  e.waits = r->waits.v;
  e.nwaits = (uint32_t)r->waits.n;
  e.accesses = r->accesses.v;
  e.naccesses = (uint32_t)r->accesses.n;
  e.updates = r->updates.v;
  e.nupdates = (uint32_t)r->updates.n;
  r->nsequences += !then;
  NSR_PUSH(a->ctx, NSR_KEEP, &r->events, e);
  return NSR_OK;
}

static bool is_directive(const char *s, size_t n) {
  return is(s, n, ".const") || is(s, n, ".repeat") || is(s, n, ".macro") ||
         is(s, n, ".end");
}

/* A directive or a macro's use; *done: it was one. */
static enum nsr_status other(struct reader *r, bool *done) {
  struct nsr_asm *a = r->a;
  const char *s, *at = a->p;
  size_t n;
  *done = false;
  if (!nsr_asm_word(a, &s, &n))
    return NSR_OK;
  uint32_t macro = nsr_map_get(&a->macro_map, s, n);
  *done = *s == '.' || (macro != NSR_NONE && !nsr_asm_at(a, ':'));
  if (*done && macro != NSR_NONE)
    return nsr_asm_call(a, macro);
  if (*done && is_directive(s, n))
    return nsr_asm_directive(a, s, n);
  a->p = at;
  return *done ? nsr_asm_expected(a, "an event, .const, .repeat or .macro")
               : NSR_OK;
}

/* NAME: in front; NULL: none. */
static enum nsr_status label(struct reader *r, const char **name) {
  struct nsr_asm *a = r->a;
  const char *s, *at = a->p;
  size_t n = 0;
  *name = NULL;
  bool quoted = nsr_asm_at(a, '"');
  if (!quoted && !nsr_asm_word(a, &s, &n))
    return NSR_OK;
  if (quoted)
    NSR_TRY(nsr_asm_name(a, "a name", &s, &n, NULL));
  if (nsr_asm_accept(a, ":")) {
    a->labelled = true;
    *name = nsr_strndup(a->ctx, NSR_KEEP, s, n);
    return *name ? NSR_OK : NSR_E_NOMEM;
  }
  if (quoted)
    return nsr_asm_expected(a, "':' after an event's name");
  a->p = at;
  return NSR_OK;
}

static enum nsr_status line(void *user) {
  struct reader *r = user;
  struct nsr_asm *a = r->a;
  const char *name, *s;
  size_t n;
  bool done;
  if (nsr_asm_at_end(a))
    return NSR_OK;
  const char *start = a->p;
  NSR_TRY(other(r, &done));
  if (done)
    return NSR_OK;
  NSR_TRY(label(r, &name));
  nsr_asm_blank(a);
  const char *at = a->p;
  bool then = nsr_asm_word(a, &s, &n) && is(s, n, "then");
  if (!then)
    a->p = at;
  return event(r, name, then, start);
}

static enum nsr_status finish(const struct reader *r, const char *path,
                              struct nsr_external **out) {
  struct nsr_external *x;
  NSR_NEW(r->a->ctx, NSR_KEEP, x, 1);
  x->path = nsr_strndup(r->a->ctx, NSR_KEEP, path, strlen(path));
  if (!x->path)
    return NSR_E_NOMEM;
  x->events = r->events.v;
  x->nevents = (uint32_t)r->events.n;
  x->nsequences = r->nsequences;
  for (uint32_t i = x->nevents; i-- > 0;)
    x->first[x->events[i].sequence] = i;
  x->first[x->nsequences] = x->nevents;
  *out = x;
  return NSR_OK;
}

enum nsr_status nsr_external_parse(struct nsr_ctx *ctx,
                                   const struct nsr_kernel *k, const char *path,
                                   const char *text, size_t n,
                                   struct nsr_external **out) {
  struct nsr_mark mark = nsr_scratch_mark(ctx);
  struct nsr_asm *a;
  enum nsr_status status = nsr_asm_reader(ctx, k, path, text, n, &a);
  struct reader r = {.a = a, .k = k};
  if (status == NSR_OK)
    status = nsr_asm_each_line(a, line, &r);
  if (status == NSR_OK)
    status = finish(&r, path, out);
  nsr_scratch_release(ctx, mark);
  return status;
}
