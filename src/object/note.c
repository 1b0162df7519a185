/* note.c - .note.nsr: what kind of kernel this is, as lines of text (note.h):
 *
 *   nsr 1                    the version of this note
 *   isa NAME VERSION
 *   kernel NAME
 *   owned FIRST LAST         owned semaphores
 *   engine NAME ORDER        each of the ISA, in its order
 *   queue ENGINE ORDER NAME  each
 *
 * There is one way to write it: what was understood is written again and must
 * be the same.
 */
#include "object/note.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "object/format.h"

#define FIRST_LINE "nsr 1"

void nsr_note_put(struct nsr_strbuf *b, const char *text) {
  size_t n = strlen(text) + 1;
  nsr_put_u32(b, (uint32_t)n);
  nsr_put_u32(b, 0);
  nsr_put_u32(b, NT_VERSION);
  nsr_strbuf_add(b, text, n);
  nsr_strbuf_add(b, "\0\0\0", (4 - n % 4) % 4);
}

const char *nsr_note_next(struct nsr_in *in) {
  size_t n = nsr_in_u32(in);
  uint32_t descriptor = nsr_in_u32(in);
  uint32_t type = nsr_in_u32(in);
  const uint8_t *p = in->bad ? NULL : nsr_in_bytes(in, (n + 3) / 4 * 4);
  if (!p || n == 0 || descriptor || type != NT_VERSION ||
      memchr(p, 0, n) != p + n - 1) {
    in->bad = true;
    return NULL;
  }
  return (const char *)p;
}

/* The next line, "" where there is none. */
static const char *line(struct nsr_in *in) {
  const char *text = nsr_note_next(in);
  return text ? text : "";
}

static int parse_order(const char *s) {
  for (int o = 0; o <= NSR_ORDER_FULL; o++)
    if (strcmp(s, nsr_order_name((enum nsr_order)o)) == 0)
      return o;
  return -1;
}

/* ---- reading */

static enum nsr_status read_isa(struct nsr_reader *r, struct nsr_in *in) {
  char name[64];
  unsigned version;
  struct nsr_place place = {.file = r->path, .insn = -1};
  if (sscanf(line(in), "isa %63s %9u", name, &version) != 2)
    return nsr_part_fail(r, NSR_PART_NOTE, "it names no instruction set");
  r->k->isa = nsr_isa_by_name(name);
  if (!r->k->isa)
    return nsr_fail(r->ctx, NSR_E_FORMAT, place,
                    "the kernel is for instruction set %s, which is not known",
                    name);
  if (r->k->isa->version != version)
    return nsr_fail(r->ctx, NSR_E_FORMAT, place,
                    "the kernel is for version %u of instruction set %s, "
                    "known is version %u",
                    version, name, r->k->isa->version);
  return NSR_OK;
}

static enum nsr_status read_names(struct nsr_reader *r, struct nsr_in *in) {
  const char *kernel = line(in);
  unsigned first, last;
  if (strncmp(kernel, "kernel ", 7) != 0)
    return nsr_part_fail(r, NSR_PART_NOTE, "it does not name the kernel");
  r->k->name = kernel + 7;
  if (sscanf(line(in), "owned %5u %5u", &first, &last) != 2 ||
      first > UINT16_MAX || last > UINT16_MAX)
    return nsr_part_fail(r, NSR_PART_NOTE, "it gives no owned semaphores");
  r->k->owned_first = (uint16_t)first;
  r->k->owned_last = (uint16_t)last;
  return NSR_OK;
}

static enum nsr_status read_engine(struct nsr_reader *r, struct nsr_in *in,
                                   int e) {
  char name[64], order[16];
  if (sscanf(line(in), "engine %63s %15s", name, order) != 2 ||
      strcmp(name, r->k->isa->engines[e]) != 0 || parse_order(order) < 0)
    return nsr_part_fail(r, NSR_PART_NOTE,
                         "it does not list the instruction set's engines");
  r->k->pipe_order[e] = (enum nsr_order)parse_order(order);
  return NSR_OK;
}

