#!/usr/bin/env bash
# Rewrites the expectations in testdata/ to what the tools print now; read the diff like code.
# Arguments go to ctest: scripts/update_goldens.sh -R clamp.
set -euo pipefail
source "$(dirname "$0")/common.sh"

build_targets
HLOKIT_UPDATE_GOLDENS=1 ctest --test-dir "$build" --output-on-failure -j "$jobs" ${1:--R golden} "${@:2}"
git --no-pager diff --stat -- testdata
# SPDX-License-Identifier: Apache-2.0
