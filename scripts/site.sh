#!/usr/bin/env bash
# The documentation as a static site: scripts/site.sh [OUT] writes build/site (or OUT) from docs/, the tutorials, README files and the
# tools' manual pages. `--check` writes nothing that stays and fails on a link that leads nowhere.
# Needs Python with the package markdown (python3-markdown, or pip install markdown); exit status 77 where there is none.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
for python in "${PYTHON:-python3}" /usr/bin/python3; do
  if "$python" -c 'import markdown' 2>/dev/null; then exec "$python" "$here/site.py" "$@"; fi
done
echo "site.sh: no Python has the package markdown: apt install python3-markdown" >&2
exit 77
# SPDX-License-Identifier: Apache-2.0
