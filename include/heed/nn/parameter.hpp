#pragma once

#include <heed/core/tensor.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace heed::inline HEED_FLAGS {

/// One parameter of a module, to read or write in place: T is const for a const module. It refers to the module, which
/// must outlive it.
template <class T>
struct Parameter {
  std::string name;          ///< As in PyTorch's state_dict: "W_query.weight".
  std::vector<Index> shape;  ///< heed::to_string(shape) prints it.
  std::span<T> value;        ///< All elements, row-major.
  std::span<T> grad;         ///< The gradient, as value; empty until training asks for it.
};

}  // namespace heed

namespace heed::detail::inline HEED_FLAGS {

template <class T, int R>
Parameter<T> parameter_of(std::string name, const TensorView<T, R>& values) {
  return {std::move(name),
          std::vector<Index>(values.shape().begin(), values.shape().end()),
          std::span<T>(values.data(), static_cast<std::size_t>(values.size())),
          {}};
}

/// Appends the parameters of a part of a module, their names behind "part.".
template <class T>
void append_parameters(std::vector<Parameter<T>>& all, const std::string& part, std::vector<Parameter<T>> parameters) {
  for (Parameter<T>& parameter : parameters) {
    parameter.name = joined({part, ".", parameter.name});
    all.push_back(std::move(parameter));
  }
}

}  // namespace heed::detail
