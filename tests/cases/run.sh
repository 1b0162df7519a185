#!/bin/sh
# Runs one case: assembles it, rewrites it, holds the outcome against its
# "; expect:" line, judges what was written and asks the oracle where there
# is one ($NSR_ORACLE).
#
# usage: run.sh BIN-FOLDER WORK-FOLDER CASE.s [SCRIPT.sed]
#   SCRIPT.sed makes of the case what is run
#
# Lines read from the case:
#   ; expect: rewritten | unchanged | refused [TEXT] | hang [TEXT] | race [TEXT]
#   ; barriers: N      each engine of the output holds N of them
#   ; rewrite: OPTIONS of nsync-rewrite
#   ; judge: TEXT      what nsync-cosim says of the case and itself begins so
#   ; says: TEXT       in the report
#   ; strict: CODE     exit code of nsync-rewrite --strict
#   ; untouched: sN    as often in the output as in the case
#   ; start: SEM:VALUE the output is refuted if a semaphore holds that at first
#   ; mutants: OP      each of the output's, and there are some, is refuted
#   ;   illegal: INSN  in its place it would be no instruction of the engine
set -u
bin=$1 work=$2 case=$3
name=$(basename "$case" .s)
oracle=${NSR_ORACLE:-$(dirname "$0")/../../../shared/tools/oracle.py}
mkdir -p "$work" || exit 2
if [ $# -gt 3 ]; then
  name=$name.$(basename "$4" .sed)
  sed -f "$4" "$case" >"$work/$name.s" || exit 2
  case=$work/$name.s
fi
in=$work/$name.in out=$work/$name.out
rm -f "$in" "$out" "$out.again"

fail() {
  echo "$name: $*" >&2
  [ -s "$work/$name.err" ] && sed 's/^/  /' "$work/$name.err" >&2
  exit 1
}
print() { # HOW KERNEL TO
  "$bin/nsync-objdump" "$1" "$2" >"$3" 2>"$work/$name.err" ||
    fail "cannot print $(basename "$2")"
}
sections() { # of others: .section and the .bytes below it
  awk '/^\.section/ { on = !/"\.note\.nsr\./ }
       !/^ *\.(section|bytes)/ { on = 0 }
       on' "$1"
}
field() { sed -n "s/^; $1: *//p" "$case"; }

expect=$(field expect)
word=${expect%% *}
text=${expect#"$word"}
text=${text# }

"$bin/nsync-as" "$case" -o "$in" 2>"$work/$name.err" ||
  fail "does not assemble"
for line in $(grep -n '^; *illegal:' "$case" | cut -d: -f1); do
  sed "${line}s/^; *illegal://" "$case" >"$out.s"
  "$bin/nsync-as" "$out.s" -o "$out" 2>"$work/$name.err" &&
    fail "line $line is legal"
  grep -qF "is no instruction of" "$work/$name.err" ||
    fail "line $line is wrong for another reason"
done
judged=$(field judge)
[ -z "$judged" ] || "$bin/nsync-cosim" "$in" "$in" 2>&1 | head -n 1 |
  grep -q "^$judged" || fail "the judge does not say \"$judged\" of it"
options=$(field rewrite) # split into words
"$bin/nsync-rewrite" $options "$in" -o "$out" >"$work/$name.report" \
  2>"$work/$name.err"
code=$?

case $word in
refused | hang | race)
  [ $code -eq 1 ] || fail "exit code $code, not 1"
  [ ! -e "$out" ] || fail "an output was written all the same"
  [ -s "$work/$name.err" ] || fail "nothing says why"
  grep -qF -e "${text:-$word}" "$work/$name.err" ||
    fail "the message does not say \"${text:-$word}\""
  exit 0
  ;;
unchanged)
  [ $code -eq 0 ] || fail "exit code $code, not 0"
  cmp -s "$in" "$out" || fail "the output is not the input"
  exit 0
  ;;
rewritten) ;;
*) fail "no \"; expect:\" line that says anything" ;;
esac

[ $code -eq 0 ] || fail "exit code $code, not 0"
print -d "$in" "$in.s"
print -d "$out" "$out.s"
barriers=$(field barriers)
engines=$(grep -c '^\.engine' "$in.s")
have=$(grep -c '^ *sync' "$out.s")
[ -z "$barriers" ] || [ "$have" -eq $((barriers * engines)) ] ||
  fail "$have barriers on $engines engines, not $barriers on each"
sections "$in.s" >"$in.sections"
sections "$out.s" >"$out.sections"
cmp -s "$in.sections" "$out.sections" || fail "a foreign section changed"
"$bin/nsync-cosim" "$in" "$out" >"$work/$name.err" 2>&1 ||
  fail "the judge objects"
says=$(field says)
[ -z "$says" ] || grep -qF -e "$says" "$work/$name.report" ||
  fail "the report does not say \"$says\""
strict=$(field strict)
if [ -n "$strict" ]; then
  "$bin/nsync-rewrite" --strict $options "$in" -o "$out.again" \
    >"$work/$name.err" 2>&1
  [ $? -eq "$strict" ] || fail "--strict does not end with $strict"
fi
sem=$(field untouched)
[ -z "$sem" ] || [ "$(grep -c "[?^]$sem\>" "$in.s")" -eq \
  "$(grep -c "[?^]$sem\>" "$out.s")" ] || fail "something else uses $sem"
for start in $(field start); do
  "$bin/nsync-cosim" "--start=$start" "$in" "$out" >"$work/$name.err" 2>&1
  [ $? -eq 1 ] || fail "not refuted where it starts with $start"
done
for op in $(field mutants); do
  n=$("$bin/nsync-gen" mutate --operator="$op" --count "$out")
  [ "$n" -gt 0 ] || fail "no place for $op"
  while [ "$n" -gt 0 ]; do
    n=$((n - 1))
    "$bin/nsync-gen" mutate --operator="$op" --index=$n "$out" \
      -o "$out.mutant" 2>"$work/$name.err" || fail "no mutant $n of $op"
    "$bin/nsync-cosim" "$in" "$out.mutant" >"$work/$name.err" 2>&1
    [ $? -eq 1 ] || fail "mutant $n of $op is not refuted"
  done
done
# Rewriting twice is rewriting once.
"$bin/nsync-rewrite" $options "$out" -o "$out.again" >"$work/$name.err" 2>&1
again=$?
[ $again -eq 0 ] && cmp -s "$out" "$out.again" ||
  fail "rewriting the output again changes it, or fails with code $again"
if [ -r "$oracle" ] && command -v python3 >/dev/null; then
  print --json "$in" "$in.json"
  print --json "$out" "$out.json"
  python3 "$oracle" "$in.json" "$out.json" >"$work/$name.err" 2>&1 ||
    fail "the oracle objects"
fi
