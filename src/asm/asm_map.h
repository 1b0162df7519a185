/* asm_map.h - names to numbers: a hash table in the scratch arena. */
#ifndef NSR_ASM_MAP_H
#define NSR_ASM_MAP_H

#include <nsr/kernel.h>

struct nsr_map_slot {
  const char *key; /* NULL: free */
  size_t n;
  uint32_t value;
};

/* All zero is an empty map. Keys are not copied. */
struct nsr_map {
  struct nsr_map_slot *slots;
  size_t cap, used;
};

/* The value of a key, NSR_NONE where it is not in the map. */
uint32_t nsr_map_get(const struct nsr_map *map, const char *key, size_t n);
/* Adds a key or replaces its value. */
NSR_MUST_USE enum nsr_status nsr_map_put(struct nsr_ctx *ctx,
                                         struct nsr_map *map, const char *key,
                                         size_t n, uint32_t value);
#endif
