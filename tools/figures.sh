#!/bin/sh
# usage: figures.sh [OPTIONS OF nsync-rewrite]
#        figures.sh -b [OPTIONS OF nsync-rewrite]
#
# -b: barriers that stay, exits apart, where two registers for each engine and
# one semaphore for each channel may be used, beside those that stay where all
# may. Else:
# What synchronisation costs in rewritten kernels: those of the suite and some
# random ones, of all instruction sets, and the hand-written ones. For each: the
# scheme, waits in innermost loops, register operations there (thresholds and
# counting) and operations for a wait; semaphores, and pairs of a channel and a
# scope with work that is waited for; barriers that stay, apart from those at
# exits.
# Nothing is judged. BUILD names a build folder (build).
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
bin=${BUILD:-$root/build}/bin
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# the number (or word) that a report has under a key
get() {
  sed -n "s/.*\"$1\":\"\{0,1\}\([-a-z0-9 ]*\).*/\1/p" "$dir/r.json"
}

figures() { # NAME FILE OPTIONS..
  name=$1
  file=$2
  shift 2
  "$bin/nsync-rewrite" --quiet --verify=none "$@" --json="$dir/r.json" \
    "$file" -o "$dir/out.o" 2>/dev/null || {
    echo "$name refused"
    return
  }
  kept=$(tr '{' '\n' <"$dir/r.json" | grep -c '"reason":' || true)
  sems=$(sed 's/.*"registers":[0-9]*,"semaphores":\([0-9]*\),.*/\1/' \
    "$dir/r.json")
  echo "$name $(get scheme | tr ' ' -) $(get inner_waits)" \
    "$(get inner_operations) $sems $(get awaited) $((kept - 1))"
}

channels() { # FILE
  "$bin/nsync-objdump" -d "$1" | grep -c '^\.engine\|^\.queue'
}

# barriers that stay, or why not
stays() { # FILE OPTIONS..
  file=$1
  shift
  "$bin/nsync-rewrite" --quiet --verify=none "$@" --json="$dir/r.json" \
    "$file" -o "$dir/out.o" 2>/dev/null || {
    echo refused
    return
  }
  echo $(($(tr '{' '\n' <"$dir/r.json" | grep -c '"reason":' || true) - 1))
}

budgets() { # NAME FILE OPTIONS..
  name=$1
  file=$2
  shift 2
  n=$(channels "$file")
  echo "$name $n $(stays "$file" "$@") $(stays "$file" "$@" \
    --max-registers=2 --max-semaphores="$n")"
}

all() {
  for isa in tile64 lane48; do
    for kernel in $("$bin/nsync-gen" --list | cut -d' ' -f1); do
      "$bin/nsync-gen" "$kernel" --isa=$isa -o "$dir/k.o" 2>/dev/null ||
        continue
      "$what" "$kernel/$isa" "$dir/k.o" "$@"
    done
    for seed in 1 2 3 4 5 6 7 8; do
      "$bin/nsync-gen" random --isa=$isa --seed=$seed \
        --instructions=$((seed * 60)) -o "$dir/k.o"
      "$what" "random-$seed/$isa" "$dir/k.o" "$@"
    done
  done
  for text in "$root"/fixtures/*/barrier.s \
    "$root"/fixtures/control/*/barrier.s; do
    "$bin/nsync-as" "$text" -o "$dir/k.o" 2>/dev/null || continue
    "$what" "$(basename "$(dirname "$text")")" "$dir/k.o" "$@"
  done
}

what=figures
if [ "${1-}" = -b ]; then
  shift
  what=budgets
  all "$@" | awk '
    BEGIN {
      printf "%-26s %8s %10s %10s\n", "kernel", "channels", "stay",
        "budgeted"
    }
    {
      printf "%-26s %8s %10s %10s\n", $1, $2, $3, $4
      more += $4 > $3; stay += $3; left += $4; n++
    }
    END {
      printf "%-26s %8s %10d %10d\n", n " kernels", "", stay, left
      printf "kernels that keep more: %d\n", more
    }'
  exit
fi

all "$@" | awk '
  function ratio(a, b) { return b ? sprintf("%.2f", a / b) : "-" }
  BEGIN {
    printf "%-26s %-16s %6s %6s %8s %6s %8s %8s %5s\n", "kernel", "scheme",
      "waits", "ops", "ops/wait", "sems", "awaited", "per pair", "stay"
  }
  $2 == "refused" { printf "%-26s refused\n", $1; next }
  NF < 7 { printf "%-26s unchanged\n", $1; next }
  {
    printf "%-26s %-16s %6d %6d %8s %6d %8d %8s %5d\n", $1, $2, $3, $4,
      ratio($4, $3), $5, $6, ratio($5, $6), $7
    waits += $3; ops += $4; sems += $5; pairs += $6; stay += $7; n++
    if ($3 && $4 / $3 > worst) worst = $4 / $3
  }
  END {
    printf "%-26s %-16s %6d %6d %8s %6d %8d %8s %5d\n", n " kernels", "",
      waits, ops, ratio(ops, waits), sems, pairs, ratio(sems, pairs), stay
    printf "most operations for a wait: %.2f\n", worst
  }'
