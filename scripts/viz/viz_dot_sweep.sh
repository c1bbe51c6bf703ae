#!/usr/bin/env bash
# Draws every module below a folder (HLO text, and what XLA dumps) as DOT and has `dot -Tcanon` read it:
# scripts/viz/viz_dot_sweep.sh FOLDER [BIN]. Prints what fails. dot lays graphs out before it prints them, large ones for minutes:
# it is told to stop after ranks are given. It reads many files at a time, and one by one those of which it complains.
set -uo pipefail
folder=$1 bin=${2:-build/release/bin} batch=40
work=$(mktemp -d) all=0 bad=0
trap 'rm -rf "$work"' EXIT

canon() { timeout 300 dot -Gphase=1 -Tcanon "$@" 2>&1 > /dev/null; }

read_batch() {
  [ ${#modules[@]} -eq 0 ] && return
  local k message
  if ! canon "$work"/*.dot > /dev/null; then
    for k in "${!modules[@]}"; do
      message=$(canon "$work/$k.dot") || { bad=$((bad + 1)); echo "${modules[$k]}: dot: $(head -1 <<< "$message")"; }
    done
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
echo "$all modules, $bad refused"
[ "$bad" -eq 0 ]
# SPDX-License-Identifier: Apache-2.0
