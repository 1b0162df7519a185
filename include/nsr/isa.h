/* isa.h - instructions as values: decode, encode, format, parse.
 *
 * An instruction set is one constant struct nsr_isa, generated at build time
 * from isa/NAME.isa and passed by pointer everywhere; nothing in C knows an
 * opcode number or the place of a field. Code asks for what an instruction
 * *is* (class, control operation, meaning, roles), never for its opcode.
 *
 * Decode, encode and format allocate nothing and hold no state.
 */
#ifndef NSR_ISA_H
#define NSR_ISA_H

#include <nsr/nsr.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  NSR_MAX_OPERANDS = 4,
  NSR_MAX_DIMS = 3,
  NSR_MAX_ARGS = 8,
  NSR_MAX_HIDDEN = 4,
  NSR_MAX_WORD = 64, /* bytes */
  NSR_MAX_ENGINES = 8,
  NSR_MAX_QUEUES = 16,
  NSR_MAX_CHANNELS = NSR_MAX_ENGINES + NSR_MAX_QUEUES
};

#define NSR_NO_REG (-1)

enum nsr_class { NSR_DATAPATH, NSR_LOAD, NSR_CONTROL, NSR_BARRIER };

/* Control operations, in the order of json.md. NSR_CTL_NONE: not control. */
enum nsr_ctl {
  NSR_CTL_NONE,
  NSR_CTL_MOV, /* dst = a */
  NSR_CTL_ADD, /* dst = a + b, wrapping, as all of these */
  NSR_CTL_SUB,
  NSR_CTL_MUL,
  NSR_CTL_AND,
  NSR_CTL_OR,
  NSR_CTL_XOR,
  NSR_CTL_SHL, /* amount modulo 32 */
  NSR_CTL_SHR, /* arithmetic */
  NSR_CTL_REM, /* truncates toward zero; by 0: fault */
  NSR_CTL_MIN,
  NSR_CTL_MAX,
  NSR_CTL_GT, /* comparisons, signed: 0 or 1 */
  NSR_CTL_GE,
  NSR_CTL_LT,
  NSR_CTL_LE,
  NSR_CTL_EQ,
  NSR_CTL_NE,
  NSR_CTL_SEL,  /* dst = cond ? a : b */
  NSR_CTL_BR,   /* if a cc b goto target */
  NSR_CTL_WAIT, /* carries a wait, nothing else */
  NSR_CTL_JUMP, /* to instruction a: computed */
  NSR_CTL_HALT
};

/* What the bytes mean (json.md), as far as the opaque mode cares. */
enum nsr_meaning {
  NSR_MEANING_NONE, /* not a datapath instruction */
  NSR_MEANING_NOP,
  NSR_MEANING_COPY,
  NSR_MEANING_FILL,
  NSR_MEANING_IOTA,
  NSR_MEANING_OPAQUE
};

/* What the datapath computes in numeric mode; chosen by name in the .isa
 * file from this list. */
enum nsr_sem {
  NSR_SEM_NONE,
  NSR_SEM_NOP,
  NSR_SEM_COPY,
  NSR_SEM_FILL,
  NSR_SEM_IOTA,
  NSR_SEM_STORE,                  /* st: one element from a register */
  NSR_SEM_LOAD,                   /* ld */
  NSR_SEM_TENSOR_TENSOR,          /* dst = a op b, element by element */
  NSR_SEM_TENSOR_SCALAR,          /* dst = (src op0 imm0) op1 imm1 */
  NSR_SEM_TENSOR_ROWSCALAR,       /* dst = src op scalar[partition] */
  NSR_SEM_TENSOR_REDUCE,          /* dst = op over src's innermost dimension */
  NSR_SEM_ACTIVATION,             /* dst = func(src * scale + bias) */
  NSR_SEM_ACTIVATION_ROWBIAS,     /* bias: one element per partition */
  NSR_SEM_ACTIVATION_SUM,         /* and sum = sum of the row */
  NSR_SEM_ACTIVATION_ROWBIAS_SUM, /* both */
  NSR_SEM_CAST,                   /* dst = src, in dst's dtype */
  NSR_SEM_COPY_PREDICATED,        /* dst = src where pred != 0 */
  NSR_SEM_FILL_PREDICATED,        /* dst = value where pred != 0 */
  NSR_SEM_SELECT,                 /* dst = pred != 0 ? a : b */
  NSR_SEM_SCAN, /* dst[j] = (dst[j-1] op0 a[j]) op1 b[j]; dst[-1]: init */
  NSR_SEM_AFFINE_SELECT,      /* dst = iota test 0 ? src : value */
  NSR_SEM_MAX8,               /* dst = the 8 largest of the row, falling */
  NSR_SEM_GATHER,             /* dst[p][i] = src[p][index[p][i]] */
  NSR_SEM_ACCUMULATE,         /* dst = dst op src */
  NSR_SEM_GATHER_ROWS,        /* dst[i] = src[index[i]], by rows (partitions) */
  NSR_SEM_SCATTER_ROWS,       /* dst[index[i]] = src[i] */
  NSR_SEM_SCATTER_ACCUMULATE, /* dst[index[i]] = dst[index[i]] op src[i] */
  NSR_SEM_LOAD_STATIONARY,    /* hidden state = src */
  NSR_SEM_MATMUL,             /* dst = state transposed * src, or dst + that */
  NSR_SEM_TRANSPOSE           /* dst[j][p] = src[p][j] */
};

