/* neff.c - NEFF archives: 1024 bytes of header, then a tar, perhaps gzipped.
 *
 * libarchive walks the tar (and unpacks and packs it, gzip.c). What is written
 * is the tar that was read with the members' blocks replaced: nothing else in
 * it is touched, so nothing of it can get lost. A replaced member gets a new
 * size (and checksum) in its header. The result is walked again and compared
 * with what it should be before it is handed out.
 */
#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "base/vec.h"
#include "object/format.h"

enum {
  HEADER = 1024, /* of the archive */
  BLOCK = 512,   /* of a tar */
  SIZE_AT = 124, /* in a member's header: size and checksum, octal */
  SIZE_SIZE = 12,
  SUM_AT = 148,
  SUM_SIZE = 8
};

/* Where a member lies in the tar: headers, then data, padded to a block. */
struct extent {
  uint64_t start, data, end;
};

struct nsr_archive {
  const uint8_t *file; /* as read */
  size_t file_size;
  bool gzipped;
  const uint8_t *tar;
  size_t tar_size;
  const struct extent *extents; /* by member */
};

struct walk {
  struct nsr_ctx *ctx;
  const char *path;
  enum nsr_status bad; /* the status of a tar that is malformed */
  const uint8_t *tar;
  size_t size;
  NSR_VEC(struct nsr_member) members;
  NSR_VEC(struct extent) extents;
};

static enum nsr_status fail(struct nsr_ctx *ctx, enum nsr_status status,
                            const char *path, const char *what,
                            struct archive *a) {
  const char *why = a ? archive_error_string(a) : NULL;
  return nsr_fail(ctx, status, (struct nsr_place){.file = path, .insn = -1},
                  "%s%s%s", what, why ? ": " : "", why ? why : "");
}

/* ---- detection */

/* The sum of a header's bytes, its checksum field taken as blanks. */
static uint32_t tar_sum(const uint8_t *block) {
  uint32_t sum = 0;
  for (int i = 0; i < BLOCK; i++)
    sum += i >= SUM_AT && i < SUM_AT + SUM_SIZE ? ' ' : block[i];
  return sum;
}

/* An octal field, ended by a blank or NUL; UINT64_MAX: it is none. */
static uint64_t octal(const uint8_t *p, int n) {
  uint64_t v = 0;
  int i = 0;
  while (i < n && p[i] == ' ')
    i++;
  int first = i;
  for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
    v = v << 3 | (uint64_t)(p[i] - '0');
  bool ended = i == n || p[i] == ' ' || p[i] == 0;
  return i > first && ended ? v : UINT64_MAX;
}

static bool is_tar(const uint8_t *p, size_t n) {
  return n >= BLOCK && octal(p + SUM_AT, SUM_SIZE) == tar_sum(p);
}

bool nsr_neff_detect(const uint8_t *data, size_t size) {
  if (size <= HEADER || nsr_elf_magic(data, size))
    return false;
  const uint8_t *p = data + HEADER;
  return nsr_is_gzip(p, size - HEADER) || is_tar(p, size - HEADER);
}

/* ---- walking */

static const char *entry_name(struct archive_entry *entry) {
  const char *name = archive_entry_pathname(entry);
  if (!name)
    name = archive_entry_pathname_utf8(entry);
  return name ? name : "";
}

static bool is_stored_file(struct archive_entry *entry) {
  return archive_entry_filetype(entry) == AE_IFREG &&
         !archive_entry_hardlink(entry) && archive_entry_size_is_set(entry) &&
         archive_entry_sparse_count(entry) == 0;
}

static const char *malformed(const struct walk *w) {
  return w->bad == NSR_E_REFUSED
             ? "the tar would be malformed with that member replaced"
             : "the tar is malformed";
}

static enum nsr_status add_member(struct walk *w, struct archive_entry *entry,
                                  uint64_t start) {
  const char *name = entry_name(entry);
  struct nsr_member m = {0};
  m.name = nsr_strndup(w->ctx, NSR_KEEP, name, strlen(name));
  m.path = nsr_printf(w->ctx, NSR_KEEP, "%s(%s)", w->path ? w->path : "", name);
  if (!m.name || !m.path)
    return NSR_E_NOMEM;
  if (is_stored_file(entry)) {
    m.size = (uint64_t)archive_entry_size(entry);
    m.data = w->tar; /* to be placed when its end is known */
  }
  NSR_PUSH(w->ctx, NSR_KEEP, &w->members, m);
  NSR_PUSH(w->ctx, NSR_KEEP, &w->extents, (struct extent){.start = start});
  return NSR_OK;
}

