#include <heed/core/overlap.hpp>

#include "catch.hpp"
#include "core/helpers.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

using core_tests::address_of;
using core_tests::numbered;
using core_tests::value_error;
using heed::Index;
using heed::Shape;
using heed::Strides;
using heed::Tensor;
using heed::TensorView;
using heed::detail::check_output;
using heed::detail::shares_elements;
using heed::detail::shares_own_elements;

namespace {

/// The addresses of all elements, sorted.
template <class T, int R>
std::vector<std::uintptr_t> addresses(const TensorView<T, R>& v) {
  std::vector<std::uintptr_t> list;
  for (Index n = 0; n < v.size(); ++n) list.push_back(reinterpret_cast<std::uintptr_t>(address_of(v, n)));
  std::sort(list.begin(), list.end());
  return list;
}

/// Whether two views share a byte, by looking at every pair of elements that could.
template <class A, int RA, class B, int RB>
bool share_by_enumeration(const TensorView<A, RA>& a, const TensorView<B, RB>& b) {
  const auto theirs = addresses(b);
  for (const std::uintptr_t address : addresses(a)) {
    const auto first = std::upper_bound(theirs.begin(), theirs.end(), address - sizeof(B));
    if (first != theirs.end() && *first < address + sizeof(A)) return true;
  }
  return false;
}

template <class T, int R>
bool share_own_by_enumeration(const TensorView<T, R>& v) {
  const auto list = addresses(v);
  return std::adjacent_find(list.begin(), list.end()) != list.end();
}

/// Memory in whose middle random views begin. No element of it is ever read.
class Pool {
 public:
  explicit Pool(std::uint32_t seed) : engine_(seed), bytes_(1 << 14) {}

  /// An integer in [least, most], the same on every platform.
  Index random(Index least, Index most) { return least + static_cast<Index>(engine_()) % (most - least + 1); }

  /// Sizes 0 to 5, strides ±`reach`, a start within 30 elements of the middle.
  template <class T, int R>
  TensorView<T, R> random_view(Index reach) {
    Shape<R> shape;
    Strides<R> strides{};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(R); ++axis) {
      shape[axis] = random(0, 40) == 0 ? 0 : random(1, R > 2 ? 3 : 5);
      strides[axis] = random(-reach, reach);
    }
    const auto start = static_cast<std::size_t>(Index{1} << 13) / sizeof(T);
    T* const middle = reinterpret_cast<T*>(bytes_.data()) + start;
    return TensorView<T, R>(middle + random(-30, 30), shape, strides);
  }

 private:
  std::mt19937 engine_;
  std::vector<std::byte> bytes_;
};

struct Tally {
  int shared = 0;
  int apart = 0;
  int wrong = 0;

  void add(bool found, bool truth) {
    ++(truth ? shared : apart);
    wrong += found != truth ? 1 : 0;
  }
};

template <class A, int RA, class B, int RB>
void compare_pairs(Pool& pool, Tally& tally) {
  for (int n = 0; n < 1500; ++n) {
    const Index reach = n % 3 == 0 ? 3 : n % 3 == 1 ? 12 : 40;
    const auto a = pool.random_view<A, RA>(reach);
    const auto b = pool.random_view<B, RB>(reach);
    const bool truth = share_by_enumeration(a, b);
    tally.add(shares_elements(a, b), truth);
    tally.add(shares_elements(b, a), truth);
  }
}

template <int R>
Tally compare_own(Pool& pool) {
  Tally tally;
  for (int n = 0; n < 4000; ++n) {
    const auto v = pool.random_view<double, R>(n % 3 == 0 ? 3 : n % 3 == 1 ? 12 : 60);
    tally.add(shares_own_elements(v), share_own_by_enumeration(v));
  }
  return tally;
}

}  // namespace

TEST_CASE("shared memory is found exactly, as by enumeration", "[core][overlap]") {
  Pool pool(2024);
  Tally tally;
  compare_pairs<float, 1, float, 1>(pool, tally);
  compare_pairs<float, 2, float, 2>(pool, tally);
  compare_pairs<double, 3, double, 2>(pool, tally);
  compare_pairs<float, 4, float, 4>(pool, tally);
  compare_pairs<double, 2, float, 3>(pool, tally);
  compare_pairs<bool, 2, double, 2>(pool, tally);
  compare_pairs<const float, 3, bool, 3>(pool, tally);
  CHECK(tally.wrong == 0);
  CHECK(tally.shared > 2000);
  CHECK(tally.apart > 5000);
}

