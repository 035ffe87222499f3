// Compiled with -ffast-math -fno-finite-math-only, which heed lets through: results must stay right, and what is hidden
// hidden. Prints what is wrong.
#include <heed/heed.hpp>

#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

namespace {

using heed::Index;

double tilt(double score, Index i, Index j) { return score - std::exp(0.05 * static_cast<double>(i - j)); }

/// Attention of query i by plain sums; key 7 is hidden.
std::vector<double> expected_row(const heed::Tensor<float, 2>& q, const heed::Tensor<float, 2>& k,
                                 const heed::Tensor<float, 2>& v, Index i) {
  const Index d = q.shape()[1];
  std::vector<double> row(static_cast<std::size_t>(d));
  double sum = 0;
  for (Index j = 0; j <= i; ++j) {
    if (j == 7) continue;
    double score = 0;
    for (Index c = 0; c < d; ++c) score += static_cast<double>(q(i, c)) * static_cast<double>(k(j, c));
    const double weight = std::exp(tilt(score / std::sqrt(static_cast<double>(d)), i, j));
    sum += weight;
    for (Index c = 0; c < d; ++c) row[static_cast<std::size_t>(c)] += weight * static_cast<double>(v(j, c));
  }
  for (double& x : row) x /= sum;
  return row;
}

/// How far results for n tokens are off at most; infinite if what is hidden shows.
double largest_error(Index n) {
  heed::Generator rng(3);
  heed::Tensor<float, 2> q = heed::rand<float>(rng, n, 16), k = heed::rand<float>(rng, n, 16), v = q;
  heed::Tensor<bool, 2> mask(n, n);
  mask.fill(true);
  for (Index i = 0; i < n && n > 7; ++i) mask(i, 7) = false;
  for (Index c = 0; c < 16 && n > 7; ++c) k(7, c) = v(7, c) = std::numeric_limits<float>::quiet_NaN();
  const auto out = heed::scaled_dot_product_attention(q, k, v, heed::causal(), heed::mask(mask),
                                                      heed::score_mod([](float score, auto, auto, auto i, auto j) {
                                                        return score - heed::exp(0.05f * static_cast<float>(i - j));
                                                      }));
  double largest = 0;
  for (Index i = 0; i < n; ++i) {
    const std::vector<double> expected = expected_row(q, k, v, i);
    for (Index c = 0; c < 16; ++c) {
      const double error = std::abs(static_cast<double>(out(i, c)) - expected[static_cast<std::size_t>(c)]);
      largest = error <= largest ? largest : error < HUGE_VAL ? error : HUGE_VAL;
    }
  }
  return largest;
}

/// How far the kernels are from the reference, with all that changes weights; infinite if what is hidden shows.
double largest_difference(Index n) {
  heed::Generator rng(4);
  heed::Tensor<float, 2> q = heed::rand<float>(rng, n, 16), k = heed::rand<float>(rng, n, 16), v = q;
  for (Index c = 0; c < 16; ++c) k(n / 2, c) = v(n / 2, c) = std::numeric_limits<float>::quiet_NaN();
  const auto seen = [&](Index, Index, Index, Index j) { return j != n / 2; };
  const auto change = [](float weight, auto...) { return weight - 0.25f; };
  double largest = 0;
  for (const double p : {0.0, 0.5, 1.0}) {
    const auto attend = [&](const auto& attention, const auto&... more) {
      return attention(q, k, v, heed::mask_mod(seen), heed::soft_cap(3), heed::dropout(p, heed::Philox{1, 2}), more...);
    };
    const auto fused = [](const auto&... x) { return heed::scaled_dot_product_attention(x...); };
    const auto plain = [](const auto&... x) { return heed::reference::scaled_dot_product_attention(x...); };
    const auto compare = [&](const auto& actual, const auto& expected) {
      for (Index m = 0; m < actual.size(); ++m) {
        const double error = std::abs(static_cast<double>(actual.data()[m]) - static_cast<double>(expected.data()[m]));
        largest = error <= largest ? largest : error < HUGE_VAL ? error : HUGE_VAL;
      }
    };
    compare(attend(fused), attend(plain));
    compare(attend(fused, heed::prob_mod(change)), attend(plain, heed::prob_mod(change)));
  }
  return largest;
}

}  // namespace

int main() {
  int failures = 0;
  for (const Index n : {1, 5, 12, 100, 700}) {
    const double error = largest_error(n);
    const double difference = largest_difference(n);
    if (error < 1e-5 && difference < 1e-4) continue;
    std::printf("failed: %td tokens are off by %g, from the reference by %g\n", n, error, difference);
    ++failures;
  }
  return failures;
}
