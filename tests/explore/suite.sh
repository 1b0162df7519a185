#!/bin/sh
# usage: suite.sh BIN
#
# The suite's kernels, for each instruction set, rewritten and judged in all
# orders of their first inputs. Prints how many waits are for more than is asked
# for.
set -eu
bin=$(cd "$1" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for isa in tile64 lane48; do
  "$bin/nsync-gen" --list | while read -r kernel _; do
    "$bin/nsync-gen" "$kernel" --isa=$isa -o "$tmp/a.o"
    "$bin/nsync-rewrite" --quiet --verify=none "$tmp/a.o" -o "$tmp/b.o"
    "$bin/nsync-cosim" --judge=exhaustive --inputs=3 --json="$tmp/json" \
      "$tmp/a.o" "$tmp/b.o" >"$tmp/text" || {
      cat "$tmp/text"
      exit 1
    }
    grep -q '"verdict":"equal"' "$tmp/json" || {
      cat "$tmp/text"
      exit 1
    }
    sed "s/.*\"waits\":\([0-9]*\),\"longer\":\([0-9]*\).*/\2 of \1/
      s/^/$kernel for $isa: /" "$tmp/json"
  done
done
