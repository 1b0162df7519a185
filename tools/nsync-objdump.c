/* nsync-objdump - what a kernel file holds: a summary, assembly, JSON, and
 * what the passes make of it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nsr/dump.h>
#include <nsr/text.h>

#include "common.h"

static const char usage[] =
    "usage: nsync-objdump [-d | --json | --dump=STAGES] [--member=NAME]\n"
    "                     [-o OUT] FILE\n"
    "       nsync-objdump --diff [-o OUT] A B\n"
    "\n"
    "Prints what the kernels of FILE (an object or a .neff archive; \"-\" is\n"
    "standard input) hold: a summary unless one of these is given.\n"
    "\n"
    "  -d, --disassemble  assembly text, which nsync-as assembles to FILE\n"
    "      --json         JSON lines, which nsync-as --json assembles to FILE\n"
    "      --dump=STAGES  what the passes of nsync-rewrite make: any of cfg,\n"
    "                     scopes, deps, orders, plan, separated by commas\n"
    "      --scopes       the same as --dump=scopes\n"
    "      --deps         the same as --dump=orders: the dependences, a line\n"
    "                     each: who after whom, kind, the loop that carries "
    "it\n"
    "                     and the distance there, how the output keeps it, "
    "bytes\n"
    "      --dot          --scopes or --deps as a graph in the dot language\n"
    "      --facts=FILE   for these: what is known of the kernel, as for\n"
    "                     nsync-rewrite\n"
    "      --member=NAME  this member of an archive only\n"
    "      --diff         where the code of A and B differs, such as a kernel\n"
    "                     and what became of it, engine by engine\n"
    "  -o, --output=OUT   write there instead of standard output\n"
    "      --help         print this\n"
    "      --version      print the version\n"
    "\n"
    "The text of a file in another layout than this tool's assembles to an "
    "equal\n"
    "kernel, not to the same bytes; a warning says so.\n"
    "Exit: 0 done, 1 refused (by --dump, or a kernel of a kind that is not "
    "read)\n"
    "or different (--diff),\n"
    "2 usage, 3 unreadable or malformed input or I/O.\n";

enum form { SUMMARY, ASSEMBLY, JSON, STAGES, DIFF };

/* What to print, of what, to where. */
struct request {
  const char *in, *out, *member, *facts;
  const char *other; /* to compare with */
  enum form form;
  const char *stages; /* "cfg,plan" */
  bool dot;
};

/* ---- output: pieces, written at the end as one */

struct output {
  char *s;
  size_t n, cap;
  const char *whole; /* all of it, if not NULL: not copied yet */
};

static enum nsr_status add(struct output *o, const char *s, size_t n) {
  if (n == 0) /* and nothing to copy to, maybe */
    return NSR_OK;
  if (o->cap - o->n < n) {
    size_t cap = (o->cap + n) * 2;
    char *grown = realloc(o->s, cap);
    if (!grown)
      return NSR_E_NOMEM;
    o->s = grown;
    o->cap = cap;
  }
  memcpy(o->s + o->n, s, n);
  o->n += n;
  return NSR_OK;
}

static enum nsr_status put(struct output *o, const char *s, size_t n) {
  const char *whole = o->whole;
  size_t first = o->n;
  if (whole) {
    o->whole = NULL;
    o->n = 0;
    NSR_TRY(add(o, whole, first));
  }
  return add(o, s, n);
}

/* Text that stays where it is, and may be all there is. */
static enum nsr_status put_whole(struct output *o, const char *s, size_t n) {
  if (o->n)
    return put(o, s, n);
  o->whole = s;
  o->n = n;
  return NSR_OK;
}

NSR_PRINTF(2, 3)
static enum nsr_status print(struct output *o, const char *fmt, ...) {
  char text[512], *large = NULL;
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  if (n < 0)
    return NSR_E_INTERNAL;
  if ((size_t)n >= sizeof text) {
    va_start(ap, fmt);
    n = vasprintf(&large, fmt, ap);
    va_end(ap);
    if (n < 0)
      return NSR_E_NOMEM;
  }
  enum nsr_status status = put(o, large ? large : text, (size_t)n);
  free(large);
  return status;
}

