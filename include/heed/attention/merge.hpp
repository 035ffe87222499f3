#pragma once

#include <heed/attention/problem.hpp>
#include <heed/core/tensor.hpp>
#include <heed/core/tensor_like.hpp>

#include <cmath>
#include <concepts>
#include <limits>

namespace heed::inline HEED_FLAGS {

/// Output and log-sum-exp of an attention.
template <class T, int R>
struct MergedAttention {
  Tensor<T, R> out;      // ℝ^{b×h×t×e}
  Tensor<T, R - 1> lse;  // ℝ^{b×h×t}
};

}  // namespace heed

namespace heed::detail::inline HEED_FLAGS {

/// A log-sum-exp by its own rank, Eigen vectors being of rank 1.
template <TensorLike X>
auto const_lse_view(const X& x) {
  if constexpr (VectorLike<X>) {
    return const_vector_view(x);
  } else {
    return const_view(x);
  }
}

/// How the two halves of a row add up: out = a·out_a + b·out_b. One that saw no key (−inf) does not count, whatever it
/// holds.
template <class T>
struct MergedRow {
  T a, b, lse;
  bool has_a, has_b;

  MergedRow(T lse_a, T lse_b) {
    constexpr T none = -std::numeric_limits<T>::infinity();
    has_a = lse_a != none;
    has_b = lse_b != none;
    const T largest = lse_a > lse_b ? lse_a : lse_b;
    const auto share = [&](T part) { return part == largest ? T(1) : std::exp(part - largest); };  // +inf too
    a = has_a ? share(lse_a) : T(0);
    b = has_b ? share(lse_b) : T(0);
    const T sum = a + b;
    lse = largest + std::log(sum);
    if (sum != 0) {
      a /= sum;
      b /= sum;
    }
  }
  T operator()(T x, T y) const { return (has_a ? a * x : T(0)) + (has_b ? b * y : T(0)); }
};

/// One function for all ranks, so that a compiler fuses the same multiplications and additions in each.
template <class T>
[[gnu::noinline]] void merge_rows(const TensorView<T, 4>& out, const TensorView<T, 3>& lse,
                                  const TensorView<const T, 4>& out_a, const TensorView<const T, 3>& lse_a,
                                  const TensorView<const T, 4>& out_b, const TensorView<const T, 3>& lse_b) {
  const auto [all_b, all_h, all_t, all_e] = out.shape();
  for (Index b = 0; b < all_b; ++b)
    for (Index h = 0; h < all_h; ++h)
      for (Index i = 0; i < all_t; ++i) {
        const MergedRow<T> row(lse_a(b, h, i), lse_b(b, h, i));
        lse(b, h, i) = row.lse;
        for (Index c = 0; c < all_e; ++c) out(b, h, i, c) = row(out_a(b, h, i, c), out_b(b, h, i, c));
      }
}

}  // namespace heed::detail

namespace heed::inline HEED_FLAGS {

/// Attention over two sets of keys from the attention over each, exactly: the softmax over all keys, not a mean. The
/// building block of split keys, shared prefixes and many machines ("FlashAttention", Dao et al., 2022; "Cascade
/// inference", Ye et al., 2024).
///
///     out = exp(lse_a − lse)·out_a + exp(lse_b − lse)·out_b,  lse = log(exp(lse_a) + exp(lse_b))
///
/// out_a, out_b ℝ^{b×h×t×e} and their `heed::logsumexp` lse_a, lse_b ℝ^{b×h×t}; ranks 2 to 4 of `out`, `lse` of one
/// less. Returns {out, lse}. A row whose lse is −inf saw no key and does not count. Each half counts its keys from 0,
/// which matters to causal masks, windows, alibi, user functions and Philox draws; sinks go to one of the halves only;
/// a prob_mod sees the weights of its half. Throws ShapeError if sizes do not fit.
///
/// ```cpp
/// heed::Tensor<float, 3> lse_a(2, 4, 5), lse_b(2, 4, 5);
/// auto attend = [&](heed::Index from, heed::Index to, auto& lse) {
///   return heed::scaled_dot_product_attention(q, heed::slice(k, 2, from, to), heed::slice(v, 2, from, to),
///                                             heed::logsumexp(lse));
/// };
/// auto out_a = attend(0, 3, lse_a), out_b = attend(3, 7, lse_b);
/// auto [out, lse] = heed::merge(out_a, lse_a, out_b, lse_b);  // the attention over all 7 keys
/// ```
template <TensorLike OutA, TensorLike LseA, TensorLike OutB, TensorLike LseB>
  requires(rank_of<OutA> >= 2)
MergedAttention<ScalarOf<OutA>, rank_of<OutA>> merge(const OutA& out_a, const LseA& lse_a, const OutB& out_b,
                                                     const LseB& lse_b) {
  constexpr int R = rank_of<OutA>;
  using T = ScalarOf<OutA>;
  static_assert(std::floating_point<T> && std::same_as<T, ScalarOf<OutB>> && std::same_as<T, ScalarOf<LseA>> &&
                    std::same_as<T, ScalarOf<LseB>>,
                "heed::merge: all four have the same scalar type, float or double");
  static_assert(R >= 2 && R <= 4 && rank_of<OutB> == R, "heed::merge: out_a and out_b have the same rank: 2, 3 or 4");
  const auto a = detail::const_view(out_a);
  const auto b = detail::const_view(out_b);
  const auto row_a = detail::const_lse_view(lse_a);
  const auto row_b = detail::const_lse_view(lse_b);
  static_assert(row_a.rank() == R - 1 && row_b.rank() == R - 1,
                "heed::merge: lse_a and lse_b have the rank of out_a less one");
  const auto require = [&](bool equal, const char* name, const auto& x, const char* other_name, const auto& y) {
    if (!equal)
      detail::fail_shape({"heed::merge: ", name, " is ", to_string(x.shape()), ", which does not fit ", other_name, " ",
                          to_string(y.shape())});
  };
  Shape<R - 1> rows;
  for (int axis = 0; axis < R - 1; ++axis) rows[axis] = a.shape()[axis];
  require(b.shape() == a.shape(), "out_b", b, "out_a", a);
  require(row_a.shape() == rows, "lse_a", row_a, "out_a", a);
  require(row_b.shape() == rows, "lse_b", row_b, "out_b", b);

  MergedAttention<T, R> merged{Tensor<T, R>(a.shape()), Tensor<T, R - 1>(rows)};
  detail::merge_rows(detail::lift<4>(view(merged.out)), detail::lift<3>(view(merged.lse)), detail::lift<4>(a),
                     detail::lift<3>(row_a), detail::lift<4>(b), detail::lift<3>(row_b));
  return merged;
}

}  // namespace heed
