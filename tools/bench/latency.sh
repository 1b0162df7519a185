# latency.sh - how long kernels take: the work of `bench.sh latency`, which
# sources it ($bin: the programs, $root: the project, $out: where results go; a
# folder of its own is the current one).
#
# Every kernel in every form is run once on the engine model, and timed on every
# machine at every cost of a barrier. Forms that cannot be made are left out,
# with the reason in the tables. Numbers come as lines
#   time MACHINE KERNEL FORM BARRIER-US NS
#   code KERNEL FORM BYTES SEMAPHORES REGISTERS BARRIERS-LEFT OPERATIONS WAITS
#        WORK NOOPS
#   loop MACHINE KERNEL LABEL DEPTH ITERATIONS RESOURCES FOUND TRUE IDEAL AUTO
#   lost KERNEL FORM REASON
# (latency.tsv), of which tables.awk and figure.awk make what people read.

machines='v2 v3'
costs='0,2us,5us,10us,20us,30us,40us'

# NAME|of nsync-gen|of nsync-cosim --time. Kernels that are not named here come
# at their real size.
kernels='rmsnorm|rmsnorm --size=real|--input=tiles=64
rmsnorm, 2 buffers|rmsnorm --size=real --set buffers=2|--input=tiles=64
tiled-matmul|tiled-matmul --size=real|
tiled-matmul, blocked|tiled-matmul --size=real --set blocked=1|'

# NAME|how: a form of nsync-gen, or options of nsync-rewrite
published='--alloc=published --published-alloc'
recent='--alloc=published --published-most-recent --published-alloc'
forms="barriers|form barrier
published per-instruction|rewrite $published=per-instruction
published per-loop|rewrite $published=per-loop
published per-engine|rewrite $published=per-engine
recent per-instruction|rewrite $recent=per-instruction
recent per-loop|rewrite $recent=per-loop
recent per-engine|rewrite $recent=per-engine
per-instruction|rewrite --alloc=per-instruction
per-loop|rewrite --alloc=per-loop
per-engine|rewrite --alloc=per-engine
equal-weight|rewrite --alloc=equal-weight
auto|rewrite --alloc=auto
manual|form manual"

for name in $("$bin/nsync-gen" --list | sed 's/ .*//'); do
  case $name in random) continue ;; esac
  echo "$kernels" | grep -q "|$name " ||
    kernels="$kernels
$name|$name --size=real|"
done

say() { # progress, where somebody looks
  [ ! -t 2 ] || printf '\r\033[K%s' "$*" >&2
}

number() { # KEY: its number in a line of JSON on standard input, the first one
  sed -n "s/^[^}]*\"$1\":\\([0-9.]*\\).*/\\1/p" | head -n 1
}

# make_form HOW GEN-ARGS: k.o out of barrier.o, or made; false: why is said.
make_form() {
  kind=${1%% *}
  how=${1#* }
  shift
  rm -f k.o report.json
  case $kind in
  form) "$bin/nsync-gen" $1 --form="$how" -o k.o ;;
  rewrite)
    "$bin/nsync-rewrite" --verify=none $how barrier.o -o k.o \
      --json=report.json --quiet
    ;;
  esac >said 2>&1
}

semaphores() { # that a kernel updates
  "$bin/nsync-objdump" -d k.o | sed '/^\.tensor/d' |
    grep -o '\^s[0-9]*' | sort -u | wc -l
}

instructions() { # of all engines
  "$bin/nsync-objdump" -d k.o | grep -c '^    [a-z]'
}

# The most registers that were added to an engine, as the rewriter says.
registers() {
  [ -f report.json ] || { echo - && return; }
  sed 's/.*"engines":\[//' report.json | tr '{' '\n' |
    sed -n 's/.*"registers":\([0-9]*\).*/\1/p' | sort -n | tail -n 1
}

