#pragma once

#include <heed/attention/problem.hpp>
#include <heed/core/tensor_like.hpp>
#include <heed/kernels/head_task.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <ranges>
#include <type_traits>

/// The types behind the functions that make modifiers. A modifier changes one thing about an attention; it refers to
/// its arguments until the call ends and does not own them (a function given as a temporary it does).
///
/// `bind<s>(sizes)` checks a modifier against a problem in the scalar type s and returns its ready form, which takes
/// part by having some of these members; only bind may throw:
///
/// | member of the bound form                 | takes part by                                                         |
/// | ---------------------------------------- | --------------------------------------------------------------------- |
/// | `s scale() const`                        | replacing 1/√d                                                        |
/// | `Index length(Index b) const`            | ending the keys of a batch early                                      |
/// | `Index offset(Index length) const`       | moving the queries: position = i + offset                             |
/// | `KeyRange keys(Index position) const`    | showing a query some keys in a row, no others                         |
/// | `bool sees(Pair) const`                  | hiding a pair                                                         |
/// | `bool hides(PairBlock) const`            | with `sees`: telling that all pairs of a block are hidden, if cheap   |
/// | `s score(s, Pair) const`                 | changing a score; −inf hides the pair, whatever follows               |
/// | `score_block<N>(s*, Pair) const`         | with `score`: the same for N keys in a row, faster                    |
/// | `sees_block<N>(s*, Pair) const`          | with `sees`: writing −inf where one of N keys is hidden, faster       |
/// | `s sink(Index h) const`                  | adding to each row a logit that carries no value                      |
/// | `s weight(s, Pair) const`                | changing the normalised weight of a visible pair                      |
/// | `s keep(s weight, Pair) const`           | dropping weights, after all `weight`s; called for every pair in order |
/// | `keep_row(s*, Pair, Index n) const`      | with `keep`: the same for n keys in a row, faster; hidden ones are −0 |
/// | `bool heads_first`, with keep            | whether that order runs over heads first, over batches second         |
/// | `void prepare() const`                   | filling an output with what hidden pairs get, before all that follows |
/// | `void write_score(s, Pair) const`        | receiving each score at its place among the `score`s, if it exists    |
/// | `void write_final_score(s, Pair) const`  | receiving the score of a visible pair                                 |
/// | `void write_final_weight(s, Pair) const` | receiving the weight of a visible pair                                |
/// | `void write_logsumexp(b, h, i, s) const` | receiving the log-sum-exp of a row                                    |
/// | `void each_input(f) const`               | naming what it reads: f(name, view), kept apart from outputs          |
/// | `void each_output(f) const`              | naming what it writes                                                 |
/// | `Workspace& workspace() const`           | lending memory instead of the calling thread's workspace              |
/// | `void run(Index count, Task task) const` | being the executor of parallel loops                                  |
///
/// Each modifier type has a `choice`: two that make the same choice exclude each other.
namespace heed::modifiers::inline HEED_FLAGS {

/// What a modifier decides. In one call nothing is decided twice.
enum class Choice {
  any,  // nothing that another one could not decide too: it may repeat
  scale,
  causality,
  window,
  lengths,
  soft_cap,
  alibi,
  sinks,
  prob_mod,
  dropout,
  logsumexp,
  scores,
  final_scores,
  weights,
  workspace,
  executor
};

/// One score: query i and key j of batch b and query head h. The query stands at `position` among the keys.
struct Pair {
  Index b, h, i, j;
  Index position;
};

/// The pair of the same query with the key n after.
inline Pair key_after(const Pair& pair, Index n) { return {pair.b, pair.h, pair.i, pair.j + n, pair.position}; }

/// The scores of queries i … i_end − 1 and keys j … j_end − 1.
struct PairBlock {
  Index b, h, i, i_end, j, j_end;
};

/// Keys first ≤ j < end; none if end ≤ first.
using kernels::KeyRange;

/// Base of every modifier: it marks the type as one.
struct Modifier {};

}  // namespace heed::modifiers

namespace heed::inline HEED_FLAGS {

/// Any modifier of attention.
template <class M>
concept AttentionModifier = std::derived_from<std::remove_cvref_t<M>, modifiers::Modifier>;

}  // namespace heed

namespace heed::detail::inline HEED_FLAGS {

template <class Range>
concept Sequence = VectorLike<Range> ||
    (!TensorLike<Range> && std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range>);

/// How the kernels mark the weight of a hidden pair: −0. By bits: for the compiler with -fno-signed-zeros 0 and −0 are
/// one.
template <class T>
[[gnu::always_inline]] inline bool is_hidden_weight(T weight) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<Bits>(weight) == Bits{1} << (8 * sizeof(T) - 1);
}

/// A contiguous range or a rank-1 TensorLike as a view.
template <Sequence Range>
auto sequence_view(const Range& range) {
  if constexpr (VectorLike<Range>) {
    return const_vector_view(range);
  } else {
    return TensorView<const std::ranges::range_value_t<Range>, 1>(std::ranges::data(range),
                                                                  Shape<1>(std::ranges::size(range)), {1});
  }
}

/// An integer that is a number: char and the like are none.
template <class I>
inline constexpr bool is_number =
    std::integral<I> && !std::same_as<I, bool> && !std::same_as<I, char> && !std::same_as<I, wchar_t> &&
    !std::same_as<I, char8_t> && !std::same_as<I, char16_t> && !std::same_as<I, char32_t>;

/// Whether a user's function, given as an F, may be called as T f(T, b, h, i, j) in any order, number and thread:
/// const.
template <class F, class T>
inline constexpr bool maps_pairs =
    std::is_invocable_r_v<T, const std::remove_reference_t<F>&, T, Index, Index, Index, Index>;

// A user's function may take int for Index or float for double. That is not for heed to warn of, in the middle of
// itself.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#pragma GCC diagnostic ignored "-Wdouble-promotion"
/// f(x…, b, h, i, j) as an R.
template <class R, class F, class... X>
R call_for_pair(const F& f, const modifiers::Pair& at, X... x) {
  return static_cast<R>(f(x..., at.b, at.h, at.i, at.j));
}
template <class F>
bool call_for_block(const F& f, const modifiers::PairBlock& block) {
  return static_cast<bool>(f(block.b, block.h, block.i, block.i_end, block.j, block.j_end));
}
#pragma GCC diagnostic pop

}  // namespace heed::detail
