// How long do the five modules take, forward, without dropout?
//
//     cmake --workflow --preset bench && build/bench/bench/heed_bench
//
// --benchmark_filter=book takes one size only, --benchmark_repetitions=5 gives a median.
//
// Two sizes: the book's bonus material (b 8, t 1024, d_in 768, 12 heads; every module puts out 768 numbers a token) and
// the worked example (b 2, t 6, d_in 3, d_out 2, 2 heads). Before a module is timed, sampled rows of its result are
// compared with plain double loops written here; a wrong result ends in exit status 1.
//
// items_per_second are tokens. FLOP counts two operations a multiply-add of the projections and of the two products of
// attention, the latter over visible pairs only: a causal module that computes the hidden half too gains nothing by it.

#include "machine.hpp"

#include <heed/heed.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using heed::Index;
using Batch = heed::Tensor<float, 3>;
using V1 = heed::SelfAttention_v1<>;
using V2 = heed::SelfAttention_v2<>;
using Causal = heed::CausalAttention<>;
using Wrapper = heed::MultiHeadAttentionWrapper<>;
using MultiHead = heed::MultiHeadAttention<>;

template <class Module>
constexpr bool is_causal = !std::same_as<Module, V1> && !std::same_as<Module, V2>;
template <class Module>
constexpr bool has_heads = std::same_as<Module, Wrapper> || std::same_as<Module, MultiHead>;

struct Size {
  const char* name;
  Index batch;
  Index tokens;
  Index d_in;
  Index d_out;  // of the whole output
  Index num_heads;
};

constexpr Size book_bonus{"book", 8, 1024, 768, 768, 12};
constexpr Size worked_example{"worked_example", 2, 6, 3, 2, 2};

bool all_right = true;

// ---- the plain double loops

// One head's part of a projection: y_o = Σ_i weight(o, i)·x_i for `size` outputs o. No module here has a bias on q, k
// or v.
struct Projection {
  std::span<const float> values;
  Index out_stride;
  Index in_stride;
  Index size;

  double operator()(Index o, Index i) const {
    return static_cast<double>(values[static_cast<std::size_t>(o * out_stride + i * in_stride)]);
  }
};

std::span<const float> parameter(const auto& parameters, const std::string& name) {
  for (const auto& p : parameters)
    if (p.name == name) return p.value;
  return {};
}

// The projection `letter` ("query") of head h, wherever the module keeps it.
template <class Module>
Projection projection(const Module& attention, const std::string& letter, Index h, const Size& size) {
  const Index head_size = has_heads<Module> ? size.d_out / size.num_heads : size.d_out;
  const auto parameters = attention.parameters();
  if constexpr (std::same_as<Module, V1>) {
    return {parameter(parameters, "W_" + letter), 1, size.d_out, head_size};  // ℝ^{in×out}
  } else if constexpr (std::same_as<Module, Wrapper>) {
    return {parameter(parameters, "heads." + std::to_string(h) + ".W_" + letter + ".weight"), size.d_in, 1, head_size};
  } else {
    const auto weight = parameter(parameters, "W_" + letter + ".weight");
    const auto first = static_cast<std::size_t>(h * head_size * size.d_in);
    return {weight.subspan(first), size.d_in, 1, head_size};
  }
}

// One head's context for token i of one sentence x ℝ^{t×d_in}. Keys and values are never formed: a score is (W_kᵀ
// q)·x_j, and the context W_v (Σ_j p_j x_j), which makes a row cheap.
std::vector<double> head_context(const Projection& query, const Projection& key, const Projection& value,
                                 heed::TensorView<const float, 2> x, Index i, bool causal) {
  const Index d_in = x.shape()[1];
  const Index visible = causal ? i + 1 : x.shape()[0];
  const auto zeros = [](Index n) { return std::vector<double>(static_cast<std::size_t>(n)); };
  const auto at = [](auto& v, Index n) -> auto& { return v[static_cast<std::size_t>(n)]; };

  auto direction = zeros(d_in);  // W_kᵀ q / √d
  for (Index o = 0; o < query.size; ++o) {
    double q = 0;
    for (Index c = 0; c < d_in; ++c) q += query(o, c) * static_cast<double>(x(i, c));
    for (Index c = 0; c < d_in; ++c) at(direction, c) += q * key(o, c) / std::sqrt(static_cast<double>(query.size));
  }
  auto weights = zeros(visible);
  for (Index j = 0; j < visible; ++j)
    for (Index c = 0; c < d_in; ++c) at(weights, j) += at(direction, c) * static_cast<double>(x(j, c));
  const double largest = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (double& w : weights) sum += w = std::exp(w - largest);

  auto mean = zeros(d_in);  // of the tokens, by weight
  for (Index j = 0; j < visible; ++j)
    for (Index c = 0; c < d_in; ++c) at(mean, c) += at(weights, j) / sum * static_cast<double>(x(j, c));
  auto context = zeros(value.size);
  for (Index o = 0; o < value.size; ++o)
    for (Index c = 0; c < d_in; ++c) at(context, o) += value(o, c) * at(mean, c);
  return context;
}

