/* abstract_execute.c - a rewritten kernel, run for its waits alone.
 *
 * Needs the kernel and what the abstract program owes; makes the first thing
 * that is wrong. Registers are computed as the instructions say. An engine goes
 * on while its waits hold for the updates that others have come to; since
 * semaphores only grow, the order in which engines go on decides nothing. What
 * an engine knows to have retired follows from the waits that it has passed:
 * for each channel, how many of the program's instructions.
 */
#include <stdlib.h>
#include <string.h>

#include "abstract.h"

struct known {
  uint16_t n[ABS_CHANNELS];
};

/* One update of a semaphore. */
struct update {
  int64_t value;  /* it then has */
  int32_t before; /* the update before this one, -1: none */
  int16_t insn;   /* -1: a no-op's */
  uint16_t nth;
  struct known known; /* what follows from it */
};

struct core {
  const struct nsr_stream *s;
  struct nsr_insn *code;
  uint32_t pc;
  bool over; /* at its barrier, or halted */
  int32_t regs[64];
  int next, *mine; /* the program's executions on it, -1 behind the last */
  struct known known;
};

struct machine {
  const struct abs_program *p;
  const struct abs_run *runs;
  const int32_t *words;
  bool exact;
  struct abs_outcome *out;
  struct core cores[ABS_ENGINES];
  uint16_t issued[ABS_CHANNELS];
  uint16_t (*ordinal)[ABS_RUN + 1]; /* by instruction and execution, on its
                                       channel */
  int32_t last[256];                /* update by semaphore, -1: none */
  struct update *updates;
  int32_t nupdates;
};

static void wrong(struct machine *m, const char *what, int c, int p, int nth) {
  if (!m->out->wrong) {
    m->out->wrong = what;
    m->out->consumer = c;
    m->out->producer = p;
    m->out->nth = nth;
  }
}

static void learn(struct known *to, const struct known *from) {
  for (int ch = 0; ch < ABS_CHANNELS; ch++)
    if (from->n[ch] > to->n[ch])
      to->n[ch] = from->n[ch];
}

/* ---- registers */

static int32_t value_of(const struct core *c, const struct nsr_val *v) {
  return v->is_reg ? c->regs[v->v] : v->v;
}

static bool compare(int cc, int32_t a, int32_t b) {
  switch (cc) {
  case NSR_CC_EQ:
    return a == b;
  case NSR_CC_NE:
    return a != b;
  case NSR_CC_LT:
    return a < b;
  case NSR_CC_LE:
    return a <= b;
  case NSR_CC_GT:
    return a > b;
  case NSR_CC_GE:
    return a >= b;
  default:
    return true;
  }
}

static int32_t operate(const struct core *c, const struct nsr_insn *x) {
  int32_t a = value_of(c, &x->a), b = value_of(c, &x->b);
  switch (x->desc->ctl) {
  case NSR_CTL_MOV:
    return a;
  case NSR_CTL_ADD:
    return a + b;
  case NSR_CTL_SUB:
    return a - b;
  case NSR_CTL_MUL:
    return a * b;
  case NSR_CTL_AND:
    return a & b;
  case NSR_CTL_OR:
    return a | b;
  case NSR_CTL_XOR:
    return a ^ b;
  case NSR_CTL_REM:
    return b ? a % b : 0;
  case NSR_CTL_MIN:
    return a < b ? a : b;
  case NSR_CTL_MAX:
    return a > b ? a : b;
  case NSR_CTL_SEL:
    return c->regs[x->cond] ? a : b;
  case NSR_CTL_GT:
  case NSR_CTL_GE:
  case NSR_CTL_LT:
  case NSR_CTL_LE:
  case NSR_CTL_EQ:
  case NSR_CTL_NE: {
    static const int cc[] = {NSR_CC_GT, NSR_CC_GE, NSR_CC_LT,
                             NSR_CC_LE, NSR_CC_EQ, NSR_CC_NE};
    return compare(cc[x->desc->ctl - NSR_CTL_GT], a, b);
  }
  default:
    abort();
  }
}

/* ---- waits and updates */

/* The update that brings a semaphore to a value, -1: none yet. */
static int32_t find_update(const struct machine *m, int sem, int32_t value) {
  int32_t u = m->last[sem];
  if (u < 0 || m->updates[u].value < value)
    return -1;
  while (m->updates[u].before >= 0 &&
         m->updates[m->updates[u].before].value >= value)
    u = m->updates[u].before;
  return u;
}

/* Whether a threshold names what is owed and no more. */
static void hold_against(struct machine *m, const struct core *c,
                         const struct update *u) {
  if (c->mine[c->next] < 0 || u->insn < 0)
    return;
  const struct abs_run *run = &m->runs[c->mine[c->next]];
  bool more = u->nth > run->owed[u->insn];
  m->out->waits++;
  m->out->later += more;
  if (!m->exact || !abs_exact(m->p, u->insn, run->insn))
    return;
  m->out->exact++;
  if (more)
    wrong(m, "waits for more than is owed", run->insn, u->insn, run->nth);
}

/* Whether the wait of x, if any, holds; then what follows from it is known. */
static bool passes(struct machine *m, struct core *c,
                   const struct nsr_insn *x) {
  int32_t value = value_of(c, &x->wait.value);
  if (x->wait.cmp == NSR_CMP_NONE || value <= 0)
    return true;
  int32_t u = find_update(m, x->wait.sem, value);
  if (u < 0)
    return false;
  if (x->desc->cls != NSR_CONTROL) /* those may be for what is further on */
    hold_against(m, c, &m->updates[u]);
  learn(&c->known, &m->updates[u].known);
  return true;
}

