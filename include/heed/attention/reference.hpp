#pragma once

#include <heed/attention/front_door.hpp>
#include <heed/attention/merge.hpp>
#include <heed/core/transform.hpp>

#include <Eigen/Core>

#include <cmath>
#include <limits>
#include <utility>

namespace heed::detail::inline HEED_FLAGS {

// Plain attention, written to be read: the oracle for every kernel. Shapes: q ℝ^{b×h×t×d}, k ℝ^{b×g×s×d}, v
// ℝ^{b×g×s×e}.

/// Scores ℝ^{s} of one row → softmax, with one more logit that gets no weight; −inf is none. Hidden keys (−inf) get
/// exactly 0, even beside a NaN. Returns log(exp(sink) + Σ exp(score)).
template <class Row, class T = typename Row::Scalar>
T softmax_in_place(Row& row, T sink = -std::numeric_limits<T>::infinity()) {
  constexpr T hidden = -std::numeric_limits<T>::infinity();
  T largest = sink;
  for (const T score : row) largest = score > largest ? score : largest;
  T sum = sink == hidden ? T(0) : sink == largest ? T(1) : std::exp(sink - largest);  // +inf too
  for (T& score : row) {
    if (score == hidden) continue;
    score = std::exp(score - largest);
    sum += score;
  }
  for (T& weight : row) weight = weight == hidden ? T(0) : weight / sum;
  return largest + std::log(sum);
}

/// Calls use(b, h, i, weights, visible) for every row of the attention, with the weights after dropout (ℝ^{s}, zero
/// where a key is hidden) and whether each key counts: NaN in a value that does not count must not show.
template <class T, class Composition, class Use>
void for_each_weight_row(const TensorView<const T, 4>& q, const TensorView<const T, 4>& k,
                         const Composition& composition, const Use& use) {
  const AttentionSizes& sizes = composition.sizes();
  constexpr T hidden = -std::numeric_limits<T>::infinity();
  Tensor<T, 1> memory(sizes.s);
  RowMap<T> row(memory.data(), sizes.s);
  Tensor<bool, 1> visible(sizes.s);

  composition.prepare_outputs();
  const auto attend_head = [&](Index b, Index h) {
    const Tensor<T, 2> keys = copy(transpose(k[b][h / (sizes.h / sizes.g)], 0, 1));  // ℝ^{d×s}
    const Index length = composition.length(b);
    const Index offset = composition.offset(b);
    for (Index i = 0; i < sizes.t; ++i) {
      const modifiers::KeyRange range = composition.keys(length, i + offset);
      const auto pair = [&](Index j) { return modifiers::Pair{b, h, i, j, i + offset}; };
      row.setZero();
      for (Index c = 0; c < sizes.d; ++c) row += q(b, h, i, c) * ConstRowMap<T>(keys[c].data(), sizes.s);
      for (Index j = 0; j < sizes.s; ++j) {
        const T score = j < length ? composition.score(row(j), pair(j)) : hidden;
        const bool is_seen = range.first <= j && j < range.end && composition.sees(pair(j));
        row(j) = is_seen ? score : hidden;
        visible(j) = row(j) != hidden;
        if (visible(j)) composition.write_final_score(score, pair(j));
      }
      composition.write_logsumexp(b, h, i, softmax_in_place(row, composition.sink(h)));
      for (Index j = 0; j < sizes.s; ++j) {
        if (visible(j)) row(j) = composition.weight(row(j), pair(j));
        row(j) = composition.keep(row(j), pair(j));
        if (visible(j)) composition.write_final_weight(row(j), pair(j));
      }
      use(b, h, i, row, visible);
    }
  };

  if (composition.heads_first()) {
    for (Index h = 0; h < sizes.h; ++h)
      for (Index b = 0; b < sizes.b; ++b) attend_head(b, h);
  } else {
    for (Index b = 0; b < sizes.b; ++b)
      for (Index h = 0; h < sizes.h; ++h) attend_head(b, h);
  }
}

/// out ℝ^{b×h×t×e}. Everything is checked already.
template <class T, class Composition>
void plain_attention(const TensorView<T, 4>& out, const TensorView<const T, 4>& q, const TensorView<const T, 4>& k,
                     const TensorView<const T, 4>& v, const Composition& composition) {
  const AttentionSizes& sizes = composition.sizes();
  const Index e = v.shape()[3];
  Tensor<T, 2> values;  // ℝ^{s×e} of the current head
  Tensor<T, 1> memory(e);
  RowMap<T> sum(memory.data(), e);
  for_each_weight_row(q, k, composition, [&](Index b, Index h, Index i, const auto& weights, const auto& visible) {
    if (i == 0) values = copy(v[b][h / (sizes.h / sizes.g)]);
    sum.setZero();
    for (Index j = 0; j < sizes.s; ++j)
      if (visible(j)) sum += weights(j) * ConstRowMap<T>(values[j].data(), e);
    out[b][h].matrix().row(i) = sum;
  });
}

/// weights ℝ^{b×h×t×s}. Everything is checked already.
template <class T, class Composition>
void plain_weights(const TensorView<T, 4>& weights, const TensorView<const T, 4>& q, const TensorView<const T, 4>& k,
                   const Composition& composition) {
  for_each_weight_row(q, k, composition, [&](Index b, Index h, Index i, const auto& row, const auto&) {
    weights[b][h].matrix().row(i) = row;
  });
}

/// The two above as the front door takes them.
struct PlainKernel {
  template <class... Arguments>
  void attention(const Arguments&... arguments) const {
    plain_attention(arguments...);
  }
  template <class... Arguments>
  void weights(const Arguments&... arguments) const {
    plain_weights(arguments...);
  }
};

}  // namespace heed::detail

/// The plain twins of the functions of the same name in heed: same arguments, results and errors, no tricks.
namespace heed::reference::inline HEED_FLAGS {

template <TensorLike Q, TensorLike K, TensorLike V, AttentionModifier... M>
auto scaled_dot_product_attention(const Q& q, const K& k, const V& v, const M&... modifiers) {
  return detail::attention_result("heed::reference::scaled_dot_product_attention", detail::PlainKernel{}, q, k, v,
                                  modifiers...);
}

template <TensorLike Out, TensorLike Q, TensorLike K, TensorLike V, AttentionModifier... M>
void scaled_dot_product_attention_into(Out&& out, const Q& q, const K& k, const V& v, const M&... modifiers) {
  detail::checked_attention("heed::reference::scaled_dot_product_attention_into", detail::PlainKernel{},
                            std::forward<Out>(out), q, k, v, modifiers...);
}

using heed::merge;

template <TensorLike Q, TensorLike K, AttentionModifier... M>
auto attention_weights(const Q& q, const K& k, const M&... modifiers) {
  return detail::weights_result("heed::reference::attention_weights", detail::PlainKernel{}, q, k, modifiers...);
}

}  // namespace heed::reference
