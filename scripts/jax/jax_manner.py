#!/usr/bin/env python3
"""Many small programs in the manner of JAX's own test files, on hlokit and on JAX's CPU in one process: all results must agree.

  jax_manner.py [--lib FILE] [--python PYTHON] [--parts NAME,...] [--only REGEX] [--sample N] [--shard I/N] [--verbose]

The programs are those of jax_manner_{lax,numpy,linalg,science,api,devices,harnesses}.py: generators of (name, function without arguments). A program that
JAX's CPU refuses is no case. Types and shapes must be equal, values within a tolerance of the type, relative to the largest element.
Exit status: 0 at least --bar percent agree, 1 fewer, 77 PYTHON has no jax.

Example: the case `fft.rfftn/float16/(5, 6)/ortho` calls jnp.fft.rfftn once on each platform. It costs two compilations, some 80 ms.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTS = ("lax", "numpy", "linalg", "science", "api", "devices", "harnesses")
TOLERANCES = {"float64": 1e-11, "complex128": 1e-11, "float32": 1e-5, "complex64": 1e-5, "float16": 2e-3, "bfloat16": 1.6e-2,
              "float8_e4m3fn": 0.13, "float8_e5m2": 0.26, "float8_e4m3b11fnuz": 0.13, "float8_e4m3fnuz": 0.13, "float8_e5m2fnuz": 0.26,
              "float8_e3m4": 0.07, "float8_e4m3": 0.13, "float8_e8m0fnu": 1, "float4_e2m1fn": 0.5}


def run(function, device):
    """The arrays of a result as (dtype's name, array), or the error's text."""
    import jax
    import numpy as np

    try:
        with jax.default_device(device):
            leaves = []
            for leaf in jax.tree.leaves(function()):
                if hasattr(leaf, "dtype") and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
                    leaf = jax.random.key_data(leaf)
                if isinstance(leaf, str):
                    continue
                array = np.asarray(leaf)
                leaves.append((array.dtype.name, array))
            return leaves
    except Exception as error:  # pylint: disable=broad-except
        return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def difference(ours, theirs, scale_of=1.0):
    """None where the arrays agree, else how they differ."""
    import numpy as np

    if isinstance(ours, str):
        return ours
    if len(ours) != len(theirs):
        return f"{len(ours)} arrays, not {len(theirs)}"
    for (type_a, a), (type_b, b) in zip(ours, theirs):
        if (type_a != type_b or a.shape != b.shape) and not (type_a == type_b == "uint8" and a.ndim == b.ndim == 1):
            return f"{type_a}{a.shape}, not {type_b}{b.shape}"
        if type_a in TOLERANCES:
            wide = np.complex128 if "complex" in type_a else np.float64
            a, b = a.astype(wide), b.astype(wide)
            with np.errstate(all="ignore"):
                finite = np.abs(b[np.isfinite(b)])
                allowed = TOLERANCES[type_a] * scale_of * (np.max(finite[finite < 1e30], initial=0) + np.abs(b)) / 2
                same = (np.abs(a - b) <= allowed) | (a == b) | (np.isnan(a) & np.isnan(b))
        else:
            if type_a == "uint8" and a.ndim == 1 and a.size > 3 and a.min() >= 9 and bytes(a) != bytes(b):  # a text
                return f"{bytes(a).decode(errors='replace')}, not {bytes(b).decode(errors='replace')}"
            if a.shape != b.shape:
                return f"{type_a}{a.shape}, not {type_b}{b.shape}"
            same = (a == b) | ((a != a) & (b != b))
        if not np.all(same):
            at = tuple(int(i) for i in np.argwhere(~same)[0])
            return f"{a[at]}, not {b[at]}, at {at} of {type_a}{a.shape}; {int(np.sum(~same))} of {a.size} differ"
    return None


def cases(parts, only, sample, shard):
    """Those that the options choose, as (name, function, tolerance's factor)."""
    import importlib
    import zlib

    for part in parts:
        for name, function, *factor in importlib.import_module(f"jax_manner_{part}").cases():
            number = zlib.crc32(name.encode())
            if only.search(name) and number % sample == 0 and (number // sample) % shard[1] == shard[0]:
                yield name, function, factor[0] if factor else 1.0


class Verdicts:
    """What became of the cases so far, in a file, so that a worker that starts again goes on behind them."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        self.of = dict(line.split("\t") for line in lines)

    def add(self, name, verdict):
        self.of[name] = verdict
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{name}\t{verdict}\n")

    def count(self, verdict):
        return sum(1 for found in self.of.values() if found == verdict)


def worker(options):
    """Runs the cases; prints a line per failure and the sum."""
    import warnings

    import jax

    warnings.simplefilter("ignore")
    jax.config.update("jax_enable_x64", True)
    ours, theirs = jax.devices("hlokit")[0], jax.devices("cpu")[0]
    shard = tuple(int(number) for number in options.shard.split("/"))
    verdicts = Verdicts(options.verdicts)
    start = time.monotonic()

    def note(platform, name):
        pathlib.Path(options.progress).write_text(f"{platform} {name}", encoding="utf-8")

    for name, function, factor in cases(options.parts.split(","), re.compile(options.only), options.sample, shard):
        if name in verdicts.of:
            continue
        note("cpu", name)
        expected = run(function, theirs)
        if isinstance(expected, str):
            verdicts.add(name, "refused")
            if options.verbose:
                print(f"refused\t{name}\t{expected}", flush=True)
            continue
        note("hlokit", name)
        found = difference(run(function, ours), expected, factor)
        verdicts.add(name, "agrees" if found is None else "differs")
        if found is not None:
            print(f"{name}\t{found}", flush=True)
        if len(verdicts.of) % 300 == 0:
            jax.clear_caches()
            print(f"# {len(verdicts.of)} cases, {verdicts.count('differs')} differ, {time.monotonic() - start:.0f} s", flush=True)
    note("end", "")
    right, differ = verdicts.count("agrees"), verdicts.count("differs")
    total = right + differ
    print(f"{right} of {total} cases agree ({100 * right / max(1, total):.2f} %), {verdicts.count('refused')} refused by JAX's CPU, "
          f"{verdicts.count('ended')} end it", flush=True)
    os._exit(0 if total and differ * 100 <= total * (100 - options.bar) else 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", help="libpjrt_hlokit.so")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", default=".", metavar="REGEX", help="cases whose name matches")
    parser.add_argument("--parts", default=",".join(PARTS), metavar="NAME,...", help="files that cases are taken from; default %(default)s")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="one in N of the cases")
    parser.add_argument("--shard", default="0/1", metavar="I/N", help="the I-th of N parts")
    parser.add_argument("--progress", metavar="FILE", help="names the case that runs")
    parser.add_argument("--verbose", action="store_true", help="prints what JAX's CPU refuses too")
    parser.add_argument("--bar", type=float, default=99.0)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=240, help="that a case may take; default %(default)s")
    parser.add_argument("--verdicts", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return worker(options)
    if subprocess.run([options.python, "-c", "import jax, scipy"], capture_output=True, check=False).returncode != 0:
        print("skipped: no jax and scipy")
        return 77
    environment = {**os.environ, "JAX_PLATFORMS": "hlokit", "PYTHONPATH": str(ROOT / "python"), "XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
    if options.lib:
        environment["HLOKIT_PJRT_LIBRARY"] = options.lib
    with tempfile.TemporaryDirectory() as folder:
        return run_to_the_end(options, environment, pathlib.Path(folder))


def run_to_the_end(options, environment, folder):
    """Starts the worker again behind a case that ends its process, or that it does not end: one of JAX's CPU is no case. Gives its status."""
    progress, verdicts = pathlib.Path(options.progress or folder / "progress"), folder / "verdicts"
    command = [options.python, __file__, *sys.argv[1:], "--progress", str(progress), "--verdicts", str(verdicts), "--worker"]
    while True:
        progress.write_text("start ", encoding="utf-8")
        process = subprocess.Popen(command, env=environment)
        stuck = False
        while process.poll() is None:
            time.sleep(0.2)
            stuck = time.time() - progress.stat().st_mtime > options.seconds
            if stuck:
                process.kill()
                process.wait()
        platform, _, name = progress.read_text(encoding="utf-8").partition(" ")
        if platform not in ("cpu", "hlokit"):
            return process.returncode
        how = f"is not ended by {platform} in {options.seconds:.0f} s" if stuck else f"ends the process of {platform} ({process.returncode})"
        print(f"{name}\t{how}", flush=True)
        Verdicts(verdicts).add(name, "ended" if platform == "cpu" else "differs")


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
