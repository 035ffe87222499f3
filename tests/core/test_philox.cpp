#include <heed/core/philox.hpp>

#include "catch.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

using heed::Index;
using heed::Philox;
using heed::detail::philox4x32;
using heed::detail::PhiloxBlock;

namespace {

/// Calls use(bits, bits one further along the axis) for many pairs of neighbours. Axes: 0 offset, 1 batch, 2 head, 3
/// query, 4 key.
template <class Use>
void for_neighbours(int axis, const Use& use) {
  for (Index n = 0; n < 1 << 14; ++n) {
    std::array<Index, 5> at{n & 3, (n >> 2) & 3, (n >> 4) & 3, (n >> 6) & 15, (n >> 10) & 15};
    const auto draw = [&at] { return Philox{5, static_cast<std::uint64_t>(at[0])}.random(at[1], at[2], at[3], at[4]); };
    const std::uint32_t here = draw();
    ++at[static_cast<std::size_t>(axis)];
    use(here, draw());
  }
}

/// Σ (observed − expected)²/expected.
double chi_square(const std::vector<double>& counts) {
  double total = 0;
  for (const double count : counts) total += count;
  const double expected = total / static_cast<double>(counts.size());
  double sum = 0;
  for (const double count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

}  // namespace

TEST_CASE("Philox gives the known answers of Random123", "[core][philox]") {
  // kat_vectors of Random123, philox4x32 with 10 rounds.
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t ones = 0xffffffff;
  CHECK(philox4x32({ones, ones, ones, ones}, {ones, ones}) ==
        PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a counter of two 64-bit numbers has its low words first", "[core][philox]") {
  CHECK(philox4x32(0x85a308d3243f6a88, 0x0370734413198a2e, {0xa4093822, 0x299f31d0}) ==
        PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("draws are the same on every machine", "[core][philox]") {
  // From an independent implementation in Python.
  CHECK(Philox{0, 0}.random(0, 0, 0, 0) == 0x0a0ba665);
  CHECK(Philox{123, 0}.random(0, 0, 0, 0) == 0xf8c02515);
  CHECK(Philox{123, 1}.random(2, 3, 4, 5) == 0xe002ecb9);
  CHECK(Philox{123, 1}.random(2, 3, 4, 6) == 0xc8267b03);
  constexpr Index one = 1;
  const Philox wide{0x8000000000000007U, 0x10000000009U};
  CHECK(wide.random(one << 33, (one << 34) + 1, (one << 35) + 2, (one << 36) + 3) == 0x3035e8ad);
}

TEST_CASE("a draw can be made at compile time", "[core][philox]") {
  constexpr std::uint32_t bits = Philox{123, 1}.random(2, 3, 4, 5);
  STATIC_REQUIRE(bits == 0xe002ecb9);
}

TEST_CASE("a draw depends on nothing drawn before", "[core][philox]") {
  const Philox philox{7, 3};
  std::vector<std::uint32_t> forwards;
  std::vector<std::uint32_t> backwards;
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < 10; ++j) forwards.push_back(philox.random(1, 2, i, j));
  const Philox copied = philox;
  for (Index i = 5; i >= 0; --i)
    for (Index j = 9; j >= 0; --j) backwards.push_back(copied.random(1, 2, i, j));
  std::reverse(backwards.begin(), backwards.end());
  CHECK(forwards == backwards);
}

TEST_CASE("planes, blocks and single draws agree", "[core][philox]") {
  const Philox philox{7, 3};
  for (Index b = 0; b < 2; ++b)
    for (Index h = 0; h < 3; ++h) {
      const heed::PhiloxPlane plane = philox.plane(b, h);
      for (Index i = 0; i < 5; ++i)
        for (Index j = 0; j < 11; ++j) {
          CHECK(plane.random(i, j) == philox.random(b, h, i, j));
          CHECK(plane.block(i, j / 4)[static_cast<std::size_t>(j % 4)] == philox.random(b, h, i, j));
        }
    }
}

TEST_CASE("each of seed, offset and coordinates counts in all its 64 bits", "[core][philox]") {
  const auto draw = [](const std::array<std::uint64_t, 6>& at) {
    const auto plane = Philox{at[0], at[1]}.plane(static_cast<Index>(at[2]), static_cast<Index>(at[3]));
    return plane.block(static_cast<Index>(at[4]), static_cast<Index>(at[5]));
  };
  std::vector<PhiloxBlock> blocks{draw({})};
  for (std::size_t part = 0; part < 6; ++part)
    for (int bit = 0; bit < 63; ++bit) {
      std::array<std::uint64_t, 6> at{};
      at[part] = std::uint64_t{1} << bit;
      blocks.push_back(draw(at));
    }
  std::sort(blocks.begin(), blocks.end());
  CHECK(std::adjacent_find(blocks.begin(), blocks.end()) == blocks.end());
}

TEST_CASE("seed, offset and coordinates do not stand in for one another", "[core][philox]") {
  std::vector<PhiloxBlock> blocks;
  for (std::uint64_t n = 0; n < 1 << 12; ++n) {  // four values of each
    const auto digit = [n](int place) { return static_cast<Index>((n >> (2 * place)) & 3U); };
    const Philox philox{n & 3U, (n >> 2U) & 3U};
    blocks.push_back(philox.plane(digit(2), digit(3)).block(digit(4), digit(5)));
  }
  std::sort(blocks.begin(), blocks.end());
  CHECK(std::adjacent_find(blocks.begin(), blocks.end()) == blocks.end());
}

TEST_CASE("uniform is the 32 bits over 2^32", "[core][philox]") {
  const Philox philox{7, 3};
  double least = 1;
  double most = 0;
  for (Index i = 0; i < 64; ++i)
    for (Index j = 0; j < 64; ++j) {
      const double u = philox.uniform(1, 2, i, j);
      CHECK(u * 4294967296.0 == philox.random(1, 2, i, j));
      least = std::min(least, u);
      most = std::max(most, u);
    }
  CHECK(least >= 0);
  CHECK(least < 0.002);
  CHECK(most > 0.998);
  CHECK(most < 1);
}

TEST_CASE("draws are spread evenly, in the high bits and in the low", "[core][philox]") {
  std::vector<double> high(256);
  std::vector<double> low(256);
  std::vector<double> bits(32);
  const Philox philox{7, 3};
  for (Index i = 0; i < 256; ++i)
    for (Index j = 0; j < 256; ++j) {
      const std::uint32_t draw = philox.random(0, 1, i, j);
      ++high[draw >> 24U];
      ++low[draw & 255U];
      for (std::size_t bit = 0; bit < 32; ++bit) bits[bit] += (draw >> bit) & 1U;
    }
  // 255 degrees of freedom: mean 255, standard deviation 22.6; five of them.
  CHECK(chi_square(high) < 255 + 5 * 22.6);
  CHECK(chi_square(high) > 255 - 5 * 22.6);
  CHECK(chi_square(low) < 255 + 5 * 22.6);
  CHECK(chi_square(low) > 255 - 5 * 22.6);
  // 65536 coins: mean 32768, standard deviation 128.
  for (const double count : bits) CHECK(std::abs(count - 32768) < 5 * 128);
}

TEST_CASE("neighbours along every coordinate are independent", "[core][philox]") {
  const int axis = GENERATE(0, 1, 2, 3, 4);
  CAPTURE(axis);
  std::vector<double> pairs(256);
  double differing_bits = 0;
  for_neighbours(axis, [&](std::uint32_t here, std::uint32_t next) {
    ++pairs[(here >> 28U) * 16 + (next >> 28U)];
    differing_bits += std::popcount(here ^ next);
  });
  CHECK(chi_square(pairs) < 255 + 5 * 22.6);
  // 2^14 pairs of 32 bits: mean 16 bits differ, the standard deviation of the mean is sqrt(8/2^14) = 0.022.
  CHECK(std::abs(differing_bits / (1 << 14) - 16) < 5 * 0.022);
}
