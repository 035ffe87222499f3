#include <heed/nn/parameter.hpp>

#include "catch.hpp"

#include <heed/core/tensor_like.hpp>

#include <span>
#include <string>
#include <vector>

#include "support/modules.hpp"

using namespace module_tests;

TEST_CASE("a parameter is a name, a shape known at run time, and spans of the values", "[nn][parameter]") {
  heed::Tensor<float, 2> weight{{1, 2, 3}, {4, 5, 6}};
  const heed::Parameter<float> parameter = heed::detail::parameter_of("weight", heed::view(weight));
  CHECK(parameter.name == "weight");
  CHECK(parameter.shape == std::vector<Index>{2, 3});
  CHECK(heed::to_string(parameter.shape) == "ℝ^{2×3}");
  REQUIRE(parameter.value.size() == 6);
  CHECK(parameter.value.data() == weight.data());
  CHECK(parameter.grad.empty());
  STATIC_REQUIRE(same<decltype(parameter.value), std::span<float>>);
}

TEST_CASE("what is written through a parameter stands in the tensor", "[nn][parameter]") {
  heed::Tensor<double, 1> bias{1, 2};
  const auto parameter = heed::detail::parameter_of("bias", heed::view(bias));
  parameter.value[1] = 7;
  CHECK(bias(1) == 7);
  bias(0) = 9;
  CHECK(parameter.value[0] == 9);
}

TEST_CASE("a parameter of something const is read-only", "[nn][parameter]") {
  const heed::Tensor<float, 1> bias{1, 2};
  const auto parameter = heed::detail::parameter_of("bias", heed::view(bias));
  STATIC_REQUIRE(same<decltype(parameter), const heed::Parameter<const float>>);
  CHECK(parameter.value[1] == 2);
}

TEST_CASE("the parameters of a part carry its name in front, in order", "[nn][parameter]") {
  heed::Tensor<float, 1> a{1}, b{2, 3};
  std::vector<heed::Parameter<float>> all{heed::detail::parameter_of("first", heed::view(a))};
  heed::detail::append_parameters(
      all, "part.0",
      {heed::detail::parameter_of("weight", heed::view(a)), heed::detail::parameter_of("bias", heed::view(b))});
  REQUIRE(all.size() == 3);
  CHECK(all[0].name == "first");
  CHECK(all[1].name == "part.0.weight");
  CHECK(all[2].name == "part.0.bias");
  CHECK(all[2].value.data() == b.data());
  CHECK(all[2].shape == std::vector<Index>{2});
}
