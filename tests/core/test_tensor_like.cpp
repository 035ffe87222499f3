#include <heed/core/tensor_like.hpp>

#include "catch.hpp"
#include "core/helpers.hpp"

#include <Eigen/Core>

#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

using core_tests::counting;
using core_tests::elements;
using core_tests::numbered;
using core_tests::shape_error;
using core_tests::value_error;
using heed::Index;
using heed::Shape;
using heed::Strides;
using heed::Tensor;
using heed::TensorView;
using heed::view;

namespace {

template <class X>
concept HasView = requires(X&& x) {
  view(std::forward<X>(x));
};

}  // namespace

TEMPLATE_TEST_CASE("view of a tensor is its memory, read-only if the tensor is const", "[core][tensor_like]", float,
                   double) {
  auto x = numbered<TestType>(2, 3);
  const auto& constant = x;
  STATIC_REQUIRE(std::is_same_v<decltype(view(x)), TensorView<TestType, 2>>);
  STATIC_REQUIRE(std::is_same_v<decltype(view(constant)), TensorView<const TestType, 2>>);
  CHECK(view(x).data() == x.data());
  CHECK(view(constant).data() == x.data());
  view(x)(1, 2) = 100;
  CHECK(x(1, 2) == 100);
  const auto v = view(x);
  STATIC_REQUIRE(std::is_same_v<decltype(view(v)), TensorView<TestType, 2>>);
  CHECK(view(v).data() == x.data());
}

TEMPLATE_TEST_CASE("raw memory is row-major where no strides are given", "[core][tensor_like]", float, double) {
  auto memory = counting<TestType>(36);
  const auto v = view(memory.data(), {2, 6, 3});
  STATIC_REQUIRE(std::is_same_v<decltype(v), const TensorView<TestType, 3>>);
  CHECK(v.data() == memory.data());
  CHECK(v.shape() == Shape<3>(2, 6, 3));
  CHECK(v.strides() == Strides<3>{18, 3, 1});
  v(1, 5, 2) = 100;
  CHECK(memory[35] == 100);
  CHECK(view(memory.data(), Shape<2>(4, 9)).strides() == Strides<2>{9, 1});
  CHECK(view(memory.data(), {36}).shape() == Shape<1>(36));
  CHECK(view(memory.data(), {memory.size(), std::size_t{1}}).shape() == Shape<2>(36, 1));
  CHECK(view(memory.data(), {2, memory.size() / 2}, {Index{18}, 1}).strides() == Strides<2>{18, 1});
  const TestType* const constant = memory.data();
  STATIC_REQUIRE(std::is_same_v<decltype(view(constant, {6, 6})), TensorView<const TestType, 2>>);
}

TEMPLATE_TEST_CASE("raw memory takes positive, zero and negative strides", "[core][tensor_like]", float, double) {
  auto memory = counting<TestType>(24);
  CHECK(elements(view(memory.data(), {2, 3}, {12, 2})) == std::vector<TestType>{1, 3, 5, 13, 15, 17});
  CHECK(elements(view(memory.data(), {3, 2}, {0, 1})) == std::vector<TestType>{1, 2, 1, 2, 1, 2});
  CHECK(elements(view(memory.data() + 23, {2, 3}, {-12, -2})) == std::vector<TestType>{24, 22, 20, 12, 10, 8});
  CHECK(elements(view(memory.data(), {4}, {6})) == std::vector<TestType>{1, 7, 13, 19});
  const Shape<2> shape(2, 3);
  const Strides<2> strides{-12, 2};
  CHECK(view(memory.data() + 12, shape, strides)(1, 2) == 5);
}

TEST_CASE("raw memory of a negative or uncountable shape is refused", "[core][tensor_like]") {
  float number = 0;
  CHECK(shape_error([&] { view(&number, {2, -6, 3}); }) == "heed::view: sizes must not be negative, got ℝ^{2×-6×3}");
  CHECK(shape_error([&] { view(&number, {-1}, {1}); }) == "heed::view: sizes must not be negative, got ℝ^{-1}");
  constexpr Index most = std::numeric_limits<Index>::max();
  CHECK_THROWS_AS(view(&number, {most, 2}, {0, 0}), heed::ShapeError);
}

