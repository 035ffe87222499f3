#pragma once

#include <heed/attention/modifier.hpp>
#include <heed/attention/problem.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

namespace heed::detail {

/// Whether two modifiers decide the same thing, by being the same or by contradicting each other.
template <AttentionModifier A, AttentionModifier B>
inline constexpr bool decide_the_same = A::choice == B::choice&& A::choice != modifiers::Choice::any;

/// Its failure names the two types.
template <class First, class Second>
struct CheckRepeated {
  static_assert(
      !decide_the_same<First, Second>,
      "heed: two options of one call repeat or contradict each other: the two types of CheckRepeated (a causal "
      "module is causal by itself)");
  static constexpr bool passed = true;
};

template <class... M>
inline constexpr bool check_repeated = true;
template <class First, class... Rest>
inline constexpr bool check_repeated<First, Rest...> =
    (CheckRepeated<First, Rest>::passed && ...) && check_repeated<Rest...>;

/// What a modifier becomes for one problem in the scalar type T.
template <class M, class T>
using Bound = decltype(std::declval<const M&>().template bind<T>(std::declval<const AttentionSizes&>()));

/// Whether a bound modifier has at least one of the hooks by which it can take part; a misspelt one is none.
template <class B, class T>
inline constexpr bool takes_part = requires(const B& m) {
  m.scale();
}
|| requires(const B& m) { m.length(Index{}); }
|| requires(const B& m) { m.keys(Index{}); }
|| requires(const B& m, const modifiers::Pair& at) { m.sees(at); }
|| requires(const B& m, const modifiers::Pair& at) { m.score(T{}, at); }
|| requires(const B& m) { m.sink(Index{}); }
|| requires(const B& m, const modifiers::Pair& at) { m.weight(T{}, at); }
|| requires(const B& m, const modifiers::Pair& at) { m.keep(T{}, at); }
|| requires(const B& m) {
  m.each_output([](const char*, const auto&) {});
};

/// The modifiers of one call, bound to its sizes and put together in the order of the contract: scale, score modifiers
/// as given, masks; softmax with sinks; prob_mod, dropout. What no modifier asks for compiles to nothing.
template <class T, class... M>
class Composition {
  static_assert(check_repeated<M...>);
  static_assert((takes_part<Bound<M, T>, T> && ...), "heed: a modifier without a hook of modifier.hpp does nothing");

 public:
  /// Checks every modifier against the problem; throws before anything is written or drawn. Refers to the modifiers.
  explicit Composition(const AttentionSizes& sizes, const M&... modifiers)
      : sizes_(sizes),
        scale_(static_cast<T>(1 / std::sqrt(static_cast<double>(sizes.d)))),
        bound_(modifiers.template bind<T>(sizes)...) {
    each([&](const auto& m) {
      if constexpr (requires { m.scale(); }) scale_ = m.scale();
    });
  }

  const AttentionSizes& sizes() const { return sizes_; }

  /// How many keys batch b has.
  Index length(Index b) const {
    Index length = sizes_.s;
    each([&](const auto& m) {
      if constexpr (requires { m.length(b); }) length = m.length(b);
    });
    return length;
  }

  /// What is added to the index of a query of batch b to give its position among the keys.
  Index offset(Index b) const {
    Index offset = 0;
    each([&](const auto& m) {
      if constexpr (requires { m.offset(Index{}); }) offset = m.offset(length(b));
    });
    return offset;
  }

  /// The keys of batch b that a query at a position may see; within them `sees` decides.
  modifiers::KeyRange keys(Index b, Index position) const {
    modifiers::KeyRange all{0, length(b)};
    each([&](const auto& m) {
      if constexpr (requires { m.keys(position); }) {
        const modifiers::KeyRange keys = m.keys(position);
        all.first = (std::max)(all.first, keys.first);
        all.end = (std::min)(all.end, keys.end);
      }
    });
    return all;
  }

  bool sees(const modifiers::Pair& at) const {
    bool visible = true;
    each([&](const auto& m) {
      if constexpr (requires { m.sees(at); }) visible = visible && m.sees(at);
    });
    return visible;
  }

  /// The score of a pair from q·k, before masks. −inf if it was −inf at any time.
  T score(T product, const modifiers::Pair& at) const {
    constexpr T hidden = -std::numeric_limits<T>::infinity();
    T score = product * scale_;
    bool is_hidden = score == hidden;
    each([&](const auto& m) {
      if constexpr (requires { m.score(score, at); }) {
        score = m.score(score, at);
        is_hidden = is_hidden || score == hidden;
      }
      if constexpr (requires { m.write_score(score, at); }) m.write_score(score, at);
    });
    return is_hidden ? hidden : score;
  }

  /// The logit that the rows of head h have beside their scores; −inf is none.
  T sink(Index h) const {
    T sink = -std::numeric_limits<T>::infinity();
    each([&](const auto& m) {
      if constexpr (requires { m.sink(h); }) sink = m.sink(h);
    });
    return sink;
  }

  /// The weight of a visible pair, before dropout.
  T weight(T weight, const modifiers::Pair& at) const {
    each([&](const auto& m) {
      if constexpr (requires { m.weight(weight, at); }) weight = m.weight(weight, at);
    });
    return weight;
  }

  /// The weight after dropout. To be called for every pair in order.
  T keep(T weight, const modifiers::Pair& at) const {
    each([&](const auto& m) {
      if constexpr (requires { m.keep(weight, at); }) weight = m.keep(weight, at);
    });
    return weight;
  }

  /// Whether that order runs over heads first and batches second.
  bool heads_first() const {
    bool heads_first = false;
    each([&](const auto& m) {
      if constexpr (requires { m.heads_first; }) heads_first = m.heads_first;
    });
    return heads_first;
  }

  /// Fills the outputs with what they hold for hidden pairs. To be called first.
  void prepare_outputs() const {
    each([&](const auto& m) {
      if constexpr (requires { m.prepare(); }) m.prepare();
    });
  }
  void write_final_score(T score, const modifiers::Pair& at) const {
    each([&](const auto& m) {
      if constexpr (requires { m.write_final_score(score, at); }) m.write_final_score(score, at);
    });
  }
  void write_final_weight(T weight, const modifiers::Pair& at) const {
    each([&](const auto& m) {
      if constexpr (requires { m.write_final_weight(weight, at); }) m.write_final_weight(weight, at);
    });
  }
  void write_logsumexp(Index b, Index h, Index i, T value) const {
    each([&](const auto& m) {
      if constexpr (requires { m.write_logsumexp(b, h, i, value); }) m.write_logsumexp(b, h, i, value);
    });
  }

  /// f(name, view) for everything the modifiers read.
  template <class F>
  void each_input(const F& f) const {
    each([&](const auto& m) {
      if constexpr (requires { m.each_input(f); }) m.each_input(f);
    });
  }

  /// f(name, view) for everything the modifiers write.
  template <class F>
  void each_output(const F& f) const {
    each([&](const auto& m) {
      if constexpr (requires { m.each_output(f); }) m.each_output(f);
    });
  }

 private:
  template <class F>
  void each(const F& f) const {
    std::apply([&](const auto&... m) { (f(m), ...); }, bound_);
  }

  AttentionSizes sizes_;
  T scale_;
  std::tuple<Bound<M, T>...> bound_;
};

}  // namespace heed::detail
