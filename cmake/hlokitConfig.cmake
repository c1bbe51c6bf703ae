# What find_package(hlokit) reads: first the outside libraries, then hlokit's own targets. A component is a folder of the
# tree, as in hlokit::parser or hlokit::backends_cpu; what a component stands on comes along.
include(${CMAKE_CURRENT_LIST_DIR}/Dependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/hlokitTargets.cmake)
get_filename_component(hlokit_BIN_DIR ${CMAKE_CURRENT_LIST_DIR}/../../../bin ABSOLUTE)
if(NOT IS_DIRECTORY ${hlokit_BIN_DIR})  # below lib/ARCHITECTURE
  get_filename_component(hlokit_BIN_DIR ${CMAKE_CURRENT_LIST_DIR}/../../../../bin ABSOLUTE)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/HlokitAot.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/HlokitPassPlugin.cmake)
foreach(component IN LISTS hlokit_FIND_COMPONENTS)
  if(TARGET hlokit::${component})
    set(hlokit_${component}_FOUND TRUE)
  elseif(hlokit_FIND_REQUIRED_${component})
    set(hlokit_FOUND FALSE)
    set(hlokit_NOT_FOUND_MESSAGE "there is no hlokit::${component}")
  endif()
endforeach()
# SPDX-License-Identifier: Apache-2.0
