/* small.h - small kernels in barrier form, from a seed: few enough orders to
 * go through all of them. Loops and conditionals of all engines, at whose
 * front and at the end of whose bodies all meet; in between each instruction
 * waits for what it conflicts with, channel by channel. */
#ifndef NSR_TESTS_SMALL_H
#define NSR_TESTS_SMALL_H

#include <nsr/kernel.h>

enum { SMALL_TEXT = 1 << 16 };

/* What is in a kernel beside plain work. */
struct small_with {
  bool may;     /* instructions that touch only some of their bytes */
  bool others;  /* waits for others, and what others are told */
  bool odd;     /* waits for a count that is ==: some kernels hang */
  bool plain;   /* no address that an iteration selects */
  bool unknown; /* instructions with unknown effects */
};

/* The text of kernel `seed` for an instruction set, words of control among it:
 * one input. */
void small_kernel(const struct nsr_isa *isa, uint64_t seed,
                  struct small_with with, char text[SMALL_TEXT]);

#endif
