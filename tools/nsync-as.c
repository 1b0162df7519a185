/* nsync-as - assembly text or JSON lines to a kernel file. */
#include <stdio.h>

#include <nsr/text.h>

#include "common.h"

static const char usage[] =
    "usage: nsync-as [--json] [--no-check] FILE -o OUT\n"
    "\n"
    "Assembles FILE, or standard input for \"-\", into the kernel file OUT.\n"
    "\n"
    "  -o, --output=OUT  where the kernel goes; \"-\" is standard output\n"
    "      --json        FILE is JSON lines, as nsync-objdump --json prints\n"
    "      --no-check    write kernels that break the rules of the machine,\n"
    "                    too (to test what reads them)\n"
    "      --help        print this\n"
    "      --version     print the version\n"
    "\n"
    "Every error of the text is reported. OUT is written beside its target\n"
    "and renamed, and only where nothing was wrong.\n"
    "Exit: 0 done, 1 refused (a kernel that could not be read back), 2 usage,\n"
    "3 unreadable or malformed input or I/O.\n";

static enum nsr_status run(struct tool *t, const char *in, const char *out,
                           bool json, bool check) {
  const uint8_t *data;
  size_t size;
  struct nsr_kernel *k;
  const char *path = in[0] == '-' && !in[1] ? "<stdin>" : in;
  NSR_TRY(nsr_file_read(t->ctx, in, &data, &size));
  const char *text = (const char *)data;
  NSR_TRY(json ? nsr_from_json(t->ctx, path, text, size, &k)
               : nsr_assemble(t->ctx, path, text, size, &k));
  if (check)
    NSR_TRY(nsr_kernel_check(t->ctx, k));
  NSR_TRY(nsr_kernel_write(t->ctx, k, &data, &size));
  return tool_write(t, out, data, size);
}

int main(int argc, char **argv) {
  static const struct option options[] = {
      {"output", required_argument, NULL, 'o'},
      {"json", no_argument, NULL, 'j'},
      {"no-check", no_argument, NULL, 'n'},
      TOOL_OPTIONS};
  struct tool t;
  const char *out = NULL;
  bool json = false, check = true;
  int c;
  if (!tool_start(&t, "nsync-as", usage, argc, argv))
    return tool_exit(&t, NSR_E_NOMEM);
  while ((c = tool_option(&t, "o:", options)) != TOOL_DONE)
    switch (c) {
    case 'o':
      out = optarg;
      break;
    case 'j':
      json = true;
      break;
    case 'n':
      check = false;
      break;
    default:
      return tool_stop(&t);
    }
  if (!tool_operands(&t, 1, "one FILE"))
    return tool_stop(&t);
  if (!out)
    return tool_usage(&t, "expected -o OUT");
  if (!tool_named(&t, "FILE", argv[optind]) || !tool_named(&t, "OUT", out) ||
      !tool_apart(&t, "FILE and OUT", argv[optind], out))
    return tool_stop(&t);
  return tool_exit(&t, run(&t, argv[optind], out, json, check));
}
