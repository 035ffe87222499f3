// Random compositions of modifiers, on hostile sizes and layouts, in double.
#include "support/check_compositions.hpp"

TEST_CASE("random compositions of modifiers meet PyTorch's results in double", "[attention][fixtures]") {
  support::check_compositions<double>();
}
