/* stage.c - whole files out: written beside their targets, renamed together.
 *
 * What is no regular file has no place beside it; it is written at commit, in
 * front of all renames, because it is more likely to fail than they are.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"

enum { MAX_LINKS = 40 };

struct nsr_staged {
  struct nsr_staged *next;
  const char *path;   /* as given, for messages */
  const char *target; /* path with its last links followed */
  char *temp;         /* beside target, NULL: written in place */
  const uint8_t *data;
  size_t size;
  int fd;       /* written in place: an own descriptor, -1: target is opened */
  bool fresh;   /* there was no target */
  bool placed;  /* target holds the new bytes */
  bool swapped; /* and temp what target held before */
};

static enum nsr_status io_error(struct nsr_ctx *ctx, const char *path,
                                const char *verb) {
  const char *name = strcmp(path, "-") == 0 ? "<stdout>" : path;
  return nsr_fail(ctx, NSR_E_IO, (struct nsr_place){.file = name, .insn = -1},
                  "cannot %s: %s", verb, strerror(errno));
}

/* ---- names */

/* The descriptor of this process that a path names, -1: none. To open such a
 * path anew, or to replace it, would lose what is there already. */
static int own_descriptor(const char *path) {
  int fd = -1, end = 0;
  if (strcmp(path, "-") == 0)
    return STDOUT_FILENO;
  if (sscanf(path, "/dev/fd/%9d%n", &fd, &end) != 1)
    sscanf(path, "/proc/self/fd/%9d%n", &fd, &end);
  return end > 0 && !path[end] ? fd : -1;
}

/* Length of the folder's part of a path, its slash included. */
static size_t folder_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Where a link leads, seen from where the link is; NULL: see errno, or out of
 * memory (which is said). */
static const char *step(struct nsr_ctx *ctx, const char *path) {
  char link[PATH_MAX];
  ssize_t n = readlink(path, link, sizeof link);
  if (n < 0)
    return NULL;
  if ((size_t)n == sizeof link) {
    errno = ENAMETOOLONG;
    return NULL;
  }
  size_t folder = n > 0 && link[0] == '/' ? 0 : folder_length(path);
  char *to =
      nsr_printf(ctx, NSR_KEEP, "%.*s%.*s", (int)folder, path, (int)n, link);
  errno = to ? errno : ENOMEM;
  return to;
}

/* path with links followed as far as its last part is one. */
static const char *follow(struct nsr_ctx *ctx, const char *path) {
  struct stat st;
  for (int i = 0; path && i < MAX_LINKS; i++) {
    if (own_descriptor(path) >= 0 || lstat(path, &st) != 0 ||
        !S_ISLNK(st.st_mode))
      return path;
    path = step(ctx, path);
  }
  if (path)
    errno = ELOOP;
  return NULL;
}

/* Folder (without links) and name of a file that need not exist. */
static char *absolute(struct nsr_ctx *ctx, const char *path) {
  size_t n = folder_length(path);
  char *folder = nsr_printf(ctx, NSR_KEEP, "%.*s.", (int)n, path);
  char *real = folder ? realpath(folder, NULL) : NULL;
  char *whole =
      real ? nsr_printf(ctx, NSR_KEEP, "%s/%s", real, path + n) : NULL;
  free(real);
  return whole;
}

bool nsr_file_same(struct nsr_ctx *ctx, const char *a, const char *b) {
  struct stat x, y;
  if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
    return false;
  bool is = stat(a, &x) == 0, other = stat(b, &y) == 0;
  if (is != other)
    return false;
  if (is)
    return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
  const char *left = follow(ctx, a), *right = follow(ctx, b);
  left = left ? absolute(ctx, left) : NULL;
  right = right ? absolute(ctx, right) : NULL;
  return left && right && strcmp(left, right) == 0;
}

/* ---- staging */

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

/* With the permissions that target has or would get. */
static bool give_mode(int fd, const char *target) {
  struct stat st;
  mode_t mask = umask(0);
  umask(mask);
  mode_t mode = stat(target, &st) == 0 ? st.st_mode & 07777 : 0666 & ~mask;
  return fchmod(fd, mode) == 0;
}

/* The temporary name is short: target's own may be as long as names can be. */
static enum nsr_status write_beside(struct nsr_ctx *ctx, struct nsr_staged *s) {
  char *temp = nsr_printf(ctx, NSR_KEEP, "%.*s.nsr-XXXXXX",
                          (int)folder_length(s->target), s->target);
  if (!temp)
    return NSR_E_NOMEM;
  int fd = mkstemp(temp);
  if (fd < 0)
    return io_error(ctx, s->path, "create");
  bool good = give_mode(fd, s->target) && write_all(fd, s->data, s->size);
  int error = errno;
  if (close(fd) != 0 && good) {
    good = false;
    error = errno;
  }
  if (!good) {
    unlink(temp);
    errno = error;
    return io_error(ctx, s->path, "write");
  }
  s->temp = temp;
  return NSR_OK;
}

