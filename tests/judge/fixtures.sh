#!/bin/sh
# usage: fixtures.sh BIN
#
# The judge on the kernels of fixtures/: barrier.s against free.s and against
# itself is equal; each of broken/ is refuted for the reason in its head.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bin=$(cd "${1:?BIN}" && pwd) || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0

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
  "$bin/nsync-as" "$1" -o "$tmp/$2" && return
  echo "$1 does not assemble"
  failed=$((failed + 1))
  return 1
}

judge() { # NAME A B EXPECTED
  "$bin/nsync-cosim" "$tmp/$2" "$tmp/$3" >"$tmp/out" 2>&1
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
  assemble "$1" broken.o &&
    judge "${1#"$root"/}" barrier.o broken.o "refuted: $reason"
}

for kernel in "$root"/fixtures/*/; do
  name=fixtures/$(basename "$kernel")
  assemble "${kernel}barrier.s" barrier.o || continue
  judge "$name/barrier.s" barrier.o barrier.o equal
  assemble "${kernel}free.s" free.o &&
    judge "$name/free.s" barrier.o free.o equal
  for source in "$kernel"broken/*.s; do
    broken "$source"
  done
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