enum nsr_role {
  NSR_R,
  NSR_W,
  NSR_RW,
  NSR_MR,
  NSR_MW,
  NSR_MRW /* some of these bytes only */
};
static inline bool nsr_role_reads(enum nsr_role r) {
  return r != NSR_W && r != NSR_MW;
}
static inline bool nsr_role_writes(enum nsr_role r) {
  return r != NSR_R && r != NSR_MR;
}
static inline bool nsr_role_may(enum nsr_role r) { return r >= NSR_MR; }

enum nsr_space { NSR_DRAM, NSR_SBUF, NSR_PSUM };
enum nsr_dtype {
  NSR_F32,
  NSR_BF16,
  NSR_F16,
  NSR_FP8,
  NSR_I32,
  NSR_I16,
  NSR_I8,
  NSR_U8
};
enum nsr_order { NSR_ORDER_HIDDEN, NSR_ORDER_NONE, NSR_ORDER_FULL };

enum nsr_cmp {
  NSR_CMP_NONE,
  NSR_CMP_GE,
  NSR_CMP_EQ,
  NSR_CMP_GT,
  NSR_CMP_LE,
  NSR_CMP_LT
};
enum nsr_upd {
  NSR_UPD_NONE,
  NSR_UPD_INC,
  NSR_UPD_DEC,
  NSR_UPD_ADD,
  NSR_UPD_SUB,
  NSR_UPD_SET
};
enum nsr_cc {
  NSR_CC_ALWAYS,
  NSR_CC_EQ,
  NSR_CC_NE,
  NSR_CC_LT,
  NSR_CC_LE,
  NSR_CC_GT,
  NSR_CC_GE
};

/* A register or an immediate. */
struct nsr_val {
  bool is_reg;
  int32_t v; /* register number, or the value */
};

struct nsr_wait {
  uint8_t cmp; /* enum nsr_cmp, NSR_CMP_NONE: no wait */
  uint16_t sem;
  struct nsr_val value; /* compared as signed 32 bits */
};

struct nsr_update {
  uint8_t op; /* enum nsr_upd, NSR_UPD_NONE: no update */
  uint16_t sem;
  int32_t value; /* of add, sub, set; 1 for inc and dec */
};

struct nsr_dim {
  int32_t step;  /* bytes, signed, 0 allowed */
  int32_t count; /* elements >= 0, or a register number */
  bool count_is_reg;
};

/* An access pattern. Element (p, i, j, ..) lies, on chip, in partition
 * part+p at byte offset + i*step + ..; in DRAM (part 0) at byte
 * offset + p*pstep + i*step + ... */
struct nsr_operand {
  uint8_t role;  /* enum nsr_role, from the description and flags */
  uint8_t space; /* enum nsr_space */
  uint8_t dtype; /* enum nsr_dtype */
  uint8_t ndims;
  bool acc;          /* accumulates in PSUM */
  int8_t indexed_by; /* operand that holds the indices, -1: none */
  int16_t reg;       /* adds a run-time byte offset, NSR_NO_REG: none */
  uint16_t part;     /* first partition; 0 in DRAM */
  uint16_t nparts;   /* partitions; rows in DRAM */
  int32_t pstep;     /* bytes between rows in DRAM; 0 on chip */
  int64_t offset;    /* bytes, immediate part */
  struct nsr_dim dims[NSR_MAX_DIMS]; /* outermost first */
};

