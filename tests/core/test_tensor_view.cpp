#include <heed/core/tensor_view.hpp>

#include "catch.hpp"
#include "core/helpers.hpp"

#include <Eigen/Core>

#include <cstddef>
#include <type_traits>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

using core_tests::counting;
using core_tests::elements;
using core_tests::GappedMemory;
using heed::Index;
using heed::Shape;
using heed::Strides;
using heed::TensorView;

TEST_CASE("a view that was given nothing is empty", "[core][tensor_view]") {
  const TensorView<float, 3> v;
  CHECK(v.data() == nullptr);
  CHECK(v.size() == 0);
  CHECK(v.shape() == Shape<3>(0, 0, 0));
  STATIC_REQUIRE(v.rank() == 3);
}

TEMPLATE_TEST_CASE("a view costs no more than its numbers", "[core][tensor_view]", float, double) {
  STATIC_REQUIRE(std::is_trivially_copyable_v<TensorView<TestType, 4>>);
  STATIC_REQUIRE(std::is_nothrow_copy_constructible_v<TensorView<TestType, 4>>);
  STATIC_REQUIRE(sizeof(TensorView<TestType, 4>) == sizeof(TestType*) + 8 * sizeof(Index));
}

TEMPLATE_TEST_CASE("a view is its memory, read and written in place", "[core][tensor_view]", float, double) {
  auto memory = counting<TestType>(36);
  const TensorView<TestType, 3> v(memory.data(), Shape<3>(2, 6, 3), {18, 3, 1});
  CHECK(v.size() == 36);
  for (Index b = 0; b < 2; ++b)
    for (Index i = 0; i < 6; ++i)
      for (Index j = 0; j < 3; ++j) CHECK(&v(b, i, j) == memory.data() + 18 * b + 3 * i + j);
  v(1, 0, 2) = 100;
  CHECK(memory[20] == 100);
  memory[35] = 200;
  CHECK(v(1, 5, 2) == 200);
}

TEMPLATE_TEST_CASE("constness of a view is shallow", "[core][tensor_view]", float, double) {
  using Writable = TensorView<TestType, 2>;
  using ReadOnly = TensorView<const TestType, 2>;
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<const Writable&>()(0, 0)), TestType&>);
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<ReadOnly&>()(0, 0)), const TestType&>);
  STATIC_REQUIRE(std::is_same_v<typename Writable::value_type, typename ReadOnly::value_type>);
  STATIC_REQUIRE(std::is_convertible_v<Writable, ReadOnly>);
  STATIC_REQUIRE(!std::is_convertible_v<ReadOnly, Writable>);
  STATIC_REQUIRE(!std::is_constructible_v<TensorView<const double, 2>, TensorView<float, 2>>);
  STATIC_REQUIRE(!std::is_constructible_v<TensorView<const TestType, 3>, Writable>);

  auto memory = counting<TestType>(6);
  const Writable v(memory.data(), Shape<2>(3, 2), {1, 3});
  const ReadOnly same = v;
  CHECK(same.data() == v.data());
  CHECK(same.shape() == v.shape());
  CHECK(same.strides() == v.strides());
}

TEMPLATE_TEST_CASE("x[i] is the i-th part along the first axis", "[core][tensor_view]", float, double) {
  auto memory = counting<TestType>(24);
  const TensorView<TestType, 3> v(memory.data(), Shape<3>(2, 3, 4), {12, 4, 1});
  const TensorView<TestType, 2> sentence = v[1];
  CHECK(sentence.data() == memory.data() + 12);
  CHECK(sentence.shape() == Shape<2>(3, 4));
  CHECK(sentence.strides() == Strides<2>{4, 1});
  STATIC_REQUIRE(std::is_same_v<decltype(v[0][0][0]), TestType&>);
  v[1][2][3] = 100;
  CHECK(memory[23] == 100);
  CHECK(&v[0][1][2] == &v(0, 1, 2));
}

