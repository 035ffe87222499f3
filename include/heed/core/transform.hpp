#pragma once

#include <heed/core/overlap.hpp>
#include <heed/core/tensor_like.hpp>

#include <concepts>
#include <string>
#include <utility>

namespace heed::inline HEED_FLAGS {

// Functions that return a TensorView do not copy and refuse an owning temporary at compile time. Those that return a
// Tensor copy.

/// Swaps two axes. View. Negative axes count from the end (torch.transpose).
template <Viewable X>
auto transpose(X&& x, int first_axis, int second_axis) {
  const auto v = detail::view_of(x);
  const int a = detail::checked_axis("heed::transpose", first_axis, v.shape());
  const int b = detail::checked_axis("heed::transpose", second_axis, v.shape());
  auto shape = v.shape();
  auto strides = v.strides();
  std::swap(shape[a], shape[b]);
  std::swap(strides[static_cast<std::size_t>(a)], strides[static_cast<std::size_t>(b)]);
  return decltype(v)(v.data(), shape, strides);
}

/// x[…, begin:end:step, …] along one axis. View. 0 ≤ begin ≤ end ≤ size and step ≥ 1, else ShapeError.
template <Viewable X>
auto slice(X&& x, int axis, Index begin, Index end, Index step = 1) {
  const auto v = detail::view_of(x);
  const int a = detail::checked_axis("heed::slice", axis, v.shape());
  auto shape = v.shape();
  auto strides = v.strides();
  if (begin < 0 || begin > end || end > shape[a] || step < 1)
    detail::fail_shape({"heed::slice: [", std::to_string(begin), ", ", std::to_string(end), ") with step ",
                        std::to_string(step), " does not lie in axis ", std::to_string(a), " of ", to_string(shape)});
  Index& stride = strides[static_cast<std::size_t>(a)];
  const Index count = end - begin;
  shape[a] = count / step + (count % step != 0 ? 1 : 0);
  // Nothing lies at the start of an empty slice, and there may be no memory at all.
  const Index offset = detail::element_count(shape) == 0 ? 0 : begin * stride;
  if (shape[a] > 1) stride *= step;  // else the step may be too large to multiply
  return decltype(v)(v.data() + offset, shape, strides);
}

/// ℝ^{…×t×(h·d)} → ℝ^{…×h×t×d}: the last axis cut into `heads` parts, each a head. View. ShapeError if it does not
/// divide.
template <Viewable X>
  requires(rank_of<X> >= 2)
auto split_heads(X&& x, Index heads) {
  constexpr int R = rank_of<X>;
  const auto v = detail::view_of(x);
  if (heads < 1 || v.shape()[R - 1] % heads != 0)
    detail::fail_shape({"heed::split_heads: the last size of ", to_string(v.shape()), " is not a multiple of ",
                        std::to_string(heads), " heads"});
  const Index size = v.shape()[R - 1] / heads;
  Shape<R + 1> shape;
  Strides<R + 1> strides{};
  for (std::size_t axis = 0; axis + 2 < static_cast<std::size_t>(R); ++axis) {
    shape[static_cast<int>(axis)] = v.shape()[static_cast<int>(axis)];
    strides[axis] = v.strides()[axis];
  }
  constexpr auto h = static_cast<std::size_t>(R - 2);
  shape[R - 2] = heads;
  strides[h] = size * v.strides()[h + 1];
  shape[R - 1] = v.shape()[R - 2];
  strides[h + 1] = v.strides()[h];
  shape[R] = size;
  strides[h + 2] = v.strides()[h + 1];
  return TensorView<typename decltype(v)::element_type, R + 1>(v.data(), shape, strides);
}

/// Writes the elements of `from` into `to`, of the same shape. They must not share elements.
template <TensorLike To, TensorLike From>
void copy_into(To&& to, const From& from) {
  static_assert(std::same_as<ScalarOf<To>, ScalarOf<From>>, "heed::copy_into: both must have the same scalar type");
  static_assert(rank_of<To> == rank_of<From>, "heed::copy_into: both must have the same rank");
  const auto target = detail::output_view(std::forward<To>(to));
  const auto source = detail::const_view(from);
  if (target.shape() != source.shape())
    detail::fail_shape(
        {"heed::copy_into: to is ", to_string(target.shape()), ", but from is ", to_string(source.shape())});
  detail::check_output("heed::copy_into", "to", target, "from", source);
  detail::for_each_element([](auto& out, const auto& in) { out = in; }, target, source);
}

/// A contiguous copy.
template <TensorLike X>
Tensor<ScalarOf<X>, rank_of<X>> copy(const X& x) {
  const auto source = detail::const_view(x);
  Tensor<ScalarOf<X>, rank_of<X>> result(source.shape());
  copy_into(result, source);
  return result;
}

/// ℝ^{…×h×t×d} → ℝ^{…×t×(h·d)}: the heads side by side, the inverse of split_heads. Copies.
template <TensorLike X>
  requires(rank_of<X> >= 3)
auto merge_heads(const X& x) {
  constexpr int R = rank_of<X>;
  const auto source = detail::const_view(x);
  Shape<R - 1> shape;
  for (int axis = 0; axis < R - 3; ++axis) shape[axis] = source.shape()[axis];
  shape[R - 3] = source.shape()[R - 2];
  shape[R - 2] = source.shape()[R - 3] * source.shape()[R - 1];
  Tensor<ScalarOf<X>, R - 1> merged(shape);
  if (merged.size() > 0) copy_into(split_heads(merged, source.shape()[R - 3]), source);
  return merged;
}

/// Tensors of one shape along a new first axis: two of ℝ^{6×3} give ℝ^{2×6×3} (torch.stack). Copies.
template <TensorLike First, TensorLike... Rest>
Tensor<ScalarOf<First>, rank_of<First> + 1> stack(const First& first, const Rest&... rest) {
  constexpr int R = rank_of<First>;
  static_assert((std::same_as<ScalarOf<First>, ScalarOf<Rest>> && ...),
                "heed::stack: all must have the same scalar type");
  static_assert(((R == rank_of<Rest>)&&...), "heed::stack: all must have the same rank");
  using View = TensorView<const ScalarOf<First>, R>;
  const View views[] = {detail::const_view(first), detail::const_view(rest)...};
  Shape<R + 1> shape;
  shape[0] = static_cast<Index>(1 + sizeof...(Rest));
  for (int axis = 0; axis < R; ++axis) shape[axis + 1] = views[0].shape()[axis];
  for (const View& v : views)
    if (v.shape() != views[0].shape())
      detail::fail_shape({"heed::stack: all must have one shape, but got ", to_string(views[0].shape()), " and ",
                          to_string(v.shape())});
  Tensor<ScalarOf<First>, R + 1> result(shape);
  Index position = 0;
  for (const View& v : views) copy_into(result[position++], v);
  return result;
}

}  // namespace heed
