/* asm_map.c - open addressing with linear probes, at most half full. */
#include "asm/asm_map.h"

#include <string.h>
#include <xxhash.h>

#include "base/arena.h"

static struct nsr_map_slot *find(struct nsr_map_slot *slots, size_t cap,
                                 const char *key, size_t n) {
  size_t i = (size_t)XXH3_64bits(key, n) & (cap - 1);
  while (slots[i].key && (slots[i].n != n || memcmp(slots[i].key, key, n) != 0))
    i = (i + 1) & (cap - 1);
  return &slots[i];
}

uint32_t nsr_map_get(const struct nsr_map *map, const char *key, size_t n) {
  if (!map->cap)
    return NSR_NONE;
  const struct nsr_map_slot *slot = find(map->slots, map->cap, key, n);
  return slot->key ? slot->value : NSR_NONE;
}

static enum nsr_status grow(struct nsr_ctx *ctx, struct nsr_map *map) {
  size_t cap = map->cap ? map->cap * 2 : 16;
  struct nsr_map_slot *slots;
  NSR_NEW(ctx, NSR_SCRATCH, slots, cap);
  for (size_t i = 0; i < map->cap; i++)
    if (map->slots[i].key)
      *find(slots, cap, map->slots[i].key, map->slots[i].n) = map->slots[i];
  map->slots = slots;
  map->cap = cap;
  return NSR_OK;
}

enum nsr_status nsr_map_put(struct nsr_ctx *ctx, struct nsr_map *map,
                            const char *key, size_t n, uint32_t value) {
  if (map->used * 2 >= map->cap)
    NSR_TRY(grow(ctx, map));
  struct nsr_map_slot *slot = find(map->slots, map->cap, key, n);
  map->used += !slot->key;
  *slot = (struct nsr_map_slot){key, n, value};
  return NSR_OK;
}
