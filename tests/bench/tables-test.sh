#!/bin/sh
# usage: tables-test.sh
#
# What tools/bench makes of numbers: tables, JSON lines, figures.
set -u
here=$(cd "$(dirname "$0")" && pwd)
scripts=$here/../../tools/bench
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
failed=0

time_line() { printf 'time\tv2\t%s\t%s\t%s\t%s\n' "$@"; }
{
  time_line a barriers 0 8000
  time_line a barriers 2 10000
  time_line a barriers 10 18000
  time_line a ideal 0 3000
  time_line a ideal 2 3000
  time_line a ideal 10 3000
  for cost in 0 2 10; do
    time_line a auto $cost 5000
    time_line a manual $cost 4000
  done
  time_line b barriers 2 1000
  printf 'code\ta\tbarriers\t640\t2\t-\t9\t100\t10\t50\t0\n'
  printf 'code\ta\tauto\t704\t3\t4\t1\t130\t20\t50\t2\n'
  printf 'code\ta\tmanual\t600\t3\t-\t1\t110\t20\t50\t2\n'
  printf 'loop\tv2\ta\tl\t1\t4\t1.25\tnull\t2\t3\tnull\n'
  printf 'lost\tb\tauto\ta "word"\n'
} >"$tmp/numbers"

make() { # NAME
  awk -v about='some day' -v of=v2 -f "$scripts/$1.awk" "$tmp/numbers" \
    >"$tmp/$1" 2>"$tmp/said" || {
    echo "tables-test: $1.awk fails"
    failed=1
  }
  [ ! -s "$tmp/said" ] || { cat "$tmp/said" && failed=1; }
}

expect() { # NAME LINE: it is one of those
  grep -qxF -- "$2" "$tmp/$1" && return
  echo "tables-test: $1 lacks the line: $2"
  failed=1
}

make tables
make json
make figure
expect tables '| a | 10.0 us | - | - | 0.500 | 0.400 | 0.300 |'
expect tables '| kernel | barriers | auto | manual | ideal |'
expect tables '| a | 10.0 | 0.500 | 0.400 | 0.300 |'
expect tables '| b | 1.0 | - | - | - |'
expect tables "Geometric means: auto is 1.667 of ideal, - of ideal with \
signals, 1.250 of manual;"
expect tables 'manual is 1.333 of ideal.'
expect tables '- a, a barrier at 2 us: 25.0 % slower than manual'
# 8000 + 1000 us, 5000 always: 10 % less from 0 on, 45 % from 1.125 on (on the
# line between 0.625 and 0.5), 3.3 times less from 9.1 on (0.5 and 0.278)
expect tables '| a | 1.60 | 2.00 | 3.60 | 0 | 1.2 | 9.1 |'
expect tables '| a | auto | 64 | 3 | 4 | 1 | 1.50 | 0.60 |'
expect tables '| a | manual | -40 | 3 | - | 1 | 0.50 | 0.20 |'
expect tables '| a | l | 4 | 1.2 | - | 2.0 | 3.0 | - |'
expect tables '- b, auto: a "word"'
expect json '{"kind":"bench","about":"some day"}'
expect json '{"kind":"lost","kernel":"b","form":"auto","reason":"a \"word\""}'
expect figure '</svg>'
[ "$(grep -c '<path d="M[0-9. L]*" fill' "$tmp/figure")" = 3 ] || {
  echo 'tables-test: the figure has not three curves'
  failed=1
}
[ $failed -eq 0 ] && echo 'tables-test: as expected'
exit $failed
