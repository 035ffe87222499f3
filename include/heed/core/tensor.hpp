#pragma once

#include <heed/core/aligned_buffer.hpp>
#include <heed/core/tensor_view.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>

namespace heed {
namespace detail {

/// The nested braces that spell a tensor of rank R.
template <class T, int R>
struct NestedBraces {
  using type = std::initializer_list<typename NestedBraces<T, R - 1>::type>;
};
template <class T>
struct NestedBraces<T, 1> {
  using type = std::initializer_list<T>;
};

}  // namespace detail
}  // namespace heed

namespace heed::detail::inline HEED_FLAGS {

/// How many elements a new tensor has.
template <int R>
Index checked_count(const Shape<R>& shape) {
  check_sizes("heed::Tensor", shape);
  return element_count(shape);
}

/// The sizes that nested braces spell, by the first entry of each axis.
template <int Axis, class Braces, int R>
void measure(const Braces& values, Shape<R>& shape) {
  shape[Axis] = static_cast<Index>(values.size());
  if constexpr (Axis + 1 < R) {
    if (values.size() > 0) measure<Axis + 1>(*values.begin(), shape);
  }
}
template <int R, class Braces>
Shape<R> shape_of_braces(const Braces& values) {
  Shape<R> shape;
  measure<0>(values, shape);
  return shape;
}

/// Writes the values of nested braces in a row; returns where the next ones go.
template <int Axis, class Braces, int R, class T>
T* write_braces(const Braces& values, const Shape<R>& shape, T* to) {
  if (static_cast<Index>(values.size()) != shape[Axis])
    fail_shape({"heed::Tensor: the values are ragged: ", std::to_string(values.size()), " in one place, ",
                std::to_string(shape[Axis]), " expected for ", to_string(shape)});
  if constexpr (Axis + 1 == R) {
    return std::copy(values.begin(), values.end(), to);
  } else {
    for (const auto& inner : values) to = write_braces<Axis + 1>(inner, shape, to);
    return to;
  }
}

}  // namespace heed::detail

namespace heed {

/// Owns R-dimensional data: row-major, contiguous, 64-byte aligned, zero-initialised. Sizes stand in parentheses,
/// values in braces:
///
///     heed::Tensor<float, 3> x(2, 6, 3);
///     heed::Tensor<float, 2> t{{0.43f, 0.15f, 0.89f}, {0.55f, 0.87f, 0.66f}};
///
/// Constness is deep: a const Tensor gives read-only elements and views only. Copying copies; a tensor that was moved
/// from is empty.
template <class T, int R>
class Tensor {
  static_assert(std::is_same_v<T, std::remove_cv_t<T>>, "heed::Tensor: the element type must not be const");

 public:
  using element_type = T;
  using value_type = T;

  [[gnu::always_inline]] static constexpr int rank() { return R; }

  /// An empty tensor: all sizes zero.
  [[gnu::always_inline]] Tensor() = default;

  /// All zeros. Throws ShapeError if a size is negative.
  [[gnu::always_inline]] explicit Tensor(const Shape<R>& shape)
      : buffer_(detail::checked_count(shape)), shape_(shape) {}

  template <SizeLike... I>
    requires(sizeof...(I) == static_cast<std::size_t>(R))
  [[gnu::always_inline]] explicit Tensor(I... sizes) : Tensor(Shape<R>(sizes...)) {}

  /// The values, nested as the axes are. Throws ShapeError if rows differ in length.
  [[gnu::always_inline]] Tensor(typename detail::NestedBraces<T, R>::type values)
      : Tensor(detail::shape_of_braces<R>(values)) {
    detail::write_braces<0>(values, shape_, data());
  }

  /// Tensor<float, 2>{2, 3} would be sizes in braces: write Tensor<float, 2>(2, 3).
  Tensor(std::initializer_list<detail::IndexArgument> sizes) requires(R > 1) = delete;

  [[gnu::always_inline]] Tensor(const Tensor&) = default;
  [[gnu::always_inline]] Tensor(Tensor&& other) noexcept
      : buffer_(std::move(other.buffer_)), shape_(std::exchange(other.shape_, Shape<R>{})) {}
  /// Between equal shapes the elements are copied where they are: views stay valid and nothing is allocated.
  [[gnu::always_inline]] Tensor& operator=(const Tensor& other) {
    if (shape_ != other.shape_) return *this = Tensor(other);
    if (this != &other) std::copy_n(other.data(), size(), data());
    return *this;
  }
  [[gnu::always_inline]] Tensor& operator=(Tensor&& other) noexcept {
    buffer_ = std::move(other.buffer_);
    shape_ = std::exchange(other.shape_, Shape<R>{});
    return *this;
  }
  /// Without this one Clang finds x = {} ambiguous.
  [[gnu::always_inline]] Tensor& operator=(typename detail::NestedBraces<T, R>::type values) {
    return *this = Tensor(values);
  }
  [[gnu::always_inline]] ~Tensor() = default;

  [[gnu::always_inline]] T* data() { return buffer_.data(); }
  [[gnu::always_inline]] const T* data() const { return buffer_.data(); }
  [[gnu::always_inline]] const Shape<R>& shape() const { return shape_; }
  [[gnu::always_inline]] Strides<R> strides() const { return detail::row_major_strides(shape_); }

  /// Number of elements.
  [[gnu::always_inline]] Index size() const { return buffer_.size(); }

  /// One element. Indices are not checked, but by assert.
  template <SizeLike... I>
    requires(sizeof...(I) == static_cast<std::size_t>(R))
  [[gnu::always_inline]] T& operator()(I... indices) { return view()(indices...); }
  template <SizeLike... I>
    requires(sizeof...(I) == static_cast<std::size_t>(R))
  [[gnu::always_inline]] const T& operator()(I... indices) const { return view()(indices...); }

  /// x[i]: a view of rank R − 1; for rank 1 the element itself.
  [[gnu::always_inline]] decltype(auto) operator[](Index i) & { return view()[i]; }
  [[gnu::always_inline]] decltype(auto) operator[](Index i) const& { return view()[i]; }
  void operator[](Index i) const&& = delete;  // the view would outlive its tensor

  /// The elements as an Eigen matrix, without a copy.
  [[gnu::always_inline]] MatrixMap<T> matrix() & requires(R == 2) { return view().matrix(); }
  [[gnu::always_inline]] MatrixMap<const T> matrix() const& requires(R == 2) { return view().matrix(); }
  void matrix() const&& = delete;  // the map would outlive its tensor

  [[gnu::always_inline]] operator TensorView<T, R>() & { return view(); }
  [[gnu::always_inline]] operator TensorView<const T, R>() const& { return view(); }
  operator TensorView<const T, R>() const&& = delete;  // the view would outlive its tensor

  [[gnu::always_inline]] void fill(const T& value) { std::fill_n(data(), size(), value); }

 private:
  [[gnu::always_inline]] TensorView<T, R> view() { return {data(), shape_, strides()}; }
  [[gnu::always_inline]] TensorView<const T, R> view() const { return {data(), shape_, strides()}; }

  detail::AlignedBuffer<T> buffer_;
  Shape<R> shape_{};
};

}  // namespace heed
