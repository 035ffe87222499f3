#include <heed/core/tensor.hpp>

#include "catch.hpp"
#include "core/helpers.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

using core_tests::counting;
using core_tests::elements;
using core_tests::numbered;
using core_tests::shape_error;
using heed::Index;
using heed::Shape;
using heed::Strides;
using heed::Tensor;
using heed::TensorView;

TEMPLATE_TEST_CASE("sizes in parentheses give zeros", "[core][tensor]", float, double) {
  const Tensor<TestType, 3> x(2, 6, 3);
  CHECK(x.shape() == Shape<3>(2, 6, 3));
  CHECK(x.strides() == Strides<3>{18, 3, 1});
  CHECK(x.size() == 36);
  CHECK(x.rank() == 3);
  CHECK(elements(x) == std::vector<TestType>(36, TestType(0)));
  CHECK(Tensor<TestType, 3>(x.shape()).shape() == x.shape());
}

TEST_CASE("sizes may be of any integer types", "[core][tensor]") {
  const std::vector<float> rows(4);
  CHECK(Tensor<float, 3>(rows.size(), 2, Index{3}).shape() == Shape<3>(4, 2, 3));
  CHECK(Tensor<float, 1>(5).shape() == Shape<1>(5));
  STATIC_REQUIRE(!std::is_constructible_v<Tensor<float, 2>, int>);
  STATIC_REQUIRE(!std::is_constructible_v<Tensor<float, 2>, int, int, int>);
  STATIC_REQUIRE(!std::is_constructible_v<Tensor<float, 2>, float, float>);
}

TEST_CASE("an element takes as many indices as there are axes", "[core][tensor]") {
  STATIC_REQUIRE(std::is_invocable_v<Tensor<float, 3>&, int, std::size_t, Index>);
  STATIC_REQUIRE(!std::is_invocable_v<Tensor<float, 3>&, int, int>);
  STATIC_REQUIRE(!std::is_invocable_v<Tensor<float, 3>&, int, int, int, int>);
  STATIC_REQUIRE(!std::is_invocable_v<Tensor<float, 3>&, int, int, float>);
  STATIC_REQUIRE(!std::is_invocable_v<const TensorView<float, 2>&, int>);
}

TEMPLATE_TEST_CASE("values in braces are nested as the axes are", "[core][tensor]", float, double) {
  const Tensor<TestType, 2> x{{1, 2, 3}, {4, 5, 6}};
  CHECK(x.shape() == Shape<2>(2, 3));
  CHECK(elements(x) == counting<TestType>(6));

  const Tensor<TestType, 1> vector{1, 2, 3};
  CHECK(vector.shape() == Shape<1>(3));
  CHECK(elements(vector) == counting<TestType>(3));

  const Tensor<TestType, 3> batch{{{1, 2}, {3, 4}, {5, 6}}, {{7, 8}, {9, 10}, {11, 12}}};
  CHECK(batch.shape() == Shape<3>(2, 3, 2));
  CHECK(elements(batch) == counting<TestType>(12));
}

TEMPLATE_TEST_CASE("one column, one row and one value in braces are values too", "[core][tensor]", float, double,
                   Index) {
  const Tensor<TestType, 2> column{{1}, {2}};
  CHECK(column.shape() == Shape<2>(2, 1));
  CHECK(elements(column) == counting<TestType>(2));
  const Tensor<TestType, 2> row{{1, 2}};
  CHECK(row.shape() == Shape<2>(1, 2));
  CHECK(elements(row) == counting<TestType>(2));
  const Tensor<TestType, 1> one{3};
  CHECK(one.shape() == Shape<1>(1));
  CHECK(one(0) == 3);
  const Tensor<TestType, 3> deep{{{1}, {2}}};
  CHECK(deep.shape() == Shape<3>(1, 2, 1));
}

TEST_CASE("a tensor of truth values is an array of bool", "[core][tensor]") {
  const Tensor<bool, 2> mask{{true, false}, {true, true}};
  CHECK(mask.shape() == Shape<2>(2, 2));
  CHECK(mask(0, 1) == false);
  CHECK(&mask(1, 1) - &mask(0, 0) == 3);
  CHECK(Tensor<bool, 2>{{true}, {false}}.shape() == Shape<2>(2, 1));
}

TEST_CASE("empty braces are empty axes", "[core][tensor]") {
  CHECK(Tensor<float, 2>{}.shape() == Shape<2>(0, 0));
  CHECK(Tensor<float, 2>{{}}.shape() == Shape<2>(1, 0));
  CHECK(Tensor<float, 2>{{}, {}, {}}.shape() == Shape<2>(3, 0));
}