TEST_CASE("an element that two indices name is found exactly, as by enumeration", "[core][overlap]") {
  Pool pool(2025);
  for (const Tally& tally : {compare_own<1>(pool), compare_own<2>(pool), compare_own<3>(pool), compare_own<4>(pool)}) {
    CHECK(tally.wrong == 0);
    CHECK(tally.shared > 200);
    CHECK(tally.apart > 200);
  }
}

TEMPLATE_TEST_CASE("column blocks of one matrix share nothing", "[core][overlap]", float, double) {
  const auto x = numbered<TestType>(5, 12);
  const auto columns = [&](Index first, Index count) {
    return TensorView<const TestType, 2>(x.data() + first, Shape<2>(5, count), {12, 1});
  };
  CHECK(!shares_elements(columns(0, 4), columns(4, 4)));
  CHECK(!shares_elements(columns(8, 4), columns(4, 4)));
  CHECK(shares_elements(columns(0, 5), columns(4, 4)));
  CHECK(shares_elements(columns(0, 12), columns(11, 1)));
}

TEMPLATE_TEST_CASE("odd and even elements share nothing, a transpose shares all", "[core][overlap]", float, double) {
  auto x = numbered<TestType>(6, 6);
  const TensorView<TestType, 1> even(x.data(), Shape<1>(18), {2});
  const TensorView<TestType, 1> odd(x.data() + 1, Shape<1>(18), {2});
  const TensorView<TestType, 1> even_backwards(x.data() + 34, Shape<1>(18), {-2});
  const TensorView<TestType, 2> transposed(x.data(), Shape<2>(6, 6), {1, 6});
  CHECK(!shares_elements(even, odd));
  CHECK(!shares_elements(odd, even_backwards));
  CHECK(shares_elements(even, even_backwards));
  CHECK(shares_elements(transposed, odd));
  const TensorView<TestType, 2> lower(x.data() + 18, Shape<2>(3, 6), {6, 1});
  const TensorView<TestType, 2> first_columns(x.data(), Shape<2>(3, 3), {1, 6});  // rows 0 to 2, columns 0 to 2
  CHECK(!shares_elements(lower, first_columns));
}

TEMPLATE_TEST_CASE("an empty view shares nothing, and two tensors neither", "[core][overlap]", float, double) {
  auto x = numbered<TestType>(3, 4);
  const auto y = numbered<TestType>(3, 4);
  const TensorView<TestType, 2> v = x;
  CHECK(!shares_elements(v, TensorView<TestType, 2>(x.data(), Shape<2>(0, 4), {4, 1})));
  CHECK(!shares_elements(v, TensorView<const TestType, 2>(y)));
  CHECK(shares_elements(v, TensorView<const TestType, 2>(v)));
}

TEST_CASE("views of different element types share memory where their bytes do", "[core][overlap]") {
  alignas(double) std::array<std::byte, 64> memory{};
  double* const doubles = reinterpret_cast<double*>(memory.data());
  bool* const bools = reinterpret_cast<bool*>(memory.data());
  const TensorView<double, 1> second(doubles + 1, Shape<1>(1), {1});
  CHECK(!shares_elements(second, TensorView<bool, 1>(bools, Shape<1>(8), {1})));
  CHECK(shares_elements(second, TensorView<bool, 1>(bools, Shape<1>(9), {1})));
  CHECK(shares_elements(second, TensorView<bool, 1>(bools + 15, Shape<1>(1), {1})));
  CHECK(!shares_elements(second, TensorView<bool, 1>(bools + 16, Shape<1>(1), {1})));
}

