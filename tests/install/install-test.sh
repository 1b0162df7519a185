#!/bin/sh
# usage: install-test.sh BUILD
#
# Installs the build folder BUILD into a folder of its own: the programs run
# there, the library is there, and every public header compiles alone, as C and
# (where there is a compiler) as C++. Exit 1 where one does not.
set -u
build=$1
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
failed=0

fail() {
  echo "install: $1"
  failed=1
}

cmake --install "$build" --prefix "$tmp" >"$tmp/log" 2>&1 || {
  cat "$tmp/log"
  fail 'cmake --install fails'
}
for program in as cosim gen objdump rewrite; do
  "$tmp/bin/nsync-$program" --version >"$tmp/log" ||
    fail "nsync-$program does not run"
done
[ -n "$(find "$tmp" -name libnsr.a)" ] || fail 'no libnsr.a'
count=0
for header in "$tmp"/include/nsr/*.h; do
  name=nsr/$(basename "$header")
  count=$((count + 1))
  echo "#include <$name>" >"$tmp/a.c"
  cp "$tmp/a.c" "$tmp/a.cc"
  cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I "$tmp/include" -fsyntax-only \
    "$tmp/a.c" || fail "$name is not C by itself"
  if command -v c++ >"$tmp/log"; then
    c++ -Wall -Wextra -Werror -I "$tmp/include" -fsyntax-only "$tmp/a.cc" ||
      fail "$name is not C++"
    grep -q 'extern "C"' "$header" || fail "$name: no extern \"C\""
  fi
done
[ "$count" -gt 5 ] || fail "only $count headers"
[ $failed -eq 0 ] && echo "install: 5 programs, the library, $count headers"
exit $failed
