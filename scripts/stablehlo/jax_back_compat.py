#!/usr/bin/env python3
"""Programs that older JAX versions exported and that JAX's wheel keeps, with inputs and results, for its own compatibility tests: hlo-run takes each,
as bytecode and as text, and gives those results.

  jax_back_compat.py --bin FOLDER --python PYTHON [--only REGEX] [--verbose]

PYTHON has jax. Programs of 2023 to 2026 for CPU, CUDA, ROCm and TPU call LAPACK, cuSOLVER, hipSOLVER, top-k, random bits, dynamic shapes by the
names that such calls had then. Kernels that a program carries as code (Mosaic, Triton) must be refused by name. Vectors of eigen- and singular
decompositions are free in sign and phase: of those only the values are compared.

Exit status: 0 all as expected, 1 one is not, 77 PYTHON has no jax.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Runs with PYTHON: writes NAME.mlirbc, NAME.mlir, NAME.npz for each program, and programs.json.
DUMP = r"""
import importlib, json, os, sys
import numpy as np
import jax
from jax._src.internal_test_util import export_back_compat_test_data as package

def programs(value, name):
    if isinstance(value, dict) and "mlir_module_serialized" in value:
        yield name, value
    elif isinstance(value, (dict, list, tuple)):
        for key, element in value.items() if isinstance(value, dict) else enumerate(value):
            yield from programs(element, f"{name}.{key}")

out = []
root = package.__path__[0]
for folder, prefix in ((root, "."), (root + "/pallas", ".pallas.")):
    for file in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if not file.endswith(".py") or file == "__init__.py":
            continue
        module = importlib.import_module(package.__name__ + prefix + file[:-3])
        for variable in [v for v in dir(module) if not v.startswith("__")]:
            for name, data in programs(getattr(module, variable), f"{file[:-3]}.{variable}"):
                open(f"{sys.argv[1]}/{name}.mlirbc", "wb").write(data["mlir_module_serialized"])
                open(f"{sys.argv[1]}/{name}.mlir", "w").write(data["mlir_module_text"])
                arrays = {f"in{i}": np.asarray(x) for i, x in enumerate(jax.tree.leaves(data["inputs"]))}
                results = jax.tree.leaves(data["expected_outputs"])
                arrays.update({f"want{i}": np.asarray(x) for i, x in enumerate(results)})
                np.savez(f"{sys.argv[1]}/{name}.npz", **arrays)
                out.append({"name": name, "devices": data.get("nr_devices", 1), "inputs": len(arrays) - len(results)})
json.dump(out, open(sys.argv[1] + "/programs.json", "w"))
"""
# Runs with PYTHON: FOLDER NAME FREE, where FREE says that arrays but vectors are free. Prints how the results differ.
COMPARE = r"""
import sys
import numpy as np
folder, name, free = sys.argv[1], sys.argv[2], sys.argv[3] == "1"
want, got = np.load(f"{folder}/{name}.npz"), np.load(f"{folder}/{name}.out.npz")
ranks = [want[k].ndim for k in want if k.startswith("want")]
for k in range(len(ranks)):
    a, b = got[f"out{k}"], want[f"want{k}"]
    if a.shape != b.shape or a.dtype != b.dtype:
        print(f"result {k} is {a.dtype}{a.shape}, not {b.dtype}{b.shape}")
    elif free and b.ndim == max(ranks):
        continue
    elif b.dtype.kind in "fc":
        apart = np.max(np.abs(a.astype(complex) - b), initial=0) / max(np.max(np.abs(b), initial=0), 1e-30)
        if not apart <= 1e-5:
            print(f"result {k} is {apart:.1e} apart")
    elif not np.array_equal(a, b):
        print(f"result {k} differs")
"""
FREE = re.compile(r"eig|schur|svd|Eigh")
CODE = re.compile(r"^(mosaic|triton)_")
# Its reducer is not associative: the result is that of one order, a TPU's.
UNORDERED = {"tpu_stablehlo_dynamic_reduce_window.data_variadic_2023_06_17"}


def trouble(options, folder, program, form):
    """How the program goes wrong in this form; empty where it does as expected."""
    name = program["name"]
    command = [f"{options.bin}/hlo-run", f"{folder}/{name}.{form}", "--output", f"{folder}/{name}.out.npz"]
    command += ["--input", f"{folder}/{name}.npz"] if program["inputs"] else []
    if program["devices"] > 1:
        command += ["--num-partitions", str(program["devices"]), "--whole-outputs"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if CODE.match(name):
        return "" if done.returncode == 2 and "cannot run here" in done.stderr else f"status {done.returncode}, not refused: {done.stderr[:200]}"
    if done.returncode:
        return f"status {done.returncode}: {done.stderr[:300]}"
    if name in UNORDERED:
        return ""
    free = "1" if FREE.search(name) else "0"
    compared = subprocess.run([options.python, "-c", COMPARE, folder, name, free], capture_output=True, text=True, check=False)
    return (compared.stdout + compared.stderr[-300:]).strip().replace("\n", "; ")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if subprocess.run([options.python, "-c", "import jax"], capture_output=True, check=False).returncode:
        print(f"{options.python} has no jax")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.python, "-c", DUMP, folder], check=True, env={**os.environ, "JAX_PLATFORMS": "cpu"})
        programs = [p for p in json.loads(pathlib.Path(folder, "programs.json").read_text()) if re.search(options.only, p["name"])]
        bad = 0
        for program in programs:
            for form in ("mlirbc", "mlir"):
                found = trouble(options, folder, program, form)
                bad += bool(found)
                if found or options.verbose:
                    print(f"{program['name']}.{form}: {found or 'as expected'}")
    print(f"{len(programs)} programs in two forms, {bad} of {2 * len(programs)} not as expected")
    return 1 if bad or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
