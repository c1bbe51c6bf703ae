#!/usr/bin/env bash
# Runs clang-tidy with the list in .clang-tidy over the sources named, or all; needs clang-tidy-14 and a build with the
# preset clang (whose compile commands it reads).
set -euo pipefail
export HLOKIT_PRESET=${HLOKIT_PRESET:-clang}
source "$(dirname "$0")/common.sh"

[[ -f $build/compile_commands.json ]] || cmake --preset "$preset" > /dev/null
files=("$@")
((${#files[@]})) || mapfile -t files < <(git ls-files '*.cc' ':!examples')
printf '%s\n' "${files[@]}" | xargs -P "$jobs" -n 1 clang-tidy-14 -p "$build" --quiet 2> >(grep -v "warnings generated" >&2)
# SPDX-License-Identifier: Apache-2.0
