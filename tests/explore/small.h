/* small.h - small kernels in barrier form, from a seed: few enough orders to
 * go through all of them. Loops and conditionals of all engines, at whose
 * front and at the end of whose bodies all meet; in between each instruction
 * waits for what it conflicts with, channel by channel. */
#ifndef NSR_TESTS_SMALL_H
#define NSR_TESTS_SMALL_H

#include <nsr/kernel.h>

enum { SMALL_TEXT = 1 << 16 };

/* The text of kernel `seed` for an instruction set, words of control among it:
 * one input. may: some instructions touch only some of their bytes. others:
 * some wait for others, or tell them something. */
void small_kernel(const struct nsr_isa *isa, uint64_t seed, bool may,
                  bool others, char text[SMALL_TEXT]);

#endif