# time_form KERNEL FORM INPUTS [IDEAL]: on all machines; then what the code is.
time_form() {
  for machine in $machines; do
    "$bin/nsync-cosim" --time --machine="$machine" --sweep=barrier="$costs" \
      --json=- $3 ${4-} k.o >lines 2>said || return 1
    awk -v machine="$machine" -v kernel="$1" -v form="$2" '
      function text(key) {
        match($0, "\"" key "\":\"[^\"]*")
        return substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4)
      }
      {
        match($0, /"ns":[0-9.]*/)
        ns = substr($0, RSTART + 5, RLENGTH - 5)
        us = text("set"); sub(/.*=/, "", us); sub(/us/, "", us)
        name = text("form")
        if (name == "as-is") name = form
        printf "time\t%s\t%s\t%s\t%s\t%s\n", machine, kernel, name, us, ns
      }' lines >>numbers
  done
  [ -n "$2" ] || return 0
  line=$(grep '"form":"as-is"' lines | head -n 1)
  {
    printf 'code\t%s\t%s' "$1" "$2"
    printf '\t%s' $(($(instructions) * word)) "$(semaphores)" "$(registers)"
    for key in barriers operations waits work noops; do
      printf '\t%s' "$(echo "$line" | number $key)"
    done
    echo
  } >>numbers
}

# loops KERNEL INPUTS: what they allow, of barrier.o, and what k.o makes of it.
loops() {
  for machine in $machines; do
    for file in barrier.o k.o; do
      "$bin/nsync-cosim" --time --machine="$machine" --limits --json=- $2 \
        $file >lines 2>said || return 1
      grep '"kind":"loop"' lines
    done >loops
    awk -v machine="$machine" -v kernel="$1" '
      function number(key) {
        match($0, "\"" key "\":[^,}]*")
        return substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3)
      }
      { label = number("label"); gsub(/"/, "", label); at[label]++ }
      /"file":"barrier.o"/ {
        n++
        name[n] = label
        line[n] = number("depth") "\t" number("iterations") "\t" \
          number("resources") "\t" number("found") "\t" number("true") "\t" \
          number("ideal")
      }
      /"file":"k.o"/ { period[label] = number("as_is") }
      END {
        for (i = 1; i <= n; i++)
          printf "loop\t%s\t%s\t%s\t%s\t%s\n", machine, kernel, name[i],
            line[i], at[name[i]] == 2 ? period[name[i]] : "null"
      }' loops >>numbers
  done
}

lost() { # KERNEL FORM
  printf 'lost\t%s\t%s\t%s\n' "$1" "$2" \
    "$(head -n 1 said | sed 's/^[^ ]*: *\(error: \)*//')" >>numbers
}

one_kernel() { # NAME GEN-ARGS INPUTS
  if ! "$bin/nsync-gen" $2 -o barrier.o >said 2>&1; then
    lost "$1" barriers
    return
  fi
  echo "$forms" >forms
  while IFS='|' read -r form how; do
    say "$1: $form"
    ideal=
    [ "$form" != barriers ] || ideal=--ideal
    if ! make_form "$how" "$2" || ! time_form "$1" "$form" "$3" $ideal; then
      lost "$1" "$form"
    elif [ "$form" = auto ]; then
      loops "$1" "$3" || lost "$1" "limits of loops"
    fi
  done <forms
}

: >numbers
word=64 # bytes of an instruction of the first instruction set
echo "$kernels" >kernels
while IFS='|' read -r name args inputs; do
  one_kernel "$name" "$args" "$inputs"
done <kernels
say

about="$("$bin/nsync-cosim" --version), $(date -u +%F), machines $machines"
cp numbers "$out/latency.tsv"
make() { # NAME.awk OF: what a person or program reads of the numbers
  awk -v about="$about" -v of="${2-}" -f "$root/tools/bench/$1.awk" numbers
}
make json >"$out/latency.json"
make tables >"$out/latency.md"
for machine in $machines; do
  make figure "$machine" >"$out/latency-$machine.svg"
done
cat "$out/latency.md"
echo "in $out" >&2
