#pragma once

#include <heed/core/overlap.hpp>
#include <heed/core/tensor_like.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <string>

namespace heed::detail::inline HEED_FLAGS {

// Shapes: b batch, h query heads, g key/value heads, t queries, s keys, d head size, e value size.

/// The sizes of one attention problem, and what its error messages say: the function's name and shapes of the caller's
/// rank.
struct AttentionSizes {
  const char* function;
  int rank;
  Index b, h, g, t, s, d;
};

/// Scores or weights of one problem: ℝ^{b×h×t×s}.
inline Shape<4> score_shape(const AttentionSizes& sizes) { return {sizes.b, sizes.h, sizes.t, sizes.s}; }

/// A shape that begins with the batch, as it is to a caller who has no batch or no heads: without the axes in front.
template <int R>
std::string callers_shape(const AttentionSizes& sizes, const Shape<R>& shape) {
  return to_string(std::span<const Index>(shape).subspan(static_cast<std::size_t>(4 - sizes.rank)));
}

/// The same elements with axes of size 1 in front, up to rank To.
template <int To, class T, int R>
TensorView<T, To> lift(const TensorView<T, R>& v) {
  static_assert(R <= To);
  Shape<To> shape;
  Strides<To> strides{};
  for (int axis = 0; axis < To; ++axis) {
    const int from = axis - (To - R);
    shape[axis] = from < 0 ? 1 : v.shape()[from];
    strides[static_cast<std::size_t>(axis)] = from < 0 ? 0 : v.strides()[static_cast<std::size_t>(from)];
  }
  return {v.data(), shape, strides};
}

/// A modifier's rank 2…4 view stretched to ℝ^{b×h×t×s}: its axes are aligned on the right, those of size 1 repeat.
template <class T, int R>
TensorView<T, 4> broadcast_to_scores(const AttentionSizes& sizes, const char* name, const TensorView<T, R>& v) {
  const TensorView<T, 4> lifted = lift<4>(v);
  const Shape<4> target = score_shape(sizes);
  Strides<4> strides = lifted.strides();
  for (int axis = 0; axis < 4; ++axis) {
    if (lifted.shape()[axis] == target[axis]) continue;
    if (lifted.shape()[axis] != 1)
      fail_shape({sizes.function, ": ", name, " is ", to_string(v.shape()), ", which does not broadcast to the scores ",
                  callers_shape(sizes, target)});
    strides[static_cast<std::size_t>(axis)] = 0;
  }
  return {lifted.data(), target, strides};
}

/// Refuses a vector that has not one number for each query head.
template <class T>
TensorView<T, 1> checked_per_head(const AttentionSizes& sizes, const char* name, const TensorView<T, 1>& values) {
  if (values.size() != sizes.h)
    fail_shape({sizes.function, ": ", name, " is ", to_string(values.shape()),
                ", but there must be one number for each of ", std::to_string(sizes.h), " heads"});
  return values;
}

/// Refuses a query and keys that do not fit, with the shapes as the caller wrote them.
template <int R>
AttentionSizes checked_sizes(const char* function, const Shape<R>& q, const Shape<R>& k) {
  static_assert(R >= 2 && R <= 4, "heed: attention takes tensors of rank 2, 3 or 4");
  const auto refuse = [&](const std::string& why) {
    fail_shape({function, ": q is ", to_string(q), " and k is ", to_string(k), ", but ", why});
  };
  AttentionSizes sizes{function, R, 1, 1, 1, q[R - 2], k[R - 2], q[R - 1]};
  if (k[R - 1] != sizes.d) refuse("their last sizes must be equal");
  if (sizes.d == 0) refuse("their last size must not be 0");
  if constexpr (R >= 3) {
    sizes.h = q[R - 3];
    sizes.g = k[R - 3];
    if (sizes.g == 0 ? sizes.h != 0 : sizes.h % sizes.g != 0)
      refuse(joined({"the ", std::to_string(sizes.h), " query heads are not a multiple of the ",
                     std::to_string(sizes.g), " key heads"}));
  }
  if constexpr (R == 4) {
    sizes.b = q[0];
    if (k[0] != sizes.b) refuse("their batch sizes must be equal");
  }
  return sizes;
}

/// Refuses values that do not fit the keys.
template <int R>
void check_values(const char* function, const Shape<R>& k, const Shape<R>& v) {
  Shape<R> expected = k;
  expected[R - 1] = v[R - 1];
  if (v != expected || v[R - 1] == 0)
    fail_shape({function, ": v is ", to_string(v), ", but it must have the sizes of k ", to_string(k),
                ", except for the last, which is at least 1"});
}

template <int R>
void check_output_shape(const char* function, const Shape<R>& out, const Shape<R>& expected) {
  if (out != expected) fail_shape({function, ": out is ", to_string(out), ", but the result is ", to_string(expected)});
}

}  // namespace heed::detail
