// The tensors of the operator Attention in the forms that heed takes.
#pragma once

#include "suite.hpp"
#include "tensors.hpp"

#include <heed/heed.hpp>

#include <stdexcept>
#include <variant>

namespace onnx {

/// Q, K, V or Y: ℝ^{b×h×t×d}, or ℝ^{b×t×(h·d)} if it has three axes.
class Operand {
 public:
  /// `heads` is for three axes alone.
  Operand(const Array& array, Index heads) : heads_(heads) {
    if (array.shape.size() == 3) {
      elements_ = tensor<float, 3>(array);
    } else {
      elements_ = tensor<float, 4>(array);
    }
  }

  /// Whose heads lie in memory as those of `other`, of another size and filled with `value`.
  Operand(const Operand& other, Index size, float value) : heads_(other.heads_) {
    if (const auto* merged = std::get_if<heed::Tensor<float, 3>>(&other.elements_)) {
      elements_ = heed::Tensor<float, 3>(merged->shape()[0], merged->shape()[1], heads_ * size);
    } else {
      heed::Shape<4> shape = std::get<heed::Tensor<float, 4>>(other.elements_).shape();
      shape[3] = size;
      elements_ = heed::Tensor<float, 4>(shape);
    }
    std::visit([&](auto& elements) { elements.fill(value); }, elements_);
  }

  /// ℝ^{b×h×t×d}, without a copy.
  heed::TensorView<float, 4> by_head() {
    if (auto* merged = std::get_if<heed::Tensor<float, 3>>(&elements_)) return heed::split_heads(*merged, heads_);
    return std::get<heed::Tensor<float, 4>>(elements_);
  }

  Array as_array() const {
    return std::visit([](const auto& elements) { return array(elements); }, elements_);
  }

 private:
  Index heads_;
  std::variant<heed::Tensor<float, 3>, heed::Tensor<float, 4>> elements_;
};

/// ℝ^{b×g×m×d} and ℝ^{b×g×n×d} → ℝ^{b×g×(m+n)×d}.
inline heed::Tensor<float, 4> joined(const heed::Tensor<float, 4>& past, const heed::TensorView<float, 4>& added) {
  heed::Shape<4> shape = past.shape();
  const Index length = shape[2];
  shape[2] += added.shape()[2];
  heed::Tensor<float, 4> all(shape);
  heed::copy_into(heed::slice(all, 2, 0, length), past);
  heed::copy_into(heed::slice(all, 2, length, shape[2]), added);
  return all;
}

/// A mask of rank 1 to 4 with a value for each of `keys`, axes of size 1 in front.
template <class T>
heed::Tensor<T, 4> padded(const Array& attn_mask, Index keys, T padding) {
  const auto given = tensor<T, 4>(attn_mask);
  heed::Shape<4> shape = given.shape();
  if (shape[3] > keys) throw std::runtime_error("attn_mask has more keys than there are");
  shape[3] = keys;
  heed::Tensor<T, 4> result(shape);
  result.fill(padding);
  heed::copy_into(heed::slice(result, 3, 0, given.shape()[3]), given);
  return result;
}

}  // namespace onnx
