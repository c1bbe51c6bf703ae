# What find_package(hlokit) reads: first the outside libraries, then hlokit's own targets. A component is a folder of the
# tree, as in hlokit::parser or hlokit::backends_cpu; what a component stands on comes along.
include(${CMAKE_CURRENT_LIST_DIR}/Dependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/hlokitTargets.cmake)
foreach(component IN LISTS hlokit_FIND_COMPONENTS)
  if(TARGET hlokit::${component})
    set(hlokit_${component}_FOUND TRUE)
  elseif(hlokit_FIND_REQUIRED_${component})
    set(hlokit_FOUND FALSE)
    set(hlokit_NOT_FOUND_MESSAGE "there is no hlokit::${component}")
  endif()
endforeach()
# SPDX-License-Identifier: Apache-2.0
