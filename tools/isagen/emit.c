/* emit.c - the model as C: one file of constants, symbols by number so that
 * no name of a description can collide with another or with C.
 */
#include "isagen.h"

#include <string.h>

static void emit_field(FILE *out, const char *member, int lo,
                       const struct field *f) {
  if (!f->bits.width)
    return;
  fprintf(out, "    .%s = {%d, %d, %d, %d, ", member, lo, f->bits.width,
          f->is_signed, f->nnames);
  if (f->nnames) {
    fprintf(out, "(const uint8_t[]){");
    for (int i = 0; i < f->nnames; i++)
      fprintf(out, "%s%d", i ? ", " : "", f->names[i]);
    fprintf(out, "}");
  } else {
    fprintf(out, "NULL");
  }
  fprintf(out, ", UINT64_C(%llu)},\n", (unsigned long long)f->max);
}

static void emit_shape(FILE *out, int isa, int number,
                       const struct shape *shape) {
  fprintf(out, "static const struct nsr_shape isa%d_shape%d = { /* %s */\n",
          isa, number, shape->name);
  for (int i = 0; i < NSHAPE_SLOTS; i++)
    emit_field(out, shape_slots[i].member, shape->fields[i].bits.lo,
               &shape->fields[i]);
  fprintf(out, "};\n");
}

static void emit_enum(FILE *out, int isa, int number,
                      const struct enumeration *e) {
  fprintf(out, "static const char *const isa%d_enum%d[] = { /* %s */\n    ",
          isa, number, e->name);
  for (int i = 0; i < e->nnames; i++)
    fprintf(out, "\"%s\", ", e->names[i]);
  fprintf(out, "NULL};\n");
}

static void set_bits(uint64_t *lanes, struct range bits, uint64_t value) {
  for (int i = 0; i < bits.width && i < 64; i++) {
    int bit = bits.lo + i;
    lanes[bit / 64] |= (value >> i & 1) << bit % 64;
  }
}

static void emit_lanes(FILE *out, const char *member, const uint64_t *lanes) {
  fprintf(out, "    .%s = {", member);
  for (int i = 0; i < MAX_BITS / 64; i++)
    fprintf(out, "%sUINT64_C(0x%llx)", i ? ",\n        " : "",
            (unsigned long long)lanes[i]);
  fprintf(out, "},\n");
}

/* Which bits have one legal value, and that value. */
static void emit_masks(FILE *out, const struct insn *insn) {
  uint64_t mask[MAX_BITS / 64] = {0}, value[MAX_BITS / 64] = {0};
  for (int s = 0; s < insn->spans.n; s++) {
    const struct span *span = &insn->spans.v[s];
    if (span->name)
      continue;
    for (int b = 0; b < span->bits.width; b++)
      set_bits(mask, (struct range){span->bits.lo + b, 1}, 1);
    set_bits(value, span->bits, span->value);
  }
  emit_lanes(out, "mask", mask);
  emit_lanes(out, "value", value);
}

/* The named fields; their number. */
static int emit_named(FILE *out, int i, int k, const struct insn *insn) {
  int n = 0;
  fprintf(out, "static const struct nsr_named_field isa%d_fields%d[] = {\n", i,
          k);
  for (int s = 0; s < insn->spans.n; s++) {
    const struct span *span = &insn->spans.v[s];
    if (!span->name)
      continue;
    fprintf(out, "    {\"%s\", %d, %d, UINT64_C(%llu)},\n", span->name,
            span->bits.lo, span->bits.width, (unsigned long long)span->max);
    n++;
  }
  fprintf(out, "    {NULL, 0, 0, 0}};\n");
  return n;
}

static void emit_codec(FILE *out, int i, int k, const struct isa *isa,
                       const struct insn *insn) {
  int nfields = emit_named(out, i, k, insn);
  fprintf(out, "static const struct nsr_codec isa%d_codec%d = { /* %s */\n", i,
          k, insn->mnemonic);
  for (int s = 0; s < NINSN_SLOTS; s++)
    emit_field(out, insn_slots[s].member, insn->fields[s].bits.lo,
               &insn->fields[s]);
  for (int a = 0; a < insn->nargs; a++) {
    char member[32];
    snprintf(member, sizeof member, "args[%d]", a);
    emit_field(out, member, insn->args[a].field.bits.lo, &insn->args[a].field);
  }
  for (int o = 0; o < insn->noperands; o++)
    fprintf(out, "    .operands[%d] = {&isa%d_shape%d, %d},\n", o, i,
            insn->operands[o].shape->number, insn->operands[o].bit);
  emit_masks(out, insn);
  fprintf(out,
          "    .opcode_lo = %d,\n    .opcode_width = %d,\n"
          "    .nfields = %d,\n    .fields = isa%d_fields%d,\n};\n",
          isa->opcode.lo, isa->opcode.width, nfields, i, k);
}

