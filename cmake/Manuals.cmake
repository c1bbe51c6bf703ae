# Manual pages and completions of all tools and of their names as XLA has them, made by the tools themselves of their own flags
# (target hlokit_manuals, part of all), and installed where man, bash, zsh and fish look.
get_property(tools GLOBAL PROPERTY HLOKIT_TOOLS)
get_property(links GLOBAL PROPERTY HLOKIT_LINKS)
set(folder ${PROJECT_BINARY_DIR}/manuals)
file(MAKE_DIRECTORY ${folder}/man1 ${folder}/bash ${folder}/zsh ${folder}/fish)
set(made)
foreach(name IN LISTS tools links)
  string(REPLACE ":" ";" pair "${name}")  # LINK:TOOL
  list(GET pair 0 name)
  list(GET pair -1 tool)
  set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name})
  set(files ${folder}/man1/${name}.1 ${folder}/bash/${name} ${folder}/zsh/_${name} ${folder}/fish/${name}.fish)
  list(GET files 0 page)
  list(GET files 1 bash)
  list(GET files 2 zsh)
  list(GET files 3 fish)
  add_custom_command(OUTPUT ${files} DEPENDS ${tool}
    COMMAND ${program} --print-man-page > ${page}
    COMMAND ${program} --print-completion=bash > ${bash}
    COMMAND ${program} --print-completion=zsh > ${zsh}
    COMMAND ${program} --print-completion=fish > ${fish}
    COMMENT "Manual and completions of ${name}" VERBATIM)
  list(APPEND made ${files})
endforeach()
add_custom_target(hlokit_manuals ALL DEPENDS ${made})
install(DIRECTORY ${folder}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tools)
install(DIRECTORY ${folder}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tools)
install(DIRECTORY ${folder}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT tools)
install(DIRECTORY ${folder}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tools)

# What `pkg-config --cflags --libs hlokit` tells of the C interface (client/c_api.h), and hlokit-runtime of what programs that
# were compiled ahead of time link. Prefixes are those of the files' own place, so that an installed tree can move.
file(RELATIVE_PATH to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
foreach(name hlokit hlokit-runtime)
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
endforeach()
# SPDX-License-Identifier: Apache-2.0
