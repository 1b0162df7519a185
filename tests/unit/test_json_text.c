/* test_json_text.c - JSON lines: the lines as they must be, and that reading
 * takes keys in any order and does without those that say nothing new. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include <nsr/text.h>

static void print_diag(void *user, const struct nsr_diag *diag) {
  char text[400];
  (void)user;
  nsr_diag_format(diag, text, sizeof text);
  print_message("%s\n", text);
}

static struct nsr_ctx *ctx;

static int setup(void **state) {
  (void)state;
  ctx = nsr_ctx_new();
  nsr_ctx_on_diag(ctx, print_diag, NULL);
  return ctx ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  nsr_ctx_free(ctx);
  return 0;
}

static const char source[] =
    ".isa tile64\n.kernel \"\xc3\xa4 \\\"k\\\"\"\n.owned 2, 100\n"
    ".order act none\n.queue q0 sp full\n"
    ".tensor x dram f32 [8, 4] at 64 input words 1.0\n"
    ".tensor n dram i32 [1] at 0 input range -1 4\n"
    ".tensor t psum f32 [8, 4] at 1:8, 16 scratch\n"
    ".files \"a.s\", \"b.s\", \"a.s\"\n"
    ".engine dve\n"
    "memset t[4*4] value=-3\n"
    "ts t[4*4], t[4*4] op0=mul imm0=0.1 op1=add imm1=-inf\n"
    "ts t[4*4], t[4*4] op0=mul imm0=-0.0 op1=add imm1=0f7fc00001\n"
    "halt\n"
    ".engine pool\niota t[4*4] base=1 pmul=2 step0=3 step1=4 step2=5\nhalt\n"
    ".engine sp\n"
    "a: b: ld r1, n+r2 ?s3>=r9 ^s5+=4 !early\n"
    ".file \"b.s\"\ndma q0, t{1:2}[3*4, r5*-2], x{2*16} ?s3<-4 ^s5-- @7\n"
    ".file 2\nst x, r3 @9\n"
    "sel r1, r2, r3, -4\nmov r1, 5\n"
    "br a !reloc\nbr.lt r1, 4, end\njump r1\njump r1, a, end\n"
    "wait ?s1==0\nsync 3\nend: halt\nlast: \"la st\":\n"
    ".section \".c\" type=1 flags=3 align=4 entsize=2 info=1\n.hex \"0001\"\n"
    ".section \".b\" type=8 size=77\n";

static const char *const expected[] = {
    "{\"kind\":\"kernel\",\"schema\":1,\"isa\":\"tile64\","
    "\"name\":\"\xc3\xa4 \\\"k\\\"\",\"isa_version\":1,\"registers\":64,"
    "\"semaphores\":256,\"semaphore_bits\":32,\"partitions\":128,"
    "\"bytes\":{\"sbuf\":196608,\"psum\":16384},"
    "\"engines\":[\"dve\",\"pool\",\"sp\"],\"order\":{\"pe\":\"hidden\","
    "\"act\":\"none\",\"dve\":\"hidden\",\"pool\":\"hidden\","
    "\"sp\":\"hidden\"},\"queues\":[{\"name\":\"q0\",\"engine\":\"sp\","
    "\"order\":\"full\"}],\"owned_semaphores\":[2,100],\"tensors\":["
    "{\"name\":\"x\",\"space\":\"dram\",\"offset\":64,\"bytes\":128,"
    "\"dtype\":\"f32\",\"shape\":[8,4],\"role\":\"input\",\"range\":null,"
    "\"data\":\"AACAPw==\"},"
    "{\"name\":\"n\",\"space\":\"dram\",\"offset\":0,\"bytes\":4,"
    "\"dtype\":\"i32\",\"shape\":[1],\"role\":\"input\",\"range\":[-1,4],"
    "\"data\":null},"
    "{\"name\":\"t\",\"space\":\"psum\",\"part\":[1,8],\"offset\":16,"
    "\"bytes\":16,\"dtype\":\"f32\",\"shape\":[8,4],\"role\":\"scratch\","
    "\"range\":null,\"data\":null}],\"files\":[\"a.s\",\"b.s\",\"a.s\"]}",

    "{\"kind\":\"insn\",\"engine\":\"dve\",\"index\":0,\"labels\":[],"
    "\"source\":null,\"op\":\"memset\",\"class\":\"datapath\","
    "\"channel\":\"dve\",\"wait\":null,\"update\":null,\"operands\":["
    "{\"role\":\"w\",\"space\":\"psum\",\"dtype\":\"f32\",\"part\":[1,8],"
    "\"pstep\":0,\"offset\":{\"imm\":16,\"reg\":null},\"dims\":[[4,4]],"
    "\"tensor\":\"t\"}],\"meaning\":\"fill\",\"hidden\":[],\"regs\":[],"
    "\"value\":-3,\"args\":{\"value\":-3}}",

    "{\"kind\":\"insn\",\"engine\":\"dve\",\"index\":1,\"labels\":[],"
    "\"source\":null,\"op\":\"ts\",\"class\":\"datapath\","
    "\"channel\":\"dve\",\"wait\":null,\"update\":null,\"operands\":["
    "{\"role\":\"w\",\"space\":\"psum\",\"dtype\":\"f32\",\"part\":[1,8],"
    "\"pstep\":0,\"offset\":{\"imm\":16,\"reg\":null},\"dims\":[[4,4]],"
    "\"tensor\":\"t\"},"
    "{\"role\":\"r\",\"space\":\"psum\",\"dtype\":\"f32\",\"part\":[1,8],"
    "\"pstep\":0,\"offset\":{\"imm\":16,\"reg\":null},\"dims\":[[4,4]],"
    "\"tensor\":\"t\"}],\"meaning\":\"opaque\",\"hidden\":[],\"regs\":[],"
    "\"args\":{\"op0\":\"mul\",\"imm0\":0.100000001,\"op1\":\"add\","
    "\"imm1\":\"-inf\"}}",

    "{\"kind\":\"insn\",\"engine\":\"dve\",\"index\":2,\"labels\":[],"
    "\"source\":null,\"op\":\"ts\",\"class\":\"datapath\","
    "\"channel\":\"dve\",\"wait\":null,\"update\":null,\"operands\":["
    "{\"role\":\"w\",\"space\":\"psum\",\"dtype\":\"f32\",\"part\":[1,8],"
    "\"pstep\":0,\"offset\":{\"imm\":16,\"reg\":null},\"dims\":[[4,4]],"
    "\"tensor\":\"t\"},"
    "{\"role\":\"r\",\"space\":\"psum\",\"dtype\":\"f32\",\"part\":[1,8],"
    "\"pstep\":0,\"offset\":{\"imm\":16,\"reg\":null},\"dims\":[[4,4]],"
    "\"tensor\":\"t\"}],\"meaning\":\"opaque\",\"hidden\":[],\"regs\":[],"
    "\"args\":{\"op0\":\"mul\",\"imm0\":-0.0,\"op1\":\"add\","
    "\"imm1\":\"0f7fc00001\"}}",

    "{\"kind\":\"insn\",\"engine\":\"dve\",\"index\":3,\"labels\":[],"
    "\"source\":null,\"op\":\"halt\",\"class\":\"control\",\"channel\":null,"
    "\"wait\":null,\"update\":null}",

    "{\"kind\":\"insn\",\"engine\":\"pool\",\"index\":0,\"labels\":[],"
    "\"source\":null,\"op\":\"iota\",\"class\":\"datapath\","
    "\"channel\":\"pool\",\"wait\":null,\"update\":null,\"operands\":["
    "{\"role\":\"w\",\"space\":\"psum\",\"dtype\":\"f32\",\"part\":[1,8],"
    "\"pstep\":0,\"offset\":{\"imm\":16,\"reg\":null},\"dims\":[[4,4]],"
    "\"tensor\":\"t\"}],\"meaning\":\"iota\",\"hidden\":[],\"regs\":[],"
    "\"base\":1,\"pmul\":2,\"steps\":[3,4,5],\"args\":{\"base\":1,"
    "\"pmul\":2,\"step0\":3,\"step1\":4,\"step2\":5}}",

    "{\"kind\":\"insn\",\"engine\":\"pool\",\"index\":1,\"labels\":[],"
    "\"source\":null,\"op\":\"halt\",\"class\":\"control\",\"channel\":null,"
    "\"wait\":null,\"update\":null}",

    "{\"kind\":\"insn\",\"engine\":\"sp\",\"index\":0,"
    "\"labels\":[\"a\",\"b\"],\"source\":null,\"op\":\"ld\","
    "\"class\":\"load\",\"channel\":\"sp\",\"wait\":{\"sem\":3,"
    "\"cmp\":\">=\",\"value\":{\"reg\":9}},\"update\":{\"sem\":5,"
    "\"op\":\"add\",\"value\":4},\"early\":true,\"dst\":1,\"operands\":["
    "{\"role\":\"r\",\"space\":\"dram\",\"dtype\":\"i32\",\"part\":[0,1],"
    "\"pstep\":0,\"offset\":{\"imm\":0,\"reg\":2},\"dims\":[],"
    "\"tensor\":\"n\"}]}",

    "{\"kind\":\"insn\",\"engine\":\"sp\",\"index\":1,\"labels\":[],"
    "\"source\":{\"file\":\"b.s\",\"line\":7},\"op\":\"dma\","
    "\"class\":\"datapath\",\"channel\":\"q0\",\"wait\":{\"sem\":3,"
    "\"cmp\":\"<\",\"value\":{\"imm\":-4}},\"update\":{\"sem\":5,"
    "\"op\":\"dec\",\"value\":1},\"operands\":["
    "{\"role\":\"w\",\"space\":\"psum\",\"dtype\":\"f32\",\"part\":[2,2],"
    "\"pstep\":0,\"offset\":{\"imm\":16,\"reg\":null},"
    "\"dims\":[[4,3],[-2,{\"reg\":5}]],\"tensor\":\"t\"},"
    "{\"role\":\"r\",\"space\":\"dram\",\"dtype\":\"f32\",\"part\":[0,2],"
    "\"pstep\":16,\"offset\":{\"imm\":64,\"reg\":null},\"dims\":[],"
    "\"tensor\":\"x\"}],\"meaning\":\"copy\",\"hidden\":[],\"regs\":[],"
    "\"args\":{}}",

    "{\"kind\":\"insn\",\"engine\":\"sp\",\"index\":2,\"labels\":[],"
    "\"source\":{\"file\":\"a.s\",\"line\":9,\"index\":2},\"op\":\"st\","
    "\"class\":\"datapath\",\"channel\":\"sp\",\"wait\":null,"
    "\"update\":null,\"operands\":["
    "{\"role\":\"w\",\"space\":\"dram\",\"dtype\":\"f32\",\"part\":[0,1],"
    "\"pstep\":0,\"offset\":{\"imm\":64,\"reg\":null},\"dims\":[],"
    "\"tensor\":\"x\"}],\"meaning\":\"opaque\",\"hidden\":[],"
    "\"regs\":[{\"name\":\"value\",\"reg\":3}],\"args\":{}}",

    "{\"kind\":\"insn\",\"engine\":\"sp\",\"index\":3,\"labels\":[],"
    "\"source\":null,\"op\":\"sel\",\"class\":\"control\",\"channel\":null,"
    "\"wait\":null,\"update\":null,\"dst\":1,\"cond\":2,\"a\":{\"reg\":3},"
    "\"b\":{\"imm\":-4}}",

    "{\"kind\":\"insn\",\"engine\":\"sp\",\"index\":4,\"labels\":[],"
    "\"source\":null,\"op\":\"mov\",\"class\":\"control\",\"channel\":null,"
    "\"wait\":null,\"update\":null,\"dst\":1,\"a\":{\"imm\":5}}",

    "{\"kind\":\"insn\",\"engine\":\"sp\",\"index\":5,\"labels\":[],"
    "\"source\":null,\"op\":\"br\",\"class\":\"control\",\"channel\":null,"
    "\"wait\":null,\"update\":null,\"cc\":\"always\",\"a\":{\"imm\":0},"
    "\"b\":{\"imm\":0},\"target\":0,\"reloc\":true}",

    "{\"kind\":\"insn\",\"engine\":\"sp\",\"index\":6,\"labels\":[],"
    "\"source\":null,\"op\":\"br\",\"class\":\"control\",\"channel\":null,"
    "\"wait\":null,\"update\":null,\"cc\":\"lt\",\"a\":{\"reg\":1},"
    "\"b\":{\"imm\":4},\"target\":11}",

    "{\"kind\":\"insn\",\"engine\":\"sp\",\"index\":7,\"labels\":[],"
    "\"source\":null,\"op\":\"jump\",\"class\":\"control\",\"channel\":null,"
    "\"wait\":null,\"update\":null,\"a\":{\"reg\":1},\"targets\":null}",

    "{\"kind\":\"insn\",\"engine\":\"sp\",\"index\":8,\"labels\":[],"
    "\"source\":null,\"op\":\"jump\",\"class\":\"control\",\"channel\":null,"
    "\"wait\":null,\"update\":null,\"a\":{\"reg\":1},\"targets\":[0,11]}",

    "{\"kind\":\"insn\",\"engine\":\"sp\",\"index\":9,\"labels\":[],"
    "\"source\":null,\"op\":\"wait\",\"class\":\"control\",\"channel\":null,"
    "\"wait\":{\"sem\":1,\"cmp\":\"==\",\"value\":{\"imm\":0}},"
    "\"update\":null}",

    "{\"kind\":\"insn\",\"engine\":\"sp\",\"index\":10,\"labels\":[],"
    "\"source\":null,\"op\":\"sync\",\"class\":\"barrier\",\"channel\":null,"
    "\"wait\":null,\"update\":null,\"id\":3}",

    "{\"kind\":\"insn\",\"engine\":\"sp\",\"index\":11,\"labels\":[\"end\"],"
    "\"source\":null,\"op\":\"halt\",\"class\":\"control\",\"channel\":null,"
    "\"wait\":null,\"update\":null}",

    "{\"kind\":\"label\",\"engine\":\"sp\",\"index\":12,\"name\":\"last\"}",

    "{\"kind\":\"label\",\"engine\":\"sp\",\"index\":12,\"name\":\"la st\"}",

    "{\"kind\":\"section\",\"name\":\".c\",\"type\":1,\"flags\":3,"
    "\"align\":4,\"entsize\":2,\"info\":1,\"data\":\"AAE=\"}",

    "{\"kind\":\"section\",\"name\":\".b\",\"type\":8,\"flags\":0,"
    "\"align\":1,\"entsize\":0,\"info\":0,\"data\":null,\"size\":77}"};
enum { NLINES = sizeof expected / sizeof *expected };

static struct nsr_kernel *kernel(void) {
  struct nsr_kernel *k = NULL;
  assert_int_equal(nsr_assemble(ctx, "k.s", source, strlen(source), &k),
                   NSR_OK);
  return k;
}

static const char *json(const struct nsr_kernel *k) {
  const char *text = NULL;
  size_t n = 0;
  assert_int_equal(nsr_to_json(ctx, k, &text, &n), NSR_OK);
  assert_int_equal(strlen(text), n);
  return text;
}

static struct nsr_kernel *read(const char *text) {
  struct nsr_kernel *k = NULL;
  assert_int_equal(nsr_from_json(ctx, "k.json", text, strlen(text), &k),
                   NSR_OK);
  return k;
}

static void test_lines(void **state) {
  const char *s = json(kernel());
  (void)state;
  for (int i = 0; i < NLINES; i++) {
    size_t n = strlen(expected[i]);
    if (strncmp(s, expected[i], n) != 0 || s[n] != '\n')
      fail_msg("line %d:\n%.*s\nexpected:\n%s", i + 1, (int)strcspn(s, "\n"), s,
               expected[i]);
    s += n + 1;
  }
  assert_string_equal(s, "");
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)b, *(const char *const *)a);
}

/* The line's object with keys in falling order, at every depth. */
static json_t *reordered(const json_t *j) {
  const char *keys[64], *key;
  size_t n = 0, i;
  json_t *v, *out;
  if (json_is_array(j)) {
    out = json_array();
    json_array_foreach(j, i, v) json_array_append_new(out, reordered(v));
    return out;
  }
  if (!json_is_object(j))
    return json_deep_copy(j);
  json_object_foreach((json_t *)j, key, v) keys[n++] = key;
  qsort(keys, n, sizeof *keys, by_name);
  out = json_object();
  for (i = 0; i < n; i++)
    json_object_set_new(out, keys[i], reordered(json_object_get(j, keys[i])));
  return out;
}