/* Finds out how target is to be written, and writes what can be written now. */
static enum nsr_status prepare(struct nsr_ctx *ctx, struct nsr_staged *s) {
  struct stat st;
  if (!*s->path)
    errno = ENOENT;
  s->target = *s->path ? follow(ctx, s->path) : NULL;
  if (!s->target)
    return errno == ENOMEM ? NSR_E_NOMEM : io_error(ctx, s->path, "write");
  s->fd = own_descriptor(s->target);
  if (s->fd >= 0)
    return NSR_OK;
  bool exists = stat(s->target, &st) == 0;
  s->fresh = !exists;
  bool names_folder = !s->target[folder_length(s->target)];
  if (exists ? S_ISDIR(st.st_mode) : names_folder) {
    errno = EISDIR;
    return io_error(ctx, s->path, "write");
  }
  return exists && !S_ISREG(st.st_mode) ? NSR_OK : write_beside(ctx, s);
}

enum nsr_status nsr_file_stage(struct nsr_ctx *ctx, struct nsr_staged **all,
                               const char *path, const uint8_t *data,
                               size_t size) {
  struct nsr_staged *s;
  NSR_NEW(ctx, NSR_KEEP, s, 1);
  *s = (struct nsr_staged){.path = path, .data = data, .size = size, .fd = -1};
  NSR_TRY(prepare(ctx, s));
  while (*all)
    all = &(*all)->next;
  *all = s;
  return NSR_OK;
}

/* ---- commit */

static bool write_in_place(const struct nsr_staged *s) {
  if (s->fd >= 0)
    return write_all(s->fd, s->data, s->size);
  int fd = open(s->target, O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  bool good = write_all(fd, s->data, s->size);
  int error = errno;
  if (close(fd) != 0 && good)
    return false;
  errno = error;
  return good;
}

static bool exchange(const char *a, const char *b) {
#ifdef RENAME_EXCHANGE
  return renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) == 0;
#else
  (void)a, (void)b;
  return false;
#endif
}

/* Names are exchanged rather than replaced where others are yet to be renamed
 * and may fail. */
static bool place(struct nsr_staged *s, bool last) {
  s->swapped = !last && !s->fresh && exchange(s->temp, s->target);
  s->placed = s->swapped || rename(s->temp, s->target) == 0;
  return s->placed;
}

static bool write_all_in_place(struct nsr_staged *s, struct nsr_staged **bad) {
  for (; s; s = s->next)
    if (!s->temp && !write_in_place(s)) {
      *bad = s;
      return false;
    }
  return true;
}

static bool place_all(struct nsr_staged *s, struct nsr_staged **bad) {
  uint32_t left = 0;
  for (const struct nsr_staged *x = s; x; x = x->next)
    left += x->temp != NULL;
  for (; s; s = s->next)
    if (s->temp && !place(s, --left == 0)) {
      *bad = s;
      return false;
    }
  return true;
}

/* What cannot be put back stays where it is, under both names. */
static void put_back(struct nsr_staged *s) {
  for (; s; s = s->next)
    if (s->swapped) {
      s->placed = !exchange(s->temp, s->target);
      s->swapped = false;
    } else if (s->placed && s->fresh) {
      s->placed = rename(s->target, s->temp) != 0;
    }
}

static void forget(struct nsr_staged **all) {
  for (const struct nsr_staged *s = *all; s; s = s->next)
    if (s->temp && (s->swapped || !s->placed))
      unlink(s->temp);
  *all = NULL;
}

enum nsr_status nsr_file_commit(struct nsr_ctx *ctx, struct nsr_staged **all) {
  struct nsr_staged *bad = NULL;
  bool good = write_all_in_place(*all, &bad) && place_all(*all, &bad);
  int error = errno;
  if (!good)
    put_back(*all);
  forget(all);
  errno = error;
  return good ? NSR_OK : io_error(ctx, bad->path, "write");
}

void nsr_file_discard(struct nsr_staged **all) { forget(all); }

enum nsr_status nsr_file_write(struct nsr_ctx *ctx, const char *path,
                               const uint8_t *data, size_t size) {
  struct nsr_staged *all = NULL;
  NSR_TRY(nsr_file_stage(ctx, &all, path, data, size));
  return nsr_file_commit(ctx, &all);
}
