# Tests of the project as a whole: rules of layout, figures on the corpus, the installed package.
find_program(HLOKIT_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(HLOKIT_PYTHON NAMES python3 REQUIRED)
mark_as_advanced(HLOKIT_PYTHON)

add_test(NAME project.layers COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/checks/check_layers.py)
add_test(NAME project.layers_are_checked COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/checks/check_layers_test.py)
add_test(NAME project.names COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/checks/check_names.py)
add_test(NAME project.names_are_checked COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/checks/check_names_test.py)
add_test(NAME project.docs_are_checked COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/checks/check_docs_test.py)
add_test(NAME project.docs COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/checks/check_docs.py ${PROJECT_SOURCE_DIR})
add_test(NAME project.setup COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/setup_test.py)
add_test(NAME project.passes_doc COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/docs/passes_doc.py --check)
add_test(NAME project.page COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/viz/check_page.py)
add_test(NAME project.operations_doc COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/docs/operations_doc.py --check)
add_test(NAME project.operations COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/docs/check_operations.py)
add_test(NAME project.opcode_files COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/checks/opcode_files.py --limit 5)
set_tests_properties(project.docs project.docs_are_checked project.layers project.layers_are_checked project.setup project.passes_doc project.operations_doc project.page
                     project.operations project.opcode_files PROPERTIES LABELS quick)

# hlo-viz's sessions on a terminal and over HTTP; its explorer in a real browser, where there is one.
if(TARGET hlo-viz)
  add_test(NAME project.viz_sessions
           COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/viz/viz_session_test.py --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  add_test(NAME project.viz_pictures
           COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/viz/viz_pictures.py --check --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  set_tests_properties(project.viz_sessions project.viz_pictures PROPERTIES LABELS quick TIMEOUT 300)
  add_test(NAME project.viz_browser
           COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/viz/viz_browser_test.py --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  set_tests_properties(project.viz_browser PROPERTIES LABELS exec SKIP_RETURN_CODE 77 TIMEOUT 1800)
endif()

# The time of passes is linear in the number of instructions, in modules of ten kinds. Of the most used passes and of those that were
# found to grow as the square; pass_growth.py --passes all takes all.
if(TARGET hlo-opt)
  add_test(NAME project.pass_growth
           COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/benchmarks/pass_growth.py --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --counts 1000,10000
                   --passes algsimp,call-inliner,collective-permute-motion,cse,dce,dynamic_padder,fusion,latency-hiding-scheduler,multi_output_fusion,priority-fusion,tuple-simplifier)
  set_tests_properties(project.pass_growth PROPERTIES LABELS exec TIMEOUT 600)
endif()

# Manual pages and completions.
if(TARGET hlo-run AND TARGET hlo-opt)
  add_test(NAME project.manuals
           COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/tools/manuals_test.py --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  set_tests_properties(project.manuals PROPERTIES LABELS quick TIMEOUT 300)
endif()

set(HLOKIT_JAX_PYTHON ${HLOKIT_PYTHON} CACHE FILEPATH "A Python with jax, for project.jax")
# The documentation site: every link leads somewhere. Skipped where Python lacks the package markdown.
add_test(NAME project.site COMMAND ${PROJECT_SOURCE_DIR}/scripts/site.sh --check --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
set_tests_properties(project.site PROPERTIES LABELS quick SKIP_RETURN_CODE 77 TIMEOUT 120)

# The tutorials, each a session whose outputs are compared.
if(TARGET hlo-run AND TARGET hlo-opt AND TARGET hlo-viz AND TARGET pjrt_hlokit)
  file(GLOB tutorials CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/tutorials/*.md)
  list(FILTER tutorials EXCLUDE REGEX README)
  foreach(tutorial ${tutorials})
    cmake_path(GET tutorial STEM name)
    add_test(NAME project.tutorial.${name}
             COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/tools/tutorials_test.py --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
                     --python ${HLOKIT_JAX_PYTHON} ${name})
    set_tests_properties(project.tutorial.${name} PROPERTIES LABELS exec SKIP_RETURN_CODE 77 TIMEOUT 600)
  endforeach()
endif()

# The language server, driven by a client.
if(TARGET hlo-lsp AND TARGET hlo-opt)
  add_test(NAME project.lsp_client
           COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/tools/lsp_client_test.py --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  add_test(NAME project.editors
           COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/tools/editors_test.py --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  add_test(NAME project.lsp_messages
           COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/tools/lsp_messages.py --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
           --sessions 6)
  set_tests_properties(project.lsp_client project.lsp_messages project.editors PROPERTIES LABELS quick TIMEOUT 300)
endif()

# JAX on the plugin, where a Python has JAX: -DHLOKIT_JAX_PYTHON=... names it.
if(TARGET pjrt_hlokit)
  add_test(NAME project.jax COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/jax/jax_plugin_test.py
           --lib $<TARGET_FILE:pjrt_hlokit> --python ${HLOKIT_JAX_PYTHON})
  add_test(NAME project.jax_ffi COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/jax/jax_ffi_test.py
           --lib $<TARGET_FILE:pjrt_hlokit> --python ${HLOKIT_JAX_PYTHON} --cxx ${CMAKE_CXX_COMPILER})
  add_test(NAME project.jax_sharding COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/jax/jax_sharding_test.py
           --lib $<TARGET_FILE:pjrt_hlokit> --python ${HLOKIT_JAX_PYTHON})
  add_test(NAME project.jax_behaviours COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/jax/jax_behaviours.py
           --lib $<TARGET_FILE:pjrt_hlokit> --python ${HLOKIT_JAX_PYTHON})
  add_test(NAME project.jax_cases
           COMMAND ${CMAKE_COMMAND} -E env JAX_PLATFORMS=hlokit PYTHONPATH=${PROJECT_SOURCE_DIR}/python
                   HLOKIT_PJRT_LIBRARY=$<TARGET_FILE:pjrt_hlokit> ${HLOKIT_JAX_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/jax/jax_cases.py)
  add_test(NAME project.jax_manner COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/jax/jax_manner.py
           --lib $<TARGET_FILE:pjrt_hlokit> --python ${HLOKIT_JAX_PYTHON} --sample 600)
  # The programs of benchmarks/peers at small sizes: results equal XLA's, and torch's where that is installed.
  add_test(NAME project.peers COMMAND ${HLOKIT_JAX_PYTHON} ${PROJECT_SOURCE_DIR}/benchmarks/peers/compare.py --small --rounds 1
           --seconds 0.01 --peers hlokit,xla,torch --bin $<TARGET_FILE_DIR:hlo-run>)
  add_test(NAME project.peers_page COMMAND ${HLOKIT_JAX_PYTHON} ${PROJECT_SOURCE_DIR}/benchmarks/peers/compare_test.py)
  set_tests_properties(project.peers project.peers_page PROPERTIES LABELS exec SKIP_RETURN_CODE 77 TIMEOUT 900)
  set_tests_properties(project.jax project.jax_ffi project.jax_behaviours project.jax_cases project.jax_manner project.jax_sharding PROPERTIES LABELS exec SKIP_RETURN_CODE 77 TIMEOUT 600)
endif()

# hlo-run over several processes, where there is an mpirun.
add_test(NAME project.mpi
         COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/tools/mpi_test.py --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
set_tests_properties(project.mpi PROPERTIES LABELS exec SKIP_RETURN_CODE 77 TIMEOUT 600)
# Sharded modules of the corpus on 2, 4 and 8 processes: a few, and all of them. Machines that are lost, on a network of namespaces.
set(spmd ${PROJECT_SOURCE_DIR}/../shared/corpus/jax/spmd)
foreach(test "exec;project.mpi_corpus;--every;27" "slow;project.mpi_corpus_all;--every;1")
  list(GET test 0 label)
  list(GET test 1 name)
  list(SUBLIST test 2 2 flags)
  add_test(NAME ${name} COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/tools/mpi_test.py
           --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --corpus ${spmd} ${flags})
  set_tests_properties(${name} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77 TIMEOUT 1800)
endforeach()
add_test(NAME project.mpi_faults
         COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/campaign/mpi_faults.py --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
                 --count 4 --timeout 8 --only "SIGSTOP|lost one way|another build|slow rank")
set_tests_properties(project.mpi_faults PROPERTIES LABELS exec SKIP_RETURN_CODE 77 TIMEOUT 600)

# The Python package.
if(TARGET pjrt_hlokit)
  add_test(NAME project.python COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/tools/python_package_test.py
           --lib $<TARGET_FILE:pjrt_hlokit>)
  set_tests_properties(project.python PROPERTIES LABELS quick SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()

# Flags with values that make no sense.
if(TARGET hlo-run)
  add_test(NAME project.flags
           COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/tools/flags_test.py --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  add_test(NAME project.command_lines
           COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/tools/flags_test.py --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --lines 80)
  set_tests_properties(project.flags project.command_lines PROPERTIES LABELS exec TIMEOUT 900 PROCESSORS 2)
endif()

# Command lines of XLA's programs, as public documents and issues have them.
if(TARGET hlo-run)
  add_test(NAME project.xla_command_lines
           COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/tools/xla_command_lines.py --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  set_tests_properties(project.xla_command_lines PROPERTIES LABELS exec TIMEOUT 900 PROCESSORS 2)
endif()

# Calls that fail, clocks that jump, processes that are killed while they write the cache.
if(TARGET hlokit_fail_call AND TARGET hlo-run)
  set(bin --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  add_test(NAME project.faults
           COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/campaign/fault_injection.py ${bin}
                   --shim $<TARGET_FILE:hlokit_fail_call>)
  add_test(NAME project.clock_steps
           COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/campaign/clock_steps.py ${bin}
                   --shim $<TARGET_FILE:hlokit_step_clock>)
  add_test(NAME project.cache_kills COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/campaign/cache_kills.py ${bin})
  set_tests_properties(project.faults project.clock_steps project.cache_kills
                       PROPERTIES LABELS exec TIMEOUT 900 PROCESSORS 2)
endif()

# Each call of the simulated CUDA driver fails in its turn.
if(TARGET hlokit_cuda_sim AND TARGET hlo-run)
  add_test(NAME project.cuda_faults
           COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/gpu/cuda_faults.py --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  set_tests_properties(project.cuda_faults PROPERTIES LABELS exec TIMEOUT 600)
endif()

# NVIDIA's assembler takes our PTX, where there is one.
if(TARGET hlokit_cuda_plugin AND TARGET hlo-opt)
  add_test(NAME project.ptxas
           COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/gpu/ptxas_check.py --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --every 8)
  set_tests_properties(project.ptxas PROPERTIES LABELS exec SKIP_RETURN_CODE 77 TIMEOUT 600)
endif()

# Triton runs its kernels on the simulated driver, where it is installed.
if(TARGET hlokit_cuda_sim)
  foreach(client triton_client triton_more)
    add_test(NAME project.${client}
             COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/gpu/${client}.py --lib $<TARGET_FILE:hlokit_cuda_sim>)
    set_tests_properties(project.${client} PROPERTIES LABELS exec SKIP_RETURN_CODE 77 TIMEOUT 300)
  endforeach()
endif()

# CUDA sources by nvcc, where there is one, on the simulator.
if(TARGET hlo-run)
  add_test(NAME project.nvcc
           COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/gpu/nvcc_kernels.py --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --arch 90a)
  set_tests_properties(project.nvcc PROPERTIES LABELS exec SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()

# What runs single instructions on a GPU, on the simulated driver.
if(TARGET hlokit_cuda_sim)
  add_test(NAME project.ptx_hardware
           COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/gpu/ptx_hardware.py check --sim $<TARGET_FILE:hlokit_cuda_sim>)
  set_tests_properties(project.ptx_hardware PROPERTIES LABELS exec SKIP_RETURN_CODE 77 TIMEOUT 300)
endif()

# Operations on arrays whose sizes only the run knows, beside the same on arrays of just those sizes.
if(TARGET hlo-run)
  add_test(NAME project.dynamic_sizes
           COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/xla/operations_peer.py dynamic
                   --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  set_tests_properties(project.dynamic_sizes PROPERTIES LABELS slow SKIP_RETURN_CODE 77 TIMEOUT 900)
endif()

# Passes on modules as no compiler likes them: each Nth pair of what runs before and the pass, and all.
if(TARGET hlo-opt)
  foreach(sweep awkward_modules:slow:1/1 awkward_modules_short:exec:3/23)
    string(REPLACE ":" ";" sweep ${sweep})
    list(GET sweep 0 name)
    list(GET sweep 1 label)
    list(GET sweep 2 part)
    add_test(NAME project.${name}
             COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/campaign/pass_sweep.py --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
                     --modules ${PROJECT_SOURCE_DIR}/testdata/awkward --part ${part})
    set_tests_properties(project.${name} PROPERTIES LABELS ${label} TIMEOUT 1800)
  endforeach()
endif()

# What the project says of each operation against the catalogue of the semantics pages.
add_test(NAME corpus.operations
         COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/docs/check_operations.py
                 --rows ${PROJECT_SOURCE_DIR}/../shared/ops.tsv)
set_tests_properties(corpus.operations PROPERTIES LABELS corpus SKIP_RETURN_CODE 77)

# Results depend neither on the number of threads nor on the level of optimization: a few modules, and all of the corpus.
set(threaded)
foreach(module sum_columns softmax dot_f32 sort_long cumulative_sum scatter_add_rows)
  list(APPEND threaded ${PROJECT_SOURCE_DIR}/benchmarks/micro/${module}.hlo)
endforeach()
add_test(NAME project.threads
         COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/campaign/threads_test.py
                 --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${threaded})
add_test(NAME corpus.threads
         COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/campaign/threads_test.py
                 --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --corpus)
set_tests_properties(project.threads PROPERTIES LABELS exec PROCESSORS 2)
set_tests_properties(corpus.threads PROPERTIES LABELS slow SKIP_RETURN_CODE 77 TIMEOUT 7200
                                               PROCESSORS 2)

# corpus.GROUP: score.py's figures on ../shared/corpus may not fall below scripts/xla/corpus_baseline.json.
file(READ ${PROJECT_SOURCE_DIR}/scripts/xla/corpus_baseline.json baseline)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/scripts/xla/corpus_baseline.json)
string(JSON groups LENGTH "${baseline}")
math(EXPR last "${groups} - 1")
foreach(index RANGE ${last})
  string(JSON group MEMBER "${baseline}" ${index})
  add_test(NAME corpus.${group}
           COMMAND ${HLOKIT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/xla/corpus_check.py ${group}
                   --bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --log ${PROJECT_BINARY_DIR}/corpus)
  set_tests_properties(corpus.${group} PROPERTIES LABELS corpus SKIP_RETURN_CODE 77 TIMEOUT 1500 PROCESSORS 2)
endforeach()

# Every public header compiles alone.
add_test(NAME project.headers
         COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target all_verify_interface_header_sets)
set_tests_properties(project.headers PROPERTIES LABELS slow TIMEOUT 900 PROCESSORS 2)

# API pages are made without a warning, and none of what programs include is without a word.
find_program(HLOKIT_DOXYGEN doxygen)
mark_as_advanced(HLOKIT_DOXYGEN)
if(HLOKIT_DOXYGEN)
  add_test(NAME project.api_pages COMMAND sh -c "! { ${HLOKIT_DOXYGEN} docs/Doxyfile && ${HLOKIT_DOXYGEN} docs/Doxyfile.api; } 2>&1 | grep ."
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(project.api_pages PROPERTIES LABELS slow TIMEOUT 600)
endif()

# Code for another kind of machine computes the same; skipped where no qemu-user or cross compiler is.
add_test(NAME aot.aarch64
         COMMAND ${PROJECT_SOURCE_DIR}/scripts/tools/aot_aarch64_test.sh ${PROJECT_BINARY_DIR})
set_tests_properties(aot.aarch64 PROPERTIES LABELS exec SKIP_RETURN_CODE 77 TIMEOUT 900 PROCESSORS 2)

# README's first command; the second runs this test. In other folders it would build everything once more.
if(PROJECT_BINARY_DIR STREQUAL ${PROJECT_SOURCE_DIR}/build/release)
  add_test(NAME project.demo COMMAND ${PROJECT_SOURCE_DIR}/scripts/demo.sh)
  set_tests_properties(project.demo PROPERTIES LABELS slow TIMEOUT 600 PROCESSORS 2 ENVIRONMENT HLOKIT_PRESET=release)
endif()

# The package as a stranger's project finds it: the projects in examples/ build against it and pass their tests.
add_test(NAME project.install
         COMMAND ${CMAKE_COMMAND} -D BUILD=${PROJECT_BINARY_DIR} -D SOURCE=${PROJECT_SOURCE_DIR}
                 -D GENERATOR=${CMAKE_GENERATOR} -D CXX=${CMAKE_CXX_COMPILER} -D FLAGS=${HLOKIT_LINK_FLAGS}
                 -P ${PROJECT_SOURCE_DIR}/cmake/test_install.cmake)
set_tests_properties(project.install PROPERTIES LABELS slow TIMEOUT 600)
# SPDX-License-Identifier: Apache-2.0
