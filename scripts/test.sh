#!/usr/bin/env bash
# Installs what is missing, builds everything and runs all tests; ends with ctest's own summary and exit status.
# Arguments go to ctest: scripts/test.sh -L quick. HLOKIT_PRESET and HLOKIT_JOBS choose the build and its width.
set -euo pipefail
source "$(dirname "$0")/common.sh"

scripts/setup.sh
build_targets
exec ctest --test-dir "$build" --output-on-failure -j "$jobs" "$@"
# SPDX-License-Identifier: Apache-2.0
