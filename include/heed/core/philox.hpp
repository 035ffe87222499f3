#pragma once

#include <heed/core/shape.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace heed::detail::inline HEED_FLAGS {

using PhiloxKey = std::array<std::uint32_t, 2>;
using PhiloxBlock = std::array<std::uint32_t, 4>;

/// Philox4x32 with 10 rounds: 128 random bits for a counter and a key (Salmon et al., "Parallel random numbers: as easy
/// as 1, 2, 3", 2011).
constexpr PhiloxBlock philox4x32(PhiloxBlock counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32U) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32U) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
    key = {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U};
  }
  return counter;
}

constexpr PhiloxBlock philox4x32(std::uint64_t low, std::uint64_t high, PhiloxKey key) {
  return philox4x32({static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32U),
                     static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32U)},
                    key);
}

/// Four random numbers each for `blocks` counters in a row. Loops of a fixed length, which become vector instructions.
template <int blocks>
[[gnu::always_inline]] inline void philox4x32(std::uint64_t first_low, std::uint64_t high, PhiloxKey key,
                                              std::uint32_t* random) {
  std::uint32_t c[4][static_cast<std::size_t>(blocks)];
  for (int n = 0; n < blocks; ++n) {
    const std::uint64_t low = first_low + static_cast<std::uint64_t>(n);
    c[0][n] = static_cast<std::uint32_t>(low);
    c[1][n] = static_cast<std::uint32_t>(low >> 32U);
    c[2][n] = static_cast<std::uint32_t>(high);
    c[3][n] = static_cast<std::uint32_t>(high >> 32U);
  }
  for (int round = 0; round < 10; ++round) {
    for (int n = 0; n < blocks; ++n) {
      const std::uint64_t product0 = std::uint64_t{0xD2511F53U} * c[0][n];
      const std::uint64_t product1 = std::uint64_t{0xCD9E8D57U} * c[2][n];
      c[0][n] = static_cast<std::uint32_t>(product1 >> 32U) ^ c[1][n] ^ key[0];
      c[1][n] = static_cast<std::uint32_t>(product1);
      c[2][n] = static_cast<std::uint32_t>(product0 >> 32U) ^ c[3][n] ^ key[1];
      c[3][n] = static_cast<std::uint32_t>(product0);
    }
    key = {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U};
  }
  for (int n = 0; n < blocks; ++n)
    for (int r = 0; r < 4; ++r) random[4 * n + r] = c[r][n];
}

}  // namespace heed::detail

namespace heed {

/// The draws of one (batch, head) of a Philox: four neighbouring keys share a block, so that a kernel gets them at
/// once.
class PhiloxPlane {
 public:
  [[gnu::always_inline]] constexpr explicit PhiloxPlane(detail::PhiloxKey key) : key_(key) {}

  /// 32 random bits each for keys 4n … 4n+3 of a query.
  [[gnu::always_inline]] constexpr detail::PhiloxBlock block(Index query, Index n) const {
    return detail::philox4x32(static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(query), key_);
  }

  /// The same for some blocks from n on.
  template <int blocks>
  [[gnu::always_inline]] void draw(Index query, Index n, std::uint32_t* bits) const {
    detail::philox4x32<blocks>(static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(query), key_, bits);
  }

  /// 32 random bits for one pair.
  [[gnu::always_inline]] constexpr std::uint32_t random(Index query, Index key) const {
    return block(query, key / 4)[static_cast<std::size_t>(key % 4)];
  }

 private:
  detail::PhiloxKey key_;
};

/// A counter-based random source for dropout. A draw depends on (seed, offset, batch, head, query, key) alone: not on
/// threads, tiles or the order of drawing. Modules take it by reference and advance the offset by one for each
/// attention computed.
struct Philox {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;

  /// The draws of one batch and head. Each level of coordinates gives the key of the next, so that all may use 64 bits.
  [[gnu::always_inline]] constexpr PhiloxPlane plane(Index batch, Index head) const {
    const detail::PhiloxKey seed_key{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)};
    const detail::PhiloxBlock call = detail::philox4x32(offset, 0, seed_key);
    const detail::PhiloxBlock plane =
        detail::philox4x32(static_cast<std::uint64_t>(batch), static_cast<std::uint64_t>(head), {call[0], call[1]});
    return PhiloxPlane({plane[0], plane[1]});
  }

  /// 32 random bits for one pair of query and key.
  [[gnu::always_inline]] constexpr std::uint32_t random(Index batch, Index head, Index query, Index key) const {
    return plane(batch, head).random(query, key);
  }

  /// Uniform in [0, 1) with 32 bits.
  [[gnu::always_inline]] constexpr double uniform(Index batch, Index head, Index query, Index key) const {
    return random(batch, head, query, key) * 0x1p-32;
  }
};

}  // namespace heed
