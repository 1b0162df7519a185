#!/bin/sh
# usage: oracle-sample.sh TESTS [KERNELS [MUTANTS [SEED [INSNS]]]]
#
# The second opinion of oracle.sh on a sample: so many rewritten random kernels,
# which both judges must accept, and so many mutants of such, of any operator,
# on which they must agree (1000 and 1000, from seed 1). TESTS is the folder
# tests of a build. Where they differ at first, both look at more inputs; what
# is left is printed with the words that make it. Instruction sets, ways to
# count and operators take turns; a line per 100. Pipelines keep hidden state
# alone in order: the oracle knows no other order. Where it or python3 is
# missing, says "skipped".
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tests=${1:?TESTS}
shift
oracle=${NSR_ORACLE:-$root/../shared/tools/oracle.py}
if [ ! -f "$oracle" ] || ! python3 -c '' 2>/dev/null; then
  echo 'skipped: no python3 or no oracle'
  exit 0
fi
"$tests/judged_pairs" "$@" | python3 "$here/many_opinions.py" "$oracle"