/* A decoder for each instruction: see src/isa/decoder.h. */
static void emit_decoder(FILE *out, int i, int k, const struct isa *isa) {
  fprintf(out,
          "static const char *isa%d_decode%d(const uint8_t *word,\n"
          "    struct nsr_insn *insn) {\n"
          "  return nsr_decode_as(&isa%d_insns[%d], &isa%d_codec%d, %u, %u,\n"
          "                       word, insn);\n}\n",
          i, k, i, k, i, k, isa->registers, isa->word);
}

/* The decoder of any word. */
static void emit_entry(FILE *out, int i, const struct isa *isa, uint32_t n) {
  fprintf(out, "static const struct nsr_decoder isa%d_decoders[%u] = {\n", i,
          n);
  for (int k = 0; k < isa->insns.n; k++)
    fprintf(out, "    [%u] = {isa%d_decode%d, 0x%x},\n",
            isa->insns.v[k]->opcode, i, k, isa->insns.v[k]->engines);
  fprintf(out,
          "};\nstatic const char *isa%d_decode(int engine,\n"
          "    const uint8_t *word, struct nsr_insn *insn) {\n"
          "  return nsr_decode_any(isa%d_decoders, %u, %d, %d, %u, engine,\n"
          "                        word, insn);\n}\n",
          i, i, n, isa->opcode.lo, isa->opcode.width, isa->word);
}

static int operand_index(const struct insn *insn, const char *name) {
  for (int i = 0; name && i < insn->noperands; i++)
    if (strcmp(insn->operands[i].name, name) == 0)
      return i;
  return -1;
}

static void emit_desc_lists(FILE *out, int i, const struct insn *insn) {
  for (int k = 0; k < insn->noperands; k++) {
    const struct operand *o = &insn->operands[k];
    fprintf(out,
            "     .operands[%d] = {.name = \"%s\", .role = %d, "
            ".maxdims = %d, .acc = %d, .indexed_by = %d},\n",
            k, o->name, o->role, o->shape->ndims, o->acc,
            operand_index(insn, o->indexed_by));
  }
  for (int k = 0; k < insn->nargs; k++) {
    const struct arg *a = &insn->args[k];
    fprintf(out, "     .args[%d] = {.name = \"%s\", .kind = %d, .names = ", k,
            a->name, a->kind);
    if (a->enumeration)
      fprintf(out, "isa%d_enum%d},\n", i, a->enumeration->number);
    else
      fprintf(out, "NULL},\n");
  }
  for (int k = 0; k < insn->nhidden; k++)
    fprintf(out, "     .hidden[%d] = {.name = \"%s\", .role = %d},\n", k,
            insn->hidden[k].name, insn->hidden[k].role);
}

static void emit_desc(FILE *out, int i, int k, const struct isa *isa) {
  const struct insn *insn = isa->insns.v[k];
  fprintf(out,
          "    {.mnemonic = \"%s\", .opcode = %u, .index = %d,\n"
          "     .cls = %d, .ctl = %d, .meaning = %d, .sem = %d,\n"
          "     .engines = 0x%x, .queue = %d, .unknown_effects = %d,\n"
          "     .external = %d, .has_wait = %d, .has_update = %d,\n"
          "     .noperands = %d, .nargs = %d, .nhidden = %d,\n",
          insn->mnemonic, insn->opcode, k, insn->cls, insn->ctl, insn->meaning,
          insn->sem, insn->engines, insn->fields[QUEUE].bits.width != 0,
          insn->unknown_effects, insn->external,
          insn->fields[WAIT_SEM].bits.width != 0,
          insn->fields[UPDATE_SEM].bits.width != 0, insn->noperands,
          insn->nargs, insn->nhidden);
  emit_desc_lists(out, i, insn);
  fprintf(out, "     .codec = &isa%d_codec%d},\n", i, k);
}

/* by_opcode; its number of entries. */
static uint32_t emit_opcodes(FILE *out, int i, const struct isa *isa) {
  uint32_t n = 0;
  for (int k = 0; k < isa->insns.n; k++)
    if (isa->insns.v[k]->opcode >= n)
      n = isa->insns.v[k]->opcode + 1;
  fprintf(out, "static const uint16_t isa%d_by_opcode[%u] = {\n", i, n);
  for (int k = 0; k < isa->insns.n; k++)
    fprintf(out, "    [%u] = %d,\n", isa->insns.v[k]->opcode, k + 1);
  fprintf(out, "};\n");
  return n;
}

