#include "operators.hpp"
#include "tensors.hpp"

#include <limits>
#include <stdexcept>
#include <string>

namespace onnx {
namespace {

template <class T, class... M>
Arrays attend(const Case& c, const M&... modifiers) {
  const auto q = tensor<T, 4>(c.inputs.at("Q"));  // ℝ^{b×h×t×d}
  const auto k = tensor<T, 4>(c.inputs.at("K"));  // ℝ^{b×g×s×d}
  const auto v = tensor<T, 4>(c.inputs.at("V"));  // ℝ^{b×g×s×e}
  const double scale = number(c, "scale", 1 / std::sqrt(static_cast<double>(q.shape()[3])));
  return {{"Y", array(heed::scaled_dot_product_attention(q, k, v, heed::scale(scale), modifiers...))}};
}

/// The expression of a graph, or nothing.
std::string graph(const Case& c, const char* attribute) {
  const auto found = c.attributes.find(attribute);
  return found == c.attributes.end() ? std::string() : found->second;
}

constexpr const char* causal =
    "Where(GreaterOrEqual(Reshape(Range(0, Gather(Shape(scores), 2, axis=0), 1), [1, 1, -1, 1]), "
    "Reshape(Range(0, Gather(Shape(scores), 3, axis=0), 1), [1, 1, 1, -1])), scores, -inf)";
constexpr const char* relative_position =
    "Add(scores, Cast(Sub(Reshape(Range(0, Gather(Shape(scores), 2, axis=0), 1), [-1, 1]), "
    "Reshape(Range(0, Gather(Shape(scores), 3, axis=0), 1), [1, -1])), to=1))";

}  // namespace

/// A graph is told by the expression that it computes; beside each stands the function that heed is given for it.
Arrays flex_attention(const Case& c) {
  expect_only(c, {.attributes = {"scale", "score_mod", "prob_mod"}, .inputs = {"Q", "K", "V"}, .outputs = {"Y"}});
  const std::string graphs = graph(c, "score_mod") + graph(c, "prob_mod");  // no case has both

  if (graphs.empty()) return c.inputs.at("Q").type == Type::float64 ? attend<double>(c) : attend<float>(c);

  if (graphs == "Add(scores, 0.5)")
    return attend<float>(c, heed::score_mod([](float score, auto...) { return score + 0.5f; }));

  if (graphs == "Mul(Tanh(Div(scores, 20)), 20)")
    return attend<float>(c, heed::score_mod([](float score, auto...) { return heed::tanh(score / 20) * 20; }));

  if (graphs == causal)
    return attend<float>(c, heed::score_mod([](float score, Index, Index, Index i, Index j) {
                           return i >= j ? score : -std::numeric_limits<float>::infinity();
                         }));

  if (graphs == relative_position)
    return attend<float>(c, heed::score_mod([](float score, Index, Index, Index i, Index j) {
                           return score + static_cast<float>(i - j);
                         }));

  if (graphs == "Mul(probs, 0.5)")
    return attend<float>(c, heed::prob_mod([](float weight, auto...) { return weight * 0.5f; }));

  throw std::runtime_error("flex_attention.cpp has no function for " + graphs);
}

}  // namespace onnx
