#!/usr/bin/env bash
# Builds what scripts/campaign/campaign.sh runs: the tools and tests (preset release), and libFuzzer's targets (preset fuzz) where
# clang-14 is. Usage: scripts/campaign/build_campaign.sh
set -euo pipefail
source "$(dirname "$0")/../common.sh"
targets=(text proto values numpy interpret passes run stablehlo safetensors weights topology diff lsp)
build_targets hlo-run hlo-opt hlo-gen hlo-viz hlo-aot hlo-diff hlo-cost hlo-reduce hlokit_cpu_plugin hlokit_fail_call \
  hlokit_step_clock hlokit_passes_test "${targets[@]/%/_replay}"
if command -v clang++-14 > /dev/null; then
  preset=fuzz
  build=$PWD/build/fuzz
  build_targets "${targets[@]/%/_fuzz}" text_replay
else
  echo "clang-14 is missing: nothing will be fuzzed with sanitizers" >&2
fi
# SPDX-License-Identifier: Apache-2.0
