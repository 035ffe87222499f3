#include "catch.hpp"
#include "support/attention.hpp"

#include <heed/attention/merge.hpp>
#include <heed/attention/reference.hpp>
#include <heed/attention/scaled_dot_product_attention.hpp>

#include <Eigen/Core>

#include <cmath>
#include <limits>
#include <random>
#include <string>

using core_tests::shape_error;
using heed::Index;
using heed::Tensor;
using support::bits;
using support::same_bits;

TEMPLATE_TEST_CASE("merge weighs two halves by the sums of their exponentials", "[attention][merge]", float, double) {
  using T = TestType;
  const Tensor<T, 2> out_a{{1, 2}}, out_b{{5, 10}};
  const Tensor<T, 1> lse_a{std::log(T(1))}, lse_b{std::log(T(3))};
  const auto merged = heed::merge(out_a, lse_a, out_b, lse_b);
  const T close = 16 * std::numeric_limits<T>::epsilon();
  CHECK(std::abs(merged.out(0, 0) - 4) < close);
  CHECK(std::abs(merged.out(0, 1) - 8) < close);
  CHECK(std::abs(merged.lse(0) - std::log(T(4))) < close);
  const auto [out, lse] = heed::reference::merge(out_a, lse_a, out_b, lse_b);
  CHECK(same_bits(out, merged.out));
  CHECK(same_bits(lse, merged.lse));
}

TEMPLATE_TEST_CASE("the parts of split keys merge into the whole", "[attention][merge]", float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({2, 4, 2, 3, 9, 5, 3});
  Tensor<T, 3> lse(2, 4, 3), lse_a(2, 4, 3), lse_b(2, 4, 3);
  const auto whole = heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::logsumexp(lse));
  for (Index cut = 0; cut <= 9; ++cut) {
    const auto part = [&](Index from, Index to, Tensor<T, 3>& part_lse) {
      return heed::scaled_dot_product_attention(x.q, heed::slice(x.k, 2, from, to), heed::slice(x.v, 2, from, to),
                                                heed::logsumexp(part_lse));
    };
    const auto a = part(0, cut, lse_a);
    const auto b = part(cut, 9, lse_b);
    const auto merged = heed::merge(a, lse_a, b, lse_b);
    const auto swapped = heed::merge(b, lse_b, a, lse_a);
    for (Index n = 0; n < whole.size(); ++n) {
      CHECK(std::abs(merged.out.data()[n] - whole.data()[n]) < 20 * std::numeric_limits<T>::epsilon());
      CHECK(std::abs(swapped.out.data()[n] - whole.data()[n]) < 20 * std::numeric_limits<T>::epsilon());
    }
    for (Index n = 0; n < lse.size(); ++n)
      CHECK(std::abs(merged.lse.data()[n] - lse.data()[n]) < 20 * std::numeric_limits<T>::epsilon());
    if (cut == 0 || cut == 9) {  // an empty part changes nothing at all
      CHECK(same_bits(merged.out, whole));
      CHECK(same_bits(merged.lse, lse));
    }
  }
}

TEMPLATE_TEST_CASE("a half that saw no key does not count, whatever it holds", "[attention][merge]", float, double) {
  using T = TestType;
  constexpr T inf = std::numeric_limits<T>::infinity();
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  const Tensor<T, 2> some{{3, -4}}, broken{{nan, inf}};
  const Tensor<T, 1> none{-inf}, lse{T(0.5)};
  const auto right = heed::merge(broken, none, some, lse);
  CHECK(same_bits(right.out, some));
  CHECK(same_bits(right.lse, lse));
  const auto left = heed::merge(some, lse, broken, none);
  CHECK(same_bits(left.out, some));
  CHECK(same_bits(left.lse, lse));
  const auto neither = heed::merge(broken, none, broken, none);
  CHECK(bits(neither.out(0, 0)) == 0);
  CHECK(bits(neither.out(0, 1)) == 0);
  CHECK(neither.lse(0) == -inf);

  CHECK(same_bits(heed::merge(some, Tensor<T, 1>{inf}, broken, none).out, some));
  CHECK(heed::merge(some, Tensor<T, 1>{inf}, some, lse).lse(0) == inf);

  // But NaN in a half that counts shows, even where its weight is 0.
  CHECK(std::isnan(heed::merge(broken, Tensor<T, 1>{-10000}, some, lse).out(0, 0)));
  CHECK(std::isnan(heed::merge(some, Tensor<T, 1>{nan}, some, lse).out(0, 0)));
  CHECK(std::isnan(heed::merge(some, Tensor<T, 1>{nan}, some, none).lse(0)));
  CHECK(std::isnan(heed::merge(some, none, some, Tensor<T, 1>{nan}).lse(0)));
  CHECK(std::isnan(heed::merge(some, lse, some, Tensor<T, 1>{nan}).lse(0)));
}

