#include "operands.hpp"
#include "operators.hpp"
#include "tensors.hpp"
#include "when.hpp"

#include <array>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace onnx {
namespace {

using Tensor = heed::Tensor<float, 4>;
using View = heed::TensorView<float, 4>;

constexpr float hidden = -std::numeric_limits<float>::infinity();
constexpr float unwritten = std::numeric_limits<float>::quiet_NaN();

enum Option : unsigned {
  scale = 1,
  soft_cap = 2,
  mask = 4,             // attn_mask of bool
  bias = 8,             // attn_mask of numbers
  causal = 16,          // without a cache
  window = 32,          // beside causal or lower_right, or without a cache
  lengths = 64,         // nonpad_kv_seqlen
  lower_right = 128,    // causal with nonpad_kv_seqlen, or with a past where heed's positions are ONNX's
  placed = 256,         // causal, a window or both where heed's queries would stand elsewhere than ONNX's
  write_scaled = 512,   // qk_matmul_output of mode 0: the scaled products
  write_capped = 1024,  // of mode 1: after soft_cap
  write_final = 2048,   // of mode 2: as the softmax sees them
  write_weights = 4096  // of mode 3
};

// Those that the suite has. To the compiler each is an attention of its own.
constexpr unsigned combinations[] = {
    0,
    write_scaled,
    scale,
    causal,
    causal | window,
    window,
    lengths | lower_right,
    lower_right,
    placed,
    mask,
    mask | write_weights,
    mask | causal,
    mask | causal | window,
    mask | lengths | lower_right,
    bias,
    bias | write_scaled,
    bias | write_final,
    bias | write_weights,
    bias | causal,
    bias | lengths,
    bias | lengths | lower_right,
    bias | lengths | lower_right | window,
    bias | placed | write_final,
    soft_cap,
    soft_cap | bias,
    soft_cap | bias | write_capped,
    soft_cap | mask | causal | window | write_weights,
};

/// A case in heed's terms. Shapes: b batch, h query heads, g key/value heads, t queries, s keys with those of the past.
struct Problem {
  unsigned options = 0;
  View q, k, v, out;  // ℝ^{b×h×t×d}, ℝ^{b×g×s×d}, ℝ^{b×g×s×e}, ℝ^{b×h×t×e}
  double factor, cap;
  heed::Tensor<bool, 4> seen;  // broadcasts to ℝ^{b×h×t×s}
  Tensor added;                // the same
  bool is_causal;
  Index left, right;
  std::vector<Index> key_counts;  // ℝ^{b}
  std::vector<Index> offsets;     // ℝ^{b}: query i stands at position i + offset
  Tensor scores;                  // ℝ^{b×h×t×s}: qk_matmul_output
};

template <unsigned Options>
void attend(Problem& p) {
  const auto placed_mask = [&p](Index b, Index, Index i, Index j) {
    const Index position = i + p.offsets[static_cast<std::size_t>(b)];
    return (!p.is_causal || j <= position) && position - j <= p.left && j - position <= p.right;
  };
  const auto modifiers = std::tuple_cat(  //
      when<Options & scale>([&] { return heed::scale(p.factor); }),
      when<Options & write_scaled>([&] { return heed::scores(p.scores); }),
      when<Options & soft_cap>([&] { return heed::soft_cap(p.cap); }),
      when<Options & write_capped>([&] { return heed::scores(p.scores); }),
      when<Options & bias>([&] { return heed::bias(p.added); }),
      when<Options & mask>([&] { return heed::mask(p.seen); }),
      when<Options & lengths>([&] { return heed::key_lengths(p.key_counts); }),
      when<Options & causal>([&] { return heed::causal(); }),
      when<Options & lower_right>([&] { return heed::causal_lower_right(); }),
      when<Options & window>([&] { return heed::sliding_window(p.left, p.right); }),
      when<Options & placed>([&] { return heed::mask_mod(placed_mask); }),
      when<Options & write_final>([&] { return heed::final_scores(p.scores); }),
      when<Options & write_weights>([&] { return heed::weights(p.scores); }));
  std::apply([&](const auto&... m) { heed::scaled_dot_product_attention_into(p.out, p.q, p.k, p.v, m...); }, modifiers);
}

/// An attribute whose negative values mean no bound.
Index window_size(const Case& c, const char* attribute) {
  const auto size = static_cast<Index>(number(c, attribute, -1));
  return size < 0 ? heed::unbounded : size;
}

/// Which keys a query sees because of its position.
void place(Problem& p, const Case& c, Index past_length) {
  p.is_causal = number(c, "is_causal", 0) != 0;
  p.left = window_size(c, "left_window_size");
  p.right = window_size(c, "right_window_size");
  const bool windowed = p.left != heed::unbounded || p.right != heed::unbounded;
  const auto given = c.inputs.find("nonpad_kv_seqlen");
  if (past_length > 0 && p.is_causal && past_length == p.k.shape()[2] - p.q.shape()[2]) {
    p.options |= windowed ? lower_right | window : lower_right;
  } else if (past_length > 0) {
    // heed's causal_lower_right would place the queries elsewhere, at s − t.
    p.offsets.assign(static_cast<std::size_t>(p.q.shape()[0]), past_length);
    if (p.is_causal || windowed) p.options |= placed;
  } else if (given != c.inputs.end()) {
    for (const double count : given->second.values) {
      p.key_counts.push_back(static_cast<Index>(count));
      p.offsets.push_back(p.key_counts.back() - p.q.shape()[2]);
    }
    p.options |= lengths;
    if (p.is_causal) p.options |= windowed ? lower_right | window : lower_right;
    if (!p.is_causal && windowed) p.options |= placed;
  } else {
    if (p.is_causal) p.options |= causal;
    if (windowed) p.options |= window;
  }
}

void change_scores(Problem& p, const Case& c) {
  p.factor = number(c, "scale", 1);
  if (c.attributes.contains("scale")) p.options |= scale;
  p.cap = number(c, "softcap", 0);
  if (p.cap > 0) p.options |= soft_cap;
  const auto given = c.inputs.find("attn_mask");
  if (given == c.inputs.end()) return;
  if (given->second.type == Type::boolean) {
    p.seen = padded(given->second, p.k.shape()[2], false);
    p.options |= mask;
  } else {
    p.added = padded(given->second, p.k.shape()[2], hidden);
    p.options |= bias;
  }
}

void write_scores(Problem& p, const Case& c) {
  if (!c.outputs.contains("qk_matmul_output")) return;
  p.scores = Tensor(p.q.shape()[0], p.q.shape()[1], p.q.shape()[2], p.k.shape()[2]);
  p.scores.fill(unwritten);
  constexpr std::array<unsigned, 4> modes{write_scaled, write_capped, write_final, write_weights};
  p.options |= modes.at(static_cast<std::size_t>(number(c, "qk_matmul_output_mode", 0)));
}

}  // namespace

