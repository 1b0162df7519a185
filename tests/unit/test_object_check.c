/* test_object_check.c - a sound kernel passes; each single thing that is
 * wrong is told, with its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "object/check.h"
#include "sample_kernel.h"

struct wrong {
  const char *what;
  void (*change)(struct sample *s);
  enum nsr_status status;
  int64_t insn;     /* place, -1: none */
  const char *text; /* part of the message */
};

static void nothing(struct sample *s) { (void)s; }

/* ---- header, queues, names */

static void owned_reversed(struct sample *s) { s->k.owned_first = 200; }
static void owned_beyond(struct sample *s) { s->k.owned_last = 256; }
static void no_name(struct sample *s) { s->k.name = NULL; }
static void bad_name(struct sample *s) { s->k.name = "a\nb"; }
static void bad_order(struct sample *s) {
  s->k.pipe_order[2] = (enum nsr_order)3;
}
static void queue_engine(struct sample *s) { s->queues[1].engine = 5; }
static void queue_twice(struct sample *s) { s->queues[1].name = "q0"; }
static void queue_as_engine(struct sample *s) { s->queues[1].name = "act"; }
static void queue_count(struct sample *s) { s->k.nqueues = 17; }
static void file_utf8(struct sample *s) { s->files[1] = "\xc0\xaf"; }
static void file_empty(struct sample *s) { s->files[0] = ""; }
static void section_name(struct sample *s) {
  s->sections[0].name = ".nsr.lines";
}
static void section_text(struct sample *s) { s->sections[0].name = ".text.pe"; }
static void section_engine(struct sample *s) {
  s->sections[0].name = ".text.xx";
  s->sections[0].flags = SHF_ALLOC | SHF_EXECINSTR;
}
static void section_type(struct sample *s) { s->sections[0].type = SHT_RELA; }
static void section_align(struct sample *s) { s->sections[0].align = 24; }
static void section_contents(struct sample *s) {
  s->sections[2].data = s->sections[0].data;
}
static void section_none(struct sample *s) { s->sections[0].data = NULL; }
static void no_streams(struct sample *s) { s->k.nstreams = 0; }
static void streams_swapped(struct sample *s) {
  struct nsr_stream first = s->streams[0];
  s->streams[0] = s->streams[1];
  s->streams[1] = first;
}
static void stream_twice(struct sample *s) { s->streams[0].engine = 4; }
static void stream_empty(struct sample *s) {
  s->streams[0] = (struct nsr_stream){.engine = 1, .code = s->act};
}

/* ---- tensors */

static void tensor_unnamed(struct sample *s) { s->tensors[T_X].name = ""; }
static void tensor_twice(struct sample *s) { s->tensors[T_X].name = "xt"; }
static void tensor_space(struct sample *s) { s->tensors[T_X].space = 3; }
static void tensor_in_part(struct sample *s) { s->tensors[T_X].nparts = 1; }
static void tensor_far(struct sample *s) {
  s->tensors[T_EMPTY].offset = (UINT64_C(1) << 62) - 15;
}
static void tensor_at_end(struct sample *s) {
  s->tensors[T_EMPTY].offset = (UINT64_C(1) << 62) - 16;
}
static void tensor_wraps(struct sample *s) {
  s->tensors[T_EMPTY].offset = UINT64_MAX;
}
static void tensor_parts(struct sample *s) { s->tensors[T_XT].part = 125; }
static void tensor_no_parts(struct sample *s) { s->tensors[T_XT].nparts = 0; }
static void tensor_high(struct sample *s) {
  s->tensors[T_XT].offset = 196608 - 63;
}
static void tensor_psum(struct sample *s) {
  s->tensors[T_XT].space = NSR_PSUM;
  s->tensors[T_XT].offset = 16384 - 63;
}
static void tensor_data(struct sample *s) { s->tensors[T_N].data_size = 5; }
static void tensor_chip_data(struct sample *s) {
  s->tensors[T_XT].data = s->tensors[T_X].data;
}
static void tensor_shape(struct sample *s) { s->tensors[T_X].shape[0] = 5; }
static void tensor_shape_wraps(struct sample *s) {
  s->tensors[T_X].nshape = 3;
  for (int i = 0; i < 3; i++)
    s->tensors[T_X].shape[i] = 1u << 31;
}
static void tensor_shape_zero(struct sample *s) {
  s->tensors[T_X].nshape = 3;
  for (int i = 0; i < 3; i++)
    s->tensors[T_X].shape[i] = UINT32_MAX;
  s->tensors[T_X].shape[1] = 0;
}
static void range_empty(struct sample *s) { s->tensors[T_N].lo = 5; }
static void range_float(struct sample *s) { s->tensors[T_X].has_range = true; }

