/* sample_kernel.h - a small kernel with one of everything a file can hold,
 * made without the assembler; all of it can be changed in place. */
#ifndef NSR_TESTS_SAMPLE_KERNEL_H
#define NSR_TESTS_SAMPLE_KERNEL_H

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nsr/kernel.h>

enum { SP_INSNS = 7, ACT_INSNS = 3, WORD = 64 };
/* Instructions of the sp stream, and of the act stream. */
enum { SP_LD, SP_MOV, SP_DMA, SP_ADD, SP_BR, SP_BACK, SP_HALT };
enum { ACT_ACT, ACT_SYNC, ACT_HALT };
enum { T_N, T_X, T_XT, T_EMPTY, NTENSORS };
enum { NSECTIONS = 7 };

struct sample {
  struct nsr_kernel k;
  struct nsr_insn sp_insns[SP_INSNS], act_insns[ACT_INSNS];
  uint8_t sp[SP_INSNS * WORD], act[ACT_INSNS * WORD];
  struct nsr_stream streams[2];
  struct nsr_queue queues[2];
  struct nsr_tensor tensors[NTENSORS];
  struct nsr_reloc sp_relocs[5], act_relocs[2];
  struct nsr_label sp_labels[4], act_labels[1];
  struct nsr_line sp_lines[SP_INSNS];
  struct nsr_section sections[NSECTIONS];
  const char *files[2];
};

static inline struct nsr_insn *sample_insn(struct nsr_insn *insn,
                                           const char *mnemonic) {
  const struct nsr_insn_desc *desc =
      nsr_isa_mnemonic(nsr_isa_by_name("tile64"), mnemonic, strlen(mnemonic));
  if (!desc) {
    printf("no such instruction: %s\n", mnemonic);
    abort();
  }
  nsr_insn_init(desc, insn);
  return insn;
}

/* Puts the instructions as they are now into the streams. */
static inline void sample_encode(struct sample *s) {
  char why[200];
  for (int i = 0; i < SP_INSNS + ACT_INSNS; i++) {
    bool sp = i < SP_INSNS;
    const struct nsr_insn *insn =
        sp ? &s->sp_insns[i] : &s->act_insns[i - SP_INSNS];
    uint8_t *word = sp ? s->sp + i * WORD : s->act + (i - SP_INSNS) * WORD;
    if (!nsr_encode(s->k.isa, insn, word, why, sizeof why)) {
      printf("instruction %d (%s) does not encode: %s\n", i,
             insn->desc->mnemonic, why);
      abort();
    }
  }
}

/* A rectangle of 16 f32 in each of nparts rows or partitions. */
static inline void sample_tile(struct nsr_operand *o, enum nsr_space space,
                               uint16_t part, int64_t offset) {
  o->space = (uint8_t)space;
  o->dtype = NSR_F32;
  o->part = part;
  o->nparts = 4;
  o->pstep = space == NSR_DRAM ? 64 : 0;
  o->offset = offset;
  o->ndims = 1;
  o->dims[0] = (struct nsr_dim){4, 16, false};
}

