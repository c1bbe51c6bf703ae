#!/usr/bin/env bash
# Formats the C++ files that differ from the last commit, those named, or with --all every one.
# --check only lists what would change.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(-i)
if [[ ${1:-} == --check ]]; then
  mode=(--dry-run -Werror)
  shift
fi
if [[ ${1:-} == --all ]]; then
  mapfile -t files < <(git ls-files '*.cc' '*.h')
else
  files=("$@")
fi
if ((${#files[@]} == 0)); then
  mapfile -t files < <({ git diff --name-only --diff-filter=d HEAD; git ls-files --others --exclude-standard; } |
                       grep -E '\.(cc|h)$' || true)
fi
((${#files[@]} == 0)) || clang-format "${mode[@]}" "${files[@]}"
# SPDX-License-Identifier: Apache-2.0
