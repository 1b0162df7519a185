#!/bin/sh
# usage: lint-test.sh
#
# Every rule of lint.sh must be able to object: a small tree that follows the
# rules passes, and with one line added it fails with the words expected.
set -u
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
failed=0

tree() {
  rm -rf "$tmp/t"
  mkdir -p "$tmp/t/include/nsr" "$tmp/t/src/base" "$tmp/t/src/isa" \
    "$tmp/t/src/sync" "$tmp/t/tools"
  echo '#include <stdint.h>' >"$tmp/t/include/nsr/nsr.h"
  echo '#include <nsr/nsr.h>' >"$tmp/t/include/nsr/isa.h"
  echo '#include <nsr/nsr.h>' >"$tmp/t/src/base/arena.h"
  echo '#include "base/arena.h"' >"$tmp/t/src/isa/decode.c"
  echo '#include "isa/codec.h"' >"$tmp/t/src/sync/plan.c"
  echo '#include "base/arena.h"' >"$tmp/t/src/isa/codec.h"
  echo '#include <nsr/isa.h>' >"$tmp/t/tools/nsync-x.c"
}

expect() { # words of the objection, "" for none
  out=$(sh "$here/lint.sh" "$tmp/t" 2>&1)
  rc=$?
  case $1 in
  '') [ $rc -eq 0 ] && return ;;
  *) [ $rc -eq 1 ] && printf '%s\n' "$out" | grep -qF -- "$1" && return ;;
  esac
  echo "lint-test: expected '$1', got exit $rc:"
  printf '%s\n' "$out"
  failed=1
}

objects() { # FILE LINE WORDS
  tree
  printf '%s\n' "$2" >>"$tmp/t/$1"
  expect "$3"
}

long=$(printf '%081d' 0)
s=/
tree
expect ''
objects src/isa/decode.c '#include "sync/plan.h"' 'isa may not include sync'
objects src/isa/decode.c '#include "codec.h"' 'folder/file.h'
tree
mkdir -p "$tmp/t/src/new"
echo '#include "base/arena.h"' >"$tmp/t/src/new/x.c"
expect 'folder new is not in the table'
objects src/base/ctx.c '#include <nsr/isa.h>' 'may not include this public'
objects src/sync/plan.c '#include <gelf.h>' 'gelf.h is used in one place'
objects include/nsr/isa.h '#include "base/arena.h"' 'public headers'
objects tools/nsync-x.c '#include "base/arena.h"' 'tools see include/nsr only'
objects tools/plan.c '' 'name used twice: plan.c'
objects src/base/arena.h '#include "isa/codec.h"' 'include cycle'
objects src/base/ctx.c "// $long" 'more than 80 columns: src/base/ctx.c:1'
objects src/base/ctx.c 'void f(void) { exit(1); }' 'prints, exits or asks'
objects src/base/ctx.c "// see ${s}home${s}me" 'path of a machine'
tree
yes '' | head -n 701 >"$tmp/t/src/base/ctx.c"
expect 'more than 700 lines'
[ $failed -eq 0 ] && echo 'lint-test: every rule objects'
exit $failed