/* ---- tables of a stream */

static void label_beyond(struct sample *s) { s->sp_labels[3].insn = 8; }
static void label_unsorted(struct sample *s) { s->sp_labels[0].insn = 3; }
static void label_twice(struct sample *s) { s->sp_labels[3].name = "start"; }
static void label_unnamed(struct sample *s) { s->sp_labels[3].name = ""; }
static void line_file(struct sample *s) { s->sp_lines[SP_ADD].file = 2; }
static void line_none(struct sample *s) { s->sp_lines[SP_ADD].line = 0; }
static void reloc_insn(struct sample *s) { s->sp_relocs[3].insn = SP_INSNS; }
static void reloc_unsorted(struct sample *s) { s->sp_relocs[3].insn = 1; }
static void reloc_operands(struct sample *s) {
  s->sp_relocs[1].operand = 1;
  s->sp_relocs[2].operand = 0;
}
static void reloc_twice(struct sample *s) { s->sp_relocs[2].operand = 0; }
static void reloc_operand(struct sample *s) { s->sp_relocs[0].operand = 1; }
static void reloc_tensor(struct sample *s) { s->sp_relocs[0].target = 4; }
static void reloc_kind(struct sample *s) { s->sp_relocs[0].kind = 2; }
static void reloc_no_branch(struct sample *s) { s->sp_relocs[3].insn = SP_ADD; }
static void reloc_target(struct sample *s) { s->sp_relocs[3].target = SP_ADD; }
static void reloc_beyond(struct sample *s) { s->sp_relocs[3].target = 7; }
static void reloc_branch_twice(struct sample *s) {
  s->sp_relocs[4] = s->sp_relocs[3];
  s->streams[1].nrelocs = 5;
}
static void jump_relocs(struct sample *s) {
  struct nsr_insn *i = sample_insn(&s->sp_insns[SP_BR], "jump");
  i->a = (struct nsr_val){true, 2};
  sample_encode(s);
  reloc_branch_twice(s);
  s->sp_relocs[4].target = SP_HALT;
}
static void jump_beyond(struct sample *s) {
  sample_insn(&s->sp_insns[SP_BR], "jump")->a.v = SP_INSNS;
  sample_encode(s);
}

/* ---- instructions */

static void branch_to(struct sample *s, int32_t target) {
  s->sp_insns[SP_BR].displacement = target - SP_BR;
  s->sp_relocs[3].target = (uint32_t)target;
  s->streams[1].nrelocs = 3;
  sample_encode(s);
}
static void branch_before(struct sample *s) { branch_to(s, -1); }
static void branch_behind(struct sample *s) { branch_to(s, SP_INSNS); }
static void branch_last(struct sample *s) { branch_to(s, SP_HALT); }
static void runs_off(struct sample *s) {
  sample_insn(&s->act_insns[ACT_HALT], "nop");
  sample_encode(s);
}
static void ends_in_branch(struct sample *s) {
  sample_insn(&s->act_insns[ACT_HALT], "br")->displacement = -1;
  sample_encode(s);
}
static void ends_in_condition(struct sample *s) {
  struct nsr_insn *i = sample_insn(&s->act_insns[ACT_HALT], "br");
  i->displacement = -1;
  i->cc = NSR_CC_EQ;
  sample_encode(s);
}
static void illegal_word(struct sample *s) {
  memset(s->sp + SP_ADD * WORD, 0, WORD);
}
static void reserved_bit(struct sample *s) {
  s->sp[(SP_HALT + 1) * WORD - 1] |= 0x80;
}
static void early_update(struct sample *s) {
  s->sp_insns[SP_DMA].early_update = true;
  sample_encode(s);
}
static void no_such_queue(struct sample *s) {
  s->sp_insns[SP_DMA].queue = 2;
  sample_encode(s);
}
static void other_queue(struct sample *s) {
  s->sp_insns[SP_DMA].queue = 1;
  sample_encode(s);
}
static void copy_dtype(struct sample *s) {
  s->sp_insns[SP_DMA].operands[0].dtype = NSR_I32;
  sample_encode(s);
}
static void copy_count(struct sample *s) {
  s->sp_insns[SP_DMA].operands[0].dims[0].count = 15;
  sample_encode(s);
}
static void copy_count_reg(struct sample *s) {
  s->sp_insns[SP_DMA].operands[0].dims[0] = (struct nsr_dim){4, 9, true};
  sample_encode(s);
}

