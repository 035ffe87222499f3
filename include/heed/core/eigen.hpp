#pragma once

#include <heed/core/tensor_view.hpp>

#include <Eigen/Core>

#include <concepts>
#include <type_traits>

namespace heed::detail::inline HEED_FLAGS {

/// Contiguous, whatever EIGEN_DEFAULT_TO_ROW_MAJOR says.
template <class T>
using PlainRow = Eigen::Matrix<T, 1, Eigen::Dynamic, Eigen::RowMajor>;

/// Rows in a tensor, for Eigen to compute with. heed owns no memory through Eigen, which takes and gives it back in one
/// way without -march=native and in another with it: a program with files of both kinds crashed.
template <class T>
using RowMap = Eigen::Map<PlainRow<T>>;
template <class T>
using ConstRowMap = Eigen::Map<const PlainRow<T>>;

template <class M>
concept EigenDense = requires(const M& m) {
  []<class Derived>(const Eigen::DenseBase<Derived>&) {}(m);
};

/// A Matrix or an Array, and Ref<const …>, which may hold a copy: a view of a temporary one would dangle.
template <class M>
inline constexpr bool is_eigen_owner = requires(const M& m) {
  []<class Derived>(const Eigen::PlainObjectBase<Derived>&) {}(m);
};
template <class M, int Options, class Stride>
inline constexpr bool is_eigen_owner<Eigen::Ref<const M, Options, Stride>> = true;

/// The element type that a view of M has: const where M is const or an expression that cannot be written to.
template <class M>
using EigenElement = std::remove_pointer_t<decltype(std::declval<M&>().data())>;

}  // namespace heed::detail

namespace heed::inline HEED_FLAGS {

/// An Eigen object whose coefficients lie in memory: Matrix, Array, Map, Ref, block, row, transpose, diagonal … In
/// Eigen 3.4 an indexed view with a fixed step has the flag, but no data().
template <class M>
concept EigenDirectAccess = detail::EigenDense<std::remove_cvref_t<M>> &&
                                (static_cast<unsigned>(std::remove_cvref_t<M>::Flags) &
                                 static_cast<unsigned>(Eigen::DirectAccessBit)) != 0 &&
                            requires(std::remove_cvref_t<M>& m) {
  m.data();
};

/// The above with one row or one column at compile time.
template <class M>
concept EigenVector = EigenDirectAccess<M> && static_cast<bool>(std::remove_cvref_t<M>::IsVectorAtCompileTime);

}  // namespace heed

namespace heed {

/// A view of an Eigen vector: of rank 1, or where rank 2 is asked for, the one row or column it is to Eigen.
template <class T>
class VectorView : public TensorView<T, 1> {
 public:
  [[gnu::always_inline]] constexpr VectorView(const TensorView<T, 1>& vector, const TensorView<T, 2>& matrix)
      : TensorView<T, 1>(vector), matrix_(matrix) {}

  template <class U>
    requires std::same_as<std::remove_const_t<U>, std::remove_const_t<T>> && std::convertible_to<T*, U*>
  [[gnu::always_inline]] constexpr operator TensorView<U, 2>() const { return matrix_; }

 private:
  TensorView<T, 2> matrix_;
};

}  // namespace heed

namespace heed::detail::inline HEED_FLAGS {

/// Any direct-access Eigen object as rank 2: ℝ^{rows×cols}.
template <class M>
TensorView<EigenElement<M>, 2> eigen_matrix_view(M& m) {
  return {m.data(), Shape<2>(m.rows(), m.cols()), {m.rowStride(), m.colStride()}};
}

/// An Eigen vector as rank 1.
template <class M>
TensorView<EigenElement<M>, 1> eigen_vector_view(M& m) {
  const bool is_row = std::remove_const_t<M>::RowsAtCompileTime == 1;
  return {m.data(), Shape<1>(m.size()), {is_row ? m.colStride() : m.rowStride()}};
}

}  // namespace heed::detail
