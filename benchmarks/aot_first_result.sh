#!/usr/bin/env bash
# How soon a module compiled ahead of time gives its first result, and how large program and runtime are.
#   benchmarks/aot_first_result.sh BUILD MODULE.hlo [hlo-aot's flags...]
# RUNS: how often (3).
set -euo pipefail
source_folder=$(cd "$(dirname "$0")/.." && pwd)
build=$1 module=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$build/bin/hlo-aot" "$module" --name=model -o "$folder/model.o" --header="$folder/model.h" "$@"
"${CXX:-c++}" -std=c++20 -O2 -I"$source_folder" -DMODEL=model_model -o "$folder/program" \
  "$source_folder/benchmarks/aot_first_result.cc" "$folder/model.o" "$build/lib/libhlokit_runtime.a" \
  -lhwy_contrib -lhwy -pthread -ldl -Wl,--gc-sections
"$folder/program" --make "$folder/arguments"
for ((i = 0; i < ${RUNS:-3}; ++i)); do "$folder/program" "$folder/arguments"; done
strip -o "$folder/stripped" "$folder/program"
echo "program with its runtime: $(stat -c %s "$folder/stripped") bytes stripped, of them code of the model: $(size "$folder/model.o" | awk 'NR == 2 { print $1 + $2 }')"
# SPDX-License-Identifier: Apache-2.0
