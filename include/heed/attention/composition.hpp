#pragma once

#include <heed/attention/modifier.hpp>
#include <heed/attention/problem.hpp>

#include <cmath>
#include <concepts>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace heed::detail {

/// Whether two modifiers decide the same thing, by being the same or by contradicting each other.
template <class A, class B>
inline constexpr bool decide_the_same = false;
template <class A, class B>
  requires requires {
    typename A::decides;
    typename B::decides;
  }
inline constexpr bool decide_the_same<A, B> = std::same_as<typename A::decides, typename B::decides>;

/// Its failure names the two types.
template <class First, class Second>
struct CheckRepeated {
  static_assert(!decide_the_same<First, Second>,
                "heed: two options of one call repeat or contradict each other: see First and Second");
  static constexpr bool passed = true;
};

template <class... M>
inline constexpr bool check_repeated = true;
template <class First, class... Rest>
inline constexpr bool check_repeated<First, Rest...> =
    (CheckRepeated<First, Rest>::passed && ...) && check_repeated<Rest...>;

/// What a modifier becomes for one problem.
template <class M>
using Bound = decltype(std::declval<const M&>().bind(std::declval<const AttentionSizes&>()));

/// The modifiers of one call, bound to its sizes and put together in the order of the contract: scale, score modifiers
/// as given, masks; softmax with sinks; prob_mod, dropout. What no modifier asks for compiles to nothing.
template <class T, class... M>
class Composition {
  static_assert(check_repeated<M...>);

 public:
  /// Checks every modifier against the problem; throws before anything is written or drawn.
  explicit Composition(const AttentionSizes& sizes, const M&... modifiers)
      : sizes_(sizes),
        scale_(static_cast<T>(1 / std::sqrt(static_cast<double>(sizes.d)))),
        bound_(modifiers.bind(sizes)...) {
    each([&](const auto& m) {
      if constexpr (requires { m.template check<T>(sizes.function); }) m.template check<T>(sizes.function);
      if constexpr (requires { m.scale(); }) scale_ = static_cast<T>(m.scale());
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

  /// The final score of a pair from q·k; −inf exactly where the pair is hidden.
  T score(T product, const modifiers::Pair& at) const {
    constexpr T hidden = -std::numeric_limits<T>::infinity();
    T score = product * scale_;
    bool visible = true;
    each([&](const auto& m) {
      if constexpr (requires { m.score(score, at); }) {
        static_assert(std::same_as<decltype(m.score(score, at)), T>,
                      "heed: bias and alibi slopes must have the scalar type of the tensors");
        score = m.score(score, at);
        visible = visible && score != hidden;
      }
      if constexpr (requires { m.sees(at); }) visible = visible && m.sees(at);
    });
    return visible ? score : hidden;
  }

  /// For a pair whose key lies past the length.
  void absent(const modifiers::Pair& at) const {
    each([&](const auto& m) {
      if constexpr (requires { m.absent(at); }) m.absent(at);
    });
  }

  void write_score(T score, const modifiers::Pair& at) const {
    each([&](const auto& m) {
      if constexpr (requires { m.final_score(score, at); }) m.final_score(score, at);
    });
  }

  /// The logit that the rows of head h have beside their scores; −inf is none.
  T sink(Index h) const {
    T sink = -std::numeric_limits<T>::infinity();
    each([&](const auto& m) {
      if constexpr (requires { m.sink(h); }) {
        static_assert(std::same_as<decltype(m.sink(h)), T>, "heed: sinks must have the scalar type of the tensors");
        sink = m.sink(h);
      }
    });
    return sink;
  }

  /// The weight that a pair's value gets, from the normalised one. Called for every pair in order.
  T weight(T weight, bool visible, const modifiers::Pair& at) const {
    each([&](const auto& m) {
      if constexpr (requires { m.weight(weight, at); }) weight = visible ? m.weight(weight, at) : weight;
    });
    each([&](const auto& m) {
      if constexpr (requires { m.keep(weight, at); }) weight = m.keep(weight, at);
    });
    each([&](const auto& m) {
      if constexpr (requires { m.final_weight(weight, at); }) m.final_weight(weight, at);
    });
    return weight;
  }

  /// Whether the draws of dropout run over heads first and batches second.
  bool heads_first() const {
    bool heads_first = false;
    each([&](const auto& m) {
      if constexpr (requires { m.heads_first; }) heads_first = m.heads_first;
    });
    return heads_first;
  }

  void write_logsumexp(Index b, Index h, Index i, T value) const {
    each([&](const auto& m) {
      if constexpr (requires { m.row(b, h, i, value); }) m.row(b, h, i, value);
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
  std::tuple<Bound<M>...> bound_;
};

}  // namespace heed::detail
