#pragma once

#include <heed/attention/modifier.hpp>
#include <heed/attention/problem.hpp>
#include <heed/core/generator.hpp>
#include <heed/core/philox.hpp>
#include <heed/core/tensor_like.hpp>

#include <concepts>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace heed {
namespace modifiers {

struct SinkChoice;
struct ProbModChoice;
struct DropoutChoice;

template <class T>
struct Sinks : Modifier {
  using decides = SinkChoice;

  explicit Sinks(const TensorView<const T, 1>& values) : logits(values) {}

  T sink(Index h) const { return logits[h]; }
  template <class F>
  void each_input(const F& f) const {
    f("sinks", logits);
  }
  Sinks bind(const detail::AttentionSizes& sizes) const {
    return Sinks(detail::checked_per_head(sizes, "sinks", logits));
  }

  TensorView<const T, 1> logits;
};

template <class F>
struct ProbMod : Modifier {
  using decides = ProbModChoice;

  explicit ProbMod(F&& user_function) : function(std::forward<F>(user_function)) {}

  struct Bound {
    const std::remove_reference_t<F>* f;

    template <std::floating_point T>
    T weight(T weight, const Pair& at) const {
      static_assert(std::is_invocable_r_v<T, const std::remove_reference_t<F>&, T, Index, Index, Index, Index>,
                    "heed::prob_mod: f must be callable, when const, as T f(T weight, Index b, Index h, Index i, Index "
                    "j), T the scalar type of the tensors");
      return static_cast<T>((*f)(weight, at.b, at.h, at.i, at.j));
    }
  };
  Bound bind(const detail::AttentionSizes&) const { return {&function.get()}; }

  detail::UserFunction<F> function;
};

/// A uniform number in [0, 1) for a pair; from a Generator it is the next one, whatever the pair.
inline double draw(const Philox& source, const Pair& at) { return source.uniform(at.b, at.h, at.i, at.j); }
inline double draw(Generator& source, const Pair&) { return source.uniform<double>(); }

/// Source is Philox, held by value, or Generator&.
template <class Source>
struct Dropout : Modifier {
  using decides = DropoutChoice;
  /// A Generator draws for one head after another, all batches of a head in a row, as separate modules do.
  bool heads_first = false;

  Dropout(double probability, Source random_source) : p(probability), source(random_source) {
    if (!(p >= 0 && p <= 1))
      detail::fail_value({"heed::dropout: the probability must lie in [0, 1], got ", std::to_string(p)});
  }

  /// At p = 0 and p = 1 nothing is drawn, as in PyTorch.
  template <class T>
  T keep(T weight, const Pair& at) const {
    if (p == 0) return weight;
    if (p == 1 || draw(source, at) >= 1 - p) return T(0);
    return weight * (T(1) / static_cast<T>(1 - p));
  }
  Dropout bind(const detail::AttentionSizes&) const { return *this; }

  double p;
  Source source;
};

}  // namespace modifiers

/// One logit more in each row of a head, in the maximum and the denominator of the softmax, that carries no value: the
/// weights are exp(score) / (exp(sink) + Σ exp(score)), a row sums to 1 less the sink's share, and the log-sum-exp
/// counts it ("gpt-oss", OpenAI, 2025; off-by-one softmax is a sink of 0). ℝ^{h}: one for each query head in a
/// contiguous range or a rank-1 TensorLike of the tensors' scalar type, else ShapeError. −inf is no sink.
///
/// ```cpp
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::sinks({0.0f, 0.0f, 1.5f, -1.0f}));
/// ```
template <detail::Sequence Range>
auto sinks(const Range& logits) {
  const auto values = detail::sequence_view(logits);
  using T = typename decltype(values)::value_type;
  static_assert(std::floating_point<T>, "heed::sinks: logits are float or double");
  return modifiers::Sinks<T>(values);
}
template <std::floating_point T>
auto sinks(std::initializer_list<T> logits) {
  return sinks(std::span<const T>(logits.begin(), logits.size()));
}

/// f(weight, b, h, i, j) instead of the normalised weight, before dropout; the weight of a hidden pair stays 0
/// (prob_mod of ONNX's FlexAttention). f is called in any order, number and thread; it must not throw. It has no
/// backward.
///
/// ```cpp
/// auto sharper = [](float weight, auto...) { return weight < 0.01f ? 0.0f : weight; };
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::prob_mod(sharper));
/// ```
template <class F>
auto prob_mod(F&& f) {
  return modifiers::ProbMod<F>(std::forward<F>(f));
}

/// Each weight becomes 0 with probability p and is divided by 1 − p else ("Dropout", Srivastava et al., 2014). p in
/// [0, 1], else std::invalid_argument. The draws are those of the Philox as it is now, by batch, head, query and key;
/// it is copied.
///
/// ```cpp
/// heed::Philox philox{123, 0};  // seed, offset
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::dropout(0.1, philox));
/// ```
inline modifiers::Dropout<Philox> dropout(double p, const Philox& philox) { return {p, philox}; }

/// The same with the draws of torch.nn.functional.dropout on the weights ℝ^{b×h×t×s}: in row-major order, for masked
/// pairs too.
///
/// ```cpp
/// heed::Generator rng(123);
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::dropout(0.1, rng));
/// ```
inline modifiers::Dropout<Generator&> dropout(double p, Generator& generator) { return {p, generator}; }

}  // namespace heed