static void update(struct machine *m, const struct nsr_insn *x,
                   const struct update *like) {
  if (x->update.op == NSR_UPD_NONE)
    return;
  int sem = x->update.sem;
  struct update *u = &m->updates[m->nupdates];
  *u = *like;
  u->before = m->last[sem];
  u->value = (u->before < 0 ? 0 : m->updates[u->before].value) +
             (x->update.op == NSR_UPD_INC ? 1 : x->update.value);
  m->last[sem] = m->nupdates++;
}

/* ---- instructions */

static void check(struct machine *m, const struct core *c,
                  const struct abs_run *run) {
  int channel = m->p->insns[run->insn].channel;
  for (int p = 0; p < m->p->ninsns; p++) {
    int ch = m->p->insns[p].channel;
    if (run->owed[p] == 0 || (ch == channel && abs_in_order(m->p, ch)))
      continue;
    if (c->known.n[ch] < m->ordinal[p][run->owed[p]])
      wrong(m, "does not wait for what is owed", run->insn, p, run->nth);
  }
}

static void issue(struct machine *m, struct core *c, int channel,
                  const struct nsr_insn *x) {
  struct update u = {.insn = -1};
  if (x->desc->sem != NSR_SEM_NOP && x->operands[0].space != NSR_DRAM) {
    int at = c->mine[c->next];
    if (at < 0 || m->p->insns[m->runs[at].insn].channel != channel) {
      wrong(m, "runs another instruction", -1, -1, 0);
      return;
    }
    check(m, c, &m->runs[at]);
    c->next++;
    u.insn = m->runs[at].insn;
    u.nth = m->runs[at].nth;
    m->issued[channel]++;
  }
  u.known = c->known;
  u.known.n[channel] = m->issued[channel];
  if (x->desc->cls == NSR_LOAD) {
    c->known.n[channel] = m->issued[channel];
    c->regs[x->dst] = x->operands[0].space == NSR_DRAM
                          ? m->words[x->operands[0].offset / 4]
                          : 0;
  }
  update(m, x, &u);
}

/* False: blocked, or over. */
static bool step(struct machine *m, struct core *c, int engine) {
  const struct nsr_insn *x = &c->code[c->pc];
  if (c->over || m->out->wrong || !passes(m, c, x))
    return false;
  c->pc++;
  if (x->desc->cls == NSR_BARRIER || x->desc->ctl == NSR_CTL_HALT) {
    c->over = true;
  } else if (x->desc->cls != NSR_CONTROL) {
    issue(m, c, x->desc->queue ? ABS_ENGINES + x->queue : engine, x);
  } else if (x->desc->ctl == NSR_CTL_BR) {
    if (compare(x->cc, value_of(c, &x->a), value_of(c, &x->b)))
      c->pc += (uint32_t)x->displacement - 1;
  } else if (x->desc->ctl != NSR_CTL_WAIT) {
    c->regs[x->dst] = operate(c, x);
  }
  return true;
}

/* ---- setting up */

static void number_runs(struct machine *m, int n) {
  uint16_t count[ABS_CHANNELS] = {0};
  int have[ABS_ENGINES] = {0};
  for (int i = 0; i < n; i++) {
    const struct abs_insn *x = &m->p->insns[m->runs[i].insn];
    m->ordinal[m->runs[i].insn][m->runs[i].nth] = ++count[x->channel];
    m->cores[x->engine].mine[have[x->engine]++] = i;
  }
  for (int e = 0; e < ABS_ENGINES; e++)
    m->cores[e].mine[have[e]] = -1;
}

static void load_streams(struct machine *m, struct nsr_ctx *ctx,
                         const struct nsr_kernel *k, int n) {
  static const char *const names[ABS_ENGINES] = {"act", "dve", "pool", "sp"};
  for (int e = 0; e < ABS_ENGINES; e++) {
    struct core *c = &m->cores[e];
    for (uint32_t i = 0; i < k->nstreams; i++)
      if (k->streams[i].engine == nsr_isa_engine(k->isa, names[e]))
        c->s = &k->streams[i];
    c->code = calloc(c->s->n, sizeof *c->code);
    c->mine = calloc((size_t)n + 1, sizeof *c->mine);
    for (uint32_t i = 0; i < c->s->n; i++)
      if (!c->code || !c->mine ||
          nsr_stream_decode(ctx, k, c->s, i, &c->code[i]))
        abort();
  }
}

static void run(struct machine *m) {
  bool over = false;
  for (bool more = true; more && !m->out->wrong;) {
    more = false;
    over = true;
    for (int e = 0; e < ABS_ENGINES; e++) {
      while (step(m, &m->cores[e], e))
        more = true;
      over &= m->cores[e].over;
    }
  }
  if (!over)
    wrong(m, "hangs", -1, -1, 0);
  for (int e = 0; e < ABS_ENGINES; e++)
    if (m->cores[e].mine[m->cores[e].next] >= 0)
      wrong(m, "keeps a barrier, or ends early", -1, -1, 0);
}

void abs_execute(const struct abs_program *p, struct nsr_ctx *ctx,
                 const struct nsr_kernel *k, const int32_t *words,
                 const struct abs_run *runs, int n, bool exact,
                 struct abs_outcome *out) {
  static uint16_t ordinal[ABS_INSNS][ABS_RUN + 1];
  static struct update updates[8 * ABS_RUN];
  struct machine m = {.p = p,
                      .runs = runs,
                      .words = words,
                      .exact = exact,
                      .out = out,
                      .ordinal = ordinal,
                      .updates = updates};
  for (int s = 0; s < 256; s++)
    m.last[s] = -1;
  load_streams(&m, ctx, k, n);
  number_runs(&m, n);
  run(&m);
  for (int e = 0; e < ABS_ENGINES; e++) {
    free(m.cores[e].code);
    free(m.cores[e].mine);
  }
}
