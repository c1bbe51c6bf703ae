#!/usr/bin/env python3
"""Holds the reading of StableHLO to the reading of HLO. Skipped (77) where jax is missing.

  stablehlo_corpus_peer.py --bin DIR [--forms text,generic,bytecode,artifact,1.0.0,0.9.0] [--platform interpreter] [--structure] [--read-only] FILE.hlo...

jaxlib makes StableHLO of each module; hlo-run runs it in each form on the inputs of FILE.npz and gives what it gives for FILE.hlo within
1e-3 of the largest; a form that becomes the same module (hlo-opt --hash) as one that has run gives the same. --structure asks hlo-diff whether the module is that of XLA's own conversion, names left aside. --read-only runs nothing
and asks that of every form (of artifacts, in which chlo is taken apart by jaxlib, whether they read): a tenth of the time. Modules of which
jaxlib makes no StableHLO, or no artifact of a version, are counted apart. Exit status: 0 all agree, 1 some do not.
"""
import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

try:
    from jax._src.interpreters import mlir
    from jaxlib import _jax
    from jaxlib.mlir import ir, passmanager
    from jaxlib.mlir.dialects import chlo, stablehlo  # pylint: disable=unused-import
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

TOLERANCE = 1e-3


def run(command, timeout=120):
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    return done.returncode, done.stdout, done.stderr.strip()


def stablehlo_of(module, args, folder):
    """MLIR bytecode of an HLO module, or None."""
    proto = folder / "module.pb"
    status, _, errors = run([args.bin / "hlo-opt", module, "--format=pb", "-o", proto])
    if status:
        raise ValueError(errors[:200])
    made = _jax.mlir.hlo_to_stablehlo(proto.read_bytes())
    return made if isinstance(made, bytes) else made.encode()


def written(code, form):
    """The bytes of a form."""
    with mlir.make_ir_context():
        module = ir.Module.parse(code)
        if form == "bytecode":
            return mlir.module_to_bytecode(module)
        if form == "text":
            return str(module).encode()
        if form == "generic":
            return module.operation.get_asm(print_generic_op_form=True).encode()
        passmanager.PassManager.parse("builtin.module(func.func(chlo-legalize-to-stablehlo))").run(module.operation)
        version = stablehlo.get_current_version() if form == "artifact" else form
        return stablehlo.serialize_portable_artifact_str(module.operation.get_asm(print_generic_op_form=True), version)


def numbers(array):
    """Elements as numbers: numpy names two-byte types that it lacks V2 (bf16)."""
    if array.dtype.kind == "V" and array.dtype.itemsize == 2:
        return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return array.view(np.uint8) if array.dtype.kind == "V" else array


def different(ours, theirs):
    if ours.shape != theirs.shape:
        return f"shape {ours.shape}, expected {theirs.shape}"
    if ours.dtype != theirs.dtype:
        ours = ours.view(theirs.dtype) if ours.dtype.itemsize == theirs.dtype.itemsize else ours.astype(theirs.dtype)
    ours, theirs = numbers(ours), numbers(theirs)
    if theirs.dtype.kind not in "fc":
        return None if np.array_equal(ours, theirs) else f"{np.count_nonzero(ours != theirs)} of {ours.size} elements differ"
    finite = np.abs(theirs[np.isfinite(theirs)])
    bound = TOLERANCE * max(finite.max(initial=0), 1e-30)
    return None if np.allclose(ours, theirs, rtol=TOLERANCE, atol=bound, equal_nan=True) else f"differs by {np.nanmax(np.abs(ours - theirs))}"


def outputs(args, module, folder, inputs):
    """What hlo-run computes of a module: arrays by name, or why there are none."""
    command = [args.bin / "hlo-run", module, f"--platform={args.platform}", "--output", folder / "out.npz"] + (["--input", folder / "in.npz"] if inputs else [])
    status, _, errors = run(command)
    if status:
        return (errors or f"status {status}").splitlines()[0][:200]
    return dict(np.load(folder / "out.npz", allow_pickle=True).items())


