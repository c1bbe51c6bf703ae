#!/usr/bin/env bash
# Searches for faults unattended: fuzzers with sanitizers, random modules of every stage, random lists of passes, hlo-run
# --sanitize, calls that fail, XLA's own optimizer; at nice 19, for hours; Ctrl-C ends it, and the next call goes on from there.
# Usage: scripts/campaign/campaign.sh JOBS HOURS [FOLDER] [flag of scripts/campaign/campaign.py...]
# JOBS: processes at a time. HOURS: of the clock, such as 0.5. FOLDER: build/campaign; holds page.md, page.json, findings/.
# HLOKIT_CAMPAIGN_BUILD=0 leaves the builds as they are; without clang-14 there is no fuzzing.
set -euo pipefail
if (($# < 2)); then
  sed -n '2,6s/^# //p' "$0" >&2
  exit 2
fi
jobs=$1
hours=$2
shift 2
folder=build/campaign
if (($# > 0)) && [[ $1 != --* ]]; then
  folder=$1
  shift
fi
folder=$(realpath -m "$folder")
source "$(dirname "$0")/../common.sh"

if [[ ${HLOKIT_CAMPAIGN_BUILD:-1} != 0 ]]; then
  export HLOKIT_JOBS=$jobs
  nice -n 19 scripts/campaign/build_campaign.sh
fi
exec nice -n 19 python3 scripts/campaign/campaign.py --jobs "$jobs" --hours "$hours" --folder "$folder" "$@"
# SPDX-License-Identifier: Apache-2.0
