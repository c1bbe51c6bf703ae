# What find_package(hlokit) reads: first the outside libraries, then hlokit's own targets.
include(${CMAKE_CURRENT_LIST_DIR}/Dependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/hlokitTargets.cmake)
# SPDX-License-Identifier: Apache-2.0
