/* nsync-rewrite - takes the barriers out of kernels. */
#include <stdio.h>
#include <string.h>

#include <nsr/rewrite.h>

#include "common.h"

static const char usage[] =
    "usage: nsync-rewrite [OPTIONS] IN -o OUT\n"
    "\n"
    "Replaces the barriers of each kernel in IN (an object or a .neff\n"
    "archive; \"-\" is standard input) by counted waits, judges the result\n"
    "against the input, and writes OUT only if every kernel passed. A file\n"
    "in which there is nothing to do is copied byte for byte.\n"
    "\n"
    "  -o, --output=OUT     where the result goes; \"-\" is standard output\n"
    "      --json=FILE      the report as JSON, one line for each kernel;\n"
    "                       \"-\" is standard output, instead of the text\n"
    "      --verify=cosim   judge by co-simulation (the default)\n"
    "      --verify=none    do not judge\n"
    "      --strict         write nothing where something stays undecided or\n"
    "                       a barrier was kept (exit 4)\n"
    "      --registers=N    at most N new registers for each engine\n"
    "      --semaphores=N   at most N semaphores\n"
    "      --seed=N         of the inputs and schedules tried\n"
    "      --quiet          no report on standard output, no notes\n"
    "      --help           print this\n"
    "      --version        print the version\n"
    "\n"
    "Exit: 0 written, 1 refused or refuted, 2 usage, 3 unreadable or\n"
    "malformed input or I/O, 4 undecided (--strict), 70 internal error.\n";

struct request {
  const char *in, *out, *json;
  bool quiet;
  struct nsr_rewrite_options options;
};

/* What became of the kernels that got as far as a verdict. */
struct results {
  struct nsr_rewrite_report *report;
  const char **path;
  uint32_t n;
};

static enum nsr_status one(struct tool *t, const struct request *r,
                           const struct nsr_container *c, uint32_t i,
                           struct nsr_blob *out, struct results *all) {
  const struct nsr_member *m = &c->members[i];
  struct nsr_rewrite_report *result = &all->report[all->n];
  struct nsr_kernel *k, *rewritten;
  NSR_TRY(nsr_container_kernel(t->ctx, c, i, &k));
  enum nsr_status status =
      nsr_rewrite(t->ctx, k, m->data, m->size, &r->options, &rewritten, result);
  if (status == NSR_OK || result->judged)
    all->path[all->n++] = m->path;
  if (status == NSR_OK && result->changed)
    status = nsr_kernel_write(t->ctx, rewritten, &out->data, &out->size);
  return status;
}

/* Goes on behind a kernel that fails, so that all of them are reported. */
static enum nsr_status each(struct tool *t, const struct request *r,
                            const struct nsr_container *c,
                            struct nsr_blob *blobs, struct results *all) {
  enum nsr_status worst = NSR_OK;
  bool any = false;
  for (uint32_t i = 0; i < c->nmembers; i++) {
    if (!c->members[i].is_kernel)
      continue;
    any = true;
    enum nsr_status status = one(t, r, c, i, &blobs[i], all);
    worst = worst == NSR_OK ? status : worst;
    if (status == NSR_E_NOMEM)
      break;
  }
  if (!any)
    return nsr_fail(t->ctx, NSR_E_FORMAT,
                    (struct nsr_place){.file = c->path, .insn = -1},
                    "no member is a kernel");
  return worst;
}

/* All reports as one text; out NULL: nothing was written. */
static enum nsr_status text(struct tool *t, const struct results *all,
                            const char *out, bool json, const char **joined) {
  const char **parts = tool_alloc(t, all->n * sizeof *parts);
  size_t size = 1;
  if (!parts)
    return NSR_E_NOMEM;
  for (uint32_t i = 0; i < all->n; i++) {
    const struct nsr_rewrite_report *r = &all->report[i];
    NSR_TRY(json ? nsr_report_json(t->ctx, r, all->path[i], out, &parts[i])
                 : nsr_report_text(t->ctx, r, all->path[i], out, &parts[i]));
    size += strlen(parts[i]);
  }
  char *whole = tool_alloc(t, size), *end = whole;
  if (!whole)
    return NSR_E_NOMEM;
  for (uint32_t i = 0; i < all->n; i++)
    end = stpcpy(end, parts[i]);
  *joined = whole;
  return NSR_OK;
}

