# hlokit_library, hlokit_tool and hlokit_add_folders: how a folder becomes a library or a program without a list of files.
include(GNUInstallDirs)
if(HLOKIT_TESTS)
  include(GoogleTest)
endif()

# hlokit_add_folders(folder...): enters each folder, or its subfolders, as soon as a CMakeLists.txt stands there.
macro(hlokit_add_folders)
  foreach(folder ${ARGN})
    file(GLOB lists CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt)
    if(NOT lists)
      file(GLOB lists CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*/CMakeLists.txt)
    endif()
    foreach(list IN LISTS lists)
      cmake_path(GET list PARENT_PATH directory)
      add_subdirectory(${directory})
    endforeach()
  endforeach()
endmacro()

# The target of a folder: backends/cpu is hlokit_backends_cpu.
function(hlokit_target_of folder result)
  string(REPLACE / _ name ${folder})
  set(${result} hlokit_${name} PARENT_SCOPE)
endfunction()

# Links `target` with folders and outside libraries; an absent optional library is named here, not by the linker.
function(hlokit_link target visibility folders libraries)
  foreach(folder IN LISTS folders)
    hlokit_target_of(${folder} dependency)
    target_link_libraries(${target} ${visibility} ${dependency})
  endforeach()
  foreach(library IN LISTS libraries)
    if(library MATCHES "^hlokit_|::" AND NOT TARGET ${library})
      message(FATAL_ERROR "${target} needs ${library}, which was not found: run scripts/setup.sh")
    endif()
    target_link_libraries(${target} ${visibility} ${library})
  endforeach()
endfunction()

