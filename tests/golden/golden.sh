#!/bin/sh
# usage: golden.sh [--update] BIN [CASE.test ..]
#
# Runs cases (default: all beside this script). A case is one file:
#
#   # what it shows
#   --- file NAME            a file to make first
#   text
#   --- run                  a command, as for sh, in a folder of its own; the
#   nsync-as a.s -o a.o      programs are on the path, $FIXTURES is set
#   --- stdout               what it prints, if anything
#   --- stderr
#   --- exit 1               if not 0
#
# `run` may come again. In a case whose name begins with bad- the last run must
# fail. --update writes what happens into the cases instead of comparing.
set -u
update=
if [ "${1-}" = --update ]; then
  update=1
  shift
fi
here=$(cd "$(dirname "$0")" && pwd)
bin=$(cd "${1:?BIN}" && pwd) || exit 2
shift
[ $# -gt 0 ] || set -- "$here"/*.test
FIXTURES=$(cd "$here/../.." && pwd)/fixtures
PATH=$bin:$PATH
export PATH FIXTURES
LC_ALL=C
export LC_ALL
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0

# Cuts a case into $tmp/box/NAME, $tmp/N.cmd, N.stdout, N.stderr, N.exit.
cut_case() {
  awk -v tmp="$tmp" '
    /^--- file [A-Za-z0-9_.-]+$/ { to = tmp "/box/" $3; printf "" >to; next }
    /^--- run$/ { n++; to = tmp "/" n ".cmd"; printf "" >to; next }
    /^--- (stdout|stderr)$/ && n { to = tmp "/" n "." $2; next }
    /^--- exit [0-9]+$/ && n { print $3 >(tmp "/" n ".exit"); to = ""; next }
    /^---/ { print FILENAME ":" FNR ": not a section" | "cat >&2"; exit 1 }
    to { print >to; next }
    !/^#/ && !/^$/ { print FILENAME ":" FNR ": text outside a section" \
                       | "cat >&2"; exit 1 }
    END { print n + 0 >(tmp "/steps") }' "$1"
}

# Runs step $1: $tmp/got.$1.stdout, .stderr, .exit.
run_step() {
  (cd "$tmp/box" && sh -c "$(cat "$tmp/$1.cmd")") </dev/null \
    >"$tmp/got.$1.stdout" 2>"$tmp/got.$1.stderr"
  echo $? >"$tmp/got.$1.exit"
}

compare_step() { # CASE STEP; says what differs
  ok=0
  for what in stdout stderr exit; do
    want=$tmp/$2.$what
    [ -f "$want" ] || if [ $what = exit ]; then
      echo 0 >"$want"
    else
      : >"$want"
    fi
    if ! cmp -s "$want" "$tmp/got.$2.$what"; then
      echo "$(basename "$1"): run $2: $what differs: $(cat "$tmp/$2.cmd")"
      diff "$want" "$tmp/got.$2.$what" | head -n 40
      ok=1
    fi
  done
  return $ok
}

# Writes the case anew with what happened.
rewrite_case() {
  awk -v tmp="$tmp" '
    function show(what,   f, line, any) {
      f = tmp "/got." n "." what
      while ((getline line < f) > 0) {
        if (!any++) print "--- " what
        print line
      }
    }
    function results(   line, f) {
      if (!n) return
      show("stdout"); show("stderr"); f = tmp "/got." n ".exit"
      if ((getline line < f) > 0 && line != 0) print "--- exit " line
    }
    /^--- (stdout|stderr|exit)/ { skip = 1; next }
    /^--- run$/ { results(); n++; skip = 0 }
    /^--- file/ { skip = 0 }
    !skip { print }
    END { results() }' "$1" >"$tmp/new" && cat "$tmp/new" >"$1"
}

run_case() {
  rm -rf "$tmp/box"
  rm -f "$tmp"/*.cmd "$tmp"/*.stdout "$tmp"/*.stderr "$tmp"/*.exit
  mkdir "$tmp/box"
  cut_case "$1" || return 1
  steps=$(cat "$tmp/steps")
  if [ "$steps" -eq 0 ]; then
    echo "$(basename "$1"): runs nothing"
    return 1
  fi
  bad=0 i=1
  while [ $i -le "$steps" ]; do
    run_step $i
    [ -n "$update" ] || compare_step "$1" $i || bad=1
    i=$((i + 1))
  done
  [ -z "$update" ] || rewrite_case "$1"
  case $(basename "$1") in
  bad-*)
    if [ "$(cat "$tmp/got.$steps.exit")" -eq 0 ]; then
      echo "$(basename "$1"): must fail, but does not"
      bad=1
    fi
    ;;
  esac
  return $bad
}

for case in "$@"; do
  if run_case "$case"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
