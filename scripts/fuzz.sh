#!/usr/bin/env bash
# Runs a libFuzzer target for some seconds over the project's seeds; needs clang-14 and libclang-rt-14-dev.
# Usage: scripts/fuzz.sh TARGET SECONDS [libFuzzer flag...]; TARGET: text, proto, interpret, passes, run, values,
# numpy, stablehlo, safetensors, weights, topology, diff, lsp.
# The corpus grows in build/fuzz/corpus/TARGET from run to run; inputs that fail are left in build/fuzz/findings/TARGET.
# HLOKIT_FUZZ_SEEDS names further folders of seeds.
set -euo pipefail
export HLOKIT_PRESET=fuzz
source "$(dirname "$0")/common.sh"

if (($# < 2)); then
  sed -n '2,6s/^# //p' "$0" >&2
  exit 2
fi
target=$1
seconds=$2
shift 2

build_targets "${target}_fuzz" "${target}_replay"
corpus=$build/corpus/$target
findings=$build/findings/$target
mkdir -p "$corpus" "$findings"
"$build/bin/${target}_replay" --write-dictionary "$build/hlo.dict"
mapfile -t seeds < <(sed -n "s/^$target: //p" "$build/fuzz/seeds.txt" | tr ';' '\n')
# shellcheck disable=SC2206 # several folders, separated by blanks
seeds+=(${HLOKIT_FUZZ_SEEDS:-})

# Allocations as large as a literal may ask for are no finding: the limit is on what is held.
export ASAN_OPTIONS=allocator_may_return_null=1:${ASAN_OPTIONS:-}
exec nice -n 19 "$build/bin/${target}_fuzz" -max_total_time="$seconds" -max_len=8192 -timeout=10 -rss_limit_mb=4096 \
  -malloc_limit_mb=4096 -dict="$build/hlo.dict" -artifact_prefix="$findings/" -print_final_stats=1 "$@" \
  "$corpus" "${seeds[@]}"
# SPDX-License-Identifier: Apache-2.0
