# Installs BUILD to a fresh prefix, moves it, and runs the tools there; then builds each project of SOURCE/examples against
# it with CXX and runs its tests. Nothing installed may name the folders it was built in.
set(work ${BUILD}/install_test)
set(prefix ${work}/moved)
file(REMOVE_RECURSE ${work})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${status}\n${output}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/installed)
file(RENAME ${work}/installed ${prefix})

file(GLOB_RECURSE texts ${prefix}/*.cmake ${prefix}/*.h ${prefix}/*.def)
foreach(text IN LISTS texts)
  file(READ ${text} content)
  foreach(folder ${SOURCE} ${BUILD} ${work})
    string(FIND "${content}" "${folder}/" at)
    if(NOT at EQUAL -1)
      message(FATAL_ERROR "${text} names ${folder}")
    endif()
  endforeach()
endforeach()

file(GLOB tools ${prefix}/bin/*)
foreach(tool IN LISTS tools)
  run(${tool} --version)
endforeach()
set(model ${SOURCE}/testdata/models/mlp_mnist)
run(${prefix}/bin/hlo-run ${model}/module.hlo --input ${model}/inputs.npz)
run(${prefix}/bin/hlo-opt ${model}/module.hlo --stage=llvm)

file(GLOB projects ${SOURCE}/examples/*/CMakeLists.txt)
foreach(list IN LISTS projects)
  cmake_path(GET list PARENT_PATH project)
  cmake_path(GET project FILENAME name)
  run(${CMAKE_COMMAND} -S ${project} -B ${work}/${name} -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${CXX}
      -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_FLAGS=${FLAGS})
  run(${CMAKE_COMMAND} --build ${work}/${name})
  run(${CMAKE_CTEST_COMMAND} --test-dir ${work}/${name} --output-on-failure --no-tests=error)
endforeach()
# SPDX-License-Identifier: Apache-2.0
