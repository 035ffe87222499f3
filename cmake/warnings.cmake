# heed_add_warnings(TARGET): heed's strict warnings, for its own targets alone.
if(MSVC)
  set(HEED_STRICT_WARNINGS /W4)
  set(HEED_WARNINGS_AS_ERRORS /WX)
else()
  set(HEED_STRICT_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion)
  set(HEED_WARNINGS_AS_ERRORS -Werror)
  # GCC 12 sees uninitialised reads in its own AVX-512 header where Eigen uses it: ten at -O3 -march=native.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_RELWITHDEBINFO}" MATCHES "-march=")
    list(APPEND HEED_STRICT_WARNINGS -Wno-maybe-uninitialized)
  endif()
endif()

function(heed_add_warnings target)
  target_compile_options(${target} PRIVATE ${HEED_STRICT_WARNINGS})
  if(HEED_WERROR)
    target_compile_options(${target} PRIVATE ${HEED_WARNINGS_AS_ERRORS})
  endif()
endfunction()
