/* Machine files: what they say, and what is refused with place and reason. */
#include "sim_kernel.h"

#include "sim/machine.h"
#include "sim/machine_text.h"

struct text_case {
  const char *text;
  const char *why; /* NULL: good */
  unsigned line;
};

#define GOOD "[pipeline]\nwindow = 3\n[queue]\ndepth = 5\nwindow = 2\n"

static const struct text_case cases[] = {
    {GOOD, NULL, 0},
    {"; a remark\n" GOOD "\n[pipeline.pe]\nwindow = 4096 assumed\n", NULL, 0},
    {"[pipeline]\nwindow = 0\n", "whole number", 2},
    {"[pipeline]\nwindow = 4097\n", "whole number", 2},
    {"[pipeline]\nwindow = x\n", "whole number", 2},
    {"[pipeline]\nwindow =\n", "whole number", 2},
    {"[pipeline]\nwindow = 99999999999999999999\n", "whole number", 2},
    {"[pipeline]\nwindow = 3 guessed\n", "only 'assumed'", 2},
    {GOOD "[pipeline.gpu]\nwindow = 1\n", "no such engine", 7},
    {GOOD "[pipeline]\ndepth = 1\n", "unknown figure of a pipeline", 7},
    {GOOD "[queue]\nlength = 1\n", "unknown figure of a queue", 7},
    {GOOD "[cost]\nadd = 1\n", "unknown section", 7},
    {GOOD "[control]\nadd = 1\n", "unknown figure of a control", 7},
    {GOOD "[queue]\nstart = 1.5us assumed\nfinish = 3ns\n", NULL, 0},
    {GOOD "[queue]\nstart = 2s\n", "only 'assumed'", 7},
    {GOOD "[queue]\nstart = 1.2345\n", "time up to 1 s", 7},
    {GOOD "[queue]\nstart = 1000001us\n", "time up to 1 s", 7},
    {GOOD "[queue]\nstart = .\n", "time up to 1 s", 7},
    {GOOD "[dma]\nbandwidth = 0\n", "number of GB/s", 7},
    {GOOD "[pipeline]\nclock = 0\n", "clock from", 7},
    {GOOD "[pipeline]\nf32 = 1001\n", "factor from", 7},
    {GOOD "[pipeline]\nissue = -1\n", "number of cycles", 7},
    {GOOD "[queue]\ndepth = 2.5\n", "whole number", 7},
    {GOOD "[instruction.mm]\nleast = 3\n", NULL, 0},
    {GOOD "[instruction.mm.pe]\nleast = 3\n", NULL, 0},
    {GOOD "[instruction.mm.act]\nleast = 3\n", "no engine that has", 7},
    {GOOD "[instruction.mmm]\nleast = 3\n", "no such instruction", 7},
    {GOOD "[instruction.dma]\nleast = 3\n", "no such instruction", 7},
    {GOOD "[instruction.add]\nleast = 3\n", "no such instruction", 7},
    {GOOD "[instruction.mm]\nwindow = 3\n", "unknown figure of an instr", 7},
    {"[machine]\nisa = tile64\n" GOOD, NULL, 0},
    {"[machine]\nisa = lane48\n" GOOD, "another instruction set, 'lane48'", 2},
    {"[machine]\nspeed = 3\n" GOOD, "unknown key of a machine", 2},
    {GOOD "window\n", "neither", 6},
    {"[queue]\ndepth = 5\nwindow = 2\n", "without [pipeline] window", 0},
    {"[pipeline]\nwindow = 3\n[queue]\nwindow = 2\n", "without [queue] depth",
     0},
    {"[pipeline]\nwindow = 3\n[queue]\ndepth = 2\n", "without [queue] window",
     0},
};

static void test_parse(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_machine m;
    const struct text_case *c = &cases[i];
    enum nsr_status status =
        nsr_machine_parse(ctx, nsr_isa_by_name("tile64"), "m", c->text, &m);
    const struct nsr_diag *d = nsr_ctx_first_error(ctx);
    if (status != (c->why ? NSR_E_FORMAT : NSR_OK))
      fail_msg("case %zu: %s", i, nsr_status_name(status));
    if (c->why && (!strstr(d->text, c->why) || d->place.source_line != c->line))
      fail_msg("case %zu: line %u: %s", i, (unsigned)d->place.source_line,
               d->text);
    nsr_ctx_free(ctx);
  }
}

static void test_figures(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  const struct nsr_isa *isa = nsr_isa_by_name("tile64");
  struct nsr_machine m;
  assert_int_equal(
      nsr_machine_parse(ctx, isa, "m",
                        GOOD "[pipeline.dve]\nwindow = 9 assumed\n", &m),
      NSR_OK);
  for (int e = 0; e < isa->nengines; e++)
    assert_int_equal(m.pipe_window[e], e == nsr_isa_engine(isa, "dve") ? 9 : 3);
  assert_int_equal(m.queue_depth, 5);
  assert_int_equal(m.queue_window, 2);
  assert_int_equal(m.assumed, 1);
  nsr_ctx_free(ctx);
}

static void test_built_in(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_machine m;
  assert_int_equal(nsr_machine_find(ctx, nsr_isa_by_name("tile64"), "v2", &m),
                   NSR_OK);
  assert_true(m.assumed > 0);
  assert_int_equal(nsr_machine_find(ctx, nsr_isa_by_name("tile64"), "v0", &m),
                   NSR_E_USAGE);
  assert_int_equal(nsr_machine_find(ctx, nsr_isa_by_name("lane48"), "v2", &m),
                   NSR_E_FORMAT);
  nsr_ctx_free(ctx);
}