static int displacement_bits(const struct isa *isa) {
  for (int k = 0; k < isa->insns.n; k++)
    if (isa->insns.v[k]->fields[TARGET].bits.width)
      return isa->insns.v[k]->fields[TARGET].bits.width;
  return 0;
}

static void emit_engines(FILE *out, const struct isa *isa) {
  fprintf(out, "    .nengines = %d,\n    .engines = {", isa->nengines);
  for (int e = 0; e < isa->nengines; e++)
    fprintf(out, "\"%s\", ", isa->engines[e]);
  fprintf(out, "},\n    .pipe_order = {");
  for (int e = 0; e < isa->nengines; e++)
    fprintf(out, "%d, ", isa->pipe_order[e]);
  fprintf(out, "},\n    .queue_order = %d,\n", isa->queue_order);
}

static void emit_isa(FILE *out, int i, const struct isa *isa) {
  for (int k = 0; k < isa->enumerations.n; k++)
    emit_enum(out, i, k, isa->enumerations.v[k]);
  for (int k = 0; k < isa->shapes.n; k++)
    emit_shape(out, i, k, isa->shapes.v[k]);
  for (int k = 0; k < isa->insns.n; k++)
    emit_codec(out, i, k, isa, isa->insns.v[k]);
  fprintf(out, "static const struct nsr_insn_desc isa%d_insns[%d] = {\n", i,
          isa->insns.n);
  for (int k = 0; k < isa->insns.n; k++)
    emit_desc(out, i, k, isa);
  fprintf(out, "};\n");
  for (int k = 0; k < isa->insns.n; k++)
    emit_decoder(out, i, k, isa);
  uint32_t nopcodes = emit_opcodes(out, i, isa);
  emit_entry(out, i, isa, nopcodes);
  int bits = displacement_bits(isa);
  int64_t reach = bits ? INT64_C(1) << (bits - 1) : 0;
  fprintf(out,
          "static const struct nsr_isa isa%d = {\n    .name = \"%s\",\n"
          "    .version = %u,\n    .word = %u,\n    .registers = %u,\n"
          "    .semaphores = %u,\n    .semaphore_bits = %u,\n"
          "    .partitions = %u,\n    .sbuf_bytes = %u,\n"
          "    .psum_bytes = %u,\n    .owned_first = %u,\n"
          "    .owned_last = %u,\n",
          i, isa->name, isa->version, isa->word, isa->registers,
          isa->semaphores, isa->semaphore_bits, isa->partitions, isa->sbuf,
          isa->psum, isa->owned_first, isa->owned_last);
  emit_engines(out, isa);
  fprintf(out, "    .decode = isa%d_decode,\n", i);
  fprintf(out,
          "    .min_displacement = INT32_C(%lld)%s,\n"
          "    .max_displacement = INT32_C(%lld),\n",
          (long long)(reach ? -(reach - 1) : 0), reach ? " - 1" : "",
          (long long)(reach ? reach - 1 : 0));
  fprintf(out,
          "    .ninsns = %d,\n    .insns = isa%d_insns,\n"
          "    .by_opcode = isa%d_by_opcode,\n    .nopcodes = %u,\n};\n",
          isa->insns.n, i, i, nopcodes);
}

/* As single characters: string literals have a length limit. */
static void emit_machine(FILE *out, int i, const char *text) {
  fprintf(out, "static const char machine%d[] = {", i);
  size_t n = strlen(text);
  for (size_t k = 0; k < n; k++)
    fprintf(out, "%s'\\%03o',", k % 12 ? "" : "\n    ",
            (unsigned)(unsigned char)text[k]);
  fprintf(out, "'\\0'};\n");
}

void emit_all(FILE *out, const struct isas *isas,
              const struct machines *machines) {
  fprintf(out, "/* Made by isagen. */\n#include \"isa/decoder.h\"\n"
               "#include \"sim/machine_text.h\"\n");
  for (int i = 0; i < isas->n; i++)
    emit_isa(out, i, isas->v[i]);
  fprintf(out, "const struct nsr_isa *const nsr_isas[] = {");
  for (int i = 0; i < isas->n; i++)
    fprintf(out, "&isa%d, ", i);
  fprintf(out, "NULL};\n");
  for (int i = 0; i < machines->n; i++)
    emit_machine(out, i, machines->v[i].text);
  fprintf(out, "const struct nsr_machine_text nsr_machine_texts[] = {\n");
  for (int i = 0; i < machines->n; i++)
    fprintf(out, "    {\"%s\", machine%d},\n", machines->v[i].name, i);
  fprintf(out, "    {NULL, NULL}};\n");
}
