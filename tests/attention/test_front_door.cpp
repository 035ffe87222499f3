#include "catch.hpp"
#include "support/attention.hpp"

#include <heed/attention/scaled_dot_product_attention.hpp>

#include <Eigen/Core>

#include <string>
#include <utility>
#include <vector>

using core_tests::shape_error;
using core_tests::value_error;
using heed::Generator;
using heed::Index;
using heed::Shape;
using heed::Strides;
using heed::Tensor;
using heed::TensorView;
using support::same_bits;

namespace {

/// The shapes of a call with every option; each test spoils one.
struct Call {
  Shape<4> q{2, 4, 3, 5}, k{2, 2, 6, 5}, v{2, 2, 6, 7}, out{2, 4, 3, 7}, mask{2, 1, 3, 6}, bias{1, 4, 3, 1};
  Shape<3> lse{2, 4, 3};
  std::vector<Index> lengths{6, 2};
};

/// Makes the call with outputs of sevens and returns the message of the ShapeError, or what else went wrong: something
/// was written, or a number drawn.
template <class T>
std::string refusal(const Call& call) {
  const Tensor<T, 4> q(call.q), k(call.k), v(call.v), bias(call.bias);
  const Tensor<bool, 4> mask(call.mask);
  Tensor<T, 4> out = support::filled(call.out, T(7));
  Tensor<T, 3> lse = support::filled(call.lse, T(7));
  Generator rng(1);
  Generator before = rng;
  const std::string message = shape_error([&] {
    heed::scaled_dot_product_attention_into(out, q, k, v, heed::logsumexp(lse), heed::dropout(0.5, rng),
                                            heed::mask(mask), heed::bias(bias), heed::key_lengths(call.lengths),
                                            heed::causal());
  });
  if (message == "no ShapeError") return message;
  if (!same_bits(out, support::filled(call.out, T(7)))) return "out was written: " + message;
  if (!same_bits(lse, support::filled(call.lse, T(7)))) return "the log-sum-exp was written: " + message;
  if (rng.random() != before.random()) return "numbers were drawn: " + message;
  return message;
}

const std::string name = "heed::scaled_dot_product_attention_into: ";

}  // namespace

TEMPLATE_TEST_CASE("shapes that do not fit are refused by name before anything is written or drawn",
                   "[attention][front_door]", float, double) {
  const auto with = [](auto Call::*member, auto value) {
    Call call;
    call.*member = value;
    return refusal<TestType>(call);
  };
  CHECK(refusal<TestType>(Call{}) == "no ShapeError");
  CHECK(with(&Call::q, Shape<4>(3, 4, 3, 5)) ==
        name + "q is ℝ^{3×4×3×5} and k is ℝ^{2×2×6×5}, but their batch sizes must be equal");
  CHECK(with(&Call::q, Shape<4>(2, 3, 3, 5)) ==
        name + "q is ℝ^{2×3×3×5} and k is ℝ^{2×2×6×5}, but the 3 query heads are not a multiple of the 2 key heads");
  CHECK(with(&Call::k, Shape<4>(2, 2, 6, 4)) ==
        name + "q is ℝ^{2×4×3×5} and k is ℝ^{2×2×6×4}, but their last sizes must be equal");
  const std::string values = ", but it must have the sizes of k ℝ^{2×2×6×5}, except for the last, which is at least 1";
  CHECK(with(&Call::v, Shape<4>(2, 2, 5, 7)) == name + "v is ℝ^{2×2×5×7}" + values);
  CHECK(with(&Call::v, Shape<4>(2, 4, 6, 7)) == name + "v is ℝ^{2×4×6×7}" + values);
  CHECK(with(&Call::v, Shape<4>(1, 2, 6, 7)) == name + "v is ℝ^{1×2×6×7}" + values);
  CHECK(with(&Call::out, Shape<4>(2, 4, 3, 5)) == name + "out is ℝ^{2×4×3×5}, but the result is ℝ^{2×4×3×7}");
  CHECK(with(&Call::out, Shape<4>(2, 4, 7, 3)) == name + "out is ℝ^{2×4×7×3}, but the result is ℝ^{2×4×3×7}");
  CHECK(with(&Call::mask, Shape<4>(2, 1, 6, 3)) ==
        name + "mask is ℝ^{2×1×6×3}, which does not broadcast to the scores ℝ^{2×4×3×6}");
  CHECK(with(&Call::mask, Shape<4>(2, 2, 3, 6)) ==  // the mask of key heads is no mask of query heads
        name + "mask is ℝ^{2×2×3×6}, which does not broadcast to the scores ℝ^{2×4×3×6}");
  CHECK(with(&Call::bias, Shape<4>(1, 4, 3, 5)) ==
        name + "bias is ℝ^{1×4×3×5}, which does not broadcast to the scores ℝ^{2×4×3×6}");
  CHECK(with(&Call::lse, Shape<3>(2, 3, 4)) == name + "logsumexp is ℝ^{2×3×4}, but it must be ℝ^{2×4×3}");
  CHECK(with(&Call::lse, Shape<3>(2, 1, 3)) == name + "logsumexp is ℝ^{2×1×3}, but it must be ℝ^{2×4×3}");
  CHECK(with(&Call::lengths, std::vector<Index>{6}) ==
        name + "key_lengths is ℝ^{1}, but there must be one for each of 2 in the batch");
  CHECK(with(&Call::lengths, std::vector<Index>{6, 7}) ==
        name + "key_lengths is ℝ^{2} with the length 7, which is not in [0, 6], the number of keys");
}

