// For programs of their own: what is expected, said on stderr where it is not so.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace support {

inline int failures = 0;

inline void expect(bool is_so, const std::string& what) {
  if (is_so) return;
  ++failures;
  std::fprintf(stderr, "not so: %s\n", what.c_str());
}

/// That no name is in the list.
inline void expect_none(const std::vector<std::string>& names, const std::string& what) {
  for (const std::string& name : names) expect(false, what + ": " + name);
}

/// What main returns.
inline int verdict() { return failures == 0 ? 0 : 1; }

}  // namespace support
