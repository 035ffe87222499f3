// Tensors for tests: random ones, any memory layout, and comparison bit by bit.
#pragma once

#include "core/helpers.hpp"

#include <heed/core/tensor.hpp>
#include <heed/core/tensor_like.hpp>
#include <heed/core/transform.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>

namespace support {

using heed::Index;

/// Numbers in [−2, 2), or truth values of which about two thirds are true.
template <class T, class... Sizes>
heed::Tensor<T, static_cast<int>(sizeof...(Sizes))> random(std::mt19937& rng, Sizes... sizes) {
  heed::Tensor<T, static_cast<int>(sizeof...(Sizes))> x(sizes...);
  for (Index n = 0; n < x.size(); ++n) {
    if constexpr (std::is_same_v<T, bool>) {
      x.data()[n] = rng() % 3 != 0;
    } else {
      x.data()[n] = static_cast<T>(static_cast<double>(rng()) * 0x1p-30 - 2);
    }
  }
  return x;
}

template <class T, int R>
heed::Tensor<T, R> filled(const heed::Shape<R>& shape, T value) {
  heed::Tensor<T, R> x(shape);
  x.fill(value);
  return x;
}

/// The bits of a float or double as an integer.
template <class T>
auto bits(T value) {
  return std::bit_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(value);
}

/// Same shape and the same bits in every element: 0 is not −0.
template <class A, class B>
bool same_bits(const A& a, const B& b) {
  const auto x = heed::detail::const_view(a);
  const auto y = heed::detail::const_view(b);
  bool same = x.shape() == y.shape();
  if (same)
    heed::detail::for_each_element(
        [&](const auto& left, const auto& right) { same = same && bits(left) == bits(right); }, x, y);
  return same;
}

/// Same shape, and no element further off than so many units in the last place of 1 or of itself, if that is larger.
/// NaN is near NaN alone, infinity near infinity.
template <class A, class B>
bool almost_same(const A& a, const B& b, double units = 64) {
  using T = heed::ScalarOf<A>;
  const auto x = heed::detail::const_view(a);
  const auto y = heed::detail::const_view(b);
  bool all = x.shape() == y.shape();
  const auto is_near = [&](T left, T right) {
    if (left == right || (left != left && right != right)) return true;
    const double size =
        std::max(1.0, std::max(std::abs(static_cast<double>(left)), std::abs(static_cast<double>(right))));
    return std::abs(static_cast<double>(left) - static_cast<double>(right)) <=
           units * size * static_cast<double>(std::numeric_limits<T>::epsilon());
  };
  if (all)
    heed::detail::for_each_element([&](const T& left, const T& right) { all = all && is_near(left, right); }, x, y);
  return all;
}

/// How a tensor of rank R lies in memory: its axes from the outermost to the innermost, the step of the innermost one,
/// elements left free between neighbours of the others, and which axes run backwards.
template <int R>
struct Layout {
  std::array<int, static_cast<std::size_t>(R)> order;
  Index step = 1;
  Index gap = 0;
  std::array<bool, static_cast<std::size_t>(R)> backwards{};
};

/// The elements of a tensor in another layout. What lies between them is NaN, and poisoned under ASan.
template <class T, int R>
class LaidOut {
 public:
  LaidOut(const heed::Tensor<T, R>& x, const Layout<R>& layout) : memory_(room(x.shape(), layout)) {
    heed::Strides<R> strides{};
    Index start = 1;  // something lies before the first element too
    Index stride = layout.step;
    for (std::size_t n = static_cast<std::size_t>(R); n-- > 0;) {
      const int axis = layout.order[n];
      const Index size = x.shape()[axis];
      const bool backwards = layout.backwards[static_cast<std::size_t>(axis)];
      strides[static_cast<std::size_t>(axis)] = backwards ? -stride : stride;
      if (backwards && size > 0) start += stride * (size - 1);
      stride = stride * size + layout.gap;
    }
    view_ = memory_.template numbered<R>(start, x.shape(), strides);
    heed::copy_into(view_, x);
  }

  const heed::TensorView<T, R>& view() const { return view_; }
  bool gaps_are_untouched() { return memory_.gaps_are_untouched(); }

 private:
  static Index room(const heed::Shape<R>& shape, const Layout<R>& layout) {
    Index stride = layout.step;
    for (std::size_t n = static_cast<std::size_t>(R); n-- > 0;) stride = stride * shape[layout.order[n]] + layout.gap;
    return stride + 2;
  }

  core_tests::GappedMemory<T> memory_;
  heed::TensorView<T, R> view_;
};

/// Layouts that a kernel may meet: contiguous, with gaps, transposed, column-major, every second element, backwards.
inline constexpr Layout<4> layouts[] = {
    {{0, 1, 2, 3}},
    {{0, 1, 2, 3}, 1, 3},
    {{0, 2, 1, 3}},        // heads split from the last axis
    {{0, 2, 1, 3}, 2, 1},  // and every second number
    {{0, 1, 3, 2}},        // matrices transposed
    {{3, 2, 1, 0}},        // column-major
    {{1, 3, 0, 2}, 3, 5},
    {{0, 1, 2, 3}, 1, 0, {false, false, true, false}},
    {{0, 1, 2, 3}, 1, 2, {true, true, true, true}},
    {{3, 2, 1, 0}, 2, 1, {false, true, false, true}},
};

}  // namespace support
