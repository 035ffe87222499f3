#!/bin/sh
# Installs what is missing, builds the tests and runs them: sh cmake/test.sh [options of ctest]
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/cmake/setup.sh"

install_missing g++ cmake make libeigen3-dev catch2
build default
cd "$root"
exec ctest --preset default --parallel "$jobs" "$@"
