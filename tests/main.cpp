// Most packages of Catch2 version 2 bring no library with a main; version 3 does.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
