#!/bin/sh
# Installs what is missing, builds the worked example and runs it: sh cmake/demo.sh [tokens.csv]
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/cmake/setup.sh"

install_missing g++ cmake make libeigen3-dev
build demo journey
exec "$root/build/demo/examples/journey" "$@"
