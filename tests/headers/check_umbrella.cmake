# heed.hpp reaches every public header.
separate_arguments(FLAGS NATIVE_COMMAND "${FLAGS}")
file(WRITE "${WORK_DIR}/umbrella.cpp" "#include <heed/heed.hpp>\n")
execute_process(
  COMMAND "${COMPILER}" ${FLAGS} -MM -I "${INCLUDE_DIR}" -isystem "${EIGEN_DIR}" "${WORK_DIR}/umbrella.cpp"
  OUTPUT_VARIABLE reached COMMAND_ERROR_IS_FATAL ANY)

set(failed "")
foreach(header IN LISTS HEADERS)
  string(FIND "${reached}" "/${header}" position)
  if(position EQUAL -1)
    string(APPEND failed "\n  ${header}")
  endif()
endforeach()
if(failed)
  message(FATAL_ERROR "heed.hpp does not include:${failed}")
endif()
list(LENGTH HEADERS count)
message(STATUS "heed.hpp reaches all ${count} headers")
