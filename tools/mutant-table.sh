#!/bin/sh
# usage: mutant-table.sh [-n KERNELS] [-f SEED] [-m MUTANTS] [-i INSNS] [-v]
#        mutant-table.sh -s MUTANTS [-f SEED] [-m MUTANTS] [-i INSNS]
#
# What each judge says of mutants of rewritten random kernels, by operator
# (nsync-gen mutate --list): level 1 is --judge=static, level 2 co-simulation
# with 32 inputs, level 3 all orders of a few small inputs. 400 kernels from
# seed 1, with at most 3 mutants of each operator, unless told otherwise; a line
# per 5000 mutants. Built without sanitizers. `unsound` counts mistakes that
# level 1 proves, `L1 no` what is equivalent and not proved, `open` what level 3
# has too much to do with. Exit 1 where a judge is not what it should be.
# With -s, of so many mutants at least, only whether level 1 is sound: what it
# proves levels 2 and 3 look at, and find equal. An unsound one is printed with
# what makes it.
set -eu
. "$(dirname "$0")/setup.sh"
build=${BUILD:-$root/build-campaign}
cmake -S "$root" -B "$build" >/dev/null
cmake --build "$build" -j "$jobs" --target mutant_table >/dev/null
[ $# -gt 0 ] || set -- -n 400
exec "$build/tests/mutant_table" -c "$@"