/* A file's name: it may hold anything. */
static enum nsr_status name(struct output *o, const char *path) {
  size_t n = nsr_escape(path, NULL, 0) + 1;
  char *plain = malloc(n);
  if (!plain)
    return NSR_E_NOMEM;
  nsr_escape(path, plain, n);
  enum nsr_status status = put(o, plain, n - 1);
  free(plain);
  return status;
}

static enum nsr_status comment(struct output *o, const char *text) {
  NSR_TRY(put(o, "; ", 2));
  NSR_TRY(name(o, text));
  return put(o, "\n", 1);
}

/* ---- the summary */

struct counts {
  uint32_t barriers, waits, updates, control;
};

static enum nsr_status count(struct nsr_ctx *ctx, const struct nsr_kernel *k,
                             const struct nsr_stream *s, struct counts *c) {
  struct nsr_insn insn;
  *c = (struct counts){0};
  for (uint32_t i = 0; i < s->n; i++) {
    NSR_TRY(nsr_stream_decode(ctx, k, s, i, &insn));
    c->barriers += insn.desc->cls == NSR_BARRIER;
    c->control += insn.desc->cls == NSR_CONTROL;
    c->waits += insn.wait.cmp != NSR_CMP_NONE;
    c->updates += insn.update.op != NSR_UPD_NONE;
  }
  return NSR_OK;
}

static enum nsr_status engines(struct tool *t, const struct nsr_kernel *k,
                               struct output *o) {
  struct counts c;
  NSR_TRY(print(o, "%-8s %12s %8s %8s %8s %8s %8s  %s\n", "engine",
                "instructions", "control", "barriers", "waits", "updates",
                "labels", "order"));
  for (uint32_t i = 0; i < k->nstreams; i++) {
    const struct nsr_stream *s = &k->streams[i];
    NSR_TRY(count(t->ctx, k, s, &c));
    NSR_TRY(print(o,
                  "%-8s %12" PRIu32 " %8" PRIu32 " %8" PRIu32 " %8" PRIu32
                  " %8" PRIu32 " %8" PRIu32 "  %s\n",
                  k->isa->engines[s->engine], s->n, c.control, c.barriers,
                  c.waits, c.updates, s->nlabels,
                  nsr_order_name(k->pipe_order[s->engine])));
  }
  return NSR_OK;
}

static enum nsr_status queues(const struct nsr_kernel *k, struct output *o) {
  for (uint32_t q = 0; q < k->nqueues; q++)
    NSR_TRY(print(o, "queue %s: fed by %s, order %s\n", k->queues[q].name,
                  k->isa->engines[k->queues[q].engine],
                  nsr_order_name(k->queues[q].order)));
  return NSR_OK;
}

static enum nsr_status tensor(const struct nsr_tensor *t, struct output *o) {
  static const char *const roles[] = {"input", "output", "scratch"};
  NSR_TRY(print(o, "tensor %s: %s %s [", t->name,
                nsr_space_name((enum nsr_space)t->space),
                nsr_dtype_name((enum nsr_dtype)t->dtype)));
  for (int i = 0; i < t->nshape; i++)
    NSR_TRY(print(o, "%s%" PRIu32, i ? ", " : "", t->shape[i]));
  if (t->space == NSR_DRAM)
    NSR_TRY(print(o, "] at %#" PRIx64, t->offset));
  else
    NSR_TRY(print(o, "] at %u:%u, %#" PRIx64, t->part, t->nparts, t->offset));
  NSR_TRY(print(o, ", %" PRIu64 " bytes%s, %s", t->bytes,
                t->space == NSR_DRAM ? "" : " per partition", roles[t->role]));
  if (t->has_range)
    NSR_TRY(print(o, ", values %" PRId32 "..%" PRId32, t->lo, t->hi));
  if (t->data)
    NSR_TRY(print(o, ", %" PRIu64 " bytes of contents", t->data_size));
  return print(o, "\n");
}

