#include "compare.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>

namespace onnx {
namespace {

/// To nearest, ties to even. Outputs computed in float pass through float without a change.
double rounded(double value, Type type) {
  const auto single = static_cast<float>(value);
  switch (type) {
    case Type::float16:
      return static_cast<double>(static_cast<float>(Eigen::half(single)));
    case Type::bfloat16:
      return static_cast<double>(static_cast<float>(Eigen::bfloat16(single)));
    case Type::float32:
      return static_cast<double>(single);
    default:
      return value;
  }
}

}  // namespace

Difference compare(const Array& expected, const Array& actual, double rtol, double atol) {
  if (expected.shape != actual.shape)
    throw std::runtime_error("the shape is " + heed::to_string(actual.shape) + ", not " +
                             heed::to_string(expected.shape));
  if (expected.type == Type::bfloat16) rtol = std::max(rtol, 0x1p-6);
  Difference worst;
  for (std::size_t n = 0; n < expected.values.size(); ++n) {
    const double reference = expected.values[n];
    const double value = rounded(actual.values[n], expected.type);
    if (value == reference || (std::isnan(value) && std::isnan(reference))) continue;
    double difference = std::abs(value - reference);
    double share = difference / (atol + rtol * std::abs(reference));
    if (!std::isfinite(value) || !std::isfinite(reference))
      difference = share = std::numeric_limits<double>::infinity();
    worst.largest = std::max(worst.largest, difference);
    worst.of_tolerance = std::max(worst.of_tolerance, share);
  }
  return worst;
}

}  // namespace onnx
