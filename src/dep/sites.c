/* sites.c - accesses, grouped by what they touch. */
#include "dep/sites.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "base/vec.h"
#include "base/work.h"
#include "mem/conflict.h"

/* What sites of one group have in common; no padding that is not 0. */
struct key {
  struct nsr_footprint footprint; /* role R */
  uint32_t tensor;                /* as in struct nsr_site_group */
  bool moves;
  struct nsr_pattern pattern; /* void where nothing moves */
};

struct finder {
  struct nsr_ctx *ctx;
  const struct nsr_distances *d;
  const struct nsr_tree *t;
  bool unknown; /* instructions with unknown effects are no islands */
  NSR_VEC(struct nsr_site) sites;
  NSR_VEC(struct nsr_site_group) groups;
  NSR_VEC(uint64_t) hashes; /* by group, of its key */
  uint32_t *slots;          /* open addressing: group + 1, 0: free */
  size_t nslots;
};

/* ---- groups */

/* Member by member: what is between them may be anything in `f`. */
static void copy_footprint(struct nsr_footprint *out,
                           const struct nsr_footprint *f) {
  memset(out, 0, sizeof *out);
  out->space = f->space;
  out->role = NSR_R;
  out->kind = f->kind;
  out->ndims = f->ndims;
  out->part = f->part;
  out->nparts = f->nparts;
  out->lo = f->lo;
  out->hi = f->hi;
  out->run = f->run;
  memcpy(out->dims, f->dims, sizeof out->dims);
}

/* What counts of it. */
static void copy_pattern(struct nsr_pattern *out, const struct nsr_pattern *p) {
  memcpy(out, p, sizeof *out);
  out->op.role = NSR_R;
  out->op.acc = false;
  out->op.dtype = nsr_dtype_bytes((enum nsr_dtype)p->op.dtype);
  out->op.indexed_by = 0;
}

static void make_key(const struct nsr_footprint *footprint,
                     const struct nsr_pattern *pattern, bool moves,
                     uint32_t tensor, struct key *out) {
  copy_footprint(&out->footprint, footprint);
  out->tensor = tensor;
  out->moves = moves;
  if (moves)
    copy_pattern(&out->pattern, pattern);
}

static uint64_t hash_words(uint64_t h, const void *p, size_t size) {
  uint64_t x;
  for (size_t i = 0; i < size; i += sizeof x) {
    memcpy(&x, (const char *)p + i, sizeof x);
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 32;
  }
  return h;
}

static uint64_t hash(const struct key *k) {
  static_assert(sizeof k->footprint % sizeof(uint64_t) == 0 &&
                    sizeof k->pattern % sizeof(uint64_t) == 0,
                "whole words");
  const struct nsr_footprint *f = &k->footprint;
  size_t head = offsetof(struct nsr_footprint, dims);
  uint64_t h = hash_words(k->tensor, f, head + f->ndims * sizeof *f->dims);
  return k->moves ? hash_words(h, &k->pattern, sizeof k->pattern) : h;
}

static bool has_key(const struct nsr_site_group *g, const struct key *k) {
  struct nsr_footprint f;
  struct nsr_pattern p;
  copy_footprint(&f, &g->footprint);
  if (g->moves != k->moves || g->tensor != k->tensor ||
      memcmp(&f, &k->footprint, sizeof f) != 0)
    return false;
  if (!k->moves)
    return true;
  copy_pattern(&p, &g->pattern);
  return memcmp(&p, &k->pattern, sizeof p) == 0;
}

static size_t find_slot(const struct finder *f, const struct key *k,
                        uint64_t h) {
  size_t s = h & (f->nslots - 1);
  while (f->slots[s] && (f->hashes.v[f->slots[s] - 1] != h ||
                         !has_key(&f->groups.v[f->slots[s] - 1], k)))
    s = (s + 1) & (f->nslots - 1);
  return s;
}

static enum nsr_status grow(struct finder *f) {
  size_t n = f->nslots ? 2 * f->nslots : 256;
  NSR_NEW(f->ctx, NSR_SCRATCH, f->slots, n);
  f->nslots = n;
  for (size_t i = 0; i < f->groups.n; i++) { /* all different */
    size_t s = f->hashes.v[i] & (n - 1);
    while (f->slots[s])
      s = (s + 1) & (n - 1);
    f->slots[s] = (uint32_t)i + 1;
  }
  return NSR_OK;
}

