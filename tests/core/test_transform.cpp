#include <heed/core/transform.hpp>

#include "catch.hpp"
#include "core/helpers.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

using core_tests::counting;
using core_tests::elements;
using core_tests::GappedMemory;
using core_tests::numbered;
using core_tests::shape_error;
using core_tests::value_error;
using heed::Index;
using heed::Shape;
using heed::Strides;
using heed::Tensor;
using heed::TensorView;

namespace {

template <class X>
concept HasTranspose = requires(X&& x) {
  heed::transpose(std::forward<X>(x), 0, 1);
};
template <class X>
concept HasSlice = requires(X&& x) {
  heed::slice(std::forward<X>(x), 0, 0, 1);
};
template <class X>
concept HasSplitHeads = requires(X&& x) {
  heed::split_heads(std::forward<X>(x), 2);
};
template <class X>
concept HasMergeHeads = requires(X&& x) {
  heed::merge_heads(std::forward<X>(x));
};
template <class X>
concept HasCopy = requires(X&& x) {
  heed::copy(std::forward<X>(x));
};

/// Views can be taken of X, but of a temporary X only where it owns nothing.
template <class X, bool owns>
constexpr bool views_are_safe() {
  return HasTranspose<X&> && HasSlice<X&> && HasSplitHeads<X&> && HasTranspose<const X&> && HasSlice<const X&> &&
         HasSplitHeads<const X&> && HasTranspose<X> == !owns && HasSlice<X> == !owns && HasSplitHeads<X> == !owns &&
         HasTranspose<const X> == !owns && HasSlice<const X> == !owns && HasSplitHeads<const X> == !owns;
}

}  // namespace

TEST_CASE("what returns a view takes no temporary that owns its elements", "[core][transform]") {
  using Matrix = Eigen::MatrixXf;
  STATIC_REQUIRE(views_are_safe<Tensor<float, 3>, true>());
  STATIC_REQUIRE(views_are_safe<Matrix, true>());
  STATIC_REQUIRE(views_are_safe<Eigen::ArrayXXd, true>());
  STATIC_REQUIRE(views_are_safe<Eigen::Matrix3f, true>());
  STATIC_REQUIRE(views_are_safe<Eigen::Ref<const Matrix>, true>());
  STATIC_REQUIRE(views_are_safe<Eigen::Ref<Matrix>, false>());
  STATIC_REQUIRE(views_are_safe<TensorView<float, 2>, false>());
  STATIC_REQUIRE(views_are_safe<Eigen::Map<const Matrix>, false>());
  STATIC_REQUIRE(views_are_safe<decltype(std::declval<Matrix&>().block(0, 0, 1, 1)), false>());
  STATIC_REQUIRE(views_are_safe<decltype(std::declval<Matrix&>().transpose()), false>());
}

TEST_CASE("what copies takes temporaries too, but ranks must do and Eigen objects lie in memory", "[core][transform]") {
  using Sum = decltype(std::declval<Eigen::MatrixXf&>() + std::declval<Eigen::MatrixXf&>());
  STATIC_REQUIRE(HasCopy<Tensor<float, 3>>);
  STATIC_REQUIRE(HasCopy<Eigen::MatrixXf>);
  STATIC_REQUIRE(HasCopy<Eigen::Ref<const Eigen::MatrixXf>>);
  STATIC_REQUIRE(!HasCopy<Sum>);
  STATIC_REQUIRE(!HasTranspose<Sum>);
  STATIC_REQUIRE(!HasTranspose<Sum&>);
  STATIC_REQUIRE(HasMergeHeads<Tensor<float, 3>>);
  STATIC_REQUIRE(!HasMergeHeads<Tensor<float, 2>>);
  STATIC_REQUIRE(!HasMergeHeads<Eigen::MatrixXf>);
  STATIC_REQUIRE(!HasSplitHeads<Tensor<float, 1>&>);
}

// transpose

TEMPLATE_TEST_CASE("transpose swaps two axes in place", "[core][transform]", float, double) {
  auto x = numbered<TestType>(2, 3, 4);
  const auto v = heed::transpose(x, 1, 2);
  STATIC_REQUIRE(std::is_same_v<decltype(v), const TensorView<TestType, 3>>);
  REQUIRE(v.shape() == Shape<3>(2, 4, 3));
  for (Index b = 0; b < 2; ++b)
    for (Index i = 0; i < 3; ++i)
      for (Index j = 0; j < 4; ++j) CHECK(&v(b, j, i) == &x(b, i, j));
  v(1, 3, 2) = 100;
  CHECK(x(1, 2, 3) == 100);
  CHECK(heed::transpose(x, 0, 2).shape() == Shape<3>(4, 3, 2));
  const auto& constant = x;
  STATIC_REQUIRE(std::is_same_v<decltype(heed::transpose(constant, 0, 1)), TensorView<const TestType, 3>>);
}

