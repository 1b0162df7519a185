#!/bin/sh
# usage: texts.sh [-av] BIN [TEXT.s | CASE.test ..]
#
# What the static judge says of all hand-written kernels here (fixtures, tests
# and what golden cases make), as the rewriter writes them: fails where it does
# not prove one that is written. Texts that are no kernels, and kernels that are
# refused, count as such. A line "; rewrite: OPTIONS" has options for the
# rewriter.
# -a: in all ways to count, and for all instruction sets; else in some for the
# first, in one for the second. -v: a line for each.
set -u
verbose='' all=''
while getopts av option; do
  case $option in
  a) all=1 ;;
  v) verbose=1 ;;
  *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bin=$(cd "${1:?BIN}" && pwd) || exit 2
shift
[ $# -gt 0 ] || set -- $(find "$root/fixtures" "$root/tests" -name '*.s' |
  sort) "$root"/tests/golden/*.test
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
proved=0 refused=0 unread=0 bad=0

# Options of the rewriter, a line for each way.
cat >"$tmp/ways" <<'EOF'
--alloc=auto
--alloc=per-instruction
--alloc=per-engine
--alloc=equal-weight
--alloc=published
--max-registers=1 --max-semaphores=2
EOF
echo --alloc=auto >"$tmp/few"
[ -z "$all" ] || {
  cat >>"$tmp/ways" <<'EOF'
--alloc=per-loop
--alloc=published --published-alloc=per-instruction
--alloc=published --published-alloc=per-engine
--alloc=published --published-most-recent
--max-registers=2
--max-semaphores=4
--keep-outer-barrier
EOF
  cp "$tmp/ways" "$tmp/few"
}

# Undecided, and known to be. The one input waits in a no-op between barriers
# that stay: it stands in the output as if it had been inserted. The other one's
# works would meet in an iteration that the declared range does not allow.
known() {
  case $1 in
  'objdump-deps.test/k.s --max-semaphores=4') ;;
  'rewrite-race-ranges.test/fourth.s '*) ;;
  *) return 1 ;;
  esac
}

say() {
  [ -z "$verbose" ] || echo "$*"
}

rewrites() { # JUDGE OPTIONS..
  judge=$1
  shift
  "$bin/nsync-rewrite" --verify="$judge" "$@" "$tmp/k.o" -o "$tmp/out.o" \
    >"$tmp/report" 2>&1
}

one_way() { # NAME OPTIONS..
  name=$1
  shift
  if rewrites static "$@" && ! grep -q '^for all inputs: [ru]' "$tmp/report"
  then
    proved=$((proved + 1))
    say "$name $*: proved, or left as it was"
    return
  fi
  why=$(sed -n '/^for all inputs: /{N;s/\n */: /;p;}' "$tmp/report")
  rewrites cosim "$@"
  case $? in
  [123])
    refused=$((refused + 1))
    say "$name $*: refused: $(head -n 1 "$tmp/report")"
    return
    ;;
  esac
  ! known "$name $*" || return 0
  bad=$((bad + 1))
  echo "$name $*: $why"
}

kernel() { # NAME TEXT WAYS
  if ! "$bin/nsync-as" "$2" -o "$tmp/k.o" 2>/dev/null; then
    unread=$((unread + 1))
    say "$1: no kernel"
    return
  fi
  own=$(sed -n 's/^; rewrite: //p' "$2")
  while read -r way; do
    one_way "$1" $own $way # options are words
  done <"$3"
}

text() { # NAME TEXT
  kernel "$1" "$2" "$tmp/ways"
  sed -f "$here/../lane48.sed" "$2" >"$tmp/lane48.s"
  cmp -s "$2" "$tmp/lane48.s" ||
    kernel "$1 for lane48" "$tmp/lane48.s" "$tmp/few"
}

# Files that a golden case makes first.
golden() { # CASE
  rm -rf "$tmp/golden"
  mkdir "$tmp/golden"
  awk -v tmp="$tmp/golden" '
    /^--- file [A-Za-z0-9_.-]+\.s$/ { to = tmp "/" $3; next }
    /^---/ { to = ""; next }
    to { print >to }' "$1"
  for made in "$tmp"/golden/*.s; do
    [ ! -f "$made" ] || text "$(basename "$1")/$(basename "$made")" "$made"
  done
}

for file in "$@"; do
  case $file in
  *.test) golden "$file" ;;
  *) text "${file#"$root"/}" "$file" ;;
  esac
done
echo "$proved proved, $bad not, $refused refused, $unread no kernels"
[ $bad -eq 0 ] && [ $proved -gt 0 ]