static struct nsr_operand *dst(struct sample *s) {
  return &s->sp_insns[SP_DMA].operands[0];
}
static struct nsr_operand *src(struct sample *s) {
  return &s->sp_insns[SP_DMA].operands[1];
}
/* Takes all ties away, so that only the space counts. */
static void untie(struct sample *s) { s->streams[1].nrelocs = 0; }

static void partitions_low(struct sample *s) {
  dst(s)->part = 7;
  sample_encode(s);
}
static void partitions_beyond(struct sample *s) {
  untie(s);
  dst(s)->part = 125;
  sample_encode(s);
}
static void partitions_none(struct sample *s) {
  untie(s);
  dst(s)->nparts = 0;
  sample_encode(s);
}
static void past_tensor(struct sample *s) {
  dst(s)->dims[0].step = 8;
  sample_encode(s);
}
static void before_tensor(struct sample *s) {
  dst(s)->offset = 252;
  sample_encode(s);
}
static void backwards(struct sample *s) {
  dst(s)->offset = 256 + 15 * 4;
  dst(s)->dims[0].step = -4;
  sample_encode(s);
}
static void backwards_too_far(struct sample *s) {
  backwards(s);
  dst(s)->offset -= 4;
  sample_encode(s);
}
static void row_past_tensor(struct sample *s) {
  src(s)->pstep = 65;
  sample_encode(s);
}
static void rows_backwards(struct sample *s) {
  src(s)->pstep = -64;
  src(s)->offset += 192;
  sample_encode(s);
}
static void wrong_space(struct sample *s) {
  dst(s)->space = NSR_PSUM;
  sample_encode(s);
}
static void run_time_offset(struct sample *s) {
  dst(s)->reg = 5;
  dst(s)->offset = 0;
  sample_encode(s);
}
static void past_space(struct sample *s) {
  untie(s);
  dst(s)->offset = 196608 - 60;
  sample_encode(s);
}
static void to_end_of_space(struct sample *s) {
  untie(s);
  dst(s)->offset = 196608 - 64;
  sample_encode(s);
}
static void before_space(struct sample *s) {
  untie(s);
  src(s)->offset = 0;
  src(s)->pstep = -4;
  sample_encode(s);
}
static void no_elements(struct sample *s) {
  untie(s);
  dst(s)->offset = 0x7fffffff;
  dst(s)->dims[0].count = 0;
  src(s)->dims[0].count = 0;
  sample_encode(s);
}

