// Compiled several times, with different flags and as another namespace each: see CMakeLists.txt.
#include "attention.hpp"

#include <sstream>
#include <vector>

namespace HEED_TEST_FILE {

namespace {

/// All results one after another.
struct Results {
  std::vector<double> values;

  template <class T, int R>
  void add(const heed::Tensor<T, R>& x) {
    for (heed::Index i = 0; i < x.size(); ++i) values.push_back(static_cast<double>(x.data()[i]));
  }
};

/// x ℝ^{b×t×(h·d)}, its columns cut into four heads.
template <class T>
void attend(Results& results, const heed::Tensor<T, 3>& x, const heed::Philox& philox) {
  const auto q = heed::split_heads(x, 4);
  const auto [b, h, t, d] = q.shape();
  heed::Tensor<T, 2> bias(t, t);
  heed::Tensor<bool, 2> mask(t, t);
  for (heed::Index i = 0; i < t; ++i)
    for (heed::Index j = 0; j < t; ++j) {
      bias(i, j) = static_cast<T>(i - j) / 8;
      mask(i, j) = (i + j) % 3 != 0;
    }
  heed::Tensor<T, 3> lse(b, h, t);
  const auto sharper = [](T score, auto, auto, auto i, auto j) {
    return score - heed::exp(T(0.1) * T(i > j ? j - i : i - j));
  };
  const auto blocks = [](auto, auto, auto i, auto j) { return i / 4 == j / 4; };

  results.add(heed::scaled_dot_product_attention(q, q, q));
  results.add(heed::scaled_dot_product_attention(q, q, q, heed::causal(), heed::logsumexp(lse)));
  results.add(lse);
  results.add(heed::scaled_dot_product_attention(q, q, q, heed::scale(0.3), heed::bias(bias), heed::score_mod(sharper),
                                                 heed::soft_cap(5), heed::mask(mask), heed::mask_mod(blocks)));
  results.add(heed::scaled_dot_product_attention(q, q, q, heed::causal_lower_right(), heed::sliding_window(5, 0),
                                                 heed::key_lengths({t, t - 3}), heed::alibi({T(1), T(0.5), T(0), T(2)}),
                                                 heed::sinks({T(0), T(1), T(-1), T(2)})));
  results.add(heed::scaled_dot_product_attention(q, q, q, heed::dropout(0.25, philox)));
  results.add(heed::scaled_dot_product_attention(q, q, q, heed::prob_mod([](T w, auto...) { return w * w; })));
  results.add(heed::attention_weights(q, q, heed::causal()));
  results.add(heed::merge(q, lse, q, lse).out);
}

}  // namespace

heed::Tensor<double, 1> results(const heed::Tensor<float, 3>& x, heed::Generator& rng) {
  Results results;
  const heed::Philox philox{7, 9};
  heed::Tensor<double, 3> wide(x.shape());
  for (heed::Index i = 0; i < x.size(); ++i) wide.data()[i] = static_cast<double>(x.data()[i]);
  attend<float>(results, x, philox);
  attend<double>(results, wide, philox);

  const heed::AttentionConfig config{.d_in = x.shape()[2],
                                     .d_out = 8,
                                     .context_length = x.shape()[1],
                                     .dropout = 0.5,
                                     .num_heads = 2,
                                     .qkv_bias = true};
  results.add(heed::MultiHeadAttention(config, rng)(x, rng, heed::key_lengths({9, 20})));
  results.add(heed::MultiHeadAttention<double>(config, rng)(wide));
  results.add(heed::MultiHeadAttentionWrapper(config, rng)(x));
  results.add(heed::CausalAttention(config, rng)(x));
  results.add(heed::SelfAttention_v1(config, rng).weights(x));
  results.add(heed::Dropout(0.5)(x, rng));
  results.add(heed::stack(heed::transpose(x, 1, 2), heed::copy(heed::transpose(x, 1, 2))));
  std::ostringstream text;
  text << x;
  results.values.push_back(static_cast<double>(text.str().size()));

  heed::Tensor<double, 1> all(results.values.size());
  for (heed::Index i = 0; i < all.size(); ++i) all(i) = results.values[static_cast<std::size_t>(i)];
  return all;
}

void refuse(const heed::TensorView<const float, 3>& x) {
  heed::scaled_dot_product_attention(x, x, heed::slice(x, 1, 0, 1));
}

heed::Executor replace_executor(heed::Executor executor) { return heed::set_executor(executor); }

heed::ErrorHandler replace_handler(heed::ErrorHandler handler) { return heed::set_error_handler(handler); }

heed::Workspace& workspace() { return heed::detail::thread_workspace(); }

}  // namespace HEED_TEST_FILE
