#pragma once

#include <heed/attention/problem.hpp>
#include <heed/core/generator.hpp>
#include <heed/core/overlap.hpp>
#include <heed/core/tensor_like.hpp>
#include <heed/core/transform.hpp>
#include <heed/nn/attention_config.hpp>
#include <heed/nn/parameter.hpp>

#include <cmath>
#include <concepts>
#include <string>
#include <utility>
#include <vector>

namespace heed::detail::inline HEED_FLAGS {

/// out ℝ^{…×n} = x ℝ^{…×m} · weight ℝ^{m×n} (+ bias ℝ^n, if it has elements). Shapes are checked already. Each sum runs
/// over m in order: Eigen's product would be faster here, but its sums depend on the number of threads and the size of
/// the caches.
template <class T, int R>
void project_rows(const TensorView<T, R>& out, const TensorView<const T, R>& x, const Tensor<T, 2>& weight,
                  const TensorView<const T, 1>& bias) {
  if constexpr (R == 1) {
    const auto [m, n] = weight.shape();
    Tensor<T, 1> memory(n);
    RowMap<T> sum(memory.data(), n);
    for (Index c = 0; c < m; ++c) sum += x(c) * ConstRowMap<T>(weight[c].data(), n);
    for (Index j = 0; j < n; ++j) out(j) = bias.size() > 0 ? sum(j) + bias(j) : sum(j);
  } else {
    for (Index i = 0; i < out.shape()[0]; ++i) project_rows(out[i], x[i], weight, bias);
  }
}

template <class T, int R>
void project(const TensorView<T, R>& out, const TensorView<const T, R>& x, const TensorView<const T, 2>& weight,
             const TensorView<const T, 1>& bias) {
  project_rows<T, R>(out, x, copy(weight), bias);
}

}  // namespace heed::detail

namespace heed::inline HEED_FLAGS {

/// y = x·Wᵀ + b (torch.nn.Linear): ℝ^{…×d_in} → ℝ^{…×d_out}, weight ℝ^{d_out×d_in}.
template <class T = float>
class Linear {
  static_assert(std::floating_point<T>, "heed::Linear: weights are float or double");

 public:
  using value_type = T;

  /// Draws the weight, then the bias if there is one, as PyTorch does (kaiming_uniform with a = √5), each row by row.
  Linear(Index d_in, Index d_out, bool bias, Generator& rng)
      : weight_(checked_shape(d_in, d_out)), bias_(bias ? d_out : 0) {
    const double root = std::sqrt(static_cast<double>(d_in));
    draw(weight_, std::sqrt(3.0) * (std::sqrt(2.0 / 6.0) / root), rng);
    draw(bias_, 1.0 / root, rng);
  }

  Index d_in() const { return weight_.shape()[1]; }
  Index d_out() const { return weight_.shape()[0]; }

  // What follows refers to the layer, so that a temporary one has none of it.

  /// ℝ^{d_out×d_in}.
  TensorView<T, 2> weight() & { return view(weight_); }
  TensorView<const T, 2> weight() const& { return view(weight_); }
  void weight() const&& = delete;

  /// ℝ^{d_out}, or of size 0 if there is none.
  TensorView<T, 1> bias() & { return view(bias_); }
  TensorView<const T, 1> bias() const& { return view(bias_); }
  void bias() const&& = delete;

  /// "weight" and, if there is one, "bias".
  std::vector<Parameter<T>> parameters() & { return parameters_of(*this); }
  std::vector<Parameter<const T>> parameters() const& { return parameters_of(*this); }
  void parameters() const&& = delete;

  /// x ℝ^{…×d_in} of any rank → ℝ^{…×d_out}. ShapeError if the last size of x is not d_in.
  template <TensorLike X>
  Tensor<T, rank_of<X>> operator()(const X& x) const {
    auto shape = detail::const_view(x).shape();
    check_input(shape);
    shape[rank_of<X> - 1] = d_out();
    Tensor<T, rank_of<X>> out(shape);
    into(out, x);
    return out;
  }

  /// The same into `out`, which must share no element with x or the parameters.
  template <TensorLike Out, TensorLike X>
  void into(Out&& out, const X& x) const {
    static_assert(std::same_as<ScalarOf<X>, T> && std::same_as<ScalarOf<Out>, T>,
                  "heed::Linear: x and out must have the scalar type of the layer");
    static_assert(rank_of<X> == rank_of<Out>, "heed::Linear: x and out must have the same rank");
    const auto target = detail::output_view(std::forward<Out>(out));
    const auto input = detail::const_view(x);
    check_input(input.shape());
    auto expected = input.shape();
    expected[rank_of<X> - 1] = d_out();
    if (target.shape() != expected)
      detail::fail_shape(
          {"heed::Linear: out is ", to_string(target.shape()), ", but the result is ", to_string(expected)});
    detail::check_output("heed::Linear", "out", target, "x", input);
    detail::check_output("heed::Linear", "out", target, "weight", weight());
    detail::check_output("heed::Linear", "out", target, "bias", bias());
    detail::project(target, input, transpose(weight(), 0, 1), bias());
  }

 private:
  template <int R>
  void check_input(const Shape<R>& x) const {
    if (x[R - 1] != d_in())
      detail::fail_shape({"heed::Linear: x is ", to_string(x), ", but its last size must be d_in of the weight ",
                          to_string(weight_.shape())});
  }

  static Shape<2> checked_shape(Index d_in, Index d_out) {
    detail::check_positive("heed::Linear", "d_in", d_in);
    detail::check_positive("heed::Linear", "d_out", d_out);
    return {d_out, d_in};
  }

  /// Uniform in [−bound, bound). One rounding, as PyTorch's compiled code has: with two, half the weights of a 768²
  /// layer are off by one unit in the last place.
  template <int R>
  static void draw(Tensor<T, R>& values, double bound, Generator& rng) {
    const T b = static_cast<T>(bound);
    for (Index i = 0; i < values.size(); ++i) values.data()[i] = std::fma(rng.uniform<T>(), 2 * b, -b);
  }

  template <class Self>
  static auto parameters_of(Self& self) {
    std::vector all{detail::parameter_of("weight", self.weight())};
    if (self.bias_.size() > 0) all.push_back(detail::parameter_of("bias", self.bias()));
    return all;
  }

  Tensor<T, 2> weight_;
  Tensor<T, 1> bias_;
};

}  // namespace heed

namespace heed::detail::inline HEED_FLAGS {

/// Refuses a layer that somebody replaced by one of another size.
template <class T>
void check_layer(const char* function, const char* name, const Linear<T>& layer, Index d_in, Index d_out) {
  const Shape<2> expected(d_out, d_in);
  if (layer.weight().shape() != expected)
    fail_shape({function, ": the weight of ", name, " is ", to_string(layer.weight().shape()),
                ", but this module needs ", to_string(expected)});
}

/// Calls f(view) for the weight and the bias.
template <class T, class F>
void each_parameter_of(const Linear<T>& layer, const F& f) {
  f(layer.weight());
  f(layer.bias());
}

}  // namespace heed::detail
