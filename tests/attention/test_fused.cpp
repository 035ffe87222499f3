// What the kernels pass over, and weights that need two passes, at sizes of more than one tile and block.
#include "catch.hpp"
#include "support/tensors.hpp"

#include <heed/attention/reference.hpp>
#include <heed/attention/scaled_dot_product_attention.hpp>

#include <cmath>
#include <limits>
#include <random>

using heed::Index;
using heed::Tensor;
using support::almost_same;

namespace {

template <class T>
struct Problem {
  Tensor<T, 3> q, k, v;  // ℝ^{2×t×17}, ℝ^{1×s×17}, ℝ^{1×s×20}

  Problem(Index t, Index s) {
    std::mt19937 rng(5);
    q = support::random<T>(rng, 2, t, 17);
    k = support::random<T>(rng, 1, s, 17);
    v = support::random<T>(rng, 1, s, 20);
  }

  template <class... M>
  Tensor<T, 3> fused(const M&... modifiers) const {
    return heed::scaled_dot_product_attention(q, k, v, modifiers...);
  }
  template <class... M>
  Tensor<T, 3> plain(const M&... modifiers) const {
    return heed::reference::scaled_dot_product_attention(q, k, v, modifiers...);
  }
  void poison_key(Index j) {
    for (Index c = 0; c < 17; ++c) k(0, j, c) = std::numeric_limits<T>::quiet_NaN();
    for (Index c = 0; c < 20; ++c) v(0, j, c) = std::numeric_limits<T>::infinity();
  }
};

/// Masks with holes of whole tiles: in front, in the middle, at the end, and everywhere for some rows.
bool in_blocks(Index i, Index j) { return i / 40 == j / 40; }
bool at_the_ends(Index i, Index j) { return (j < 3 || j >= 550) && i % 50 < 45; }
bool on_islands(Index i, Index j) { return j / 70 % 3 == i / 90 % 3 && j != 141; }

}  // namespace

TEMPLATE_TEST_CASE("masks that hide whole tiles give what the reference gives", "[attention][fused]", float, double) {
  using T = TestType;
  for (const auto shows : {in_blocks, at_the_ends, on_islands})
    for (const Index t : {5, 33, 130}) {
      CAPTURE(t);
      Problem<T> problem(t, 600);
      Tensor<bool, 2> mask(t, 600);
      for (Index i = 0; i < t; ++i)
        for (Index j = 0; j < 600; ++j) mask(i, j) = shows(i, j) && j != 141 && j != 599;
      problem.poison_key(141);
      problem.poison_key(599);
      const Tensor<T, 3> expected = problem.plain(heed::mask(mask));
      CHECK(almost_same(problem.fused(heed::mask(mask)), expected));
      // The same mask with gaps between its elements.
      Tensor<bool, 3> wide(t, 600, 3);
      wide.fill(true);
      auto gapped = heed::TensorView<bool, 2>(wide.data(), {t, 600}, {1800, 3});
      heed::copy_into(gapped, mask);
      CHECK(almost_same(problem.fused(heed::mask(gapped)), expected));
      CHECK(almost_same(problem.fused(heed::mask(mask), heed::sliding_window(100, 30)),
                        problem.plain(heed::mask(mask), heed::sliding_window(100, 30))));
    }
}

TEMPLATE_TEST_CASE("blocks that a mask_mod's predicate rules out are passed over", "[attention][fused]", float,
                   double) {
  using T = TestType;
  const Problem<T> problem(130, 600);
  Index asked = 0;
  const auto shows = [&](Index, Index, Index i, Index j) {
    ++asked;
    return i / 40 == j / 40;
  };
  const auto may_see = [](Index, Index, Index i, Index i_end, Index j, Index j_end) {
    return i / 40 <= (j_end - 1) / 40 && j / 40 <= (i_end - 1) / 40;
  };
  const Tensor<T, 3> all = problem.fused(heed::mask_mod(shows));
  const Index asked_without = asked;
  asked = 0;
  const Tensor<T, 3> some = problem.fused(heed::mask_mod(shows, may_see));
  CHECK(almost_same(some, all));
  CHECK(almost_same(some, problem.plain(heed::mask_mod(shows, may_see))));
  asked = 0;
  problem.fused(heed::mask_mod(shows, may_see));
  CHECK(asked < asked_without / 4);

  // It is believed.
  const auto nothing = [](Index, Index, Index, Index, Index, Index) { return false; };
  const Tensor<T, 3> none = problem.fused(heed::mask_mod(shows, nothing));
  for (Index n = 0; n < none.size(); ++n) CHECK(support::bits(none.data()[n]) == 0);
}