template <class Module>
std::vector<double> expected_row(const Module& attention, heed::TensorView<const float, 2> x, Index i,
                                 const Size& size) {
  std::vector<double> row;
  for (Index h = 0; h < (has_heads<Module> ? size.num_heads : 1); ++h) {
    const auto context = head_context(projection(attention, "query", h, size), projection(attention, "key", h, size),
                                      projection(attention, "value", h, size), x, i, is_causal<Module>);
    row.insert(row.end(), context.begin(), context.end());
  }
  if constexpr (!std::same_as<Module, MultiHead>) return row;
  const auto parameters = attention.parameters();
  const auto weight = parameter(parameters, "out_proj.weight");
  const auto bias = parameter(parameters, "out_proj.bias");
  std::vector<double> projected(bias.begin(), bias.end());
  for (std::size_t o = 0; o < projected.size(); ++o)
    for (std::size_t c = 0; c < row.size(); ++c)
      projected[o] += static_cast<double>(weight[o * row.size() + c]) * row[c];
  return projected;
}

// The first, a middle and the last row of the first and the last sentence, to 1e-5 of the largest number in the row.
template <class Module>
bool is_right(const Module& attention, const Batch& x, const Batch& out, const Size& size) {
  for (const Index b : {Index{0}, size.batch - 1}) {
    for (const Index i : {Index{0}, size.tokens / 2, size.tokens - 1}) {
      const auto expected = expected_row(attention, x[b], i, size);
      double largest = 0;
      for (const double y : expected) largest = std::max(largest, std::abs(y));
      for (Index o = 0; o < size.d_out; ++o) {
        const double error = std::abs(static_cast<double>(out(b, i, o)) - expected[static_cast<std::size_t>(o)]);
        if (!(error <= 1e-5 * largest)) return false;
      }
    }
  }
  return true;
}

// ---- timing

template <class Module>
double operations(const Size& size) {
  const auto tokens = static_cast<double>(size.batch * size.tokens);
  const auto d_in = static_cast<double>(size.d_in);
  const auto d_out = static_cast<double>(size.d_out);
  const auto t = static_cast<double>(size.tokens);
  const double visible = is_causal<Module> ? (t + 1) / 2 : t;  // keys a query sees, on average
  const double projections =
      3 * 2 * tokens * d_in * d_out + (std::same_as<Module, MultiHead> ? 2 * tokens * d_out * d_out : 0);
  return projections + 2 * 2 * tokens * visible * d_out;
}

template <class Module>
void forward(benchmark::State& state, const Size& size) {
  const Index d_out = std::same_as<Module, Wrapper> ? size.d_out / size.num_heads : size.d_out;
  heed::Generator rng(123);
  const Module attention({.d_in = size.d_in,
                          .d_out = d_out,
                          .context_length = size.tokens,
                          .dropout = 0.0,
                          .num_heads = size.num_heads,
                          .qkv_bias = false},
                         rng);
  const Batch x = heed::rand<float>(rng, size.batch, size.tokens, size.d_in);
  Batch out(size.batch, size.tokens, size.d_out);
  attention.into(out, x);
  if (!is_right(attention, x, out, size)) {
    all_right = false;
    state.SkipWithError("the result is wrong");
    return;
  }
  for (auto _ : state) {
    attention.into(out, x);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * size.batch * size.tokens);
  state.counters["FLOP"] = benchmark::Counter(operations<Module>(size), benchmark::Counter::kIsIterationInvariantRate);
}

template <class Module>
void add(const std::string& module) {
  for (const Size& size : {worked_example, book_bonus}) {
    const auto run = [size](benchmark::State& state) { forward<Module>(state, size); };
    auto* const timed = benchmark::RegisterBenchmark((module + '/' + size.name).c_str(), run)->UseRealTime();
    timed->Unit(size.tokens > 100 ? benchmark::kMillisecond : benchmark::kMicrosecond);
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::describe_machine();
  add<V1>("SelfAttention_v1");
  add<V2>("SelfAttention_v2");
  add<Causal>("CausalAttention");
  add<Wrapper>("MultiHeadAttentionWrapper");
  add<MultiHead>("MultiHeadAttention");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return all_right ? 0 : 1;
}
