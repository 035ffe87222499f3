// A user's program in two files. Nothing in it knows about the tests.
#include <heed/heed.hpp>

#include <cstdio>
#include <string>

heed::Tensor<float, 2> context(const heed::Tensor<float, 2>& tokens);

int main() {
  const heed::Tensor<float, 2> tokens{{0.43f, 0.15f, 0.89f}, {0.55f, 0.87f, 0.66f}};
  const auto result = context(tokens);
  if (heed::to_string(result.shape()) != "ℝ^{2×4}") return 1;

  const std::string version = std::to_string(HEED_VERSION_MAJOR) + "." + std::to_string(HEED_VERSION_MINOR) + "." +
                              std::to_string(HEED_VERSION_PATCH);
#ifdef PACKAGE_VERSION
  if (version != PACKAGE_VERSION) return 1;
#endif
  std::printf("heed %s: %s\n", version.c_str(), heed::to_string(result.shape()).c_str());
  return 0;
}
