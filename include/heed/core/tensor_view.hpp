#pragma once

#include <heed/core/shape.hpp>

#include <Eigen/Core>

#include <cassert>
#include <concepts>
#include <cstddef>
#include <type_traits>

namespace heed {

/// An Eigen map of a rank-2 view: any strides, usable in any Eigen expression. T is const for a read-only one.
template <class T>
using MatrixMap = Eigen::Map<
    std::conditional_t<std::is_const_v<T>,
                       const Eigen::Matrix<std::remove_const_t<T>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>,
                       Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>,
    Eigen::Unaligned, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;

/// A window on R-dimensional data that somebody else owns: pointer, sizes and strides (in elements; zero broadcasts,
/// negative runs backwards). Cheap to copy, never allocates. Constness is shallow: TensorView<float, 2> writes even
/// when it is const, TensorView<const float, 2> never does. The data must outlive the view.
template <class T, int R>
class TensorView {
 public:
  using element_type = T;
  using value_type = std::remove_const_t<T>;

  [[gnu::always_inline]] static constexpr int rank() { return R; }

  /// An empty view: all sizes zero.
  [[gnu::always_inline]] constexpr TensorView() = default;

  /// The caller vouches for the strides; heed::view(pointer, shape, strides) is the checked form.
  [[gnu::always_inline]] constexpr TensorView(T* data, const Shape<R>& shape, const Strides<R>& strides)
      : data_(data), shape_(shape), strides_(strides) {}

  /// Assignment re-points a view and writes no element, so it is for named views alone: `batch[0] = tokens` would be
  /// lost without a word. Write `copy_into(batch[0], tokens)` or `batch[0].matrix() = …`.
  constexpr TensorView(const TensorView&) = default;
  constexpr TensorView& operator=(const TensorView&) & = default;

  /// A writable view is a read-only one too.
  template <class U>
    requires std::same_as<const U, T>
  [[gnu::always_inline]] constexpr TensorView(const TensorView<U, R>& other)
      : data_(other.data()), shape_(other.shape()), strides_(other.strides()) {}

  [[gnu::always_inline]] constexpr T* data() const { return data_; }
  [[gnu::always_inline]] constexpr const Shape<R>& shape() const { return shape_; }
  [[gnu::always_inline]] constexpr const Strides<R>& strides() const { return strides_; }

  /// Number of elements.
  [[gnu::always_inline]] constexpr Index size() const { return detail::element_count(shape_); }

  /// One element. Indices are not checked, but by assert.
  template <SizeLike... I>
    requires(sizeof...(I) == static_cast<std::size_t>(R))
  [[gnu::always_inline]] constexpr T& operator()(I... indices) const {
    Index offset = 0;
    int axis = 0;
    ((offset += step_to(axis++, static_cast<Index>(indices))), ...);
    return data_[offset];
  }

  /// x[i]: the i-th sub-tensor along the first axis, a view of rank R − 1; for rank 1 the element itself.
  [[gnu::always_inline]] constexpr decltype(auto) operator[](Index i) const {
    const Index step = step_to(0, i);
    if constexpr (R == 1) {
      return data_[step];
    } else {
      Shape<R - 1> shape;
      Strides<R - 1> strides{};
      for (std::size_t axis = 1; axis < static_cast<std::size_t>(R); ++axis) {
        shape[static_cast<int>(axis) - 1] = shape_[static_cast<int>(axis)];
        strides[axis - 1] = strides_[axis];
      }
      // An empty view may have no memory at all, and null plus a step is undefined.
      return TensorView<T, R - 1>(data_ == nullptr ? nullptr : data_ + step, shape, strides);
    }
  }

  /// The same elements as an Eigen matrix, writable unless T is const. No copy.
  [[gnu::always_inline]] MatrixMap<T> matrix() const requires(R == 2) {
    return MatrixMap<T>(data_, shape_[0], shape_[1],
                        Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>(strides_[0], strides_[1]));
  }

 private:
  [[gnu::always_inline]] constexpr Index step_to(int axis, Index i) const {
    assert(i >= 0 && i < shape_[axis] && "heed::TensorView: index out of range");
    return i * strides_[static_cast<std::size_t>(axis)];
  }

  T* data_ = nullptr;
  Shape<R> shape_{};
  Strides<R> strides_{};
};

}  // namespace heed

namespace heed::detail::inline HEED_FLAGS {

/// Calls f(element of the first view, element of the second, …) for every index in row-major order. All shapes are
/// equal.
template <class F, int R, class First, class... Rest>
void for_each_element(F&& f, const TensorView<First, R>& first, const TensorView<Rest, R>&... rest) {
  for (Index i = 0; i < first.shape()[0]; ++i) {
    if constexpr (R == 1) {
      f(first[i], rest[i]...);
    } else {
      for_each_element(f, first[i], rest[i]...);
    }
  }
}

}  // namespace heed::detail
