#!/bin/sh
# Installs what is missing, builds the ONNX operator tests of attention and runs them: sh cmake/conformance.sh
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/cmake/setup.sh"

install_missing g++ cmake make libeigen3-dev catch2
build default heed_onnx_conformance
exec "$root/build/default/tests/onnx/heed_onnx_conformance" "$root/tests/onnx/cases.txt"