# hlokit_library(FOLDER [DEPS folder...] [LIBS target...] [PRIVATE_DEPS folder...] [PRIVATE_LIBS target...]
#                [SUBDIRS folder...] [TEST_DEPS folder...] [TEST_LIBS target...])
# Static library hlokit_FOLDER of every *.cc here and in SUBDIRS, and hlokit_FOLDER_test of every *_test.cc.
function(hlokit_library folder)
  cmake_parse_arguments(ARG "" "" "DEPS;LIBS;PRIVATE_DEPS;PRIVATE_LIBS;SUBDIRS;TEST_DEPS;TEST_LIBS" ${ARGN})
  hlokit_target_of(${folder} target)
  set(sources)
  set(headers)
  set(tables)
  foreach(subdir "" ${ARG_SUBDIRS})
    file(GLOB here CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${subdir}/*.cc)
    list(APPEND sources ${here})
    file(GLOB here CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${subdir}/*.h)
    list(APPEND headers ${here})
    file(GLOB here CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${subdir}/*.def)
    list(APPEND tables ${here})
  endforeach()
  list(FILTER headers EXCLUDE REGEX "_internal\\.h$")
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")

  if(sources)
    set(visibility PUBLIC)
    add_library(${target} STATIC ${sources})
    hlokit_link(${target} PRIVATE "${ARG_PRIVATE_DEPS}" "${ARG_PRIVATE_LIBS}")
    hlokit_precompile_library(${target} ${folder} "${ARG_LIBS};${ARG_PRIVATE_LIBS}")
    if(NOT folder STREQUAL runtime)  # programs compiled ahead of time link it: what they do not call stays out, an object at a time
      hlokit_unity(${target} ${sources})
      hlokit_quick_to_compile(${target} ${folder})
    endif()
  else()
    set(visibility INTERFACE)
    add_library(${target} INTERFACE)
  endif()
  hlokit_link(${target} ${visibility} "${ARG_DEPS}" "${ARG_LIBS}")
  target_include_directories(${target} ${visibility}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/hlokit>)
  # The headers are verified: each compiles alone (target all_verify_interface_header_sets). Tables are no headers.
  target_sources(${target} ${visibility}
    FILE_SET headers TYPE HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${headers}
    FILE_SET tables TYPE HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${tables})
  target_compile_features(${target} ${visibility} cxx_std_20)

  string(REPLACE hlokit_ "" export_name ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${export_name} VERIFY_INTERFACE_HEADER_SETS ON
                        INTERFACE_HEADER_SETS_TO_VERIFY headers)
  add_library(hlokit::${export_name} ALIAS ${target})
  install(TARGETS ${target} EXPORT hlokit ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/hlokit COMPONENT dev
          FILE_SET headers DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hlokit COMPONENT dev
          FILE_SET tables DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/hlokit COMPONENT dev)

  if(HLOKIT_TESTS AND tests)
    hlokit_test(${target}_test SOURCES ${tests} DEPS ${folder} ${ARG_TEST_DEPS}
                LIBS ${ARG_PRIVATE_LIBS} ${ARG_TEST_LIBS})
  endif()
endfunction()

# hlokit_test(NAME SOURCES file... [DEPS folder...] [LIBS target...] [LABEL label]): a GoogleTest program known to ctest.
# LABEL is quick where it is not given; suites and tests with Slow in their name are labelled slow whatever it is. Labelled
# exec are those with Differential in their name, which run every file of testdata/, with Random, which run modules by the
# hundred, and with Simulation, which simulate kernels for seconds: an edit's unit tests (label quick) stay within seconds
# (scripts/checks/edit_times.py).
function(hlokit_test name)
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;DEPS;LIBS" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL quick)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  hlokit_link(${name} PRIVATE "${ARG_DEPS}" "${ARG_LIBS};GTest::gmock;GTest::gtest_main")
  hlokit_define_source_dir(${ARG_SOURCES})
  hlokit_precompile(${name} test)
  hlokit_quick_to_compile(${name} tools)
  hlokit_discover(${name} ${ARG_LABEL} "-*Slow*:*Differential*:*Random*:*Simulation*")
  hlokit_discover(${name} slow "*Slow*")
  hlokit_discover(${name} exec "*Differential*:*Random*:*Simulation*-*Slow*")
endfunction()

# Defines HLOKIT_SOURCE_DIR for the sources that name it, and for no others: a checkout's path among the flags of a file keeps
# ccache from taking the object of another checkout. A file that names it for the first time needs cmake to be run again.
function(hlokit_define_source_dir)
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
    file(STRINGS ${path} uses REGEX HLOKIT_SOURCE_DIR LIMIT_COUNT 1)
    if(uses)
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS HLOKIT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    endif()
  endforeach()
endfunction()

# Gives ctest the tests of a GoogleTest program that match `filter`, named FOLDER.Suite.Test.
function(hlokit_discover name label filter)
  string(REGEX REPLACE "^hlokit_(.*)_test$" "\\1." prefix ${name})
  gtest_discover_tests(${name} TEST_PREFIX ${prefix} TEST_FILTER ${filter} NO_PRETTY_VALUES
                       DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                       WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTIES LABELS ${label})
endfunction()

# hlokit_tool(NAME [DEPS folder...] [LIBS target...]): an installed program of every *.cc here that is not a test.
function(hlokit_tool name)
  cmake_parse_arguments(ARG "" "" "DEPS;LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  add_executable(${name} ${sources})
  hlokit_link(${name} PRIVATE "${ARG_DEPS}" "${ARG_LIBS}")
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  hlokit_precompile_tool(${name})
  hlokit_unity(${name} ${sources})
  hlokit_quick_to_compile(${name} tools)
  set_property(GLOBAL APPEND PROPERTY HLOKIT_TOOLS ${name})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  hlokit_links(${name})
endfunction()

# hlokit_links(TOOL): links to a tool under the names of XLA's programs, beside it in the build and where it is installed.
# tools/common/xla_flags.cc holds the names and says what their flags mean. The build alone has `convert`, which is ImageMagick's too.
function(hlokit_links tool)
  set(table ${PROJECT_SOURCE_DIR}/tools/common/xla_flags.cc)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  file(STRINGS ${table} rows REGEX "^    \\{\"[a-z_-]+\", \"${tool}\", k")
  foreach(row IN LISTS rows)
    string(REGEX REPLACE "^    {\"([a-z_-]+)\".*" "\\1" link ${row})
    file(MAKE_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
    file(CREATE_LINK ${tool} ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${link} SYMBOLIC)
    if(link STREQUAL convert)
      continue()
    endif()
    set_property(GLOBAL APPEND PROPERTY HLOKIT_LINKS ${link}:${tool})
    install(FILES ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${link} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  endforeach()
endfunction()

# hlokit_loads_pass_plugins(TOOL): plugins of --load-pass-plugin find hlokit's functions in this program, those too that it
# does not call itself.
function(hlokit_loads_pass_plugins tool)
  set(libraries hlokit_support hlokit_types hlokit_ir hlokit_ops hlokit_printer hlokit_verifier hlokit_analysis hlokit_passes)
  get_target_property(subjects hlokit_passes INTERFACE_LINK_LIBRARIES)
  list(FILTER subjects INCLUDE REGEX "^hlokit_passes_")
  list(APPEND libraries ${subjects} hlokit_passes_framework hlokit_passes_rewrite)
  list(TRANSFORM libraries REPLACE "(.+)" "$<TARGET_FILE:\\1>")
  list(JOIN libraries "," archives)
  target_link_options(${tool} PRIVATE "-Wl,--whole-archive,${archives},--no-whole-archive")
  set_target_properties(${tool} PROPERTIES ENABLE_EXPORTS ON)
endfunction()
# SPDX-License-Identifier: Apache-2.0