TEMPLATE_TEST_CASE("transposing twice, or an axis with itself, changes nothing", "[core][transform]", float, double) {
  auto x = numbered<TestType>(2, 3, 4, 5);
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) {
      const auto again = heed::transpose(heed::transpose(x, a, b), a, b);
      CHECK(again.data() == x.data());
      CHECK(again.shape() == x.shape());
      CHECK(again.strides() == x.strides());
      CHECK(heed::transpose(x, a - 4, b).strides() == heed::transpose(x, a, b).strides());
      CHECK(heed::transpose(x, a, b).shape() == heed::transpose(x, b - 4, a - 4).shape());
    }
}

TEMPLATE_TEST_CASE("transpose takes Eigen objects and temporary views", "[core][transform]", float, double) {
  using Matrix = Eigen::Matrix<TestType, Eigen::Dynamic, Eigen::Dynamic>;
  Matrix m(2, 3);
  m << 1, 2, 3, 4, 5, 6;
  const auto v = heed::transpose(m, 0, 1);
  CHECK(&v(2, 1) == &m(1, 2));
  CHECK(Matrix(v.matrix()) == Matrix(m.transpose()));
  CHECK(&heed::transpose(m.block(0, 1, 2, 2), 0, 1)(1, 0) == &m(0, 2));
  CHECK(&heed::transpose(heed::view(m), 0, 1)(2, 1) == &m(1, 2));
}

TEST_CASE("transpose refuses an axis that is not there", "[core][transform]") {
  const Tensor<float, 3> x(2, 6, 3);
  CHECK(shape_error([&] { heed::transpose(x, 1, 3); }) == "heed::transpose: there is no axis 3 in ℝ^{2×6×3}");
  CHECK(shape_error([&] { heed::transpose(x, -4, 1); }) == "heed::transpose: there is no axis -4 in ℝ^{2×6×3}");
}

// slice

TEMPLATE_TEST_CASE("slice is the part from begin to before end, in place", "[core][transform]", float, double) {
  auto x = numbered<TestType>(5, 4);
  const auto rows = heed::slice(x, 0, 1, 4);
  CHECK(rows.shape() == Shape<2>(3, 4));
  CHECK(rows.data() == &x(1, 0));
  CHECK(elements(rows) == counting<TestType>(12, 5));
  const auto columns = heed::slice(x, -1, 2, 4);
  CHECK(columns.shape() == Shape<2>(5, 2));
  CHECK(&columns(4, 1) == &x(4, 3));
  columns(0, 0) = 100;
  CHECK(x(0, 2) == 100);
  const auto& constant = x;
  STATIC_REQUIRE(std::is_same_v<decltype(heed::slice(constant, 0, 0, 1)), TensorView<const TestType, 2>>);
}

TEMPLATE_TEST_CASE("slice with a step takes every step-th, the rest rounded up", "[core][transform]", float, double) {
  GappedMemory<TestType> memory(100);
  const auto x = memory.numbered(90, Shape<1>(7), {-3});
  for (Index begin = 0; begin <= 7; ++begin)
    for (Index end = begin; end <= 7; ++end)
      for (Index step = 1; step <= 9; ++step) {
        std::vector<TestType> expected;
        for (Index i = begin; i < end; i += step) expected.push_back(static_cast<TestType>(i + 1));
        CHECK(elements(heed::slice(x, 0, begin, end, step)) == expected);
      }
  CHECK(memory.gaps_are_untouched());
}

TEST_CASE("a slice of everything is everything, of a slice a slice", "[core][transform]") {
  auto x = numbered<float>(6, 8);
  const auto all = heed::slice(x, 1, 0, 8);
  CHECK(all.data() == x.data());
  CHECK(all.strides() == x.strides());
  const auto twice = heed::slice(heed::slice(x, 0, 1, 6, 2), 0, 1, 3);
  CHECK(&twice(1, 0) == &x(5, 0));
}

