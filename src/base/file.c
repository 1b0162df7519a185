/* file.c - whole files in, whole files out. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"

static enum nsr_status io_error(struct nsr_ctx *ctx, const char *path,
                                const char *verb) {
  return nsr_fail(ctx, NSR_E_IO, (struct nsr_place){.file = path, .insn = -1},
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

static bool write_all(int fd, const uint8_t *data, size_t size) {
  while (size > 0) {
    ssize_t put = write(fd, data, size);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return false;
    data += put;
    size -= (size_t)put;
  }
  return true;
}

/* A new file beside path, with the permissions path has or would get. */
static int open_beside(char *temp, const char *path) {
  int fd = mkstemp(temp);
  if (fd < 0)
    return -1;
  struct stat st;
  mode_t mask = umask(0);
  umask(mask);
  mode_t mode = stat(path, &st) == 0 ? st.st_mode & 07777 : 0666 & ~mask;
  if (fchmod(fd, mode) != 0) {
    close(fd);
    unlink(temp);
    return -1;
  }
  return fd;
}

static enum nsr_status write_beside(struct nsr_ctx *ctx, const char *path,
                                    const uint8_t *data, size_t size) {
  char *temp = nsr_printf(ctx, NSR_KEEP, "%s.XXXXXX", path);
  if (!temp)
    return NSR_E_NOMEM;
  int fd = open_beside(temp, path);
  if (fd < 0)
    return io_error(ctx, path, "create");
  bool written = write_all(fd, data, size);
  int error = errno;
  if (close(fd) != 0 && written) {
    written = false;
    error = errno;
  }
  if (written && rename(temp, path) == 0)
    return NSR_OK;
  if (written)
    error = errno;
  unlink(temp);
  errno = error;
  return io_error(ctx, path, "write");
}

enum nsr_status nsr_file_write(struct nsr_ctx *ctx, const char *path,
                               const uint8_t *data, size_t size) {
  struct stat st;
  if (strcmp(path, "-") == 0)
    return write_all(STDOUT_FILENO, data, size) ? NSR_OK
                                                : io_error(ctx, path, "write");
  /* a device or pipe cannot be replaced by a rename */
  if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
    if (S_ISDIR(st.st_mode)) {
      errno = EISDIR;
      return io_error(ctx, path, "write");
    }
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write_all(fd, data, size);
    if (fd >= 0)
      close(fd);
    return ok ? NSR_OK : io_error(ctx, path, "write");
  }
  return write_beside(ctx, path, data, size);
}
