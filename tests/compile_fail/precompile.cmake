# Compiles HEADER to HEADER.gch, with the flags of compile_pair.cmake.
separate_arguments(FLAGS NATIVE_COMMAND "${FLAGS}")
execute_process(
  COMMAND "${COMPILER}" ${FLAGS} -I "${INCLUDE_DIR}" -isystem "${EIGEN_DIR}" -x c++-header "${HEADER}" -o "${HEADER}.gch"
  COMMAND_ERROR_IS_FATAL ANY)