static enum nsr_status group_of(struct finder *f,
                                const struct nsr_footprint *footprint,
                                const struct nsr_pattern *pattern, bool moves,
                                uint32_t *out) {
  const struct nsr_facts_file *facts = f->t->program->facts;
  uint32_t tensor = NSR_NONE;
  struct key k;
  if (pattern->tensor != NSR_NONE && nsr_facts_names(facts, pattern->tensor))
    tensor = pattern->tensor;
  if (2 * (f->groups.n + 1) > f->nslots)
    NSR_TRY(grow(f));
  make_key(footprint, pattern, moves, tensor, &k);
  uint64_t h = hash(&k);
  size_t s = find_slot(f, &k, h);
  if (!f->slots[s]) {
    NSR_APPEND(f->ctx, NSR_SCRATCH, &f->hashes, h);
    struct nsr_site_group g = {
        .moves = moves, .tensor = tensor, .self = NSR_NONE};
    g.footprint = k.footprint;
    memcpy(&g.pattern, pattern, sizeof g.pattern);
    NSR_APPEND(f->ctx, NSR_SCRATCH, &f->groups, g);
    f->slots[s] = (uint32_t)f->groups.n;
  }
  *out = f->slots[s] - 1;
  return NSR_OK;
}

static bool bigger(const struct nsr_footprint *a,
                   const struct nsr_footprint *b) {
  return a->kind == NSR_FOOTPRINT_HULL || a->lo != b->lo || a->hi != b->hi;
}

/* The bytes of all iterations: of a rotating address those of its values, of
 * another whatever the operand may reach. */
static void footprint_of(const struct finder *f, const struct nsr_pattern *p,
                         struct nsr_footprint *out) {
  const struct nsr_kernel *k = f->t->program->k;
  bool symbolic = nsr_form_symbolic(&p->form);
  if (p->form.kind == NSR_FORM_CONST && !symbolic) {
    nsr_footprint_of(k, &p->op, p->tensor, &p->form.base, out);
    return;
  }
  nsr_footprint_of(k, &p->op, p->tensor, NULL, out);
  if (symbolic)
    return;
  for (int t = 0; p->form.kind == NSR_FORM_PERIODIC && t < p->form.period;
       t++) {
    struct nsr_footprint x;
    nsr_footprint_of(k, &p->op, p->tensor, &p->form.values[t], &x);
    if (t == 0)
      *out = x;
    if (t == 0 || !bigger(&x, out))
      continue;
    out->kind = NSR_FOOTPRINT_HULL;
    out->lo = x.lo < out->lo ? x.lo : out->lo;
    out->hi = x.hi > out->hi ? x.hi : out->hi;
    out->run = out->hi - out->lo;
    out->ndims = 0;
    memset(out->dims, 0, sizeof out->dims);
  }
}

static enum nsr_status push_site(struct finder *f, uint32_t w,
                                 const struct nsr_footprint *footprint,
                                 const struct nsr_pattern *pattern,
                                 enum nsr_role role) {
  bool moves = pattern->form.kind == NSR_FORM_AFFINE ||
               pattern->form.kind == NSR_FORM_PERIODIC ||
               nsr_form_symbolic(&pattern->form);
  struct nsr_site s = {.work = w,
                       .reads = nsr_role_reads(role),
                       .writes = nsr_role_writes(role),
                       .may = nsr_role_may(role),
                       .acc = pattern->op.acc};
  if (nsr_footprint_empty(footprint))
    return NSR_OK;
  NSR_TRY(group_of(f, footprint, pattern, moves, &s.group));
  NSR_APPEND(f->ctx, NSR_SCRATCH, &f->sites, s);
  if (s.writes)
    f->groups.v[s.group].footprint.role = NSR_RW;
  return NSR_OK;
}

/* ---- sites of one work */

static enum nsr_status operand_sites(struct finder *f, uint32_t w,
                                     const struct nsr_insn *x) {
  for (int i = 0; i < x->noperands; i++) {
    struct nsr_pattern p;
    struct nsr_footprint footprint;
    nsr_pattern_of(f->d, w, x, i, &p);
    footprint_of(f, &p, &footprint);
    NSR_TRY(push_site(f, w, &footprint, &p, (enum nsr_role)p.op.role));
  }
  return NSR_OK;
}

