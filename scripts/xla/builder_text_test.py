#!/usr/bin/env python3
"""Holds the text of modules made by the builder to the real XLA's: each of testdata/builder/*.out, which
client/operations_test.cc holds the builder to, is read by XLA, printed by XLA, and compared byte for byte. Skipped (77)
where jaxlib is missing.
"""
import argparse
import glob
import os
import re
import sys

try:
    from jaxlib import _hlo
except ImportError:
    print("jaxlib is not installed")
    sys.exit(77)


def cases():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "testdata", "builder")
    for path in sorted(glob.glob(os.path.join(folder, "*.out"))):
        with open(path, encoding="utf-8") as file:
            parts = re.split(r"^// ----- (.*)\n", file.read(), flags=re.MULTILINE)
        yield from zip(parts[1::2], parts[2::2])


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    options = _hlo.HloPrintOptions()
    options.print_large_constants = True
    total = different = 0
    for name, ours in cases():
        total += 1
        try:
            theirs = _hlo.hlo_module_from_text(ours).to_string(options)
        except Exception as error:  # what XLA refuses comes as one of several types
            print(f"{name}: XLA does not read it: {error}\n{ours}")
            different += 1
            continue
        if ours.strip() != theirs.strip():
            print(f"{name} differs\n--- ours\n{ours}\n--- XLA's\n{theirs}")
            different += 1
    print(f"{total} modules, {different} differ")
    return 1 if different or not total else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