/* Applies change to every line and reads the result: the same kernel. */
static void survives(json_t *(*change)(const json_t *)) {
  const char *good = json(kernel());
  char *text = calloc(1, 4 * strlen(good));
  assert_non_null(text);
  for (int i = 0; i < NLINES; i++) {
    json_t *j = json_loads(expected[i], 0, NULL), *changed = change(j);
    char *line = json_dumps(changed, 0);
    strcat(strcat(text, line), i % 2 ? "\n" : "\r\n  \n");
    free(line);
    json_decref(changed);
    json_decref(j);
  }
  assert_string_equal(json(read(text)), good);
  free(text);
}

static void test_any_order(void **state) {
  (void)state;
  survives(reordered);
}

/* Without everything that follows from the rest. */
static json_t *bare(const json_t *j) {
  static const char *const keys[] = {
      "schema",         "isa_version", "registers", "semaphores",
      "semaphore_bits", "partitions",  "index",     "class",
      "meaning",        "hidden",      "args",      "bytes"};
  json_t *out = json_deep_copy(j), *v;
  const char *key;
  const json_t *args = json_object_get(j, "args");
  bool opaque = json_object_size(args) && !json_object_get(j, "value") &&
                !json_object_get(j, "steps");
  void *next;
  size_t i;
  bool label = !strcmp(json_string_value(json_object_get(j, "kind")), "label");
  for (i = 0; i < sizeof keys / sizeof *keys; i++)
    if (!(opaque && !strcmp(keys[i], "args")) &&
        !(label && !strcmp(keys[i], "index")))
      json_object_del(out, keys[i]);
  json_object_foreach_safe(out, next, key, v) {
    if (json_is_null(v) || (json_is_array(v) && !json_array_size(v)))
      json_object_del(out, key);
  }
  json_array_foreach(json_object_get(out, "operands"), i, v) {
    json_object_del(v, "role");
    if (!json_integer_value(json_object_get(v, "pstep")))
      json_object_del(v, "pstep");
    if (!json_array_size(json_object_get(v, "dims")))
      json_object_del(v, "dims");
  }
  return out;
}

