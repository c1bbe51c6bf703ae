# Unity builds (HLOKIT_UNITY): sources of one folder are compiled several at a time, as one translation unit.
# Most of a small source's time is not its own: the precompiled header is loaded (140 MB) and the templates of its inline functions
# are instantiated again, 0.33 s of 0.7 s. Nineteen files of passes/expanders take 16.4 s one by one and 5.1 s together.
#   passes/spmd, 27 files -> Unity/unity_spmd_0_cxx.cxx (7 files), ..., unity_spmd_3_cxx.cxx (6 files)
# What that asks of sources: a name in an unnamed namespace stands once in a folder (a helper needed twice goes to a header).
# Tests are compiled one by one. So are sources with options of their own, and those that set SKIP_UNITY_BUILD_INCLUSION.
# scripts/demo.sh turns it on for a first build. Tools that read compile_commands.json a file at a time (clangd, scripts/campaign/mutants.py)
# want it off, and so do checks that each file finds all it uses in its own includes.
include_guard(GLOBAL)

option(HLOKIT_UNITY "Compile several sources of a folder as one translation unit" OFF)
# Thirty-three files of stablehlo/convert take 37.8 s by eights and 28.5 s at once; sixteen keep a rebuild after an edit below ten.
set(HLOKIT_UNITY_SIZE 16 CACHE STRING "Sources of a translation unit, at most")

# Folders on whose speed no run, no compilation on the CPU and no text waits: in a first build they are compiled with -O1, which
# takes two thirds of -O2's time (stablehlo/convert 26.6 s for 37.8). Floating point gives the same bits at both.
set(HLOKIT_UNITY_O1 aot backends/cuda builder client generator passes/collectives passes/convolutions passes/gpu passes/host_memory
    passes/linear_algebra passes/spmd passes/vendor pjrt python simulate stablehlo tools)

# hlokit_quick_to_compile(TARGET): with -O1. And for every file: garbage is collected from 600 MB on, that is hardly ever, where GCC
# would do it several times over the precompiled headers' objects (a twentieth of its time).
function(hlokit_quick_to_compile target folder)
  if(NOT HLOKIT_UNITY OR HLOKIT_RUNTIME_ONLY)
    return()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE "SHELL:--param ggc-min-heapsize=600000")
  endif()
  foreach(prefix IN LISTS HLOKIT_UNITY_O1)
    string(FIND "${folder}/" "${prefix}/" at)
    if(at EQUAL 0)
      target_compile_options(${target} PRIVATE -O1)
      return()
    endif()
  endforeach()
endfunction()

# hlokit_unity(TARGET SOURCE...): groups the sources by folder, in groups of even size.
function(hlokit_unity target)
  if(NOT HLOKIT_UNITY OR HLOKIT_RUNTIME_ONLY)
    return()
  endif()
  set(folders)
  foreach(source IN LISTS ARGN)
    get_property(own_options SOURCE ${source} PROPERTY COMPILE_OPTIONS)
    get_property(alone SOURCE ${source} PROPERTY SKIP_UNITY_BUILD_INCLUSION)
    if(NOT own_options AND NOT alone)
      cmake_path(GET source PARENT_PATH folder)
      cmake_path(GET folder FILENAME folder)
      list(APPEND folders ${folder})
      list(APPEND sources_${folder} ${source})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    list(LENGTH sources_${folder} count)
    math(EXPR groups "(${count} + ${HLOKIT_UNITY_SIZE} - 1) / ${HLOKIT_UNITY_SIZE}")
    set(index 0)
    foreach(source IN LISTS sources_${folder})
      math(EXPR group "${index} * ${groups} / ${count}")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
      math(EXPR index "${index} + 1")
    endforeach()
  endforeach()
  # Where more is inlined, GCC 12 warns of small vectors' storage that is never touched; other builds keep these warnings.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-maybe-uninitialized -Wno-subobject-linkage)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
# SPDX-License-Identifier: Apache-2.0
