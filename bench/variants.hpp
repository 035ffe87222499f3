// The modifiers that are timed, each under a name: by attention.cpp, and through peers/heed_c.cpp by compare.py.
#pragma once

#include <heed/heed.hpp>

#include <array>
#include <cstddef>
#include <span>

namespace bench {

using heed::Index;

enum class Variant { plain, causal, mask, bias, alibi, soft_cap, key_lengths, score_mod, window };
constexpr std::array variant_names = {"full",     "causal",      "mask",      "bias",  "alibi",
                                      "soft_cap", "key_lengths", "score_mod", "window"};
constexpr const char* name_of(Variant variant) { return variant_names[static_cast<std::size_t>(variant)]; }

/// Batch, heads, key/value heads, queries, keys, head size.
struct Sizes {
  Index b, h, g, t, s, d;
};

/// What some variants read. The layout is known to peers/peers.py.
struct Extras {
  const bool* mask;      // ℝ^{t×s}
  const float* bias;     // ℝ^{t×s}
  const float* slopes;   // ℝ^{h}
  const Index* lengths;  // ℝ^{b}
};

constexpr Index window_keys = 256;  // a query sees its own and those before it
constexpr double largest_score = 20;

/// A user's function of arithmetic alone.
constexpr auto nearer = [](float score, Index, Index, Index i, Index j) {
  return 0.5f * score - 0.01f * static_cast<float>(i - j);
};

/// f(the variant's modifiers).
template <class F>
void with_variant(Variant variant, const Sizes& sizes, const Extras& extras, const F& f) {
  switch (variant) {
    case Variant::plain:
      return f();
    case Variant::causal:
      return f(heed::causal());
    case Variant::mask:
      return f(heed::mask(heed::view(extras.mask, {sizes.t, sizes.s})));
    case Variant::bias:
      return f(heed::bias(heed::view(extras.bias, {sizes.t, sizes.s})));
    case Variant::alibi:
      return f(heed::alibi(std::span(extras.slopes, static_cast<std::size_t>(sizes.h))));
    case Variant::soft_cap:
      return f(heed::soft_cap(largest_score));
    case Variant::key_lengths:
      return f(heed::key_lengths(std::span(extras.lengths, static_cast<std::size_t>(sizes.b))));
    case Variant::score_mod:
      return f(heed::score_mod(nearer));
    case Variant::window:
      return f(heed::sliding_window(window_keys - 1, 0));
  }
}

}  // namespace bench
