# Compiler, linker and output settings that every target shares.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# CHECK stays on in release builds; NDEBUG only silences assert() in the headers of libraries, and DCHECK.
# HLOKIT_ASSERTIONS keeps these and adds the C++ library's own: for long searches at nearly the speed of a release.
if(HLOKIT_ASSERTIONS)
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -D_GLIBCXX_ASSERTIONS")
else()
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
endif()
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g")

# Contraction would make results depend on the compiler's choice of fused multiply-adds.
add_compile_options(-Wall -Wextra -ffp-contract=off)
if(HLOKIT_WERROR)
  add_compile_options(-Werror)
endif()
if(HLOKIT_SANITIZE)
  add_compile_options(-fsanitize=${HLOKIT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HLOKIT_SANITIZE})
  set(HLOKIT_LINK_FLAGS -fsanitize=${HLOKIT_SANITIZE})  # what programs built against the package need too
endif()
if(HLOKIT_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(HLOKIT_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()

find_program(HLOKIT_CCACHE ccache)
if(HLOKIT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache takes objects that began with a precompiled header only where it is told that macros of time do not matter.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${HLOKIT_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  endif()
endif()

include(CheckLinkerFlag)
# Libraries that a program does not call are not loaded: starting a tool takes milliseconds.
add_link_options(-Wl,--as-needed)
# lld, else the platform's own: mold 1.10, Debian 12's, can end a binary's read-only relocations amid a page, and such a
# binary does not start.
check_linker_flag(CXX -fuse-ld=lld HLOKIT_LINKS_WITH_lld)
if(HLOKIT_LINKS_WITH_lld)
  add_link_options(-fuse-ld=lld)
endif()
# SPDX-License-Identifier: Apache-2.0
