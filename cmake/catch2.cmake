# Catch2::Catch2, version 2 or 3: an installed one, else a download. Sets HEED_CATCH2_MAJOR; catch_discover_tests is ready.
include(FetchContent)
FetchContent_Declare(
  Catch2
  GIT_REPOSITORY https://github.com/catchorg/Catch2.git
  GIT_TAG v3.7.1
  GIT_SHALLOW ON
  SYSTEM
  FIND_PACKAGE_ARGS QUIET)
FetchContent_MakeAvailable(Catch2)

if(catch2_SOURCE_DIR)
  message(STATUS "heed: Catch2 is not installed (catch2), downloaded 3.7.1")
  list(APPEND CMAKE_MODULE_PATH "${catch2_SOURCE_DIR}/extras")
endif()
if(Catch2_VERSION AND Catch2_VERSION VERSION_LESS 3)
  set(HEED_CATCH2_MAJOR 2)
else()
  set(HEED_CATCH2_MAJOR 3)
endif()
include(Catch)
