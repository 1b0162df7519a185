#!/bin/sh
# usage: golden-test.sh
#
# The runner itself: a right case passes, each kind of wrong expectation
# fails, and --update turns a wrong one into a right one.
set -u
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
failed=0

check() { # NAME WANT (pass or fail); the case on standard input
  cat >"$tmp/$1.test"
  if sh "$here/golden.sh" "$tmp" "$tmp/$1.test" >"$tmp/out" 2>&1; then
    got=pass
  else
    got=fail
  fi
  [ $got = "$2" ] && return
  echo "golden-test: $1: expected $2, got $got"
  cat "$tmp/out"
  failed=1
}

check right pass <<'END'
# two runs, a file
--- file a.txt
hello
--- run
cat a.txt
--- stdout
hello
--- run
cat a.txt >&2; exit 3
--- stderr
hello
--- exit 3
END
check stdout fail <<'END'
--- run
echo a
--- stdout
b
END
check unexpected fail <<'END'
--- run
echo a
END
check stderr fail <<'END'
--- run
true
--- stderr
x
END
check exit fail <<'END'
--- run
exit 2
--- exit 1
END
check bad-that-works fail <<'END'
--- run
true
END
check bad-that-fails pass <<'END'
--- run
false
--- exit 1
END
check empty fail </dev/null
check section fail <<'END'
--- what
END
cp "$tmp/stdout.test" "$tmp/updated"
sh "$here/golden.sh" --update "$tmp" "$tmp/updated" >/dev/null
check again pass <"$tmp/updated"
cp "$tmp/right.test" "$tmp/same.test"
sh "$here/golden.sh" --update "$tmp" "$tmp/same.test" >/dev/null
cmp "$tmp/right.test" "$tmp/same.test" || failed=1
[ $failed -eq 0 ] && echo 'golden-test: the runner can fail'
exit $failed