TEST_CASE("messages give shapes in the caller's rank and the function that was called", "[attention][front_door]") {
  const Tensor<float, 2> q(3, 2), k(5, 2), v(5, 2);
  const Tensor<bool, 2> mask(5, 3);
  Tensor<float, 1> lse(5);
  const std::string broken = "mask is ℝ^{5×3}, which does not broadcast to the scores ℝ^{3×5}";
  CHECK(shape_error([&] { heed::scaled_dot_product_attention(q, k, v, heed::mask(mask)); }) ==
        "heed::scaled_dot_product_attention: " + broken);
  CHECK(shape_error([&] { heed::attention_weights(q, k, heed::mask(mask)); }) == "heed::attention_weights: " + broken);
  CHECK(shape_error([&] { heed::reference::attention_weights(q, k, heed::mask(mask)); }) ==
        "heed::reference::attention_weights: " + broken);
  CHECK(shape_error([&] { heed::reference::scaled_dot_product_attention(q, k, v, heed::mask(mask)); }) ==
        "heed::reference::scaled_dot_product_attention: " + broken);
  CHECK(shape_error([&] { heed::attention_weights(q, k, heed::logsumexp(lse)); }) ==
        "heed::attention_weights: logsumexp is ℝ^{5}, but it must be ℝ^{3}");
  CHECK(shape_error([&] { heed::attention_weights(heed::transpose(q, 0, 1), k); }) ==
        "heed::attention_weights: q is ℝ^{2×3} and k is ℝ^{5×2}, but their last sizes must be equal");
}

TEMPLATE_TEST_CASE("the output is written inside its view alone, whatever its layout", "[attention][front_door]", float,
                   double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({2, 3, 3, 4, 5, 2, 3});
  Tensor<T, 3> lse(2, 3, 4);
  const auto expected = heed::scaled_dot_product_attention(x.q, x.k, x.v, heed::logsumexp(lse));
  for (const auto& layout : support::layouts) {
    support::LaidOut<T, 4> out(Tensor<T, 4>(2, 3, 4, 3), layout);
    support::LaidOut<T, 3> out_lse(Tensor<T, 3>(2, 3, 4),
                                   {{2, 0, 1}, layout.step, layout.gap, {false, layout.backwards[1]}});
    heed::scaled_dot_product_attention_into(out.view(), x.q, x.k, x.v, heed::logsumexp(out_lse.view()));
    CHECK(same_bits(out.view(), expected));
    CHECK(same_bits(out_lse.view(), lse));
    CHECK(out.gaps_are_untouched());
    CHECK(out_lse.gaps_are_untouched());
  }
}

TEMPLATE_TEST_CASE("the output may be any Eigen object that can be written to", "[attention][front_door]", float,
                   double) {
  using T = TestType;
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
  const auto x = support::random_inputs<T>({1, 1, 1, 4, 5, 2, 3});
  const auto q = x.q[0][0], k = x.k[0][0], v = x.v[0][0];
  const Tensor<T, 2> expected = heed::scaled_dot_product_attention(q, k, v);
  Matrix columns(4, 3);
  heed::scaled_dot_product_attention_into(columns, q, k, v);
  CHECK(same_bits(columns, expected));
  Eigen::Array<T, 4, 3, Eigen::RowMajor> rows;
  heed::scaled_dot_product_attention_into(rows, q, k, v);
  CHECK(same_bits(rows, expected));
  Matrix large = Matrix::Constant(6, 6, 7);
  heed::scaled_dot_product_attention_into(large.block(1, 2, 4, 3), q, k, v);
  CHECK(same_bits(large.block(1, 2, 4, 3), expected));
  CHECK((large.array() == 7).count() == 36 - 12);
  Matrix turned(3, 4);
  heed::scaled_dot_product_attention_into(turned.transpose(), q, k, v);
  CHECK(same_bits(turned.transpose(), expected));
}

namespace {

/// A call over one stretch of memory; `at` says where each part lies, and everything has a place of its own.
struct Places {
  Index q = 0, k = 20, v = 40, bias = 60, lse = 130, out = 100;
};

/// Makes the call and returns the message of the std::invalid_argument; whether anything was written goes to
/// `untouched`.
template <class T>
std::string overlap(const Places& at, bool& untouched, Strides<2> out_strides = {2, 1}) {
  std::mt19937 rng(1);
  Tensor<T, 1> memory = support::random<T>(rng, 160);
  const Tensor<T, 1> before = memory;
  const auto part = [&](Index start, const Shape<2>& shape) { return heed::view(memory.data() + start, shape); };
  const TensorView<T, 2> out = heed::view(memory.data() + at.out, Shape<2>(3, 2), out_strides);
  const std::string message = value_error([&] {
    heed::scaled_dot_product_attention_into(out, part(at.q, {3, 4}), part(at.k, {5, 4}), part(at.v, {5, 2}),
                                            heed::bias(part(at.bias, {3, 5})),
                                            heed::logsumexp(heed::view(memory.data() + at.lse, {3})));
  });
  untouched = same_bits(memory, before);
  return message;
}

}  // namespace