static enum nsr_status summary(struct tool *t, const struct nsr_kernel *k,
                               const char *path, struct output *o) {
  NSR_TRY(name(o, path));
  NSR_TRY(print(o, ": kernel \"%s\", %s version %" PRIu32 "\n",
                k->name ? k->name : "", k->isa->name, k->isa->version));
  NSR_TRY(print(o, "owned semaphores %u..%u\n", k->owned_first, k->owned_last));
  NSR_TRY(engines(t, k, o));
  NSR_TRY(queues(k, o));
  for (uint32_t i = 0; i < k->ntensors; i++)
    NSR_TRY(tensor(&k->tensors[i], o));
  for (uint32_t i = 0; i < k->nfiles; i++)
    NSR_TRY(print(o, "source %s\n", k->files[i]));
  for (uint32_t i = 0; i < k->nsections; i++)
    NSR_TRY(print(o, "section %s: type %" PRIu32 ", %" PRIu64 " bytes\n",
                  k->sections[i].name, k->sections[i].type,
                  k->sections[i].size));
  return NSR_OK;
}

/* ---- members */

/* The next stage of a list, -1: it is unknown. */
static int next_stage(const char **list) {
  char name[16] = "";
  size_t n = strcspn(*list, ",");
  memcpy(name, *list, n < sizeof name ? n : 0);
  *list += n + ((*list)[n] == ',');
  return nsr_stage_parse(name);
}

static enum nsr_status stages(struct tool *t, const struct request *r,
                              const struct nsr_kernel *k, struct output *o) {
  struct nsr_rewrite_options options = {0};
  const char *text, *list = r->stages;
  NSR_TRY(tool_facts(t, r->facts, k, &options.judge.facts));
  while (*list) {
    enum nsr_stage stage = (enum nsr_stage)next_stage(&list);
    NSR_TRY(
        (r->dot ? nsr_dump_dot : nsr_dump)(t->ctx, k, stage, &options, &text));
    NSR_TRY(put(o, text, strlen(text)));
  }
  return NSR_OK;
}

/* Text and JSON hold the kernel, not how a file lays it out: what other tools
 * wrote may come back as other bytes. */
static enum nsr_status layout(struct tool *t, const struct nsr_kernel *k,
                              const struct nsr_member *m, enum form form,
                              struct output *o) {
  static const char text[] = "not in the layout of this tool: the text "
                             "assembles to an equal kernel, not to the same "
                             "bytes";
  const uint8_t *data;
  size_t size;
  NSR_TRY(nsr_kernel_write(t->ctx, k, &data, &size));
  if (size == m->size && memcmp(data, m->data, size) == 0)
    return NSR_OK;
  nsr_say(t->ctx, NSR_WARNING, (struct nsr_place){.file = m->path, .insn = -1},
          "%s", text);
  return form == ASSEMBLY ? comment(o, text) : NSR_OK;
}

static enum nsr_status dump(struct tool *t, const struct request *r,
                            const struct nsr_container *c, uint32_t i,
                            bool head, struct output *o) {
  struct nsr_kernel *k;
  const char *text, *path = c->members[i].path;
  size_t n;
  NSR_TRY(nsr_container_kernel(t->ctx, c, i, &k));
  if (r->form == SUMMARY)
    return summary(t, k, path, o);
  if (r->form != JSON && head)
    NSR_TRY(comment(o, path));
  if (r->form == STAGES)
    return stages(t, r, k, o);
  NSR_TRY(layout(t, k, &c->members[i], r->form, o));
  NSR_TRY(r->form == JSON ? nsr_to_json(t->ctx, k, &text, &n)
                          : nsr_disassemble(t->ctx, k, &text, &n));
  return put_whole(o, text, n);
}

static enum nsr_status dump_all(struct tool *t, const struct request *r,
                                const struct nsr_container *c,
                                struct output *o) {
  const char *member = r->member;
  struct nsr_place here = {.file = c->path, .insn = -1};
  bool any = false;
  for (uint32_t i = 0; i < c->nmembers; i++) {
    const struct nsr_member *m = &c->members[i];
    bool named = member && m->name && strcmp(m->name, member) == 0;
    if (member ? !named : !m->is_kernel)
      continue;
    if (any && r->form == SUMMARY)
      NSR_TRY(print(o, "\n"));
    any = true;
    NSR_TRY(dump(t, r, c, i, c->nkernels > 1 && !member, o));
  }
  if (!any && member)
    return nsr_fail(t->ctx, NSR_E_USAGE, here, "no member '%s'", member);
  if (!any)
    return nsr_fail(t->ctx, NSR_E_FORMAT, here, "no member is a kernel");
  return NSR_OK;
}