static int64_t pipe(const struct nsr_machine *m, const char *engine,
                    const char *mnemonic, enum nsr_pipe_figure figure) {
  return nsr_machine_pipe(
      m, nsr_isa_engine(m->isa, engine),
      nsr_isa_mnemonic(m->isa, mnemonic, strlen(mnemonic))->index, figure);
}

/* The most special figure counts, whatever the order of the file. */
static void test_special(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_machine m;
  assert_int_equal(nsr_machine_parse(ctx, nsr_isa_by_name("tile64"), "m",
                                     GOOD "[instruction.tt.dve]\nleast = 4\n"
                                          "[instruction.tt]\nleast = 3\n"
                                          "[pipeline.dve]\nleast = 2.5\n"
                                          "[pipeline]\nleast = 1\n",
                                     &m),
                   NSR_OK);
  assert_int_equal(pipe(&m, "dve", "tt", NSR_PIPE_LEAST), 4000);
  assert_int_equal(pipe(&m, "pool", "tt", NSR_PIPE_LEAST), 3000);
  assert_int_equal(pipe(&m, "dve", "ts", NSR_PIPE_LEAST), 2500);
  assert_int_equal(pipe(&m, "pool", "ts", NSR_PIPE_LEAST), 1000);
  assert_int_equal(pipe(&m, "pool", "ts", NSR_PIPE_F32), 1000);
  assert_int_equal(pipe(&m, "pool", "ts", NSR_PIPE_START), 0);
  nsr_ctx_free(ctx);
}

struct set_case {
  const char *text, *why; /* NULL: good */
};

static void test_set(void **state) {
  (void)state;
  static const struct set_case sets[] = {
      {"barrier=20us", NULL},
      {"barrier.cost=20us", NULL},
      {"pipeline.pe.window=2", NULL},
      {"instruction.mm.least=9", NULL},
      {"instruction.tt.dve.least=9", NULL},
      {"queue=3", "unknown figure of a queue 'cost'"},
      {"barrier", "expected SECTION.KEY=VALUE"},
      {"=3", "expected SECTION.KEY=VALUE"},
      {".=3", "expected SECTION.KEY=VALUE"},
      {"barrier.cost=", "time up to 1 s"},
      {"machine.isa=lane48", "another instruction set"}};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    struct nsr_ctx *ctx = nsr_ctx_new();
    struct nsr_machine m;
    assert_int_equal(nsr_machine_find(ctx, nsr_isas[0], "v2", &m), NSR_OK);
    enum nsr_status status = nsr_machine_set(ctx, &m, sets[i].text);
    const struct nsr_diag *d = nsr_ctx_first_error(ctx);
    if (status != (sets[i].why ? NSR_E_USAGE : NSR_OK) ||
        (d && !strstr(d->text, sets[i].why)))
      fail_msg("%s: %s", sets[i].text, d ? d->text : "no error");
    if (i < 2)
      assert_int_equal(m.v[NSR_BARRIER_COST], 20000000);
    if (i == 2)
      assert_int_equal(m.pipe_window[nsr_isa_engine(m.isa, "pe")], 2);
    nsr_ctx_free(ctx);
  }
}

/* Those that are built in say all that timed runs ask for; one that does not
 * is told what is missing. */
static void test_costs(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  const struct nsr_machine_text *t = nsr_machine_texts;
  struct nsr_machine m;
  for (; t->name; t++) {
    bool lane = strstr(t->text, "lane48") != NULL;
    const struct nsr_isa *isa = nsr_isa_by_name(lane ? "lane48" : "tile64");
    assert_int_equal(nsr_machine_find(ctx, isa, t->name, &m), NSR_OK);
    assert_int_equal(nsr_machine_costs(ctx, &m), NSR_OK);
  }
  assert_int_equal(nsr_machine_parse(ctx, nsr_isas[0], "m", GOOD, &m), NSR_OK);
  assert_int_equal(nsr_machine_costs(ctx, &m), NSR_E_FORMAT);
  assert_string_equal(nsr_ctx_first_error(ctx)->text,
                      "machine file without [pipeline] clock");
  nsr_ctx_free(ctx);
}

/* Every instruction set has one, with the figures of its own engines. */
static void test_default(void **state) {
  (void)state;
  struct nsr_ctx *ctx = nsr_ctx_new();
  struct nsr_machine m;
  for (int i = 0; nsr_isas[i]; i++)
    assert_int_equal(nsr_machine_default(ctx, nsr_isas[i], &m), NSR_OK);
  const struct nsr_isa *isa = nsr_isa_by_name("lane48");
  assert_int_equal(nsr_machine_default(ctx, isa, &m), NSR_OK);
  assert_int_equal(m.pipe_window[nsr_isa_engine(isa, "io")], 1);
  assert_int_equal(m.queue_depth, 12);
  isa = nsr_isa_by_name("tile64");
  assert_int_equal(nsr_machine_default(ctx, isa, &m), NSR_OK);
  assert_int_equal(m.pipe_window[nsr_isa_engine(isa, "pe")], 4);
  struct nsr_isa other = *isa;
  other.name = "other";
  assert_int_equal(nsr_machine_default(ctx, &other, &m), NSR_E_USAGE);
  nsr_ctx_free(ctx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parse),    cmocka_unit_test(test_figures),
      cmocka_unit_test(test_built_in), cmocka_unit_test(test_default),
      cmocka_unit_test(test_special),  cmocka_unit_test(test_set),
      cmocka_unit_test(test_costs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
