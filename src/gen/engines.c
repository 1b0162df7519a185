/* engines.c - which engine does what: needs an instruction set and what a
 * kernel asks of its engines, makes an engine for each role.
 *
 * Kernels know no engine by name, only by the instructions it has. Several
 * roles may fall to one engine; its stream then holds their work in the order
 * of the kernel's steps.
 */
#include <assert.h>
#include <string.h>

#include "gen/suite.h"

bool nsr_gen_has(const struct nsr_isa *isa, int engine, const char *words) {
  for (const char *w = words; *w;) {
    size_t n = strcspn(w, " ");
    const struct nsr_insn_desc *desc = nsr_isa_mnemonic(isa, w, n);
    if (!desc || !(desc->engines >> engine & 1))
      return false;
    w += n + (w[n] == ' ');
  }
  return true;
}

static int instructions(const struct nsr_isa *isa, int engine) {
  int n = 0;
  for (int i = 0; i < isa->ninsns; i++)
    n += isa->insns[i].engines >> engine & 1;
  return n;
}

/* Better ones are larger: of the kind that is meant, free, special. */
static int fitness(const struct nsr_isa *isa, const struct nsr_gen_role *role,
                   int engine, bool used) {
  bool liked = role->likes && nsr_gen_has(isa, engine, role->likes);
  return (liked * 2 + !used) * (UINT16_MAX + 1) - instructions(isa, engine);
}

static enum nsr_status none(struct nsr_ctx *ctx, const struct nsr_isa *isa,
                            const char *kernel, const char *needs) {
  return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                  "%s needs an engine with %s, which %s does not have", kernel,
                  needs, isa->name);
}

enum nsr_status nsr_gen_engines(struct nsr_ctx *ctx, const struct nsr_isa *isa,
                                const char *kernel, const char *all,
                                const struct nsr_gen_role *roles, int n,
                                int *engines) {
  uint32_t used = 0;
  for (int e = 0; e < isa->nengines; e++)
    if (!nsr_gen_has(isa, e, all))
      return nsr_fail(ctx, NSR_E_USAGE, NSR_NOWHERE,
                      "%s needs %s on all engines; %s of %s does not have them",
                      kernel, all, isa->engines[e], isa->name);
  for (int i = 0; i < n; i++) {
    int best = -1, most = 0;
    for (int e = 0; e < isa->nengines; e++) {
      int fit = fitness(isa, &roles[i], e, used >> e & 1);
      if (!nsr_gen_has(isa, e, roles[i].needs) || (best >= 0 && fit <= most))
        continue;
      best = e;
      most = fit;
    }
    if (best < 0)
      return none(ctx, isa, kernel, roles[i].needs);
    engines[i] = best;
    used |= UINT32_C(1) << best;
  }
  return NSR_OK;
}

/* ---- loops */

const struct nsr_gen_nest nsr_gen_loop = {.head = "    ld   r1, tiles\n",
                                          .nlevels = 1,
                                          .levels = {{"", "r2", "r1", NULL}}};

struct streams {
  const struct nsr_gen_nest *nest;
  const struct nsr_gen_step *steps;
  int n;
  const int *engines;
  bool manual;
};

/* The steps of an engine at one place. What two of its roles compute alike is
 * there once. */
static void put_steps(struct nsr_strbuf *out, const struct streams *s,
                      int engine, int place) {
  for (int i = 0; i < s->n; i++) {
    const struct nsr_gen_step *x = &s->steps[i];
    bool again = !x->text;
    if (s->engines[x->role] != engine || x->place != place)
      continue;
    for (int k = 0; k < i; k++)
      again |= s->engines[s->steps[k].role] == engine &&
               s->steps[k].place == place && s->steps[k].text == x->text;
    if (!again)
      nsr_strbuf_puts(out, x->text);
  }
}

/* A level's lines up to the loop inside it, and the loop's first ones. */
static void open_level(struct nsr_strbuf *out, const struct streams *s,
                       int engine, int l) {
  if (l < s->nest->nlevels) {
    const char *head = s->nest->levels[l].head;
    nsr_strbuf_printf(out, "    mov  %s, 0\n%s", s->nest->levels[l].counter,
                      head ? head : "");
  }
  put_steps(out, s, engine, NSR_GEN_BEGIN(l));
  if (l == s->nest->nlevels)
    return;
  const struct nsr_gen_level *x = &s->nest->levels[l];
  nsr_strbuf_printf(out,
                    "%s"
                    "%sloop:\n"
                    "    br.ge %s, %s, %sdone\n",
                    s->manual ? "" : "    sync\n", x->label, x->counter,
                    x->trips, x->label);
}

/* The last lines of the loop inside a level, and those behind it. */
static void close_level(struct nsr_strbuf *out, const struct streams *s,
                        int engine, int l) {
  const struct nsr_gen_level *x = &s->nest->levels[l];
  nsr_strbuf_printf(out,
                    "    add  %s, %s, 1\n"
                    "%s"
                    "    br   %sloop\n"
                    "%sdone:\n",
                    x->counter, x->counter, s->manual ? "" : "    sync\n",
                    x->label, x->label);
  put_steps(out, s, engine, NSR_GEN_BEHIND(l));
}

void nsr_gen_streams(struct nsr_strbuf *out, const struct nsr_isa *isa,
                     const struct nsr_gen_nest *nest,
                     const struct nsr_gen_step *steps, int n,
                     const int *engines, bool manual) {
  const struct streams s = {nest, steps, n, engines, manual};
  for (int e = 0; e < isa->nengines; e++) {
    nsr_strbuf_printf(out, "\n.engine %s\n%s", isa->engines[e], nest->head);
    for (int l = 0; l <= nest->nlevels; l++)
      open_level(out, &s, e, l);
    for (int l = nest->nlevels - 1; l >= 0; l--)
      close_level(out, &s, e, l);
    nsr_strbuf_puts(out, "    sync\n"
                         "    halt\n");
  }
}

/* ---- what addresses can say */

/* The largest 2^b - 1 that a member of this instruction can hold. */
static int64_t largest(const struct nsr_isa *isa, struct nsr_insn *insn,
                       bool step) {
  uint8_t word[NSR_MAX_WORD];
  char why[100];
  for (int b = 31; b > 0; b--) {
    int32_t v = (int32_t)((INT64_C(1) << b) - 1);
    for (int k = 0; k < insn->noperands; k++) {
      insn->operands[k].offset = step ? 0 : v;
      insn->operands[k].pstep = step ? v : 0;
    }
    if (nsr_encode(isa, insn, word, why, sizeof why))
      return v;
  }
  return 0;
}

struct nsr_gen_reach nsr_gen_reach(const struct nsr_isa *isa) {
  struct nsr_insn insn;
  const struct nsr_insn_desc *desc = nsr_isa_mnemonic(isa, "dma", 3);
  assert(desc); /* the kernel's roles ask for it */
  nsr_insn_init(desc, &insn);
  for (int k = 0; k < insn.noperands; k++) {
    insn.operands[k].space = NSR_DRAM;
    insn.operands[k].nparts = 1;
  }
  return (struct nsr_gen_reach){.offset = largest(isa, &insn, false),
                                .step = largest(isa, &insn, true)};
}