/* ---- two files */

static enum nsr_status open_file(struct tool *t, const char *name,
                                 struct nsr_container **c) {
  const uint8_t *data;
  size_t size;
  NSR_TRY(nsr_file_read(t->ctx, name, &data, &size));
  return nsr_container_read(t->ctx, strcmp(name, "-") == 0 ? "<stdin>" : name,
                            data, size, c);
}

/* The next kernel from member *i on, nmembers: none. */
static uint32_t next_kernel(const struct nsr_container *c, uint32_t i) {
  while (i < c->nmembers && !c->members[i].is_kernel)
    i++;
  return i;
}

static enum nsr_status diff_kernels(struct tool *t,
                                    const struct nsr_container *a, uint32_t i,
                                    const struct nsr_container *b, uint32_t j,
                                    struct output *o, bool *same) {
  struct nsr_kernel *ka, *kb;
  const char *text;
  bool here;
  NSR_TRY(nsr_container_kernel(t->ctx, a, i, &ka));
  NSR_TRY(nsr_container_kernel(t->ctx, b, j, &kb));
  if (ka->isa != kb->isa)
    return nsr_fail(t->ctx, NSR_E_DIFFERENT,
                    (struct nsr_place){.file = b->members[j].path, .insn = -1},
                    "is for %s, %s is for %s", kb->isa->name,
                    a->members[i].path, ka->isa->name);
  NSR_TRY(nsr_diff(t->ctx, ka, kb, &text, &here));
  *same &= here;
  if (!here && a->nkernels > 1)
    NSR_TRY(comment(o, b->members[j].path));
  return put(o, text, strlen(text));
}

/* Kernels pair as they come. */
static enum nsr_status diff(struct tool *t, const struct request *r) {
  struct nsr_container *a, *b;
  struct output o = {0};
  bool same = true;
  uint32_t j = 0;
  NSR_TRY(open_file(t, r->in, &a));
  NSR_TRY(open_file(t, r->other, &b));
  if (a->nkernels != b->nkernels)
    return nsr_fail(t->ctx, NSR_E_DIFFERENT,
                    (struct nsr_place){.file = b->path, .insn = -1},
                    "holds %u kernels, %s %u", b->nkernels, a->path,
                    a->nkernels);
  enum nsr_status status = NSR_OK;
  for (uint32_t i = next_kernel(a, 0); i < a->nmembers && status == NSR_OK;
       i = next_kernel(a, i + 1)) {
    j = next_kernel(b, j);
    status = diff_kernels(t, a, i, b, j++, &o, &same);
  }
  if (status == NSR_OK)
    status = tool_write(t, r->out, o.s ? o.s : "", o.n);
  free(o.s);
  return status == NSR_OK && !same ? NSR_E_DIFFERENT : status;
}

static enum nsr_status run(struct tool *t, const struct request *r) {
  if (r->form == DIFF)
    return diff(t, r);
  const uint8_t *data;
  size_t size;
  struct nsr_container *c;
  struct output o = {0};
  const char *path = strcmp(r->in, "-") == 0 ? "<stdin>" : r->in;
  NSR_TRY(nsr_file_read(t->ctx, r->in, &data, &size));
  NSR_TRY(nsr_container_read(t->ctx, path, data, size, &c));
  enum nsr_status status = dump_all(t, r, c, &o);
  if (status == NSR_OK)
    status = tool_write(t, r->out, o.whole ? o.whole : o.s ? o.s : "", o.n);
  free(o.s);
  return status;
}

/* ---- the command line */

