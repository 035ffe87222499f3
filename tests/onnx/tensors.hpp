// Between the suite's arrays and heed's tensors.
#pragma once

#include "suite.hpp"

#include <heed/heed.hpp>

#include <cstddef>
#include <stdexcept>
#include <type_traits>

namespace onnx {

/// A tensor of rank R; axes of size 1 come in front where the array has fewer, as in NumPy's broadcasting.
template <class T, int R>
heed::Tensor<T, R> tensor(const Array& array) {
  const int axes_more = R - static_cast<int>(array.shape.size());
  if (axes_more < 0) throw std::runtime_error("a tensor has too many axes");
  heed::Shape<R> shape;
  for (int axis = 0; axis < R; ++axis)
    shape[axis] = axis < axes_more ? 1 : array.shape[static_cast<std::size_t>(axis - axes_more)];
  heed::Tensor<T, R> result(shape);
  for (std::size_t n = 0; n < array.values.size(); ++n) result.data()[n] = static_cast<T>(array.values[n]);
  return result;
}

template <class T, int R>
Array array(const heed::Tensor<T, R>& tensor) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  return {std::is_same_v<T, float> ? Type::float32 : Type::float64,
          {tensor.shape().begin(), tensor.shape().end()},
          {tensor.data(), tensor.data() + tensor.size()}};
}

}  // namespace onnx
