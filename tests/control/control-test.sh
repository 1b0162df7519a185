#!/bin/sh
# usage: control-test.sh BIN
#
# control.sh can object: to another outcome than expected, to a text that does
# not assemble, to a race of the input, and to a rewriter whose result differs.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bin=$(cd "${1:?BIN}" && pwd) || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
bad=0

copy() { # KERNEL: a fresh one in $tmp/kernel
  rm -rf "$tmp/kernel"
  mkdir "$tmp/kernel"
  cp "$root/fixtures/control/$1"/barrier.s "$root/fixtures/control/$1"/expect \
    "$tmp/kernel"
}

objects() { # WHAT TEXT [BIN]: must fail and print TEXT
  if sh "$here/control.sh" "${3-$bin}" "$tmp/kernel" >"$tmp/out" 2>&1 ||
    ! grep -q "$2" "$tmp/out"; then
    echo "control-test: $1: passes, or does not say '$2':"
    sed 's/^/  /' "$tmp/out"
    bad=1
  fi
}

copy break
sh "$here/control.sh" "$bin" "$tmp/kernel" >"$tmp/out" || bad=1
echo 'rewritten: 7 barriers stay' >"$tmp/kernel/expect"
objects 'another number of barriers' 'another outcome'
sh "$here/control.sh" --update "$bin" "$tmp/kernel" >"$tmp/out" || bad=1
cmp -s "$root/fixtures/control/break/expect" "$tmp/kernel/expect" || {
  echo 'control-test: --update writes something else'
  bad=1
}
rm "$tmp/kernel/expect"
objects 'nothing to compare with' 'another outcome'
copy break
sed -i 's/^ *halt/    hlt/' "$tmp/kernel/barrier.s"
objects 'no such instruction' 'does not assemble'
copy break
cp "$root/fixtures/control/break/broken/one-round-early.s" \
  "$tmp/kernel/free.s"
objects 'a free.s with a race' 'free.s is not equal'
copy keep-outer
sed -i '/^; rewrite: /d' "$tmp/kernel/barrier.s"
objects 'other options' 'another outcome'
copy unmapped-register
echo 'refused: for fun' >"$tmp/kernel/expect"
objects 'another reason' 'another outcome'

# A rewriter that writes a kernel with a race in it.
mkdir "$tmp/bin"
for program in "$bin"/nsync-*; do
  ln -s "$program" "$tmp/bin"
done
rm "$tmp/bin/nsync-rewrite"
"$bin/nsync-as" "$root/fixtures/control/break/broken/one-round-early.s" \
  -o "$tmp/wrong.o" || bad=1
printf '#!/bin/sh\ncp "%s" "$4"\n' "$tmp/wrong.o" >"$tmp/bin/nsync-rewrite"
chmod +x "$tmp/bin/nsync-rewrite"
copy break
objects 'a wrong result' 'neither rewritten and equal' "$tmp/bin"
exit $bad
