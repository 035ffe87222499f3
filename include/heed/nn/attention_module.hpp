#pragma once

#include <heed/core/generator.hpp>
#include <heed/core/philox.hpp>
#include <heed/core/tensor.hpp>
#include <heed/core/tensor_view.hpp>
#include <heed/nn/attention_config.hpp>
#include <heed/nn/parameter.hpp>

#include <concepts>
#include <vector>

namespace heed::inline HEED_FLAGS {

/// What all attention modules are: built from a config and a seed, called with one sequence or a batch, each a drop-in
/// replacement for the one before.
template <class M>
concept AttentionModule = std::copyable<M> && std::constructible_from<M, const AttentionConfig&, Generator&> &&
    requires(const M& module, M& trainable, TensorView<const typename M::value_type, 2> sequence,
             TensorView<const typename M::value_type, 3> batch, TensorView<typename M::value_type, 3> out,
             Generator& rng, Philox& philox) {
  { module(sequence) } -> std::same_as<Tensor<typename M::value_type, 2>>;
  { module(batch) } -> std::same_as<Tensor<typename M::value_type, 3>>;
  { module(batch, rng) } -> std::same_as<Tensor<typename M::value_type, 3>>;
  { module(batch, philox) } -> std::same_as<Tensor<typename M::value_type, 3>>;
  { module.into(out, batch) } -> std::same_as<void>;
  { module.weights(sequence) } -> std::same_as<Tensor<typename M::value_type, 3>>;
  { module.weights(batch) } -> std::same_as<Tensor<typename M::value_type, 4>>;
  { trainable.parameters() } -> std::same_as<std::vector<Parameter<typename M::value_type>>>;
  { module.parameters() } -> std::same_as<std::vector<Parameter<const typename M::value_type>>>;
  { module.d_in() } -> std::same_as<Index>;
  { module.d_out() } -> std::same_as<Index>;
  { module.num_heads() } -> std::same_as<Index>;
};

}  // namespace heed