TEST_CASE("an empty slice is fine wherever it lies, and so is a huge step", "[core][transform]") {
  auto x = numbered<float>(5, 4);
  CHECK(heed::slice(x, 0, 5, 5).shape() == Shape<2>(0, 4));
  CHECK(heed::slice(x, 1, 4, 4).shape() == Shape<2>(5, 0));
  CHECK(heed::slice(x, 1, 4, 4).data() == x.data());
  // One row is left, whose stride no index uses; step times stride would overflow.
  const auto first = heed::slice(x, 0, 2, 5, std::numeric_limits<Index>::max());
  CHECK(first.shape() == Shape<2>(1, 4));
  CHECK(first(0, 3) == 12);
  // No memory at all: null plus a step would be undefined.
  const Tensor<float, 2> nothing(0, 5);
  CHECK(heed::slice(nothing, 1, 2, 4).shape() == Shape<2>(0, 2));
  CHECK(heed::slice(nothing, 1, 2, 4).data() == nullptr);
}

TEST_CASE("slice refuses what does not lie in the axis", "[core][transform]") {
  const Tensor<float, 2> x(5, 4);
  const auto message = [&](Index begin, Index end, Index step) {
    return shape_error([&] { heed::slice(x, -2, begin, end, step); });
  };
  CHECK(message(-1, 2, 1) == "heed::slice: [-1, 2) with step 1 does not lie in axis 0 of ℝ^{5×4}");
  CHECK(message(3, 2, 1) == "heed::slice: [3, 2) with step 1 does not lie in axis 0 of ℝ^{5×4}");
  CHECK(message(0, 6, 2) == "heed::slice: [0, 6) with step 2 does not lie in axis 0 of ℝ^{5×4}");
  CHECK(message(0, 5, 0) == "heed::slice: [0, 5) with step 0 does not lie in axis 0 of ℝ^{5×4}");
  CHECK(message(0, 5, -1) == "heed::slice: [0, 5) with step -1 does not lie in axis 0 of ℝ^{5×4}");
  CHECK(shape_error([&] { heed::slice(x, 2, 0, 1); }) == "heed::slice: there is no axis 2 in ℝ^{5×4}");
}

// split_heads and merge_heads

TEMPLATE_TEST_CASE("split_heads gives each head its columns, in place", "[core][transform]", float, double) {
  auto x = numbered<TestType>(2, 3, 8);
  const auto v = heed::split_heads(x, 4);
  STATIC_REQUIRE(std::is_same_v<decltype(v), const TensorView<TestType, 4>>);
  REQUIRE(v.shape() == Shape<4>(2, 4, 3, 2));
  for (Index b = 0; b < 2; ++b)
    for (Index h = 0; h < 4; ++h)
      for (Index i = 0; i < 3; ++i)
        for (Index j = 0; j < 2; ++j) CHECK(&v(b, h, i, j) == &x(b, i, 2 * h + j));
  v(1, 3, 2, 1) = 100;
  CHECK(x(1, 2, 7) == 100);
}

TEMPLATE_TEST_CASE("split_heads works on any strides and ranks", "[core][transform]", float, double) {
  GappedMemory<TestType> memory(300);
  const auto v = memory.numbered(250, Shape<2>(3, 6), {-50, 7});
  const auto heads = heed::split_heads(v, 2);
  CHECK(heads.shape() == Shape<3>(2, 3, 3));
  for (Index h = 0; h < 2; ++h)
    for (Index i = 0; i < 3; ++i)
      for (Index j = 0; j < 3; ++j) CHECK(&heads(h, i, j) == &v(i, 3 * h + j));
  Eigen::Matrix<TestType, Eigen::Dynamic, Eigen::Dynamic> m(3, 6);
  m.setZero();
  CHECK(&heed::split_heads(m, 3)(2, 1, 1) == &m(1, 5));
  const auto deep = numbered<TestType>(2, 2, 3, 4);
  CHECK(&heed::split_heads(deep, 2)(1, 0, 1, 2, 1) == &deep(1, 0, 2, 3));
}

TEMPLATE_TEST_CASE("merge_heads undoes split_heads and copies", "[core][transform]", float, double) {
  auto x = numbered<TestType>(2, 3, 8);
  for (const Index heads : {1, 2, 4, 8}) {
    const auto merged = heed::merge_heads(heed::split_heads(x, heads));
    STATIC_REQUIRE(std::is_same_v<decltype(merged), const Tensor<TestType, 3>>);
    CHECK(merged.shape() == x.shape());
    CHECK(elements(merged) == elements(x));
    CHECK(merged.data() != x.data());
  }
  const auto y = numbered<TestType>(2, 4, 3, 2);  // ℝ^{b×h×t×d}
  const auto merged = heed::merge_heads(y);
  REQUIRE(merged.shape() == Shape<3>(2, 3, 8));
  CHECK(merged(1, 2, 7) == y(1, 3, 2, 1));
  CHECK(elements(heed::copy(heed::split_heads(merged, 4))) == elements(y));
  const auto sentence = heed::merge_heads(numbered<TestType>(4, 3, 2));  // a temporary, ℝ^{h×t×d}
  CHECK(sentence.shape() == Shape<2>(3, 8));
  CHECK(elements(sentence) ==
        std::vector<TestType>{1, 2, 7, 8, 13, 14, 19, 20, 3, 4, 9, 10, 15, 16, 21, 22, 5, 6, 11, 12, 17, 18, 23, 24});
}

