# PROGRAM must pass with CASES and fail, by itself and not by a signal, with each of these changed copies of it.
file(READ "${CASES}" original)

function(expect status what text)
  file(WRITE "${FOLDER}/changed.txt" "${text}")
  execute_process(COMMAND "${PROGRAM}" "${FOLDER}/changed.txt" RESULT_VARIABLE result OUTPUT_VARIABLE output
                  ERROR_VARIABLE error)
  if(NOT result STREQUAL status)
    message(FATAL_ERROR "${what}: expected the exit status ${status}, got '${result}' and:\n${output}${error}")
  endif()
endfunction()

expect(0 "no change" "${original}")

# A third decimal of an expected number is wrong.
foreach(output IN ITEMS Y present_key present_value qk_matmul_output)
  string(REGEX MATCH "\noutput ${output} ([0-9]+)\n" line "${original}")
  string(REGEX MATCH "\ntensor ${CMAKE_MATCH_1} [^\n]*\n-?[0-9]+[.][0-9][0-9]" start "${original}")
  string(FIND "${original}" "${start}" begin)
  string(LENGTH "${start}" length)
  math(EXPR begin "${begin} + ${length}")
  math(EXPR end "${begin} + 1")
  string(SUBSTRING "${original}" 0 ${begin} before)
  string(SUBSTRING "${original}" ${begin} 1 digit)
  string(SUBSTRING "${original}" ${end} -1 after)
  math(EXPR digit "(${digit} + 5) % 10")
  expect(1 "a wrong ${output}" "${before}${digit}${after}")
endforeach()

foreach(attribute IN ITEMS "is_causal 1" "left_window_size 2" "softcap 2" "scale 0.01")
  string(REPLACE "\nattribute ${attribute}\n" "\n" changed "${original}")
  expect(1 "without ${attribute}" "${changed}")
endforeach()

string(FIND "${original}" "\ncase " begin REVERSE)
string(SUBSTRING "${original}" 0 ${begin} changed)
expect(1 "without the last case" "${changed}\n")

string(REPLACE "\nattribute softcap " "\nattribute unheard_of " changed "${original}")
expect(1 "with an attribute that the program does not know" "${changed}")

string(REPLACE "\ncase " "\n1.5\ncase " changed "${original}")
expect(2 "with a line too many" "${changed}")
