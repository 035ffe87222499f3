#include <heed/core/eigen.hpp>

#include <heed/core/tensor_like.hpp>

#include "catch.hpp"
#include "core/helpers.hpp"

#include <Eigen/Core>

#include <type_traits>
#include <vector>

using core_tests::counting;
using core_tests::elements;
using core_tests::GappedMemory;
using heed::Index;
using heed::Shape;
using heed::TensorView;
using heed::view;

namespace {

template <class T>
using ColMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using RowVector = Eigen::Matrix<T, 1, Eigen::Dynamic>;

template <class M>
M numbered_matrix(Index rows, Index cols) {
  M m(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) m(i, j) = static_cast<typename M::Scalar>(i * cols + j + 1);
  return m;
}

/// That a view is of rank 2 and writes each coefficient of an Eigen object where Eigen reads it.
template <class T, class M>
void check_is_same_memory(const TensorView<T, 2>& v, const M& m) {
  REQUIRE(v.shape() == Shape<2>(m.rows(), m.cols()));
  for (Index i = 0; i < m.rows(); ++i)
    for (Index j = 0; j < m.cols(); ++j) {
      REQUIRE(&v(i, j) == &m.coeffRef(i, j));
      v(i, j) += T(0.5);
      CHECK(v(i, j) == m(i, j));
    }
}

/// The same of rank 1.
template <class T, class M>
void check_is_same_memory(const TensorView<T, 1>& v, const M& m) {
  REQUIRE(v.shape() == Shape<1>(m.size()));
  for (Index i = 0; i < m.size(); ++i) {
    REQUIRE(&v(i) == &m.coeffRef(i));
    v(i) += T(0.5);
    CHECK(v(i) == m(i));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("a view of a matrix or an array is its memory", "[core][eigen]", ColMajor<float>, RowMajor<float>,
                   ColMajor<double>, RowMajor<double>, Eigen::MatrixXf, Eigen::MatrixXd, Eigen::ArrayXXf,
                   Eigen::ArrayXXd, (Eigen::Matrix<float, 3, 4>), (Eigen::Matrix<double, 3, 4, Eigen::RowMajor>),
                   (Eigen::Array<float, 3, 4>), (Eigen::Matrix<float, Eigen::Dynamic, 4>)) {
  auto m = numbered_matrix<TestType>(3, 4);
  const auto v = view(m);
  STATIC_REQUIRE(std::is_same_v<std::remove_const_t<decltype(v)>, TensorView<typename TestType::Scalar, 2>>);
  CHECK(elements(v) == counting<typename TestType::Scalar>(12));
  check_is_same_memory(v, m);
  // const where Eigen is const
  const auto& constant = m;
  STATIC_REQUIRE(std::is_same_v<decltype(view(constant)), TensorView<const typename TestType::Scalar, 2>>);
  CHECK(view(constant).data() == m.data());
}

TEMPLATE_TEST_CASE("parts of a matrix are viewed in place", "[core][eigen]", ColMajor<float>, RowMajor<float>,
                   ColMajor<double>, RowMajor<double>) {
  auto m = numbered_matrix<TestType>(6, 8);
  using T = typename TestType::Scalar;
  SECTION("block") {
    auto block = m.block(1, 2, 3, 4);
    check_is_same_memory(view(block), block);
    CHECK(view(m.block(1, 2, 3, 4)).data() == &m(1, 2));
  }
  SECTION("fixed-size block") {
    auto block = m.template block<2, 3>(3, 4);
    check_is_same_memory(view(block), block);
  }
  SECTION("rows and columns side by side") {
    check_is_same_memory(view(m.middleRows(2, 3)), m.middleRows(2, 3));
    check_is_same_memory(view(m.rightCols(2)), m.rightCols(2));
  }
  SECTION("transpose") {
    auto transposed = m.transpose();
    check_is_same_memory(view(transposed), transposed);
    CHECK(view(m.transpose())(7, 5) == m(5, 7));
  }
  SECTION("transpose of a block") {
    auto transposed = m.block(1, 2, 3, 4).transpose();
    check_is_same_memory(view(transposed), transposed);
  }
  SECTION("row, column and diagonal") {
    auto row = m.row(2);
    auto column = m.col(3);
    auto diagonal = m.diagonal();
    auto upper = m.diagonal(2);
    check_is_same_memory(TensorView<T, 1>(view(row)), row);
    check_is_same_memory(TensorView<T, 1>(view(column)), column);
    check_is_same_memory(TensorView<T, 1>(view(diagonal)), diagonal);
    check_is_same_memory(TensorView<T, 1>(view(upper)), upper);
    check_is_same_memory(TensorView<T, 2>(view(row)), row);
    check_is_same_memory(TensorView<T, 2>(view(column)), column);
    check_is_same_memory(TensorView<T, 2>(view(diagonal)), diagonal);
  }
  SECTION("part of a row and of a column") {
    check_is_same_memory(TensorView<T, 1>(view(m.row(2).segment(3, 4))), m.row(2).segment(3, 4));
    check_is_same_memory(TensorView<T, 1>(view(m.col(2).tail(3))), m.col(2).tail(3));
  }
  SECTION("array and matrix wrappers") {
    check_is_same_memory(view(m.array()), m.array());
    CHECK(view(m.array().matrix()).data() == m.data());
  }
  SECTION("the same of a const matrix is read-only") {
    const auto& constant = m;
    STATIC_REQUIRE(std::is_same_v<decltype(view(constant.block(1, 2, 3, 4))), TensorView<const T, 2>>);
    STATIC_REQUIRE(std::is_same_v<decltype(view(constant.transpose())), TensorView<const T, 2>>);
    STATIC_REQUIRE(std::is_convertible_v<decltype(view(constant.row(0))), TensorView<const T, 1>>);
    STATIC_REQUIRE(!std::is_convertible_v<decltype(view(constant.row(0))), TensorView<T, 1>>);
    STATIC_REQUIRE(!std::is_convertible_v<decltype(view(constant.row(0))), TensorView<T, 2>>);
    CHECK(view(constant.block(1, 2, 3, 4)).data() == &m(1, 2));
    CHECK(view(constant.transpose())(7, 5) == m(5, 7));
  }
}

TEMPLATE_TEST_CASE("maps are viewed with their strides", "[core][eigen]", float, double) {
  using AnyStride = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  auto memory = counting<TestType>(100);
  SECTION("contiguous") {
    Eigen::Map<RowMajor<TestType>> map(memory.data(), 4, 5);
    check_is_same_memory(view(map), map);
    CHECK(view(Eigen::Map<RowMajor<TestType>>(memory.data(), 4, 5)).data() == memory.data());
  }
  SECTION("outer and inner stride, row-major") {
    Eigen::Map<RowMajor<TestType>, Eigen::Unaligned, AnyStride> map(memory.data(), 4, 5, AnyStride(20, 3));
    check_is_same_memory(view(map), map);
  }
  SECTION("outer and inner stride, column-major") {
    Eigen::Map<ColMajor<TestType>, Eigen::Unaligned, AnyStride> map(memory.data(), 4, 5, AnyStride(20, 3));
    check_is_same_memory(view(map), map);
  }
  SECTION("backwards") {
    Eigen::Map<ColMajor<TestType>, Eigen::Unaligned, AnyStride> map(memory.data() + 99, 4, 5, AnyStride(-20, -3));
    check_is_same_memory(view(map), map);
  }
  SECTION("a vector with a stride") {
    Eigen::Map<Vector<TestType>, Eigen::Unaligned, Eigen::InnerStride<>> map(memory.data(), 5, Eigen::InnerStride<>(7));
    check_is_same_memory(TensorView<TestType, 1>(view(map)), map);
    check_is_same_memory(TensorView<TestType, 2>(view(map)), map);
  }
  SECTION("read-only") {
    const Eigen::Map<const RowMajor<TestType>> map(memory.data(), 4, 5);
    STATIC_REQUIRE(std::is_same_v<decltype(view(map)), TensorView<const TestType, 2>>);
    CHECK(view(map).data() == memory.data());
  }
  SECTION("there and back again") {
    const TensorView<TestType, 2> v(memory.data() + 50, Shape<2>(3, 4), {-10, 2});
    const auto again = view(v.matrix());
    CHECK(again.data() == v.data());
    CHECK(again.shape() == v.shape());
    CHECK(again.strides() == v.strides());
  }
}

TEMPLATE_TEST_CASE("a Ref is viewed in place", "[core][eigen]", ColMajor<float>, RowMajor<double>) {
  using T = typename TestType::Scalar;
  auto m = numbered_matrix<TestType>(6, 8);
  Eigen::Ref<TestType> whole(m);
  check_is_same_memory(view(whole), m);
  Eigen::Ref<TestType, 0, Eigen::OuterStride<>> part(m.block(1, 2, 3, 4));
  check_is_same_memory(view(part), m.block(1, 2, 3, 4));
  const Eigen::Ref<const TestType> constant(m);
  STATIC_REQUIRE(std::is_same_v<decltype(view(constant)), TensorView<const T, 2>>);
  CHECK(view(constant).data() == m.data());
}

TEMPLATE_TEST_CASE("an Eigen vector views as rank 1 or 2", "[core][eigen]", float, double) {
  Vector<TestType> column(4);
  column << 1, 2, 3, 4;
  RowVector<TestType> row(4);
  row << 1, 2, 3, 4;
  const TensorView<TestType, 1> column1 = view(column);
  const TensorView<TestType, 2> column2 = view(column);
  const TensorView<TestType, 1> row1 = view(row);
  const TensorView<TestType, 2> row2 = view(row);
  check_is_same_memory(column1, column);
  check_is_same_memory(row1, row);
  CHECK(column2.shape() == Shape<2>(4, 1));
  check_is_same_memory(column2, column);
  CHECK(row2.shape() == Shape<2>(1, 4));
  check_is_same_memory(row2, row);

  const TensorView<const TestType, 1> read_only1 = view(column);
  const TensorView<const TestType, 2> read_only2 = view(row);
  CHECK(read_only1.data() == column.data());
  CHECK(read_only2.data() == row.data());

  STATIC_REQUIRE(decltype(view(column))::rank() == 1);
  STATIC_REQUIRE(std::is_trivially_copyable_v<decltype(view(column))>);
  CHECK(&view(column)(2) == &column(2));
  CHECK(&view(row)[3] == &row(3));
}

TEST_CASE("fixed-size vectors of any length view as rank 1", "[core][eigen]") {
  Eigen::Vector3f three(1, 2, 3);
  check_is_same_memory(TensorView<float, 1>(view(three)), three);
  Eigen::Matrix<float, 1, 1> one;
  one << 5;
  check_is_same_memory(TensorView<float, 1>(view(one)), one);
  Eigen::ArrayXf array = Eigen::ArrayXf::LinSpaced(4, 1, 4);
  check_is_same_memory(TensorView<float, 1>(view(array)), array);
}

TEST_CASE("empty Eigen objects give empty views", "[core][eigen]") {
  Eigen::MatrixXf no_rows(0, 5);
  CHECK(view(no_rows).shape() == Shape<2>(0, 5));
  CHECK(view(no_rows).size() == 0);
  Eigen::VectorXf nothing;
  CHECK(view(nothing).shape() == Shape<1>(0));
}

TEST_CASE("a mask of an Eigen matrix of bool is viewed in place", "[core][eigen]") {
  Eigen::Matrix<bool, Eigen::Dynamic, Eigen::Dynamic> mask(2, 3);
  mask << true, false, true, false, true, true;
  CHECK(elements(view(mask)) == std::vector<bool>{true, false, true, false, true, true});
  CHECK(&view(mask)(1, 2) == &mask.coeffRef(1, 2));
}

TEST_CASE("what has no coefficients in memory is no direct-access object", "[core][eigen]") {
  Eigen::MatrixXf m(6, 6);
  Eigen::VectorXf v(6);
  STATIC_REQUIRE(heed::EigenDirectAccess<Eigen::MatrixXf>);
  STATIC_REQUIRE(heed::EigenDirectAccess<const Eigen::MatrixXf&>);
  STATIC_REQUIRE(heed::EigenDirectAccess<decltype(m.block(0, 0, 2, 2))>);
  STATIC_REQUIRE(!heed::EigenDirectAccess<decltype(m + m)>);
  STATIC_REQUIRE(!heed::EigenDirectAccess<decltype(m * m)>);
  STATIC_REQUIRE(!heed::EigenDirectAccess<decltype(m.transpose() * 2.0f)>);
  STATIC_REQUIRE(!heed::EigenDirectAccess<decltype(m.reverse())>);
  STATIC_REQUIRE(!heed::EigenDirectAccess<decltype(Eigen::MatrixXf::Zero(2, 2))>);
  STATIC_REQUIRE(!heed::EigenDirectAccess<decltype(m.selfadjointView<Eigen::Lower>())>);
  STATIC_REQUIRE(!heed::EigenDirectAccess<decltype(m(std::vector<int>{0, 3}, std::vector<int>{1}))>);
  STATIC_REQUIRE(!heed::EigenDirectAccess<float>);
  STATIC_REQUIRE(!heed::EigenDirectAccess<std::vector<float>>);
  STATIC_REQUIRE(heed::EigenVector<decltype(v)>);
  STATIC_REQUIRE(heed::EigenVector<decltype(m.row(0))>);
  STATIC_REQUIRE(!heed::EigenVector<decltype(m)>);
}

TEST_CASE("rows picked with a fixed step are viewed in place or are no direct-access object", "[core][eigen]") {
  // Eigen 3.4 gives such an expression the flag but no data(); Eigen 5 gives it both.
  auto m = numbered_matrix<Eigen::MatrixXf>(6, 6);
  auto rows = m(Eigen::seqN(0, 3, Eigen::fix<2>), Eigen::seqN(1, 4));
  const auto check = [](auto& x) {
    if constexpr (heed::EigenDirectAccess<decltype(x)>) {
      check_is_same_memory(view(x), x);
    } else {
      STATIC_REQUIRE(!heed::TensorLike<decltype(x)>);
    }
  };
  check(rows);
}

TEMPLATE_TEST_CASE("a view of an Eigen map reads and writes its own elements only", "[core][eigen]", float, double) {
  using AnyStride = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;
  GappedMemory<TestType> memory(200);
  const auto placed = memory.numbered(13, Shape<2>(4, 5), {40, 3});
  Eigen::Map<RowMajor<TestType>, Eigen::Unaligned, AnyStride> map(placed.data(), 4, 5, AnyStride(40, 3));
  const auto v = view(map);
  CHECK(elements(v) == counting<TestType>(20));
  v.matrix().setConstant(TestType(3));
  CHECK(map.sum() == 60);
  CHECK(memory.gaps_are_untouched());
}