TEST_CASE("split_heads and merge_heads of nothing", "[core][transform]") {
  const Tensor<float, 3> no_tokens(2, 0, 8);
  CHECK(heed::split_heads(no_tokens, 4).shape() == Shape<4>(2, 4, 0, 2));
  CHECK(heed::merge_heads(Tensor<float, 4>(2, 4, 0, 2)).shape() == Shape<3>(2, 0, 8));
  CHECK(heed::merge_heads(Tensor<float, 4>(2, 0, 3, 2)).shape() == Shape<3>(2, 3, 0));
  CHECK(heed::merge_heads(Tensor<float, 4>(0, 4, 3, 2)).shape() == Shape<3>(0, 3, 8));
}

TEST_CASE("split_heads refuses heads that do not divide the last size", "[core][transform]") {
  const Tensor<float, 3> x(2, 6, 4);
  CHECK(shape_error([&] { heed::split_heads(x, 3); }) ==
        "heed::split_heads: the last size of ℝ^{2×6×4} is not a multiple of 3 heads");
  CHECK(shape_error([&] { heed::split_heads(x, 0); }) ==
        "heed::split_heads: the last size of ℝ^{2×6×4} is not a multiple of 0 heads");
  CHECK_THROWS_AS(heed::split_heads(x, -2), heed::ShapeError);
  CHECK_THROWS_AS(heed::split_heads(x, 8), heed::ShapeError);
}

// stack

TEMPLATE_TEST_CASE("stack lays tensors of one shape side by side", "[core][transform]", float, double) {
  const auto a = numbered<TestType>(2, 3);
  Eigen::Matrix<TestType, 2, 3> b;
  b << 7, 8, 9, 10, 11, 12;
  const auto transposed = heed::copy(heed::transpose(a, 0, 1));
  const auto stacked = heed::stack(a, b, heed::transpose(transposed, 0, 1));
  STATIC_REQUIRE(std::is_same_v<decltype(stacked), const Tensor<TestType, 3>>);
  CHECK(stacked.shape() == Shape<3>(3, 2, 3));
  auto expected = counting<TestType>(12);
  const auto third = counting<TestType>(6);
  expected.insert(expected.end(), third.begin(), third.end());
  CHECK(elements(stacked) == expected);
  CHECK(stacked.data() != a.data());
  CHECK(heed::stack(a).shape() == Shape<3>(1, 2, 3));
  CHECK(heed::stack(Tensor<TestType, 1>{1, 2}, Tensor<TestType, 1>{3, 4}).shape() == Shape<2>(2, 2));
  CHECK(heed::stack(Tensor<TestType, 2>(0, 3), Tensor<TestType, 2>(0, 3)).shape() == Shape<3>(2, 0, 3));
}

TEMPLATE_TEST_CASE("x[b] undoes stack", "[core][transform]", float, double) {
  const auto a = numbered<TestType>(2, 3);
  Tensor<TestType, 2> b(2, 3);
  b.fill(TestType(5));
  const auto stacked = heed::stack(a, b, a);
  CHECK(elements(stacked[0]) == elements(a));
  CHECK(elements(stacked[1]) == elements(b));
  CHECK(elements(stacked[2]) == elements(a));
}

TEST_CASE("stack refuses tensors of different shapes", "[core][transform]") {
  const Tensor<float, 2> a(6, 3);
  const Tensor<float, 2> b(3, 6);
  CHECK(shape_error([&] { heed::stack(a, a, b); }) ==
        "heed::stack: all must have one shape, but got ℝ^{6×3} and ℝ^{3×6}");
}

// copy and copy_into

