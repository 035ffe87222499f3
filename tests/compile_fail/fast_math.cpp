// expect: heed.*-fno-finite-math-only
// bad flags: -ffast-math
// good flags: -ffast-math -fno-finite-math-only
#include <heed/heed.hpp>
