# Makes libhlokit_llvm.so, the third of LLVM that hlokit uses (scripts/slim_llvm.sh), and has hlokit_llvm name it: a program that
# links it starts 8 ms sooner and needs 15 MB less than with libLLVM. libhlokit_llvm_targets.so beside it has the targets that only
# hlo-aot names. Both are made while CMake runs, in four seconds. Without lld or LLVM's static libraries, with
# -Dhlokit_llvm_LLVM-19=FILE elsewhere, or with -DHLOKIT_SLIM_LLVM=OFF, hlokit links what was found.
include(GNUInstallDirs)
option(HLOKIT_SLIM_LLVM "Link a library of the parts of LLVM that hlokit uses, made here, instead of libLLVM" ON)
string(FIND "${hlokit_llvm_LLVM-19}" "${LLVM_ROOT}/" at)
if(NOT HLOKIT_SLIM_LLVM OR NOT HLOKIT_LINKS_WITH_lld OR NOT TARGET hlokit_llvm OR NOT at EQUAL 0)
  return()
endif()

set(slim ${PROJECT_BINARY_DIR}/lib/libhlokit_llvm.so)
set(targets ${PROJECT_BINARY_DIR}/lib/libhlokit_llvm_targets.so)
if(${LLVM_ROOT}/lib/libLLVMCore.a IS_NEWER_THAN ${slim} OR ${PROJECT_SOURCE_DIR}/scripts/slim_llvm.sh IS_NEWER_THAN ${targets})
  execute_process(COMMAND ${CMAKE_COMMAND} -E env LLVM_ROOT=${LLVM_ROOT} ${PROJECT_SOURCE_DIR}/scripts/slim_llvm.sh ${slim} ${targets}
                  RESULT_VARIABLE failed OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(failed)
    file(REMOVE ${slim})
    message(STATUS "libLLVM is linked, for ${slim} could not be made: ${output}")
    return()
  endif()
endif()
set_property(TARGET hlokit_llvm PROPERTY INTERFACE_LINK_LIBRARIES ${slim})
install(FILES ${slim} ${targets} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT tools)
# From bin/, from beside it, and from lib/python3/dist-packages/hlokit/.
list(APPEND CMAKE_INSTALL_RPATH $ORIGIN/../${CMAKE_INSTALL_LIBDIR} $ORIGIN $ORIGIN/../../..)
# SPDX-License-Identifier: Apache-2.0
