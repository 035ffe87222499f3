#include <heed/core/print.hpp>

#include <heed/core/transform.hpp>

#include "catch.hpp"
#include "core/helpers.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <iomanip>
#include <limits>
#include <sstream>
#include <string>

using core_tests::GappedMemory;
using core_tests::numbered;
using heed::Shape;
using heed::Tensor;
using heed::TensorView;

namespace {

template <class X>
std::string printed(const X& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

}  // namespace

TEST_CASE("a shape prints as in mathematics", "[core][print]") { CHECK(printed(Shape<3>(2, 6, 3)) == "ℝ^{2×6×3}"); }

TEMPLATE_TEST_CASE("a matrix prints its shape, then a row a line with four decimals", "[core][print]", float, double) {
  const Tensor<TestType, 2> x{{TestType(0.43), TestType(0.15), TestType(0.89)},
                              {TestType(0.55), TestType(0.87), TestType(0.66)}};
  CHECK(printed(x) ==
        "ℝ^{2×3}\n"
        "[[0.4300 0.1500 0.8900]\n"
        " [0.5500 0.8700 0.6600]]\n");
}

TEMPLATE_TEST_CASE("numbers are rounded and aligned on the right", "[core][print]", float, double) {
  const Tensor<TestType, 2> x{{1, TestType(-20.25)}, {TestType(0.00004), TestType(0.99996)}};
  CHECK(printed(x) ==
        "ℝ^{2×2}\n"
        "[[  1.0000 -20.2500]\n"
        " [  0.0000   1.0000]]\n");
}

TEMPLATE_TEST_CASE("NaN and infinity print as words, NaN without a sign", "[core][print]", float, double) {
  constexpr TestType infinity = std::numeric_limits<TestType>::infinity();
  constexpr TestType nan = std::numeric_limits<TestType>::quiet_NaN();
  CHECK(printed(Tensor<TestType, 1>{nan, -nan, infinity, -infinity, TestType(-0.5)}) ==
        "ℝ^{5}\n"
        "[    nan     nan     inf    -inf -0.5000]\n");
}

TEST_CASE("huge numbers print in full", "[core][print]") {
  CHECK(printed(Tensor<double, 1>{1e30, 1}) ==
        "ℝ^{2}\n"
        "[1000000000000000019884624838656.0000                               1.0000]\n");
  // 309 digits, a point, four decimals
  CHECK(printed(Tensor<double, 1>{std::numeric_limits<double>::max()}).size() ==
        std::string("ℝ^{1}\n[]\n").size() + 314);
}

TEST_CASE("integers and truth values print as they are", "[core][print]") {
  CHECK(printed(Tensor<int, 1>{1, -20, 300}) == "ℝ^{3}\n[  1 -20 300]\n");
  CHECK(printed(Tensor<bool, 2>{{true, false}, {false, true}}) == "ℝ^{2×2}\n[[1 0]\n [0 1]]\n");
  CHECK(printed(Tensor<std::int64_t, 1>{9007199254740993}) == "ℝ^{1}\n[9007199254740993]\n");
  CHECK(printed(Tensor<signed char, 1>{65, 66}) == "ℝ^{2}\n[65 66]\n");
}

TEMPLATE_TEST_CASE("a batch has an empty line between sentences", "[core][print]", float, double) {
  CHECK(printed(numbered<TestType>(2, 2, 2)) ==
        "ℝ^{2×2×2}\n"
        "[[[1.0000 2.0000]\n"
        "  [3.0000 4.0000]]\n"
        "\n"
        " [[5.0000 6.0000]\n"
        "  [7.0000 8.0000]]]\n");
}

TEMPLATE_TEST_CASE("rank 4 has two empty lines between batches", "[core][print]", float, double) {
  CHECK(printed(numbered<TestType>(2, 2, 1, 2)) ==
        "ℝ^{2×2×1×2}\n"
        "[[[[1.0000 2.0000]]\n"
        "\n"
        "  [[3.0000 4.0000]]]\n"
        "\n"
        "\n"
        " [[[5.0000 6.0000]]\n"
        "\n"
        "  [[7.0000 8.0000]]]]\n");
}

TEST_CASE("an empty tensor prints its shape and brackets", "[core][print]") {
  CHECK(printed(Tensor<float, 1>()) == "ℝ^{0}\n[]\n");
  CHECK(printed(Tensor<float, 2>(0, 3)) == "ℝ^{0×3}\n[]\n");
  CHECK(printed(Tensor<float, 2>(2, 0)) == "ℝ^{2×0}\n[[]\n []]\n");
  const Tensor<float, 2> nothing(0, 2);
  CHECK(printed(heed::transpose(nothing, 0, 1)) == "ℝ^{2×0}\n[[]\n []]\n");
}

TEST_CASE("an axis of 12 is shown whole, one of 13 by its ends", "[core][print]") {
  CHECK(printed(numbered<int>(12)) == "ℝ^{12}\n[ 1  2  3  4  5  6  7  8  9 10 11 12]\n");
  CHECK(printed(numbered<int>(13)) == "ℝ^{13}\n[ 1  2  3 … 11 12 13]\n");
}

TEST_CASE("long rows and columns are left out alike", "[core][print]") {
  CHECK(printed(numbered<int>(13, 14)) ==
        "ℝ^{13×14}\n"
        "[[  1   2   3 …  12  13  14]\n"
        " [ 15  16  17 …  26  27  28]\n"
        " [ 29  30  31 …  40  41  42]\n"
        " …\n"
        " [141 142 143 … 152 153 154]\n"
        " [155 156 157 … 166 167 168]\n"
        " [169 170 171 … 180 181 182]]\n");
}

TEST_CASE("a long batch is left out with its empty lines", "[core][print]") {
  CHECK(printed(numbered<int>(13, 1, 1)) ==
        "ℝ^{13×1×1}\n"
        "[[[ 1]]\n\n [[ 2]]\n\n [[ 3]]\n\n …\n\n [[11]]\n\n [[12]]\n\n [[13]]]\n");
}

TEST_CASE("what is left out neither widens the columns nor is read", "[core][print]") {
  GappedMemory<float> memory(40);
  // Of 20 elements the first and last three are there, the others are poisoned NaN.
  const auto first = memory.numbered(0, Shape<1>(3), {2});
  memory.numbered(34, Shape<1>(3), {2});
  const TensorView<float, 1> v(first.data(), Shape<1>(20), {2});
  CHECK(printed(v) == "ℝ^{20}\n[1.0000 2.0000 3.0000 … 1.0000 2.0000 3.0000]\n");

  auto x = numbered<int>(20);
  x(10) = 123456789;
  CHECK(printed(x) == "ℝ^{20}\n[ 1  2  3 … 18 19 20]\n");
}

TEST_CASE("a broadcast view of more elements than there is memory prints", "[core][print]") {
  const int number = 7;
  const TensorView<const int, 2> v(&number, Shape<2>(heed::Index{1} << 40, 2), {0, 0});
  CHECK(printed(v) == "ℝ^{1099511627776×2}\n[[7 7]\n [7 7]\n [7 7]\n …\n [7 7]\n [7 7]\n [7 7]]\n");
}

TEMPLATE_TEST_CASE("views of any strides and of Eigen objects print as their copies do", "[core][print]", float,
                   double) {
  auto x = numbered<TestType>(2, 3);
  CHECK(printed(heed::transpose(x, 0, 1)) == printed(heed::copy(heed::transpose(x, 0, 1))));
  CHECK(printed(TensorView<const TestType, 2>(x)) == printed(x));
  Eigen::Matrix<TestType, Eigen::Dynamic, Eigen::Dynamic> m = x.matrix();
  CHECK(printed(heed::view(m)) == printed(x));
  CHECK(printed(heed::view(m.row(1))) == "ℝ^{3}\n[4.0000 5.0000 6.0000]\n");
}

TEST_CASE("the stream's own format is neither used nor changed", "[core][print]") {
  const auto x = numbered<float>(2, 3);
  std::ostringstream out;
  out << std::scientific << std::showpos << std::setprecision(2) << std::setfill('*');
  const auto flags = out.flags();
  out << x;
  CHECK(out.str() == printed(x));
  CHECK(out.flags() == flags);
  CHECK(out.precision() == 2);
  CHECK(out.fill() == '*');
  out.str("");
  out << 1.5;
  CHECK(out.str() == "+1.50e+00");
}
