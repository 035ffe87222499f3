#pragma once

#include <heed/core/tensor.hpp>

#include <concepts>
#include <cstdint>
#include <random>

namespace heed {

/// PyTorch's CPU random generator, bit for bit: Generator(123) draws what torch.manual_seed(123) makes torch draw. It
/// is the standard Mersenne Twister (mt19937), seeded with the low 32 bits of the seed as PyTorch does. Copyable; not
/// for two threads at once.
class Generator {
 public:
  [[gnu::always_inline]] explicit Generator(std::uint64_t seed)
      : engine_(static_cast<std::uint32_t>(seed & 0xffffffffU)) {}

  /// The next 32 bits.
  [[gnu::always_inline]] std::uint32_t random() { return static_cast<std::uint32_t>(engine_()); }

  /// The next 64 bits: two outputs, the first one high.
  [[gnu::always_inline]] std::uint64_t random64() {
    const std::uint64_t high = random();
    return (high << 32U) | random();
  }

  /// Uniform in [0, 1): the low 24 bits of one output for float, the low 53 of two for double
  /// (at::uniform_real_distribution).
  template <std::floating_point T>
  [[gnu::always_inline]] T uniform() {
    if constexpr (sizeof(T) == sizeof(float)) {
      return static_cast<T>(random() & 0xffffffU) * T(0x1p-24);
    } else {
      return static_cast<T>(random64() & 0x1fffffffffffffU) * T(0x1p-53);
    }
  }

 private:
  std::mt19937 engine_;
};

}  // namespace heed

namespace heed::inline HEED_FLAGS {

/// Uniform numbers in [0, 1), drawn row by row (torch.rand). heed::rand<float>(rng, 3, 2) is ℝ^{3×2}.
template <std::floating_point T, SizeLike... I>
Tensor<T, static_cast<int>(sizeof...(I))> rand(Generator& rng, I... sizes) {
  Tensor<T, static_cast<int>(sizeof...(I))> result(sizes...);
  for (Index i = 0; i < result.size(); ++i) result.data()[i] = rng.uniform<T>();
  return result;
}

}  // namespace heed
