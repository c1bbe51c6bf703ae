#!/usr/bin/env bash
# Draws every module below a folder (HLO text, and what XLA dumps) as DOT and has Graphviz read it:
# scripts/viz_dot_sweep.sh FOLDER [BIN]. Prints what fails. dot -Tcanon lays graphs out first: where that takes more than
# a minute, Graphviz's nop reads the text.
set -uo pipefail
folder=$1 bin=${2:-build/release/bin}
dot=$(mktemp) all=0 bad=0 slow=0
trap 'rm -f "$dot"' EXIT
while read -r module; do
  all=$((all + 1))
  if ! message=$("$bin/hlo-viz" "$module" --allow-unknown-attributes -o "$dot" --format=dot 2>&1 | grep -v ' note: \| warning: '; exit "${PIPESTATUS[0]}"); then
    bad=$((bad + 1)); echo "$module: hlo-viz: $(head -1 <<< "$message")"; continue
  fi
  message=$(timeout 60 dot -Tcanon "$dot" 2>&1 > /dev/null); status=$?
  if [ $status -eq 124 ]; then
    slow=$((slow + 1)); message=$(nop "$dot" 2>&1 > /dev/null); status=$?
  fi
  [ $status -eq 0 ] || { bad=$((bad + 1)); echo "$module: dot: $(head -1 <<< "$message")"; }
done < <(find "$folder" \( -name '*.hlo' -o -name '*_optimizations.txt' -o -name '*.after_*.txt' -o -name '*.hlo.pb' \) | sort)
echo "$all modules, $bad refused, $slow read by nop"
[ "$bad" -eq 0 ]
# SPDX-License-Identifier: Apache-2.0
