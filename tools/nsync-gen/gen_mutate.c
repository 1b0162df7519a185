/* gen_mutate.c - nsync-gen mutate: a kernel with one mistake. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <nsr/gen.h>

#include "common.h"
#include "gen_edit.h"

static const char usage[] =
    "usage: nsync-gen mutate --operator=NAME|NUMBER [--index=K] FILE -o OUT\n"
    "       nsync-gen mutate --operator=NAME|NUMBER --count FILE\n"
    "       nsync-gen mutate --list\n"
    "\n"
    "Makes a kernel with one mistake, to see whether a judge finds it.\n"
    "\n"
    "  -o, --output=OUT     where the mutant goes (\"-\" is standard output)\n"
    "      --operator=OP    which kind of mistake, by name or number\n"
    "      --index=K        the K-th place for it, from 0 (the default)\n"
    "      --count          print how many places there are\n"
    "      --list           print the operators' numbers and names\n"
    "      --help           print this\n"
    "      --version        print the version\n"
    "\n"
    "Exit: 0 done, 1 there is no such place, 2 usage, 3 unreadable or "
    "malformed\n"
    "input, or I/O.\n";

struct request {
  const char *file, *out;
  const struct nsr_operator *op;
  uint64_t index;
  bool count, list;
};

static enum nsr_status print(struct tool *t, const struct request *r,
                             uint64_t count) {
  char *text = NULL;
  size_t n = 0;
  FILE *out = open_memstream(&text, &n);
  if (!out)
    return NSR_E_NOMEM;
  if (r->count)
    fprintf(out, "%" PRIu64 "\n", count);
  for (const struct nsr_operator *op = nsr_operators; r->list && op->number;
       op++) {
    fprintf(out, "%2d %-20s %s\n", op->number, op->name, op->about);
    if (op->instead)
      fprintf(out, "%24sno file: %s\n", "", op->instead);
  }
  enum nsr_status status =
      fclose(out) == 0 ? tool_write(t, "-", text, n) : NSR_E_NOMEM;
  free(text);
  return status;
}

static enum nsr_status run(struct tool *t, const struct request *r) {
  struct nsr_kernel *k, *mutant;
  const char *what;
  uint64_t places;
  const uint8_t *data;
  size_t n;
  NSR_TRY(nsr_kernel_load(t->ctx, r->file, &k));
  NSR_TRY(nsr_mutate(t->ctx, k, r->op, r->count ? UINT64_MAX : r->index,
                     &mutant, &what, &places));
  if (r->count)
    return print(t, r, places);
  if (!mutant)
    return nsr_fail(t->ctx, NSR_E_REFUSED, NSR_NOWHERE,
                    "%s: %" PRIu64 " places for %s, none has number %" PRIu64,
                    r->file, places, r->op->name, r->index);
  nsr_say(t->ctx, NSR_NOTE, NSR_NOWHERE, "%s", what);
  NSR_TRY(nsr_kernel_check(t->ctx, mutant));
  NSR_TRY(nsr_kernel_write(t->ctx, mutant, &data, &n));
  return tool_write(t, r->out, data, n);
}

static bool option(struct tool *t, struct request *r, int c) {
  switch (c) {
  case 'o':
    r->out = optarg;
    return tool_named(t, "OUT", r->out);
  case 'p':
    r->op = nsr_operator_parse(optarg);
    return r->op || tool_refuse(t,
                                "--operator=%s: not known; --list prints "
                                "which there are",
                                optarg);
  case 'i':
    return tool_number(t, "--index", optarg, UINT64_MAX - 1, &r->index);
  case 'c':
    return r->count = true;
  case 'l':
    return r->list = true;
  default:
    return false;
  }
}

static bool complete(struct tool *t, const struct request *r) {
  if (r->list)
    return tool_operands(t, 0, "no FILE");
  if (!r->op)
    return tool_refuse(t, "expected --operator");
  if (!r->count && !r->out)
    return tool_refuse(t, "expected -o OUT");
  return tool_operands(t, 1, "one FILE");
}

int gen_mutate(int argc, char **argv) {
  static const struct option known[] = {
      {"output", required_argument, NULL, 'o'},
      {"operator", required_argument, NULL, 'p'},
      {"index", required_argument, NULL, 'i'},
      {"count", no_argument, NULL, 'c'},
      {"list", no_argument, NULL, 'l'},
      TOOL_OPTIONS};
  struct tool t;
  struct request r = {.file = NULL};
  int c;
  if (!tool_start(&t, "nsync-gen mutate", usage, argc, argv))
    return tool_exit(&t, NSR_E_NOMEM);
  while ((c = tool_option(&t, "o:", known)) != TOOL_DONE)
    if (!option(&t, &r, c))
      return tool_stop(&t);
  if (!complete(&t, &r))
    return tool_stop(&t);
  if (r.list)
    return tool_exit(&t, print(&t, &r, 0));
  r.file = argv[optind];
  return tool_exit(&t, run(&t, &r));
}