static const struct wrong cases[] = {
    {"nothing", nothing, NSR_OK, -1, ""},
    {"owned reversed", owned_reversed, NSR_E_FORMAT, -1, "200..180"},
    {"owned beyond", owned_beyond, NSR_E_FORMAT, -1, "1..256"},
    {"no name", no_name, NSR_E_FORMAT, -1, "kernel's name is empty"},
    {"bad name", bad_name, NSR_E_FORMAT, -1, "control character"},
    {"bad order", bad_order, NSR_E_FORMAT, -1, "dve"},
    {"queue engine", queue_engine, NSR_E_FORMAT, -1, "queue q1"},
    {"queue twice", queue_twice, NSR_E_FORMAT, -1, "queue 1 is called q0"},
    {"queue as engine", queue_as_engine, NSR_E_FORMAT, -1, "called act"},
    {"queue count", queue_count, NSR_E_FORMAT, -1, "17 queues"},
    {"file utf8", file_utf8, NSR_E_FORMAT, -1, "source file 1 is not UTF-8"},
    {"file empty", file_empty, NSR_E_FORMAT, -1, "source file 0 is empty"},
    {"section name", section_name, NSR_E_REFUSED, -1, "one of ours"},
    {"section text", section_text, NSR_E_REFUSED, -1, "engine's code"},
    {"section engine", section_engine, NSR_E_REFUSED, -1, "holds code"},
    {"section type", section_type, NSR_E_REFUSED, -1, "by number"},
    {"section align", section_align, NSR_E_REFUSED, -1, "power of two"},
    {"section contents", section_contents, NSR_E_REFUSED, -1, "SHT_NOBITS"},
    {"section none", section_none, NSR_E_REFUSED, -1, "no contents"},
    {"no streams", no_streams, NSR_E_FORMAT, -1, "no engine has"},
    {"streams swapped", streams_swapped, NSR_E_FORMAT, -1, "one per engine"},
    {"stream twice", stream_twice, NSR_E_FORMAT, -1, "one per engine"},
    {"stream empty", stream_empty, NSR_E_FORMAT, -1, "0 instructions"},
    {"tensor unnamed", tensor_unnamed, NSR_E_FORMAT, -1, "tensor 1 is empty"},
    {"tensor twice", tensor_twice, NSR_E_FORMAT, -1, "two tensors are called"},
    {"tensor space", tensor_space, NSR_E_FORMAT, -1, "tensor x: no known"},
    {"tensor in part", tensor_in_part, NSR_E_FORMAT, -1, "DRAM has none"},
    {"tensor far", tensor_far, NSR_E_FORMAT, -1, "2^62"},
    {"tensor at end", tensor_at_end, NSR_OK, -1, ""},
    {"tensor wraps", tensor_wraps, NSR_E_FORMAT, -1, "2^62"},
    {"tensor parts", tensor_parts, NSR_E_FORMAT, -1, "partitions 125 + 4"},
    {"tensor no parts", tensor_no_parts, NSR_E_FORMAT, -1, "at least one"},
    {"tensor high", tensor_high, NSR_E_FORMAT, -1, "sbuf has 196608"},
    {"tensor psum", tensor_psum, NSR_E_FORMAT, -1, "psum has 16384"},
    {"tensor data", tensor_data, NSR_E_FORMAT, -1, "at most 4"},
    {"tensor chip data", tensor_chip_data, NSR_E_FORMAT, -1, "only DRAM"},
    {"tensor shape", tensor_shape, NSR_E_FORMAT, -1, "256 bytes"},
    {"shape wraps", tensor_shape_wraps, NSR_E_FORMAT, -1, "256 bytes"},
    {"shape zero", tensor_shape_zero, NSR_OK, -1, ""},
    {"range empty", range_empty, NSR_E_FORMAT, -1, "5..4"},
    {"range float", range_float, NSR_E_FORMAT, -1, "integer dtype"},
    {"label beyond", label_beyond, NSR_E_FORMAT, -1, "label end is at 8"},
    {"label unsorted", label_unsorted, NSR_E_FORMAT, -1, "ascending"},
    {"label twice", label_twice, NSR_E_FORMAT, -1, "two labels"},
    {"label unnamed", label_unnamed, NSR_E_FORMAT, -1, "label 3 is empty"},
    {"line file", line_file, NSR_E_FORMAT, SP_ADD, "source file 2"},
    {"line none", line_none, NSR_E_FORMAT, SP_ADD, "no line in it"},
    {"reloc insn", reloc_insn, NSR_E_FORMAT, -1, "instruction 7"},
    {"reloc unsorted", reloc_unsorted, NSR_E_FORMAT, 1, "not sorted"},
    {"reloc operands", reloc_operands, NSR_E_FORMAT, SP_DMA, "not sorted"},
    {"reloc twice", reloc_twice, NSR_E_FORMAT, SP_DMA, "same operand"},
    {"reloc operand", reloc_operand, NSR_E_FORMAT, SP_LD, "operand 1"},
    {"reloc tensor", reloc_tensor, NSR_E_FORMAT, SP_LD, "tensor 4"},
    {"reloc kind", reloc_kind, NSR_E_FORMAT, SP_LD, "kind"},
    {"reloc no branch", reloc_no_branch, NSR_E_FORMAT, SP_ADD, "is none"},
    {"reloc target", reloc_target, NSR_E_FORMAT, SP_BR, "but it goes to 2"},
    {"reloc beyond", reloc_beyond, NSR_E_FORMAT, SP_BR, "expected 0..6"},
    {"branch reloc twice", reloc_branch_twice, NSR_E_FORMAT, SP_BR, "two"},
    {"jump relocs", jump_relocs, NSR_OK, -1, ""},
    {"jump beyond", jump_beyond, NSR_E_FORMAT, SP_BR, "branches to 7"},
    {"branch before", branch_before, NSR_E_FORMAT, SP_BR, "branches to -1"},
    {"branch behind", branch_behind, NSR_E_FORMAT, SP_BR, "branches to 7"},
    {"branch last", branch_last, NSR_OK, -1, ""},
    {"runs off", runs_off, NSR_E_FORMAT, ACT_HALT, "run off its end"},
    {"ends in branch", ends_in_branch, NSR_OK, -1, ""},
    {"ends in cond", ends_in_condition, NSR_E_FORMAT, ACT_HALT, "run off"},
    {"illegal word", illegal_word, NSR_E_FORMAT, SP_ADD, "illegal opcode"},
    {"reserved bit", reserved_bit, NSR_E_FORMAT, SP_HALT, "reserved"},
    {"early update", early_update, NSR_E_REFUSED, SP_DMA, "inputs are read"},
    {"no such queue", no_such_queue, NSR_E_FORMAT, SP_DMA, "queue 2"},
    {"other queue", other_queue, NSR_E_FORMAT, SP_DMA, "fed by engine act"},
    {"copy dtype", copy_dtype, NSR_E_FORMAT, SP_DMA, "copies f32 to i32"},
    {"copy count", copy_count, NSR_E_FORMAT, SP_DMA, "copies 64 elements to"},
    {"copy count reg", copy_count_reg, NSR_OK, -1, ""},
    {"partitions low", partitions_low, NSR_E_FORMAT, SP_DMA, "7 + 4 are not"},
    {"partitions beyond", partitions_beyond, NSR_E_FORMAT, SP_DMA, "125 + 4"},
    {"partitions none", partitions_none, NSR_E_FORMAT, SP_DMA, "at least one"},
    {"past tensor", past_tensor, NSR_E_FORMAT, SP_DMA, "256..379"},
    {"before tensor", before_tensor, NSR_E_FORMAT, SP_DMA, "252..315"},
    {"backwards", backwards, NSR_OK, -1, ""},
    {"too far back", backwards_too_far, NSR_E_FORMAT, SP_DMA, "252..315"},
    {"row past", row_past_tensor, NSR_E_FORMAT, SP_DMA, "4096..4354"},
    {"rows backwards", rows_backwards, NSR_OK, -1, ""},
    {"wrong space", wrong_space, NSR_E_FORMAT, SP_DMA, "it is in psum"},
    {"run-time offset", run_time_offset, NSR_OK, -1, ""},
    {"past space", past_space, NSR_E_FORMAT, SP_DMA, "bytes of sbuf"},
    {"to end of space", to_end_of_space, NSR_OK, -1, ""},
    {"before space", before_space, NSR_E_FORMAT, SP_DMA, "bytes of dram"},
    {"no elements", no_elements, NSR_OK, -1, ""},
};

