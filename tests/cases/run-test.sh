#!/bin/sh
# run.sh can object: cases with one thing wrong must fail.
#
# usage: run-test.sh BIN-FOLDER WORK-FOLDER
set -u
here=$(cd "$(dirname "$0")" && pwd)
bin=$1 work=$2/wrong
mkdir -p "$work" || exit 2
bad=0

wrong() { # NAME SED-SCRIPT CASE
  sed "$2" "$here/$3" >"$work/$1.s"
  cmp -s "$here/$3" "$work/$1.s" && echo "run-test: $1 changes nothing" >&2
  if sh "$here/run.sh" "$bin" "$work" "$work/$1.s" 2>/dev/null; then
    echo "run-test: $1 passes" >&2
    bad=1
  fi
}

rewritten=case22-distance-two.s refused=case44-computed-jump.s
unchanged=case30-equality.s
sh "$here/run.sh" "$bin" "$work" "$here/$rewritten" || bad=1
sh "$here/run.sh" "$bin" "$work" "$here/$refused" || bad=1
sh "$here/run.sh" "$bin" "$work" "$here/$unchanged" || bad=1
wrong no-expectation '/^; expect:/d' $rewritten
wrong not-refused 's/^; expect:.*/; expect: refused/' $rewritten
wrong not-rewritten 's/^; expect:.*/; expect: rewritten/' $refused
wrong not-unchanged 's/^; expect:.*/; expect: unchanged/' $rewritten
wrong other-reason 's/^; expect:.*/; expect: refused for fun/' $refused
wrong more-barriers 's/^; barriers:.*/; barriers: 2/' $rewritten
wrong no-assembly 's/^ *halt/    hlt/' $rewritten
wrong races 's/^    sync$//' $rewritten
wrong other-verdict 's/^; judge:.*/; judge: equal/' case36-runs-to-its-end.s
wrong other-report 's/^; says:.*/; says: no counts/' case33-long-run.s
wrong other-start 's/^; start:.*/; start: s9:7/' case33-long-run.s
wrong other-strict 's/^; strict:.*/; strict: 0/' case21-unknown-effects.s
wrong touched 's/^; untouched:.*/; untouched: s1/' case12-opaque-operation.s
wrong no-mistake 's/^; mutants:.*/; mutants: cancel/' case37-every-wait.s
wrong no-place 's/^; mutants:.*/; mutants: mask/' case37-every-wait.s
wrong legal 's/illegal: tr yt/illegal: copy yt[8*4]/; s/ op=add//' \
  case13-engine-of-the-stream.s
wrong senseless 's/illegal: tr/illegal: xx/' case13-engine-of-the-stream.s
exit $bad
