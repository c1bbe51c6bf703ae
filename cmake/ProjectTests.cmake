# Tests of the project as a whole: rules of layout, figures on the corpus, the installed package.
find_package(Python3 QUIET COMPONENTS Interpreter)
# SPDX-License-Identifier: Apache-2.0