/* The text goes to standard output unless something else is there. */
static enum nsr_status print(struct tool *t, const struct request *r,
                             const struct results *all, const char *out) {
  const char *s;
  if (r->json) {
    NSR_TRY(text(t, all, out, true, &s));
    NSR_TRY(tool_write(t, r->json, s, strlen(s)));
  }
  if (r->quiet || (r->json && strcmp(r->json, "-") == 0))
    return NSR_OK;
  NSR_TRY(text(t, all, out, false, &s));
  if (strcmp(r->out, "-") != 0)
    return tool_write(t, "-", s, strlen(s));
  fputs(s, stderr);
  return NSR_OK;
}

static enum nsr_status rewrite(struct tool *t, const struct request *r,
                               const struct nsr_container *c,
                               struct results *all) {
  const uint8_t *data;
  size_t size;
  struct nsr_blob *blobs = tool_alloc(t, c->nmembers * sizeof *blobs);
  all->report = tool_alloc(t, c->nmembers * sizeof *all->report);
  all->path = tool_alloc(t, c->nmembers * sizeof *all->path);
  if (!blobs || !all->report || !all->path)
    return NSR_E_NOMEM;
  NSR_TRY(each(t, r, c, blobs, all));
  NSR_TRY(nsr_container_write(t->ctx, c, blobs, &data, &size));
  return tool_write(t, r->out, data, size);
}

static enum nsr_status run(struct tool *t, const struct request *r) {
  const uint8_t *data;
  size_t size;
  struct nsr_container *c;
  struct results all = {0};
  const char *path = strcmp(r->in, "-") == 0 ? "<stdin>" : r->in;
  NSR_TRY(nsr_file_read(t->ctx, r->in, &data, &size));
  NSR_TRY(nsr_container_read(t->ctx, path, data, size, &c));
  enum nsr_status status = rewrite(t, r, c, &all);
  enum nsr_status printed = NSR_OK;
  if (all.n)
    printed = print(t, r, &all, status == NSR_OK ? r->out : NULL);
  return status == NSR_OK ? printed : status;
}

static bool verify(struct tool *t, struct request *r, const char *how) {
  if (strcmp(how, "cosim") == 0)
    r->options.verify = NSR_VERIFY_COSIM;
  else if (strcmp(how, "none") == 0)
    r->options.verify = NSR_VERIFY_NONE;
  else
    return tool_refuse(t, "--verify=%s: expected cosim or none", how);
  return true;
}

static bool limit(struct tool *t, const char *option, uint32_t *to) {
  uint64_t v;
  if (!tool_number(t, option, optarg, UINT32_MAX, &v))
    return false;
  *to = (uint32_t)v;
  return true;
}

/* false: said what is wrong with the option. */
static bool option(struct tool *t, struct request *r, int c) {
  switch (c) {
  case 'o':
    r->out = optarg;
    return true;
  case 'j':
    r->json = optarg;
    return true;
  case 'v':
    return verify(t, r, optarg);
  case 's':
    r->options.strict = true;
    return true;
  case 'r':
    r->options.limit_registers = true;
    return limit(t, "--registers", &r->options.max_registers);
  case 'm':
    r->options.limit_semaphores = true;
    return limit(t, "--semaphores", &r->options.max_semaphores);
  case 'e':
    return tool_number(t, "--seed", optarg, UINT64_MAX, &r->options.judge.seed);
  case 'q':
    r->quiet = t->quiet = true;
    return true;
  default:
    return false;
  }
}

int main(int argc, char **argv) {
  static const struct option options[] = {
      {"output", required_argument, NULL, 'o'},
      {"json", required_argument, NULL, 'j'},
      {"verify", required_argument, NULL, 'v'},
      {"strict", no_argument, NULL, 's'},
      {"registers", required_argument, NULL, 'r'},
      {"semaphores", required_argument, NULL, 'm'},
      {"seed", required_argument, NULL, 'e'},
      {"quiet", no_argument, NULL, 'q'},
      TOOL_OPTIONS};
  struct tool t;
  struct request r = {0};
  int c;
  if (!tool_start(&t, "nsync-rewrite", usage, argc, argv))
    return tool_exit(&t, NSR_E_NOMEM);
  while ((c = tool_option(&t, "o:", options)) != TOOL_DONE)
    if (!option(&t, &r, c))
      return tool_stop(&t);
  if (!tool_operands(&t, 1, "one IN"))
    return tool_stop(&t);
  if (!r.out)
    return tool_usage(&t, "expected -o OUT");
  if (r.json && strcmp(r.json, "-") == 0 && strcmp(r.out, "-") == 0)
    return tool_usage(&t, "-o and --json cannot both be standard output");
  r.in = argv[optind];
  return tool_exit(&t, run(&t, &r));
}
