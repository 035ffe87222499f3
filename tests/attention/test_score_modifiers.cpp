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

TEMPLATE_TEST_CASE("scale replaces 1/√d", "[attention][score_modifiers]", float, double) {
  using T = TestType;
  const auto x = support::random_inputs<T>({1, 2, 2, 3, 7, 4, 3});
  const auto plain = heed::attention_weights(x.q, x.k);
  CHECK(same_bits(heed::attention_weights(x.q, x.k, heed::scale(0.5)), plain));
  CHECK(!same_bits(heed::attention_weights(x.q, x.k, heed::scale(1)), plain));

  Tensor<T, 4> twice = x.q;  // a power of two scales exactly
  for (Index n = 0; n < twice.size(); ++n) twice.data()[n] *= 2;
  CHECK(same_bits(heed::attention_weights(x.q, x.k, heed::scale(-1)),
                  heed::attention_weights(twice, x.k, heed::scale(-0.5))));

  const auto even = heed::attention_weights(x.q, x.k, heed::scale(0));
  for (Index n = 0; n < even.size(); ++n) CHECK(even.data()[n] == T(1) / T(7));
}

TEST_CASE("a scale is finite", "[attention][score_modifiers]") {
  CHECK(value_error([] { heed::scale(std::numeric_limits<double>::infinity()); }) ==
        "heed::scale: the scale must be finite, got inf");
  CHECK(value_error([] { heed::scale(std::nan("")); }).find("heed::scale: the scale must be finite") == 0);
}
