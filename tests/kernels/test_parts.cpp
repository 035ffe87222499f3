// The parts of the kernels, each by itself, for every instruction set that this processor has.
#include "catch.hpp"
#include "support/tensors.hpp"

#include <heed/core/aligned_buffer.hpp>
#include <heed/kernels/kernels.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using heed::Index;
using heed::InstructionSet;

namespace {

/// The parts in one namespace of the kernels behind one type.
#define HEED_TEST_PARTS(set)                                                                                      \
  struct set##_parts {                                                                                            \
    static constexpr const char* name = #set;                                                                     \
    static constexpr Index tile_rows = heed::kernels::set::tile_rows;                                             \
    template <class T>                                                                                            \
    static constexpr Index width = heed::kernels::set::width<T>;                                                  \
    template <class T>                                                                                            \
    static constexpr Index row_lanes = heed::kernels::set::row_lanes<T>;                                          \
    template <class T>                                                                                            \
    static void pack_keys(const T* keys, Index row, Index column, Index n, Index d, T* panels) {                  \
      heed::kernels::set::pack_keys<T>(keys, row, column, n, d, panels);                                          \
    }                                                                                                             \
    template <class T>                                                                                            \
    static void pack_rows(const T* x, Index row, Index column, Index n, Index m, T factor, T* to, Index stride) { \
      heed::kernels::set::pack_rows<T>(x, row, column, n, m, factor, to, stride);                                 \
    }                                                                                                             \
    template <class T>                                                                                            \
    static void score_rows(Index rows, const T* q, const T* panels, Index n, Index d, T* scores, Index stride) {  \
      heed::kernels::set::Fetches soon;                                                                           \
      heed::kernels::set::score_rows<T>(rows, q, panels, n, d, scores, stride, soon);                             \
    }                                                                                                             \
    template <class T>                                                                                            \
    static void value_rows(Index rows, const T* weights, Index stride, const T* v, Index n, Index e, bool finite, \
                           T* out, const T* decay) {                                                              \
      heed::kernels::set::value_rows<T>(rows, weights, stride, v, e, n, e, finite, out, decay);                   \
    }                                                                                                             \
    template <class T, bool marks>                                                                                \
    static void soften_rows(T* scores, Index stride, Index rows, Index n, T* largest, T* sums, T* decay) {        \
      heed::kernels::set::soften_rows<T, marks>(scores, stride, rows, n, largest,                                 \
                                                reinterpret_cast<heed::kernels::set::V<T>*>(sums), decay);        \
    }                                                                                                             \
    template <class T>                                                                                            \
    static void normalise_rows(T* scores, Index stride, Index rows, Index n, const T* largest, const T* sums) {   \
      heed::kernels::set::normalise_rows<T>(scores, stride, rows, n, largest,                                     \
                                            reinterpret_cast<const heed::kernels::set::V<T>*>(sums));             \
    }                                                                                                             \
  };
#if HEED_HAS_X86_REGIONS
HEED_TEST_PARTS(avx512)
HEED_TEST_PARTS(avx2)
#endif
HEED_TEST_PARTS(baseline)
#undef HEED_TEST_PARTS

template <class F>
void each_set(const F& f) {
#if HEED_HAS_X86_REGIONS
  using heed::detail::detected_instruction_set;
  if (detected_instruction_set() >= InstructionSet::avx512) f(avx512_parts{});
  if (detected_instruction_set() >= InstructionSet::avx2) f(avx2_parts{});
#endif
  f(baseline_parts{});
}

template <class T>
std::vector<T> numbers(std::mt19937& rng, Index n) {
  std::vector<T> x(static_cast<std::size_t>(n));
  for (T& value : x) value = static_cast<T>(static_cast<double>(rng()) * 0x1p-30 - 2);
  return x;
}

Index rounded_up(Index n, Index step) { return (n + step - 1) / step * step; }

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T>
constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();

/// The state of the softmax for the rows of a tile.
template <class T, class Set>
struct Softmax {
  std::vector<T> largest = std::vector<T>(static_cast<std::size_t>(Set::template row_lanes<T>), -infinity<T>);
  std::vector<T> decay = std::vector<T>(largest.size());
  heed::detail::AlignedBuffer<T> sums{Set::template row_lanes<T> * Set::template width<T>};