/* A decoded instruction. Which members are valid follows from desc; operands
 * from noperands on hold nothing. */
struct nsr_insn {
  const struct nsr_insn_desc *desc;
  struct nsr_wait wait;
  struct nsr_update update;
  bool early_update; /* the "inputs read" bit; such files are refused */
  uint8_t noperands; /* == desc->noperands */
  int8_t queue;      /* queue instructions: its number; else -1 */
  uint8_t cc;        /* NSR_CTL_BR: enum nsr_cc */
  int16_t dst;       /* load and control: destination register, or -1 */
  int16_t cond;      /* NSR_CTL_SEL: register, or -1 */
  int16_t value_reg; /* NSR_SEM_STORE: the register stored, or -1 */
  struct nsr_val a, b;
  int32_t displacement;       /* NSR_CTL_BR: target index - own index */
  int32_t id;                 /* barrier id */
  int64_t args[NSR_MAX_ARGS]; /* as desc->args; floats as f32 bits */
  struct nsr_operand operands[NSR_MAX_OPERANDS];
};

enum nsr_arg_kind { NSR_ARG_INT, NSR_ARG_F32, NSR_ARG_ENUM };

/* A numeric parameter of a datapath instruction. fill has "value"; iota has
 * "base", "pmul", "step0".."step2". */
struct nsr_arg_desc {
  const char *name;
  enum nsr_arg_kind kind;
  const char *const *names; /* NSR_ARG_ENUM: by value, NULL-terminated */
};

struct nsr_operand_desc {
  const char *name;
  enum nsr_role role;
  uint8_t maxdims;
  bool acc; /* may accumulate (a flag of the instruction decides) */
  int8_t indexed_by;
};

struct nsr_hidden_desc {
  const char *name; /* local to its engine */
  enum nsr_role role;
};

struct nsr_codec; /* field positions: private to src/isa */

/* One instruction of a description. */
struct nsr_insn_desc {
  const char *mnemonic;
  uint16_t opcode; /* of use to src/isa only */
  uint16_t index;  /* in nsr_isa.insns */
  enum nsr_class cls;
  enum nsr_ctl ctl;
  enum nsr_meaning meaning;
  enum nsr_sem sem;
  uint32_t engines; /* bit e: legal on engine e */
  bool queue;       /* goes to a queue, not to the pipeline */
  bool unknown_effects;
  bool external; /* a core barrier */
  bool has_wait, has_update;
  uint8_t noperands, nargs, nhidden;
  struct nsr_operand_desc operands[NSR_MAX_OPERANDS];
  struct nsr_arg_desc args[NSR_MAX_ARGS];
  struct nsr_hidden_desc hidden[NSR_MAX_HIDDEN];
  const struct nsr_codec *codec;
};

/* One instruction set. */
struct nsr_isa {
  const char *name;
  uint32_t version;
  uint16_t word;      /* bytes per instruction */
  uint16_t registers; /* per engine, 32 bits each */
  uint16_t semaphores;
  uint8_t semaphore_bits;
  uint16_t partitions;
  uint32_t sbuf_bytes, psum_bytes; /* per partition */
  uint8_t nengines;
  const char *engines[NSR_MAX_ENGINES];
  enum nsr_order pipe_order[NSR_MAX_ENGINES];
  enum nsr_order queue_order;
  uint16_t owned_first, owned_last; /* default owned semaphores */
  int32_t min_displacement, max_displacement;
  uint16_t ninsns;
  const struct nsr_insn_desc *insns;
  const uint16_t *by_opcode; /* opcode -> index + 1, 0: illegal */
  uint32_t nopcodes;
  /* nsr_decode for this description: generated, all places constants. */
  const char *(*decode)(int engine, const uint8_t *word, struct nsr_insn *insn);
};

/* Every description built in, NULL-terminated; the first is the default of
 * what makes kernels from nothing. */
extern const struct nsr_isa *const nsr_isas[];
const struct nsr_isa *nsr_isa_by_name(const char *name); /* NULL: none */
int nsr_isa_engine(const struct nsr_isa *isa, const char *name); /* -1 */

