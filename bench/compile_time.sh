#!/bin/sh
# How long does a file that uses causal attention compile, against one that uses Eigen's product? At -O2, the best of
# some, in turn.
#
#     [CXX=g++] [EIGEN=/usr/include/eigen3] sh bench/compile_time.sh [REPEATS, 5]
set -eu
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
compiler=${CXX:-g++}
eigen=${EIGEN:-/usr/include/eigen3}
repeats=${1:-5}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat >"$folder/eigen.cpp" <<'END'
#include <Eigen/Dense>
Eigen::MatrixXf product(const Eigen::MatrixXf& a, const Eigen::MatrixXf& b) { return a * b; }
END
cat >"$folder/heed.cpp" <<'END'
#include <heed/heed.hpp>
heed::Tensor<float, 4> attention(const heed::Tensor<float, 4>& q, const heed::Tensor<float, 4>& k,
                                 const heed::Tensor<float, 4>& v) {
  return heed::scaled_dot_product_attention(q, k, v, heed::causal());
}
END

milliseconds() {  # milliseconds NAME
  start=$(date +%s%N)
  "$compiler" -std=c++20 -O2 -I "$root/include" -isystem "$eigen" -c "$folder/$1.cpp" -o "$folder/$1.o"
  echo $((($(date +%s%N) - start) / 1000000))
}

best_eigen=
best_heed=
while [ "$repeats" -gt 0 ]; do
  repeats=$((repeats - 1))
  taken=$(milliseconds eigen)
  if [ -z "$best_eigen" ] || [ "$taken" -lt "$best_eigen" ]; then best_eigen=$taken; fi
  taken=$(milliseconds heed)
  if [ -z "$best_heed" ] || [ "$taken" -lt "$best_heed" ]; then best_heed=$taken; fi
done

"$compiler" --version | head -n 1
awk -v eigen="$best_eigen" -v heed="$best_heed" \
  'BEGIN { printf "Eigen %.2f s, heed %.2f s, ratio %.2f\n", eigen / 1000, heed / 1000, heed / eigen }'
