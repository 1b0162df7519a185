/* said.c - verdicts of all judges, printed. */
#include "said.h"

#include <string.h>

/* ---- JSON */

static void json_string(FILE *out, const char *s) {
  fputc('"', out);
  for (; s && *s; s++) {
    unsigned char c = (unsigned char)*s;
    if (c == '"' || c == '\\')
      fprintf(out, "\\%c", c);
    else if (c == '\n')
      fputs("\\n", out);
    else if (c < 0x20 || c == 0x7f)
      fprintf(out, "\\u%04x", c);
    else
      fputc(c, out);
  }
  fputc('"', out);
}

static void json_member(FILE *out, const char *name, const char *value) {
  fprintf(out, ",\"%s\":", name);
  json_string(out, value);
}

static void json_explored(FILE *out, const struct nsr_exploration *e) {
  fprintf(out,
          ",\"states\":[%llu,%llu],\"outcomes\":%llu,\"waits\":%llu,"
          "\"longer\":%llu",
          (unsigned long long)e->states[0], (unsigned long long)e->states[1],
          (unsigned long long)e->outcomes, (unsigned long long)e->demands.waits,
          (unsigned long long)e->demands.longer);
  json_member(out, "waits_longer", e->demands.text);
}

/* 0: there is none. */
static void json_number(FILE *out, const char *name, int64_t v) {
  if (v)
    fprintf(out, ",\"%s\":%lld", name, (long long)v);
  else
    fprintf(out, ",\"%s\":null", name);
}

static void json_proof(FILE *out, const struct nsr_proof *p) {
  fprintf(out, ",\"static\":{\"waits\":%u", (unsigned)p->waits);
  json_member(out, "verdict", nsr_proof_verdict_name(p->verdict));
  json_member(out, "rule", nsr_proof_rule_name(p->rule));
  json_member(out, "text", p->text);
  json_number(out, "bound", p->bound);
  json_number(out, "lasting", p->lasting);
  fprintf(out, "}");
}

void verdict_json(FILE *out, const struct verdict *v) {
  const struct nsr_judgement *j = &v->j;
  fprintf(out, "{\"kind\":\"verdict\",\"schema\":1");
  if (!v->judged) {
    json_member(out, "verdict", nsr_proof_verdict_name(v->proof->verdict));
    json_proof(out, v->proof);
    fprintf(out, "}\n");
    return;
  }
  json_member(out, "verdict", nsr_verdict_name(j->verdict));
  json_member(out, "fault", nsr_fault_name(j->fault));
  json_member(out, "text", j->text);
  json_member(out, "input", j->input);
  fprintf(out,
          ",\"inputs\":%u,\"undecided\":%u,\"instances\":%llu,"
          "\"may_pairs\":%llu",
          (unsigned)j->inputs, (unsigned)j->undecided,
          (unsigned long long)j->instances, (unsigned long long)j->may_pairs);
  json_member(out, "notes", j->notes);
  json_member(out, "facts", j->facts);
  if (v->explored)
    json_explored(out, v->explored);
  if (v->proof)
    json_proof(out, v->proof);
  fprintf(out, "}\n");
}

/* ---- text */

static void print_indented(FILE *out, const char *text) {
  while (*text) {
    size_t n = strcspn(text, "\n");
    fprintf(out, "  %.*s\n", (int)n, text);
    text += n + (text[n] == '\n');
  }
}

static void print_explored(FILE *out, const struct nsr_exploration *e) {
  const struct nsr_demands *d = &e->demands;
  fprintf(out, "  states: %llu of A, %llu of B\n",
          (unsigned long long)e->states[0], (unsigned long long)e->states[1]);
  if (!d->inputs)
    return;
  fprintf(out, "  %llu of %llu waits of B are for more than A asks for\n",
          (unsigned long long)d->longer, (unsigned long long)d->waits);
  print_indented(out, d->text);
}

/* What is proved for all inputs but those that run too long. */
static void print_limit(FILE *out, const struct nsr_proof *p) {
  int64_t most = nsr_proof_limit(p, p->bound < p->most);
  fprintf(out, " (%u waits)", (unsigned)p->waits);
  if (most)
    fprintf(out, ", as long as no loop runs more than %lld iterations in all",
            (long long)most);
  fputs("\n", out);
}

static void print_proof(FILE *out, const struct nsr_proof *p) {
  fprintf(out, "for all inputs: %s", nsr_proof_verdict_name(p->verdict));
  if (p->verdict == NSR_PROOF_PROVED)
    print_limit(out, p);
  else
    fprintf(out, ": %s\n", nsr_proof_rule_name(p->rule));
  if (p->text)
    print_indented(out, p->text);
}

static void print_judgement(FILE *out, const struct verdict *v) {
  const struct nsr_judgement *j = &v->j;
  fprintf(out, "%s", nsr_verdict_name(j->verdict));
  if (j->fault != NSR_FAULT_NONE)
    fprintf(out, ": %s", nsr_fault_name(j->fault));
  fprintf(out, " (%u inputs equal", (unsigned)j->inputs);
  if (j->undecided)
    fprintf(out, ", %u undecided", (unsigned)j->undecided);
  fprintf(out,
          v->explored ? ", all orders of %llu instances)\n"
                      : ", %llu instructions run)\n",
          (unsigned long long)j->instances);
  if (j->input && *j->input)
    fprintf(out, "  input: %s\n", j->input);
  if (j->text)
    print_indented(out, j->text);
  if (j->notes)
    print_indented(out, j->notes);
  if (j->facts)
    print_indented(out, j->facts);
  if (v->explored)
    print_explored(out, v->explored);
}

void verdict_text(FILE *out, const struct verdict *v) {
  if (v->judged)
    print_judgement(out, v);
  if (v->proof)
    print_proof(out, v->proof);
}
