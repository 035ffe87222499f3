#pragma once

#include <heed/attention/modifiers.hpp>
#include <heed/core/generator.hpp>
#include <heed/core/philox.hpp>
#include <heed/core/transform.hpp>
#include <heed/nn/attention_config.hpp>

#include <concepts>

namespace heed::inline HEED_FLAGS {

/// Sets each element to 0 with probability p and multiplies the others by 1/(1 − p) (torch.nn.Dropout in training).
/// Without a random source it changes nothing. p = 0 and p = 1 draw nothing, as in PyTorch.
template <class T = float>
class Dropout {
  static_assert(std::floating_point<T>, "heed::Dropout: elements are float or double");

 public:
  using value_type = T;

  /// p in [0, 1], else std::invalid_argument.
  explicit Dropout(double p) : p_(p) { detail::check_probability("heed::Dropout", "p", p); }

  double p() const { return p_; }

  template <TensorLike X>
  Tensor<T, rank_of<X>> operator()(const X& x) const {
    static_assert(std::same_as<ScalarOf<X>, T>, "heed::Dropout: x must have the scalar type of the layer");
    return copy(x);
  }

  /// Drawn in row-major order.
  template <TensorLike X>
  Tensor<T, rank_of<X>> operator()(const X& x, Generator& rng) const {
    Tensor<T, rank_of<X>> out = (*this)(x);
    const auto dropout = heed::dropout(p_, rng).bind<T>();
    for (Index i = 0; i < out.size(); ++i) out.data()[i] = dropout.keep(out.data()[i], modifiers::Pair{});
    return out;
  }

  /// Drawn by coordinates, the axes of x aligned on the right with (batch, head, query, key). Advances the offset.
  template <TensorLike X>
  Tensor<T, rank_of<X>> operator()(const X& x, Philox& philox) const {
    static_assert(rank_of<X> <= 4, "heed::Dropout: a Philox draws for up to four coordinates");
    Tensor<T, rank_of<X>> out = (*this)(x);
    const auto dropout = heed::dropout(p_, philox).bind<T>();
    const TensorView<T, 4> elements = detail::lift<4>(view(out));
    const auto [b_size, h_size, t_size, s_size] = elements.shape();
    for (Index b = 0; b < b_size; ++b)
      for (Index h = 0; h < h_size; ++h)
        for (Index i = 0; i < t_size; ++i)
          for (Index j = 0; j < s_size; ++j)
            elements(b, h, i, j) = dropout.keep(elements(b, h, i, j), modifiers::Pair{b, h, i, j, i});
    ++philox.offset;
    return out;
  }

 private:
  double p_;
};

// Dropout(0.5) is a Dropout<float>.
Dropout(double)->Dropout<float>;

}  // namespace heed
