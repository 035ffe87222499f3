# Disassembles PROGRAM, which was compiled without AVX; INLINED says whether with inlining.
find_program(AWK NAMES awk REQUIRED)
execute_process(COMMAND "${OBJDUMP}" -d --no-show-raw-insn "${PROGRAM}" COMMAND "${AWK}" -v "inlined=${INLINED}" -f "${CMAKE_CURRENT_LIST_DIR}/find_avx.awk"
                RESULTS_VARIABLE results OUTPUT_VARIABLE found)
message(STATUS "${found}")
if(NOT results STREQUAL "0;0")
  message(FATAL_ERROR "not as it should be, see above")
endif()
