// Random compositions of modifiers, on hostile sizes and layouts, in float.
#include "support/check_compositions.hpp"

TEST_CASE("random compositions of modifiers meet PyTorch's results in float", "[attention][fixtures]") {
  support::check_compositions<float>();
}