static void one(const struct wrong *w) {
  static struct sample s;
  char text[400] = "";
  struct nsr_ctx *ctx = nsr_ctx_new();
  sample_make(&s);
  w->change(&s);
  enum nsr_status status = nsr_kernel_check(ctx, &s.k);
  const struct nsr_diag *diag = nsr_ctx_first_error(ctx);
  if (diag)
    nsr_diag_format(diag, text, sizeof text);
  if (status != w->status || !strstr(text, w->text) ||
      (diag ? diag->place.insn : -1) != w->insn)
    fail_msg("%s: status %d, \"%s\"", w->what, status, text);
  nsr_ctx_free(ctx);
}

static void each_is_told(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    one(&cases[i]);
}

/* ---- values no word of the shipped instruction set can hold */

static void huge_step(struct nsr_insn *i) {
  i->operands[1].dims[0] = (struct nsr_dim){INT32_MAX, INT32_MAX, false};
  i->operands[1].dims[1] = (struct nsr_dim){INT32_MAX, INT32_MAX, false};
  i->operands[1].dims[2] = (struct nsr_dim){INT32_MAX, INT32_MAX, false};
  i->operands[1].ndims = 3;
}
static void huge_step_back(struct nsr_insn *i) {
  huge_step(i);
  for (int d = 0; d < 3; d++)
    i->operands[1].dims[d].step = INT32_MIN;
}
static void huge_offset(struct nsr_insn *i) {
  i->operands[1].offset = INT64_MAX - 2;
}
static void low_offset(struct nsr_insn *i) {
  i->operands[1].offset = INT64_MIN;
}
static void negative_count(struct nsr_insn *i) {
  i->operands[0].dims[0].count = -1;
}
static void count_reg(struct nsr_insn *i) {
  i->operands[0].dims[0] = (struct nsr_dim){4, 64, true};
}
static void offset_reg(struct nsr_insn *i) { i->operands[0].reg = 64; }
static void wait_reg(struct nsr_insn *i) {
  i->wait = (struct nsr_wait){NSR_CMP_EQ, 0, {true, 64}};
}
static void wait_sem(struct nsr_insn *i) {
  i->wait = (struct nsr_wait){NSR_CMP_EQ, 256, {false, 1}};
}
static void update_sem(struct nsr_insn *i) { i->update.sem = 300; }
static void value_reg(struct nsr_insn *i) { i->value_reg = 64; }
static void dst_reg(struct nsr_insn *i) { i->dst = -2; }
static void b_reg(struct nsr_insn *i) { i->b = (struct nsr_val){true, -1}; }
static void accumulates(struct nsr_insn *i) { i->operands[0].acc = true; }
static void high_part(struct nsr_insn *i) {
  i->operands[0].part = UINT16_MAX;
  i->operands[0].nparts = UINT16_MAX;
}
static void queue_none(struct nsr_insn *i) { i->queue = -1; }
static void many_loaded(struct nsr_insn *i) {
  struct nsr_operand o = i->operands[0];
  i->desc = nsr_isa_mnemonic(nsr_isa_by_name("tile64"), "st", 2);
  i->noperands = 1;
  i->operands[0] = o;
}
static void negative_id(struct nsr_insn *i) { sample_insn(i, "sync")->id = -1; }