static enum nsr_status plain_site(struct finder *f, uint32_t w,
                                  const struct nsr_footprint *footprint,
                                  enum nsr_role role) {
  struct nsr_pattern none;
  memset(&none, 0, sizeof none);
  none.form.loop = NSR_NONE;
  none.tensor = NSR_NONE;
  return push_site(f, w, footprint, &none, role);
}

/* A name of hidden state, among those of the engine's instructions. */
static int64_t hidden_number(const struct nsr_isa *isa, const char *name) {
  int64_t n = 0;
  for (uint16_t i = 0; i < isa->ninsns; i++)
    for (int h = 0; h < isa->insns[i].nhidden; h++, n++)
      if (strcmp(isa->insns[i].hidden[h].name, name) == 0)
        return n;
  return n;
}

/* Where a pipeline does not keep hidden state in order, it is like memory: a
 * byte of a space behind all others, one partition per engine. */
static enum nsr_status hidden_sites(struct finder *f, uint32_t w,
                                    const struct nsr_insn_desc *d) {
  const struct nsr_work *x = &f->t->works[w];
  const struct nsr_kernel *k = f->t->program->k;
  if (nsr_channel_order(k, x->channel) != NSR_ORDER_NONE)
    return NSR_OK;
  for (int h = 0; h < d->nhidden; h++) {
    int64_t n = hidden_number(k->isa, d->hidden[h].name);
    struct nsr_footprint place = {.space = NSR_SPACE_HIDDEN,
                                  .kind = NSR_FOOTPRINT_EXACT,
                                  .part = x->engine,
                                  .nparts = 1,
                                  .lo = n,
                                  .hi = n + 1,
                                  .run = 1};
    NSR_TRY(plain_site(f, w, &place, d->hidden[h].role));
  }
  return NSR_OK;
}

/* What lies outside overlaps all of DRAM (machine.md 3). */
static enum nsr_status external_site(struct finder *f, uint32_t w,
                                     const struct nsr_insn_desc *d) {
  const struct nsr_node *n = nsr_work_node(f->t, &f->t->works[w]);
  if (!n->foreign_wait && !n->foreign_update && !d->external)
    return NSR_OK;
  struct nsr_footprint all = nsr_footprint_everything(NSR_DRAM);
  NSR_TRY(plain_site(f, w, &all, NSR_RW));
  f->sites.v[f->sites.n - 1].external = true;
  return NSR_OK;
}

/* Instructions with unknown effects may touch what any other touches. */
static enum nsr_status unknown_site(struct finder *f, uint32_t w) {
  const struct nsr_node *n = nsr_work_node(f->t, &f->t->works[w]);
  struct nsr_footprint place = {.space = NSR_SPACE_ANYTHING,
                                .kind = NSR_FOOTPRINT_EXACT,
                                .nparts = 1,
                                .hi = 1,
                                .run = 1};
  if (!f->unknown || (n->nop && !n->foreign_wait && !n->foreign_update))
    return NSR_OK;
  NSR_TRY(plain_site(f, w, &place, n->unknown ? NSR_MW : NSR_R));
  f->sites.v[f->sites.n - 1].anything = true;
  return NSR_OK;
}

static enum nsr_status work_sites(struct finder *f, uint32_t w) {
  const struct nsr_work *x = &f->t->works[w];
  const struct nsr_program *p = f->t->program;
  struct nsr_insn insn;
  if (x->channel < 0 || x->marker || x->island)
    return NSR_OK;
  NSR_TRY(
      nsr_stream_decode(f->ctx, p->k, p->stream[x->engine], x->insn, &insn));
  NSR_TRY(operand_sites(f, w, &insn));
  NSR_TRY(hidden_sites(f, w, insn.desc));
  NSR_TRY(external_site(f, w, insn.desc));
  return unknown_site(f, w);
}

static bool any_unknown(const struct nsr_tree *t) {
  for (uint32_t w = 0; w < t->nworks; w++)
    if (!t->works[w].marker && !t->works[w].island &&
        nsr_work_node(t, &t->works[w])->unknown)
      return true;
  return false;
}

/* ---- links */

