#pragma once

#include <heed/attention/front_door.hpp>
#include <heed/attention/fused.hpp>
#include <heed/attention/modifiers.hpp>
#include <heed/attention/reference.hpp>
#include <heed/core/tensor_like.hpp>

#include <utility>

namespace heed::inline HEED_FLAGS {

/// softmax(q·kᵀ·scale + …)·v: attention as in "Attention Is All You Need" (Vaswani et al., 2017) and
/// torch.nn.functional.scaled_dot_product_attention.
///
///     q ℝ^{b×h×t×d}, k ℝ^{b×g×s×d}, v ℝ^{b×g×s×e}  →  ℝ^{b×h×t×e}
///
/// Ranks 2 (ℝ^{t×d}), 3 (ℝ^{h×t×d}) and 4, the same for all; any strides. h is a multiple of g: query head i reads key
/// head i / (h/g). Scores are scaled by 1/√d, then changed by each score modifier in the order given, then hidden by
/// every mask; softmax with sinks; prob_mod; dropout. A query that sees no key gives zeros. What is hidden never shows,
/// even NaN; NaN in what is seen shows. Queries are multiplied by the scale first (by heed::reference the products are,
/// last) and weighted values summed before they are divided: numbers near the largest of the type may overflow on the
/// way. Throws ShapeError if sizes do not fit.
template <TensorLike Q, TensorLike K, TensorLike V, AttentionModifier... M>
Tensor<ScalarOf<Q>, rank_of<Q>> scaled_dot_product_attention(const Q& q, const K& k, const V& v,
                                                             const M&... modifiers) {
  return detail::attention_result("heed::scaled_dot_product_attention", detail::FusedKernel{}, q, k, v, modifiers...);
}

/// The same into a tensor, view or Eigen object of the result's shape. `out` must share no element with an input, else
/// std::invalid_argument. Nothing is written if an argument is refused. What a user's function throws comes out, and
/// `out` then holds anything. Allocates nothing once a call has seen the sizes: memory is kept for the calling thread
/// (heed::release_workspace) or in a heed::workspace that is given. Only scores, final_scores, weights and dropout
/// by a Generator allocate each time.
template <TensorLike Out, TensorLike Q, TensorLike K, TensorLike V, AttentionModifier... M>
void scaled_dot_product_attention_into(Out&& out, const Q& q, const K& k, const V& v, const M&... modifiers) {
  detail::checked_attention("heed::scaled_dot_product_attention_into", detail::FusedKernel{}, std::forward<Out>(out), q,
                            k, v, modifiers...);
}

/// The weights that scaled_dot_product_attention would give the values, for looking at: ℝ^{b×h×t×s} (rank 3: ℝ^{h×t×s},
/// rank 2: ℝ^{t×s}), after sinks, prob_mod and dropout. Without these each row sums to 1, or is zero if it sees no key.
template <TensorLike Q, TensorLike K, AttentionModifier... M>
Tensor<ScalarOf<Q>, rank_of<Q>> attention_weights(const Q& q, const K& k, const M&... modifiers) {
  return detail::weights_result("heed::attention_weights", detail::FusedKernel{}, q, k, modifiers...);
}

}  // namespace heed
