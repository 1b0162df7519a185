/* slots.c - the fields a description may have. */
#include "isagen.h"

/* ORDER enum insn_slot. */
const struct slot insn_slots[NINSN_SLOTS] = {
    {"wait.sem", "wait_sem", SLOT_SEMAPHORE, 16, 0, 0, NULL},
    {"wait.cmp", "wait_cmp", SLOT_NAMES, 8, 0, 0, nsr_cmp_parse},
    {"wait.reg", "wait_value.is_reg", SLOT_FLAG, 1, 0, 0, NULL},
    {"wait.value", "wait_value.v", SLOT_NUMBER, 31, 1, 0, NULL},
    {"update.sem", "update_sem", SLOT_SEMAPHORE, 16, 0, 0, NULL},
    {"update.op", "update_op", SLOT_NAMES, 8, 0, 0, nsr_upd_parse},
    {"update.value", "update_value", SLOT_NUMBER, 31, 1, 0, NULL},
    {"update.early", "update_early", SLOT_FLAG, 1, 0, 0, NULL},
    {"queue", "queue", SLOT_QUEUE, 8, 0, 0, NULL},
    {"dst", "dst", SLOT_REGISTER, 16, 0, 0, NULL},
    {"cond", "cond", SLOT_REGISTER, 16, 0, 0, NULL},
    {"value_reg", "value_reg", SLOT_REGISTER, 16, 0, 0, NULL},
    {"cc", "cc", SLOT_NAMES, 8, 0, 0, nsr_cc_parse},
    {"a.reg", "a.is_reg", SLOT_FLAG, 1, 0, 0, NULL},
    {"a", "a.v", SLOT_NUMBER, 31, 1, 0, NULL},
    {"b.reg", "b.is_reg", SLOT_FLAG, 1, 0, 0, NULL},
    {"b", "b.v", SLOT_NUMBER, 31, 1, 0, NULL},
    {"target", "target", SLOT_NUMBER, 31, 1, 1, NULL},
    {"id", "id", SLOT_NUMBER, 31, 0, 0, NULL},
};

#define DIM(i)                                                                 \
  {"dim" #i ".step", "dims[" #i "].step", SLOT_NUMBER, 31, 1, 0, NULL},        \
      {"dim" #i ".count", "dims[" #i "].count", SLOT_NUMBER, 31, 0, 0, NULL},  \
  {                                                                            \
    "dim" #i ".reg", "dims[" #i "].count_is_reg", SLOT_FLAG, 1, 0, 0, NULL     \
  }

/* ORDER enum shape_slot. */
const struct slot shape_slots[NSHAPE_SLOTS] = {
    {"space", "space", SLOT_NAMES, 8, 0, 0, nsr_space_parse},
    {"dtype", "dtype", SLOT_NAMES, 8, 0, 0, nsr_dtype_parse},
    {"acc", "acc", SLOT_FLAG, 1, 0, 0, NULL},
    {"part", "part", SLOT_NUMBER, 16, 0, 0, NULL},
    {"nparts", "nparts", SLOT_NUMBER, 16, 0, 0, NULL},
    {"pstep", "pstep", SLOT_NUMBER, 31, 1, 0, NULL},
    {"offset", "offset", SLOT_NUMBER, 48, 1, 0, NULL},
    {"reg.on", "has_reg", SLOT_FLAG, 1, 0, 0, NULL},
    {"reg", "reg", SLOT_REGISTER, 16, 0, 0, NULL},
    {"dims", "ndims", SLOT_DIMS, 8, 0, 0, NULL},
    DIM(0),
    DIM(1),
    DIM(2),
};
