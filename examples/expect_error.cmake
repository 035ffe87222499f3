# PROGRAM ARGUMENT must fail, by itself and not by a signal, with a message that matches EXPECT.
execute_process(COMMAND "${PROGRAM}" "${ARGUMENT}" RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
if(NOT result MATCHES "^[1-9][0-9]*$" OR NOT error MATCHES "${EXPECT}")
  message(FATAL_ERROR "expected an error that matches '${EXPECT}', got exit status '${result}' and:\n${output}${error}")
endif()
