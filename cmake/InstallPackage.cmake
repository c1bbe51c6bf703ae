# Installs hlokitConfig.cmake, so that find_package(hlokit) gives hlokit::client, hlokit::parser and the rest.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hlokit)

install(EXPORT hlokit NAMESPACE hlokit:: FILE hlokitTargets.cmake DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hlokitConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hlokitConfigVersion.cmake cmake/hlokitConfig.cmake cmake/Dependencies.cmake
        cmake/HlokitAot.cmake cmake/HlokitPassPlugin.cmake
        DESTINATION ${package_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
# SPDX-License-Identifier: Apache-2.0
