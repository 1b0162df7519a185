#!/bin/sh
# usage: tools/demo.sh
#
# Builds into build/ and shows the main job on RMSNorm: the kernel with its
# barriers, the rewrite with its report, the verdict of a second program, and
# what the vector engine's loop looks like before and after. Results stay in
# build/demo/.
set -eu
. "$(dirname "$0")/setup.sh"
need $build_packages
configure "$root/build" cc >/dev/null
cmake --build "$root/build" -j "$jobs"

PATH=$root/build/bin:$PATH
mkdir -p "$root/build/demo"
cd "$root/build/demo"

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

# The loop of one engine, from a disassembly on standard input.
loop_of() {
  awk -v engine="$1" '
    $1 == ".engine" { on = $2 == engine; if (on) print; next }
    on && $1 == "loop:" { inside = 1 }
    on && inside { print }
    on && $1 == "done:" { exit }'
}

show nsync-gen rmsnorm -o rmsnorm.o
show nsync-rewrite rmsnorm.o -o rmsnorm-free.o
show nsync-cosim rmsnorm.o rmsnorm-free.o

printf '\nThe vector engine, before:\n\n'
nsync-objdump -d rmsnorm.o | loop_of dve
printf '\nand after:\n\n'
nsync-objdump -d rmsnorm-free.o | loop_of dve
printf '\nThe files are in %s\n' "build/demo/"