def check_read(module, args, folder, counts):
    """--read-only: each form reads, and those that hold what jaxlib made become the module that XLA's conversion gives."""
    try:
        code = stablehlo_of(module, args, folder)
    except Exception as refused:  # jaxlib has several
        counts["no StableHLO"] += 1
        print(f"{module.name}: jaxlib makes no StableHLO: {str(refused).splitlines()[0][:120]}")
        return
    with mlir.make_ir_context():
        theirs = _jax.mlir.mlir_module_to_xla_computation(mlir.module_to_bytecode(ir.Module.parse(code)))
    (folder / "xla.hlo").write_text(theirs.as_hlo_text(print_large_constants=True))
    for form in args.forms.split(","):
        path = folder / f"module.{form}.mlir"
        try:
            path.write_bytes(written(code, form))
        except Exception:
            counts[f"not written as {form}"] += 1
            continue
        status, said, errors = run([args.bin / "hlo-diff", path, folder / "xla.hlo"])
        counts["read" if status < 2 else "not read"] += 1
        if form in ("text", "generic", "bytecode"):
            counts[f"{'same' if status == 0 else 'other'} structure of {form}"] += 1
        if status > 1 or (status == 1 and form == "text"):
            print(f"{module.name} {form}: {' | '.join((errors or said).splitlines()[:4])[:240]}", flush=True)


def check(module, args, folder, counts):
    values = np.load(module.with_suffix(".npz"), allow_pickle=True)
    inputs = {k: values[k] for k in values.files if k.startswith("in")}
    np.savez(folder / "in.npz", **inputs)
    try:
        code = stablehlo_of(module, args, folder)
    except Exception as refused:  # jaxlib has several
        counts["no StableHLO"] += 1
        print(f"{module.name}: jaxlib makes no StableHLO: {str(refused).splitlines()[0][:120]}")
        return
    wanted = outputs(args, module, folder, inputs)
    if isinstance(wanted, str):
        counts["HLO does not run"] += 1
        print(f"{module.name}: {wanted}")
        return
    known = {}  # what is wrong with the values of a module, by its hash
    for form in args.forms.split(","):
        path = folder / f"module.{form}.mlir"
        try:
            path.write_bytes(written(code, form))
        except Exception:
            counts[f"not written as {form}"] += 1
            continue
        status, name, errors = run([args.bin / "hlo-opt", path, "--hash"])
        if status == 0 and name in known:
            problem = known[name]
        else:
            got = errors[:200] if status else outputs(args, path, folder, inputs)
            problem = got if isinstance(got, str) else next((p for p in (different(got[n], wanted[n]) for n in sorted(wanted)) if p), None)
            if status == 0:
                known[name] = problem
        counts["agree" if problem is None else "differ"] += 1
        if problem:
            print(f"{module.name} {form}: {problem}", flush=True)
    if args.structure:
        with mlir.make_ir_context():
            theirs = _jax.mlir.mlir_module_to_xla_computation(mlir.module_to_bytecode(ir.Module.parse(code)))
        (folder / "xla.hlo").write_text(theirs.as_hlo_text(print_large_constants=True))
        status, said, errors = run([args.bin / "hlo-diff", folder / "module.text.mlir", folder / "xla.hlo"])
        counts["same structure" if status == 0 else "other structure"] += 1
        if status:
            print(f"{module.name} structure: {' | '.join((said + errors).splitlines()[2:5])[:200]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--forms", default="text,generic,bytecode,artifact,1.0.0,0.9.0")
    parser.add_argument("--platform", default="cpu")
    parser.add_argument("--structure", action="store_true")
    parser.add_argument("--read-only", action="store_true")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    stablehlo.register_stablehlo_passes()
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        for module in args.files:
            try:
                (check_read if args.read_only else check)(module, args, pathlib.Path(scratch), counts)
            except Exception as fault:
                counts["differ"] += 1
                print(f"{module.name}: {type(fault).__name__}: {str(fault)[:200]}")
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    return 1 if counts["differ"] or counts["not read"] else 0


if __name__ == "__main__":
    sys.exit(main())
