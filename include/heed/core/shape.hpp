#pragma once

#include <heed/core/error.hpp>

#include <Eigen/Core>

#include <array>
#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <utility>

namespace heed {

/// Sizes, positions and strides, in elements; 64 bits on 64-bit machines, so a tensor of more than 2^31 elements works.
using Index = Eigen::Index;
static_assert(sizeof(Index) >= sizeof(void*), "heed needs EIGEN_DEFAULT_DENSE_INDEX_TYPE to be as wide as a pointer");

/// An integer that counts something: any integral type except bool.
template <class I>
concept SizeLike = std::integral<I> && !std::same_as<I, bool>;

namespace detail {

/// A size or stride written in braces, of any integer type: {rows, 3} where rows is a std::size_t.
struct IndexArgument {
  template <SizeLike I>
  [[gnu::always_inline]] constexpr IndexArgument(I number) : value(static_cast<Index>(number)) {}

  Index value;
};

}  // namespace detail

/// The sizes of a tensor of rank R, outermost first: a std::array that prints as ℝ^{2×6×3} and takes structured
/// bindings.
template <int R>
struct Shape : std::array<Index, static_cast<std::size_t>(R)> {
  static_assert(R >= 1, "heed::Shape: a tensor has at least one axis");

  [[gnu::always_inline]] constexpr Shape() : std::array<Index, static_cast<std::size_t>(R)>{} {}

  template <SizeLike... I>
    requires(sizeof...(I) == static_cast<std::size_t>(R))
  [[gnu::always_inline]] constexpr explicit(R == 1) Shape(I... sizes)
      : std::array<Index, static_cast<std::size_t>(R)>{static_cast<Index>(sizes)...} {}

  [[gnu::always_inline]] static constexpr int rank() { return R; }
  template <SizeLike I>
  [[gnu::always_inline]] constexpr Index& operator[](I axis) {
    return this->data()[axis];
  }
  template <SizeLike I>
  [[gnu::always_inline]] constexpr Index operator[](I axis) const {
    return this->data()[axis];
  }
};

template <SizeLike... I>
Shape(I...) -> Shape<static_cast<int>(sizeof...(I))>;

/// Distances between neighbours along each axis, in elements. Zero repeats an axis (broadcast), negative runs
/// backwards.
template <int R>
using Strides = std::array<Index, static_cast<std::size_t>(R)>;

}  // namespace heed

namespace heed::inline HEED_FLAGS {

/// "ℝ^{2×6×3}".
inline std::string to_string(std::span<const Index> shape) {
  std::string text = "ℝ^{";
  const char* separator = "";
  for (const Index size : shape) {
    text += separator;
    text += std::to_string(size);
    separator = "×";
  }
  text += '}';
  return text;
}

}  // namespace heed

namespace heed::detail::inline HEED_FLAGS {

template <int R>
constexpr Index element_count(const Shape<R>& shape) {
  Index count = 1;
  for (const Index size : shape) count *= size;
  return count;
}

/// Strides of a contiguous row-major tensor.
template <int R>
constexpr Strides<R> row_major_strides(const Shape<R>& shape) {
  Strides<R> strides{};
  Index step = 1;
  for (int axis = R - 1; axis >= 0; --axis) {
    strides[static_cast<std::size_t>(axis)] = step;
    step *= shape[axis];
  }
  return strides;
}

/// Refuses sizes below zero and element counts that an Index cannot hold; sizes of zero are left out of the product, as
/// every stride must be countable too.
template <int R>
void check_sizes(const char* function, const Shape<R>& shape) {
  for (const Index size : shape)
    if (size < 0) fail_shape({function, ": sizes must not be negative, got ", to_string(shape)});
  Index count = 1;
  for (const Index size : shape) {
    if (size == 0) continue;
    if (count > (std::numeric_limits<Index>::max)() / size)
      fail_shape({function, ": ", to_string(shape), " has more elements than a heed::Index can count"});
    count *= size;
  }
}

/// Maps axis −1 to the last one, as PyTorch does, and refuses an axis that does not exist.
template <int R>
int checked_axis(const char* function, int axis, const Shape<R>& shape) {
  if (axis < -R || axis >= R)
    fail_shape({function, ": there is no axis ", std::to_string(axis), " in ", to_string(shape)});
  return axis < 0 ? axis + R : axis;
}

}  // namespace heed::detail

template <int R>
struct std::tuple_size<heed::Shape<R>> : std::integral_constant<std::size_t, static_cast<std::size_t>(R)> {};

template <std::size_t I, int R>
struct std::tuple_element<I, heed::Shape<R>> {
  using type = heed::Index;
};
