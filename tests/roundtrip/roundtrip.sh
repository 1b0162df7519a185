#!/bin/sh
# usage: roundtrip.sh BIN
#
# The texts of the fixtures, and what ../lane48.sed makes of the right ones,
# through the programs in the folder BIN: assembled, disassembled and assembled
# again, printed as JSON lines and read again; the kernel files must not differ
# in a byte. Exit 1 if one does.
set -u
bin=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
failed=0
count=0

fail() { # what, which text
  echo "roundtrip: $2: $1"
  failed=1
}

# Some fixtures break the machine's rules on purpose; what reads kernels would
# refuse them, so they only go through the assembler.
valid() {
  "$bin/nsync-as" "$1" -o "$tmp/a.o" 2>"$tmp/why"
}

there_and_back() {
  "$bin/nsync-objdump" -d "$tmp/a.o" -o "$tmp/b.s" &&
    "$bin/nsync-as" "$tmp/b.s" -o "$tmp/b.o" || fail 'text fails' "$1"
  cmp -s "$tmp/a.o" "$tmp/b.o" || fail 'text gives other bytes' "$1"
  "$bin/nsync-objdump" --json "$tmp/a.o" -o "$tmp/c.json" &&
    "$bin/nsync-as" --json "$tmp/c.json" -o "$tmp/c.o" ||
    fail 'JSON fails' "$1"
  cmp -s "$tmp/a.o" "$tmp/c.o" || fail 'JSON gives other bytes' "$1"
}

check() { # text, name
  if valid "$1"; then
    count=$((count + 1))
    there_and_back "$2"
  elif ! "$bin/nsync-as" --no-check "$1" -o "$tmp/a.o"; then
    fail 'does not assemble' "$2"
  fi
}

# The broken ones of control/ are the right ones but for a line or two.
find "$root/fixtures" -name '*.s' ! -path '*/control/*/broken/*' |
  sort >"$tmp/texts"
while read -r text; do
  check "$text" "${text#"$root/"}"
  [ "${text#*/broken/}" = "$text" ] || continue
  sed -f "$root/tests/lane48.sed" "$text" >"$tmp/other.s"
  check "$tmp/other.s" "${text#"$root/"} for lane48"
done <"$tmp/texts"
[ "$count" -gt 0 ] || fail 'no fixtures found' "$root/fixtures"
[ $failed -eq 0 ] && echo "roundtrip: $count texts, all the same bytes"
exit $failed
