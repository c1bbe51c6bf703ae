#!/usr/bin/env python3
"""How far hlokit's chlo functions and XLA's are from the exact value, and from each other, in units in the last place. Skipped (77) without
jax and mpmath.

  chlo_ulps.py --bin DIR [--count N] [--bound B] [NAME...]

Prints a Markdown table over f32 and f64. Arguments are uniform over the function's usual range; where a function passes through
zero inside it the unit is that of a value of 1/8 there (an argument's own rounding moves the value by more). Exit status 1 where
hlokit is farther than B (2 unless told) from the exact value and, by half a unit or more, less exact than XLA.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

try:
    import jax
    import jax.numpy as jnp
    import mpmath
    from jax import lax
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


def bessel_i1e(x):
    return mpmath.exp(-abs(x)) * mpmath.besseli(1, x)


def polygamma(n):
    return lambda x: mpmath.polygamma(n, x)


# Name, exact function, jax's, range, what the operation takes before the argument.
FUNCTIONS = [
    ("acos", mpmath.acos, lax.acos, (-1, 1), []), ("acosh", mpmath.acosh, lax.acosh, (1, 50), []), ("asin", mpmath.asin, lax.asin, (-1, 1), []),
    ("asinh", mpmath.asinh, lax.asinh, (-50, 50), []), ("atan", mpmath.atan, lax.atan, (-20, 20), []), ("atanh", mpmath.atanh, lax.atanh, (-1, 1), []),
    ("cosh", mpmath.cosh, lax.cosh, (-20, 20), []), ("sinh", mpmath.sinh, lax.sinh, (-20, 20), []), ("tan", mpmath.tan, lax.tan, (-20, 20), []),
    ("erf", mpmath.erf, lax.erf, (-4, 4), []), ("erfc", mpmath.erfc, lax.erfc, (-4, 9), []), ("erf_inv", mpmath.erfinv, lax.erf_inv, (-1, 1), []),
    ("lgamma", mpmath.loggamma, lax.lgamma, (0.01, 40), []), ("digamma", mpmath.digamma, lax.digamma, (0.01, 40), []),
    ("bessel_i1e", bessel_i1e, lax.bessel_i1e, (-30, 30), []),
    *((f"polygamma {n}", polygamma(n), (lambda n: lambda x: lax.polygamma(jnp.full_like(x, n), x))(n), (0.1, 40), [n]) for n in (0, 1, 2, 5)),
    *((f"zeta {s}", (lambda s: lambda x: mpmath.zeta(s, x))(s), (lambda s: lambda x: lax.zeta(jnp.full_like(x, s), x))(s), (0.1, 40), [s]) for s in (1.5, 2, 8)),
]


def program(name, element, count, before):
    kind = f"tensor<{count}x{element}>"
    lines = [f"%c{i} = stablehlo.constant dense<{float(v)}> : {kind}" for i, v in enumerate(before)]
    operands = ", ".join([f"%c{i}" for i in range(len(before))] + ["%x"])
    op = name.split()[0]
    form = f"{operands} : {', '.join([kind] * (len(before) + 1))} -> {kind}"
    if not before:
        form = f"%x : {kind} -> {kind}"
    return f"func.func @main(%x: {kind}) -> {kind} {{\n  " + "\n  ".join(lines + [f"%y = chlo.{op} {form}", f"return %y : {kind}"]) + "\n}\n"


def ulps(values, exact, bits):
    unit = np.exp2(np.floor(np.log2(np.maximum(np.abs(exact.astype(np.float64)), 0.125))) - bits)
    return max(abs(float((mpmath.mpf(float(v)) - e) / float(u))) for v, e, u in zip(values, exact, unit))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--bound", type=float, default=2)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    mpmath.mp.prec = 150
    far = []
    print("| function | type | hlokit | XLA | between them |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for name, exact, theirs, (low, high), before in FUNCTIONS:
            if args.names and name.split()[0] not in args.names:
                continue
            for element, dtype, bits in (("f32", np.float32, 23), ("f64", np.float64, 52)):
                x = np.random.RandomState(7).uniform(low, high, args.count).astype(dtype)
                wanted = np.array([exact(mpmath.mpf(float(v))) for v in x], dtype=object)
                np.savez(folder / "in.npz", in0=x)
                (folder / "m.mlir").write_text(program(name, element, args.count, before))
                subprocess.run([args.bin / "hlo-run", folder / "m.mlir", "--input", folder / "in.npz", "--output", folder / "out.npz"], check=True)
                values = np.load(folder / "out.npz")["out0"]
                ours = ulps(values, wanted, bits)
                xla = np.asarray(theirs(jnp.asarray(x)))
                xla_error = ulps(xla, wanted, bits)
                apart = ulps(values, np.array([mpmath.mpf(float(v)) for v in xla], dtype=object), bits)
                print(f"| {name} | {element} | {ours:.2f} | {xla_error:.2f} | {apart:.2f} |", flush=True)
                if not (ours <= args.bound or ours < xla_error + 0.5):
                    far.append(f"{name} {element}")
    if far:
        print(f"farther than {args.bound} and less exact than XLA: {', '.join(far)}")
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
