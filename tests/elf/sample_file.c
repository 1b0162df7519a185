/* sample_file.c - for tools-test.sh: writes the sample kernel to a file, with
 * or without sections of others, or reads a kernel and writes it again. */
#include "../unit/sample_kernel.h"

static int report(struct nsr_ctx *ctx, enum nsr_status status) {
  char text[400] = "";
  if (status == NSR_OK)
    return 0;
  if (nsr_ctx_first_error(ctx))
    nsr_diag_format(nsr_ctx_first_error(ctx), text, sizeof text);
  fprintf(stderr, "%s\n", text);
  return 1;
}

static enum nsr_status make(struct nsr_ctx *ctx, bool others, const char *to) {
  static struct sample s;
  const uint8_t *data;
  size_t size;
  sample_make(&s);
  s.k.nsections = others ? NSECTIONS : 0;
  NSR_TRY(nsr_kernel_check(ctx, &s.k));
  NSR_TRY(nsr_kernel_write(ctx, &s.k, &data, &size));
  return nsr_file_write(ctx, to, data, size);
}

/* Prints what else it found, one section a line. */
static enum nsr_status again(struct nsr_ctx *ctx, const char *from,
                             const char *to) {
  struct nsr_kernel *k;
  const uint8_t *data;
  size_t size;
  NSR_TRY(nsr_kernel_load(ctx, from, &k));
  for (uint32_t i = 0; i < k->nsections; i++)
    printf("%s %.*s\n", k->sections[i].name, (int)k->sections[i].size,
           (const char *)k->sections[i].data);
  NSR_TRY(nsr_kernel_write(ctx, k, &data, &size));
  return nsr_file_write(ctx, to, data, size);
}

int main(int argc, char **argv) {
  struct nsr_ctx *ctx = nsr_ctx_new();
  int code = 2;
  if (ctx && argc == 3 && strcmp(argv[1], "plain") == 0)
    code = report(ctx, make(ctx, false, argv[2]));
  else if (ctx && argc == 3 && strcmp(argv[1], "others") == 0)
    code = report(ctx, make(ctx, true, argv[2]));
  else if (ctx && argc == 4 && strcmp(argv[1], "again") == 0)
    code = report(ctx, again(ctx, argv[2], argv[3]));
  else
    fprintf(stderr, "usage: sample_file plain|others OUT; again IN OUT\n");
  nsr_ctx_free(ctx);
  return code;
}
