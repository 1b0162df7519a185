#!/bin/sh
# usage: control.sh [--update] BIN [KERNEL-FOLDER..]
#
# What the rewriter does with the kernels of fixtures/control: each is
# rewritten and judged with every word of its control tensors from 0 to 4, or
# refused. `expect` beside it holds the outcome:
#
#   rewritten: N barriers stay        on each engine, the one at the exit too
#   refused: SP[4] (..): WHY          the first line of the message
#
# A line "; rewrite: OPTIONS" in barrier.s has options for the rewriter. free.s
# beside it is judged with the same inputs. The same for what ../lane48.sed
# makes of all these files, but for the message of a refusal.
# --update writes what happens there. A rewritten kernel whose verdict is not
# equal fails all the same.
set -u
update=
if [ "${1-}" = --update ]; then
  update=1
  shift
fi
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bin=$(cd "${1:?BIN}" && pwd) || exit 2
shift
[ $# -gt 0 ] || set -- "$root"/fixtures/control/*/
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0

fail() { # WHY [FILE]
  echo "$name: $1"
  [ -z "${2-}" ] || sed 's/^/  /' "$2"
  failed=$((failed + 1))
}

# For the instruction set $isa.
translate() { # SOURCE OUT
  if [ $isa = tile64 ]; then
    cat "$1"
  else
    sed -f "$here/../$isa.sed" "$1"
  fi >"$tmp/$2"
}

# More inputs than three words of 0..4 have; --strict: up to the tops.
same() { # FILE [EVENTS]
  "$bin/nsync-cosim" --judge=cosim --strict --inputs=200 ${2+"--external=$2"} \
    "$tmp/barrier.o" "$1" >"$tmp/verdict" 2>&1 &&
    grep -q '^equal ' "$tmp/verdict"
}

equal() { # FILE
  same "$1" || return
  [ -f "$kernel/outside.ev" ] || return 0
  translate "$kernel/outside.ev" outside.ev
  same "$1" "$tmp/outside.ev"
}

count() { # FILE: barriers on each engine, where that is one number
  "$bin/nsync-objdump" -d "$1" >"$tmp/text" || return
  engines=$(grep -c '^\.engine' "$tmp/text")
  barriers=$(grep -c '^ *sync' "$tmp/text")
  [ $((barriers % engines)) -eq 0 ] && echo $((barriers / engines))
}

outcome() { # of $tmp/barrier.o, one line; fails where that is a mistake
  options=$(sed -n 's/^; rewrite: //p' "$kernel/barrier.s")
  rm -f "$tmp/free.o" # options are split into words below
  (cd "$tmp" && "$bin/nsync-rewrite" --quiet $options barrier.o -o free.o) \
    >"$tmp/out" 2>&1
  case $? in
  0)
    equal "$tmp/free.o" || return
    (cd "$tmp" && "$bin/nsync-rewrite" --quiet $options free.o -o again.o &&
      cmp free.o again.o) >>"$tmp/out" 2>&1 || return
    echo "rewritten: $(count "$tmp/free.o") barriers stay"
    ;;
  1)
    [ ! -e "$tmp/free.o" ] || return
    sed -n '1s/^barrier\.o: \(.*\)error: /refused: \1/p' "$tmp/out"
    ;;
  *) return 1 ;;
  esac
}

by_hand() { # free.s
  translate "$kernel/free.s" by-hand.s
  "$bin/nsync-as" "$tmp/by-hand.s" -o "$tmp/by-hand.o" >"$tmp/out" 2>&1 &&
    equal "$tmp/by-hand.o"
}

expected() { # whether $tmp/got is; the first word is enough for others
  if [ $isa != tile64 ] && grep -q '^refused:' "$kernel/expect"; then
    grep -q '^refused:' "$tmp/got"
  else
    cmp -s "$tmp/got" "$kernel/expect"
  fi
}

control() { # KERNEL-FOLDER
  kernel=${1%/}
  name="control/$(basename "$kernel") for $isa"
  : >"$tmp/verdict"
  : >"$tmp/out"
  translate "$kernel/barrier.s" barrier.s
  if ! "$bin/nsync-as" "$tmp/barrier.s" -o "$tmp/barrier.o"; then
    fail 'does not assemble'
  elif [ -f "$kernel/free.s" ] && ! by_hand; then
    cat "$tmp/out" "$tmp/verdict" >"$tmp/why"
    fail 'free.s is not equal' "$tmp/why"
  elif ! outcome >"$tmp/got" || [ ! -s "$tmp/got" ]; then
    cat "$tmp/out" "$tmp/verdict" >"$tmp/why"
    fail 'neither rewritten and equal nor refused' "$tmp/why"
  elif [ -n "$update" ] && [ $isa = tile64 ]; then
    cp "$tmp/got" "$kernel/expect"
    passed=$((passed + 1))
  elif expected; then
    passed=$((passed + 1))
  else
    fail 'another outcome than expected:'
    diff "$kernel/expect" "$tmp/got"
  fi
}

for isa in tile64 lane48; do
  for kernel in "$@"; do
    control "$kernel"
  done
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