static enum nsr_status read_queue(struct nsr_reader *r, struct nsr_in *in,
                                  struct nsr_queue *q) {
  char engine[64], order[16];
  const char *text = line(in);
  if (sscanf(text, "queue %63s %15s", engine, order) != 2 ||
      nsr_isa_engine(r->k->isa, engine) < 0 || parse_order(order) < 0)
    return nsr_part_fail(r, NSR_PART_NOTE,
                         "a queue has no known engine or order");
  size_t name = sizeof "queue" + strlen(engine) + 1 + strlen(order) + 1;
  q->engine = (uint8_t)nsr_isa_engine(r->k->isa, engine);
  q->order = (enum nsr_order)parse_order(order);
  q->name = strlen(text) > name ? text + name : "";
  return NSR_OK;
}

static enum nsr_status read_queues(struct nsr_reader *r, struct nsr_in *in) {
  struct nsr_queue *queues;
  NSR_NEW(r->ctx, NSR_KEEP, queues, NSR_MAX_QUEUES);
  while (in->left > 0) {
    if (r->k->nqueues == NSR_MAX_QUEUES)
      return nsr_part_fail(r, NSR_PART_NOTE, "it lists too many queues");
    NSR_TRY(read_queue(r, in, &queues[r->k->nqueues++]));
  }
  r->k->queues = queues;
  return NSR_OK;
}

static enum nsr_status compare(struct nsr_reader *r) {
  const struct nsr_in *in = &r->parts[NSR_PART_NOTE];
  struct nsr_strbuf b;
  const char *bytes;
  size_t n;
  nsr_strbuf_init(&b, r->ctx, NSR_SCRATCH);
  nsr_note_write(r->k, &b);
  NSR_TRY(nsr_strbuf_done(&b, &bytes, &n));
  if (n != in->left || memcmp(bytes, in->p, n) != 0)
    return nsr_part_fail(r, NSR_PART_NOTE, "it is not written as it should be");
  return NSR_OK;
}

enum nsr_status nsr_note_read(struct nsr_reader *r) {
  struct nsr_in in = r->parts[NSR_PART_NOTE];
  if (strcmp(line(&in), FIRST_LINE) != 0)
    return nsr_part_fail(r, NSR_PART_NOTE,
                         "its first line is not \"" FIRST_LINE "\"");
  NSR_TRY(read_isa(r, &in));
  NSR_TRY(read_names(r, &in));
  for (int e = 0; e < r->k->isa->nengines; e++)
    NSR_TRY(read_engine(r, &in, e));
  NSR_TRY(read_queues(r, &in));
  return compare(r);
}

/* ---- writing */

/* A line made by nsr_printf, NULL where memory was short. */
static void put_line(struct nsr_strbuf *b, const char *text) {
  if (text)
    nsr_note_put(b, text);
  else
    b->failed = true;
}

void nsr_note_write(const struct nsr_kernel *k, struct nsr_strbuf *b) {
  struct nsr_ctx *ctx = b->ctx;
  const struct nsr_isa *isa = k->isa;
  nsr_note_put(b, FIRST_LINE);
  put_line(b, nsr_printf(ctx, b->arena, "isa %s %u", isa->name, isa->version));
  put_line(b, nsr_printf(ctx, b->arena, "kernel %s", k->name));
  put_line(b, nsr_printf(ctx, b->arena, "owned %u %u", k->owned_first,
                         k->owned_last));
  for (int e = 0; e < isa->nengines; e++)
    put_line(b, nsr_printf(ctx, b->arena, "engine %s %s", isa->engines[e],
                           nsr_order_name(k->pipe_order[e])));
  for (uint32_t i = 0; i < k->nqueues; i++) {
    const struct nsr_queue *q = &k->queues[i];
    put_line(b, nsr_printf(ctx, b->arena, "queue %s %s %s",
                           isa->engines[q->engine], nsr_order_name(q->order),
                           q->name));
  }
}
