#!/usr/bin/env bash
# Draws every module of a folder as DOT and has Graphviz read it: scripts/viz_dot_sweep.sh FOLDER [BIN]. Prints what fails.
# Where dot -Tcanon, which lays out, takes more than a minute, Graphviz's nop reads the text.
set -uo pipefail
folder=$1 bin=${2:-build/release/bin}
dot=$(mktemp) all=0 bad=0
trap 'rm -f "$dot"' EXIT
while read -r module; do
  all=$((all + 1))
  if ! message=$("$bin/hlo-viz" "$module" --allow-unknown-attributes -o "$dot" --format=dot 2>&1 | grep -v ' note: \| warning: '; exit "${PIPESTATUS[0]}"); then
    bad=$((bad + 1)); echo "$module: hlo-viz: $(head -1 <<< "$message")"
  elif ! message=$(timeout 60 dot -Tcanon "$dot" 2>&1 > /dev/null || nop "$dot" 2>&1 > /dev/null); then
    bad=$((bad + 1)); echo "$module: dot: $(head -1 <<< "$message")"
  fi
done < <(find "$folder" -name '*.hlo' | sort)
echo "$all modules, $bad refused"
[ "$bad" -eq 0 ]
# SPDX-License-Identifier: Apache-2.0
