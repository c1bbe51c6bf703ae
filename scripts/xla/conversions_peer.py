#!/usr/bin/env python3
"""Conversions of numbers next to ties, on both platforms beside XLA's: where one rounding and two give different results.

  conversions_peer.py --bin DIR [--count N] [--seed S]

For each pair of a wide type (f64, f32, s32, u32, s64, u64) and a narrower float, N values lie halfway between neighbours of the
narrower type or a last place beside that. jaxlib converts them on its CPU; hlo-run must give the same bits on cpu and interpreter.
Exit status: 0 none differs, 1 some do, 77 no jaxlib.
"""
import argparse
import os
import subprocess
import sys
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")
try:
    import jax
    import ml_dtypes
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

FLOATS = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
          "f8e4m3": "float8_e4m3", "f8e3m4": "float8_e3m4", "f8e4m3b11fnuz": "float8_e4m3b11fnuz",
          "f8e5m2fnuz": "float8_e5m2fnuz", "f8e4m3fnuz": "float8_e4m3fnuz", "f4e2m1fn": "float4_e2m1fn",
          "f8e8m0fnu": "float8_e8m0fnu"}
WIDE = {"f64": numpy.float64, "f32": numpy.float32, "s32": numpy.int32, "u32": numpy.uint32, "s64": numpy.int64,
        "u64": numpy.uint64}


def dtype_of(name):
    return numpy.dtype(getattr(ml_dtypes, FLOATS[name]) if hasattr(ml_dtypes, FLOATS[name]) else FLOATS[name])


def bits_of(array):
    return array.view({1: numpy.uint8, 2: numpy.uint16, 4: numpy.uint32}[array.dtype.itemsize])


def float_values(random, count, target, wide):
    """Around points halfway between neighbours of `target`, of either sign."""
    base = numpy.abs(random.standard_normal(count) * numpy.exp2(random.integers(-10, 6, count))).astype(target)
    above = (bits_of(base) + 1).view(target).astype(numpy.float64)
    with numpy.errstate(all="ignore"):
        middle = (base.astype(numpy.float64) + above) / 2
        nudge = 2.0**-45 if wide == numpy.float64 else 2.0**-22
        values = middle * (1 + random.integers(-1, 2, count) * nudge) * random.choice([-1, 1], count)
    return numpy.where(numpy.isfinite(values), values, 1.0).astype(wide)


def integer_values(random, count, target, wide):
    """Around integers halfway between neighbours: odd numbers of one bit more than the type keeps, shifted."""
    digits = int(ml_dtypes.finfo(target).nmant)
    top = 30 if wide().itemsize == 4 else 61
    odd = random.integers(0, 1 << max(digits, 1), count) * 2 + 1 + (1 << (digits + 1))
    shift = random.integers(1, top - digits, count)
    limits = numpy.iinfo(wide)
    values = [min((int(o) << int(s)) + int(d), limits.max) for o, s, d in zip(odd, shift, random.integers(-1, 2, count))]
    return numpy.array(values, dtype=wide)


def converted(binary, folder, text, platform, target):
    out = os.path.join(folder, "out.npz")
    subprocess.run([os.path.join(binary, "hlo-run"), text, f"--platform={platform}", f"--input={folder}/in.npz",
                    f"--output={out}"], check=True, capture_output=True)
    with numpy.load(out) as results:
        array = results["out0"]
    return array if array.dtype.itemsize == target.itemsize else array.astype(target)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--count", type=int, default=4096)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    random = numpy.random.default_rng(arguments.seed)
    wrong = pairs = 0
    with tempfile.TemporaryDirectory() as folder:
        for wide, wide_type in WIDE.items():
            for name in FLOATS:
                target = dtype_of(name)
                if wide == name:
                    continue
                make = float_values if wide[0] == "f" else integer_values
                values = make(random, arguments.count, target, wide_type)
                numpy.savez(f"{folder}/in.npz", in0=values)
                expected = bits_of(numpy.asarray(jax.jit(lambda x: x.astype(target))(values)))  # pylint: disable=cell-var-from-loop
                text = os.path.join(folder, "m.hlo")
                with open(text, "w", encoding="utf-8") as file:
                    file.write(f"HloModule m\n\nENTRY e {{\n  x = {wide}[{len(values)}] parameter(0)\n"
                               f"  ROOT r = {name}[{len(values)}] convert(x)\n}}\n")
                pairs += 1
                for platform in ("cpu", "interpreter"):
                    got = bits_of(converted(arguments.bin, folder, text, platform, target))
                    differ = numpy.flatnonzero(got != expected)
                    if len(differ) > 0:
                        wrong += 1
                        print(f"{wide} to {name} on {platform}: {len(differ)} of {len(values)} differ, such as {values[differ[0]]!r}")
    print(f"{pairs} pairs of types, {arguments.count} values each: {wrong} results differ from XLA's")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
