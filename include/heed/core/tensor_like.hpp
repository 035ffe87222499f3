#pragma once

#include <heed/core/eigen.hpp>
#include <heed/core/tensor.hpp>
#include <heed/core/tensor_view.hpp>

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace heed::inline HEED_FLAGS {

// view: the one way from data to TensorView. It never copies, and refuses a temporary that owns its data.

/// A tensor's elements; read-only if the tensor is const.
template <class T, int R>
TensorView<T, R> view(Tensor<T, R>& tensor) {
  return tensor;
}
template <class T, int R>
TensorView<const T, R> view(const Tensor<T, R>& tensor) {
  return tensor;
}
template <class T, int R>
TensorView<const T, R> view(const Tensor<T, R>&&) = delete;  // the view would outlive the tensor

template <class T, int R>
constexpr TensorView<T, R> view(const TensorView<T, R>& other) {
  return other;
}

/// Any Eigen object with direct access, row- or column-major, block or map: ℝ^{rows×cols}, writable where Eigen could
/// write. An Eigen vector gives a VectorView, which is a view of rank 1 and converts to one of rank 2. Not for
/// temporaries that own.
template <EigenDirectAccess M>
  requires(std::is_lvalue_reference_v<M> || !detail::is_eigen_owner<std::remove_cvref_t<M>>)
auto view(M&& m) {
  if constexpr (EigenVector<M>) {
    return VectorView<detail::EigenElement<std::remove_reference_t<M>>>(detail::eigen_vector_view(m),
                                                                        detail::eigen_matrix_view(m));
  } else {
    return detail::eigen_matrix_view(m);
  }
}

/// Memory that somebody else owns, with strides in elements. view(p, {2, 6, 3}, {18, 3, 1}). Throws ShapeError on a
/// negative size and std::invalid_argument on a null pointer with elements behind it.
template <class T, int R>
TensorView<T, R> view(T* data, const Shape<R>& shape, const Strides<R>& strides) {
  detail::check_sizes("heed::view", shape);
  if (data == nullptr && detail::element_count(shape) != 0)
    detail::fail_value({"heed::view: the pointer is null, but ", to_string(shape), " has elements"});
  return {data, shape, strides};
}

/// The same for contiguous row-major memory. view(p, {2, 6, 3}).
template <class T, int R>
TensorView<T, R> view(T* data, const Shape<R>& shape) {
  return view(data, shape, detail::row_major_strides(shape));
}

template <class T, std::size_t R>
TensorView<T, static_cast<int>(R)> view(T* data, const detail::IndexArgument (&sizes)[R]) {
  Shape<static_cast<int>(R)> shape;
  for (std::size_t axis = 0; axis < R; ++axis) shape[static_cast<int>(axis)] = sizes[axis].value;
  return view(data, shape);
}

template <class T, std::size_t R>
TensorView<T, static_cast<int>(R)> view(T* data, const detail::IndexArgument (&sizes)[R],
                                        const detail::IndexArgument (&strides)[R]) {
  Shape<static_cast<int>(R)> shape;
  Strides<static_cast<int>(R)> steps{};
  for (std::size_t axis = 0; axis < R; ++axis) {
    shape[static_cast<int>(axis)] = sizes[axis].value;
    steps[axis] = strides[axis].value;
  }
  return view(data, shape, steps);
}

}  // namespace heed

namespace heed::detail::inline HEED_FLAGS {

template <class X>
inline constexpr bool is_tensor = requires(const X& x) {
  []<class T, int R>(const Tensor<T, R>&) {}(x);
};
template <class X>
inline constexpr bool is_view = requires(const X& x) {
  []<class T, int R>(const TensorView<T, R>&) {}(x);
};

/// A temporary that owns its elements: a view of it would dangle.
template <class X>
inline constexpr bool is_owning_rvalue =
    !std::is_lvalue_reference_v<X> && (is_tensor<std::remove_cvref_t<X>> || is_eigen_owner<std::remove_cvref_t<X>>);

/// A view of any TensorLike by its own rank: Eigen objects are of rank 2. For use within one full expression.
template <class X>
auto view_of(X& x) {
  if constexpr (EigenDirectAccess<X>) {
    return eigen_matrix_view(x);
  } else {
    return heed::view(x);
  }
}

}  // namespace heed::detail

namespace heed::inline HEED_FLAGS {

/// What every consuming function takes: a Tensor, a TensorView, or an Eigen object with direct access; temporaries too.
template <class X>
concept TensorLike =
    detail::is_tensor<std::remove_cvref_t<X>> || detail::is_view<std::remove_cvref_t<X>> || EigenDirectAccess<X>;

/// What a function that returns a view takes: any TensorLike but a temporary that owns its elements.
template <class X>
concept Viewable = TensorLike<X> && !detail::is_owning_rvalue<X>;

/// The scalar type of a TensorLike, without const.
template <TensorLike X>
using ScalarOf = typename decltype(detail::view_of(std::declval<const std::remove_cvref_t<X>&>()))::value_type;

/// The rank of a TensorLike; 2 for every Eigen object.
template <TensorLike X>
inline constexpr int rank_of = decltype(detail::view_of(std::declval<const std::remove_cvref_t<X>&>()))::rank();

}  // namespace heed

namespace heed::detail::inline HEED_FLAGS {

/// A read-only view for the length of a call.
template <TensorLike X>
TensorView<const ScalarOf<X>, rank_of<X>> const_view(const X& x) {
  return view_of(x);
}

/// A rank-1 TensorLike: as above, and an Eigen vector too.
template <class X>
concept VectorLike = TensorLike<X> &&(rank_of<X> == 1 || EigenVector<X>);

template <VectorLike X>
TensorView<const ScalarOf<X>, 1> const_vector_view(const X& x) {
  if constexpr (EigenDirectAccess<X>) {
    return eigen_vector_view(x);
  } else {
    return const_view(x);
  }
}

/// A writable view of an output argument, which may be a temporary view or block.
template <TensorLike X>
auto output_view(X&& out) {
  const auto v = view_of(out);
  static_assert(!is_owning_rvalue<X>,
                "heed: the output is a temporary that owns its elements, so the result would be lost");
  static_assert(!std::is_const_v<typename decltype(v)::element_type>, "heed: the output is read-only");
  return v;
}

}  // namespace heed::detail
