/* numeric_matrix.c - the matrix engine.
 *
 * The stationary operand is K partitions of M elements, the moving one K
 * partitions of N; the product has M partitions of N. Sums are f32, over k in
 * its order; what is accumulated is added last.
 */
#include "sim/numeric_args.h"

/* A stationary operand needs no more than to be there: the caller keeps it. */
const char *nsr_num_load_stationary(const struct nsr_elements *o) {
  return nsr_elements_total(o) ? NULL : "an empty stationary operand";
}

enum { CACHED = 128 };

/* A column of the moving operand, the first of it converted once. */
struct column {
  const struct nsr_elements *of;
  size_t n, at; /* columns, this one */
  float head[CACHED];
};

static void column_set(struct column *c, size_t at) {
  c->at = at;
  for (size_t k = 0; k < c->of->nparts && k < CACHED; k++)
    c->head[k] = nsr_get(c->of, k * c->n + at);
}

static float dot(const struct nsr_elements *w, size_t m, size_t row,
                 const struct column *c) {
  float sum = 0.0f;
  for (size_t k = 0; k < w->nparts; k++) {
    float x = k < CACHED ? c->head[k] : nsr_get(c->of, k * c->n + c->at);
    float product = nsr_get(w, k * row + m) * x;
    sum += product;
  }
  return sum;
}

const char *nsr_num_matmul(const struct nsr_insn *insn, struct nsr_elements *o,
                           const struct nsr_elements *state) {
  const struct nsr_elements *w = &state[0];
  if (!w->in)
    return "nothing was loaded as the stationary operand";
  size_t m = nsr_per_partition(w), n = nsr_per_partition(&o[1]);
  if (w->nparts != o[1].nparts)
    return "stationary and moving operand have different partitions";
  if (o[0].nparts != m || nsr_per_partition(&o[0]) != n)
    return "the destination is not as large as the product";
  struct column c = {.of = &o[1], .n = n};
  for (size_t j = 0; j < n; j++) {
    column_set(&c, j);
    for (size_t i = 0; i < m; i++) {
      float sum = dot(w, i, m, &c);
      if (insn->operands[0].acc)
        sum = nsr_get(&o[0], i * n + j) + sum;
      nsr_put(&o[0], i * n + j, sum);
    }
  }
  return NULL;
}

const char *nsr_num_transpose(struct nsr_elements *o) {
  size_t rows = o[1].nparts, n = nsr_per_partition(&o[1]);
  if (o[0].nparts != n || nsr_per_partition(&o[0]) != rows)
    return "the destination is not the source with rows and columns exchanged";
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < n; j++)
      nsr_move(&o[0], j * rows + i, &o[1], i * n + j);
  return NULL;
}
