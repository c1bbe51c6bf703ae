#!/usr/bin/env python3
"""Holds the text of modules made by the builder to the real XLA's: each case of client/operations_test.cc is written out,
read by XLA, printed by XLA, and compared byte for byte. Skipped (77) where jaxlib is missing.

  scripts/builder_text_test.py --bin build/release/bin
"""
import argparse
import os
import subprocess
import sys
import tempfile

try:
    from jaxlib import _hlo
except ImportError:
    print("jaxlib is not installed")
    sys.exit(77)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="folder of the programs")
    args = parser.parse_args()
    options = _hlo.HloPrintOptions()
    options.print_large_constants = True
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.join(args.bin, "hlokit_client_test"), "--gtest_filter=OperationsTest.EachIsBuiltAndRuns"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       env=dict(os.environ, HLOKIT_BUILDER_DUMP=folder))
        names = sorted(os.listdir(folder))
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                ours = file.read()
            try:
                theirs = _hlo.hlo_module_from_text(ours).to_string(options)
            except Exception as error:  # what XLA refuses comes as one of several types
                print(f"{name}: XLA does not read it: {error}\n{ours}")
                different += 1
                continue
            if ours.strip() != theirs.strip():
                print(f"{name} differs\n--- ours\n{ours}\n--- XLA's\n{theirs}")
                different += 1
    print(f"{len(names)} modules, {different} differ")
    return 1 if different or not names else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
