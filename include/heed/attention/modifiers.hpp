#pragma once

#include <heed/attention/problem.hpp>
#include <heed/core/generator.hpp>
#include <heed/core/philox.hpp>
#include <heed/core/tensor_like.hpp>

#include <cmath>
#include <concepts>
#include <initializer_list>
#include <limits>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace heed {

/// The types behind the functions below. A modifier changes one thing about an attention; it refers to its arguments
/// until the call ends and does not own them.
///
/// `bind(sizes)` checks a modifier against a problem and returns its ready form, which takes part by having some of
/// these members (s is the scalar type, each may throw only from bind):
///
/// | member of the bound form           | takes part by                                                        |
/// | ---------------------------------- | -------------------------------------------------------------------- |
/// | `double scale() const`             | replacing 1/√d                                                       |
/// | `Index length(Index b) const`      | ending the keys of a batch early                                     |
/// | `Index offset(Index length) const` | moving the queries: position = i + offset                            |
/// | `s score(s, Pair) const`           | changing a score; −inf hides the pair, whatever follows              |
/// | `bool sees(Pair) const`            | hiding a pair                                                        |
/// | `s keep(s weight, Pair) const`     | changing a normalised weight; called for every pair in order         |
/// | `void row(b, h, i, s lse) const`   | receiving the log-sum-exp of a row                                   |
/// | `void each_input(f) const`         | naming what it reads: f(name, view), kept apart from outputs         |
/// | `void each_output(f) const`        | naming what it writes                                                |
///
/// A modifier type with a member type `decides` may stand once in a call, and excludes others that decide the same.
namespace modifiers {

struct ScaleChoice;
struct Causality;
struct Lengths;
struct DropoutChoice;
struct LogSumExpTarget;

/// One score: query i and key j of batch b and query head h. The query stands at `position` among the keys.
struct Pair {
  Index b, h, i, j;
  Index position;
};

/// Base of every modifier: it marks the type as one.
struct Modifier {};

struct Scale : Modifier {
  using decides = ScaleChoice;

  explicit Scale(double scale_factor) : factor(scale_factor) {
    if (!std::isfinite(factor))
      detail::fail_value({"heed::scale: the scale must be finite, got ", std::to_string(factor)});
  }
  double scale() const { return factor; }
  Scale bind(const detail::AttentionSizes&) const { return *this; }

  double factor;
};

struct Causal : Modifier {
  using decides = Causality;

  bool sees(const Pair& at) const { return at.j <= at.position; }
  Causal bind(const detail::AttentionSizes&) const { return *this; }
};

struct CausalLowerRight : Modifier {
  using decides = Causality;

  struct Bound {
    Index t;
    Index offset(Index length) const { return length - t; }
    bool sees(const Pair& at) const { return at.j <= at.position; }
  };
  Bound bind(const detail::AttentionSizes& sizes) const { return {sizes.t}; }
};

template <class I>
struct KeyLengths : Modifier {
  using decides = Lengths;

  explicit KeyLengths(const TensorView<const I, 1>& values) : lengths(values) {}

  Index length(Index b) const { return static_cast<Index>(lengths[b]); }
  template <class F>
  void each_input(const F& f) const {
    f("key_lengths", lengths);
  }
  KeyLengths bind(const detail::AttentionSizes& sizes) const {
    const auto refuse = [&](const std::string& why) {
      detail::fail_shape({sizes.function, ": key_lengths is ", to_string(lengths.shape()), why});
    };
    if (lengths.size() != sizes.b)
      refuse(detail::joined({", but there must be one for each of ", std::to_string(sizes.b), " in the batch"}));
    for (Index b = 0; b < sizes.b; ++b) {
      if (std::cmp_less(lengths[b], 0) || std::cmp_greater(lengths[b], sizes.s))
        refuse(detail::joined({" with the length ", std::to_string(lengths[b]), ", which is not in [0, ",
                               std::to_string(sizes.s), "], the number of keys"}));
    }
    return *this;
  }

  TensorView<const I, 1> lengths;
};

template <int R>
struct Mask : Modifier {
  explicit Mask(const TensorView<const bool, R>& view) : values(view) {}

  struct Bound {
    TensorView<const bool, 4> values;
    TensorView<const bool, R> given;
    bool sees(const Pair& at) const { return values(at.b, at.h, at.i, at.j); }
    template <class F>
    void each_input(const F& f) const {
      f("mask", given);
    }
  };
  Bound bind(const detail::AttentionSizes& sizes) const {
    return {detail::broadcast_to_scores(sizes, "mask", values), values};
  }

  TensorView<const bool, R> values;
};

template <class T, int R>
struct Bias : Modifier {
  explicit Bias(const TensorView<const T, R>& view) : values(view) {}

  struct Bound {
    TensorView<const T, 4> values;
    TensorView<const T, R> given;
    T score(T score, const Pair& at) const {
      const T bias = values(at.b, at.h, at.i, at.j);
      constexpr T hidden = -std::numeric_limits<T>::infinity();
      return bias == hidden ? hidden : score + bias;  // selected: a NaN score plus -inf would be NaN
    }
    template <class F>
    void each_input(const F& f) const {
      f("bias", given);
    }
  };
  Bound bind(const detail::AttentionSizes& sizes) const {
    return {detail::broadcast_to_scores(sizes, "bias", values), values};
  }

