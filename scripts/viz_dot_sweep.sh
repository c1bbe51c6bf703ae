#!/usr/bin/env bash
# Draws every module below a folder (HLO text, and what XLA dumps) as DOT and has Graphviz read it:
# scripts/viz_dot_sweep.sh FOLDER [BIN]. Prints what fails. dot -Tcanon lays graphs out first: where that takes more than
# SECONDS_EACH (60), Graphviz's nop reads the text. dot reads many files at a time, and one by one those that it complains of.
set -uo pipefail
folder=$1 bin=${2:-build/release/bin} limit=${SECONDS_EACH:-60} batch=40
work=$(mktemp -d) all=0 bad=0 slow=0
trap 'rm -rf "$work"' EXIT

read_one() {
  local message status
  message=$(timeout "$limit" dot -Tcanon "$1" 2>&1 > /dev/null); status=$?
  if [ $status -eq 124 ]; then
    slow=$((slow + 1)); message=$(nop "$1" 2>&1 > /dev/null); status=$?
  fi
  [ $status -eq 0 ] || { bad=$((bad + 1)); echo "$2: dot: $(head -1 <<< "$message")"; }
}

read_batch() {
  [ ${#modules[@]} -eq 0 ] && return
  local k
  if ! timeout "$limit" dot -Tcanon "$work"/*.dot > /dev/null 2>&1; then
    for k in "${!modules[@]}"; do read_one "$work/$k.dot" "${modules[$k]}"; done
  fi
  rm -f "$work"/*.dot
  modules=()
}

modules=()
while read -r module; do
  all=$((all + 1))
  dot=$work/${#modules[@]}.dot
  if message=$("$bin/hlo-viz" "$module" --allow-unknown-attributes -o "$dot" 2>&1 | grep -v ' note: \| warning: '; exit "${PIPESTATUS[0]}"); then
    modules+=("$module")
  else
    bad=$((bad + 1)); rm -f "$dot"; echo "$module: hlo-viz: $(head -1 <<< "$message")"
  fi
  [ ${#modules[@]} -eq "$batch" ] && read_batch
done < <(find -L "$folder" \( -name '*.hlo' -o -name '*_optimizations.txt' -o -name '*.after_*.txt' -o -name '*.hlo.pb' -o -name '*_snapshot.txt' \) | sort)
read_batch
echo "$all modules, $bad refused, $slow read by nop"
[ "$bad" -eq 0 ]
# SPDX-License-Identifier: Apache-2.0
