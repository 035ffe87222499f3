#pragma once

#include <cmath>
#include <concepts>

namespace heed {

/// e^x and the hyperbolic tangent, for the functions given to score_mod, mask_mod and prob_mod.
template <std::floating_point T>
T exp(T x) {
  return std::exp(x);
}
template <std::floating_point T>
T tanh(T x) {
  return std::tanh(x);
}

}  // namespace heed
