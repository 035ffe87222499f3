# Installs to STAGE, then moves all of it to PREFIX, where nothing may point back to STAGE.
file(REMOVE_RECURSE "${STAGE}" "${PREFIX}")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD_DIR}" --component heed --prefix "${STAGE}"
                COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${STAGE}" "${PREFIX}")
