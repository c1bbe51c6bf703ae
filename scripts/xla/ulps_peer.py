#!/usr/bin/env python3
"""How far hlokit's CPU and the real XLA's are from the exact value, f32, in units in the last place: ulps_peer.py --bin DIR [--count N].

Prints a Markdown table: the worst of N bit patterns, spread over all of f32, whose value and result are normal numbers; f64 stands for
the exact value, which numpy gives to 1e-7 of an ulp of f32 (not where a sine's argument is huge: those are left out). Skipped (77) where
jaxlib is missing.
"""
import argparse
import sys

import xla_peer


def functions():
    import math
    import numpy as np
    erf = np.vectorize(math.erf, otypes=[float])
    return {
        "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atanh": np.arctanh, "cbrt": np.cbrt,
        "cosine": np.cos, "cosh": np.cosh, "erf": erf, "exponential": np.exp, "exponential-minus-one": np.expm1, "log": np.log,
        "log-plus-one": np.log1p, "logistic": lambda x: 1 / (1 + np.exp(-x)), "rsqrt": lambda x: 1 / np.sqrt(x), "sine": np.sin,
        "sinh": np.sinh, "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh,
    }


def ulps(values, exact):
    """The worst distance where the exact value is a normal f32, and where that is."""
    import numpy as np
    magnitude = np.abs(exact)
    normal = (magnitude > 2.0**-126) & (magnitude < 3.4e38) & np.isfinite(exact)
    unit = np.exp2(np.floor(np.log2(np.where(normal, magnitude, 1))) - 23)
    with np.errstate(all="ignore"):
        far = np.where(normal, np.abs(values.astype(np.float64) - exact) / unit, 0)
    return float(np.nanmax(np.where(np.isnan(values) & normal, np.inf, far)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="folder of the programs")
    parser.add_argument("--count", type=int, default=1_000_000)
    options = parser.parse_args()
    try:
        import jaxlib  # noqa: F401
    except ImportError:
        print("skipped: no jaxlib")
        return xla_peer.SKIPPED
    import numpy as np
    import operations_peer
    import peer_values
    from jaxlib import _hlo
    x = (np.arange(options.count, dtype=np.uint64) * (2**32 // options.count)).astype(np.uint32).view(np.float32)
    x = x[np.isfinite(x) & (np.abs(x) > 2.0**-126)]
    x = np.concatenate([x, np.random.RandomState(1).uniform(-20, 20, options.count // 4).astype(np.float32)])
    tool = operations_peer.Tool(options.bin)
    print("| operation | hlokit | XLA |\n|---|---|---|")
    for opcode, exact in functions().items():
        given = x[np.abs(x) < 1e5] if opcode in ("sine", "cosine", "tan") else x
        text = f"HloModule m\n\nENTRY e {{\n  p = f32[{given.size}] parameter(0)\n  ROOT r = f32[{given.size}] {opcode}(p)\n}}\n"
        with np.errstate(all="ignore"):
            wanted = exact(given.astype(np.float64))
        ours = tool.run(text, [given])[0]
        theirs = peer_values.run_on_xla(_hlo, (text, [given]))
        other = theirs if isinstance(theirs, str) else f"{ulps(theirs[0], wanted):.3g}"
        print(f"| {opcode} | {ulps(ours, wanted):.3g} | {other} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
