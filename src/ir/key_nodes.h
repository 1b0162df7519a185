/* key_nodes.h - how value numbers are made; private to src/ir.
 */
#ifndef NSR_IR_KEY_NODES_H
#define NSR_IR_KEY_NODES_H

#include <stdint.h>

/* Kinds of nodes; register operations follow. */
enum nsr_key_kind {
  NSR_KEY_UNIQUE,   /* nothing is known: a = a count */
  NSR_KEY_CONSTANT, /* a */
  NSR_KEY_START,    /* a register at the start of an iteration: a = register */
  NSR_KEY_SELF,     /* the register whose step this is */
  NSR_KEY_PHI,      /* a = loop, b = value before it, c = step */
  NSR_KEY_LOAD,     /* a = the word, b = address register's value, c = region */
  NSR_KEY_WORD,     /* an operand's fields: a, b, c */
  NSR_KEY_JOIN,     /* a = predicate, b = value of the arm, c = else */
  NSR_KEY_TEST,     /* a = condition, b, c = operands: a predicate */
  NSR_KEY_EXIT,   /* a = predicate on which a loop is left, b = loops around */
  NSR_KEY_REGION, /* a = kind, b, c = where */
  NSR_KEY_OPERATION
};

/* A value is how it was made; equal nodes are one node. */
struct nsr_key_node {
  uint32_t kind, a, b, c;
};

#endif