TEST_CASE("ragged braces are refused with both lengths", "[core][tensor]") {
  CHECK(shape_error([] {
          Tensor<float, 2>{{1, 2, 3}, {4, 5}};
        }) == "heed::Tensor: the values are ragged: 2 in one place, 3 expected for ℝ^{2×3}");
  CHECK(shape_error([] {
          Tensor<float, 2>{{1, 2}, {3, 4}, {5, 6, 7}};
        }) == "heed::Tensor: the values are ragged: 3 in one place, 2 expected for ℝ^{3×2}");
  CHECK(shape_error([] {
          Tensor<float, 3>{{{1, 2}, {3, 4}}, {{5, 6}}};
        }) == "heed::Tensor: the values are ragged: 1 in one place, 2 expected for ℝ^{2×2×2}");
  CHECK_THROWS_AS((Tensor<float, 2>{{}, {1}}), heed::ShapeError);
}

TEST_CASE("axes of size zero are fine, negative and uncountable ones are refused", "[core][tensor]") {
  CHECK(Tensor<float, 3>(2, 0, 3).size() == 0);
  CHECK(Tensor<float, 3>(2, 0, 3).shape() == Shape<3>(2, 0, 3));
  CHECK(shape_error([] { Tensor<float, 2>(2, -3); }) == "heed::Tensor: sizes must not be negative, got ℝ^{2×-3}");
  CHECK(shape_error([] { Tensor<float, 2>(Index{1} << 32, Index{1} << 32); }) ==
        "heed::Tensor: ℝ^{4294967296×4294967296} has more elements than a heed::Index can count");
  CHECK(shape_error([] { Tensor<double, 2>(Index{1} << 30, Index{1} << 31); }) ==
        "heed::Tensor: 2305843009213693952 elements do not fit into memory");
  constexpr Index most = std::numeric_limits<Index>::max();
  CHECK_THROWS_AS((Tensor<float, 3>(0, most, most)), heed::ShapeError);
}

TEMPLATE_TEST_CASE("elements lie row by row from a cache line on", "[core][tensor]", float, double) {
  std::vector<Tensor<TestType, 2>> tensors;
  for (int cols = 1; cols < 40; ++cols) tensors.push_back(numbered<TestType>(3, cols));
  for (auto& x : tensors) {
    CHECK(reinterpret_cast<std::uintptr_t>(x.data()) % 64 == 0);
    CHECK(&x(0, 0) == x.data());
    CHECK(&x(2, 0) == x.data() + 2 * x.shape()[1]);
    CHECK(x(2, x.shape()[1] - 1) == static_cast<TestType>(x.size()));
  }
}

TEMPLATE_TEST_CASE("constness of a tensor is deep", "[core][tensor]", float, double) {
  using Owner = Tensor<TestType, 2>;
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<Owner&>()(0, 0)), TestType&>);
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<const Owner&>()(0, 0)), const TestType&>);
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<const Owner&>().data()), const TestType*>);
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<Owner&>()[0]), TensorView<TestType, 1>>);
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<const Owner&>()[0]), TensorView<const TestType, 1>>);
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<const Owner&>().matrix()), heed::MatrixMap<const TestType>>);
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<Tensor<TestType, 1>&>()[0]), TestType&>);
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<const Tensor<TestType, 1>&>()[0]), const TestType&>);
  STATIC_REQUIRE(std::is_convertible_v<Owner&, TensorView<TestType, 2>>);
  STATIC_REQUIRE(std::is_convertible_v<Owner&, TensorView<const TestType, 2>>);
  STATIC_REQUIRE(std::is_convertible_v<const Owner&, TensorView<const TestType, 2>>);
  STATIC_REQUIRE(!std::is_convertible_v<const Owner&, TensorView<TestType, 2>>);
}

TEMPLATE_TEST_CASE("a temporary tensor gives no view of itself", "[core][tensor]", float, double) {
  using Owner = Tensor<TestType, 2>;
  STATIC_REQUIRE(!std::is_convertible_v<Owner, TensorView<TestType, 2>>);
  STATIC_REQUIRE(!std::is_convertible_v<Owner, TensorView<const TestType, 2>>);
  STATIC_REQUIRE(!std::is_convertible_v<const Owner, TensorView<const TestType, 2>>);
}

