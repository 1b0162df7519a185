#!/bin/sh
# usage: oracle-sample.sh BIN [KERNELS [MUTANTS [SEED]]]
#
# The second opinion of oracle.sh on a sample: so many rewritten random kernels,
# which both judges must accept, and so many mutants of such, of any operator,
# on which they must agree (1000 and 1000, from seed 1). Where they differ at
# first, both look at more inputs; what is left is printed with the command that
# makes it. Instruction sets, ways to count and operators take turns; a line per
# 100. Pipelines keep hidden state alone in order: the oracle knows no other
# order. Where it or python3 is missing, says "skipped".
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bin=$(cd "${1:?BIN}" && pwd) || exit 2
kernels=${2:-1000} mutants=${3:-1000} seed=${4:-1}
oracle=${NSR_ORACLE:-$root/../shared/tools/oracle.py}
if [ ! -f "$oracle" ] || ! python3 -c '' 2>/dev/null; then
  echo 'skipped: no python3 or no oracle'
  exit 0
fi
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
accepted=0 refused=0 agreed=0 wrong=0 differ=0

# ours, theirs: what each says of a.o and $1, on about $2 inputs.
opinions() {
  "$bin/nsync-cosim" --inputs="$2" a.o "$1" >ours.txt 2>&1
  ours=$?
  "$bin/nsync-objdump" --json "$1" -o b.json
  python3 "$oracle" --trips "$2" a.json b.json >theirs.txt 2>&1
  theirs=$?
}

both() { # FILE NAME: whether they agree
  opinions "$1" 8
  [ $ours -eq $theirs ] || opinions "$1" 60
  [ $ours -eq $theirs ] && return
  differ=$((differ + 1))
  echo "$2: nsync-cosim says $ours, the oracle $theirs"
  head -n 3 ours.txt | sed 's/^/  /'
  grep -v '^static\|^dynamic\|^note' theirs.txt | head -n 4 | sed 's/^/  | /'
  return 1
}

one_of() { # NUMBER WORD..: one word
  shift $(($1 % ($# - 1) + 1))
  echo "$1"
}

# a.o, a.json and b.o for a seed; false: it is not rewritten.
prepare() {
  isa=$(one_of "$1" tile64 lane48)
  scheme=$(one_of $(($1 / 2)) per-loop per-engine equal-weight per-instruction)
  made="random --isa=$isa --seed=$1 --instructions=$((60 + $1 * 7 % 90))"
  # shellcheck disable=SC2086 # words of a command
  "$bin/nsync-gen" $made --text -o - |
    awk '{ print } /^\.kernel/ { print ".orders" }' >plain.s
  for engine in $(sed -n 's/^\.engine //p' plain.s); do
    echo ".order $engine hidden"
  done >orders.s
  sed -e '/^\.orders$/{
    r orders.s
    d
  }' plain.s >a.s
  "$bin/nsync-as" a.s -o a.o && "$bin/nsync-objdump" --json a.o -o a.json &&
    "$bin/nsync-rewrite" --quiet --verify=none --scheme="$scheme" a.o -o b.o \
      >/dev/null 2>&1
}

mutant() { # TURN: m.o, of some operator that has a place
  for op in 1 2 3 4 5 6 7 8 9 10 11 14 16 17 18 19 20 29 30; do
    at=$(one_of $(($1 + op)) 1 2 3 4 5 6 7 8 9 10 11 14 16 17 18 19 20 29 30)
    places=$("$bin/nsync-gen" mutate --operator="$at" --count b.o)
    [ "$places" -gt 0 ] || continue
    index=$(($1 * 13 % places))
    "$bin/nsync-gen" mutate --operator="$at" --index=$index b.o -o m.o \
      2>/dev/null && return
  done
  return 1
}

turn=$seed
while [ $accepted -lt "$kernels" ] ||
  [ $((agreed + differ)) -lt "$mutants" ]; do
  [ $((turn % 100)) -ne 0 ] || echo "seed $turn: $accepted accepted," \
    "$agreed mutants agreed on ($wrong wrong), $differ differ" >&2
  if ! prepare $turn; then
    refused=$((refused + 1))
    [ $refused -lt 10000 ] || break
  else
    if [ $accepted -lt "$kernels" ] && both b.o "$made ($scheme)"; then
      [ $ours -eq 0 ] || echo "$made ($scheme): both object"
      [ $ours -ne 0 ] || accepted=$((accepted + 1))
    fi
    if [ $((agreed + differ)) -lt "$mutants" ] && mutant $turn &&
      both m.o "$made ($scheme), operator $at, index $index"; then
      agreed=$((agreed + 1))
      [ $ours -eq 0 ] || wrong=$((wrong + 1))
    fi
  fi
  turn=$((turn + 1))
done
echo "$accepted rewritten kernels that both accept; of $((agreed + differ))" \
  "mutants both agree on $agreed, $wrong of them wrong; $differ differences"
[ $differ -eq 0 ]