TEST_CASE("a null pointer is a view of nothing only", "[core][tensor_like]") {
  float* const nothing = nullptr;
  CHECK(value_error([&] { view(nothing, {2, 3}); }) == "heed::view: the pointer is null, but ℝ^{2×3} has elements");
  CHECK(value_error([&] {
          view(nothing, {2, 3}, {0, 0});
        }) == "heed::view: the pointer is null, but ℝ^{2×3} has elements");
  CHECK(view(nothing, {2, 0, 3}).size() == 0);
}

TEST_CASE("a broadcast view holds more elements than there is memory", "[core][tensor_like]") {
  constexpr Index size = Index{1} << 31;
  const double row[] = {1, 2};
  const auto v = view(row, {size, 3, 2}, {0, 0, 1});
  CHECK(v.size() == 6 * size);
  CHECK(v(size - 1, 2, 1) == 2);
  CHECK(v[size - 1][2][1] == 2);
}

TEST_CASE("tensors, views and Eigen objects in memory are tensor-like, temporaries too", "[core][tensor_like]") {
  Eigen::MatrixXf m(2, 3);
  STATIC_REQUIRE(heed::TensorLike<Tensor<float, 3>>);
  STATIC_REQUIRE(heed::TensorLike<const Tensor<float, 3>&>);
  STATIC_REQUIRE(heed::TensorLike<TensorView<const double, 1>>);
  STATIC_REQUIRE(heed::TensorLike<const TensorView<float, 4>&>);
  STATIC_REQUIRE(heed::TensorLike<Eigen::MatrixXf>);
  STATIC_REQUIRE(heed::TensorLike<const Eigen::ArrayXXd&>);
  STATIC_REQUIRE(heed::TensorLike<decltype(m.block(0, 0, 1, 1))>);
  STATIC_REQUIRE(heed::TensorLike<decltype(view(m.row(0)))>);
  STATIC_REQUIRE(heed::TensorLike<heed::MatrixMap<const float>>);
  STATIC_REQUIRE(!heed::TensorLike<decltype(m + m)>);
  STATIC_REQUIRE(!heed::TensorLike<float>);
  STATIC_REQUIRE(!heed::TensorLike<std::vector<float>>);
  STATIC_REQUIRE(!heed::TensorLike<float*>);
}

TEST_CASE("only what owns its elements and is about to go cannot be viewed", "[core][tensor_like]") {
  using Matrix = Eigen::MatrixXf;
  using Block = decltype(std::declval<Matrix&>().block(0, 0, 1, 1));
  STATIC_REQUIRE(heed::Viewable<Matrix&>);
  STATIC_REQUIRE(heed::Viewable<const Matrix&>);
  STATIC_REQUIRE(!heed::Viewable<Matrix>);
  STATIC_REQUIRE(!heed::Viewable<const Matrix>);
  STATIC_REQUIRE(!heed::Viewable<Eigen::ArrayXf>);
  STATIC_REQUIRE(!heed::Viewable<Eigen::Vector3f>);
  STATIC_REQUIRE(heed::Viewable<Block>);
  STATIC_REQUIRE(heed::Viewable<Eigen::Map<Matrix>>);
  STATIC_REQUIRE(heed::Viewable<Eigen::Ref<Matrix>>);
  STATIC_REQUIRE(heed::Viewable<const Eigen::Ref<const Matrix>&>);
  STATIC_REQUIRE(!heed::Viewable<Eigen::Ref<const Matrix>>);  // may hold a copy
  STATIC_REQUIRE(heed::Viewable<Tensor<float, 2>&>);
  STATIC_REQUIRE(heed::Viewable<const Tensor<float, 2>&>);
  STATIC_REQUIRE(!heed::Viewable<Tensor<float, 2>>);
  STATIC_REQUIRE(!heed::Viewable<const Tensor<float, 2>>);
  STATIC_REQUIRE(heed::Viewable<TensorView<float, 2>>);

  STATIC_REQUIRE(HasView<Matrix&>);
  STATIC_REQUIRE(!HasView<Matrix>);
  STATIC_REQUIRE(!HasView<const Matrix>);
  STATIC_REQUIRE(HasView<Block>);
  STATIC_REQUIRE(!HasView<Eigen::Ref<const Matrix>>);
  STATIC_REQUIRE(HasView<Tensor<float, 2>&>);
  STATIC_REQUIRE(!HasView<Tensor<float, 2>>);
  STATIC_REQUIRE(!HasView<const Tensor<float, 2>>);
  STATIC_REQUIRE(HasView<TensorView<float, 2>>);
}

