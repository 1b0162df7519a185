#!/bin/sh
# Shows how tight a rewritten kernel is synchronised: weakens one wait at a
# time and prints for each what the judge says, with the reason where nothing
# changes.
#
# usage: tools/mutants.sh [-B BUILD-FOLDER] [-q | -n] [KERNEL-FILE..]
#   without files: the kernels of the suite; -q: only the waits that could go;
#   -n: how many waits are needed, with what implies the others; without files
#   all hand-written kernels and those of the suite, but the random ones
set -eu
build=$(dirname "$0")/../build
if [ "${1-}" = -B ]; then
  build=$2
  shift 2
fi
[ -x "$build/tests/wait_mutants" ] || {
  echo "mutants.sh: $build/tests/wait_mutants is not there: build first" >&2
  exit 2
}
if [ "$*" = -n ]; then
  build=$(cd "$build" && pwd)
  cd "$(dirname "$0")/.."
  set -- -n fixtures/*/barrier.s fixtures/*/*/barrier.s
fi
exec "$build/tests/wait_mutants" "$@"
