#!/bin/sh
# Builds some of the tests for 64-bit ARM, the one with NEON, and runs them under qemu: sh cmake/aarch64.sh
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/cmake/setup.sh"

tests="kernels_once core/test_generator core/test_philox kernels/test_instruction_set kernels/test_kernels kernels/test_parts kernels/test_few_queries
attention/test_fused attention/test_hidden_pairs"

if [ "$(uname -m)" = aarch64 ]; then
  say "skipped: this machine is one, so that all tests run on it"
  exit
fi
install_missing g++-aarch64-linux-gnu qemu-user libeigen3-dev catch2
# Version 3 of Catch2 is a library, which the system has for its own processor alone.
if ! header catch2/catch.hpp; then
  say "skipped: this needs Catch2 in version 2, as in Debian 12"
  exit
fi

work=$root/build/aarch64
rm -rf "$work"
mkdir -p "$work/include" "$work/core" "$work/kernels" "$work/attention"
# The system's other headers are for its own processor.
for folder in /usr/local/include /usr/include; do
  for library in catch2 eigen3; do
    [ ! -e "$folder/$library" ] || ln -sfn "$folder/$library" "$work/include/$library"
  done
done

set -- aarch64-linux-gnu-g++ -std=c++20 -include kernels_once.hpp -I "$root/include" -I "$root/tests" -isystem "$work/include" \
  -isystem "$work/include/eigen3" -Wno-psabi -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror
# shellcheck disable=SC2086  # a list of words
{
  "$@" -O0 -c "$root/tests/main.cpp" -o "$work/main.o"
  printf '%s\n' $tests | xargs -P "$jobs" -I '{}' "$@" -O2 -c "$root/tests/{}.cpp" -o "$work/{}.o"
}
"$@" -static "$work"/*.o "$work"/*/*.o -o "$work/heed_tests"
qemu-aarch64 "$work/heed_tests" --warn NoTests
