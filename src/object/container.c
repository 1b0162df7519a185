/* container.c - files that hold kernels, uniformly: a plain object is a
 * container of one member, an archive (neff.c) one of many.
 */
#include <string.h>

#include "base/arena.h"
#include "object/format.h"

static enum nsr_status read_plain(struct nsr_ctx *ctx, const uint8_t *data,
                                  size_t size, struct nsr_container *c) {
  struct nsr_member *member;
  NSR_NEW(ctx, NSR_KEEP, member, 1);
  *member = (struct nsr_member){
      .path = c->path, .data = data, .size = size, .is_kernel = true};
  c->members = member;
  c->nmembers = 1;
  c->nkernels = 1;
  return NSR_OK;
}

enum nsr_status nsr_container_read(struct nsr_ctx *ctx, const char *path,
                                   const uint8_t *data, size_t size,
                                   struct nsr_container **out) {
  struct nsr_container *c;
  NSR_NEW(ctx, NSR_KEEP, c, 1);
  if (path && !(c->path = nsr_strndup(ctx, NSR_KEEP, path, strlen(path))))
    return NSR_E_NOMEM;
  if (nsr_neff_detect(data, size))
    NSR_TRY(nsr_neff_read(ctx, data, size, c));
  else
    NSR_TRY(read_plain(ctx, data, size, c));
  *out = c;
  return NSR_OK;
}

enum nsr_status nsr_container_kernel(struct nsr_ctx *ctx,
                                     const struct nsr_container *c, uint32_t i,
                                     struct nsr_kernel **k) {
  const struct nsr_member *m = &c->members[i];
  struct nsr_kernel *kernel;
  NSR_TRY(nsr_kernel_read_here(ctx, m->path, m->data, m->size, &kernel));
  NSR_TRY(nsr_kernel_check(ctx, kernel));
  *k = kernel;
  return NSR_OK;
}

enum nsr_status nsr_container_write(struct nsr_ctx *ctx,
                                    const struct nsr_container *c,
                                    const struct nsr_blob *replace,
                                    const uint8_t **data, size_t *size) {
  if (c->archive)
    return nsr_neff_write(ctx, c, replace, data, size);
  *data = replace[0].data ? replace[0].data : c->members[0].data;
  *size = replace[0].data ? replace[0].size : c->members[0].size;
  return NSR_OK;
}

/* Says that an archive holds no kernel, or names those that it holds. */
static enum nsr_status not_one(struct nsr_ctx *ctx,
                               const struct nsr_container *c) {
  enum { SHOWN = 8 };
  struct nsr_place here = {.file = c->path, .insn = -1};
  if (c->nkernels == 0)
    return nsr_fail(ctx, NSR_E_FORMAT, here, "no member is a kernel");
  struct nsr_strbuf b;
  const char *list;
  uint32_t shown = 0;
  nsr_strbuf_init(&b, ctx, NSR_KEEP);
  for (uint32_t i = 0; i < c->nmembers && shown < SHOWN; i++)
    if (c->members[i].is_kernel)
      nsr_strbuf_printf(&b, "%s%s", shown++ ? ", " : ": ", c->members[i].name);
  if (c->nkernels > shown)
    nsr_strbuf_puts(&b, ", ...");
  NSR_TRY(nsr_strbuf_done(&b, &list, NULL));
  return nsr_fail(ctx, NSR_E_USAGE, here,
                  "this archive holds %u kernels, expected one%s", c->nkernels,
                  list);
}

enum nsr_status nsr_kernel_load(struct nsr_ctx *ctx, const char *path,
                                struct nsr_kernel **k) {
  const uint8_t *data;
  size_t size;
  struct nsr_container *c;
  NSR_TRY(nsr_file_read(ctx, path, &data, &size));
  NSR_TRY(nsr_container_read(ctx, path, data, size, &c));
  if (c->nkernels != 1)
    return not_one(ctx, c);
  uint32_t i = 0;
  while (!c->members[i].is_kernel)
    i++;
  return nsr_container_kernel(ctx, c, i, k);
}
