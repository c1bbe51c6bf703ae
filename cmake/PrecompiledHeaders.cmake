# Precompiled headers, which halve the processor time of a first build (HLOKIT_PCH, on where the compiler is GCC).
# One set of headers a kind of folder, built once and reused by every target of that kind:
#   base: Abseil and the standard library         folders below ops/
#   ir:   base and ir/                            ops/ and what stands on it; tools
#   llvm: ir and LLVM's IR builder                folders that name hlokit_llvm
#   test: ir and GoogleTest                       test programs
# A file still includes what it uses: the preset `clang` builds without, and project.headers compiles each header alone.
include_guard(GLOBAL)

set(HLOKIT_PCH_DEFAULT OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set(HLOKIT_PCH_DEFAULT ON)
endif()
option(HLOKIT_PCH "Precompile the headers that most files include" ${HLOKIT_PCH_DEFAULT})

set(HLOKIT_PCH_base
  <algorithm> <cstdint> <functional> <map> <memory> <optional> <string> <utility> <vector>
  absl/container/flat_hash_map.h absl/container/flat_hash_set.h absl/container/inlined_vector.h absl/status/statusor.h
  absl/strings/match.h absl/strings/str_cat.h absl/strings/str_join.h absl/types/span.h support/status.h)
set(HLOKIT_PCH_ir ${HLOKIT_PCH_base} ir/module.h)
set(HLOKIT_PCH_llvm ${HLOKIT_PCH_ir} codegen/llvm.h)
set(HLOKIT_PCH_test ${HLOKIT_PCH_ir} gtest/gtest.h)

# hlokit_precompile(TARGET KIND): TARGET's files begin with the precompiled headers of KIND.
function(hlokit_precompile target kind)
  if(NOT HLOKIT_PCH OR HLOKIT_RUNTIME_ONLY)
    return()
  endif()
  set(owner hlokit_pch_${kind})
  if(NOT TARGET ${owner})
    set(source ${PROJECT_BINARY_DIR}/pch/${kind}.cc)
    file(CONFIGURE OUTPUT ${source} CONTENT "// Owns the precompiled headers of the kind ${kind}.\n")
    add_library(${owner} OBJECT ${source})
    target_include_directories(${owner} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_features(${owner} PRIVATE cxx_std_20)
    if(kind STREQUAL llvm)
      target_link_libraries(${owner} PRIVATE hlokit_llvm)
    elseif(kind STREQUAL test)
      target_link_libraries(${owner} PRIVATE GTest::gtest)
    endif()
    if(kind STREQUAL test)
      set_target_properties(${owner} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${owner} PRIVATE -fPIE)
    endif()
    set(headers ${HLOKIT_PCH_${kind}})
    list(TRANSFORM headers REPLACE "^([^<].*)$" "\"\\1\"")
    target_precompile_headers(${owner} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

# hlokit_precompile_tool(TARGET): by the libraries' headers of the kind ir, so that it takes -fPIC as they do.
function(hlokit_precompile_tool target)
  if(HLOKIT_PCH AND NOT HLOKIT_RUNTIME_ONLY)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
    hlokit_precompile(${target} ir)
  endif()
endfunction()

# hlokit_precompile_library(TARGET FOLDER LIBRARIES): by the kind of folder that it is.
function(hlokit_precompile_library target folder libraries)
  if(folder STREQUAL runtime)  # its files are compiled with options of their own, one instruction set each
    return()
  elseif(folder MATCHES "^(support|types|ffi|ir)$")
    hlokit_precompile(${target} base)
  elseif(hlokit_llvm IN_LIST libraries)
    hlokit_precompile(${target} llvm)
  else()
    hlokit_precompile(${target} ir)
  endif()
endfunction()
# SPDX-License-Identifier: Apache-2.0