TEMPLATE_TEST_CASE("strides may skip, repeat and run backwards", "[core][tensor_view]", float, double) {
  GappedMemory<TestType> memory(100);
  SECTION("every second row and every third column") {
    const auto v = memory.numbered(10, Shape<2>(3, 2), {20, 3});
    CHECK(elements(v) == counting<TestType>(6));
    CHECK(v(2, 1) == 6);
    CHECK(v[1][1] == 4);
    CHECK(memory.gaps_are_untouched());
  }
  SECTION("backwards along both axes") {
    const auto v = memory.numbered(99, Shape<2>(3, 2), {-20, -3});
    CHECK(v(0, 0) == 1);
    CHECK(v(2, 1) == 6);
    CHECK(&v(2, 1) == v.data() - 43);
    CHECK(&v[2][1] == &v(2, 1));
  }
  SECTION("one row for all") {
    const auto row = memory.numbered(50, Shape<1>(4), {2});
    const TensorView<TestType, 2> v(row.data(), Shape<2>(3, 4), {0, 2});
    CHECK(elements(v) == std::vector<TestType>{1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4});
    CHECK(&v(2, 3) == &v(0, 3));
  }
}

TEMPLATE_TEST_CASE("matrix() is the same memory as an Eigen map", "[core][tensor_view]", float, double) {
  using Matrix = Eigen::Matrix<TestType, Eigen::Dynamic, Eigen::Dynamic>;
  auto memory = counting<TestType>(12);
  const TensorView<TestType, 2> v(memory.data(), Shape<2>(3, 2), {4, 2});
  auto m = v.matrix();
  STATIC_REQUIRE(std::is_same_v<decltype(m), heed::MatrixMap<TestType>>);
  STATIC_REQUIRE(std::is_same_v<decltype(TensorView<const TestType, 2>(v).matrix()), heed::MatrixMap<const TestType>>);
  REQUIRE(m.rows() == 3);
  REQUIRE(m.cols() == 2);
  CHECK(&m.coeffRef(2, 1) == &v(2, 1));
  m(1, 1) = 100;
  CHECK(memory[6] == 100);
  v.matrix().row(0).setConstant(TestType(50));
  v.matrix() = v.matrix() * TestType(2);
  CHECK(memory == std::vector<TestType>{100, 2, 100, 4, 10, 6, 200, 8, 18, 10, 22, 12});
  v.matrix().array() += TestType(1);
  const Matrix sum = v.matrix() + Matrix::Ones(3, 2);
  CHECK(sum(2, 1) == 24);
}

TEMPLATE_TEST_CASE("matrix() multiplies right whatever the strides", "[core][tensor_view]", float, double) {
  using Matrix = Eigen::Matrix<TestType, Eigen::Dynamic, Eigen::Dynamic>;
  struct Layout {
    const char* name;
    Index start;
    Strides<2> strides;
  };
  // 20 × 24 elements, enough for Eigen's blocked product.
  const Layout layout = GENERATE(Layout{"row-major", 0, {24, 1}}, Layout{"column-major", 0, {1, 20}},
                                 Layout{"every second element", 7, {60, 2}}, Layout{"backwards rows", 1000, {-50, 1}},
                                 Layout{"backwards columns", 50, {50, -2}}, Layout{"backwards", 1023, {-50, -2}},
                                 Layout{"one row for all", 3, {0, 2}}, Layout{"one column for all", 3, {2, 0}},
                                 Layout{"one element for all", 3, {0, 0}});
  INFO(layout.name);
  GappedMemory<TestType> memory(1300);
  const auto v = memory.numbered(layout.start, Shape<2>(20, 24), layout.strides);
  Matrix plain(20, 24);
  for (Index i = 0; i < 20; ++i)
    for (Index j = 0; j < 24; ++j) {
      v(i, j) = static_cast<TestType>((3 * i + 5 * j) % 7 - 3);  // small integers: every product is exact
    }
  for (Index i = 0; i < 20; ++i)
    for (Index j = 0; j < 24; ++j) plain(i, j) = v(i, j);
  const Matrix wide = plain.transpose();

  CHECK(Matrix(v.matrix()) == plain);
  CHECK(v.matrix().sum() == plain.sum());
  CHECK(Matrix(v.matrix() * wide) == Matrix(plain * wide));
  CHECK(Matrix(wide * v.matrix()) == Matrix(wide * plain));
  CHECK(Matrix(v.matrix() * v.matrix().transpose()) == Matrix(plain * wide));
  CHECK(Matrix(v.matrix() * wide.col(3)) == Matrix(plain * wide.col(3)));
  CHECK(Matrix(wide.row(3) * v.matrix()) == Matrix(wide.row(3) * plain));
  CHECK(v.matrix().row(1).dot(v.matrix().row(2)) == plain.row(1).dot(plain.row(2)));
  if (layout.strides[0] != 0 && layout.strides[1] != 0) {
    const Matrix square = wide * plain;  // ℝ^{24×24}
    v.matrix().noalias() = plain * square;
    CHECK(Matrix(v.matrix()) == Matrix(plain * square));
    CHECK(memory.gaps_are_untouched());
  }
}

