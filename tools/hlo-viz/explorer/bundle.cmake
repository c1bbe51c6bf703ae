# Bundles the page's modules into one HTML text and embeds it: cmake -D PAGE=folder -D OUT=file.cc -P bundle.cmake
# Modules import each other by name only, so that stripping `import` and `export` and joining them is all that is needed;
# scripts/viz/check_page.py checks that names are unique and that what is imported is exported.
cmake_minimum_required(VERSION 3.25)

function(read_module file result)
  file(READ ${file} text)
  string(REGEX REPLACE "(^|\n)import [^\n]*" "\\1" text "${text}")
  string(REGEX REPLACE "(^|\n)export " "\\1" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

file(GLOB modules ${PAGE}/*.js)
list(REMOVE_ITEM modules ${PAGE}/layout.js ${PAGE}/main.js)
set(script "")
foreach(module IN LISTS modules ITEMS)
  read_module(${module} text)
  string(APPEND script "${text}")
endforeach()
read_module(${PAGE}/main.js text)
string(APPEND script "${text}")
read_module(${PAGE}/layout.js worker)
file(READ ${PAGE}/page.html page)
file(READ ${PAGE}/style.css style)
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@WORKER@" "${worker}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
file(WRITE ${OUT}
     "// The page, bundled by bundle.cmake.\n#include \"tools/hlo-viz/explorer/page_text_internal.h\"\n\n"
     "namespace hlokit {\nconst char* const kPageText = R\"~page~(${page})~page~\";\n}  // namespace hlokit\n")
# SPDX-License-Identifier: Apache-2.0
