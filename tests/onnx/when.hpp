// Run-time attributes meet modifiers that are part of a call's type.
#pragma once

#include <cstddef>
#include <iterator>
#include <tuple>
#include <utility>

namespace onnx {

/// The modifier that make() gives if a bit of Wanted is set, else none: a tuple, to be joined with others.
template <unsigned Wanted, class Make>
auto when(const Make& make) {
  if constexpr (Wanted != 0) {
    return std::tuple(make());
  } else {
    return std::tuple();
  }
}

/// Calls use.operator()<options>() if `options` is one of Combinations, else returns false. Only these are compiled,
/// not every subset of the options.
template <const auto& Combinations, class Use>
bool with_options(unsigned options, const Use& use) {
  const auto try_all = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return ((options == Combinations[I] && (use.template operator()<Combinations[I]>(), true)) || ...);
  };
  return try_all(std::make_index_sequence<std::size(Combinations)>());
}

}  // namespace onnx
