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
exit $bad
