#!/usr/bin/env python3
"""Prints what hlo-run computed, how fast, and whether it agrees: show_results.py EXPECTED.npz RESULTS.npz TIMES.json.

EXPECTED holds out0, out1, ... beside the inputs. Floats agree within a relative error of 1e-4 of the array's typical
magnitude, everything else exactly. Exit status 1 where a result differs.
"""
import json
import re
import sys

import numpy as np

TOLERANCE = 1e-4


def difference(want, got):
    """How far apart two arrays are, as a number to hold against TOLERANCE; infinite where they cannot be compared."""
    if want.shape != got.shape:
        return np.inf
    if want.dtype.kind not in "fc":
        return 0.0 if np.array_equal(want, got.view(want.dtype)) else np.inf
    special = ~np.isfinite(want)
    if not np.array_equal(want[special], got[special], equal_nan=True):
        return np.inf
    size = np.abs(want[~special])
    if size.size == 0:
        return 0.0
    typical = max(np.median(size), np.finfo(want.dtype).tiny)
    return float((np.abs(want - got)[~special] / np.maximum(size, typical)).max())


def show(name, array):
    values = np.array2string(array, precision=5, threshold=8, edgeitems=3, max_line_width=100)
    print(f"{name} {array.dtype}{list(array.shape)} = {values}")


def main():
    expected, results = np.load(sys.argv[1]), np.load(sys.argv[2])
    with open(sys.argv[3], encoding="utf-8") as file:
        times = json.load(file)
    worst, names = 0.0, sorted((n for n in expected.files if re.fullmatch(r"out\d+", n)), key=lambda n: int(n[3:]))
    if not names:
        sys.exit(f"{sys.argv[1]} holds no expected results")
    for name in names:
        if name not in results.files:
            sys.exit(f"no {name} among the results")
        show(name, results[name])
        worst = max(worst, difference(expected[name], results[name]))
    print(f"compiled in {1e3 * times['compile_s']:.1f} ms; a run takes {1e3 * times['run_med_s']:.3f} ms "
          f"(median of {times['iterations']}) on {times['threads']} threads")
    agrees = worst <= TOLERANCE
    print(f"{'agrees' if agrees else 'DIFFERS'}: worst relative error {worst:.1e} over {len(names)} results")
    sys.exit(0 if agrees else 1)


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