/* The instruction with this mnemonic (n bytes), or NULL. */
const struct nsr_insn_desc *nsr_isa_mnemonic(const struct nsr_isa *isa,
                                             const char *s, size_t n);
/* The instruction that performs a control operation, NULL: none. */
const struct nsr_insn_desc *nsr_isa_control(const struct nsr_isa *isa,
                                            enum nsr_ctl ctl);
/* The no-op of pipelines (queue false) or of queues (queue true). */
const struct nsr_insn_desc *nsr_isa_nop(const struct nsr_isa *isa, bool queue);
const struct nsr_insn_desc *nsr_isa_barrier(const struct nsr_isa *isa);

/* Why a word does not decode; a static string, NULL where it does. *insn is
 * valid only then. Checks opcode, engine (0..nengines-1), reserved bits and
 * enumerations, never the branch target's range. */
NSR_MUST_USE const char *nsr_decode(const struct nsr_isa *isa, int engine,
                                    const uint8_t *word, struct nsr_insn *insn);

/* Why a value does not encode ("offset of dst: 70000 is not in 0..65535"),
 * into why (size bytes); true if it does, and word then holds isa->word
 * bytes. decode(encode(x)) == x and encode(decode(w)) == w; so members that
 * do not apply must be as nsr_insn_init leaves them: an absent wait or update
 * is all zero, as are the operands of a branch taken always. */
NSR_MUST_USE bool nsr_encode(const struct nsr_isa *isa,
                             const struct nsr_insn *insn, uint8_t *word,
                             char *why, size_t size);

/* An instruction of this kind with nothing set: no wait, no update, registers
 * and queue absent or 0, operands empty with the description's roles. */
void nsr_insn_init(const struct nsr_insn_desc *desc, struct nsr_insn *insn);

/* Patches of one field group in a word that decodes; all other bits stay. A
 * value that does not fit: false. */
NSR_MUST_USE bool nsr_word_set_wait(const struct nsr_isa *isa, uint8_t *word,
                                    const struct nsr_wait *wait);
NSR_MUST_USE bool nsr_word_set_update(const struct nsr_isa *isa, uint8_t *word,
                                      const struct nsr_update *update);
NSR_MUST_USE bool nsr_word_set_displacement(const struct nsr_isa *isa,
                                            uint8_t *word, int32_t d);

/* Boundary values for round-trip tests: the number of fields of desc, and
 * each field's lowest and highest raw value set in a word (others as given).
 * Field 0..n-1; which 0: all bits 0, 1: all bits 1 or the largest legal. */
int nsr_desc_fields(const struct nsr_insn_desc *desc);
const char *nsr_desc_field_set(const struct nsr_insn_desc *desc, int field,
                               int which, uint8_t *word); /* field's name */

/* Names, as in assembly and JSON. The parse side gives -1 for none. */
const char *nsr_space_name(enum nsr_space s);
const char *nsr_dtype_name(enum nsr_dtype d);
const char *nsr_role_name(enum nsr_role r);
const char *nsr_cmp_name(enum nsr_cmp c);
const char *nsr_upd_name(enum nsr_upd u);
const char *nsr_cc_name(enum nsr_cc c);
const char *nsr_order_name(enum nsr_order o);
const char *nsr_class_name(enum nsr_class c);
const char *nsr_meaning_name(enum nsr_meaning m);
const char *nsr_ctl_name(enum nsr_ctl c);
const char *nsr_sem_name(enum nsr_sem s);
int nsr_space_parse(const char *s, size_t n);
int nsr_dtype_parse(const char *s, size_t n);
int nsr_cmp_parse(const char *s, size_t n);
int nsr_upd_parse(const char *s, size_t n);
int nsr_cc_parse(const char *s, size_t n);
int nsr_role_parse(const char *s, size_t n);
int nsr_order_parse(const char *s, size_t n);
int nsr_class_parse(const char *s, size_t n);
int nsr_meaning_parse(const char *s, size_t n);
int nsr_ctl_parse(const char *s, size_t n);
int nsr_sem_parse(const char *s, size_t n);
uint8_t nsr_dtype_bytes(enum nsr_dtype d);

#ifdef __cplusplus
}
#endif
#endif
