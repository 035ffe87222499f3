#pragma once

#include <heed/attention/problem.hpp>
#include <heed/core/tensor_like.hpp>

#include <concepts>
#include <ranges>
#include <type_traits>
#include <utility>

namespace heed {

/// The types behind the functions that make modifiers. A modifier changes one thing about an attention; it refers to
/// its arguments until the call ends and does not own them (a function given as a temporary it does).
///
/// `bind(sizes)` checks a modifier against a problem and returns its ready form, which takes part by having some of
/// these members (s is the scalar type; only bind and check may throw):
///
/// | member of the bound form           | takes part by                                                        |
/// | ---------------------------------- | -------------------------------------------------------------------- |
/// | `check<s>(function) const`         | refusing numbers that s cannot hold                                  |
/// | `double scale() const`             | replacing 1/√d                                                       |
/// | `Index length(Index b) const`      | ending the keys of a batch early                                     |
/// | `Index offset(Index length) const` | moving the queries: position = i + offset                            |
/// | `s score(s, Pair) const`           | changing a score; −inf hides the pair, whatever follows              |
/// | `bool sees(Pair) const`            | hiding a pair                                                        |
/// | `s sink(Index h) const`            | adding to each row a logit that carries no value                     |
/// | `s weight(s, Pair) const`          | changing the normalised weight of a visible pair                     |
/// | `s keep(s weight, Pair) const`     | dropping a weight; called for every pair in order, after all weights |
/// | `void absent(Pair) const`          | hearing of a pair whose key lies past the length                     |
/// | `void final_score(s, Pair) const`  | receiving the score after all masks, −inf where hidden               |
/// | `void final_weight(s, Pair) const` | receiving the weight after dropout                                   |
/// | `void row(b, h, i, s lse) const`   | receiving the log-sum-exp of a row                                   |
/// | `void each_input(f) const`         | naming what it reads: f(name, view), kept apart from outputs         |
/// | `void each_output(f) const`        | naming what it writes                                                |
///
/// A modifier type with a member type `decides` may stand once in a call, and excludes others that decide the same.
namespace modifiers {

/// One score: query i and key j of batch b and query head h. The query stands at `position` among the keys.
struct Pair {
  Index b, h, i, j;
  Index position;
};

/// Base of every modifier: it marks the type as one.
struct Modifier {};

}  // namespace modifiers

/// Any modifier of attention.
template <class M>
concept AttentionModifier = std::derived_from<std::remove_cvref_t<M>, modifiers::Modifier>;

namespace detail {

template <class Range>
concept Sequence = VectorLike<Range> ||(!TensorLike<Range> && std::ranges::contiguous_range<Range>);

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

/// The user's function of a modifier: a temporary is kept, anything else referred to.
template <class F>
class UserFunction {
 public:
  explicit UserFunction(F&& f) : f_(std::forward<F>(f)) {}

  /// const: a user's function is called in any order, number and thread.
  const std::remove_reference_t<F>& get() const { return f_; }

 private:
  F f_;
};

}  // namespace detail
}  // namespace heed
