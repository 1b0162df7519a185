#!/bin/sh
# usage: bench.sh [latency [OUT]]
#        bench.sh speed [INSTRUCTIONS ..]
#
# latency: how long the kernels of the suite take on the machines of isa/, with
# barriers, published, ours, by hand and at best; tables (Markdown), figures
# (SVG) and all numbers (JSON lines) go to OUT, by default build-bench/latency.
# speed: how fast the programs are, on random kernels of so many instructions.
# Without a word: both. Builds with optimization into build-bench/.
set -eu
. "$(dirname "$0")/setup.sh"
what=${1-both}
case $what in
latency | speed) shift ;;
both | [0-9]*) ;;
*)
  sed -n 's/^# \(usage:\|   \)/\1/p' "$0" >&2
  exit 2
  ;;
esac
build=${BUILD:-$root/build-bench}
need $build_packages binutils >&2
configure "$build" gcc -DNSR_TESTS=OFF >/dev/null
cmake --build "$build" -j "$jobs" >/dev/null
bin=$build/bin
case $what in
latency | both)
  out=$build/latency
  [ $what = both ] || out=${1-$out}
  mkdir -p "$out"
  out=$(cd "$out" && pwd)
  ;;
esac
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
case $what in
latency | both) . "$root/tools/bench/latency.sh" ;;
esac
case $what in
latency) ;;
*) . "$root/tools/bench/speed.sh" ;;
esac
