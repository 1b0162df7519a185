#!/bin/sh
# usage: tools-test.sh SAMPLE_FILE
#
# Standard ELF tools look into our files without complaint, and files that
# passed through them are read again. A tool that is not installed is named
# and passed over.
set -u
LC_ALL=C
export LC_ALL
sample=$1
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
bad=0

wrong() {
  echo "FAIL: $*"
  bad=1
}

have() {
  command -v "$1" >/dev/null && return 0
  echo "skipped: no $1"
  return 1
}

# again FILE SECTIONS: FILE is read, and holds these other sections (names).
again() {
  "$sample" again "$1" again >found 2>errors || wrong "$1: $(cat errors)"
  [ "$(cut -d ' ' -f 1 found | tr '\n' ' ')" = "$2" ] ||
    wrong "$1: other sections are $(cat found)"
}

same() { # same A B
  cmp "$1" "$2" || wrong "$1 differs from $2"
}

"$sample" plain plain || wrong "cannot write"
"$sample" others others || wrong "cannot write"
"$sample" plain twice && same plain twice
all=".debug_info .comment .bss .note.other .empty .names .comment "
again plain "" && same again plain
again others "$all" && same again others

if have readelf; then
  readelf -aW plain >out 2>errors || wrong "readelf failed"
  [ -s errors ] && wrong "readelf: $(cat errors)"
  grep -i warning out && wrong "readelf warns"
  grep -q 'Machine: *<unknown>' out || wrong "readelf knows the machine"
  grep -q 'queue sp none q0' out || wrong "readelf does not show the note"
fi

if have eu-elflint; then
  eu-elflint --gnu-ld plain >out 2>&1
  grep -v 'unknown machine type' out && wrong "eu-elflint complains"
  [ "$(wc -l <out)" -le 1 ] || wrong "eu-elflint has too much to say"
fi

if have objcopy; then
  copy="objcopy -I elf64-little -O elf64-little"
  printf "foo's contents" >foo
  $copy plain copied && again copied "" && same again plain
  $copy others copied && again copied "$all"
  $copy --add-section .foo=foo plain copied && again copied ".foo " &&
    grep -q ".foo foo's contents" found || wrong ".foo is not kept"
  cp again once && again once ".foo " && same again once
  $copy --strip-all plain copied && again copied ""
  $copy -R .nsr.lines -R .nsr.files plain copied && again copied ""
  $copy -R .nsr.tensors plain copied
  "$sample" again copied again 2>errors && wrong "a part is missing"
  grep -q 'there is no section .nsr.tensors' errors || wrong "$(cat errors)"
fi

if have eu-strip; then
  eu-strip plain -o copied
  "$sample" again copied again 2>errors && wrong "all tables are missing"
  grep -q 'or it was stripped' errors || wrong "$(cat errors)"
fi

exit $bad
