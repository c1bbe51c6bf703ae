# Installs hlokitConfig.cmake, so that find_package(hlokit) gives hlokit::client, hlokit::parser and the rest.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hlokit)

install(EXPORT hlokit NAMESPACE hlokit:: FILE hlokitTargets.cmake DESTINATION ${package_dir} COMPONENT dev)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/hlokitConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/hlokitConfigVersion.cmake cmake/hlokitConfig.cmake cmake/Dependencies.cmake
        cmake/HlokitAot.cmake cmake/HlokitPassPlugin.cmake
        DESTINATION ${package_dir} COMPONENT dev)
install(DIRECTORY editors DESTINATION ${CMAKE_INSTALL_DATADIR}/hlokit COMPONENT tools)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools OPTIONAL)
install(DIRECTORY python/hlokit python/jax_plugins DESTINATION lib/python3/dist-packages COMPONENT python
        FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed")

# Debian packages, by `cpack -G DEB`: hlokit (the tools), hlokit-dev (headers and static libraries), python3-hlokit.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hlokit)
set(CPACK_PACKAGE_CONTACT "hlokit <hlokit@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL tools dev python)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME hlokit)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME hlokit-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "hlokit, llvm-19-dev, libabsl-dev, libre2-dev, libhwy-dev, libprotobuf-dev, zlib1g-dev")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-hlokit)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3-numpy")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "Read, check, transform, compile, run and look at XLA's HLO: command-line tools")
set(CPACK_COMPONENT_DEV_DESCRIPTION "Headers and libraries of hlokit")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "Python module of hlokit, and JAX's platform hlokit")
include(CPack)
# SPDX-License-Identifier: Apache-2.0