TEST_CASE("matrix() of an empty view is an empty matrix", "[core][tensor_view]") {
  const TensorView<float, 2> v(nullptr, Shape<2>(0, 5), {5, 1});
  CHECK(v.matrix().rows() == 0);
  CHECK(v.matrix().cols() == 5);
  CHECK((v.matrix() * Eigen::MatrixXf::Ones(5, 2)).rows() == 0);
}

TEST_CASE("parts of an empty view without memory stay at null", "[core][tensor_view]") {
  // The transpose of an ℝ^{0×5}; null plus a step would be undefined, and stops a Clang build with
  // -fsanitize=undefined.
  const TensorView<float, 2> v(nullptr, Shape<2>(5, 0), {1, 5});
  CHECK(v[3].data() == nullptr);
  CHECK(v[3].shape() == Shape<1>(0));
}

TEST_CASE("positions and counts of a view are 64 bits wide", "[core][tensor_view]") {
  constexpr Index rows = Index{1} << 33;
  float number = 7;
  const TensorView<float, 2> v(&number, Shape<2>(rows, 3), {0, 0});
  CHECK(v.size() == 3 * rows);
  CHECK(v(rows - 1, 2) == 7);
  CHECK(&v[rows - 1][2] == &number);
  CHECK(v.matrix()(rows - 1, 2) == 7);
}

#if defined(__linux__)
TEST_CASE("an element more than 2^32 elements away is reached", "[core][tensor_view]") {
  // Reserved, but only the pages touched are ever backed by memory.
  constexpr Index rows = 3;
  constexpr Index cols = (Index{1} << 31) + 5;
  constexpr auto bytes = static_cast<std::size_t>(rows * cols);
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    WARN("no address space: not tested");
    return;
  }
  const TensorView<signed char, 2> v(static_cast<signed char*>(memory), Shape<2>(rows, cols), {cols, 1});
  v(rows - 1, cols - 1) = 42;
  CHECK(static_cast<signed char*>(memory)[bytes - 1] == 42);
  CHECK(v[rows - 1][cols - 1] == 42);
  CHECK(v.matrix()(rows - 1, cols - 1) == 42);
  const TensorView<signed char, 2> backwards(&v(rows - 1, cols - 1), v.shape(), {-cols, -1});
  v(0, 0) = 17;
  CHECK(backwards(rows - 1, cols - 1) == 17);
  munmap(memory, bytes);
}
#endif

TEMPLATE_TEST_CASE("every index is visited once, row by row", "[core][tensor_view]", float, double) {
  GappedMemory<TestType> memory(200);
  const auto v = memory.numbered(5, Shape<3>(2, 3, 4), {40, 1, 9});
  const auto row_major = counting<TestType>(24);
  const TensorView<const TestType, 3> twin(row_major.data(), Shape<3>(2, 3, 4), {12, 4, 1});
  std::vector<TestType> seen;
  heed::detail::for_each_element(
      [&](TestType& a, const TestType& b) {
        CHECK(a == b);
        seen.push_back(a);
        a = -a;
      },
      v, twin);
  CHECK(seen == row_major);
  CHECK(v(1, 2, 3) == -24);
  CHECK(memory.gaps_are_untouched());

  int calls = 0;
  heed::detail::for_each_element([&](float) { ++calls; }, TensorView<float, 2>(nullptr, Shape<2>(5, 0), {1, 5}));
  CHECK(calls == 0);
}