TEMPLATE_TEST_CASE("merge neither overflows nor loses a row at large log-sum-exps", "[attention][merge]", float,
                   double) {
  using T = TestType;
  const Tensor<T, 2> one{{1}}, three{{3}};
  for (const T size : {T(10000), T(-10000)}) {
    const auto even = heed::merge(one, Tensor<T, 1>{size}, three, Tensor<T, 1>{size});
    CHECK(even.out(0, 0) == 2);
    CHECK(even.lse(0) == size + std::log(T(2)));
  }
  CHECK(heed::merge(one, Tensor<T, 1>{-10000}, three, Tensor<T, 1>{10000}).out(0, 0) == 3);
}

TEMPLATE_TEST_CASE("merge takes ranks 2 to 4, views and Eigen objects", "[attention][merge]", float, double) {
  using T = TestType;
  std::mt19937 rng(5);
  const auto a = support::random<T>(rng, 2, 3, 4, 5), b = support::random<T>(rng, 2, 3, 4, 5);
  const auto lse_a = support::random<T>(rng, 2, 3, 4), lse_b = support::random<T>(rng, 2, 3, 4);
  const auto all = heed::merge(a, lse_a, b, lse_b);
  const auto of_heads = heed::merge(a[1], lse_a[1], b[1], lse_b[1]);
  CHECK(same_bits(of_heads.out, all.out[1]));
  CHECK(same_bits(of_heads.lse, all.lse[1]));

  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  const Matrix matrix_a = a[1][2].matrix();
  const Eigen::Matrix<T, Eigen::Dynamic, 1> column_b = Eigen::Map<const Eigen::Matrix<T, 4, 1>>(&lse_b(1, 2, 0));
  const auto of_matrices = heed::merge(matrix_a, lse_a[1][2], b[1][2], column_b);
  CHECK(same_bits(of_matrices.out, all.out[1][2]));
  CHECK(same_bits(of_matrices.lse, all.lse[1][2]));

  const auto strided = heed::merge(heed::transpose(a, 1, 2), heed::transpose(lse_a, 1, 2), heed::transpose(b, 1, 2),
                                   heed::transpose(lse_b, 1, 2));
  CHECK(same_bits(heed::transpose(strided.out, 1, 2), all.out));

  const auto empty = heed::merge(Tensor<T, 3>(2, 0, 5), Tensor<T, 2>(2, 0), Tensor<T, 3>(2, 0, 5), Tensor<T, 2>(2, 0));
  CHECK(empty.out.shape() == heed::Shape<3>(2, 0, 5));
}

TEST_CASE("merge refuses shapes that do not fit", "[attention][merge]") {
  const Tensor<float, 3> a(2, 4, 3);
  const Tensor<float, 2> lse(2, 4);
  const auto refused = [](const auto&... arguments) { return shape_error([&] { heed::merge(arguments...); }); };
  CHECK(refused(a, lse, Tensor<float, 3>(2, 4, 5), lse) ==
        "heed::merge: out_b is ℝ^{2×4×5}, which does not fit out_a ℝ^{2×4×3}");
  CHECK(refused(a, Tensor<float, 2>(4, 2), a, lse) ==
        "heed::merge: lse_a is ℝ^{4×2}, which does not fit out_a ℝ^{2×4×3}");
  CHECK(refused(a, lse, a, Tensor<float, 2>(2, 1)) ==
        "heed::merge: lse_b is ℝ^{2×1}, which does not fit out_b ℝ^{2×4×3}");
}
