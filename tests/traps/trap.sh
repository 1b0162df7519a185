#!/bin/sh
# One trap: what cases/run.sh checks of it, then wrong rewrites of it, each of
# which the judge must refute for its reason.
#
# usage: trap.sh BIN-FOLDER WORK-FOLDER TRAP.s [SCRIPT.sed]
#
# Lines read from the trap, besides those of run.sh (a \ at the end: the next
# comment line goes on with it):
#   ; waits: N             the output has N instructions that wait
#   ; plan: TEXT           a line of its --dump=plan (not of what a script made)
#   ; wrong: REASON EDIT   one edit (below) of the output's text: refuted
#   ; right: EDIT          the same, and still equal: another way to wait
#   ; event: EVENT         what others do meanwhile (--external of the judge)
# TRAP/*.s beside it are rewrites by hand, each with a line "; expect: equal" or
# "; expect: refuted: REASON".
#
# EDIT is one of these; it is done to all lines with a
# wait that RE matches:
#   drop RE          without the wait, and without the wait no-ops in front
#   one RE           without the wait
#   late RE          the threshold 1 lower
#   early RE         the threshold 1 higher
#   static RE        the threshold is 1 for ever
#   mask REG K RE    the wait holds only where REG > K
#   unsync ID        barrier ID of all engines goes
#   sed SCRIPT       anything else
set -u
here=$(cd "$(dirname "$0")" && pwd)
bin=$1 work=$2 trap=$3
name=$(basename "$trap" .s) script=
if [ $# -gt 3 ]; then
  script=$4
  name=$name.$(basename "$4" .sed)
fi
sh "$here/../cases/run.sh" "$@" || exit 1
in=$work/$name.in out=$work/$name.out
bad=0

fail() {
  printf '%s\n' "$name: $*" >&2
  bad=1
}
lines() { # KEY
  sed -n "/^; $1: /{s/^; $1: *//;:a;/\\\\\$/{N;s/\\\\\n; *//;ba};p}" "$trap"
}

# The waits of what RE matches, changed as `what` says. Wait no-ops are kept
# back until what they are for is seen: where that does not wait itself, the
# last of them does for it.
change_wait() { # WHAT RE [REG K]
  awk -v what="$1" -v re="$2" -v reg="${3-}" -v k="${4-}" '
    function waits(line) {
      return match(line, /\?s[0-9]+>=-?r?[0-9]+/)
    }
    function changed(line, text, sem, value, front) {
      waits(line)
      text = substr(line, RSTART, RLENGTH)
      sem = substr(text, 1, index(text, "=")) # ?sN>=
      value = substr(text, index(text, "=") + 1)
      if (what == "drop" || what == "one") text = ""
      else if (what == "static") text = sem "1"
      else {
        if (what == "mask")
          front = "    gt r20, " reg ", " k \
            "\n    mul r20, r20, " value "\n"
        else
          front = "    add r20, " value (what == "late" ? ", -1\n" : ", 1\n")
        text = sem "r20"
      }
      line = substr(line, 1, RSTART - 1) text substr(line, RSTART + RLENGTH)
      return front (line ~ /^ *wait *$/ ? "    nop" : line)
    }
    /^ *wait / { held[n++] = $0; next }
    {
      if ($0 ~ re && (waits($0) || n)) {
        done = 1
        if (what == "drop") n = 0
        if (waits($0)) $0 = changed($0)
        else if (n) held[n - 1] = changed(held[n - 1])
      }
      for (i = 0; i < n; i++) print held[i]
      n = 0
      print
    }
    END { exit !done }'
}

edit() { # EDIT of standard input
  kind=${1%% *}
  rest=${1#* }
  case $kind in
  drop | one | late | early | static) change_wait "$kind" "$rest" ;;
  mask)
    reg=${rest%% *} rest=${rest#* }
    change_wait mask "${rest#* }" "$reg" "${rest%% *}"
    ;;
  unsync) sed "/^ *sync $rest\\>/d" ;;
  sed) sed "$rest" ;;
  *) return 1 ;;
  esac
}

judged() { # TEXT EXPECTED WHAT
  if ! "$bin/nsync-as" "$1" -o "$work/$name.wrong" 2>"$work/$name.err"; then
    fail "$3: does not assemble"
    return
  fi
  "$bin/nsync-cosim" ${events+"--external=$events"} "$in" "$work/$name.wrong" \
    >"$work/$name.err" 2>&1
  got=$(sed -n '1s/ (.*//p' "$work/$name.err")
  [ "$got" = "$2" ] || fail "$3: expected $2, got $got"
}

# Without our own note and remarks, which say what the waits were.
edited() { # EXPECTED EDIT
  sed '/^\.section "\.note\.nsr\./,/^[^ ]/d; s/ ; .*//; s/ @[0-9]*$//' \
    "$out.s" >"$work/$name.plain.s"
  edit "$2" <"$work/$name.plain.s" >"$work/$name.wrong.s" ||
    fail "$2: matches no line that waits"
  cmp -s "$work/$name.plain.s" "$work/$name.wrong.s" &&
    fail "$2: changes nothing"
  judged "$work/$name.wrong.s" "$1" "$2"
}

by_hand() { # FILE
  translate "$1" >"$work/$name.hand.s"
  judged "$work/$name.hand.s" "$(sed -n 's/^; expect: *//p' "$1")" \
    "$(basename "$1")"
}

translate() { # SOURCE
  if [ -z "$script" ]; then
    cat "$1"
  else
    sed -f "$script" "$1"
  fi
}

if grep -q '^; event: ' "$trap"; then
  events=$work/$name.ev
  lines event >"$work/$name.want"
  translate "$work/$name.want" >"$events"
fi
for file in "${trap%.s}"/*.s; do
  [ ! -f "$file" ] || by_hand "$file"
done
case $(lines expect) in
rewritten*) ;;
*) exit $bad ;;
esac
waits=$(lines waits)
have=$(grep -c '^ .* ?s' "$out.s")
[ -z "$waits" ] || [ "$have" -eq "$waits" ] || fail "$have waits, not $waits"
"$bin/nsync-objdump" --dump=plan "$in" >"$work/$name.plan"
lines plan >"$work/$name.want"
while [ -z "$script" ] && read -r line; do
  grep -qxF -e "$line" "$work/$name.plan" ||
    fail "no line \"$line\" in the plan"
done <"$work/$name.want"
lines wrong >"$work/$name.want"
while read -r reason rest; do
  edited "refuted: $reason" "$rest"
done <"$work/$name.want"
lines right >"$work/$name.want"
while read -r rest; do
  edited equal "$rest"
done <"$work/$name.want"
exit $bad
