// The shortest way in: an Eigen matrix, self-attention with random weights, an Eigen matrix again.
#include <heed/heed.hpp>

#include <iostream>

int main() {
  const Eigen::MatrixXf tokens = Eigen::MatrixXf::Random(6, 3);  // one row a token
  heed::Generator rng(123);
  const heed::MultiHeadAttention attention(
      {.d_in = 3, .d_out = 4, .context_length = 6, .dropout = 0.0, .num_heads = 2, .qkv_bias = false}, rng);
  const auto context = attention(tokens);  // ℝ^{6×4}
  std::cout << context.matrix() << '\n';
}
