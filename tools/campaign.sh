#!/bin/sh
# usage: campaign.sh [KERNELS [SEED]]
#
# Random kernels for all instruction sets in turn, rewritten and judged: 10000
# of each kind from seed 1, or as many from where you say, with a progress line
# per thousand of the first kind. Kinds: plain ones; under each scheme and small
# budgets; published allocations; with code that cannot be read; with semaphores
# of others. Built without sanitizers, so that many fit into an hour. Fails if
# one is rewritten wrongly or refused for another reason than the test allows.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$root/build-campaign}
kinds='test_random test_schemes test_published test_random_islands test_outside'
cmake -S "$root" -B "$build" >/dev/null
# shellcheck disable=SC2086 # one word per target
cmake --build "$build" -j 2 --target $kinds >/dev/null
cd "$root"
for kind in $kinds; do
  NSR_KERNELS=${1:-10000} NSR_SEED=${2:-1} "$build/tests/$kind"
done
