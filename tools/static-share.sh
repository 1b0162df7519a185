#!/bin/sh
# usage: static-share.sh [-n KERNELS] [-f SEED] [-i INSNS] [-s WAY] [-acv]
#
# How much of what the rewriter makes of random kernels the static judge proves,
# by the way to count, and why not the rest: the reasons with the most frequent
# first. 1000 kernels from seed 1, each in one way, for all instruction sets in
# turn, unless told otherwise (tests/share/static_share.c); a line per 100
# kernels. Built without sanitizers.
set -eu
. "$(dirname "$0")/setup.sh"
build=${BUILD:-$root/build-campaign}
cmake -S "$root" -B "$build" >/dev/null
cmake --build "$build" -j "$jobs" --target static_share >/dev/null
[ $# -gt 0 ] || set -- -n 1000
exec "$build/tests/static_share" -c "$@"
