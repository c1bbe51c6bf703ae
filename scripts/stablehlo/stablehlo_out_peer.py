#!/usr/bin/env python3
"""Holds the writing of StableHLO to XLA. Skipped (77) where jax is missing.

  stablehlo_out_peer.py --bin DIR [--values] FILE.hlo...

hlo-opt --format=stablehlo writes each module; jaxlib has to read and convert the text. --values also runs both on the same
random inputs, the module by hlo-run and the text by XLA on the CPU, and compares. Modules that hlo-opt refuses, by the name of
what has no equal, are counted apart, as are those that XLA cannot run on one device. Exit status: 0 all agree, 1 some do not.
"""
import argparse
import collections
import multiprocessing
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

try:
    import jax
    from jax._src.interpreters import mlir
    from jaxlib import _jax
    from jaxlib.mlir import ir
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

TOLERANCE = 1e-4
jax.config.update("jax_enable_x64", True)


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr.strip()


def read(text):
    """The text as bytecode, as jaxlib reads it."""
    with mlir.make_ir_context():
        return mlir.module_to_bytecode(ir.Module.parse(text))


def typed(array, dtype):
    """An array of hlo-run, which has types that numpy lacks by their bits."""
    dtype = np.dtype(dtype)
    return array.view(dtype) if array.dtype != dtype and array.dtype.itemsize == dtype.itemsize else array.astype(dtype)


def raw(array):
    """The array as npz files of hlo-run have it: types that numpy lacks by their bits."""
    return array.view(f"u{array.dtype.itemsize}") if array.dtype.kind == "V" or array.dtype.name not in np.sctypeDict else array


def random_input(shape, generator):
    dtype, sizes = np.dtype(shape.numpy_dtype()), shape.dimensions()
    if dtype == np.bool_:
        return generator.integers(0, 2, sizes).astype(dtype)
    if dtype.kind in "iu" or dtype.name in ("int4", "uint4", "int2", "uint2"):
        return generator.integers(0, 3, sizes).astype(dtype)
    if dtype.kind == "c":
        return (generator.uniform(-1, 1, sizes) + 1j * generator.uniform(-1, 1, sizes)).astype(dtype)
    return generator.uniform(-1, 1, sizes).astype(dtype)


def executed(code, inputs):
    """What XLA computes on its CPU."""
    client = jax.devices("cpu")[0].client
    device = client.local_devices()[0]
    loaded = client.compile_and_load(code, _jax.DeviceList((device,)), _jax.CompileOptions())
    return [np.asarray(x) for x in loaded.execute([jax.device_put(x, jax.devices("cpu")[0]) for x in inputs])]


def different(ours, theirs):
    """What is wrong with an output, or None."""
    if ours.shape != theirs.shape:
        return f"shape {ours.shape}, expected {theirs.shape}"
    ours = typed(ours, theirs.dtype)
    kind = np.float64 if theirs.dtype.kind not in "c" else np.complex128
    ours, theirs = ours.astype(kind), theirs.astype(kind)
    close = np.isclose(ours, theirs, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
    return None if close.all() else f"{np.count_nonzero(~close)} elements of {close.size} differ"


def values(tools, module, code, folder):
    """None where both agree, else what differs."""
    inputs, outputs = folder / "in.npz", folder / "out.npz"
    shapes = _jax.mlir.mlir_module_to_xla_computation(code).program_shape().parameter_shapes()
    generator = np.random.default_rng(7)
    arguments = [random_input(s, generator) for s in shapes]
    np.savez(inputs, **{f"in{i}": raw(x) for i, x in enumerate(arguments)})
    status, _, errors = run([tools / "hlo-run", module, *(["--input", inputs] if arguments else []), "--output", outputs])
    if status != 0:
        return "the module itself does not run" if status != 2 else None
    made = np.load(outputs)
    results = executed(code, arguments)
    for i, result in enumerate(results):
        wrong = different(made[f"out{i}"], result)
        if wrong:
            return f"result {i}: {wrong}"
    return None


def check(tools, module, with_values, folder):
    """A word for the count, and what went wrong or None."""
    written = folder / "written.mlir"
    status, _, errors = run([tools / "hlo-opt", module, "--format=stablehlo", "-o", written])
    if status == 2:
        return ("refused", None) if "no equal" in errors else ("no module", None)
    if status != 0:
        return "crashed", errors[:200]
    try:
        code = read(written.read_text())
        _jax.mlir.mlir_module_to_xla_computation(code)
    except Exception as error:  # jaxlib has several
        return "not read", str(error)[:300].replace("\n", " ")
    if not with_values or any(f"{word} = 1 :" not in written.read_text() for word in ("num_replicas", "num_partitions")):
        return "read", None
    return in_child(lambda: outcome(tools, module, code, folder))


def outcome(tools, module, code, folder):
    try:
        wrong = values(tools, module, code, folder)
    except Exception as error:
        expected = any(word in str(error) for word in ("UNIMPLEMENTED", "No registered implementation"))
        return "not run", None if expected else str(error)[:200].replace("\n", " ")
    return ("agrees", None) if wrong is None else ("differs", wrong)


def in_child(function):
    """The function's result from a process of its own: XLA ends some with an abort."""
    reader, writer = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=lambda: writer.send(function()))
    child.start()
    writer.close()
    try:
        result = reader.recv() if reader.poll(120) else ("not run", "XLA takes more than 120 s")
    except EOFError:
        result = ("not run", None)
    child.join(5)
    child.kill()
    child.join()
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--values", action="store_true")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    counts, failed = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for module in options.files:
            word, wrong = check(options.bin, module, options.values, pathlib.Path(folder))
            counts[word] += 1
            if wrong:
                failed += 1
                print(f"{module}: {word}: {wrong}", flush=True)
    print(", ".join(f"{count} {word}" for word, count in sorted(counts.items())))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