TEST_CASE("overlap of views of 2^40 elements is decided at once", "[core][overlap]") {
  // The addresses are only computed with, never followed: q, k and v of one projection, side by side in each row.
  std::array<float, 4> memory{};
  constexpr Index rows = Index{1} << 30;
  constexpr Index width = 3 * 1024;
  const auto part = [&](Index first, Index size) {
    return TensorView<float, 2>(reinterpret_cast<float*>(reinterpret_cast<std::uintptr_t>(memory.data()) +
                                                         static_cast<std::uintptr_t>(first) * sizeof(float)),
                                Shape<2>(rows, size), {width, 1});
  };
  CHECK(!shares_elements(part(0, 1024), part(1024, 1024)));
  CHECK(!shares_elements(part(2048, 1024), part(1024, 1024)));
  CHECK(shares_elements(part(0, 1025), part(1024, 1024)));
  CHECK(!shares_own_elements(part(0, 3072)));
  CHECK(shares_own_elements(part(0, 3073)));
}

TEST_CASE("windows that slide over one row share, tiles do not", "[core][overlap]") {
  std::array<float, 64> memory{};
  CHECK(shares_own_elements(TensorView<float, 2>(memory.data(), Shape<2>(5, 3), {1, 1})));
  CHECK(shares_own_elements(TensorView<float, 2>(memory.data(), Shape<2>(5, 3), {2, 1})));
  CHECK(!shares_own_elements(TensorView<float, 2>(memory.data(), Shape<2>(5, 3), {3, 1})));
  CHECK(!shares_own_elements(TensorView<float, 2>(memory.data(), Shape<2>(5, 2), {2, -1})));
  CHECK(shares_own_elements(TensorView<float, 2>(memory.data(), Shape<2>(1, 3), {7, 0})));
  CHECK(!shares_own_elements(TensorView<float, 2>(memory.data(), Shape<2>(3, 1), {7, 0})));
}

TEMPLATE_TEST_CASE("an output that shares with an input is refused by name", "[core][overlap]", float, double) {
  auto x = numbered<TestType>(4, 6);
  const TensorView<TestType, 2> out(x.data(), Shape<2>(2, 3), {6, 1});
  const TensorView<TestType, 1> first(x.data() + 7, Shape<1>(2), {1});
  const TensorView<TestType, 1> second(x.data() + 3, Shape<1>(3), {1});
  CHECK(value_error([&] { check_output("heed::f", "out", out, "bias", first); }) ==
        "heed::f: the output out ℝ^{2×3} shares elements with the input bias ℝ^{2}");
  CHECK_NOTHROW(check_output("heed::f", "out", out, "bias", second));
}

TEMPLATE_TEST_CASE("an output with fewer elements than indices is refused by name", "[core][overlap]", float, double) {
  auto x = numbered<TestType>(4, 6);
  const TensorView<TestType, 2> broadcast(x.data(), Shape<2>(2, 3), {0, 1});
  const TensorView<const TestType, 1> far(x.data() + 20, Shape<1>(2), {1});
  const auto message = "heed::f: several indices of the output out ℝ^{2×3} share one element";
  CHECK(value_error([&] { check_output("heed::f", "out", broadcast); }) == message);
  CHECK(value_error([&] { check_output("heed::f", "out", broadcast, "bias", far); }) == message);
  CHECK_NOTHROW(check_output("heed::f", "out", TensorView<TestType, 2>(x)));
}

TEST_CASE("strides that do not nest are refused rather than searched for ever", "[core][overlap]") {
  // All strides are multiples of 32 bytes and the views lie 16 bytes apart, so they share nothing, but with elements of
  // two sizes only a search over nearly all of the 30⁸ pairs would show it.
  std::vector<double> memory(200'000);
  const TensorView<double, 4> a(memory.data(), Shape<4>(30, 30, 30, 30), {620, 436, 256, 180});
  const TensorView<float, 4> b(reinterpret_cast<float*>(memory.data() + 20'002), Shape<4>(30, 30, 30, 30),
                               {1232, 880, 504, 360});
  CHECK(shares_elements(a, b));
  const TensorView<float, 4> c(reinterpret_cast<float*>(memory.data()) + 40'004, Shape<4>(30, 30, 30, 30),
                               {1240, 872, 512, 360});
  const TensorView<float, 4> d(reinterpret_cast<float*>(memory.data()) + 1, Shape<4>(30, 30, 30, 30),
                               {1232, 880, 504, 360});
  CHECK(!shares_elements(c, d));  // elements of one size: parity tells at once
}