/* The last member ends where the next header starts; its data come right
 * before that, filled up to a block. */
static enum nsr_status end_member(struct walk *w, uint64_t end) {
  if (w->members.n == 0)
    return NSR_OK;
  struct nsr_member *m = &w->members.v[w->members.n - 1];
  struct extent *e = &w->extents.v[w->members.n - 1];
  e->end = end;
  e->data = end;
  if (end > w->size || end < e->start)
    return fail(w->ctx, w->bad, m->path, "the tar ends within this member",
                NULL);
  if (!m->data)
    return NSR_OK;
  uint64_t room = end - e->start;
  uint64_t padded =
      m->size > room ? room : (m->size + BLOCK - 1) / BLOCK * BLOCK;
  if (padded + BLOCK > room)
    return fail(w->ctx, w->bad, m->path, "the tar ends within this member",
                NULL);
  e->data = end - padded;
  m->data = w->tar + e->data;
  m->is_kernel = nsr_elf_is_kernel(m->data, m->size);
  return NSR_OK;
}

static enum nsr_status walk_entries(struct walk *w, struct archive *a) {
  struct archive_entry *entry;
  for (;;) {
    int r = archive_read_next_header(a, &entry);
    if (r < ARCHIVE_WARN)
      return fail(w->ctx, w->bad, w->path, malformed(w), a);
    uint64_t at = (uint64_t)archive_read_header_position(a);
    NSR_TRY(end_member(w, at));
    if (r == ARCHIVE_EOF)
      return NSR_OK;
    NSR_TRY(add_member(w, entry, at));
  }
}

static enum nsr_status walk_tar(struct walk *w) {
  struct archive *a = archive_read_new();
  if (!a)
    return NSR_E_NOMEM;
  enum nsr_status status;
  if (archive_read_support_format_tar(a) != ARCHIVE_OK ||
      archive_read_open_memory(a, w->tar, w->size) != ARCHIVE_OK)
    status = fail(w->ctx, w->bad, w->path, malformed(w), a);
  else
    status = walk_entries(w, a);
  archive_read_free(a);
  return status;
}

enum nsr_status nsr_neff_read(struct nsr_ctx *ctx, const uint8_t *data,
                              size_t size, struct nsr_container *c) {
  struct nsr_archive *archive;
  NSR_NEW(ctx, NSR_KEEP, archive, 1);
  archive->file = data;
  archive->file_size = size;
  archive->gzipped = nsr_is_gzip(data + HEADER, size - HEADER);
  archive->tar = data + HEADER;
  archive->tar_size = size - HEADER;
  if (archive->gzipped)
    NSR_TRY(nsr_gunzip(ctx, c->path, data + HEADER, size - HEADER,
                       &archive->tar, &archive->tar_size));
  struct walk w = {.ctx = ctx,
                   .path = c->path,
                   .bad = NSR_E_FORMAT,
                   .tar = archive->tar,
                   .size = archive->tar_size};
  NSR_TRY(walk_tar(&w));
  archive->extents = w.extents.v;
  c->archive = archive;
  c->members = w.members.v;
  c->nmembers = (uint32_t)w.members.n;
  for (uint32_t i = 0; i < c->nmembers; i++)
    c->nkernels += c->members[i].is_kernel;
  return NSR_OK;
}

/* ---- writing */

/* Another number in an octal field, as wide as what it held; false where it
 * does not fit. */
static bool set_octal(uint8_t *p, int n, uint64_t v) {
  int end = 0;
  while (end < n && (p[end] == ' ' || (p[end] >= '0' && p[end] <= '7')))
    end++;
  while (end > 0 && p[end - 1] == ' ')
    end--;
  while (end-- > 0) {
    p[end] = (uint8_t)('0' + (v & 7));
    v >>= 3;
  }
  return v == 0;
}

/* A header with another size; false where its size is not a plain number. */
static bool resize_header(uint8_t *block, uint64_t from, uint64_t to) {
  return octal(block + SUM_AT, SUM_SIZE) == tar_sum(block) &&
         octal(block + SIZE_AT, SIZE_SIZE) == from &&
         set_octal(block + SIZE_AT, SIZE_SIZE, to) &&
         set_octal(block + SUM_AT, SUM_SIZE, tar_sum(block));
}

