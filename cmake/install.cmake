# The package: headers, heed::heed and find_package(heed). Nothing in it depends on the architecture, hence share/.
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/heed")

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT heed)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/heed" COMPONENT heed)

install(TARGETS heed EXPORT heed-targets)
install(EXPORT heed-targets NAMESPACE heed:: DESTINATION "${package_dir}" COMPONENT heed)

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/heed-config.cmake.in" "${PROJECT_BINARY_DIR}/heed-config.cmake"
  INSTALL_DESTINATION "${package_dir}" NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may break its users.
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/heed-config-version.cmake" COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${PROJECT_BINARY_DIR}/heed-config.cmake" "${PROJECT_BINARY_DIR}/heed-config-version.cmake"
        DESTINATION "${package_dir}" COMPONENT heed)

set(pkgconfig_dir "${CMAKE_INSTALL_DATADIR}/pkgconfig")
file(RELATIVE_PATH include_from_pkgconfig "${CMAKE_INSTALL_FULL_DATADIR}/pkgconfig" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/heed.pc.in" "${PROJECT_BINARY_DIR}/heed.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/heed.pc" DESTINATION "${pkgconfig_dir}" COMPONENT heed)
