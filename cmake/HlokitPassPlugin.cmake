# hlokit_add_pass_plugin(TARGET SOURCE...): a shared object with passes for hlo-opt --load-pass-plugin. It is compiled with
# hlokit's headers and links nothing of hlokit: what it calls, it finds in the program that loads it.
function(hlokit_add_pass_plugin target)
  add_library(${target} MODULE ${ARGN})
  if(TARGET hlokit::passes)
    set(passes hlokit::passes)
  else()
    set(passes hlokit_passes)
  endif()
  target_include_directories(${target} PRIVATE $<TARGET_PROPERTY:${passes},INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_features(${target} PRIVATE cxx_std_20)
endfunction()
# SPDX-License-Identifier: Apache-2.0
