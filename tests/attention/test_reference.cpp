#include "catch.hpp"
#include "support/attention.hpp"

#include <heed/attention/reference.hpp>
#include <heed/attention/scaled_dot_product_attention.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using heed::Generator;
using heed::Index;
using heed::Tensor;
using heed::TensorView;
using support::bits;
using support::same_bits;
using support::Sizes;

TEMPLATE_TEST_CASE("softmax gives weights that sum to one and the log of the sum", "[attention][reference]", float,
                   double) {
  using T = TestType;
  constexpr T inf = std::numeric_limits<T>::infinity();
  using Row = heed::detail::PlainRow<T>;
  Row row(3);
  row << 1, -inf, 1;
  CHECK(heed::detail::softmax_in_place(row) == T(1) + std::log(T(2)));
  CHECK(row(0) == T(0.5));
  CHECK(bits(row(1)) == 0);
  CHECK(row(2) == T(0.5));

  Row hidden = Row::Constant(5, -inf);
  CHECK(heed::detail::softmax_in_place(hidden) == -inf);
  for (const T weight : hidden) CHECK(bits(weight) == 0);
  Row none(0);
  CHECK(heed::detail::softmax_in_place(none) == -inf);
  Row broken = Row::Constant(2, std::numeric_limits<T>::quiet_NaN());
  CHECK(std::isnan(heed::detail::softmax_in_place(broken)));
  CHECK(std::isnan(broken(0)));
}

TEMPLATE_TEST_CASE("the plain twins take the same arguments and give the same results to rounding",
                   "[attention][reference]", float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({2, 4, 2, 5, 7, 3, 2});
  const auto out = heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::causal(), heed::scale(0.4));
  CHECK(support::almost_same(
      heed::reference::scaled_dot_product_attention(x.q, x.k, x.v, heed::causal(), heed::scale(0.4)), out));
  Tensor<T, 4> into(2, 4, 5, 2);
  heed::reference::scaled_dot_product_attention_into(into, x.q, x.k, x.v, heed::scale(0.4), heed::causal());
  CHECK(support::almost_same(into, out));
  CHECK(same_bits(heed::reference::attention_weights(x.q, x.k, heed::causal()),
                  heed::attention_weights(x.q, x.k, heed::causal())));
}

TEMPLATE_TEST_CASE("a Generator may draw for one head after another", "[attention][reference]", float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({2, 3, 3, 4, 5, 2, 2});
  Generator rng(1), mine(1);
  auto dropout = heed::dropout(0.5, rng);
  dropout.heads_first = true;
  const auto dropped = heed::attention_weights(x.q, x.k, dropout);
  for (Index h = 0; h < 3; ++h)
    for (Index b = 0; b < 2; ++b)
      for (Index i = 0; i < 4; ++i)
        for (Index j = 0; j < 5; ++j) CHECK((dropped(b, h, i, j) != 0) == (mine.uniform<double>() < 0.5));
}

namespace {

/// Largest and root-mean-square error of several tensors, relative to the truth's.
class Error {
 public:
  template <class Values>
  void add(const Values& values, const std::vector<long double>& truth) {
    for (std::size_t n = 0; n < truth.size(); ++n) {
      const long double error = std::abs(static_cast<long double>(values[n]) - truth[n]);
      largest_error_ = std::max(largest_error_, error);
      largest_ = std::max(largest_, std::abs(truth[n]));
      squared_error_ += error * error;
      squared_ += truth[n] * truth[n];
    }
  }
  double max() const { return static_cast<double>(largest_error_ / largest_); }
  double rms() const { return static_cast<double>(std::sqrt(squared_error_ / squared_)); }

 private:
  long double largest_error_ = 0, largest_ = 0, squared_error_ = 0, squared_ = 0;
};

}  // namespace

TEMPLATE_TEST_CASE("errors are at most twice those of the plain computation plus one epsilon", "[attention][reference]",
                   float, double) {
  using T = TestType;
  constexpr double epsilon = std::numeric_limits<T>::epsilon();
  const Sizes shapes[] = {{1, 1, 1, 1, 1, 1, 1},     {2, 4, 2, 3, 7, 3, 17},    {1, 2, 2, 17, 33, 7, 3},
                          {1, 1, 1, 2, 147, 64, 64}, {1, 2, 1, 33, 33, 33, 33}, {1, 1, 1, 1, 1023, 3, 1}};
  for (const Sizes& n : shapes) {
    INFO(to_string(n));
    Error out_error, plain_out_error, lse_error, plain_lse_error;
    std::mt19937 rng(9);
    for (int seed = 0; seed < 20; ++seed) {
      const auto x = support::random_inputs<T>(n, rng);
      auto options = support::Options<T>(n);
      if (seed % 2 == 1) options.causality = support::Causality::lower_right;
      const auto truth = support::plain_attention<long double>(x, options);
      const auto plain = support::plain_attention<T>(x, options);
      Tensor<T, 3> lse(n.b, n.h, n.t);
      const auto out = support::with_modifiers(options, TensorView<T, 3>(lse), [&](const auto&... m) {
        return heed::scaled_dot_product_attention(x.q, x.k, x.v, m...);
      });
      out_error.add(core_tests::elements(out), truth.out);
      plain_out_error.add(plain.out, truth.out);
      lse_error.add(core_tests::elements(lse), truth.lse);
      plain_lse_error.add(plain.lse, truth.lse);
    }
    CHECK(out_error.max() <= 2 * plain_out_error.max() + epsilon);
    CHECK(out_error.rms() <= 2 * plain_out_error.rms() + epsilon);
    CHECK(lse_error.max() <= 2 * plain_lse_error.max() + epsilon);
    CHECK(lse_error.rms() <= 2 * plain_lse_error.rms() + epsilon);
  }
}
