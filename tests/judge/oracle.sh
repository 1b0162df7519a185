#!/bin/sh
# usage: oracle.sh BIN
#
# A second opinion: an independent judge that reads the JSON form must agree
# with nsync-cosim on the fixtures, right and broken, on rewritten kernels, and
# on insns/*.s as they are and without each of their waits marked "needed".
# A line "; oracle: WHY" in a barrier.s leaves that one out.
# It is a program of its own in Python, $NSR_ORACLE or
# ../shared/tools/oracle.py beside the source tree: exit 0 equal, 1 different.
# Where it or python3 is missing, says "skipped".
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bin=$(cd "${1:?BIN}" && pwd) || exit 2
oracle=${NSR_ORACLE:-$root/../shared/tools/oracle.py}
if [ ! -f "$oracle" ] || ! python3 -c '' 2>/dev/null; then
  echo 'skipped: no python3 or no oracle'
  exit 0
fi
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0

fail() {
  echo "$1"
  failed=$((failed + 1))
}

# Both judges on the object files $2 and $3 in $tmp, which are called $1.
agree() {
  "$bin/nsync-cosim" "$tmp/$2" "$tmp/$3" >"$tmp/ours" 2>&1
  ours=$?
  for o in "$2" "$3"; do
    "$bin/nsync-objdump" --json "$tmp/$o" -o "$tmp/$o.json" || return
  done
  python3 "$oracle" --trips 8 "$tmp/$2.json" "$tmp/$3.json" \
    >"$tmp/theirs" 2>&1
  theirs=$?
  if [ $ours -eq $theirs ]; then
    passed=$((passed + 1))
    return
  fi
  fail "$1: nsync-cosim says $ours, the oracle $theirs:"
  cat "$tmp/ours" "$tmp/theirs"
}

assemble() {
  "$bin/nsync-as" "$1" -o "$tmp/$2" || fail "$1 does not assemble"
}

rewrite() { # NAME: a.o to b.o, judged by both
  if "$bin/nsync-rewrite" "$tmp/a.o" -o "$tmp/b.o" >"$tmp/out" 2>&1; then
    agree "$1, rewritten" a.o b.o
  else
    fail "$1 is not rewritten: $(cat "$tmp/out")"
  fi
}

# Whatever waits in that line waits for nothing.
drop() { # SOURCE LINE: b.o
  sed "$2s/?[^ ]*/?s39>=0/" "$1" >"$tmp/b.s"
  assemble "$tmp/b.s" b.o
}

for source in "$here"/insns/*.s; do
  name=insns/$(basename "$source")
  assemble "$source" a.o
  agree "$name" a.o a.o
  [ $ours -eq 0 ] || fail "$name: is not equal to itself"
  for line in $(grep -n '; needed$' "$source" | cut -d: -f1); do
    drop "$source" "$line"
    agree "$name without the wait in line $line" a.o b.o
    [ $ours -eq 1 ] || fail "$name: the wait in line $line is not needed"
  done
  # Effects that nobody knows keep their barriers.
  [ ! -x "$bin/nsync-rewrite" ] || grep -q ' custom ' "$source" ||
    rewrite "$name"
done

for barrier in "$root"/fixtures/*/barrier.s "$root"/fixtures/*/*/barrier.s; do
  ! grep -q '^; oracle: ' "$barrier" || continue
  kernel=${barrier%/barrier.s}
  assemble "$barrier" a.o
  for source in "$barrier" "$kernel/free.s" "$kernel"/broken/*.s; do
    [ -f "$source" ] || continue
    assemble "$source" b.o
    agree "${source#"$root"/}" a.o b.o
  done
  [ ! -x "$bin/nsync-rewrite" ] || grep -qs '^refused' "$kernel/expect" ||
    rewrite "${barrier#"$root"/}"
done
[ ! -x "$bin/nsync-rewrite" ] || for name in sync-bound rmsnorm matmul \
  'matmul --set blocked=1' 'rmsnorm --isa=lane48' 'matmul --isa=lane48' \
  'sync-bound --isa=lane48'; do # split into words below
  "$bin/nsync-gen" $name -o "$tmp/a.o" || fail "$name is not made"
  rewrite "$name"
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
