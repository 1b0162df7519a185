#!/bin/sh
# usage: external.sh BIN [MUTANTS]
#
# Where it is known what others do: the judge of runs and that of all orders,
# reduced and not, say the same of what the rewriter makes of
# fixtures/control/*/outside.ev's kernels with few rounds, and of MUTANTS (2) of
# that of each of some kinds.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
bin=$(cd "${1:?BIN}" && pwd) || exit 2
most=${2-2}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
good=0 wrong=0 bad=0

says() { # FILE OPTIONS..
  file=$1
  shift
  "$bin/nsync-cosim" "--external=$events" "$@" "$tmp/in.o" "$file" \
    2>"$tmp/err" | sed -n '1s/[:(].*//p'
}

compare() { # FILE NAME
  runs=$(says "$1" --judge=cosim)
  reduced=$(says "$1" --judge=exhaustive)
  all=$(says "$1" --judge=exhaustive --no-reduce)
  if [ "$runs $reduced $all" != "$runs $runs $runs" ]; then
    echo "$2: runs: $runs, orders: $reduced, all of them: $all"
    bad=$((bad + 1))
    return
  fi
  case $runs in
  equal*) good=$((good + 1)) ;;
  refuted*) wrong=$((wrong + 1)) ;;
  *)
    echo "$2: $runs"
    bad=$((bad + 1))
    ;;
  esac
}

mutants() { # NAME
  for op in drop-wait lower-threshold raise-threshold misplace-update \
    other-increment skip-wait displace; do
    i=0
    while [ $i -lt "$most" ] && "$bin/nsync-gen" mutate --operator=$op \
      --index=$i "$tmp/out.o" -o "$tmp/mutant.o" 2>/dev/null; do
      compare "$tmp/mutant.o" "$1, $op $i"
      i=$((i + 1))
    done
  done
}

for events in "$root"/fixtures/control/*/outside.ev; do
  kernel=$(dirname "$events")
  for rounds in 1 2; do
    name="$(basename "$kernel") with $rounds rounds"
    sed "/^\\.tensor n /s/range.*/range $rounds $rounds words $rounds/" \
      "$kernel/barrier.s" >"$tmp/in.s"
    "$bin/nsync-as" "$tmp/in.s" -o "$tmp/in.o" &&
      "$bin/nsync-rewrite" --quiet --verify=none "$tmp/in.o" -o "$tmp/out.o" \
        >/dev/null || bad=$((bad + 1))
    compare "$tmp/out.o" "$name"
    mutants "$name"
  done
done
echo "$good equal, $wrong refuted, $bad judged otherwise"
[ $bad -eq 0 ] && [ $good -gt 0 ] && [ $wrong -gt 0 ]
