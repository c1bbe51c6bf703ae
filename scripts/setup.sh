#!/usr/bin/env bash
# Installs the packages of scripts/packages.txt that are missing; silent and quick where none is.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t wanted < <(grep -v '^#' scripts/packages.txt)
mapfile -t present < <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null |
                       sed -n 's/^installed //p')
missing=()
for package in "${wanted[@]}"; do
  [[ " ${present[*]} " == *" $package "* ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  command -v sudo > /dev/null || {
    echo "setup.sh: please install as root: apt-get install ${missing[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi
install_missing() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

echo "setup.sh: installing ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The package lists may be old or absent: they are fetched only where a first attempt fails.
install_missing > "$log" 2>&1 || { "${as_root[@]}" apt-get update -qq > "$log" 2>&1 && install_missing > "$log" 2>&1; } || {
  tail -20 "$log" >&2
  echo "setup.sh: could not install: ${missing[*]}" >&2
  exit 1
}
# SPDX-License-Identifier: Apache-2.0
