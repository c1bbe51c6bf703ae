#!/usr/bin/env bash
# Prints a Python that has numpy: Debian's own first, whatever else stands in PATH. Status 1 where there is none.
for python in /usr/bin/python3 python3; do
  if "$python" -c 'import numpy' 2> /dev/null; then
    echo "$python"
    exit 0
  fi
done
exit 1
# SPDX-License-Identifier: Apache-2.0
