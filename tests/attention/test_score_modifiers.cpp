#include "catch.hpp"
#include "support/attention.hpp"

#include <heed/attention/scaled_dot_product_attention.hpp>

#include <Eigen/Core>

#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

using core_tests::shape_error;
using core_tests::value_error;
using heed::Index;
using heed::Shape;
using heed::Tensor;
using support::same_bits;
using support::Sizes;

TEMPLATE_TEST_CASE("scale replaces 1/√d", "[attention][score_modifiers]", float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({1, 2, 2, 3, 7, 4, 3});
  const auto plain = heed::attention_weights(x.q, x.k);
  CHECK(same_bits(heed::attention_weights(x.q, x.k, heed::scale(0.5)), plain));
  CHECK(!same_bits(heed::attention_weights(x.q, x.k, heed::scale(1)), plain));

  Tensor<T, 4> twice = x.q;  // a power of two scales exactly
  for (Index n = 0; n < twice.size(); ++n) twice.data()[n] *= 2;
  CHECK(same_bits(heed::attention_weights(x.q, x.k, heed::scale(-1)),
                  heed::attention_weights(twice, x.k, heed::scale(-0.5))));

  const auto even = heed::attention_weights(x.q, x.k, heed::scale(0));
  for (Index n = 0; n < even.size(); ++n) CHECK(even.data()[n] == T(1) / T(7));
}

TEST_CASE("a scale is finite", "[attention][score_modifiers]") {
  CHECK(value_error([] { heed::scale(std::numeric_limits<double>::infinity()); }) ==
        "heed::scale: the scale must be finite, got inf");
  CHECK(value_error([] { heed::scale(std::nan("")); }).find("heed::scale: the scale must be finite") == 0);
}

namespace {

/// The scores of one query and the keys 0, 1 … with q·k·scale = given.
template <class T, class... M>
std::vector<T> scores_of(const std::vector<T>& given, const M&... modifiers) {
  const Index s = static_cast<Index>(given.size());
  const Tensor<T, 2> q{{1}}, v(s, 1);
  Tensor<T, 2> k(s, 1), scores(1, s);
  std::copy(given.begin(), given.end(), k.data());
  heed::scaled_dot_product_attention(q, k, v, modifiers..., heed::scores(scores));
  return std::vector<T>(scores.data(), scores.data() + s);
}

double twice(double score, Index, Index, Index, Index) { return 2 * score; }

}  // namespace

TEMPLATE_TEST_CASE("a soft cap is cap·tanh(score/cap)", "[attention][score_modifiers]", float, double) {
  using T = TestType;
  const std::vector<T> capped = scores_of<T>({0, 1, -3, 1000, -1000, T(1e-3)}, heed::soft_cap(2));
  CHECK(capped[0] == 0);
  const T close = 4 * std::numeric_limits<T>::epsilon();
  CHECK(std::abs(capped[1] - T(2) * std::tanh(T(0.5))) < close);
  CHECK(std::abs(capped[2] - T(2) * std::tanh(T(-1.5))) < close);
  CHECK(capped[3] == 2);
  CHECK(capped[4] == -2);
  CHECK(std::abs(capped[5] - T(1e-3)) < T(1e-9));
  CHECK(std::isnan(scores_of<T>({std::numeric_limits<T>::quiet_NaN()}, heed::soft_cap(2))[0]));
}

TEST_CASE("a soft cap is positive, finite, and fits the tensors", "[attention][score_modifiers]") {
  for (const double bad : {0.0, -0.0, -2.0, std::numeric_limits<double>::infinity(), std::nan("")})
    CHECK(value_error([&] { heed::soft_cap(bad); }).find("heed::soft_cap: the cap must be positive and finite, got ") ==
          0);
  const Tensor<float, 2> x(1, 1);
  Tensor<float, 2> out = support::filled(Shape<2>(1, 1), 5.0f);
  for (const double bad : {1e-60, 1e60})
    CHECK(value_error([&] { heed::scaled_dot_product_attention_into(out, x, x, x, heed::soft_cap(bad)); }) ==
          "heed::scaled_dot_product_attention_into: the soft cap does not fit the scalar type of the tensors");
  CHECK(out(0, 0) == 5);
  CHECK_NOTHROW(heed::attention_weights(Tensor<double, 2>(1, 1), Tensor<double, 2>(1, 1), heed::soft_cap(1e-60)));
}

TEMPLATE_TEST_CASE("alibi takes the slope of the head times the distance from the position",
                   "[attention][score_modifiers]", float, double) {
  using T = TestType;
  const Tensor<T, 4> q(2, 3, 2, 1), k(2, 1, 4, 1);
  const std::array<T, 3> slopes{T(0.5), 0, T(-2)};
  const auto check = [&](const auto& modifier, const auto& position) {
    Tensor<T, 4> scores(2, 3, 2, 4);
    heed::attention_weights(q, k, modifier, heed::alibi(slopes), heed::scores(scores), heed::key_lengths({4, 3}));
    for (Index b = 0; b < 2; ++b)
      for (Index h = 0; h < 3; ++h)
        for (Index i = 0; i < 2; ++i)
          for (Index j = 0; j < (b == 0 ? 4 : 3); ++j)
            CHECK(scores(b, h, i, j) ==
                  -slopes[static_cast<std::size_t>(h)] * static_cast<T>(std::abs(position(b, i) - j)));
  };
  check(heed::scale(1), [](Index, Index i) { return i; });
  check(heed::causal(), [](Index, Index i) { return i; });
  check(heed::causal_lower_right(), [](Index b, Index i) { return i + (b == 0 ? 4 : 3) - 2; });
}