static void no_value_is_trusted(void **state) {
  (void)state;
  static const struct {
    void (*change)(struct nsr_insn *i);
    const char *text;
  } all[] = {
      {huge_step, "src: it is not within"},
      {huge_step_back, "src: it is not within"},
      {huge_offset, "src: it is not within"},
      {low_offset, "src: it is not within"},
      {negative_count, "dst: a count is negative"},
      {count_reg, "dst: register r64"},
      {offset_reg, "dst: register r64"},
      {wait_reg, "wait: register r64"},
      {wait_sem, "wait: semaphore s256"},
      {update_sem, "update: semaphore s300"},
      {value_reg, "value: register r64"},
      {dst_reg, "destination: register r-2"},
      {b_reg, "second operand: register r-1"},
      {accumulates, "not in psum"},
      {high_part, "partitions 65535 + 65535"},
      {queue_none, "queue -1"},
      {many_loaded, "expected one element"},
      {negative_id, "barrier id -1"},
  };
  static struct sample s;
  sample_make(&s);
  untie(&s);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_insn insn = s.sp_insns[SP_DMA];
    const struct nsr_stream *sp = &s.streams[1];
    uint32_t n;
    const struct nsr_reloc *relocs = nsr_stream_relocs(sp, SP_DMA, &n);
    assert_int_equal(nsr_check_insn(ctx, &s.k, sp, SP_DMA, &insn, relocs, n),
                     NSR_OK);
    all[i].change(&insn);
    assert_int_equal(nsr_check_insn(ctx, &s.k, sp, SP_DMA, &insn, relocs, n),
                     NSR_E_FORMAT);
    if (!strstr(nsr_ctx_first_error(ctx)->text, all[i].text))
      fail_msg("\"%s\": expected \"%s\"", nsr_ctx_first_error(ctx)->text,
               all[i].text);
    nsr_ctx_free(ctx);
  }
}

