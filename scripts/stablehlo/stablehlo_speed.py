#!/usr/bin/env python3
"""Reading StableHLO beside jaxlib, as a Markdown table. Skipped (77) where jax is missing.

  stablehlo_speed.py --bin DIR [--rounds N] [--least-kb N] [--bar R] FILE.hlo...

jaxlib makes StableHLO of each module, written as text and as bytecode; files below --least-kb (100) are left out. Both read a file of the
same bytes and make HLO of it. The two take turns, round by round; a figure is the best of all rounds in processor time: jaxlib's of one
process that is warm, hlokit's of hlo-opt in a new process for each reading. Exit status 1 where the geometric mean is below --bar (5).
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

try:
    from jax._src.interpreters import mlir
    from jaxlib import _jax
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import chlo, stablehlo  # pylint: disable=unused-import
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


def files_of(module, args, folder):
    """The module as StableHLO by form: bytes of text and of bytecode."""
    proto = folder / "module.pb"
    subprocess.run([args.bin / "hlo-opt", module, "--format=pb", "-o", proto], check=True)
    code = _jax.mlir.hlo_to_stablehlo(proto.read_bytes())
    with mlir.make_ir_context():
        parsed = ir.Module.parse(code)
        return {"text": str(parsed).encode(), "bytecode": mlir.module_to_bytecode(parsed)}


def theirs(code):
    start = time.thread_time()
    _jax.mlir.mlir_module_to_xla_computation(code)
    return time.thread_time() - start


def ours(args, path, folder):
    times = folder / "times.json"
    subprocess.run([args.bin / "hlo-opt", path, "--no-verify", "-o", folder / "out.hlo", "--json", times], check=True)
    return json.loads(times.read_text())["load_cpu_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--least-kb", type=float, default=100)
    parser.add_argument("--bar", type=float, default=5)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    ratios = []
    print("| module | form | KB | jaxlib, ms | hlokit, ms | times as fast |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for module in args.files:
            try:
                forms = files_of(module, args, folder)
            except Exception as refused:  # jaxlib has several
                print(f"{module.name}: jaxlib makes no StableHLO: {str(refused).splitlines()[0][:120]}", file=sys.stderr)
                continue
            for form, code in forms.items():
                if len(code) < 1000 * args.least_kb:
                    continue
                path = folder / f"module.{form}.mlir"
                path.write_bytes(code)
                best = [math.inf, math.inf]
                for _ in range(args.rounds):
                    best = list(map(min, best, (theirs(code), ours(args, path, folder))))
                ratios.append(best[0] / best[1])
                print(f"| {module.stem} | {form} | {len(code) // 1000} | {1e3 * best[0]:.1f} | {1e3 * best[1]:.2f} | {ratios[-1]:.1f} |", flush=True)
    if not ratios:
        print("no file is long enough")
        return 1
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean over {len(ratios)} files: {mean:.2f} times as fast")
    return 1 if mean < args.bar else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
