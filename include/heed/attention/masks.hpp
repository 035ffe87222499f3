#pragma once

#include <heed/attention/modifier.hpp>
#include <heed/attention/problem.hpp>
#include <heed/core/tensor_like.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

// In the examples q is ℝ^{2×4×5×8} (b, h, t, d), k ℝ^{2×2×7×8} (b, g, s, d) and v ℝ^{2×2×7×3} (b, g, s, e).
namespace heed::inline HEED_FLAGS {

/// For sliding_window: this side has no end.
inline constexpr Index unbounded = (std::numeric_limits<Index>::max)();

}  // namespace heed

namespace heed::modifiers::inline HEED_FLAGS {

struct Causal : Modifier {
  static constexpr Choice choice = Choice::causality;

  KeyRange keys(Index position) const { return {0, position + 1}; }
  template <class T>
  Causal bind(const detail::AttentionSizes&) const {
    return *this;
  }
};

struct CausalLowerRight : Modifier {
  static constexpr Choice choice = Choice::causality;

  struct Bound {
    Index t;
    Index offset(Index length) const { return length - t; }
    KeyRange keys(Index position) const { return {0, position + 1}; }
  };
  template <class T>
  Bound bind(const detail::AttentionSizes& sizes) const {
    return {sizes.t};
  }
};

struct SlidingWindow : Modifier {
  static constexpr Choice choice = Choice::window;

  SlidingWindow(Index keys_before, Index keys_after) : left(keys_before), right(keys_after) {
    if (left < 0 || right < 0)
      detail::fail_value({"heed::sliding_window: left and right must not be negative, got ", std::to_string(left),
                          " and ", std::to_string(right)});
  }
  /// Nothing overflows, however large left and right are.
  KeyRange keys(Index position) const {
    const Index first = position <= left ? 0 : position - left;
    const bool open = position >= 0 && right >= unbounded - position;
    return {first, open ? unbounded : position + right + 1};
  }
  template <class T>
  SlidingWindow bind(const detail::AttentionSizes&) const {
    return *this;
  }

  Index left, right;
};

template <class I>
struct KeyLengths : Modifier {
  static constexpr Choice choice = Choice::lengths;

  explicit KeyLengths(const TensorView<const I, 1>& values) : lengths(values) {}

  Index length(Index b) const { return static_cast<Index>(lengths[b]); }
  template <class F>
  void each_input(const F& f) const {
    f("key_lengths", lengths);
  }
  template <class T>
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
  static constexpr Choice choice = Choice::any;

  explicit Mask(const TensorView<const bool, R>& view) : values(view) {}

  struct Bound {
    TensorView<const bool, 4> values;
    TensorView<const bool, R> given;
    [[gnu::always_inline]] bool sees(const Pair& at) const { return values(at.b, at.h, at.i, at.j); }
    bool hides(const PairBlock& block) const {
      const Index step = values.strides()[3], n = block.j_end - block.j;
      for (Index i = block.i; i < block.i_end; ++i) {
        const bool* const row = &values(block.b, block.h, i, block.j);
        if (step == 1) {
          if (std::memchr(row, true, static_cast<std::size_t>(n)) != nullptr) return false;
        } else {
          for (Index j = 0; j < n; ++j)
            if (row[j * step]) return false;
        }
      }
      return true;
    }
    template <int N, class T>
    [[gnu::always_inline]] void sees_block(T* latch, const Pair& first) const {
      constexpr T hidden = -std::numeric_limits<T>::infinity();
      const bool* const row = &values(first.b, first.h, first.i, first.j);
      const Index step = values.strides()[3];
      if (step == 1) {  // by bits, which GCC 12 turns into vector instructions where it does not a choice by bytes
        using Bits = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
        for (int n = 0; n < N; ++n) {
          const Bits keep = -static_cast<Bits>(row[n]);
          latch[n] = std::bit_cast<T>((std::bit_cast<Bits>(latch[n]) & keep) | (std::bit_cast<Bits>(hidden) & ~keep));
        }
      } else {
        for (int n = 0; n < N; ++n) latch[n] = row[n * step] ? latch[n] : hidden;
      }
    }
    template <class F>
    void each_input(const F& f) const {
      f("mask", given);
    }
  };
  template <class T>
  Bound bind(const detail::AttentionSizes& sizes) const {
    return {detail::broadcast_to_scores(sizes, "mask", values), values};
  }

  TensorView<const bool, R> values;
};

/// No predicate of blocks was given.
struct NoBlocks {};

/// F and Blocks are references unless the functions were temporaries.
template <class F, class Blocks>
struct MaskMod : Modifier {
  static constexpr Choice choice = Choice::any;

  MaskMod(F&& user_function, Blocks&& user_blocks)
      : function(std::forward<F>(user_function)), blocks(std::forward<Blocks>(user_blocks)) {}

  struct Bound {
    const std::remove_reference_t<F>* f;
    const std::remove_reference_t<Blocks>* may_see;
    [[gnu::always_inline]] bool sees(const Pair& at) const { return detail::call_for_pair<bool>(*f, at); }
    bool hides(const PairBlock& block) const requires(!std::same_as<Blocks, NoBlocks>) {
      return !detail::call_for_block(*may_see, block);
    }
  };
  template <class T>
  Bound bind(const detail::AttentionSizes&) const {
    return {std::addressof(function), std::addressof(blocks)};
  }

  F function;
  Blocks blocks;
};

}  // namespace heed::modifiers