TEMPLATE_TEST_CASE("a mask_mod's predicate is called with blocks that exist", "[attention][fused]", float, double) {
  using T = TestType;
  const auto shows = [](Index, Index, Index, Index) { return true; };
  for (const Index s : {1, 31, 33, 600}) {
    const Problem<T> problem(45, s);
    bool all_exist = true;
    const auto may_see = [&](Index b, Index h, Index i, Index i_end, Index j, Index j_end) {
      all_exist = all_exist && b == 0 && 0 <= h && h < 2 && 0 <= i && i < i_end && i_end <= 45 && 0 <= j && j < j_end &&
                  j_end <= s;
      return true;
    };
    problem.fused(heed::mask_mod(shows, may_see));
    CHECK(all_exist);
  }
}

TEMPLATE_TEST_CASE("prob_mod may give any weight, and hidden ones stay hidden", "[attention][fused]", float, double) {
  using T = TestType;
  const auto center = [](T weight, Index, Index, Index i, Index j) {
    return (i + j) % 3 == 0 ? -weight : (i + j) % 3 == 1 ? T(0) : -T(0) * weight + weight * weight;
  };
  const auto visible = heed::mask_mod([](Index, Index, Index i, Index j) { return (i + 2 * j) % 5 != 0 && j != 7; });
  for (const Index t : {3, 9, 40})
    for (const Index s : {9, 70, 560}) {
      CAPTURE(t, s);
      Problem<T> problem(t, s);
      problem.poison_key(7);
      CHECK(
          almost_same(problem.fused(heed::prob_mod(center), visible), problem.plain(heed::prob_mod(center), visible)));
      const heed::Philox philox{3, 4};
      CHECK(almost_same(problem.fused(heed::prob_mod(center), visible, heed::dropout(0.3, philox)),
                        problem.plain(heed::prob_mod(center), visible, heed::dropout(0.3, philox))));
      const auto larger_than_one = [](T, Index, Index, Index, Index) { return T(2); };
      CHECK(almost_same(problem.fused(heed::prob_mod(larger_than_one), heed::causal(), visible),
                        problem.plain(heed::prob_mod(larger_than_one), heed::causal(), visible), 4096));
    }
}

namespace {

/// Queries and keys of a problem for each of the kernels: small, few queries, tiles.
constexpr struct { Index t, s; } each_kernels_problem[] = {{4, 5}, {4, 600}, {70, 80}};

}  // namespace

TEMPLATE_TEST_CASE("a query that sees no key gives zeros beside others that do, whatever the sink",
                   "[attention][fused]", float, double) {
  using T = TestType;
  for (const auto& [t, s] : each_kernels_problem) {
    CAPTURE(t, s);
    heed::Generator rng(1);
    const auto q = heed::rand<T>(rng, 1, t, 8), k = heed::rand<T>(rng, 1, s, 8), v = heed::rand<T>(rng, 1, s, 3);
    heed::Tensor<bool, 2> mask(t, s);
    mask.fill(true);
    for (Index j = 0; j < s; ++j) mask(1, j) = false;
    for (const T sink : {T(0), std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()}) {
      const heed::Tensor<T, 1> sinks{sink};
      const auto out = heed::scaled_dot_product_attention(q, k, v, heed::mask(mask), heed::sinks(sinks));
      for (Index c = 0; c < 3; ++c) {
        CHECK(support::bits(out(0, 1, c)) == 0);
        CHECK(std::isnan(out(0, 0, c)) == std::isnan(sink));
      }
    }
  }
}

TEMPLATE_TEST_CASE("queries are scaled before their products can overflow, whatever the kernel", "[attention][fused]",
                   float, double) {
  using T = TestType;
  const T large = std::sqrt(std::numeric_limits<T>::max()) * 10, scale = 1 / large;
  for (const auto& [t, s] : each_kernels_problem) {
    CAPTURE(t, s);
    heed::Tensor<T, 2> q(t, 2), k(s, 2), v(s, 3);
    q.fill(large);
    k.fill(large);
    v.fill(1);
    heed::Tensor<T, 1> found(t);
    const auto out =
        heed::scaled_dot_product_attention(q, k, v, heed::scale(static_cast<double>(scale)), heed::logsumexp(found));
    for (Index i = 0; i < t; ++i) {
      CHECK(out(i, 0) == Approx(1));
      CHECK(found(i) == Approx(2 * large));
    }
  }
}