static inline void sample_insns(struct sample *s) {
  struct nsr_insn *i = sample_insn(&s->sp_insns[SP_LD], "ld");
  i->dst = 1;
  i->operands[0].space = NSR_DRAM;
  i->operands[0].dtype = NSR_I32;
  i->operands[0].offset = 0x8000;
  i = sample_insn(&s->sp_insns[SP_MOV], "mov");
  i->dst = 2;
  i = sample_insn(&s->sp_insns[SP_DMA], "dma");
  i->queue = 0;
  i->update = (struct nsr_update){NSR_UPD_INC, 1, 1};
  sample_tile(&i->operands[0], NSR_SBUF, 8, 256);
  sample_tile(&i->operands[1], NSR_DRAM, 0, 0x1000);
  i = sample_insn(&s->sp_insns[SP_ADD], "add");
  i->dst = 2;
  i->a = (struct nsr_val){true, 2};
  i->b = (struct nsr_val){false, 1};
  i = sample_insn(&s->sp_insns[SP_BR], "br");
  i->cc = NSR_CC_LT;
  i->a = (struct nsr_val){true, 2};
  i->b = (struct nsr_val){true, 1};
  i->displacement = SP_DMA - SP_BR;
  i = sample_insn(&s->sp_insns[SP_BACK], "sync");
  i->id = 3;
  sample_insn(&s->sp_insns[SP_HALT], "halt");
  i = sample_insn(&s->act_insns[ACT_ACT], "act");
  i->wait = (struct nsr_wait){NSR_CMP_GE, 1, {false, 1}};
  sample_tile(&i->operands[0], NSR_SBUF, 8, 256);
  sample_tile(&i->operands[1], NSR_SBUF, 8, 256);
  i = sample_insn(&s->act_insns[ACT_SYNC], "sync");
  i->id = 3;
  sample_insn(&s->act_insns[ACT_HALT], "halt");
}

static inline void sample_tensors(struct sample *s) {
  s->tensors[T_N] = (struct nsr_tensor){.name = "n",
                                        .space = NSR_DRAM,
                                        .dtype = NSR_I32,
                                        .role = NSR_INPUT,
                                        .nshape = 1,
                                        .shape = {1},
                                        .offset = 0x8000,
                                        .bytes = 4,
                                        .has_range = true,
                                        .lo = -1,
                                        .hi = 4,
                                        .data = (const uint8_t *)"\3\0\0",
                                        .data_size = 4};
  s->tensors[T_X] = (struct nsr_tensor){.name = "x",
                                        .space = NSR_DRAM,
                                        .dtype = NSR_F32,
                                        .role = NSR_INPUT,
                                        .nshape = 2,
                                        .shape = {4, 16},
                                        .offset = 0x1000,
                                        .bytes = 256,
                                        .data = (const uint8_t *)"xyz",
                                        .data_size = 3};
  s->tensors[T_XT] = (struct nsr_tensor){.name = "xt",
                                         .space = NSR_SBUF,
                                         .dtype = NSR_F32,
                                         .role = NSR_TENSOR_SCRATCH,
                                         .nshape = 2,
                                         .shape = {4, 16},
                                         .part = 8,
                                         .nparts = 4,
                                         .offset = 256,
                                         .bytes = 64};
  s->tensors[T_EMPTY] = (struct nsr_tensor){.name = "empt\xc3\xbd.0/1",
                                            .space = NSR_DRAM,
                                            .dtype = NSR_U8,
                                            .role = NSR_OUTPUT,
                                            .offset = 0x9000,
                                            .bytes = 16,
                                            .data = (const uint8_t *)"",
                                            .data_size = 0};
}

static inline void sample_tables(struct sample *s) {
  const struct nsr_reloc sp_relocs[] = {{SP_LD, NSR_RELOC_TENSOR, 0, T_N},
                                        {SP_DMA, NSR_RELOC_TENSOR, 0, T_XT},
                                        {SP_DMA, NSR_RELOC_TENSOR, 1, T_X},
                                        {SP_BR, NSR_RELOC_BRANCH, 0, SP_DMA}};
  const struct nsr_reloc act_relocs[] = {{ACT_ACT, NSR_RELOC_TENSOR, 0, T_XT},
                                         {ACT_ACT, NSR_RELOC_TENSOR, 1, T_XT}};
  memcpy(s->sp_relocs, sp_relocs, sizeof sp_relocs);
  memcpy(s->act_relocs, act_relocs, sizeof act_relocs);
  s->sp_labels[0] = (struct nsr_label){"start", 0};
  s->sp_labels[1] = (struct nsr_label){"loop", SP_DMA};
  s->sp_labels[2] = (struct nsr_label){"again", SP_DMA};
  s->sp_labels[3] = (struct nsr_label){"end", SP_INSNS};
  s->act_labels[0] = (struct nsr_label){"loop", ACT_SYNC};
  for (uint32_t i = 1; i < SP_INSNS; i++)
    s->sp_lines[i] = (struct nsr_line){i & 1, 10 + i};
  s->files[0] = "k.s";
  s->files[1] = "lib/m.s";
  s->queues[0] = (struct nsr_queue){"q0", 4, NSR_ORDER_NONE};
  s->queues[1] = (struct nsr_queue){"q1", 1, NSR_ORDER_FULL};
}

