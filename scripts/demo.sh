#!/usr/bin/env bash
# Installs what is missing, builds hlo-run, and runs a model of testdata/models against its expected results.
# Usage: scripts/demo.sh [MODEL [hlo-run flag...]]; the model is a folder with module.hlo and inputs.npz (in0.., out0..).
set -euo pipefail
source "$(dirname "$0")/common.sh"

model=testdata/models/${1:-mlp_mnist}
shift || true
if [[ ! -f $model/module.hlo ]]; then
  echo "demo.sh: no $model; there are: $(cd testdata/models && ls)" >&2
  exit 2
fi

scripts/setup.sh
# The first build of all: several sources at a time (cmake/UnityBuild.cmake), which an existing build folder is not changed to.
[[ -f $build/CMakeCache.txt ]] || export HLOKIT_CMAKE_FLAGS=-DHLOKIT_UNITY=ON
echo "Building hlo-run in ${build#"$PWD"/} ..."
build_targets hlo-run

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "\$ hlo-run $model/module.hlo --input $model/inputs.npz"
"$build/bin/hlo-run" "$model/module.hlo" --input "$model/inputs.npz" --output "$work/results.npz" \
  --json "$work/times.json" --iterations 20 --warmup 3 "$@"
python3=$(scripts/tools/python_with_numpy.sh)
"$python3" scripts/viz/show_results.py "$model/inputs.npz" "$work/results.npz" "$work/times.json"
# SPDX-License-Identifier: Apache-2.0
