# setup.sh - for the scripts beside it: where the project is, what it needs.
# Sourced by sh; $root is the project's folder.

root=$(cd "$(dirname "$0")/.." && pwd) || exit 1
build_packages="build-essential cmake pkg-config libelf-dev libxxhash-dev
  libcmocka-dev libjansson-dev libarchive-dev libinih-dev"

# Ninja where nothing else builds already.
command -v ninja >/dev/null || command -v make >/dev/null ||
  build_packages="$build_packages ninja-build"

missing() { # which of these Debian packages are not installed
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null |
      grep -qx installed || printf '%s ' "$package"
  done
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

# Installs what is missing of these packages; where that is not possible, says
# so and goes on: the build names what it cannot find.
need() {
  if ! command -v dpkg-query >/dev/null; then
    echo "not Debian: make sure that these or their like are installed: $*" >&2
    return 0
  fi
  wanted=$(missing "$@")
  [ -n "$wanted" ] || return 0
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    echo "not installed, and neither root nor sudo: $wanted" >&2
    return 0
  fi
  as_root apt-get update -q &&
    as_root apt-get install -q -y --no-install-recommends $wanted
}

# configure DIR COMPILER CMAKE-OPTION..: a fresh folder gets the compiler, and
# ninja or make; one that is configured keeps what it has.
configure() {
  dir=$1
  compiler=$2
  shift 2
  if [ ! -f "$dir/CMakeCache.txt" ]; then
    command -v ninja >/dev/null && set -- -G Ninja "$@"
    set -- -D CMAKE_C_COMPILER="$compiler" "$@"
  fi
  cmake -S "$root" -B "$dir" "$@"
}

jobs=$(nproc 2>/dev/null || echo 2)
