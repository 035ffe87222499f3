// Every table of the worked examples, from the seed alone.
#include "catch.hpp"

#include <heed/heed.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "../../examples/worked_examples.hpp"
#include "support/modules.hpp"

namespace book = worked_examples;
using namespace module_tests;

namespace {

template <std::size_t Rows, std::size_t Cols>
heed::Tensor<float, 2> tensor_of(const book::Table<Rows, Cols>& table) {
  heed::Tensor<float, 2> x(Rows, Cols);
  for (std::size_t i = 0; i < Rows; ++i)
    for (std::size_t j = 0; j < Cols; ++j) x(i, j) = static_cast<float>(table.values[i][j]);
  return x;
}

heed::Tensor<float, 3> batch() { return heed::stack(tensor_of(book::sentence), tensor_of(book::sentence)); }

/// Whether a result agrees with a table to the digits that it shows.
template <class X, std::size_t Rows, std::size_t Cols>
bool agrees(const X& result, const book::Table<Rows, Cols>& table) {
  const auto v = heed::detail::const_view(result);
  if (v.shape() != heed::Shape(Rows, Cols)) return false;
  for (std::size_t i = 0; i < Rows; ++i)
    for (std::size_t j = 0; j < Cols; ++j)
      if (!(std::abs(static_cast<double>(v(i, j)) - table.values[i][j]) <= table.tolerance())) return false;
  return true;
}

const heed::AttentionConfig config{
    .d_in = 3, .d_out = 2, .context_length = 6, .dropout = 0.0, .num_heads = 2, .qkv_bias = false};

template <class Module>
Module seeded(std::uint64_t seed) {
  heed::Generator rng(seed);
  return Module(config, rng);
}

/// Both sentences of a batch agree with the table.
template <class Module, class Table>
bool both_agree(const Module& module, const Table& table) {
  const auto y = module(batch());
  return y.shape()[0] == 2 && agrees(y[0], table) && agrees(y[1], table);
}

}  // namespace

TEST_CASE("SelfAttention_v1 of the book, seed 123", "[nn][worked_examples]") {
  const auto module = seeded<heed::SelfAttention_v1<float>>(123);
  CHECK(agrees(module.W_query(), book::v1_query));
  CHECK(agrees(module.W_key(), book::v1_key));
  CHECK(agrees(module.W_value(), book::v1_value));
  CHECK(agrees(module(tensor_of(book::sentence)), book::v1_output));
}

TEST_CASE("SelfAttention_v2 of the book, seed 789, with its weights", "[nn][worked_examples]") {
  const auto module = seeded<heed::SelfAttention_v2<float>>(789);
  const auto x = tensor_of(book::sentence);
  CHECK(agrees(module.W_query().weight(), book::v2_query));
  CHECK(agrees(module(x), book::v2_output));
  const auto weights = module.weights(x);
  CHECK(agrees(weights[0], book::v2_weights));
  const auto causal = module.weights(x, heed::causal());
  CHECK(agrees(causal[0], book::causal_weights));
}

TEST_CASE("CausalAttention of the book, seed 123", "[nn][worked_examples]") {
  CHECK(both_agree(seeded<heed::CausalAttention<float>>(123), book::causal_output));
}

TEST_CASE("MultiHeadAttentionWrapper of the book, seed 123", "[nn][worked_examples]") {
  CHECK(both_agree(seeded<heed::MultiHeadAttentionWrapper<float>>(123), book::wrapper_output));
}

TEST_CASE("MultiHeadAttention of the book, seed 123", "[nn][worked_examples]") {
  CHECK(both_agree(seeded<heed::MultiHeadAttention<float>>(123), book::multi_head_output));
}

TEST_CASE("the causal softmax of the logarithms of the blog's masked matrix is that matrix", "[nn][worked_examples]") {
  // Scores q·kᵀ with k the identity: the logarithm below the diagonal, shifted row by row, and what comes to mind above
  // it.
  heed::Tensor<float, 2> scores(6, 6), identity(6, 6);
  identity.matrix().setIdentity();
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < 6; ++j)
      scores(i, j) =
          j <= i ? static_cast<float>(std::log(book::masked_matrix.values[i][j])) + static_cast<float>(3 * i - 7)
                 : static_cast<float>(100 * j);
  CHECK(agrees(heed::attention_weights(scores, identity, heed::causal(), heed::scale(1)), book::masked_matrix));
}

TEST_CASE("dropout of the book, seed 123", "[nn][worked_examples]") {
  const heed::Dropout dropout(0.5);
  heed::Tensor<float, 2> ones(6, 6);
  ones.fill(1);
  heed::Generator rng(123);
  CHECK(agrees(dropout(ones, rng), book::dropout_of_ones));

  const auto module = seeded<heed::SelfAttention_v2<float>>(789);
  const auto causal = module.weights(tensor_of(book::sentence), heed::causal());
  heed::Generator again(123);
  CHECK(agrees(dropout(causal[0], again), book::dropout_of_causal_weights));
  heed::Generator in_the_call(123);
  const auto dropped = module.weights(tensor_of(book::sentence), heed::causal(), heed::dropout(0.5, in_the_call));
  CHECK(agrees(dropped[0], book::dropout_of_causal_weights));
}
