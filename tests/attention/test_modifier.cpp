#include "catch.hpp"
#include "support/attention.hpp"

#include <heed/attention/scaled_dot_product_attention.hpp>

#include <Eigen/Core>

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

using core_tests::shape_error;
using core_tests::value_error;
using heed::Index;
using heed::Shape;
using heed::Tensor;
using support::same_bits;
using support::Sizes;

TEST_CASE("what is no modifier is refused by the concept", "[attention][modifier]") {
  STATIC_REQUIRE(heed::AttentionModifier<decltype(heed::causal())>);
  STATIC_REQUIRE(heed::AttentionModifier<const heed::modifiers::Scale&>);
  STATIC_REQUIRE(!heed::AttentionModifier<float>);
  STATIC_REQUIRE(!heed::AttentionModifier<heed::Generator&>);
  STATIC_REQUIRE(!heed::AttentionModifier<Tensor<bool, 2>>);
}
