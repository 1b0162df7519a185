#!/bin/sh
# Shows how tight a rewritten kernel is synchronised: weakens one wait at a
# time and prints for each what the judge says, with the reason where nothing
# changes.
#
# usage: tools/mutants.sh [-B BUILD-FOLDER] [-q] [KERNEL-FILE..]
#   without files: the kernels of the suite; -q: only the waits that could go
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
exec "$build/tests/wait_mutants" "$@"
