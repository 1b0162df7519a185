/* json_text.h - JSON as text, piece by piece, without a tree of it: in an
 * array values follow each other, in an object each has its key in front.
 * Commas come by themselves.
 */
#ifndef NSR_ASM_JSON_TEXT_H
#define NSR_ASM_JSON_TEXT_H

#include "base/strbuf.h"

struct nsr_json_text {
  struct nsr_strbuf b;
  bool wrong; /* a string was no UTF-8 */
};

/* A key that needs no escapes; a value must follow. */
#define NSR_JSON_KEY(t, key) nsr_json_raw((t), "\"" key "\":", sizeof key + 2)
void nsr_json_key(struct nsr_json_text *t, const char *key);

/* n bytes of a value, or of a key with its colon. */
void nsr_json_raw(struct nsr_json_text *t, const char *s, size_t n);
#define NSR_JSON_RAW(t, s) nsr_json_raw((t), "" s, sizeof s - 1)

void nsr_json_open(struct nsr_json_text *t, char bracket);
void nsr_json_close(struct nsr_json_text *t, char bracket);
void nsr_json_number(struct nsr_json_text *t, int64_t v);
void nsr_json_text(struct nsr_json_text *t, const char *s);
void nsr_json_newline(struct nsr_json_text *t);

#endif
