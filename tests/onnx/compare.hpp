// Whether an output is close enough to the suite's, by the suite's own rule.
#pragma once

#include "suite.hpp"

namespace onnx {

struct Difference {
  double largest = 0;       ///< |heed's − ONNX's|
  double of_tolerance = 0;  ///< the largest share of the tolerance that an element uses; it passes up to 1

  bool passes() const { return of_tolerance <= 1; }
};

/// What onnx.backend.test.runner asserts: |actual − expected| ≤ atol + rtol·|expected|, equal infinities and NaN in the
/// same places; for bfloat16 rtol is at least 2^−6, two units in the last place. `actual` is rounded to the type of
/// `expected` first: the suite's float16 outputs are up to 1.44 units off the exact result, over rtol as they stand but
/// one unit, and within it, after rounding. Throws std::runtime_error if the shapes differ.
Difference compare(const Array& expected, const Array& actual, double rtol, double atol);

}  // namespace onnx
