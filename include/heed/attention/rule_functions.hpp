#pragma once

#include <heed/attention/modifier.hpp>
#include <heed/kernels/head_task.hpp>
#include <heed/kernels/kernels.hpp>

#include <cmath>
#include <limits>

namespace heed::detail::inline HEED_FLAGS {

/// The functions of kernels::HeadRules for the modifiers of one call.
template <class T, class Composition>
struct RuleFunctions {
  using Rules = kernels::HeadRules<T>;

  /// The rules of one head.
  static Rules rules(const void* call_composition, Index b, Index h) {
    constexpr T hidden = -std::numeric_limits<T>::infinity();
    const Composition& composition = *static_cast<const Composition*>(call_composition);
    const T sink = composition.sink(h);
    Rules rules{.composition = &composition,
                .b = b,
                .h = h,
                .length = composition.length(b),
                .offset = composition.offset(b),
                .factor = composition.scale(),
                .first_largest = sink,
                .first_sum = sink == hidden ? T(0) : T(1)};
    if constexpr (Composition::bounds_keys) rules.keys = keys;
    if constexpr (Composition::hides_blocks) rules.hides = hides;
    if constexpr (Composition::edits_scores)
      rules.edit = kernels::with_kernels([](auto set) { return &decltype(set)::template edit<RuleFunctions, T>; });
    if constexpr (Composition::changes_weights) rules.change = change;
    if constexpr (Composition::drops_weights)
      rules.drop = kernels::with_kernels([](auto set) { return &decltype(set)::template drop<RuleFunctions, T>; });
    if constexpr (Composition::writes_logsumexps) rules.write_logsumexp = write_logsumexp;
    return rules;
  }

  /// Inlined into a function of each instruction set.
  [[gnu::always_inline]] static void edit(const Rules& rules, T* scores, Index i, Index j, Index n) {
    constexpr int block = 32;
    Index k = 0;
    for (; k + block <= n; k += block) composition(rules).template edit_block<block>(scores + k, pair(rules, i, j + k));
    if (k < n) edit_few(rules, scores + k, i, j + k, n - k);
  }

  /// Likewise.
  [[gnu::always_inline]] static void drop(const Rules& rules, T* weights, Index i, Index j, Index n) {
    composition(rules).keep_row(weights, pair(rules, i, j), n);
  }

 private:
  [[gnu::always_inline]] static const Composition& composition(const Rules& rules) {
    return *static_cast<const Composition*>(rules.composition);
  }
  [[gnu::always_inline]] static modifiers::Pair pair(const Rules& rules, Index i, Index j) {
    return {rules.b, rules.h, i, j, i + rules.offset};
  }

  /// Fewer than a block. Inlined, so that it too may fuse multiplications and additions.
  [[gnu::always_inline]] static void edit_few(const Rules& rules, T* scores, Index i, Index j, Index n) {
    constexpr T hidden = -std::numeric_limits<T>::infinity();
    for (Index k = 0; k < n; ++k) {
      const modifiers::Pair at = pair(rules, i, j + k);
      T score = scores[k];
      if constexpr (Composition::changes_scores) score = composition(rules).template changed_score<false>(score, at);
      scores[k] = composition(rules).sees(at) ? score : hidden;
    }
  }

  static kernels::KeyRange keys(const Rules& rules, Index i) {
    return composition(rules).keys(rules.length, i + rules.offset);
  }

  static bool hides(const Rules& rules, Index i, Index i_end, Index j, Index j_end) {
    return composition(rules).hides(modifiers::PairBlock{rules.b, rules.h, i, i_end, j, j_end});
  }

  static void change(const Rules& rules, T* weights, Index i, Index j, Index n) {
    for (Index k = 0; k < n; ++k) {
      if (is_hidden_weight(weights[k])) continue;
      const T weight = composition(rules).weight(weights[k], pair(rules, i, j + k));
      weights[k] = is_hidden_weight(weight) ? T(0) : weight;
    }
  }

  static void write_logsumexp(const Rules& rules, Index i, T largest, T sum) {
    constexpr T nothing = -std::numeric_limits<T>::infinity();
    composition(rules).write_logsumexp(rules.b, rules.h, i, sum == 0 ? nothing : largest + std::log(sum));
  }
};

}  // namespace heed::detail
