#include "catch.hpp"

#include <heed/attention/modifiers.hpp>
#include <heed/core/generator.hpp>
#include <heed/core/tensor.hpp>

using heed::Tensor;

TEST_CASE("what is no modifier is refused by the concept", "[attention][modifier]") {
  STATIC_REQUIRE(heed::AttentionModifier<decltype(heed::causal())>);
  STATIC_REQUIRE(heed::AttentionModifier<const heed::modifiers::Scale&>);
  STATIC_REQUIRE(!heed::AttentionModifier<float>);
  STATIC_REQUIRE(!heed::AttentionModifier<heed::Generator&>);
  STATIC_REQUIRE(!heed::AttentionModifier<Tensor<bool, 2>>);
}
