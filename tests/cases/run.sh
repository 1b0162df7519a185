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
