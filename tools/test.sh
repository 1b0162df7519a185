#!/bin/sh
# usage: tools/test.sh
#
# Builds with gcc under address and undefined-behaviour sanitizers into
# build/, once with clang into build-clang/, without a warning, and runs all
# tests.
set -eu
. "$(dirname "$0")/setup.sh"
need $build_packages clang libclang-rt-14-dev elfutils binutils libisl-dev
configure "$root/build" gcc -DNSR_SANITIZE=ON -DNSR_WERROR=ON
cmake --build "$root/build" -j "$jobs"
configure "$root/build-clang" clang -DNSR_WERROR=ON
cmake --build "$root/build-clang" -j "$jobs"
cd "$root/build"
ctest -j2 --output-on-failure
