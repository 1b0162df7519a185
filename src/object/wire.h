/* wire.h - little-endian numbers and strings in the tables of a kernel file.
 *
 * A string is a length (32 bits), its bytes and one NUL that the length does
 * not count, so that a reader can point into the file.
 */
#ifndef NSR_OBJECT_WIRE_H
#define NSR_OBJECT_WIRE_H

#include "base/strbuf.h"

/* What is left to read. A read past the end, or a malformed string, sets bad
 * and gives 0 or "": check once at the end. */
struct nsr_in {
  const uint8_t *p;
  size_t left;
  bool bad;
};

/* The next n bytes, NULL where there are fewer. */
const uint8_t *nsr_in_bytes(struct nsr_in *in, size_t n);
uint8_t nsr_in_u8(struct nsr_in *in);
uint16_t nsr_in_u16(struct nsr_in *in);
uint32_t nsr_in_u32(struct nsr_in *in);
uint64_t nsr_in_u64(struct nsr_in *in);
const char *nsr_in_str(struct nsr_in *in);
/* The name at byte `at` of a string table (strings may share bytes), NULL: none
 * there, or longer than NSR_MAX_NAME, which keeps crafted files from costing
 * more than their size. */
enum { NSR_MAX_NAME = 4096 };
const char *nsr_in_name(const struct nsr_in *strings, uint64_t at);
/* A number of records of at least `size` bytes each: bad and 0 where what is
 * left cannot hold them. */
uint32_t nsr_in_count(struct nsr_in *in, size_t size);
/* Whether everything was read, and well. */
bool nsr_in_done(const struct nsr_in *in);

void nsr_put_u8(struct nsr_strbuf *b, uint8_t v);
void nsr_put_u16(struct nsr_strbuf *b, uint16_t v);
void nsr_put_u32(struct nsr_strbuf *b, uint32_t v);
void nsr_put_u64(struct nsr_strbuf *b, uint64_t v);
void nsr_put_str(struct nsr_strbuf *b, const char *s);

#endif
