/* cost.c - what an instruction takes on a machine.
 *
 * Needs a machine's figures and the sizes of an instance's operands; makes
 * times. What is too large for a time stays at one that no run gets to.
 */
#include "sim/timed.h"

static int64_t times(int64_t a, int64_t b) {
  int64_t p;
  bool over = __builtin_mul_overflow(a, b, &p) || p > NSR_TOO_LATE;
  return over ? NSR_TOO_LATE : p;
}

static int64_t clamp(uint64_t n) {
  return n > NSR_TOO_LATE ? NSR_TOO_LATE : (int64_t)n;
}

/* a * b / 1000, up. */
static int64_t scaled(int64_t a, int64_t b) {
  int64_t p = times(a, b);
  return p == NSR_TOO_LATE ? p : p / NSR_MILLI + (p % NSR_MILLI > 0);
}

int64_t nsr_cycle_of(const struct nsr_machine *m, int engine) {
  int64_t clock = nsr_machine_pipe(m, engine, -1, NSR_PIPE_CLOCK);
  int64_t milli = NSR_MILLI * NSR_FS_PER_NS;
  return (milli + clock / 2) / clock;
}

/* From bytes to what they take at a rate in thousandths of GB/s. */
static int64_t transfer_time(uint64_t bytes, int64_t rate) {
  int64_t product = times(clamp(bytes), NSR_MILLI * NSR_FS_PER_NS);
  if (product == NSR_TOO_LATE)
    return times(clamp(bytes) / rate, NSR_MILLI * NSR_FS_PER_NS);
  return product / rate + (product % rate > 0);
}

static struct nsr_cost queue_cost(const struct nsr_machine *m,
                                  const struct nsr_variant *v) {
  int64_t cycle = nsr_cycle_of(m, v->engine);
  int64_t all = m->v[NSR_DMA_RATE], own = m->v[NSR_QUEUE_RATE];
  return (struct nsr_cost){.issue = scaled(m->v[NSR_QUEUE_ISSUE], cycle),
                           .interval =
                               transfer_time(v->bytes, own < all ? own : all),
                           .latency = m->v[NSR_QUEUE_FINISH] * NSR_FS_PER_PS,
                           .work = transfer_time(v->bytes, all)};
}

struct nsr_cost nsr_cost_of(const struct nsr_machine *m,
                            const struct nsr_variant *v) {
  const struct nsr_insn_desc *d = v->step->desc;
  if (d->queue)
    return queue_cost(m, v);
  int64_t f[NSR_PIPE_FIGURES];
  for (int i = 0; i < NSR_PIPE_FIGURES; i++)
    f[i] = nsr_machine_pipe(m, v->engine, d->index, (enum nsr_pipe_figure)i);
  int64_t cycle = nsr_cycle_of(m, v->engine), n = clamp(v->elements);
  int64_t further = v->inputs > 1 ? (int64_t)v->inputs - 1 : 0;
  int64_t each =
      nsr_time_add(f[NSR_PIPE_ELEMENT], times(f[NSR_PIPE_INPUT], further));
  int64_t moving = times(n, each);
  if (v->half)
    moving = scaled(moving, f[NSR_PIPE_HALF]);
  int64_t taken = nsr_time_add(f[NSR_PIPE_FIXED], moving);
  if (taken < f[NSR_PIPE_LEAST])
    taken = f[NSR_PIPE_LEAST];
  if (v->f32)
    taken = scaled(taken, f[NSR_PIPE_F32]);
  int64_t dram = v->dram ? f[NSR_PIPE_DRAM] * NSR_FS_PER_PS : 0;
  return (struct nsr_cost){
      .issue = scaled(f[NSR_PIPE_ISSUE], cycle),
      .interval = times(scaled(taken, 1), cycle), /* whole cycles */
      .latency = nsr_time_add(scaled(f[NSR_PIPE_START], cycle), dram)};
}
