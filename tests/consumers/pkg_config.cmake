# Compiles and runs the consumer with nothing but what pkg-config says about the installed package.
set(ENV{PKG_CONFIG_PATH} "${PREFIX}/share/pkgconfig:$ENV{PKG_CONFIG_PATH}")
execute_process(COMMAND "${PKG_CONFIG}" --modversion heed OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${PKG_CONFIG}" --cflags --libs heed OUTPUT_VARIABLE options OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(options UNIX_COMMAND "${options}")
separate_arguments(FLAGS NATIVE_COMMAND "${FLAGS}")
set(program "${PREFIX}/by pkg-config")
execute_process(COMMAND "${COMPILER}" ${FLAGS} "-DPACKAGE_VERSION=\"${version}\"" "${SOURCE_DIR}/main.cpp"
                        "${SOURCE_DIR}/second.cpp" ${options} -o "${program}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${program}" COMMAND_ERROR_IS_FATAL ANY)
