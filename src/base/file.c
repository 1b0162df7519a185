/* file.c - whole files in. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"

static enum nsr_status io_error(struct nsr_ctx *ctx, const char *path,
                                const char *verb) {
  const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
  return nsr_fail(ctx, NSR_E_IO, (struct nsr_place){.file = name, .insn = -1},
                  "cannot %s: %s", verb, strerror(errno));
}

/* Reads until the end; the caller closes. */
static enum nsr_status read_all(struct nsr_ctx *ctx, const char *path, int fd,
                                size_t expect, const uint8_t **data,
                                size_t *size) {
  NSR_VEC(uint8_t) buf = {0};
  NSR_RESERVE(ctx, NSR_KEEP, &buf, expect + 2);
  for (;;) {
    NSR_RESERVE(ctx, NSR_KEEP, &buf, 2);
    ssize_t got = read(fd, buf.v + buf.n, buf.cap - buf.n - 1);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return io_error(ctx, path, "read");
    if (got == 0)
      break;
    buf.n += (size_t)got;
  }
  buf.v[buf.n] = 0;
  *data = buf.v;
  *size = buf.n;
  return NSR_OK;
}

enum nsr_status nsr_file_read(struct nsr_ctx *ctx, const char *path,
                              const uint8_t **data, size_t *size) {
  bool standard = strcmp(path, "-") == 0;
  int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return io_error(ctx, path, "open");
  struct stat st;
  enum nsr_status status;
  if (fstat(fd, &st) != 0)
    status = io_error(ctx, path, "read");
  else
    status =
        read_all(ctx, path, fd, S_ISREG(st.st_mode) ? (size_t)st.st_size : 4096,
                 data, size);
  if (!standard)
    close(fd);
  return status;
}
