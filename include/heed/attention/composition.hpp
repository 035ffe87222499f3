#pragma once

#include <heed/attention/modifier.hpp>
#include <heed/attention/problem.hpp>
#include <heed/core/parallel.hpp>
#include <heed/core/workspace.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

namespace heed::detail::inline HEED_FLAGS {

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

/// Whether a bound modifier has the hook in question.
template <class B, class T>
inline constexpr bool changes_score = requires(const B& m, T x, const modifiers::Pair& at) {
  m.score(x, at);
};
template <class B>
inline constexpr bool runs_loops = requires(const B& m, Task task) {
  m.run(Index{}, task);
};
template <class B>
inline constexpr bool bounds_key = requires(const B& m) {
  m.keys(Index{});
};
template <class B>
inline constexpr bool hides_pair = requires(const B& m, const modifiers::Pair& at) {
  m.sees(at);
};
template <class B>
inline constexpr bool hides_block = requires(const B& m, const modifiers::PairBlock& block) {
  m.hides(block);
};
template <class B, class T>
inline constexpr bool changes_weight = requires(const B& m, T x, const modifiers::Pair& at) {
  m.weight(x, at);
};
template <class B, class T>
inline constexpr bool drops_weight = requires(const B& m, T x, const modifiers::Pair& at) {
  m.keep(x, at);
};
template <class B, class T>
inline constexpr bool writes_pair = requires(const B& m, T x, const modifiers::Pair& at) {
  m.write_score(x, at);
}
|| requires(const B& m, T x, const modifiers::Pair& at) { m.write_final_score(x, at); }
|| requires(const B& m, T x, const modifiers::Pair& at) { m.write_final_weight(x, at); };
template <class B>
inline constexpr bool draws_in_order = requires(const B& m) {
  m.draws_from_sequence();
};
template <class B, class T>
inline constexpr bool writes_logsumexp = requires(const B& m, T x) {
  m.write_logsumexp(Index{}, Index{}, Index{}, x);
};

/// Whether a bound modifier has at least one of the hooks by which it can take part; a misspelt one is none.
template <class B, class T>
inline constexpr bool takes_part = bounds_key<B> || hides_pair<B> || changes_score<B, T> || changes_weight<B, T> ||
                                   drops_weight<B, T> || runs_loops<B> || requires(const B& m) {
  m.scale();
}
|| requires(const B& m) { m.length(Index{}); }
|| requires(const B& m) { m.sink(Index{}); }
|| requires(const B& m) { m.workspace(); }
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

  static constexpr bool bounds_keys = (bounds_key<Bound<M, T>> || ...);
  static constexpr bool changes_scores = (changes_score<Bound<M, T>, T> || ...);
  static constexpr bool hides_pairs = (hides_pair<Bound<M, T>> || ...);
  static constexpr bool edits_scores = changes_scores || hides_pairs;
  static constexpr bool hides_blocks = (hides_block<Bound<M, T>> || ...);
  static constexpr bool changes_weights = (changes_weight<Bound<M, T>, T> || ...);
  static constexpr bool drops_weights = (drops_weight<Bound<M, T>, T> || ...);
  static constexpr bool may_draw_from_sequence = (draws_in_order<Bound<M, T>> || ...);
  static constexpr bool writes_logsumexps = (writes_logsumexp<Bound<M, T>, T> || ...);
  static constexpr bool writes_pairs = (writes_pair<Bound<M, T>, T> || ...);

  const AttentionSizes& sizes() const { return sizes_; }
  T scale() const { return scale_; }

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

