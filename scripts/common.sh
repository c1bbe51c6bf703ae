# Read by the other scripts: where the build is, and how to bring it up to date.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=${HLOKIT_PRESET:-release}
build=$PWD/build/$preset
jobs=${HLOKIT_JOBS:-$(nproc)}
# Of sanitizer presets: an allocation that fails gives null, as it does without them.
export ASAN_OPTIONS=${ASAN_OPTIONS:-allocator_may_return_null=1}
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/scripts/campaign/leaks.supp:print_suppressions=0}
export TSAN_OPTIONS=${TSAN_OPTIONS:-suppressions=$PWD/scripts/campaign/races.supp:allocator_may_return_null=1}
export CCACHE_DIR=${CCACHE_DIR:-$PWD/build/ccache}

# build_targets [target...]: configures and builds, everything by default; quiet unless it fails.
build_targets() {
  local log=$build/build.log
  mkdir -p "$build"
  { cmake --preset "$preset" ${HLOKIT_CMAKE_FLAGS:-} && cmake --build "$build" -j "$jobs" ${1:+--target "$@"}; } > "$log" 2>&1 && return
  grep -E "error:|FAILED|undefined (reference|symbol)" -A 6 "$log" | head -80 >&2
  tail -3 "$log" >&2
  echo "The build failed; all of its output is in $log" >&2
  return 1
}
# SPDX-License-Identifier: Apache-2.0