  template <bool marks>
  void soften(std::vector<T>& scores, Index rows, Index n) {
    Set::template soften_rows<T, marks>(scores.data(), n, rows, n, largest.data(), sums.data(), decay.data());
  }
  double sum(Index row) const {
    double total = 0;
    for (Index lane = 0; lane < Set::template width<T>; ++lane)
      total += static_cast<double>(sums.data()[row * Set::template width<T> + lane]);
    return total;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("keys become panels with a feature in each row, and zeros where there is no key", "[kernels]", float,
                   double) {
  using T = TestType;
  each_set([](auto set) {
    CAPTURE(set.name);
    std::mt19937 rng(1);
    const Index panel = 2 * set.template width<T>;
    for (const Index d : {1, 3, 16, 17, 40})
      for (const Index n : {1, 7, 16, 17, 33, 64, 70})
        for (const bool by_columns : {false, true}) {
          CAPTURE(d, n, by_columns);
          const std::vector<T> keys = numbers<T>(rng, (n + 2) * (d + 3));
          const Index row = by_columns ? 1 : d + 3, column = by_columns ? n + 2 : 1;
          std::vector<T> panels(static_cast<std::size_t>(rounded_up(n, panel) * d), not_a_number<T>);
          set.template pack_keys<T>(keys.data(), row, column, n, d, panels.data());
          bool right = true;
          for (Index j = 0; j < rounded_up(n, panel); ++j)
            for (Index c = 0; c < d; ++c) {
              const T expected = j < n ? keys[static_cast<std::size_t>(j * row + c * column)] : T(0);
              right = right && panels[static_cast<std::size_t>((j / panel * d + c) * panel + j % panel)] == expected;
            }
          CHECK(right);
        }
  });
}

TEMPLATE_TEST_CASE("rows are packed times a factor, and nothing beside them is written", "[kernels]", float, double) {
  using T = TestType;
  each_set([](auto set) {
    CAPTURE(set.name);
    std::mt19937 rng(2);
    for (const Index columns : {1, 5, 16, 17, 40})
      for (const Index step : {1, 2}) {
        CAPTURE(columns, step);
        const std::vector<T> x = numbers<T>(rng, 4 * 100);
        std::vector<T> packed(4 * 50, T(7));
        set.template pack_rows<T>(x.data(), 100, step, 4, columns, T(0.5), packed.data(), 50);
        bool right = true;
        for (Index r = 0; r < 4; ++r)
          for (Index c = 0; c < 50; ++c)
            right = right && packed[static_cast<std::size_t>(r * 50 + c)] ==
                                 (c < columns ? x[static_cast<std::size_t>(r * 100 + c * step)] / 2 : T(7));
        CHECK(right);
      }
  });
}

TEMPLATE_TEST_CASE("the product of queries and keys is right for every number of rows and keys", "[kernels]", float,
                   double) {
  using T = TestType;
  each_set([](auto set) {
    CAPTURE(set.name);
    std::mt19937 rng(3);
    const Index width = set.template width<T>, tile = set.tile_rows, stride = 80;
    for (Index rows = 1; rows <= tile; ++rows)
      for (const Index n : {Index{1}, width - 1, width, width + 1, 2 * width, 2 * width + 1, 3 * width, Index{64}})
        for (const Index d : {1, 2, 17}) {
          CAPTURE(rows, n, d);
          const std::vector<T> q = numbers<T>(rng, tile * d), keys = numbers<T>(rng, n * d);
          std::vector<T> panels(static_cast<std::size_t>(rounded_up(n, 2 * width) * d));
          set.template pack_keys<T>(keys.data(), d, 1, n, d, panels.data());
          std::vector<T> scores(static_cast<std::size_t>(tile * stride), not_a_number<T>);
          set.template score_rows<T>(rows, q.data(), panels.data(), n, d, scores.data(), stride);
          double worst = 0;
          for (Index i = 0; i < rows; ++i)
            for (Index j = 0; j < rounded_up(n, width); ++j) {
              double expected = 0;
              for (Index c = 0; c < d && j < n; ++c)
                expected += static_cast<double>(q[static_cast<std::size_t>(i * d + c)]) *
                            static_cast<double>(keys[static_cast<std::size_t>(j * d + c)]);
              const double error =
                  std::abs(static_cast<double>(scores[static_cast<std::size_t>(i * stride + j)]) - expected);
              worst = error <= worst ? worst : error < 1e300 ? error : 1e300;
            }
          CHECK(worst <= 64 * static_cast<double>(std::numeric_limits<T>::epsilon()));
        }
  });
}

TEMPLATE_TEST_CASE("the product of weights and values decays what was there, and skips hidden values if asked",
                   "[kernels]", float, double) {
  using T = TestType;
  each_set([](auto set) {
    CAPTURE(set.name);
    std::mt19937 rng(4);
    const Index width = set.template width<T>, tile = set.tile_rows, n = 9;
    for (Index rows = 1; rows <= tile; ++rows)
      for (const Index e : {width, 2 * width, 3 * width, 5 * width})
        for (const bool finite : {true, false}) {
          CAPTURE(rows, e, finite);
          std::vector<T> weights = numbers<T>(rng, tile * n), values = numbers<T>(rng, n * e);
          std::vector<T> decay = numbers<T>(rng, set.template row_lanes<T>), out = numbers<T>(rng, tile * e);
          for (Index i = 0; i < tile; ++i) weights[static_cast<std::size_t>(i * n + i % n)] = -T(0);
          if (!finite) values[static_cast<std::size_t>(3 * e + 1)] = not_a_number<T>;
          const std::vector<T> before = out;
          set.template value_rows<T>(rows, weights.data(), n, values.data(), n, e, finite, out.data(), decay.data());
          bool right = true;
          for (Index i = 0; i < rows; ++i)
            for (Index c = 0; c < e; ++c) {
              double expected = static_cast<double>(before[static_cast<std::size_t>(i * e + c)]) *
                                static_cast<double>(decay[static_cast<std::size_t>(i)]);
              for (Index j = 0; j < n; ++j)
                if (j != i % n)
                  expected += static_cast<double>(weights[static_cast<std::size_t>(i * n + j)]) *
                              static_cast<double>(values[static_cast<std::size_t>(j * e + c)]);
              const double actual = static_cast<double>(out[static_cast<std::size_t>(i * e + c)]);
              right =
                  right && (std::isnan(expected) ? std::isnan(actual)
                                                 : std::abs(actual - expected) <=
                                                       100 * static_cast<double>(std::numeric_limits<T>::epsilon()));
            }
          CHECK(right);
        }
  });
}

TEMPLATE_TEST_CASE("a score becomes its exponential: exactly 1 at the largest and 0 where it is no normal number",
                   "[kernels]", float, double) {
  using T = TestType;
  each_set([](auto set) {
    using Set = decltype(set);
    CAPTURE(set.name);
    const Index n = 4096;
    const double lowest = std::log(static_cast<double>(std::numeric_limits<T>::min()));
    std::vector<T> scores(static_cast<std::size_t>(n));
    for (Index j = 0; j < n; ++j)
      scores[static_cast<std::size_t>(j)] = static_cast<T>(3 + 1.2 * lowest * static_cast<double>(j) / n);
    scores[5] = -infinity<T>;
    scores[6] = -std::numeric_limits<T>::max();
    const std::vector<T> before = scores;
    Softmax<T, Set> softmax;
    softmax.template soften<true>(scores, 1, n);
    CHECK(softmax.largest[0] == T(3));
    CHECK(support::bits(scores[0]) == support::bits(T(1)));
    CHECK(support::bits(scores[5]) == support::bits(-T(0)));  // the mark of a hidden pair
    CHECK(support::bits(scores[6]) == support::bits(T(0)));
    double worst = 0;
    bool zero_below = true;
    for (Index j = 0; j < n; ++j) {
      if (j == 5 || j == 6) continue;
      const double x = static_cast<double>(before[static_cast<std::size_t>(j)] - T(3));
      const double actual = static_cast<double>(scores[static_cast<std::size_t>(j)]);
      if (x < lowest - 0.1) zero_below = zero_below && actual == 0;
      // On every way to 2^(x·log2 e), rounding the product costs half a unit of |x|, and the rounded log2 e a quarter.
      if (x > lowest + 0.5) worst = std::max(worst, std::abs(actual / std::exp(x) - 1) / (3 + 0.75 * std::abs(x)));
    }
    CHECK(zero_below);
    CHECK(worst <= static_cast<double>(std::numeric_limits<T>::epsilon()));
  });
}

TEMPLATE_TEST_CASE("the softmax of keys in two parts is that of all at once", "[kernels]", float, double) {
  using T = TestType;
  each_set([](auto set) {
    using Set = decltype(set);
    CAPTURE(set.name);
    std::mt19937 rng(6);
    const Index rows = set.tile_rows, n = 64;
    std::vector<T> first = numbers<T>(rng, rows * n), second = numbers<T>(rng, rows * n), all;
    const auto sees = [](Index i, int part) { return i % 4 == part || i % 4 == 2; };  // row 3 sees nothing
    for (Index i = 0; i < rows; ++i) {
      if (!sees(i, 0)) std::fill_n(first.begin() + i * n, n, -infinity<T>);
      if (!sees(i, 1)) std::fill_n(second.begin() + i * n, n, -infinity<T>);
      all.insert(all.end(), first.begin() + i * n, first.begin() + (i + 1) * n);
      all.insert(all.end(), second.begin() + i * n, second.begin() + (i + 1) * n);
    }
    Softmax<T, Set> at_once, in_parts;
    std::vector<T> weights = all;
    at_once.template soften<false>(weights, rows, 2 * n);
    in_parts.template soften<false>(first, rows, n);
    in_parts.template soften<false>(second, rows, n);
    const double close = 64 * static_cast<double>(std::numeric_limits<T>::epsilon());
    for (Index i = 0; i < rows; ++i) {
      CAPTURE(i);
      const double sum = at_once.sum(i);
      CHECK(in_parts.largest[static_cast<std::size_t>(i)] == at_once.largest[static_cast<std::size_t>(i)]);
      CHECK(std::abs(in_parts.sum(i) - sum) <= close * (1 + sum));
      bool same = true;
      for (Index j = 0; j < n; ++j)
        same =
            same && second[static_cast<std::size_t>(i * n + j)] == weights[static_cast<std::size_t>(i * 2 * n + n + j)];
      CHECK(same);
      CHECK((sum == 0) == (i % 4 == 3));
    }

    Set::template normalise_rows<T>(all.data(), 2 * n, rows, 2 * n, at_once.largest.data(), at_once.sums.data());
    for (Index i = 0; i < rows; ++i) {
      CAPTURE(i);
      double total = 0;
      bool hidden_are_marked = true;
      for (Index j = 0; j < 2 * n; ++j) {
        const T weight = all[static_cast<std::size_t>(i * 2 * n + j)];
        total += static_cast<double>(weight);
        const bool is_hidden = weights[static_cast<std::size_t>(i * 2 * n + j)] == 0;
        hidden_are_marked = hidden_are_marked && (support::bits(weight) == support::bits(-T(0))) == is_hidden;
      }
      CHECK(std::abs(total - (i % 4 == 3 ? 0 : 1)) <= close);
      CHECK(hidden_are_marked);
    }
  });
}

TEMPLATE_TEST_CASE("a score of NaN makes its weight NaN, not the maximum", "[kernels]", float, double) {
  using T = TestType;
  each_set([](auto set) {
    using Set = decltype(set);
    CAPTURE(set.name);
    for (const Index at : {0, 1, 17, 40}) {
      CAPTURE(at);
      std::vector<T> scores(64, T(1));
      scores[static_cast<std::size_t>(at)] = not_a_number<T>;
      Softmax<T, Set> softmax;
      softmax.template soften<false>(scores, 1, 64);
      CHECK(softmax.largest[0] == T(1));
      CHECK(std::isnan(scores[static_cast<std::size_t>(at)]));
      CHECK(scores[static_cast<std::size_t>(63)] == T(1));
      CHECK(std::isnan(softmax.sum(0)));
    }
  });
}
