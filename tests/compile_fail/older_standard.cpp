// expect: heed needs C\+\+20
// bad flags: -std=c++17
#include <heed/core/config.hpp>
