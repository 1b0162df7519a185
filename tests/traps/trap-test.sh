#!/bin/sh
# trap.sh can object: traps with one thing wrong must fail.
#
# usage: trap-test.sh BIN-FOLDER WORK-FOLDER
set -u
here=$(cd "$(dirname "$0")" && pwd)
bin=$1 work=$2/objects
mkdir -p "$work" || exit 2
bad=0

objects() { # NAME SED-SCRIPT TRAP TEXT
  sed "$2" "$here/$3.s" >"$work/$1.s"
  cmp -s "$here/$3.s" "$work/$1.s" && echo "trap-test: $1 changes nothing" >&2
  if sh "$here/trap.sh" "$bin" "$work" "$work/$1.s" >"$work/$1.said" 2>&1 ||
    ! grep -q -e "$4" "$work/$1.said"; then
    echo "trap-test: $1 passes, or does not say '$4':" >&2
    cat "$work/$1.said" >&2
    bad=1
  fi
}

t=t01-barrier-only
sh "$here/trap.sh" "$bin" "$work" "$here/$t.s" || bad=1
objects waits 's/^; waits: .*/; waits: 7/' $t 'waits, not 7'
objects reason \
  's/^; wrong: race drop/; wrong: hang drop/' $t \
  'expected refuted: hang'
objects nowhere \
  's/^; wrong: race drop.*/; wrong: race drop nowhere/' $t \
  'no line'
objects nothing 's/^; wrong: race drop.*/; wrong: race sed \/nowhere\/d/' $t \
  'changes nothing'
objects nonsense \
  's/^; wrong: race drop.*/; wrong: race sed s\/copy\/cpy\//' \
  $t 'does not assemble'
objects unknown 's/^; wrong: race drop/; wrong: race remove/' $t 'no line'
objects right 's/^; wrong: race drop/; right: drop/' $t 'expected equal'
objects plan 's/^; plan: .*/; plan: it waits/' t27-known-rotation 'in the plan'
mkdir -p "$work/hand"
sed 's/^; expect: equal/; expect: refuted: race/' \
  "$here"/c5-soft-barrier/flat.s >"$work/hand/flat.s"
objects hand 's/^; trap:/; trap, by hand:/' c5-soft-barrier 'expected refuted'
exit $bad
