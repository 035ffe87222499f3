# Eigen3::Eigen, 3.4 or newer: the parent project's, else an installed one, else a download.
if(NOT TARGET Eigen3::Eigen)
  # No version in the request: Eigen's version file accepts its own major version alone, which goes from 3 to 5.
  find_package(Eigen3 QUIET)
  if(Eigen3_FOUND AND Eigen3_VERSION VERSION_LESS 3.4)
    message(FATAL_ERROR "heed needs Eigen 3.4 or newer; ${Eigen3_DIR} is ${Eigen3_VERSION}. Set Eigen3_DIR to a newer one.")
  endif()
endif()

if(NOT TARGET Eigen3::Eigen)
  message(STATUS "heed: Eigen is not installed (libeigen3-dev), downloading 3.4.0")
  include(FetchContent)
  # The headers need no configuration. Eigen's own CMakeLists.txt would add targets, options and tests to this project, so
  # it is kept out by naming a folder that is not there.
  FetchContent_Declare(
    eigen
    GIT_REPOSITORY https://gitlab.com/libeigen/eigen.git
    GIT_TAG 3.4.0
    GIT_SHALLOW ON
    SOURCE_SUBDIR not-used)
  FetchContent_MakeAvailable(eigen)
  add_library(Eigen3::Eigen INTERFACE IMPORTED GLOBAL)
  target_include_directories(Eigen3::Eigen INTERFACE "${eigen_SOURCE_DIR}")
endif()
