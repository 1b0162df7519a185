/* boxsum.h - is there a sum of steps that falls into a window?
 *
 * Given terms (step, count) and a window, find z[i] in 0..count[i]-1 with
 *     lo <= step[0] * z[0] + step[1] * z[1] + .. <= hi.
 * Two strided patterns meet exactly where such a sum exists.
 */
#ifndef NSR_MEM_BOXSUM_H
#define NSR_MEM_BOXSUM_H

#include <stdint.h>

enum { NSR_BOXSUM_TERMS = 8 };

struct nsr_boxsum_term {
  int64_t step, count; /* both > 0; step at most 2^31, product below 2^60 */
};

enum nsr_boxsum { NSR_BOXSUM_NO, NSR_BOXSUM_YES, NSR_BOXSUM_GAVE_UP };

/* n <= NSR_BOXSUM_TERMS; |lo|, |hi| below 2^62. z (n of them) is set where the
 * answer is yes. Gives up only after a bounded search. */
enum nsr_boxsum nsr_boxsum_solve(const struct nsr_boxsum_term *terms, int n,
                                 int64_t lo, int64_t hi, int64_t *z);
#endif
