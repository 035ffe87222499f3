#pragma once

#include <heed/attention/modifier.hpp>
#include <heed/attention/problem.hpp>
#include <heed/core/generator.hpp>
#include <heed/core/philox.hpp>
#include <heed/core/tensor_like.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace heed::modifiers::inline HEED_FLAGS {

template <class U>
struct Sinks : Modifier {
  static constexpr Choice choice = Choice::sinks;

  explicit Sinks(const TensorView<const U, 1>& values) : logits(values) {}

  U sink(Index h) const { return logits[h]; }
  template <class F>
  void each_input(const F& f) const {
    f("sinks", logits);
  }
  template <class T>
  Sinks bind(const detail::AttentionSizes& sizes) const {
    static_assert(std::same_as<T, U>, "heed::sinks: they must have the scalar type of the tensors");
    return Sinks(detail::checked_per_head(sizes, "sinks", logits));
  }

  TensorView<const U, 1> logits;
};

/// F is a reference unless the function was a temporary.
template <class F>
struct ProbMod : Modifier {
  static constexpr Choice choice = Choice::prob_mod;

  explicit ProbMod(F&& user_function) : function(std::forward<F>(user_function)) {}

  template <class T>
  struct Bound {
    const std::remove_reference_t<F>* f;
    T weight(T weight, const Pair& at) const { return detail::call_for_pair<T>(*f, at, weight); }
  };
  template <class T>
  Bound<T> bind(const detail::AttentionSizes&) const {
    static_assert(detail::maps_pairs<F, T>,
                  "heed::prob_mod: f must be callable, when const, as T f(T weight, Index b, Index h, Index i, Index "
                  "j), T the scalar type of the tensors");
    return {std::addressof(function)};
  }

  F function;
};

/// A uniform number in [0, 1) for a pair; from a Generator it is the next one, whatever the pair.
inline double draw(const Philox& source, const Pair& at) { return source.uniform(at.b, at.h, at.i, at.j); }
inline double draw(Generator& source, const Pair&) { return source.uniform<double>(); }

/// Source is Philox, held by value, or Generator&.
template <class Source>
struct Dropout : Modifier {
  static constexpr Choice choice = Choice::dropout;
  /// A Generator draws for one head after another, all batches of a head in a row, as separate modules do.
  bool heads_first = false;

  Dropout(double probability, Source random_source) : p(probability), source(random_source) {
    if (!(p >= 0 && p <= 1))
      detail::fail_value({"heed::dropout: the probability must lie in [0, 1], got ", detail::number(p)});
  }

  template <class T>
  struct Bound {
    double p;
    T growth;  // 1/(1 − p)
    Source source;
    bool heads_first;
    bool draws_from_sequence() const requires(std::is_reference_v<Source>) { return p > 0 && p < 1; }

    /// At p = 0 and p = 1 nothing is drawn, as in PyTorch.
    T keep(T weight, const Pair& at) const {
      if (p == 0) return weight;
      if (p == 1 || draw(source, at) >= 1 - p) return T(0);
      return weight * growth;
    }

    /// The same for n keys in a row, but for hidden weights, −0, which stay.
    [[gnu::always_inline]] void keep_row(T* weights, const Pair& first, Index n) const
        requires(!std::is_reference_v<Source>) {
      if (p == 0) return;
      const PhiloxPlane plane = source.plane(first.b, first.h);
      const auto dropped = [](T weight) __attribute__((always_inline)) {
        return detail::is_hidden_weight(weight) ? weight : T(0);
      };
      if (p == 1) {
        for (Index k = 0; k < n; ++k) weights[k] = dropped(weights[k]);
        return;
      }
      // A draw is below 1 − p where its bits are at most this.
      const auto last = static_cast<std::uint32_t>(std::ceil((1 - p) * 0x1p32) - 1);
      const auto kept = [&](T weight, std::uint32_t bits) __attribute__((always_inline)) {
        return bits <= last ? weight * growth : dropped(weight);
      };
      constexpr int drawn = 32;
      std::uint32_t bits[drawn];
      for (Index k = 0; k < n;) {
        const Index j = first.j + k, before = j % 4;
        plane.template draw<drawn / 4>(first.i, j / 4, bits);
        if (before == 0 && n - k >= drawn) {
          for (int m = 0; m < drawn; ++m) weights[k + m] = kept(weights[k + m], bits[m]);
          k += drawn;
        } else {
          for (Index m = before; m < drawn && k < n; ++m, ++k) weights[k] = kept(weights[k], bits[m]);
        }
      }
    }
  };
  template <class T>
  Bound<T> bind(const detail::AttentionSizes&) const {
    return bind<T>();
  }
  /// Without a problem, for the layer of this name.
  template <class T>
  Bound<T> bind() const {
    return {p, p < 1 ? T(1) / static_cast<T>(1 - p) : T(0), source, heads_first};
  }

  double p;
  Source source;
};

}  // namespace heed::modifiers

// In the examples q is ℝ^{2×4×5×8} (b, h, t, d), k ℝ^{2×2×7×8} (b, g, s, d) and v ℝ^{2×2×7×3} (b, g, s, e).
namespace heed::inline HEED_FLAGS {

/// One logit more in each row of a head, in the maximum and the denominator of the softmax, that carries no value: the
/// weights are exp(score) / (exp(sink) + Σ exp(score)), a row sums to 1 less the sink's share, and the log-sum-exp
/// counts it ("gpt-oss", OpenAI, 2025; off-by-one softmax is a sink of 0). ℝ^{h}: one for each query head in a
/// contiguous range or a rank-1 TensorLike of the tensors' scalar type, else ShapeError. −inf is no sink. A list or a
/// temporary must be written in the call itself.
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
/// (prob_mod of ONNX's FlexAttention). f is called in any order, number and thread; what it throws comes out of the
/// call. It needs the normalised weights, hence a second pass over the scores, and has no backward.
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