static void places_are_complete(void **state) {
  (void)state;
  static struct sample s;
  char text[400];
  sample_make(&s);
  s.k.path = "dir/f.neff";
  struct nsr_diag diag = {NSR_E_FORMAT, NSR_ERROR,
                          nsr_insn_place(&s.k, &s.streams[1], SP_ADD), "bad"};
  nsr_diag_format(&diag, text, sizeof text);
  assert_string_equal(text,
                      "dir/f.neff: sp[3] <again> (lib/m.s:13): error: bad");
  diag.place = nsr_insn_place(&s.k, &s.streams[0], 0);
  nsr_diag_format(&diag, text, sizeof text);
  assert_string_equal(text, "dir/f.neff: act[0]: error: bad");
}

/* ---- looking things up */

static void lookups(void **state) {
  (void)state;
  static struct sample s;
  uint32_t n;
  sample_make(&s);
  assert_ptr_equal(nsr_kernel_stream(&s.k, 4), &s.streams[1]);
  assert_null(nsr_kernel_stream(&s.k, 0));
  assert_string_equal(nsr_channel_name(&s.k, 2), "dve");
  assert_string_equal(nsr_channel_name(&s.k, 6), "q1");
  assert_ptr_equal(nsr_stream_relocs(&s.streams[1], SP_DMA, &n),
                   &s.sp_relocs[1]);
  assert_int_equal(n, 2);
  assert_null(nsr_stream_relocs(&s.streams[1], SP_ADD, &n));
  assert_int_equal(n, 0);
  assert_int_equal(nsr_operand_tensor(&s.streams[1], SP_DMA, 1), T_X);
  assert_int_equal(nsr_operand_tensor(&s.streams[1], SP_DMA, 2), NSR_NONE);
  assert_int_equal(nsr_operand_tensor(&s.streams[1], SP_BR, 0), NSR_NONE);
  assert_ptr_equal(nsr_stream_label(&s.streams[1], SP_MOV), &s.sp_labels[0]);
  assert_ptr_equal(nsr_stream_label(&s.streams[1], SP_DMA), &s.sp_labels[2]);
  assert_ptr_equal(nsr_stream_label(&s.streams[1], SP_INSNS), &s.sp_labels[3]);
  assert_null(nsr_stream_label(&s.streams[0], 0));
}

static void memory_may_run_out(void **state) {
  (void)state;
  static struct sample s;
  enum nsr_status status = NSR_E_NOMEM;
  sample_make(&s);
  for (uint64_t n = 1; status == NSR_E_NOMEM; n++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    nsr_ctx_fail_alloc(ctx, n);
    status = nsr_kernel_check(ctx, &s.k);
    assert_true(n > 3 ? status == NSR_OK : status == NSR_E_NOMEM);
    nsr_ctx_free(ctx);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_is_told),
      cmocka_unit_test(no_value_is_trusted),
      cmocka_unit_test(places_are_complete),
      cmocka_unit_test(lookups),
      cmocka_unit_test(memory_may_run_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