static void put_replaced(const struct nsr_archive *a, const struct extent *e,
                         uint64_t size, const struct nsr_blob *with,
                         uint8_t *to, uint64_t *at, bool *ok) {
  uint64_t head = e->data - e->start;
  memcpy(to + *at, a->tar + e->start, head);
  *ok = *ok && resize_header(to + *at + head - BLOCK, size, with->size);
  *at += head;
  if (with->size)
    memcpy(to + *at, with->data, with->size);
  *at += (with->size + BLOCK - 1) / BLOCK * BLOCK; /* the rest is zero */
}

static uint64_t new_tar_size(const struct nsr_container *c,
                             const struct nsr_blob *replace) {
  uint64_t n = c->archive->tar_size;
  for (uint32_t i = 0; i < c->nmembers; i++) {
    const struct extent *e = &c->archive->extents[i];
    if (replace[i].data)
      n += (replace[i].size + BLOCK - 1) / BLOCK * BLOCK - (e->end - e->data);
  }
  return n;
}

/* The tar with its members' blocks replaced, behind the archive's header. */
static enum nsr_status splice(struct nsr_ctx *ctx,
                              const struct nsr_container *c,
                              const struct nsr_blob *replace,
                              const uint8_t **file, size_t *size) {
  const struct nsr_archive *a = c->archive;
  uint64_t n = HEADER + new_tar_size(c, replace), at = HEADER, from = 0;
  bool ok = true;
  uint8_t *to;
  NSR_NEW(ctx, NSR_KEEP, to, n);
  memcpy(to, a->file, HEADER);
  for (uint32_t i = 0; i < c->nmembers; i++) {
    const struct extent *e = &a->extents[i];
    if (!replace[i].data)
      continue;
    memcpy(to + at, a->tar + from, e->start - from);
    at += e->start - from;
    put_replaced(a, e, c->members[i].size, &replace[i], to, &at, &ok);
    from = e->end;
    if (!ok)
      return fail(ctx, NSR_E_REFUSED, c->members[i].path,
                  "the size in its tar header cannot be changed", NULL);
  }
  memcpy(to + at, a->tar + from, a->tar_size - from);
  *file = to;
  *size = n;
  return NSR_OK;
}

/* Extended headers may override what was changed: look at the result. */
static enum nsr_status verify(struct nsr_ctx *ctx,
                              const struct nsr_container *c,
                              const struct nsr_blob *replace,
                              const uint8_t *tar, size_t size) {
  struct walk w = {.ctx = ctx,
                   .path = c->path,
                   .bad = NSR_E_REFUSED,
                   .tar = tar,
                   .size = size};
  NSR_TRY(walk_tar(&w));
  bool same = w.members.n == c->nmembers;
  for (uint32_t i = 0; same && i < c->nmembers; i++) {
    const struct nsr_member *old = &c->members[i], *m = &w.members.v[i];
    struct nsr_blob want =
        replace[i].data ? replace[i] : (struct nsr_blob){old->data, old->size};
    same = strcmp(old->name, m->name) == 0 && m->size == want.size &&
           !m->data == !want.data &&
           (!want.size || memcmp(m->data, want.data, want.size) == 0);
  }
  if (!same)
    return fail(ctx, NSR_E_REFUSED, c->path,
                "the archive's tar has a form whose members cannot be replaced",
                NULL);
  return NSR_OK;
}

enum nsr_status nsr_neff_write(struct nsr_ctx *ctx,
                               const struct nsr_container *c,
                               const struct nsr_blob *replace,
                               const uint8_t **data, size_t *size) {
  const struct nsr_archive *a = c->archive;
  const uint8_t *file = a->file;
  size_t n = a->file_size;
  bool changed = false;
  for (uint32_t i = 0; i < c->nmembers; i++) {
    changed |= replace[i].data != NULL;
    if (replace[i].data && !c->members[i].data)
      return fail(ctx, NSR_E_USAGE, c->members[i].path,
                  "this member is no regular file", NULL);
  }
  if (changed) {
    NSR_TRY(splice(ctx, c, replace, &file, &n));
    NSR_TRY(verify(ctx, c, replace, file + HEADER, n - HEADER));
  }
  if (changed && a->gzipped)
    return nsr_gzip(ctx, c->path, (struct nsr_blob){file, HEADER},
                    (struct nsr_blob){file + HEADER, n - HEADER}, data, size);
  *data = file;
  *size = n;
  return NSR_OK;
}