namespace heed::inline HEED_FLAGS {

/// Queries do not see later keys: key j takes part where j ≤ p. A query's position p is its index i, so that query and
/// key 0 are aligned (is_causal of torch.nn.functional.scaled_dot_product_attention).
///
/// ```cpp
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::causal());
/// ```
inline modifiers::Causal causal() { return {}; }

/// The same with the last query aligned with the last key: key j takes part where j ≤ p, p = i + length − t, length
/// being s or the batch's key length (torch.nn.attention.bias.causal_lower_right). Windows and alibi move along.
///
/// ```cpp
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::causal_lower_right());
/// ```
inline modifiers::CausalLowerRight causal_lower_right() { return {}; }

/// A query at position p sees keys p − left ≤ j ≤ p + right ("Longformer", Beltagy et al., 2020). `heed::unbounded`
/// opens a side; a negative one is a std::invalid_argument. A window of W keys that ends with the query's own is
/// left = W − 1, right = 0. The position is i, with causal_lower_right() i + length − t.
///
/// ```cpp
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::causal_lower_right(), heed::sliding_window(3, 0));
/// ```
inline modifiers::SlidingWindow sliding_window(Index left, Index right) { return {left, right}; }

/// Of batch b only the first lengths[b] keys exist; no user function is called for the others. A contiguous range of
/// integers or a rank-1 TensorLike, one for each in the batch (one for ranks 2 and 3), each in [0, s], else ShapeError.
/// Like every modifier it refers to them: a list or a temporary must be written in the call itself.
///
/// ```cpp
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::key_lengths({7, 4}));  // b is 2, s is 7
/// ```
template <detail::Sequence Range>
auto key_lengths(const Range& lengths) {
  const auto values = detail::sequence_view(lengths);
  using I = typename decltype(values)::value_type;
  static_assert(detail::is_number<I>, "heed::key_lengths: lengths are integers");
  return modifiers::KeyLengths<I>(values);
}
inline modifiers::KeyLengths<Index> key_lengths(std::initializer_list<detail::IndexArgument> lengths) {
  static_assert(sizeof(detail::IndexArgument) == sizeof(Index));
  const Index* const first = lengths.size() == 0 ? nullptr : &lengths.begin()->value;
  return key_lengths(view(first, {lengths.size()}));
}

/// Pairs take part where this is true. ℝ^{t×s}, ℝ^{h×t×s} or ℝ^{b×h×t×s}, else ShapeError; axes of size 1 repeat. May
/// be given several times: all must be true.
///
/// ```cpp
/// heed::Tensor<bool, 2> seen(5, 7);  // ℝ^{t×s}
/// seen.fill(true);
/// seen(0, 3) = false;
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::mask(seen));
/// ```
template <TensorLike X>
auto mask(const X& values) {
  static_assert(std::same_as<ScalarOf<X>, bool>, "heed::mask: a mask holds bool; numbers to add are a heed::bias");
  static_assert(rank_of<X> >= 2 && rank_of<X> <= 4, "heed::mask: a mask has rank 2, 3 or 4");
  return modifiers::Mask<rank_of<X>>(detail::const_view(values));
}

/// Pairs take part where f(b, h, i, j) is true (mask_mod of torch.nn.attention.flex_attention). i counts the queries of
/// the call from 0, whatever their position. f is called for pairs that exist, some of which may be hidden otherwise,
/// in any order, number and thread; what it throws comes out of the call. May be given several times: all must be true.
///
/// ```cpp
/// auto out = heed::scaled_dot_product_attention(
///     q, k, v, heed::mask_mod([](auto, auto, auto i, auto j) { return i / 4 == j / 4; }));  // blocks of four
/// ```
template <class F>
auto mask_mod(F&& f) {
  static_assert(std::is_invocable_r_v<bool, const std::remove_reference_t<F>&, Index, Index, Index, Index>,
                "heed::mask_mod: f must be callable, when const, as bool f(Index b, Index h, Index i, Index j)");
  return modifiers::MaskMod<F, modifiers::NoBlocks>(std::forward<F>(f), {});
}

/// The same with a predicate of blocks, which makes sparse masks fast: may_see(b, h, i, i_end, j, j_end) is false only
/// if f is false for all pairs of the queries i … i_end − 1 and the keys j … j_end − 1, which may then be passed over
/// without being computed (the block mask of torch.nn.attention.flex_attention). Called as f is, for blocks of any
/// size.
///
/// ```cpp
/// auto same = [](auto, auto, auto i, auto j) { return i / 4 == j / 4; };
/// auto may_see = [](auto, auto, auto i, auto i_end, auto j, auto j_end) {
///   return i / 4 <= (j_end - 1) / 4 && j / 4 <= (i_end - 1) / 4;
/// };
/// auto out = heed::scaled_dot_product_attention(q, k, v, heed::mask_mod(same, may_see));
/// ```
template <class F, class Blocks>
auto mask_mod(F&& f, Blocks&& may_see) {
  static_assert(std::is_invocable_r_v<bool, const std::remove_reference_t<F>&, Index, Index, Index, Index>,
                "heed::mask_mod: f must be callable, when const, as bool f(Index b, Index h, Index i, Index j)");
  static_assert(
      std::is_invocable_r_v<bool, const std::remove_reference_t<Blocks>&, Index, Index, Index, Index, Index, Index>,
      "heed::mask_mod: may_see must be callable, when const, as bool may_see(Index b, Index h, Index i, "
      "Index i_end, Index j, Index j_end)");
  return modifiers::MaskMod<F, Blocks>(std::forward<F>(f), std::forward<Blocks>(may_see));
}

}  // namespace heed