static bool set_form(struct tool *t, struct request *r, enum form form,
                     const char *list) {
  if (r->form != SUMMARY)
    return tool_refuse(t, "expected one of -d, --json, --dump, --scopes, "
                          "--deps and --diff");
  r->form = form;
  r->stages = list;
  if (list && !*list)
    return tool_refuse(t, "--dump: expected cfg, scopes, deps, orders or plan");
  while (list && *list) {
    const char *at = list;
    if (next_stage(&list) < 0)
      return tool_refuse(
          t, "--dump=%s: expected cfg, scopes, deps, orders or plan", at);
  }
  return true;
}

/* Whether all that is to be printed are graphs. */
static bool graphs(struct tool *t, const struct request *r) {
  const char *list = r->stages;
  bool good = r->form == STAGES;
  while (good && list && *list) {
    int stage = next_stage(&list);
    good = stage == NSR_STAGE_SCOPES || stage == NSR_STAGE_ORDERS;
  }
  return good || tool_refuse(t, "--dot is for --scopes and --deps");
}

static bool facts(struct tool *t, const struct request *r) {
  if (r->form != STAGES)
    return tool_refuse(t, "--facts is for --dump, --scopes and --deps");
  return tool_file(t, "--facts", r->facts) &&
         (!r->out || tool_apart(t, "--facts and OUT", r->facts, r->out));
}

enum {
  OPTION_SCOPES = 'S',
  OPTION_DEPS = 'D',
  OPTION_DUMP = 'P',
  OPTION_FACTS = 'F',
  OPTION_DOT = 'O',
  OPTION_DIFF = 'V'
};

/* false: said what is wrong with the option. */
static bool option(struct tool *t, struct request *r, int c) {
  switch (c) {
  case 'd':
    return set_form(t, r, ASSEMBLY, NULL);
  case 'j':
    return set_form(t, r, JSON, NULL);
  case OPTION_DUMP:
    return set_form(t, r, STAGES, optarg);
  case OPTION_SCOPES:
    return set_form(t, r, STAGES, "scopes");
  case OPTION_DEPS:
    return set_form(t, r, STAGES, "orders");
  case OPTION_DIFF:
    return set_form(t, r, DIFF, NULL);
  case OPTION_DOT:
    r->dot = true;
    return true;
  case 'm':
    r->member = optarg;
    return true;
  case OPTION_FACTS:
    r->facts = optarg;
    return true;
  case 'o':
    r->out = optarg;
    return true;
  default:
    return false;
  }
}

int main(int argc, char **argv) {
  static const struct option options[] = {
      {"disassemble", no_argument, NULL, 'd'},
      {"json", no_argument, NULL, 'j'},
      {"dump", required_argument, NULL, OPTION_DUMP},
      {"scopes", no_argument, NULL, OPTION_SCOPES},
      {"deps", no_argument, NULL, OPTION_DEPS},
      {"facts", required_argument, NULL, OPTION_FACTS},
      {"dot", no_argument, NULL, OPTION_DOT},
      {"diff", no_argument, NULL, OPTION_DIFF},
      {"member", required_argument, NULL, 'm'},
      {"output", required_argument, NULL, 'o'},
      TOOL_OPTIONS};
  struct tool t;
  struct request r = {0};
  int c;
  if (!tool_start(&t, "nsync-objdump", usage, argc, argv))
    return tool_exit(&t, NSR_E_NOMEM);
  while ((c = tool_option(&t, "do:", options)) != TOOL_DONE)
    if (!option(&t, &r, c))
      return tool_stop(&t);
  if (!tool_operands(&t, 1 + (r.form == DIFF),
                     r.form == DIFF ? "A and B" : "one FILE"))
    return tool_stop(&t);
  r.in = argv[optind];
  r.other = r.form == DIFF ? argv[optind + 1] : NULL;
  if (!tool_named(&t, "FILE", r.in) ||
      (r.out && (!tool_named(&t, "OUT", r.out) ||
                 !tool_apart(&t, "FILE and OUT", r.in, r.out))) ||
      (r.facts && !facts(&t, &r)) || (r.dot && !graphs(&t, &r)))
    return tool_stop(&t);
  return tool_exit(&t, run(&t, &r));
}