TEMPLATE_TEST_CASE("an output that shares an element with an input is refused and nothing written",
                   "[attention][front_door]", float, double) {
  bool untouched = false;
  const auto refusal_with = [&](Index Places::*part, Index start) {
    Places at;
    at.*part = start;
    return overlap<TestType>(at, untouched);
  };
  CHECK(overlap<TestType>({}, untouched) == "no std::invalid_argument");
  CHECK(!untouched);

  struct Part {
    Index Places::*member;
    std::string name, shape;
    Index count;
  };
  const Part parts[] = {
      {&Places::q, "q", "ℝ^{3×4}", 12}, {&Places::k, "k", "ℝ^{5×4}", 20}, {&Places::v, "v", "ℝ^{5×2}", 10}};
  for (const auto& [member, part, shape, count] : parts) {
    CAPTURE(part);
    const std::string message = name + "the output out ℝ^{3×2} shares elements with the input " + part + " " + shape;
    for (const Index start : {Index{100}, Index{105}, 100 - count + 1}) {  // its first element, out's last, its last
      CHECK(refusal_with(member, start) == message);
      CHECK(untouched);
    }
    CHECK(refusal_with(member, 106) == "no std::invalid_argument");
    CHECK(refusal_with(member, 100 - count) == "no std::invalid_argument");
    CHECK(refusal_with(member, 132) ==
          name + "the output logsumexp ℝ^{3} shares elements with the input " + part + " " + shape);
    CHECK(untouched);
  }
  CHECK(refusal_with(&Places::bias, 105) ==
        name + "the output out ℝ^{3×2} shares elements with the input bias ℝ^{3×5}");
  CHECK(untouched);
  CHECK(refusal_with(&Places::bias, 106) == "no std::invalid_argument");
  CHECK(refusal_with(&Places::lse, 105) == name + "the outputs logsumexp ℝ^{3} and out ℝ^{3×2} share elements");
  CHECK(untouched);
  CHECK(refusal_with(&Places::lse, 106) == "no std::invalid_argument");
}

TEMPLATE_TEST_CASE("an output whose elements share memory is refused and nothing written", "[attention][front_door]",
                   float, double) {
  const std::string message = name + "several indices of the output out ℝ^{3×2} share one element";
  const Strides<2> overlapping[] = {{0, 1}, {1, 0}, {1, 1}, {-1, 1}, {2, -4}};
  for (const auto& strides : overlapping) {
    CAPTURE(strides[0], strides[1]);
    bool untouched = false;
    CHECK(overlap<TestType>({0, 20, 40, 60, 130, 110}, untouched, strides) == message);
    CHECK(untouched);
  }
  bool untouched = false;
  CHECK(overlap<TestType>({0, 20, 40, 60, 130, 110}, untouched, {-2, -1}) == "no std::invalid_argument");
}

TEMPLATE_TEST_CASE("the blocks of columns of one matrix share nothing", "[attention][front_door]", float, double) {
  using T = TestType;
  for (const int storage : {0, 1}) {
    CAPTURE(storage);
    std::mt19937 rng(7);
    Tensor<T, 2> memory = storage == 0 ? support::random<T>(rng, 5, 14) : support::random<T>(rng, 14, 5);
    const auto all = storage == 0 ? heed::view(memory) : heed::transpose(memory, 0, 1);
    const auto q = heed::slice(all, 1, 0, 3), k = heed::slice(all, 1, 3, 6), v = heed::slice(all, 1, 6, 10);
    const auto out = heed::slice(all, 1, 10, 14);
    const Tensor<T, 2> expected = heed::scaled_dot_product_attention(heed::copy(q), heed::copy(k), heed::copy(v));
    const Tensor<T, 2> inputs = heed::copy(heed::slice(all, 1, 0, 10));
    heed::scaled_dot_product_attention_into(out, q, k, v);
    CHECK(same_bits(out, expected));
    CHECK(same_bits(heed::slice(all, 1, 0, 10), inputs));
    CHECK(value_error([&] { heed::scaled_dot_product_attention_into(heed::slice(all, 1, 9, 13), q, k, v); }) ==
          name + "the output out ℝ^{5×4} shares elements with the input v ℝ^{5×4}");
  }
}

TEMPLATE_TEST_CASE("inputs may share memory", "[attention][front_door]", float, double) {
  using T = TestType;
  std::mt19937 rng(8);
  const auto x = support::random<T>(rng, 5, 3);
  CHECK(same_bits(heed::scaled_dot_product_attention(x, x, x),
                  heed::scaled_dot_product_attention(x, heed::copy(x), heed::copy(x))));
}
