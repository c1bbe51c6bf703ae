#!/usr/bin/env bash
# Builds with every compiler and sanitizer and runs the quick tests of each; prints a line a preset. About an hour on two
# cores; more than CI does. Usage: scripts/check_presets.sh [PRESET...]; debug, clang, asan-ubsan and tsan by default.
# Each build stands in build/PRESET; its outputs in build/PRESET/build.log and test.log.
set -uo pipefail
cd "$(dirname "$0")/.."

presets=("$@")
((${#presets[@]})) || presets=(debug clang asan-ubsan tsan)
failed=0

# check PRESET: the first thing that fails, or "clean".
check() {
  (
    export HLOKIT_PRESET=$1
    source scripts/common.sh
    build_targets || exit 1
    if grep -q "warning:" "$build/build.log"; then
      grep -m 20 "warning:" "$build/build.log"
      exit 1
    fi
    # ThreadSanitizer delivers signals at calls only, of which an endless loop of compiled code has none.
    [[ $1 == tsan ]] && without=(-E tools/run_limits) || without=()
    ctest --test-dir "$build" --output-on-failure -j "$jobs" -L quick "${without[@]}" > "$build/test.log" 2>&1 && exit
    grep -E "\(Failed\)|\(Timeout\)|tests passed" "$build/test.log"
    exit 1
  )
}

for preset in "${presets[@]}"; do
  start=$SECONDS
  if check "$preset"; then
    echo "$preset: clean ($((SECONDS - start)) s)"
  else
    echo "$preset: FAILED; see build/$preset/build.log and test.log"
    failed=1
  fi
done
exit "$failed"
# SPDX-License-Identifier: Apache-2.0
