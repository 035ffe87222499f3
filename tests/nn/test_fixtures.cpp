// The numbers of PyTorch: tests/fixtures/generate.py made them.
#include "catch.hpp"

#include <heed/heed.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "fixtures/generator.hpp"
#include "fixtures/linear_init.hpp"
#include "fixtures/modules.hpp"
#include "support/modules.hpp"

using namespace module_tests;

namespace {

template <class X>
auto span_of(const X& x) {
  return std::span<const heed::ScalarOf<X>>(x.data(), static_cast<std::size_t>(x.size()));
}

/// Whether bits agree.
template <class T>
bool same_bits(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() && fixtures::fnv1a(a) == fixtures::fnv1a(b);
}

/// A result near PyTorch's of double precision: the largest difference within 8 roundings of the largest value.
template <class X>
bool near_torch(const X& result, std::span<const Index> shape, std::span<const heed::ScalarOf<X>> expected) {
  using T = heed::ScalarOf<X>;
  if (!std::equal(shape.begin(), shape.end(), result.shape().begin(), result.shape().end())) return false;
  double scale = 0;
  double difference = 0;
  for (Index i = 0; i < result.size(); ++i) {
    const double value = static_cast<double>(expected[static_cast<std::size_t>(i)]);
    scale = std::max(scale, std::abs(value));
    difference = std::max(difference, std::abs(static_cast<double>(result.data()[i]) - value));
    if (std::isnan(result.data()[i]) || (value == 0 && result.data()[i] != 0)) return false;
  }
  return difference <= 8 * static_cast<double>(std::numeric_limits<T>::epsilon()) * scale;
}

template <class Module, class T>
bool has_parameters_of(const Module& module, const fixtures::ModuleCase<T>& c) {
  const auto parameters = module.parameters();
  std::uint64_t hash = fixtures::fnv1a_start;
  for (const auto& parameter : parameters) hash = fixtures::fnv1a<T>(parameter.value, hash);
  if (hash != c.parameters_hash) return false;
  if (c.parameters.empty()) return true;  // too many to keep: the hash is all there is
  return std::equal(parameters.begin(), parameters.end(), c.parameters.begin(), c.parameters.end(),
                    [](const auto& ours, const auto& theirs) {
                      return ours.name == theirs.name && std::ranges::equal(ours.shape, theirs.shape) &&
                             same_bits<T>(ours.value, theirs.value);
                    });
}

template <class Module, class T, int R>
void check_calls(const Module& module, const heed::TensorView<const T, R>& x, const fixtures::ModuleCase<T>& c) {
  CHECK(near_torch(module(x), c.output_shape, c.output));
  if (!c.weights.empty()) CHECK(near_torch(module.weights(x), c.weights_shape, c.weights));
  if (!c.dropout_output.empty()) {
    heed::Generator rng(c.dropout_seed);
    CHECK(near_torch(module(x, rng), c.output_shape, c.dropout_output));
  }
  if (!c.dropout_weights.empty()) {
    heed::Generator rng(c.dropout_seed);
    CHECK(near_torch(module.weights(x, rng), c.weights_shape, c.dropout_weights));
  }
}

/// Runs the cases of one module and returns how many there were.
template <template <class> class Module, class T>
int check_module(const std::string& name) {
  int count = 0;
  for (const auto& c : fixtures::module_cases<T>()) {
    if (c.module != name) continue;
    ++count;
    INFO(std::string(c.name));
    heed::Generator rng(c.seed);
    const Module<T> module({.d_in = c.d_in,
                            .d_out = c.d_out,
                            .context_length = c.context_length,
                            .dropout = c.dropout,
                            .num_heads = c.num_heads,
                            .qkv_bias = c.qkv_bias},
                           rng);
    CHECK(has_parameters_of(module, c));
    const T* const input = c.input.data();
    if (c.input_shape.size() == 2) {
      check_calls<Module<T>, T, 2>(module, heed::view(input, {c.input_shape[0], c.input_shape[1]}), c);
    } else {
      check_calls<Module<T>, T, 3>(module, heed::view(input, {c.input_shape[0], c.input_shape[1], c.input_shape[2]}),
                                   c);
    }
  }
  return count;
}

}  // namespace

TEMPLATE_TEST_CASE("the initial weights of a linear layer are PyTorch's, bit for bit", "[nn][fixtures]", float,
                   double) {
  using T = TestType;
  int with_values = 0;
  for (const auto& c : fixtures::linear_cases<T>()) {
    INFO(c.d_in << " -> " << c.d_out << (c.has_bias ? " with bias" : ""));
    heed::Generator rng(c.seed);
    const heed::Linear<T> linear(c.d_in, c.d_out, c.has_bias, rng);
    CHECK(fixtures::fnv1a(span_of(linear.weight())) == c.weight_hash);
    CHECK(fixtures::fnv1a(span_of(linear.bias())) == c.bias_hash);
    if (c.weight.empty()) continue;
    ++with_values;
    CHECK(same_bits<T>(span_of(linear.weight()), c.weight));
    CHECK(same_bits<T>(span_of(linear.bias()), c.bias));
  }
  CHECK(with_values == 12);
}

TEST_CASE("dropout keeps what PyTorch keeps from the same seed", "[nn][fixtures]") {
  for (const auto& c : fixtures::dropout_cases) {
    INFO("seed " << c.seed << ", p " << c.p);
    heed::Tensor<float, 1> ones(c.count);
    ones.fill(1);
    heed::Generator rng(c.seed);
    auto y = heed::Dropout(c.p)(ones, rng);
    for (Index i = 0; i < y.size(); ++i) y(i) = y(i) == 0 ? 0.0F : 1.0F;
    CHECK(fixtures::fnv1a(span_of(y)) == c.hash);
    CHECK(std::equal(c.kept.begin(), c.kept.end(), y.data(),
                     [](bool kept, float value) { return kept == (value != 0); }));
  }
}

TEMPLATE_TEST_CASE("the modules of the book compute what PyTorch computes", "[nn][fixtures]", float, double) {
  using T = TestType;
  int count = 0;
  count += check_module<heed::SelfAttention_v1, T>("SelfAttention_v1");
  count += check_module<heed::SelfAttention_v2, T>("SelfAttention_v2");
  count += check_module<heed::CausalAttention, T>("CausalAttention");
  count += check_module<heed::MultiHeadAttentionWrapper, T>("MultiHeadAttentionWrapper");
  count += check_module<heed::MultiHeadAttention, T>("MultiHeadAttention");
  CHECK(count == static_cast<int>(fixtures::module_cases<T>().size()));
}
