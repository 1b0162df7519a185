#!/bin/sh
# usage: suite.sh BIN
#
# The suite's kernels, for each instruction set, rewritten and judged in all
# orders of their first inputs. Prints how many waits are for more than is asked
# for. In the publication's per-loop form none is, where it removes all barriers
# and addresses are known.
set -eu
bin=$(cd "$1" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

rewrite() { # OPTION..: b.o of a.o, judged; longer: "2 of 30"
  "$bin/nsync-rewrite" --verify=none "$@" "$tmp/a.o" -o "$tmp/b.o" \
    >"$tmp/report"
  "$bin/nsync-cosim" --judge=exhaustive --inputs=3 --json="$tmp/json" \
    "$tmp/a.o" "$tmp/b.o" >"$tmp/text" &&
    grep -q '"verdict":"equal"' "$tmp/json" || fail
  longer=$(sed 's/.*"waits":\([0-9]*\),"longer":\([0-9]*\).*/\2 of \1/' \
    "$tmp/json")
}

fail() {
  cat "$tmp/text"
  exit 1
}

for isa in tile64 lane48; do
  for kernel in $("$bin/nsync-gen" --list | cut -d' ' -f1); do
    "$bin/nsync-gen" "$kernel" --isa=$isa -o "$tmp/a.o"
    rewrite
    echo "$kernel for $isa: $longer"
  done
  for kernel in sync-bound rmsnorm adamw rotating-banks; do
    "$bin/nsync-gen" "$kernel" --isa=$isa -o "$tmp/a.o"
    rewrite --alloc=published --published-alloc=per-loop
    echo "$kernel for $isa, published: $longer"
    case $longer in
    '0 of 0') fail ;;
    '0 of '*) ;;
    *) fail ;;
    esac
  done
done
