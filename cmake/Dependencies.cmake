# Finds the libraries hlokit stands on, each as one imported target; installed beside hlokitConfig.cmake, which includes it again.
#   hlokit_llvm hlokit_filecheck hlokit_hwy_sort hlokit_lapack hlokit_re2 hlokit_cli11 hlokit_zlib hlokit_mpfr
#   hlokit_edit hlokit_graphviz hlokit_protobuf; absl::*, GTest::* and benchmark::benchmark as they come
# A missing library is an error only where a folder names it (see hlokit_library).
include_guard(GLOBAL)

find_package(Threads REQUIRED)
# hlokit's runtime, alone, does without what follows.
if(NOT HLOKIT_RUNTIME_ONLY)
  find_package(absl QUIET)
  if(NOT absl_FOUND AND NOT CMAKE_FIND_PACKAGE_NAME)
    message(FATAL_ERROR "Abseil was not found: run scripts/setup.sh")
  endif()
endif()

# hlokit_find(TARGET HEADER header [LIBRARIES name...] [HINTS prefix...] [USES target...])
function(hlokit_find target)
  cmake_parse_arguments(ARG "" "HEADER" "LIBRARIES;HINTS;USES" ${ARGN})
  if(TARGET ${target})
    return()
  endif()
  list(TRANSFORM ARG_HINTS APPEND /include OUTPUT_VARIABLE include_hints)
  list(TRANSFORM ARG_HINTS APPEND /lib OUTPUT_VARIABLE library_hints)
  find_path(${target}_INCLUDE_DIR ${ARG_HEADER} HINTS ${include_hints})
  mark_as_advanced(${target}_INCLUDE_DIR)
  set(found ${${target}_INCLUDE_DIR})
  set(files)
  foreach(library IN LISTS ARG_LIBRARIES)
    find_library(${target}_${library} NAMES ${library} HINTS ${library_hints})
    mark_as_advanced(${target}_${library})
    list(APPEND files ${${target}_${library}})
    if(NOT ${target}_${library})
      set(found FALSE)
    endif()
  endforeach()
  if(found)
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} INTERFACE ${${target}_INCLUDE_DIR})
    target_link_libraries(${target} INTERFACE ${files} ${ARG_USES})
  endif()
endfunction()

# hlokit_wrap(TARGET imported-target): our name for a package's own target, where the package was found.
function(hlokit_wrap target imported)
  if(TARGET ${imported} AND NOT TARGET ${target})
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_link_libraries(${target} INTERFACE ${imported})
  endif()
endfunction()

set(LLVM_ROOT /usr/lib/llvm-19 CACHE PATH "Where LLVM 19 lives")
hlokit_find(hlokit_llvm HEADER llvm/IR/IRBuilder.h LIBRARIES LLVM-19 HINTS ${LLVM_ROOT})
hlokit_find(hlokit_filecheck HEADER llvm/FileCheck/FileCheck.h LIBRARIES LLVMFileCheck HINTS ${LLVM_ROOT}
            USES hlokit_llvm)
hlokit_find(hlokit_hwy_sort HEADER hwy/contrib/sort/vqsort.h LIBRARIES hwy_contrib hwy)
hlokit_find(hlokit_lapack HEADER lapacke.h LIBRARIES lapacke openblas)
hlokit_find(hlokit_re2 HEADER re2/re2.h LIBRARIES re2)
hlokit_find(hlokit_cli11 HEADER CLI/CLI.hpp)
hlokit_find(hlokit_edit HEADER editline/readline.h LIBRARIES edit)
hlokit_find(hlokit_graphviz HEADER graphviz/gvc.h LIBRARIES gvc cgraph)
hlokit_find(hlokit_mpfr HEADER mpfr.h LIBRARIES mpfr gmp)

find_package(ZLIB QUIET)
hlokit_wrap(hlokit_zlib ZLIB::ZLIB)
# Linked statically: the shared library costs a program a millisecond of its start.
set(Protobuf_USE_STATIC_LIBS ON)
find_package(Protobuf QUIET)
hlokit_wrap(hlokit_protobuf protobuf::libprotobuf)

if(HLOKIT_TESTS)
  find_package(GTest REQUIRED)
  find_package(benchmark QUIET)
endif()
# SPDX-License-Identifier: Apache-2.0