Arrays attention(const Case& c) {
  expect_only(c, {.attributes = {"scale", "is_causal", "q_num_heads", "kv_num_heads", "softcap", "left_window_size",
                                 "right_window_size", "qk_matmul_output_mode",
                                 // heed's softmax is in float whatever this says; the tolerances do not see it.
                                 "softmax_precision"},
                  .inputs = {"Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"},
                  .outputs = {"Y", "present_key", "present_value", "qk_matmul_output"}});
  const auto key_heads = static_cast<Index>(number(c, "kv_num_heads", 0));
  Operand q(c.inputs.at("Q"), static_cast<Index>(number(c, "q_num_heads", 0)));
  Operand k(c.inputs.at("K"), key_heads);
  Operand v(c.inputs.at("V"), key_heads);
  Operand y(q, v.by_head().shape()[3], unwritten);

  Problem p{};
  p.q = q.by_head();
  p.k = k.by_head();
  p.v = v.by_head();
  p.out = y.by_head();
  Arrays outputs;
  Tensor keys, values;  // with those of the past
  Index past_length = 0;
  if (c.inputs.contains("past_key")) {
    keys = joined(tensor<float, 4>(c.inputs.at("past_key")), p.k);
    values = joined(tensor<float, 4>(c.inputs.at("past_value")), p.v);
    past_length = keys.shape()[2] - p.k.shape()[2];
    p.k = keys;
    p.v = values;
    outputs["present_key"] = array(keys);
    outputs["present_value"] = array(values);
  }
  change_scores(p, c);
  place(p, c, past_length);
  write_scores(p, c);

  if (!with_options<combinations>(p.options, [&]<unsigned Options>() { attend<Options>(p); }))
    throw std::runtime_error("attention.cpp lists no combination " + std::to_string(p.options));

  outputs["Y"] = y.as_array();
  outputs["qk_matmul_output"] = array(p.scores);
  return outputs;
}

}  // namespace onnx
