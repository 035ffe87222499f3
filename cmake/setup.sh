# Sourced by the scripts beside it and .ci/run, which set $root to the repository. POSIX sh.

say() { printf 'heed: %s\n' "$*"; }

fail() {
  say "$*" >&2
  exit 1
}

jobs=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)

any_command() {
  for name in "$@"; do
    if command -v "$name"; then return; fi
  done
  return 1
}

header() { [ -e "/usr/include/$1" ] || [ -e "/usr/local/include/$1" ]; }

cmake_is_new_enough() {
  version=$(cmake --version | sed -n 's/^cmake version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
  # shellcheck disable=SC2086  # two words
  set -- ${version:-0 0}
  [ "$1" -gt 3 ] || { [ "$1" -eq 3 ] && [ "$2" -ge 25 ]; }
}

# Whether what Debian's package $1 is wanted for is there, whoever installed it.
has() {
  case $1 in
    g++) any_command "${CXX:-c++}" g++ clang++ ;;
    cmake) cmake_is_new_enough ;;
    make) any_command make ninja ;;
    libeigen3-dev) header eigen3/Eigen/Core ;;
    catch2) header catch2/catch.hpp || header catch2/catch_all.hpp ;;
    libbenchmark-dev) header benchmark/benchmark.h ;;
    libtbb-dev) header tbb/parallel_for.h ;;
    clang) any_command clang++ ;;
    g++-aarch64-linux-gnu) any_command aarch64-linux-gnu-g++ ;;
    qemu-user) any_command qemu-aarch64 ;;
    *) any_command "$1" ;;
  esac >/dev/null 2>&1
}

list_missing() {
  for package in "$@"; do
    has "$package" || printf ' %s' "$package"
  done
}

apt() {
  # An unreachable server should cost seconds, not minutes.
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=1 -o Acquire::http::Timeout=20 "$@"
}

# Installs those of the Debian packages "$@" that are missing. Without a compiler, CMake or make there is no way on; the
# libraries CMake can download.
install_missing() {
  missing=$(list_missing "$@")
  [ -n "$missing" ] || return 0
  say "missing:$missing"

  as_root=
  [ "$(id -u)" -eq 0 ] || as_root=sudo
  if ! any_command apt-get >/dev/null; then
    say "cannot install: there is no apt-get here"
  elif [ -n "$as_root" ] && ! any_command sudo >/dev/null; then
    say "cannot install: neither root nor sudo"
  else
    say "installing with apt-get"
    reached=yes
    apt update -o APT::Update::Error-Mode=any || reached=no
    # shellcheck disable=SC2086  # a list of words
    if ! apt install -y --no-install-recommends $missing && [ $reached = yes ]; then
      # One that the system does not have must not keep the others away.
      for package in $missing; do apt install -y --no-install-recommends "$package" || true; done
    fi
    missing=$(list_missing "$@")
    [ -n "$missing" ] || return 0
    say "not installed:$missing"
  fi

  for package in $missing; do
    case $package in
      cmake) fail "CMake 3.25 or newer is needed, please install it" ;;
      g++) fail "a C++20 compiler is needed (g++ 11 or clang++ 14, or newer), please install one" ;;
      make) fail "make or ninja is needed, please install one" ;;
      libeigen3-dev | catch2 | libbenchmark-dev) say "going on without $package, CMake downloads it" ;;
      libtbb-dev) say "going on without $package and what needs it" ;;
      *) fail "$package is needed, please install it" ;;
    esac
  done
}

# build PRESET [TARGET]: in build/PRESET
build() {
  # CMake looks for make unless told otherwise.
  any_command make >/dev/null || export CMAKE_GENERATOR="${CMAKE_GENERATOR:-Ninja}"
  (cd "$root" && cmake --preset "$1") || fail "CMake could not configure the build${missing:+ (missing:$missing)}, see above"
  (cd "$root" && cmake --build --preset "$1" --parallel "$jobs" ${2:+--target "$2"}) || fail "the build failed, see above"
}
