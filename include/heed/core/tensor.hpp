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

  static constexpr int rank() { return R; }

  /// An empty tensor: all sizes zero.
  Tensor() = default;

  /// All zeros. Throws ShapeError if a size is negative.
  explicit Tensor(const Shape<R>& shape) : buffer_(checked_count(shape)), shape_(shape) {}

  template <SizeLike... I>
    requires(sizeof...(I) == static_cast<std::size_t>(R))
  explicit Tensor(I... sizes) : Tensor(Shape<R>(sizes...)) {}

  /// The values, nested as the axes are. Throws ShapeError if rows differ in length.
  Tensor(typename detail::NestedBraces<T, R>::type values) : Tensor(shape_of(values)) {
    T* position = data();
    write_values<R>(values, position);
  }

  /// Tensor<float, 2>{2, 3} would be sizes in braces: write Tensor<float, 2>(2, 3).
  Tensor(std::initializer_list<detail::IndexArgument> sizes) requires(R > 1) = delete;

  Tensor(const Tensor&) = default;
  Tensor(Tensor&& other) noexcept
      : buffer_(std::move(other.buffer_)), shape_(std::exchange(other.shape_, Shape<R>{})) {}
  /// Between equal shapes the elements are copied where they are: views stay valid and nothing is allocated.
  Tensor& operator=(const Tensor& other) {
    if (shape_ != other.shape_) return *this = Tensor(other);
    if (this != &other) std::copy_n(other.data(), size(), data());
    return *this;
  }
  Tensor& operator=(Tensor&& other) noexcept {
    buffer_ = std::move(other.buffer_);
    shape_ = std::exchange(other.shape_, Shape<R>{});
    return *this;
  }
  /// Without this one Clang finds x = {} ambiguous.
  Tensor& operator=(typename detail::NestedBraces<T, R>::type values) { return *this = Tensor(values); }
  ~Tensor() = default;

  T* data() { return buffer_.data(); }
  const T* data() const { return buffer_.data(); }
  const Shape<R>& shape() const { return shape_; }
  Strides<R> strides() const { return detail::row_major_strides(shape_); }

  /// Number of elements.
  Index size() const { return buffer_.size(); }

  /// One element. Indices are not checked, but by assert.
  template <SizeLike... I>
    requires(sizeof...(I) == static_cast<std::size_t>(R))
  T& operator()(I... indices) { return view()(indices...); }
  template <SizeLike... I>
    requires(sizeof...(I) == static_cast<std::size_t>(R))
  const T& operator()(I... indices) const { return view()(indices...); }

  /// x[i]: a view of rank R − 1; for rank 1 the element itself.
  decltype(auto) operator[](Index i) & { return view()[i]; }
  decltype(auto) operator[](Index i) const& { return view()[i]; }
  void operator[](Index i) const&& = delete;  // the view would outlive its tensor

  /// The elements as an Eigen matrix, without a copy.
  MatrixMap<T> matrix() & requires(R == 2) { return view().matrix(); }
  MatrixMap<const T> matrix() const& requires(R == 2) { return view().matrix(); }
  void matrix() const&& = delete;  // the map would outlive its tensor

  operator TensorView<T, R>() & { return view(); }
  operator TensorView<const T, R>() const& { return view(); }
  operator TensorView<const T, R>() const&& = delete;  // the view would outlive its tensor

  void fill(const T& value) { std::fill_n(data(), size(), value); }

 private:
  TensorView<T, R> view() { return {data(), shape_, strides()}; }
  TensorView<const T, R> view() const { return {data(), shape_, strides()}; }

  static Index checked_count(const Shape<R>& shape) {
    detail::check_sizes("heed::Tensor", shape);
    return detail::element_count(shape);
  }

  template <class Braces>
  static Shape<R> shape_of(const Braces& values) {
    Shape<R> shape;
    measure<0>(values, shape);
    return shape;
  }

  template <int Axis, class Braces>
  static void measure(const Braces& values, Shape<R>& shape) {
    shape[Axis] = static_cast<Index>(values.size());
    if constexpr (Axis + 1 < R) {
      if (values.size() > 0) measure<Axis + 1>(*values.begin(), shape);
    }
  }

  template <int Depth, class Braces>
  void write_values(const Braces& values, T*& position) const {
    if (static_cast<Index>(values.size()) != shape_[R - Depth])
      detail::fail_shape({"heed::Tensor: the values are ragged: ", std::to_string(values.size()), " in one place, ",
                          std::to_string(shape_[R - Depth]), " expected for ", to_string(shape_)});
    if constexpr (Depth == 1) {
      position = std::copy(values.begin(), values.end(), position);
    } else {
      for (const auto& inner : values) write_values<Depth - 1>(inner, position);
    }
  }

  detail::AlignedBuffer<T> buffer_;
  Shape<R> shape_{};
};

}  // namespace heed
