/* neff.c - NEFF archives: 1024 bytes of header, then a tar, perhaps gzipped.
 *
 * libarchive unpacks, walks the tar and packs again. What is written is the
 * tar that was read with the members' blocks replaced: nothing else in it is
 * touched, so nothing of it can get lost. A replaced member gets a new size
 * (and checksum) in its header. The result is walked again and compared with
 * what it should be before it is handed out.
 */
#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "object/format.h"

enum {
  HEADER = 1024, /* of the archive */
  BLOCK = 512,   /* of a tar */
  NAME_AT = 0,
  NAME_SIZE = 100,
  SIZE_AT = 124,
  SIZE_SIZE = 12,
  SUM_AT = 148,
  SUM_SIZE = 8,
  CHUNK = 1 << 20
};
#define MAX_TAR (UINT64_C(1) << 32)

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

static bool is_gzip(const uint8_t *p, size_t n) {
  return n >= 3 && p[0] == 0x1f && p[1] == 0x8b && p[2] == 8;
}

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
  return is_gzip(p, size - HEADER) || is_tar(p, size - HEADER);
}

/* ---- unpacking */

static enum nsr_status inflate_all(struct nsr_ctx *ctx, const char *path,
                                   struct archive *a, size_t expect,
                                   const uint8_t **tar, size_t *size) {
  NSR_VEC(uint8_t) out = {0};
  struct archive_entry *entry;
  la_ssize_t got;
  NSR_RESERVE(ctx, NSR_KEEP, &out, expect + CHUNK);
  if (archive_read_next_header(a, &entry) < ARCHIVE_WARN)
    return fail(ctx, NSR_E_FORMAT, path, "the archive does not unpack", a);
  do {
    NSR_RESERVE(ctx, NSR_KEEP, &out, CHUNK);
    got = archive_read_data(a, out.v + out.n, CHUNK);
    if (got < 0)
      return fail(ctx, NSR_E_FORMAT, path, "the archive does not unpack", a);
    out.n += (size_t)got;
    if (out.n > MAX_TAR)
      return fail(ctx, NSR_E_FORMAT, path,
                  "the archive expands to more than 4 GiB", NULL);
  } while (got > 0);
  *tar = out.v;
  *size = out.n;
  return NSR_OK;
}

/* A gzip file ends in its size; deflate cannot expand by more than 1032. */
static size_t expected_size(const uint8_t *data, size_t size) {
  struct nsr_in in = {data + size - 4, 4, false};
  uint64_t claimed = nsr_in_u32(&in);
  return claimed / 1032 <= size ? (size_t)claimed : 0;
}