TEMPLATE_TEST_CASE("x[b], matrix() and conversions are views of the tensor", "[core][tensor]", float, double) {
  auto x = numbered<TestType>(2, 3, 4);
  const auto sentence = x[1];
  CHECK(sentence.data() == &x(1, 0, 0));
  CHECK(sentence.shape() == Shape<2>(3, 4));
  sentence(2, 3) = 100;
  CHECK(x(1, 2, 3) == 100);
  const TensorView<TestType, 3> v = x;
  CHECK(v.data() == x.data());
  CHECK(v.strides() == Strides<3>{12, 4, 1});

  auto y = numbered<TestType>(3, 2);
  y.matrix()(2, 0) = 50;
  CHECK(y(2, 0) == 50);
  y.matrix() *= TestType(2);
  CHECK(elements(y) == std::vector<TestType>{2, 4, 6, 8, 100, 12});
}

TEMPLATE_TEST_CASE("copying a tensor copies its elements", "[core][tensor]", float, double) {
  const auto x = numbered<TestType>(2, 3);
  Tensor<TestType, 2> constructed = x;
  Tensor<TestType, 2> assigned(7, 7);
  assigned = x;
  for (Tensor<TestType, 2>* y : {&constructed, &assigned}) {
    CHECK(y->shape() == x.shape());
    CHECK(y->data() != x.data());
    CHECK(elements(*y) == elements(x));
    (*y)(0, 0) = 100;
    CHECK(x(0, 0) == 1);
  }
}

TEMPLATE_TEST_CASE("a tensor moved from is empty and can be used again", "[core][tensor]", float, double) {
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<Tensor<TestType, 2>>);
  auto x = numbered<TestType>(2, 3);
  const TestType* const memory = x.data();
  Tensor<TestType, 2> y = std::move(x);
  CHECK(y.data() == memory);
  CHECK(elements(y) == counting<TestType>(6));
  CHECK(x.size() == 0);
  CHECK(x.shape() == Shape<2>(0, 0));
  CHECK(x.data() == nullptr);

  x = std::move(y);
  CHECK(x.data() == memory);
  CHECK(x.shape() == Shape<2>(2, 3));
  CHECK(y.size() == 0);
  CHECK(y.shape() == Shape<2>(0, 0));
  y = {{5, 6}};
  CHECK(y.shape() == Shape<2>(1, 2));
  CHECK(y(0, 1) == 6);
}

TEMPLATE_TEST_CASE("assigning a tensor to itself changes nothing", "[core][tensor]", float, double) {
  auto x = numbered<TestType>(2, 3);
  const auto& same = x;
  x = same;
  CHECK(elements(x) == counting<TestType>(6));
}

TEST_CASE("a default tensor is empty and can be assigned to", "[core][tensor]") {
  Tensor<float, 2> x;
  CHECK(x.size() == 0);
  CHECK(x.shape() == Shape<2>(0, 0));
  x = Tensor<float, 2>{{1, 2}, {3, 4}};
  CHECK(x(1, 1) == 4);
  x = {};
  CHECK(x.size() == 0);
}

TEST_CASE("a tensor whose making fails leaves the one assigned to as it was", "[core][tensor]") {
  Tensor<float, 2> x{{1, 2}, {3, 4}};
  CHECK_THROWS_AS((x = {{1, 2}, {3}}), heed::ShapeError);
  CHECK(elements(x) == counting<float>(4));
}

TEMPLATE_TEST_CASE("fill writes every element", "[core][tensor]", float, double) {
  Tensor<TestType, 3> x(2, 3, 4);
  x.fill(TestType(7));
  CHECK(elements(x) == std::vector<TestType>(24, TestType(7)));
}

TEMPLATE_TEST_CASE("assignment between equal shapes copies in place", "[core][tensor]", float, double) {
  auto x = numbered<TestType>(2, 3);
  Tensor<TestType, 2> y(2, 3);
  const TensorView<TestType, 2> seen = y;
  y = x;
  CHECK(y.data() == seen.data());
  CHECK(seen(1, 2) == x(1, 2));
  x(0, 0) = 42;
  CHECK(seen(0, 0) != 42);

  const auto& itself = y;
  y = itself;
  CHECK(y.data() == seen.data());
  CHECK(seen(1, 2) == x(1, 2));

  y = numbered<TestType>(3, 2);  // the same number of elements in another shape
  CHECK(y.shape() == Shape<2>(3, 2));
  CHECK(elements(y) == elements(numbered<TestType>(3, 2)));
}
