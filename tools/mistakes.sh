#!/bin/sh
# usage: mistakes.sh [KERNELS [SEED]]
#
# Rewriters with a mistake (operators of `nsync-gen mutate --list` that change
# no file, but can be built), on so many random kernels (200) from a seed (1):
# how many outputs are not what they should be, and how many of these the static
# judge does not prove and co-simulation with 32 inputs refutes. Those that
# neither objects to wait for more, not for less, or are equal by luck. And a
# static judge with a mistake, on as many mutants: of those that it proves some
# must be refuted. Exit 1 where a mistake is never found.
set -eu
. "$(dirname "$0")/setup.sh"
kernels=${1:-200} seed=${2:-1}
right=${BUILD:-$root/build-campaign}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
missed=0

cmake -S "$root" -B "$right" >/dev/null
cmake --build "$right" -j "$jobs" \
  --target nsync-gen nsync-rewrite nsync-cosim >/dev/null

one_kernel() { # SEED: other, unproved and refuted, 0 or 1 each
  isa=tile64
  [ $(($1 % 2)) -eq 0 ] || isa=lane48
  "$right/bin/nsync-gen" random --isa=$isa --seed="$1" \
    --instructions=$((80 + $1 * 7 % 120)) -o "$tmp/a.o"
  other=0 unproved=0 refuted=0
  for bin in "$right" "$wrong"; do
    "$bin/bin/nsync-rewrite" --quiet --verify=none "$tmp/a.o" \
      -o "$tmp/$(basename "$bin").o" >/dev/null 2>&1 || return 0
  done
  b=$tmp/$(basename "$wrong").o
  cmp -s "$tmp/$(basename "$right").o" "$b" && return
  other=1
  "$right/bin/nsync-cosim" --judge=static --strict "$tmp/a.o" "$b" \
    >/dev/null 2>&1 || unproved=1
  "$right/bin/nsync-cosim" --inputs=32 "$tmp/a.o" "$b" >/dev/null 2>&1 ||
    refuted=1
}

for mistake in short-footprint always-runs own-hazards; do
  wrong=$right-$mistake
  cmake -S "$root" -B "$wrong" -DNSR_TESTS=OFF -DNSR_MISTAKE=$mistake \
    >/dev/null
  cmake --build "$wrong" -j "$jobs" --target nsync-rewrite >/dev/null
  others=0 unproveds=0 refuteds=0 turn=$seed
  while [ "$turn" -lt $((seed + kernels)) ]; do
    one_kernel "$turn"
    others=$((others + other)) unproveds=$((unproveds + unproved))
    refuteds=$((refuteds + refuted)) turn=$((turn + 1))
  done
  printf '%-16s %4d kernels, %4d other outputs: %4d not proved, %4d refuted\n' \
    "$mistake" "$kernels" "$others" "$unproveds" "$refuteds"
  [ $refuteds -gt 0 ] && [ $unproveds -gt 0 ] || missed=1
done

# Footprints are the static judge's as well.
for mistake in blind-proof short-footprint; do
  wrong=$right-$mistake-judge
  cmake -S "$root" -B "$wrong" -DNSR_MISTAKE=$mistake >/dev/null
  cmake --build "$wrong" -j "$jobs" --target mutant_table >/dev/null
  found=$("$wrong/tests/mutant_table" -s $((kernels * 10)) -f "$seed" 2>&1 |
    sed -n 's/^level 1 proves \([0-9]*\) mistakes$/\1/p')
  printf '%-16s %4d mutants, of which level 1 proves %d wrong ones\n' \
    "$mistake" $((kernels * 10)) "${found:-0}"
  [ "${found:-0}" -gt 0 ] || missed=1
done
exit $missed