static enum nsr_status unpack(struct nsr_ctx *ctx, const char *path,
                              const uint8_t *data, size_t size,
                              const uint8_t **tar, size_t *tar_size) {
  struct archive *a = archive_read_new();
  if (!a)
    return NSR_E_NOMEM;
  enum nsr_status status;
  if (archive_read_support_filter_gzip(a) < ARCHIVE_WARN ||
      archive_read_support_format_raw(a) != ARCHIVE_OK ||
      archive_read_open_memory(a, data, size) != ARCHIVE_OK)
    status = fail(ctx, NSR_E_FORMAT, path, "the archive does not unpack", a);
  else
    status =
        inflate_all(ctx, path, a, expected_size(data, size), tar, tar_size);
  archive_read_free(a);
  return status;
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
    return fail(w->ctx, NSR_E_FORMAT, m->path, "the tar is cut off", NULL);
  if (!m->data)
    return NSR_OK;
  uint64_t room = end - e->start;
  uint64_t padded =
      m->size > room ? room : (m->size + BLOCK - 1) / BLOCK * BLOCK;
  if (padded + BLOCK > room)
    return fail(w->ctx, NSR_E_FORMAT, m->path, "the tar is cut off", NULL);
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
      return fail(w->ctx, NSR_E_FORMAT, w->path, "the tar is malformed", a);
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
    status = fail(w->ctx, NSR_E_FORMAT, w->path, "the tar is malformed", a);
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
  archive->gzipped = is_gzip(data + HEADER, size - HEADER);
  archive->tar = data + HEADER;
  archive->tar_size = size - HEADER;
  if (archive->gzipped)
    NSR_TRY(unpack(ctx, c->path, data + HEADER, size - HEADER, &archive->tar,
                   &archive->tar_size));
  struct walk w = {.ctx = ctx,
                   .path = c->path,
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

/* A header with another size; false where its size is not a plain number. */
static bool resize_header(uint8_t *block, uint64_t from, uint64_t to) {
  char text[SIZE_SIZE + 1];
  if (octal(block + SUM_AT, SUM_SIZE) != tar_sum(block) ||
      octal(block + SIZE_AT, SIZE_SIZE) != from || to >> 33)
    return false;
  snprintf(text, sizeof text, "%011llo", (unsigned long long)to);
  memcpy(block + SIZE_AT, text, SIZE_SIZE);
  snprintf(text, sizeof text, "%06o", tar_sum(block));
  memcpy(block + SUM_AT, text, 7);
  block[SUM_AT + 7] = ' ';
  return true;
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
  struct walk w = {.ctx = ctx, .path = c->path, .tar = tar, .size = size};
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

struct sink {
  struct nsr_ctx *ctx;
  enum nsr_status status;
  NSR_VEC(uint8_t) bytes;
};

static enum nsr_status sink_add(struct sink *s, const void *p, size_t n) {
  NSR_RESERVE(s->ctx, NSR_KEEP, &s->bytes, n);
  memcpy(s->bytes.v + s->bytes.n, p, n);
  s->bytes.n += n;
  return NSR_OK;
}

static la_ssize_t on_write(struct archive *a, void *user, const void *p,
                           size_t n) {
  struct sink *s = user;
  s->status = sink_add(s, p, n);
  if (s->status == NSR_OK)
    return (la_ssize_t)n;
  archive_set_error(a, -1, "out of memory");
  return -1;
}

static int write_raw(struct archive *a, struct archive_entry *entry,
                     const uint8_t *data, size_t size) {
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_pathname(entry, "data");
  int r = archive_write_header(a, entry);
  while (r >= ARCHIVE_WARN && size > 0) {
    la_ssize_t put = archive_write_data(a, data, size);
    if (put <= 0)
      return ARCHIVE_FATAL;
    data += put;
    size -= (size_t)put;
  }
  return r >= ARCHIVE_WARN ? archive_write_close(a) : r;
}

/* Gzips data onto the sink, without a time. */
static enum nsr_status pack(struct sink *s, const char *path,
                            const uint8_t *data, size_t size) {
  struct archive *a = archive_write_new();
  struct archive_entry *entry = archive_entry_new();
  enum nsr_status status = a && entry ? NSR_OK : NSR_E_NOMEM;
  if (status == NSR_OK &&
      (archive_write_add_filter_gzip(a) != ARCHIVE_OK ||
       archive_write_set_filter_option(a, "gzip", "timestamp", NULL) !=
           ARCHIVE_OK ||
       archive_write_set_format_raw(a) != ARCHIVE_OK ||
       archive_write_set_bytes_in_last_block(a, 1) != ARCHIVE_OK ||
       archive_write_open(a, s, NULL, on_write, NULL) != ARCHIVE_OK ||
       write_raw(a, entry, data, size) < ARCHIVE_WARN))
    status = s->status != NSR_OK ? s->status
                                 : fail(s->ctx, NSR_E_IO, path,
                                        "the archive cannot be packed", a);
  archive_entry_free(entry);
  archive_write_free(a);
  return status;
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
  if (changed && a->gzipped) {
    struct sink s = {.ctx = ctx};
    NSR_TRY(sink_add(&s, file, HEADER));
    NSR_TRY(pack(&s, c->path, file + HEADER, n - HEADER));
    file = s.bytes.v;
    n = s.bytes.n;
  }
  *data = file;
  *size = n;
  return NSR_OK;
}