static enum nsr_status find_links(struct finder *f, size_t most,
                                  struct nsr_sites *out) {
  struct nsr_access *accesses;
  struct nsr_conflicts conflicts;
  struct nsr_site_link *links;
  struct nsr_bytes *where;
  struct nsr_mark mark = nsr_scratch_mark(f->ctx);
  size_t n = f->groups.n;
  NSR_NEW(f->ctx, NSR_SCRATCH, accesses, n);
  for (uint32_t g = 0; g < n; g++)
    accesses[g] = (struct nsr_access){f->groups.v[g].footprint, g};
  NSR_TRY(
      nsr_conflicts_few(f->ctx, NSR_SCRATCH, accesses, n, most, &conflicts));
  out->ncrowds = conflicts.ncrowds;
  for (uint32_t g = 0; out->ncrowds && g < n; g++) {
    f->groups.v[g].crowd = conflicts.crowd[g];
    f->groups.v[g].linked = conflicts.crowd[g] > 0;
  }
  NSR_NEW(f->ctx, NSR_SCRATCH, links, conflicts.n);
  out->nwhere = conflicts.n + (out->ncrowds ? conflicts.n / 2 : 0);
  NSR_NEW(f->ctx, NSR_SCRATCH, where, out->nwhere);
  for (uint32_t i = 0; i < conflicts.n; i++) {
    const struct nsr_conflict *c = &conflicts.v[i];
    if (nsr_facts_disjoint(f->t->program->facts, f->groups.v[c->a].tensor,
                           f->groups.v[c->b].tensor))
      continue;
    f->groups.v[c->a].linked = f->groups.v[c->b].linked = true;
    if (c->a == c->b)
      f->groups.v[c->a].self = out->nlinks;
    where[out->nlinks] = c->where;
    links[out->nlinks++] =
        (struct nsr_site_link){c->a, c->b, (uint8_t)c->overlap};
  }
  struct nsr_kept kept[] = {{links, out->nlinks * sizeof *links},
                            {where, out->nwhere * sizeof *where}};
  NSR_TRY(nsr_scratch_release_but(f->ctx, mark, kept, 2));
  out->links = kept[0].p;
  out->where = kept[1].p;
  nsr_work_count(f->ctx, NSR_WORK_DEP, conflicts.n);
  return NSR_OK;
}

/* The end of a link with fewer links, lower numbers first. */
static uint32_t lower(const struct nsr_site_link *l, const uint32_t *degree) {
  if (degree[l->a] != degree[l->b])
    return degree[l->a] < degree[l->b] ? l->a : l->b;
  return l->a;
}

/* Links hang at their lower end, so that no group has many. */
static enum nsr_status hang_links(struct finder *f, struct nsr_sites *out) {
  uint32_t *degree, *ups, at = 0;
  struct nsr_site_group *groups = f->groups.v;
  NSR_NEW(f->ctx, NSR_SCRATCH, degree, f->groups.n);
  NSR_NEW(f->ctx, NSR_SCRATCH, ups, out->nlinks);
  for (uint32_t i = 0; i < out->nlinks; i++) {
    degree[out->links[i].a]++;
    degree[out->links[i].b]++;
  }
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t i = 0; i < out->nlinks; i++) {
      const struct nsr_site_link *l = &out->links[i];
      struct nsr_site_group *g = &groups[lower(l, degree)];
      if (l->a == l->b)
        continue;
      if (pass == 1)
        ups[g->first_up + g->nups] = i;
      g->nups++;
    }
    for (size_t g = 0; pass == 0 && g < f->groups.n; g++) {
      groups[g].first_up = at;
      at += groups[g].nups;
      groups[g].nups = 0;
    }
  }
  out->ups = ups;
  return NSR_OK;
}

enum nsr_status nsr_sites_find(struct nsr_ctx *ctx,
                               const struct nsr_distances *d, size_t most,
                               struct nsr_sites *out) {
  struct finder f = {.ctx = ctx, .d = d, .t = d->tree};
  uint32_t *first;
  NSR_NEW(ctx, NSR_SCRATCH, first, f.t->nworks + 1);
  f.unknown = any_unknown(f.t);
  for (uint32_t w = 0; w < f.t->nworks; w++) {
    first[w] = (uint32_t)f.sites.n;
    NSR_TRY(work_sites(&f, w));
  }
  first[f.t->nworks] = (uint32_t)f.sites.n;
  *out = (struct nsr_sites){.tree = f.t,
                            .nsites = (uint32_t)f.sites.n,
                            .ngroups = (uint32_t)f.groups.n,
                            .sites = f.sites.v,
                            .first = first};
  nsr_work_count(ctx, NSR_WORK_DEP, f.sites.n);
  NSR_TRY(find_links(&f, most, out));
  NSR_TRY(hang_links(&f, out));
  out->groups = f.groups.v;
  return NSR_OK;
}