  /// Those of `length` keys that a query at a position may see; within them `sees` decides.
  modifiers::KeyRange keys(Index length, Index position) const {
    modifiers::KeyRange all{0, length};
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

  /// Whether some modifier knows that all pairs of a block are hidden. If not, some may be hidden yet.
  bool hides(const modifiers::PairBlock& block) const {
    bool hidden = false;
    each([&](const auto& m) {
      if constexpr (requires { m.hides(block); }) hidden = hidden || m.hides(block);
    });
    return hidden;
  }

  /// The score of a pair from the scaled q·k, before masks. −inf if it was −inf at any time. The kernels write no
  /// output: that is the reference's.
  template <bool writes = true>
  T changed_score(T scaled, const modifiers::Pair& at) const {
    constexpr T hidden = -std::numeric_limits<T>::infinity();
    T score = scaled;
    bool is_hidden = score == hidden;
    each([&](const auto& m) {
      if constexpr (requires { m.score(score, at); }) {
        score = m.score(score, at);
        is_hidden = is_hidden || score == hidden;
      }
      if constexpr (writes && requires { m.write_score(score, at); }) m.write_score(score, at);
    });
    return is_hidden ? hidden : score;
  }
  T score(T product, const modifiers::Pair& at) const { return changed_score(product * scale_, at); }

  /// The same for N pairs in a row, and masks: scores[n] is that of key first.j + n. Loops of a fixed length without
  /// calls, which GCC 12 turns into vector instructions at -O2.
  template <int N>
  [[gnu::always_inline]] void edit_block(T* scores, const modifiers::Pair& first) const {
    constexpr T hidden = -std::numeric_limits<T>::infinity();
    T score[static_cast<std::size_t>(N)],
        latch[static_cast<std::size_t>(N)];  // latch: −inf once hidden, else anything greater
    for (int n = 0; n < N; ++n) latch[n] = score[n] = scores[n];
    each([&](const auto& m) __attribute__((always_inline)) {
      if constexpr (requires { m.score(T{}, first); }) {
        if constexpr (requires { m.template score_block<N>(score, first); }) {
          m.template score_block<N>(score, first);
        } else {
          for (int n = 0; n < N; ++n) score[n] = m.score(score[n], modifiers::key_after(first, n));
        }
        for (int n = 0; n < N; ++n) latch[n] = score[n] == hidden ? hidden : latch[n];
      }
      if constexpr (requires { m.sees(first); }) {
        if constexpr (requires { m.template sees_block<N>(latch, first); }) {
          m.template sees_block<N>(latch, first);
        } else {
          for (int n = 0; n < N; ++n) latch[n] = m.sees(modifiers::key_after(first, n)) ? latch[n] : hidden;
        }
      }
    });
    for (int n = 0; n < N; ++n) scores[n] = latch[n] == hidden ? hidden : score[n];
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

  /// The same for n pairs in a row, in any order; weights of −0 are hidden, and stay.
  [[gnu::always_inline]] void keep_row(T* weights, const modifiers::Pair& first, Index n) const {
    each([&](const auto& m) __attribute__((always_inline)) {
      if constexpr (requires { m.keep_row(weights, first, n); }) {
        m.keep_row(weights, first, n);
      } else if constexpr (requires { m.keep(T{}, first); }) {
        for (Index k = 0; k < n; ++k)
          if (!is_hidden_weight(weights[k])) weights[k] = m.keep(weights[k], modifiers::key_after(first, k));
      }
    });
  }

  /// Whether `keep` draws from a sequence, so that it must be called for every pair in order.
  bool draws_from_sequence() const {
    bool draws = false;
    each([&](const auto& m) {
      if constexpr (requires { m.draws_from_sequence(); }) draws = m.draws_from_sequence();
    });
    return draws;
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

  /// Where the call takes its memory. To be asked on the calling thread.
  Workspace& workspace() const {
    Workspace* given = nullptr;
    each([&](const auto& m) {
      if constexpr (requires { m.workspace(); }) given = &m.workspace();
    });
    return given != nullptr ? *given : thread_workspace();
  }

  /// Runs the parts of a parallel loop, by the call's executor if one is given.
  void run(Index count, Task task) const {
    if constexpr ((runs_loops<Bound<M, T>> || ...)) {
      each([&](const auto& m) {
        if constexpr (requires { m.run(count, task); }) m.run(count, task);
      });
    } else {
      run_tasks(count, task);
    }
  }

 private:
  template <class F>
  [[gnu::always_inline]] void each(const F& f) const {
    each_of(f, std::make_index_sequence<sizeof...(M)>{});
  }
  template <class F, std::size_t... I>  // std::apply would take a third of the compile time of a call
  [[gnu::always_inline]] void each_of(const F& f, std::index_sequence<I...>) const {
    (f(std::get<I>(bound_)), ...);
  }

  AttentionSizes sizes_;
  T scale_;
  std::tuple<Bound<M, T>...> bound_;
};

}  // namespace heed::detail
