/* note.c - .note.nsr: what kind of kernel this is. One note, owner "NSR":
 *
 *   u32 version = 1, u32 version of the ISA, str name of the ISA,
 *   str kernel, u16 first and last owned semaphore,
 *   u32 engines, each: str name, u8 order of its pipeline
 *   u32 queues, each: str name, u8 engine (of the list above), u8 order
 *
 * All engines of the ISA are listed, whether they have code or not.
 */
#include <string.h>

#include "object/format.h"

enum { NOTE_VERSION = 1, ENGINE_MIN = 6, QUEUE_MIN = 7 };

static enum nsr_status unknown_isa(struct nsr_reader *r, const char *name) {
  return nsr_fail(
      r->ctx, NSR_E_FORMAT, (struct nsr_place){.file = r->path, .insn = -1},
      "the kernel is for instruction set %s, which is not known", name);
}

static enum nsr_status other_version(struct nsr_reader *r, const char *name,
                                     uint32_t version, uint32_t known) {
  return nsr_fail(r->ctx, NSR_E_FORMAT,
                  (struct nsr_place){.file = r->path, .insn = -1},
                  "the kernel is for version %u of instruction set %s, known "
                  "is version %u",
                  version, name, known);
}

/* The note's own frame: in becomes its description. */
static bool open_note(struct nsr_in *in) {
  uint32_t owner_size = nsr_in_u32(in);
  uint32_t size = nsr_in_u32(in);
  uint32_t type = nsr_in_u32(in);
  if (in->bad || owner_size != sizeof NSR_NOTE_OWNER || type != NSR_NOTE_TYPE)
    return false;
  const uint8_t *owner = nsr_in_bytes(in, sizeof NSR_NOTE_OWNER);
  if (!owner || memcmp(owner, NSR_NOTE_OWNER, sizeof NSR_NOTE_OWNER) != 0)
    return false;
  size_t padded = ((size_t)size + 3) & ~(size_t)3;
  if (in->left != padded)
    return false;
  in->left = size;
  return true;
}

static enum nsr_status read_isa(struct nsr_reader *r, struct nsr_in *in) {
  uint32_t version = nsr_in_u32(in);
  const char *name = nsr_in_str(in);
  if (in->bad)
    return nsr_part_fail(r, NSR_PART_NOTE, "it is cut off");
  r->k->isa = nsr_isa_by_name(name);
  if (!r->k->isa)
    return unknown_isa(r, name);
  if (r->k->isa->version != version)
    return other_version(r, name, version, r->k->isa->version);
  return NSR_OK;
}

static enum nsr_status read_engines(struct nsr_reader *r, struct nsr_in *in) {
  struct nsr_kernel *k = r->k;
  uint32_t seen = 0;
  for (int e = 0; e < k->isa->nengines; e++)
    k->pipe_order[e] = k->isa->pipe_order[e];
  uint32_t n = nsr_in_count(in, ENGINE_MIN);
  if (n > k->isa->nengines)
    return nsr_part_fail(r, NSR_PART_NOTE, "it lists too many engines");
  for (uint32_t i = 0; i < n; i++) {
    int e = nsr_isa_engine(k->isa, nsr_in_str(in));
    uint8_t order = nsr_in_u8(in);
    if (in->bad || e < 0 || (seen >> e & 1) || order > NSR_ORDER_FULL)
      return nsr_part_fail(r, NSR_PART_NOTE,
                           "an engine is unknown, listed twice or in no known "
                           "order");
    seen |= UINT32_C(1) << e;
    k->pipe_order[e] = (enum nsr_order)order;
    r->engines[i] = (uint8_t)e;
  }
  r->nengines = (uint8_t)n;
  return NSR_OK;
}

static enum nsr_status read_queues(struct nsr_reader *r, struct nsr_in *in) {
  uint32_t n = nsr_in_count(in, QUEUE_MIN);
  if (n > NSR_MAX_QUEUES)
    return nsr_part_fail(r, NSR_PART_NOTE, "it lists too many queues");
  struct nsr_queue *queues;
  NSR_NEW(r->ctx, NSR_KEEP, queues, n);
  for (uint32_t i = 0; i < n; i++) {
    queues[i].name = nsr_in_str(in);
    uint8_t engine = nsr_in_u8(in);
    uint8_t order = nsr_in_u8(in);
    if (in->bad || engine >= r->nengines || order > NSR_ORDER_FULL)
      return nsr_part_fail(r, NSR_PART_NOTE,
                           "a queue has an unknown engine or order");
    queues[i].engine = r->engines[engine];
    queues[i].order = (enum nsr_order)order;
  }
  r->k->queues = queues;
  r->k->nqueues = n;
  return NSR_OK;
}

enum nsr_status nsr_note_read(struct nsr_reader *r) {
  struct nsr_in in = r->parts[NSR_PART_NOTE];
  if (!open_note(&in))
    return nsr_part_fail(r, NSR_PART_NOTE,
                         "expected exactly one note of owner NSR, type 1");
  if (nsr_in_u32(&in) != NOTE_VERSION)
    return nsr_part_fail(r, NSR_PART_NOTE, "its version is not 1");
  NSR_TRY(read_isa(r, &in));
  r->k->name = nsr_in_str(&in);
  r->k->owned_first = nsr_in_u16(&in);
  r->k->owned_last = nsr_in_u16(&in);
  NSR_TRY(read_engines(r, &in));
  NSR_TRY(read_queues(r, &in));
  if (!nsr_in_done(&in))
    return nsr_part_fail(r, NSR_PART_NOTE, "its size is wrong");
  return NSR_OK;
}

/* ---- writing */

static void put_description(const struct nsr_kernel *k, struct nsr_strbuf *b) {
  nsr_put_u32(b, NOTE_VERSION);
  nsr_put_u32(b, k->isa->version);
  nsr_put_str(b, k->isa->name);
  nsr_put_str(b, k->name);
  nsr_put_u16(b, k->owned_first);
  nsr_put_u16(b, k->owned_last);
  nsr_put_u32(b, k->isa->nengines);
  for (int e = 0; e < k->isa->nengines; e++) {
    nsr_put_str(b, k->isa->engines[e]);
    nsr_put_u8(b, (uint8_t)k->pipe_order[e]);
  }
  nsr_put_u32(b, k->nqueues);
  for (uint32_t q = 0; q < k->nqueues; q++) {
    nsr_put_str(b, k->queues[q].name);
    nsr_put_u8(b, k->queues[q].engine);
    nsr_put_u8(b, (uint8_t)k->queues[q].order);
  }
}

void nsr_note_write(const struct nsr_kernel *k, struct nsr_strbuf *b) {
  struct nsr_strbuf description;
  const char *bytes;
  size_t n;
  nsr_strbuf_init(&description, b->ctx, b->arena);
  put_description(k, &description);
  if (nsr_strbuf_done(&description, &bytes, &n) != NSR_OK) {
    b->failed = true;
    return;
  }
  nsr_put_u32(b, sizeof NSR_NOTE_OWNER);
  nsr_put_u32(b, (uint32_t)n);
  nsr_put_u32(b, NSR_NOTE_TYPE);
  nsr_strbuf_add(b, NSR_NOTE_OWNER, sizeof NSR_NOTE_OWNER);
  nsr_strbuf_add(b, bytes, n);
  nsr_strbuf_add(b, "\0\0\0", (4 - n % 4) % 4);
}
