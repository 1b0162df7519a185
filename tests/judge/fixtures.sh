#!/bin/sh
# usage: fixtures.sh BIN [KERNEL-FOLDER..]
#
# The judge on the kernels of fixtures/: barrier.s against free.s (if there is
# one) and against itself is equal; each of broken/ is refuted for the reason in
# its head. Where outside.ev says what others do, with that file and without it,
# for which "; with outside.ev: equal" may follow in that head.
# The same for what ../lane48.sed makes of all these files.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bin=$(cd "${1:?BIN}" && pwd) || exit 2
shift
[ $# -gt 0 ] || set -- "$root"/fixtures/*/ "$root"/fixtures/*/*/
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0

# For the instruction set $isa.
translate() { # SOURCE OUT
  if [ $isa = tile64 ]; then
    cat "$1"
  else
    sed -f "$here/../$isa.sed" "$1"
  fi >"$tmp/$2"
}

result() { # NAME EXPECTED: compares the first line of $tmp/out
  got=$(sed -n '1s/ (.*//p' "$tmp/out")
  if [ "$got" = "$2" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "$1: expected '$2', got '$got':"
    sed 's/^/  /' "$tmp/out"
  fi
}

assemble() { # SOURCE OUT
  translate "$1" text.s
  "$bin/nsync-as" "$tmp/text.s" -o "$tmp/$2" && return
  echo "$1 does not assemble for $isa"
  failed=$((failed + 1))
  return 1
}

judge() { # NAME A B EXPECTED [EXPECTED-WITH-EVENTS]
  verdict "$1" "$2" "$3" "$4"
  [ ! -f "$kernel/outside.ev" ] || {
    translate "$kernel/outside.ev" outside.ev
    verdict "$1, with outside.ev" "$2" "$3" "${5:-$4}" "$tmp/outside.ev"
  }
}

verdict() { # NAME A B EXPECTED [EVENTS]
  "$bin/nsync-cosim" ${5+"--external=$5"} "$tmp/$2" "$tmp/$3" \
    >"$tmp/out" 2>&1
  rc=$?
  case $4 in
  equal) want=0 ;;
  *) want=1 ;;
  esac
  result "$1" "$4"
  [ $rc -eq $want ] && return
  echo "$1: exit code $rc, expected $want"
  failed=$((failed + 1))
}

broken() { # SOURCE
  reason=$(sed -n 's/^; expect: //p' "$1")
  if [ -z "$reason" ]; then
    echo "$1: no line '; expect: REASON'"
    failed=$((failed + 1))
    return
  fi
  events=$(sed -n 's/^; with outside.ev: //p' "$1")
  assemble "$1" broken.o &&
    judge "${1#"$root"/} for $isa" barrier.o broken.o "refuted: $reason" \
      "$events"
}

fixture() { # FOLDER
  kernel=$1
  name="${kernel#"$root"/} for $isa"
  assemble "$kernel/barrier.s" barrier.o || return
  judge "$name: barrier.s" barrier.o barrier.o equal
  [ ! -f "$kernel/free.s" ] || {
    assemble "$kernel/free.s" free.o &&
      judge "$name: free.s" barrier.o free.o equal
  }
  for source in "$kernel"/broken/*.s; do
    [ ! -f "$source" ] || broken "$source"
  done
}

for isa in tile64 lane48; do
  for kernel in "$@"; do
    [ ! -f "$kernel/barrier.s" ] || fixture "${kernel%/}"
  done
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