TEMPLATE_TEST_CASE("copy is contiguous, whatever was copied", "[core][transform]", float, double) {
  GappedMemory<TestType> memory(300);
  SECTION("gaps, backwards") {
    const auto v = memory.numbered(290, Shape<3>(2, 3, 4), {-100, -5, -1});
    const auto copied = heed::copy(v);
    STATIC_REQUIRE(std::is_same_v<decltype(copied), const Tensor<TestType, 3>>);
    CHECK(copied.shape() == v.shape());
    CHECK(elements(copied) == counting<TestType>(24));
    CHECK(memory.gaps_are_untouched());
  }
  SECTION("broadcast") {
    const auto row = memory.numbered(7, Shape<1>(3), {2});
    const TensorView<TestType, 2> v(row.data(), Shape<2>(2, 3), {0, 2});
    CHECK(elements(heed::copy(v)) == std::vector<TestType>{1, 2, 3, 1, 2, 3});
    CHECK(memory.gaps_are_untouched());
  }
  SECTION("an Eigen matrix of either order, and its transpose") {
    Eigen::Matrix<TestType, 2, 3, Eigen::ColMajor> m;
    m << 1, 2, 3, 4, 5, 6;
    Eigen::Matrix<TestType, 2, 3, Eigen::RowMajor> r = m;
    CHECK(elements(heed::copy(m)) == counting<TestType>(6));
    CHECK(elements(heed::copy(r)) == counting<TestType>(6));
    CHECK(elements(heed::copy(m.transpose())) == std::vector<TestType>{1, 4, 2, 5, 3, 6});
    CHECK(elements(heed::copy(m.row(1))) == counting<TestType>(3, 4));
    CHECK(heed::copy(heed::view(m.row(1))).shape() == Shape<1>(3));
  }
  SECTION("nothing, transposed") {
    const Tensor<TestType, 2> nothing(0, 5);
    CHECK(heed::copy(heed::transpose(nothing, 0, 1)).shape() == Shape<2>(5, 0));
  }
}

TEMPLATE_TEST_CASE("copy_into writes the elements of the target and no others", "[core][transform]", float, double) {
  const auto x = numbered<TestType>(3, 4);
  GappedMemory<TestType> memory(100);
  const auto target = memory.numbered(95, Shape<2>(3, 4), {-30, -2});
  heed::copy_into(target, heed::slice(x, 0, 0, 3));
  CHECK(elements(target) == elements(x));
  target.matrix().setZero();
  heed::copy_into(heed::transpose(target, 0, 1), heed::copy(heed::transpose(x, 0, 1)));
  CHECK(elements(target) == elements(x));
  CHECK(memory.gaps_are_untouched());
}

TEMPLATE_TEST_CASE("copy_into writes into tensors, matrices and temporary blocks", "[core][transform]", float, double) {
  const auto x = numbered<TestType>(2, 2);
  Tensor<TestType, 2> y(2, 2);
  heed::copy_into(y, x);
  CHECK(elements(y) == elements(x));
  Eigen::Matrix<TestType, Eigen::Dynamic, Eigen::Dynamic> m(3, 3);
  m.setZero();
  heed::copy_into(m.block(1, 1, 2, 2), x);
  CHECK(m(1, 2) == 2);
  CHECK(m(2, 1) == 3);
  CHECK(m.sum() == 10);
  Tensor<TestType, 3> batch(2, 2, 2);
  heed::copy_into(batch[1], m.bottomRightCorner(2, 2));
  CHECK(elements(batch) == std::vector<TestType>{0, 0, 0, 0, 1, 2, 3, 4});
}

TEMPLATE_TEST_CASE("columns of one matrix can be copied into others of it", "[core][transform]", float, double) {
  auto x = numbered<TestType>(2, 4);
  heed::copy_into(heed::slice(x, 1, 2, 4), heed::slice(x, 1, 0, 2));
  CHECK(elements(x) == std::vector<TestType>{1, 2, 1, 2, 5, 6, 5, 6});
}

TEMPLATE_TEST_CASE("copy_into refuses wrong shapes and shared elements and then has written nothing",
                   "[core][transform]", float, double) {
  auto x = numbered<TestType>(3, 4);
  const auto unchanged = elements(x);
  const Tensor<TestType, 2> wrong(4, 3);
  CHECK(shape_error([&] { heed::copy_into(x, wrong); }) == "heed::copy_into: to is ℝ^{3×4}, but from is ℝ^{4×3}");
  CHECK(value_error([&] { heed::copy_into(heed::slice(x, 0, 0, 2), heed::slice(x, 0, 1, 3)); }) ==
        "heed::copy_into: the output to ℝ^{2×4} shares elements with the input from ℝ^{2×4}");
  CHECK(value_error([&] { heed::copy_into(x, x); }) ==
        "heed::copy_into: the output to ℝ^{3×4} shares elements with the input from ℝ^{3×4}");
  const Tensor<TestType, 2> zeros(3, 4);
  CHECK(value_error([&] {
          heed::copy_into(TensorView<TestType, 2>(x.data(), Shape<2>(3, 4), {0, 1}), zeros);
        }) == "heed::copy_into: several indices of the output to ℝ^{3×4} share one element");
  CHECK(elements(x) == unchanged);
}
