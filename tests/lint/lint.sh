#!/bin/sh
# usage: lint.sh [ROOT]
#
# Holds the rules of the house: who may include whom (includes.txt), one name
# for one file, no include cycles, lines of 80 columns, files of a size that
# can be read, a library that neither prints nor exits, no paths of anybody's
# machine. Prints every violation; exit 1 if there is one.
set -u
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd)
root=${1:-$(cd "$here/../.." && pwd)}
cd "$root" || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
: >"$tmp/found"

say() { # violations on standard input, one a line
  sed "s/^/$1: /" >>"$tmp/found"
}

sources() { # C of the tree, without build folders
  find src include tools tests -name '*.[ch]' -type f 2>/dev/null | sort
}

sources >"$tmp/sources"
xargs grep -n '^ *# *include' <"$tmp/sources" /dev/null |
  sed 's/:[0-9]*: *# *include */ /' >"$tmp/includes"

# FILE "dir/x.h" or <x.h>, against the table.
awk -v table="$here/includes.txt" '
  BEGIN {
    while ((getline line < table) > 0) {
      n = split(line, w, " ")
      if (!n || w[1] ~ /^#/) continue
      if (w[1] == "public:") { for (i = 3; i <= n; i++) public[w[2] w[i]] = 1
                               limited[w[2]] = 1; continue }
      if (w[1] == "only:") { for (i = 3; i <= n; i++) only[w[2] w[i]] = 1
                             foreign[w[2]] = 1; continue }
      dir = substr(w[1], 1, length(w[1]) - 1); known[dir] = 1
      for (i = 2; i <= n; i++) may[dir "/" w[i]] = 1
    }
  }
  function bad(why) { print $1 ": " $2 ": " why }
  {
    n = split($1, part, "/"); dir = part[1] == "src" && n > 2 ? part[2] : ""
    name = substr($2, 2, length($2) - 2); k = split(name, inc, "/")
  }
  part[1] == "include" && $2 ~ /^"/ { bad("public headers include <nsr/..>") }
  part[1] == "tools" && $2 ~ /^"/ && k > 1 { bad("tools see include/nsr only") }
  dir != "" && !(dir in known) { bad("folder " dir " is not in the table") }
  dir in known && $2 ~ /^"/ && k != 2 { bad("write \"folder/file.h\"") }
  dir in known && $2 ~ /^"/ && k == 2 && inc[1] != dir &&
    !((dir "/" inc[1]) in may) { bad(dir " may not include " inc[1]) }
  dir in limited && inc[1] == "nsr" && !((dir inc[2]) in public) {
    bad(dir " may not include this public header") }
  name in foreign && part[1] == "src" && !((name dir) in only) {
    bad(name " is used in one place, not here") }
' "$tmp/includes" | say include

# One name, one file.
sed 's:.*/::' "$tmp/sources" | sort | uniq -d | say 'name used twice'

# Cycles: tsort names the loop.
sed -n 's/^include\/\(nsr\/[^ ]*\.h\) <\(nsr\/.*\)>.*/\1 \2/p
        s/^src\/\([^ ]*\.h\) "\(.*\)".*/\1 \2/p' "$tmp/includes" |
  tsort 2>"$tmp/cycle" >/dev/null
grep -v 'contains a loop' "$tmp/cycle" | sed 's/^tsort: //' |
  say 'include cycle'

# Width and size.
find CMakeLists.txt src include tools tests isa fixtures .ci -type f \
  \( -name '*.[chs]' -o -name '*.sh' -o -name '*.txt' -o -name '*.isa' \
  -o -name '*.machine' -o -path '.ci/*' \) 2>/dev/null | sort >"$tmp/text"
while read -r f; do
  awk -v f="$f" 'length($0) > 80 { print f ":" FNR }' "$f"
done <"$tmp/text" | say 'more than 80 columns'
grep '^src/' "$tmp/sources" | while read -r f; do
  awk -v f="$f" 'END { if (NR > 700) print f ": " NR }' "$f"
done | say 'more than 700 lines'

# What the library must not do.
calls='(f|v|vf)?printf|f?puts|f?putc|putchar|perror|_?exit|abort|getenv'
grep '^src/' "$tmp/sources" |
  xargs grep -nE "(^|[^[:alnum:]_])($calls) *\(" /dev/null 2>/dev/null |
  grep -vE ':[0-9]+: *(\*|/\*|//)' |
  sed 's/^\([^:]*:[0-9]*\):.*/\1/' | say 'the library prints, exits or asks'

# Paths of a machine; the pattern is put together so that this file passes.
s=/
find . -type f -not -path './.git*' -not -path './build*' -not -name '*.o' \
  -exec grep -nIE "(^|[^A-Za-z0-9_.])$s(home|root|work|Users|tmp)$s" {} + |
  cut -c1-100 | say 'path of a machine'

if [ -s "$tmp/found" ]; then
  cat "$tmp/found"
  exit 1
fi
echo "lint: $(wc -l <"$tmp/sources") sources, nothing to say"
