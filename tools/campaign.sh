#!/bin/sh
# usage: campaign.sh [KERNELS [SEED]]
#
# Random kernels for all instruction sets in turn, rewritten and judged: 10000
# of them from seed 1, or as many from where you say, with a progress line per
# thousand. Built without sanitizers, so that many fit into an hour. Fails if
# one is rewritten wrongly or refused for another reason than a lack of
# registers or semaphores.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$root/build-campaign}
cmake -S "$root" -B "$build" >/dev/null
cmake --build "$build" --target test_random -j 2 >/dev/null
NSR_KERNELS=${1:-10000} NSR_SEED=${2:-1} exec "$build/tests/test_random"