  TensorView<const T, R> values;
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

template <class T, int R>
struct LogSumExp : Modifier {
  using decides = LogSumExpTarget;

  explicit LogSumExp(const TensorView<T, R>& view) : target(view) {}

  struct Bound {
    TensorView<T, 3> rows;
    TensorView<T, R> given;
    void row(Index b, Index h, Index i, T value) const { rows(b, h, i) = value; }
    template <class F>
    void each_output(const F& f) const {
      f("logsumexp", given);
    }
  };
  Bound bind(const detail::AttentionSizes& sizes) const {
    const TensorView<T, 3> lifted = detail::lift<3>(target);
    const Shape<3> expected(sizes.b, sizes.h, sizes.t);
    if (lifted.shape() != expected)
      detail::fail_shape({sizes.function, ": logsumexp is ", to_string(target.shape()), ", but the rows are ",
                          detail::callers_shape(sizes, expected)});
    return {lifted, target};
  }

  TensorView<T, R> target;
};

}  // namespace modifiers

/// Any of the modifiers below.
template <class M>
concept AttentionModifier = std::derived_from<std::remove_cvref_t<M>, modifiers::Modifier>;

namespace detail {

/// A contiguous range or a rank-1 TensorLike as a view.
template <class Range>
auto sequence_view(const Range& range) {
  if constexpr (VectorLike<Range>) {
    return const_vector_view(range);
  } else {
    return TensorView<const std::ranges::range_value_t<Range>, 1>(std::ranges::data(range),
                                                                  Shape<1>(std::ranges::size(range)), {1});
  }
}

template <class Range>
concept Sequence = VectorLike<Range> ||(!TensorLike<Range> && std::ranges::contiguous_range<Range>);

}  // namespace detail

/// Scores are multiplied by this instead of 1/√d. Finite, else std::invalid_argument.
inline modifiers::Scale scale(double factor) { return modifiers::Scale(factor); }

/// Query i sees keys j ≤ i (PyTorch's is_causal).
inline modifiers::Causal causal() { return {}; }

/// Query i sees keys j ≤ i + length − t: the last query sees all (torch.nn.attention.bias.causal_lower_right).
inline modifiers::CausalLowerRight causal_lower_right() { return {}; }

/// lengths[b] keys of batch b exist, those after them do not. A contiguous range of integers or a rank-1 TensorLike,
/// one for each in the batch (one for ranks 2 and 3), each in [0, s], else ShapeError.
template <detail::Sequence Range>
auto key_lengths(const Range& lengths) {
  const auto values = detail::sequence_view(lengths);
  using I = typename decltype(values)::value_type;
  static_assert(SizeLike<I>, "heed::key_lengths: lengths are integers");
  return modifiers::KeyLengths<I>(values);
}
inline modifiers::KeyLengths<Index> key_lengths(std::initializer_list<Index> lengths) {
  return key_lengths(std::span<const Index>(lengths.begin(), lengths.size()));
}

/// Pairs take part where this is true. ℝ^{t×s}, ℝ^{h×t×s} or ℝ^{b×h×t×s}; axes of size 1 repeat. May be given several
/// times: all must be true.
template <TensorLike X>
auto mask(const X& values) {
  static_assert(std::same_as<ScalarOf<X>, bool>, "heed::mask: a mask holds bool; numbers to add are a heed::bias");
  static_assert(rank_of<X> >= 2 && rank_of<X> <= 4, "heed::mask: a mask has rank 2, 3 or 4");
  return modifiers::Mask<rank_of<X>>(detail::const_view(values));
}

/// Added to the scaled scores. ℝ^{t×s}, ℝ^{h×t×s} or ℝ^{b×h×t×s}; axes of size 1 repeat. −inf hides the pair, whatever
/// follows. May be given several times.
template <TensorLike X>
auto bias(const X& values) {
  static_assert(std::floating_point<ScalarOf<X>>, "heed::bias: a bias holds numbers; truth values are a heed::mask");
  static_assert(rank_of<X> >= 2 && rank_of<X> <= 4, "heed::bias: a bias has rank 2, 3 or 4");
  return modifiers::Bias<ScalarOf<X>, rank_of<X>>(detail::const_view(values));
}

/// Each weight becomes 0 with probability p and is divided by 1 − p else. p in [0, 1], else std::invalid_argument. The
/// draws are those of the Philox as it is now; it is copied.
inline modifiers::Dropout<Philox> dropout(double p, const Philox& philox) { return {p, philox}; }

/// The same with the draws of torch.nn.functional.dropout on the weights ℝ^{b×h×t×s}: in row-major order, for masked
/// pairs too.
inline modifiers::Dropout<Generator&> dropout(double p, Generator& generator) { return {p, generator}; }

/// Also writes log Σ exp(score) of each row's final scores, before dropout: ℝ^{b×h×t} with the queries' rank less one
/// (an Eigen vector is ℝ^{t}); −inf for a row that sees no key.
template <TensorLike X>
auto logsumexp(X&& target) {
  const auto v = detail::output_view(std::forward<X>(target));
  if constexpr (EigenVector<X>) {
    return modifiers::LogSumExp<ScalarOf<X>, 1>(detail::eigen_vector_view(target));
  } else {
    return modifiers::LogSumExp<ScalarOf<X>, rank_of<X>>(v);
  }
}

}  // namespace heed