TEST_CASE("scalar type and rank of what is tensor-like", "[core][tensor_like]") {
  STATIC_REQUIRE(std::is_same_v<heed::ScalarOf<Tensor<float, 3>>, float>);
  STATIC_REQUIRE(std::is_same_v<heed::ScalarOf<const TensorView<const double, 3>&>, double>);
  STATIC_REQUIRE(std::is_same_v<heed::ScalarOf<const Eigen::MatrixXd&>, double>);
  STATIC_REQUIRE(std::is_same_v<heed::ScalarOf<Eigen::Map<const Eigen::ArrayXXf>>, float>);
  STATIC_REQUIRE(heed::rank_of<Tensor<float, 4>&> == 4);
  STATIC_REQUIRE(heed::rank_of<TensorView<const float, 1>> == 1);
  STATIC_REQUIRE(heed::rank_of<Eigen::MatrixXf> == 2);
  STATIC_REQUIRE(heed::rank_of<const Eigen::VectorXf&> == 2);
  STATIC_REQUIRE(heed::rank_of<decltype(view(std::declval<Eigen::VectorXf&>()))> == 1);
}

TEMPLATE_TEST_CASE("inputs are seen read-only and in place", "[core][tensor_like]", float, double) {
  using Matrix = Eigen::Matrix<TestType, Eigen::Dynamic, Eigen::Dynamic>;
  auto x = numbered<TestType>(2, 3);
  Matrix m = x.matrix();
  const auto from_tensor = heed::detail::const_view(x);
  const auto from_matrix = heed::detail::const_view(m);
  STATIC_REQUIRE(std::is_same_v<decltype(from_tensor), const TensorView<const TestType, 2>>);
  STATIC_REQUIRE(std::is_same_v<decltype(from_matrix), const TensorView<const TestType, 2>>);
  CHECK(from_tensor.data() == x.data());
  CHECK(from_matrix.data() == m.data());
  CHECK(elements(from_matrix) == elements(x));
  const auto from_block = heed::detail::const_view(m.block(0, 1, 2, 2));
  CHECK(&from_block(1, 1) == &m(1, 2));
}

TEMPLATE_TEST_CASE("a vector input is a tensor of rank 1 or an Eigen row or column", "[core][tensor_like]", float,
                   double) {
  using Matrix = Eigen::Matrix<TestType, Eigen::Dynamic, Eigen::Dynamic>;
  STATIC_REQUIRE(heed::detail::VectorLike<Tensor<TestType, 1>>);
  STATIC_REQUIRE(heed::detail::VectorLike<decltype(std::declval<Matrix&>().row(0))>);
  STATIC_REQUIRE(!heed::detail::VectorLike<Tensor<TestType, 2>>);
  STATIC_REQUIRE(!heed::detail::VectorLike<Matrix>);
  const auto x = numbered<TestType>(4);
  Matrix m(2, 4);
  m << 5, 6, 7, 8, 1, 2, 3, 4;
  CHECK(elements(heed::detail::const_vector_view(x)) == counting<TestType>(4));
  CHECK(elements(heed::detail::const_vector_view(m.row(1))) == counting<TestType>(4));
  CHECK(heed::detail::const_vector_view(m.row(1)).data() == &m(1, 0));
  const Eigen::Matrix<TestType, Eigen::Dynamic, 1> column = m.row(1);
  CHECK(heed::detail::const_vector_view(column).shape() == Shape<1>(4));
  CHECK(elements(heed::detail::const_vector_view(view(column))) == counting<TestType>(4));
}

TEMPLATE_TEST_CASE("an output may be a tensor, a temporary view or a block", "[core][tensor_like]", float, double) {
  using Matrix = Eigen::Matrix<TestType, Eigen::Dynamic, Eigen::Dynamic>;
  auto x = numbered<TestType>(2, 3);
  Matrix m = Matrix::Zero(4, 4);
  heed::detail::output_view(x)(1, 2) = 100;
  CHECK(x(1, 2) == 100);
  heed::detail::output_view(view(x))(0, 0) = 200;
  CHECK(x(0, 0) == 200);
  heed::detail::output_view(m.block(1, 1, 2, 2))(0, 1) = 300;
  CHECK(m(1, 2) == 300);
}
