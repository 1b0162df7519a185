/* json_in.h - reading JSON lines: the state, and typed access to members that
 * says precisely what is wrong: "operands[1].offset.imm: expected an integer
 * in 0..9, found nothing".
 */
#ifndef NSR_ASM_JSON_IN_H
#define NSR_ASM_JSON_IN_H

#include <jansson.h>

#include "asm/asm_build.h"

enum { NSR_JSON_ERRORS = 1000 }; /* reported before giving up */

struct nsr_json_in {
  struct nsr_ctx *ctx;
  const char *path;
  uint32_t line;
  const struct nsr_isa *isa; /* NULL: before the first line */
  struct nsr_build b;
  bool listed;                     /* the head names the engines */
  uint32_t index[NSR_MAX_ENGINES]; /* of the next instruction */
  uint32_t errors;
  char where[160]; /* path of the object being read: "operands[1]." */
};

/* ---- json_get.c */

NSR_PRINTF(2, 3)
enum nsr_status nsr_json_fail(struct nsr_json_in *in, const char *fmt, ...);
/* "KEY: expected WHAT, found VALUE"; value NULL: nothing is there. */
enum nsr_status nsr_json_expected(struct nsr_json_in *in, const char *key,
                                  const char *what, const json_t *value);

/* Enters a member for messages; leave with the result. */
size_t nsr_json_enter(struct nsr_json_in *in, const char *key, int index);
void nsr_json_leave(struct nsr_json_in *in, size_t mark);

/* The member, NULL where it is missing or null. */
json_t *nsr_json_get(const json_t *from, const char *key);

/* Members of a type; *out stays where there is none and it is optional. */
enum nsr_json_need { NSR_JSON_OPTIONAL, NSR_JSON_REQUIRED };
NSR_MUST_USE enum nsr_status nsr_json_int(struct nsr_json_in *in,
                                          const json_t *from, const char *key,
                                          enum nsr_json_need need, int64_t lo,
                                          int64_t hi, int64_t *out);
NSR_MUST_USE enum nsr_status
nsr_json_string(struct nsr_json_in *in, const json_t *from, const char *key,
                enum nsr_json_need need, const char **out);
NSR_MUST_USE enum nsr_status nsr_json_bool(struct nsr_json_in *in,
                                           const json_t *from, const char *key,
                                           bool *out);
/* Arrays and objects; NULL where there is none. */
NSR_MUST_USE enum nsr_status nsr_json_array(struct nsr_json_in *in,
                                            const json_t *from, const char *key,
                                            json_t **out);
NSR_MUST_USE enum nsr_status nsr_json_object(struct nsr_json_in *in,
                                             const json_t *from,
                                             const char *key, json_t **out);
/* An element of an array as an integer; key names the array. */
NSR_MUST_USE enum nsr_status nsr_json_item(struct nsr_json_in *in,
                                           const json_t *array, const char *key,
                                           size_t i, int64_t lo, int64_t hi,
                                           int64_t *out);
/* A string of a fixed list that parse knows; what: "a space (dram ..)". */
NSR_MUST_USE enum nsr_status
nsr_json_choice(struct nsr_json_in *in, const json_t *from, const char *key,
                enum nsr_json_need need, const char *what,
                int (*parse)(const char *, size_t), int *out);
/* A string that is a name, checked. */
NSR_MUST_USE enum nsr_status nsr_json_name(struct nsr_json_in *in,
                                           const char *key, const json_t *value,
                                           const char **out);
/* An engine of the instruction set. */
NSR_MUST_USE enum nsr_status nsr_json_engine(struct nsr_json_in *in,
                                             const char *key,
                                             const json_t *value, int *out);
/* Base64 into the keep arena; *data stays where there is none. */
NSR_MUST_USE enum nsr_status nsr_json_data(struct nsr_json_in *in,
                                           const json_t *from,
                                           const uint8_t **data,
                                           uint64_t *size);

/* ---- json_head.c, json_insn.c: one line each */

NSR_MUST_USE enum nsr_status nsr_json_head(struct nsr_json_in *in,
                                           const json_t *j);
NSR_MUST_USE enum nsr_status nsr_json_insn(struct nsr_json_in *in,
                                           const json_t *j);
/* A label at the end of stream `engine` as read so far. */
NSR_MUST_USE enum nsr_status nsr_json_label(struct nsr_json_in *in, int engine,
                                            const char *key,
                                            const json_t *value);
/* The engine a line belongs to; it must be one of the head's. */
NSR_MUST_USE enum nsr_status nsr_json_stream(struct nsr_json_in *in,
                                             const json_t *j, int *engine);
#endif
