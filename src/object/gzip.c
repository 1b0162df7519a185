/* gzip.c - gzip both ways, by libarchive's filter. It does not look at the
 * checksum, so that is done here: a damaged archive must not be written again
 * as if nothing were wrong.
 */
#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "base/vec.h"
#include "object/format.h"

enum {
  CHUNK = 1 << 20,
  TRAILER = 8, /* checksum and size, 32 bits each */
  LEAST = 18   /* header and trailer */
};
#define MAX_UNPACKED (UINT64_C(1) << 32)

static enum nsr_status fail(struct nsr_ctx *ctx, enum nsr_status status,
                            const char *path, const char *what,
                            struct archive *a) {
  const char *why = a ? archive_error_string(a) : NULL;
  return nsr_fail(ctx, status, (struct nsr_place){.file = path, .insn = -1},
                  "%s%s%s", what, why ? ": " : "", why ? why : "");
}

bool nsr_is_gzip(const uint8_t *p, size_t n) {
  return n >= 3 && p[0] == 0x1f && p[1] == 0x8b && p[2] == 8;
}

/* ---- unpacking */

/* The checksum of a gzip trailer. */
static uint32_t crc32(const uint8_t *p, size_t n) {
  uint32_t table[256];
  for (uint32_t i = 0; i < 256; i++) {
    table[i] = i;
    for (int bit = 0; bit < 8; bit++)
      table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
  }
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < n; i++)
    crc = crc >> 8 ^ table[(crc ^ p[i]) & 0xff];
  return ~crc;
}

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
    if (out.n > MAX_UNPACKED)
      return fail(ctx, NSR_E_FORMAT, path,
                  "the archive expands to more than 4 GiB", NULL);
  } while (got > 0);
  *tar = out.v;
  *size = out.n;
  return NSR_OK;
}

/* The size that the trailer gives, modulo 2^32; deflate cannot expand by more
 * than 1032, so a claim beyond that is no reason to allocate. */
static size_t expected_size(const uint8_t *data, size_t size) {
  struct nsr_in in = {data + size - 4, 4, false};
  uint64_t claimed = nsr_in_u32(&in);
  return claimed / 1032 <= size ? (size_t)claimed : 0;
}

static bool trailer_holds(const uint8_t *data, size_t size, const uint8_t *out,
                          size_t out_size) {
  struct nsr_in in = {data + size - TRAILER, TRAILER, false};
  return nsr_in_u32(&in) == crc32(out, out_size) &&
         nsr_in_u32(&in) == (uint32_t)out_size;
}

static enum nsr_status unpack(struct nsr_ctx *ctx, const char *path,
                              const uint8_t *data, size_t size,
                              const uint8_t **out, size_t *out_size) {
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
        inflate_all(ctx, path, a, expected_size(data, size), out, out_size);
  archive_read_free(a);
  return status;
}

enum nsr_status nsr_gunzip(struct nsr_ctx *ctx, const char *path,
                           const uint8_t *data, size_t size,
                           const uint8_t **out, size_t *out_size) {
  if (size < LEAST)
    return fail(ctx, NSR_E_FORMAT, path, "the archive is cut off", NULL);
  NSR_TRY(unpack(ctx, path, data, size, out, out_size));
  if (!trailer_holds(data, size, *out, *out_size))
    return fail(ctx, NSR_E_FORMAT, path,
                "the archive is damaged, or no single gzip stream: its last "
                "bytes are not the checksum and size of what it holds",
                NULL);
  return NSR_OK;
}

/* ---- packing */

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

/* Onto the sink, without a time. */
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

enum nsr_status nsr_gzip(struct nsr_ctx *ctx, const char *path,
                         struct nsr_blob before, struct nsr_blob data,
                         const uint8_t **out, size_t *out_size) {
  struct sink s = {.ctx = ctx};
  NSR_TRY(sink_add(&s, before.data, before.size));
  NSR_TRY(pack(&s, path, data.data, data.size));
  *out = s.bytes.v;
  *out_size = s.bytes.n;
  return NSR_OK;
}
