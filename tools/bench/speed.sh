# speed.sh - how fast the programs are: the work of `bench.sh speed`, which
# sources it ($bin: the programs, $root: the project; a folder of its own is the
# current one).
#
# On random kernels of so many instructions (default 1000 10000 100000 1000000),
# beside memcpy of the same bytes and objcopy of the same file. A program counts
# as a whole, with reading and writing its files; decode is what the library
# takes for all instructions. Times are processor times, the least of a few
# runs; growth is the time for an instruction over that at the size before.
[ $# -gt 0 ] || set -- 1000 10000 100000 1000000

# run NAME CMD ..: a line "NAME SECONDS BYTES EXIT" to the file of measures;
# what the program says goes to NAME.said.
run() {
  name=$1
  shift
  "$bin/bench" run "$@" >"$name.said" 2>"$name.all"
  tail -n 1 "$name.all" >"$name.figures"
  sed '$d' "$name.all" >>"$name.said"
  echo "$name $(cat "$name.figures")" >>measures
}

# The table of one size. What a program needs to start is not memory of the
# kernel's; where that is most of it, nothing is said.
table() { # INSTRUCTIONS FILE-BYTES
  awk -v n="$1" -v bytes="$2" -v before=before '
    BEGIN {
      while ((getline line < before) > 0) {
        split(line, w, " ")
        old[w[1]] = w[2]
      }
      printf "%d instructions, %.1f MB\n", n, bytes / 1e6
      printf "  %-12s %12s %10s %12s %10s %10s %8s\n", "", "insn/s", "ns/insn",
        "bytes/insn", "x memcpy", "x objcopy", "growth"
    }
    { order[++k] = $1; time[$1] = $2; memory[$1] = $3; code[$1] = $4 }
    END {
      for (i = 1; i <= k; i++) {
        name = order[i]; t = time[name] / n
        if (name == "start") continue
        if (code[name]) { printf "  %-12s failed\n", name; continue }
        m = sprintf("%.0f", (memory[name] - memory["start"]) / n)
        if (n < 50000 || name ~ /decode|memcpy/) m = "-"
        printf "  %-12s %12.0f %10.1f %12s %10.1f %10.2f %8s\n", name, 1 / t,
          t * 1e9, m, time[name] / time["memcpy"], time[name] / time["objcopy"],
          name in old && old[name] ? sprintf("%.2f", t / old[name]) : "-"
        printf "%s %.12f\n", name, t >after
      }
    }' after=after measures
  mv after before
}

one_size() {
  n=$1
  rm -f measures
  run start "$bin/nsync-as" --version
  run gen "$bin/nsync-gen" random --seed=1 --instructions="$n" -o k.o
  "$bin/nsync-objdump" -d k.o -o k.s
  "$bin/nsync-objdump" --json k.o -o k.json
  run as "$bin/nsync-as" k.s -o as.o
  run objdump "$bin/nsync-objdump" -d k.o -o out
  run json-out "$bin/nsync-objdump" --json k.o -o out
  run json-in "$bin/nsync-as" --json k.json -o as.o
  run rewrite "$bin/nsync-rewrite" --verify=none k.o -o out
  run prove "$bin/nsync-cosim" --judge=static k.o out
  run objcopy objcopy -I elf64-little -O elf64-little k.o out
  "$bin/bench" decode k.o >decode
  read -r count decode memcpy <decode
  { echo "decode $decode 0 0"; echo "memcpy $memcpy 0 0"; } >>measures
  [ "$count" = "$n" ] || echo "$count instructions, not $n"
  table "$n" "$(wc -c <k.o)"
  sed -n 's/^for all inputs: /  level 1: /p' prove.said | head -n 1
  grep -q '^rewrite .* 0$' measures ||
    sed 's/^[^ ]*: error: /  rewrite says: /' rewrite.said | head -n 1
  echo
}

# The judge of level 2, on a kernel of the suite and what is made of it, one
# long input: with the clocks that find races, and plain (traces, values read
# and memory alone).
judge() { # NAME OPTION..
  name=$1
  "$bin/nsync-gen" "$@" -o k.o
  "$bin/nsync-rewrite" --verify=none k.o -o free.o >/dev/null
  "$bin/bench" judge k.o free.o >judged
  awk -v name="$name" '{
    printf "judge %s: %d instructions, %.0f a second, %.0f plain\n", name, $1,
      $1 / $2, $1 / $3 }' judged
}

# Timed runs, on the kernel that waits most.
timing() {
  rm -f measures
  "$bin/nsync-gen" sync-bound --set max=65535 --set tiles=65535 -o k.o
  run time "$bin/nsync-cosim" --time k.o
  read -r _ seconds _ <measures
  awk -v s="$seconds" 'NR == 2 {
    printf "time sync-bound: %d instructions, %.0f a second\n", $4, $4 / s
  }' time.said
}

for n in "$@"; do
  one_size "$n"
done
judge rmsnorm --set tiles=4000
judge tiled-matmul --set m=40 --set n=8 --set k=8 --set rows=128 --set max=40
timing