TEMPLATE_TEST_CASE("slopes come in any contiguous range or vector, one for each query head",
                   "[attention][score_modifiers]", float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({1, 2, 1, 3, 4, 2, 2});
  const T list[] = {T(0.5), T(0.25)};
  const auto weights = heed::attention_weights(x.q, x.k, heed::alibi(list));
  const auto same = [&](const auto& slopes) {
    return same_bits(heed::attention_weights(x.q, x.k, heed::alibi(slopes)), weights);
  };
  CHECK(same(std::vector<T>{list[0], list[1]}));
  CHECK(same(std::span<const T>(list)));
  CHECK(same(Tensor<T, 1>{list[0], list[1]}));
  const Tensor<T, 2> pairs{{list[0], 7}, {list[1], 7}};
  CHECK(same(heed::transpose(pairs, 0, 1)[0]));
  Eigen::Matrix<T, 2, 1> column(list[0], list[1]);
  CHECK(same(column));
  CHECK(same(column.reverse().eval().reverse().eval()));
  CHECK(same_bits(heed::attention_weights(x.q, x.k, heed::alibi({list[0], list[1]})), weights));

  const auto refused = [&](const std::vector<T>& slopes) {
    return shape_error([&] { heed::attention_weights(x.q, x.k, heed::alibi(slopes)); });
  };
  CHECK(refused({1}) == "heed::attention_weights: alibi is ℝ^{1}, but there must be one number for each of 2 heads");
  CHECK(refused({}) == "heed::attention_weights: alibi is ℝ^{0}, but there must be one number for each of 2 heads");
  CHECK(refused({1, 2, 3}) ==
        "heed::attention_weights: alibi is ℝ^{3}, but there must be one number for each of 2 heads");
}

TEMPLATE_TEST_CASE("a score_mod replaces the score, knowing batch, head, query and key", "[attention][score_modifiers]",
                   float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({2, 4, 2, 3, 5, 2, 2});
  Tensor<T, 4> before(2, 4, 3, 5), after(2, 4, 3, 5);
  const auto mod = heed::score_mod([](T score, Index b, Index h, Index i, Index j) {
    return score + static_cast<T>(1000 * b + 100 * h + 10 * i + j);
  });
  heed::attention_weights(x.q, x.k, heed::scores(before));
  heed::attention_weights(x.q, x.k, mod, heed::scores(after), heed::causal_lower_right());
  for (Index b = 0; b < 2; ++b)
    for (Index h = 0; h < 4; ++h)
      for (Index i = 0; i < 3; ++i)
        for (Index j = 0; j < 5; ++j)
          CHECK(after(b, h, i, j) == before(b, h, i, j) + static_cast<T>(1000 * b + 100 * h + 10 * i + j));
}

TEMPLATE_TEST_CASE("score modifiers apply in the order given", "[attention][score_modifiers]", float, double) {
  using T = TestType;
  const auto add = heed::score_mod([](T score, auto...) { return score + 1; });
  const auto triple = heed::score_mod([](T score, auto...) { return 3 * score; });
  const Tensor<T, 2> bias{{T(0.5)}};
  CHECK(scores_of<T>({2}, add, triple)[0] == 9);
  CHECK(scores_of<T>({2}, triple, add)[0] == 7);
  CHECK(scores_of<T>({2}, triple, add, triple)[0] == 21);
  CHECK(scores_of<T>({2}, heed::bias(bias), triple)[0] == T(7.5));
  CHECK(scores_of<T>({2}, heed::soft_cap(1), add)[0] == std::tanh(T(2)) + 1);
  CHECK(scores_of<T>({2}, add, heed::soft_cap(1))[0] == std::tanh(T(3)));
  CHECK(scores_of<T>({2}, add, heed::scale(2))[0] == 5);  // the scale comes first, wherever it stands
}

TEMPLATE_TEST_CASE("a score of −inf hides the pair whatever follows", "[attention][score_modifiers]", float, double) {
  using T = TestType;
  constexpr T inf = std::numeric_limits<T>::infinity();
  const Tensor<T, 2> q{{1}}, k{{1}, {2}, {4}}, v{{1}, {inf}, {3}};
  const auto hide = heed::score_mod([](T score, Index, Index, Index, Index j) { return j == 1 ? -inf : score; });
  const auto finite = heed::score_mod([](T score, auto...) { return score < T(-100) ? T(-100) : score; });
  const auto attend = [&](const auto&... m) { return heed::scaled_dot_product_attention(q, k, v, m...)(0, 0); };
  const T expected = attend(heed::mask_mod([](auto, auto, auto, auto j) { return j != 1; }));
  CHECK(expected > 1);
  CHECK(expected < 3);
  CHECK(attend(hide) == expected);
  CHECK(attend(hide, finite) == expected);
  CHECK(std::abs(attend(hide, heed::soft_cap(1e6)) - expected) < T(1e-5));
  CHECK(attend(hide, heed::score_mod([](T, Index, Index, Index, Index j) { return static_cast<T>(j == 1); })) == 2);
}

TEMPLATE_TEST_CASE("a score_mod is any callable, with a derivative or without", "[attention][score_modifiers]", float,
                   double) {
  using T = TestType;
  CHECK(scores_of<T>({2}, heed::score_mod(twice))[0] == 4);
  const std::function<T(T, Index, Index, Index, Index)> erased = twice;
  CHECK(scores_of<T>({2}, heed::score_mod(erased))[0] == 4);
  const auto two = [](T, auto...) { return T(2); };
  CHECK(scores_of<T>({2}, heed::score_mod(twice, two))[0] == 4);
  const auto kept = heed::score_mod([factors = std::vector<T>{2, 3}](T score, auto, auto, auto, auto j) {
    return factors[static_cast<std::size_t>(j)] * score;
  });
  CHECK(scores_of<T>({2, 2}, kept) == std::vector<T>{4, 6});
}
