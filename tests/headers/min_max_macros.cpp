// As after <windows.h> without NOMINMAX: heed's own lines keep clear of these macros.
#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <forward_list>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <ostream>
#include <random>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <Eigen/Core>

#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#include <heed/heed.hpp>

// Templates too, by their use.
heed::Tensor<float, 2> use_all(const heed::Tensor<float, 2>& x);
heed::Tensor<float, 2> use_all(const heed::Tensor<float, 2>& x) {
  heed::Generator rng(1);
  heed::MultiHeadAttention attention({.d_in = 3, .d_out = 4, .context_length = 6, .num_heads = 2}, rng);
  return attention(x, heed::sliding_window(2, heed::unbounded), heed::soft_cap(2), heed::sinks({0.0f, 1.0f}));
}
