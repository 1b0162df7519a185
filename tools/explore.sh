#!/bin/sh
# usage: explore.sh [KERNELS [SEED [STATES]]]
#
# Small kernels in all orders, for all instruction sets in turn: 20000 of each
# kind from seed 1, or as many from where you say, with a line of progress per
# thousand. Kinds: what one run with vector clocks says of kernels, many of them
# broken, against all orders; rewritten kernels under each way to count and few
# registers and semaphores, none of which may be wrong; reduced search against
# unreduced; the publication's form where all fits it, which may not wait for
# more than is owed; what the static judge proves of rewritten kernels with
# mistakes, none of which may be wrong. Where a kernel has more than STATES
# states (20000) unreduced, it is searched reduced. Built without sanitizers.
# Fails if two disagree.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$root/build-campaign}
cmake -S "$root" -B "$build" >/dev/null
cmake --build "$build" -j 2 --target explore_campaign >/dev/null
for kind in clocks rewrites modes published proofs; do
  "$build/tests/explore_campaign" $kind "${1:-20000}" "${2:-1}" "${3:-20000}"
done
