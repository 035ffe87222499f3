// PyTorch's scaled_dot_product_attention on random numbers: tests/fixtures/functional.hpp.
#include "catch.hpp"
#include "fixtures/functional.hpp"
#include "support/attention.hpp"

#include <heed/attention/scaled_dot_product_attention.hpp>
#include <heed/core/generator.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>

using heed::Index;
using heed::Shape;
using heed::Tensor;
using heed::TensorView;

namespace {

/// A copy in the rank asked for, with axes of size 1 in front.
template <int R, class T>
Tensor<T, R> tensor(std::span<const T> values, std::span<const Index> sizes) {
  Shape<R> shape;
  std::fill(shape.begin(), shape.end(), 1);
  std::copy(sizes.begin(), sizes.end(), shape.end() - static_cast<std::ptrdiff_t>(sizes.size()));
  Tensor<T, R> x(shape);
  std::copy(values.begin(), values.end(), x.data());
  return x;
}

template <class T>
support::Options<T> options_of(const fixtures::AttentionCase<T>& c, const support::Sizes& n) {
  support::Options<T> options(n);
  if (c.has_scale) options.scale = c.scale;
  if (c.causal) options.causality = support::Causality::upper_left;
  if (c.causal_lower_right) options.causality = support::Causality::lower_right;
  if (!c.mask.empty()) options.masks[0] = tensor<4>(c.mask, c.mask_shape);
  if (!c.bias.empty()) options.biases[0] = tensor<4>(c.bias, c.bias_shape);
  if (!c.key_lengths.empty()) options.lengths.assign(c.key_lengths.begin(), c.key_lengths.end());
  return options;
}

template <class T>
struct Results {
  Tensor<T, 1> out, lse, weights;
};

template <class T, int R>
Tensor<T, 1> flat(const Tensor<T, R>& x) {
  return tensor<1>(std::span<const T>(x.data(), static_cast<std::size_t>(x.size())), {{x.size()}});
}

/// The call in the fixture's own rank, with the options that it has.
template <int R, class T>
Results<T> run(const fixtures::AttentionCase<T>& c, const support::Options<T>& o) {
  const auto q = tensor<R>(c.q, c.q_shape), k = tensor<R>(c.k, c.k_shape), v = tensor<R>(c.v, c.v_shape);
  Tensor<T, R - 1> lse = tensor<R - 1>(std::span<const T>{}, c.q_shape.first(R - 1));
  heed::Generator rng(c.dropout_seed), weights_rng(c.dropout_seed);
  const auto call = [&](const auto&... options) {
    const auto out =
        heed::scaled_dot_product_attention(q, k, v, options..., heed::logsumexp(lse), heed::dropout(c.dropout, rng));
    const auto weights = heed::attention_weights(q, k, options..., heed::dropout(c.dropout, weights_rng));
    return Results<T>{flat(out), flat(lse), flat(weights)};
  };
  const auto call_with = [&](const auto&... causality) {
    return call(causality..., heed::scale(o.scale), heed::mask(o.masks[0]), heed::bias(o.biases[0]),
                heed::key_lengths(o.lengths));
  };
  if (c.causal) return call_with(heed::causal());
  if (c.causal_lower_right) return call_with(heed::causal_lower_right());
  return call_with();
}

}  // namespace

TEMPLATE_TEST_CASE("PyTorch's results are met within the rounding of either side", "[attention][fixtures]", float,
                   double) {
  using T = TestType;
  REQUIRE(fixtures::attention_cases<T>().size() >= 30);
  for (const auto& c : fixtures::attention_cases<T>()) {
    INFO(std::string(c.name));
    const support::Inputs<T> x{tensor<4>(c.q, c.q_shape), tensor<4>(c.k, c.k_shape), tensor<4>(c.v, c.v_shape)};
    const Shape<4>&q = x.q.shape(), &k = x.k.shape();
    const auto options = options_of(c, {q[0], q[1], k[1], q[2], k[2], q[3], x.v.shape()[3]});
    const Results<T> results = c.q_shape.size() == 4   ? run<4>(c, options)
                               : c.q_shape.size() == 3 ? run<3>(c, options)
                                                       : run<2>(c, options);

    // PyTorch rounds as often as heed. The bounds are those without dropout, which makes weights 1/(1 − p) larger.
    const auto loops = support::plain_attention<long double>(x, options);
    CHECK(support::worst(results.out, c.out, loops.out_bound) <= 2 / (1 - c.dropout));
    CHECK(support::worst(results.lse, c.lse, loops.lse_bound) <= 2);
    CHECK(support::worst(results.weights, c.weights, loops.weight_bound) <= 2 / (1 - c.dropout));
    if (c.dropout == 0) {
      Tensor<T, 1> rounded(static_cast<Index>(loops.out.size()));
      std::transform(loops.out.begin(), loops.out.end(), rounded.data(),
                     [](long double y) { return static_cast<T>(y); });
      CHECK(support::worst(rounded, c.out, loops.out_bound) <= 1);  // the loops, too
    }
  }
}
