#!/bin/sh
# usage: isagen-test.sh ISAGEN
#
# bad-*.isa: refused with exactly the complaints of their "# expect LINE: TEXT"
# lines, exit 1, and no output. good-*.isa: accepted. And the command line.
set -u
isagen=$1
cd "$(dirname "$0")" || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
failed=0
count=0

fail() {
  echo "FAILED: $*"
  failed=1
}

# run EXIT ARGUMENT ..: runs isagen, complaints to $tmp/err.
run() {
  want=$1
  shift
  rm -f "$tmp/out.c"
  "$isagen" -o "$tmp/out.c" "$@" >"$tmp/std" 2>"$tmp/err"
  code=$?
  [ "$code" = "$want" ] || fail "$*: exit $code, not $want"
  [ -s "$tmp/std" ] && fail "$*: prints to standard output"
  if [ "$want" = 0 ]; then
    [ -s "$tmp/out.c" ] || fail "$*: no output"
  else
    [ -e "$tmp/out.c" ] && fail "$*: wrote an output"
    [ -s "$tmp/err" ] || fail "$*: refused without a word"
  fi
}

says() { # says TEXT: the complaints contain it
  grep -qF -- "$1" "$tmp/err" || {
    fail "no complaint \"$1\" but:"
    cat "$tmp/err"
  }
}

# refused FILE: with the complaints it expects.
refused() {
  run 1 "$1"
  grep '^# expect ' "$1" | sed "s|^# expect |$1:|" >"$tmp/want"
  [ -s "$tmp/want" ] || fail "$1: expects nothing"
  diff "$tmp/want" "$tmp/err" || fail "$1: other complaints (< expected)"
}

for f in bad-*.isa; do
  refused "$f"
  count=$((count + 1))
done
[ "$count" -gt 100 ] || fail "only $count bad-*.isa"

for f in good-*.isa ../../isa/*.isa; do
  run 0 "$f"
done

# The same input gives the same output.
run 0 good-mini32.isa
cp "$tmp/out.c" "$tmp/first.c"
run 0 good-mini32.isa
cmp "$tmp/first.c" "$tmp/out.c" || fail "output differs from run to run"

# Nothing to do is fine: empty lists.
run 0

# Several files; machine files.
printf 'a "quoted" \\ line\n\303\251\n' >"$tmp/m1.machine"
run 0 good-mini32.isa ../../isa/tile64.isa "$tmp/m1.machine"
grep -q '{"m1", machine0}' "$tmp/out.c" || fail "m1.machine is not embedded"
run 1 good-mini32.isa good-mini32.isa
says "instruction set \`mini32\` is already in good-mini32.isa"
mkdir "$tmp/more"
cp "$tmp/m1.machine" "$tmp/more"
run 1 "$tmp/m1.machine" "$tmp/more/m1.machine"
says "machine \`m1\` is already in"
printf 'a\0b' >"$tmp/nul.machine"
run 1 "$tmp/nul.machine"
says "holds a NUL byte"
: >"$tmp/M.machine"
run 1 "$tmp/M.machine"
says "is not a name"

# A line of 65 names.
{
  echo "isa long version 1"
  i=0
  printf 'enum e ='
  while [ $i -lt 65 ]; do
    printf ' a%d' $i
    i=$((i + 1))
  done
} >"$tmp/long.isa"
run 1 "$tmp/long.isa"
says "too many words on a line"

# Files that are not there, or not text; a place that cannot be written.
run 1 "$tmp/none.isa"
says "cannot read"
run 1 "$tmp/none.machine"
says "cannot read"
head -c 4000 "$isagen" >"$tmp/binary.isa"
run 1 "$tmp/binary.isa"
: >"$tmp/empty.isa"
run 1 "$tmp/empty.isa"
says "the head has no"
run 2 isagen-test.sh
says "neither .isa nor .machine"
"$isagen" -o "$tmp/none/out.c" good-mini32.isa 2>"$tmp/err" &&
  fail "wrote into a folder that is not there"
says "cannot write"
"$isagen" >/dev/null 2>"$tmp/err"
[ $? = 2 ] || fail "no arguments: not a usage error"
says "usage: isagen"

# This script can fail: a wrong line, a wrong text, no complaint at all.
notices() { # notices FILE SED
  sed "$2" "$1" >"$tmp/bad.isa"
  (
    failed=0
    refused "$tmp/bad.isa"
    exit $failed
  ) >/dev/null 2>&1
}
notices bad-arg-type.isa '' || fail "objects to a right file"
notices bad-arg-type.isa 's/expect 28/expect 29/' && fail "lines are ignored"
notices bad-arg-type.isa 's/: unknown/: no/' && fail "texts are ignored"
notices bad-arg-type.isa '/expect/d' && fail "expectations may be missing"
notices good-mini32.isa '1s/^/# expect 1: nothing/' && fail "accepts all"
[ $failed = 0 ] && echo "$count refusals as expected"
exit $failed
