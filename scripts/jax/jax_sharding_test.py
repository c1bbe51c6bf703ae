#!/usr/bin/env python3
"""Programs over eight devices (jax_sharding_cases.py) on hlokit and on JAX's CPU print the same: values, cuts, devices, errors.

  jax_sharding_test.py --lib FILE [--python PYTHON]

Exit status: 0 all agree, 1 one does not, 77 PYTHON has no jax.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUMBER = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?")


def printed(python, **environment):
    done = subprocess.run([python, str(ROOT / "scripts/jax/jax_sharding_cases.py")], capture_output=True, text=True, timeout=900, check=False,
                          env={**os.environ, **environment})
    if done.returncode != 0:
        print(done.stderr[-3000:])
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


def agree(a, b):
    """Texts alike but for numbers, which differ by 1e-3 at most, relative to those above 1."""
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    pairs = zip(map(float, NUMBER.findall(a)), map(float, NUMBER.findall(b)))
    return all(abs(x - y) <= 1e-3 * max(1, abs(y)) + 0.01 for x, y in pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", required=True)
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    if subprocess.run([arguments.python, "-c", "import jax"], capture_output=True, check=False).returncode != 0:
        print("skipped: no jax")
        return 77
    theirs = printed(arguments.python, JAX_PLATFORMS="cpu")
    ours = printed(arguments.python, JAX_PLATFORMS="hlokit", PYTHONPATH=str(ROOT / "python"), HLOKIT_PJRT_LIBRARY=arguments.lib)
    wrong = [name for name, text in theirs.items() if not agree(ours.get(name, ""), text)]
    for name in wrong:
        print(f"{name}: {ours.get(name, 'nothing')[:500]}\n  instead of {theirs[name][:500]}")
    print(f"{len(theirs)} programs, {len(wrong)} differ")
    return 1 if wrong or not theirs else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