static inline void sample_sections(struct sample *s) {
  static const uint8_t note[] = "\4\0\0\0\2\0\0\0\11\0\0\0XYZ\0\1\2\0";
  s->sections[0] = (struct nsr_section){.name = ".debug_info",
                                        .type = SHT_PROGBITS,
                                        .flags = SHF_COMPRESSED,
                                        .align = 32,
                                        .data = (const uint8_t *)"not really",
                                        .size = 10};
  s->sections[1] = (struct nsr_section){.name = ".comment",
                                        .type = SHT_PROGBITS,
                                        .flags = SHF_MERGE | SHF_STRINGS,
                                        .align = 1,
                                        .entsize = 1,
                                        .data = (const uint8_t *)"\0a\0bc",
                                        .size = 6};
  s->sections[2] = (struct nsr_section){.name = ".bss",
                                        .type = SHT_NOBITS,
                                        .flags = SHF_ALLOC | SHF_WRITE,
                                        .align = 32,
                                        .size = UINT64_C(1) << 40};
  s->sections[3] = (struct nsr_section){.name = ".note.other",
                                        .type = SHT_NOTE,
                                        .align = 4,
                                        .data = note,
                                        .size = 20};
  s->sections[4] = (struct nsr_section){.name = ".empty",
                                        .type = SHT_PROGBITS,
                                        .align = 16,
                                        .data = (const uint8_t *)""};
  s->sections[5] = (struct nsr_section){.name = ".names",
                                        .type = SHT_STRTAB,
                                        .align = 1,
                                        .data = (const uint8_t *)"\0one",
                                        .size = 5};
  s->sections[6] = (struct nsr_section){.name = ".comment",
                                        .type = SHT_LOUSER + 5,
                                        .flags = SHF_MASKPROC,
                                        .align = 4096,
                                        .entsize = 12,
                                        .info = 77,
                                        .data = (const uint8_t *)"twin",
                                        .size = 4};
}

static inline void sample_make(struct sample *s) {
  memset(s, 0, sizeof *s);
  s->k = (struct nsr_kernel){
      .isa = nsr_isa_by_name("tile64"),
      .name = "sample \"1\"",
      .pipe_order = {NSR_ORDER_HIDDEN, NSR_ORDER_NONE, NSR_ORDER_FULL},
      .owned_first = 1,
      .owned_last = 180,
      .nqueues = 2,
      .ntensors = NTENSORS,
      .nfiles = 2,
      .nstreams = 2,
      .nsections = NSECTIONS,
      .queues = s->queues,
      .tensors = s->tensors,
      .files = s->files,
      .streams = s->streams,
      .sections = s->sections};
  s->streams[0] = (struct nsr_stream){.engine = 1,
                                      .n = ACT_INSNS,
                                      .code = s->act,
                                      .nrelocs = 2,
                                      .nlabels = 1,
                                      .relocs = s->act_relocs,
                                      .labels = s->act_labels};
  s->streams[1] = (struct nsr_stream){.engine = 4,
                                      .n = SP_INSNS,
                                      .code = s->sp,
                                      .nrelocs = 4,
                                      .nlabels = 4,
                                      .relocs = s->sp_relocs,
                                      .labels = s->sp_labels,
                                      .lines = s->sp_lines};
  sample_insns(s);
  sample_tensors(s);
  sample_tables(s);
  sample_sections(s);
  sample_encode(s);
}

#endif
