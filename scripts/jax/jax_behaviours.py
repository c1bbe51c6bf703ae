#!/usr/bin/env python3
"""Behaviours that JAX's own tests hold a backend to, beside values: devices, lifetimes, aliasing, errors and their types, warnings, caches, files.

  jax_behaviours.py --lib FILE [--python PYTHON] [--only REGEX]

Each case is a function whose result is printed, once on hlokit and once on JAX's CPU, four devices each; the texts must be the same, numbers
within 1e-5. An exception is its type, its status and the beginning of what it says. Names of the platform and addresses are taken out.
What differs and why it may stands in EXPECTED. Exit status: 0 all agree, 1 one does not, 77 PYTHON has no jax.

Example: `donate/pointer` tells whether the result lies where the donated argument lay.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?")
# name: why it differs.
EXPECTED = {"device/memory_stats": "JAX's CPU has none; ours tells bytes in use, as GPUs do"}


def told(value):
    """A value as text, without what must differ by platform."""
    import jax
    import numpy as np

    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(map(told, value)) + "]"
    if isinstance(value, jax.Array):
        data = jax.random.key_data(value) if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key) else value
        return f"{value.dtype}{list(value.shape)}{'w' if getattr(value, 'weak_type', False) else ''}({np.asarray(data).ravel()[:12].tolist()})"
    if isinstance(value, np.ndarray):
        return f"np.{value.dtype}{list(value.shape)}({value.ravel()[:12].tolist()})"
    return re.sub(r"0x[0-9a-f]+", "", re.sub(r"(?i)hlokit|TFRT_CPU|cpu", "cpu", repr(value)))


def outcome(function):
    import jax
    import warnings

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            value = function()
            jax.block_until_ready([v for v in jax.tree.leaves(value) if isinstance(v, jax.Array) and not v.is_deleted()])
            text = told(value)
        except Exception as error:  # pylint: disable=broad-except
            message = re.sub(r"(?i)hlokit|TFRT_CPU|cpu", "cpu", " ".join(str(error).split()))
            status = re.match(r"[A-Z_]+(?=:)", message)
            text = f"{type(error).__module__}.{type(error).__name__} {status.group() if status else message[:90]}"
    notes = sorted({re.sub(r"(?i)hlokit|cpu", "cpu", f"{w.category.__name__}: {str(w.message)[:60]}") for w in warned
                    if "xperimental" not in str(w.message) and "was tested" not in str(w.message)})
    return " ".join([text, *notes]).replace("\n", " ")


def print_all(only):
    import jax_behaviour_cases

    for name, function in jax_behaviour_cases.cases():
        if re.search(only, name):
            print(f"{name} {outcome(function)}", flush=True)


def agree(a, b):
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    return all(abs(float(x) - float(y)) <= 1e-5 * max(1.0, abs(float(y))) for x, y in zip(NUMBER.findall(a), NUMBER.findall(b)))


def printed(options, **environment):
    done = subprocess.run([options.python, __file__, "--print", "--only", options.only, "--lib", ""], capture_output=True, text=True, timeout=900,
                          check=False, env={**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4", **environment})
    if done.returncode != 0:
        print(done.stderr[-3000:])
    return dict(line.split(" ", 1) for line in done.stdout.splitlines() if "/" in line.split(" ", 1)[0] and " " in line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", default=".")
    parser.add_argument("--print", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.print:
        return print_all(options.only)
    if subprocess.run([options.python, "-c", "import jax"], capture_output=True, check=False).returncode != 0:
        print("skipped: no jax")
        return 77
    theirs = printed(options, JAX_PLATFORMS="cpu")
    ours = printed(options, JAX_PLATFORMS="hlokit", PYTHONPATH=str(ROOT / "python"), HLOKIT_PJRT_LIBRARY=options.lib)
    wrong = [name for name, text in theirs.items() if not agree(ours.get(name, ""), text)]
    for name in wrong:
        print(f"{name}: {ours.get(name, 'nothing')[:400]}\n  instead of {theirs[name][:400]}" + f"\n  {EXPECTED.get(name, '')}" * (name in EXPECTED))
    unexpected = [name for name in wrong if name not in EXPECTED]
    print(f"{len(theirs)} behaviours, {len(wrong)} differ, {len(unexpected)} of them unexpected")
    return 1 if unexpected or not theirs else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
