#include <heed/nn/attention_config.hpp>

#include "catch.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

#include "support/modules.hpp"

using namespace module_tests;

TEST_CASE("a config starts without sizes, with one head, no dropout and no bias", "[nn][attention_config]") {
  const heed::AttentionConfig config;
  CHECK(config.d_in == 0);
  CHECK(config.d_out == 0);
  CHECK(config.context_length == 0);
  CHECK(config.dropout == 0);
  CHECK(config.num_heads == 1);
  CHECK_FALSE(config.qkv_bias);
}

TEST_CASE("the fields of a config keep their order", "[nn][attention_config]") {
  const heed::AttentionConfig config{1, 2, 3, 0.25, 4, true};
  CHECK(config.d_in == 1);
  CHECK(config.d_out == 2);
  CHECK(config.context_length == 3);
  CHECK(config.dropout == 0.25);
  CHECK(config.num_heads == 4);
  CHECK(config.qkv_bias);
  STATIC_REQUIRE(std::is_aggregate_v<heed::AttentionConfig>);
}

TEST_CASE("any of the last fields of a config may be left out", "[nn][attention_config]") {
  const heed::AttentionConfig config{.d_in = 3, .d_out = 2};
  CHECK(config.d_in == 3);
  CHECK(config.d_out == 2);
  CHECK(config.num_heads == 1);
}

TEST_CASE("a probability is refused outside [0, 1] and where it is NaN, with name and value",
          "[nn][attention_config]") {
  const auto error = [](double p) {
    return error_of([&] { heed::detail::check_probability("heed::Module", "dropout", p); });
  };
  CHECK(error(0) == "no error");
  CHECK(error(0.3) == "no error");
  CHECK(error(1) == "no error");
  CHECK(says(error(-0.25), "heed::Module", "dropout", "[0, 1]", "-0.25"));
  CHECK(says(error(1.5), "heed::Module", "dropout", "[0, 1]", "1.5"));
  CHECK(says(error(std::nextafter(1.0, 2.0)), "dropout"));
  CHECK(says(error(-std::numeric_limits<double>::denorm_min()), "dropout"));
  CHECK(says(error(std::numeric_limits<double>::infinity()), "dropout", "inf"));
  CHECK(says(error(std::numeric_limits<double>::quiet_NaN()), "dropout", "nan"));
}

TEST_CASE("a size is refused below one, with name and value", "[nn][attention_config]") {
  const auto error = [](Index size) {
    return shape_error_of([&] { heed::detail::check_positive("heed::Module", "d_in", size); });
  };
  CHECK(error(1) == "no error");
  CHECK(says(error(0), "heed::Module", "d_in", "positive", "got 0"));
  CHECK(says(error(-3), "heed::Module", "d_in", "positive", "got -3"));
}