static void test_optional_keys(void **state) {
  (void)state;
  survives(bare);
}

/* Unknown keys say nothing; registers may be objects. */
static json_t *more(const json_t *j) {
  static const char *const regs[] = {"dst", "cond"};
  json_t *out = json_deep_copy(j);
  json_object_set_new(out, "author", json_string("someone else"));
  for (size_t i = 0; i < 2; i++) {
    json_t *r = json_object_get(out, regs[i]);
    if (r)
      json_object_set_new(out, regs[i], json_pack("{s:O}", "reg", r));
  }
  return out;
}

static void test_more_keys(void **state) {
  (void)state;
  survives(more);
}

/* Engines need not be listed; streams come as the lines do. */
static void test_unlisted_engines(void **state) {
  (void)state;
  const struct nsr_kernel *k =
      read("{\"kind\":\"kernel\",\"isa\":\"tile64\"}\n"
           "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"nop\"}\n"
           "{\"kind\":\"insn\",\"engine\":\"act\",\"op\":\"halt\"}\n"
           "{\"kind\":\"insn\",\"engine\":\"sp\",\"op\":\"halt\"}");
  assert_int_equal(k->nstreams, 2);
  assert_int_equal(k->streams[0].n, 1);
  assert_int_equal(k->streams[1].n, 2);
  assert_null(k->streams[0].lines);
  assert_string_equal(k->name, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lines), cmocka_unit_test(test_any_order),
      cmocka_unit_test(test_optional_keys), cmocka_unit_test(test_more_keys),
      cmocka_unit_test(test_unlisted_engines)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
