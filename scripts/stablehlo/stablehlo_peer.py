#!/usr/bin/env python3
"""Holds the reading of StableHLO to JAX. Skipped (77) where jax is missing.

  stablehlo_peer.py --bin DIR [--forms text,bytecode,artifact,1.0.0,0.9.0] [--structure] [NAME...]
  stablehlo_peer.py --primitives

Each program of stablehlo_programs.py is lowered by JAX, written as MLIR text, MLIR bytecode and portable artifacts (of the
current version and of those named), run by hlo-run on random inputs, and compared with JAX's results. --structure asks
hlo-diff whether the module is that of XLA's own conversion, names left aside. --primitives lists JAX's primitives: those that lower
in some program, and the others. Exit status: 0 all agree, 1 some do not.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

try:
    import jax
    from jax._src.interpreters import mlir
    from jaxlib._jax import mlir as xla_mlir
    from jaxlib.mlir.dialects import stablehlo
    import stablehlo_programs
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

TOLERANCE = 2e-5


def written(module, form):
    """The bytes of a lowered module in a form."""
    if form == "text":
        return str(module).encode()
    if form == "located":
        return module.operation.get_asm(enable_debug_info=True).encode()
    if form == "generic":
        return module.operation.get_asm(print_generic_op_form=True).encode()
    if form == "bytecode":
        return mlir.module_to_bytecode(module)
    version = stablehlo.get_current_version() if form == "artifact" else form
    text = module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    return stablehlo.serialize_portable_artifact_str(text, version)


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr.strip()


def raw(array):
    """The array as npz files of hlo-run have it: types that numpy lacks by their bits."""
    array = np.asarray(array)
    return array.view(f"u{array.dtype.itemsize}") if array.dtype.kind == "V" or array.dtype.name not in np.sctypeDict else array


def different(ours, theirs):
    """What is wrong with an output, or None."""
    theirs = np.asarray(theirs)
    if theirs.dtype.kind == "V" or theirs.dtype.name not in np.sctypeDict:
        theirs = raw(theirs)
        ours = ours.view(theirs.dtype) if ours.dtype.itemsize == theirs.dtype.itemsize else ours
    if ours.shape != theirs.shape:
        return f"shape {ours.shape}, expected {theirs.shape}"
    if theirs.dtype.kind not in "fc":
        return None if np.array_equal(ours, theirs) else f"differs: {ours.ravel()[:4]}, expected {theirs.ravel()[:4]}"
    if np.allclose(ours, theirs, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
        return None
    return f"differs by {np.nanmax(np.abs(ours - theirs))}"


def check(program, forms, args, folder):
    """Prints what is wrong with a program; the number of forms that are right and of those tried."""
    function, inputs = program.function, program.inputs()
    lowered = jax.jit(function, keep_unused=True).lower(*inputs)
    module = lowered.compiler_ir("stablehlo")
    expected = jax.tree_util.tree_leaves(lowered.compile()(*inputs))
    np.savez(folder / "in.npz", **{f"in{i}": raw(v) for i, v in enumerate(jax.tree_util.tree_leaves(inputs))})
    right = 0
    for form in forms:
        path = folder / f"{program.name}.{form}.mlir"
        try:
            path.write_bytes(written(module, form))
        except Exception as refused:  # pylint: disable=broad-except
            print(f"{program.name} {form}: jaxlib writes no such file: {str(refused).splitlines()[0][:100]}")
            right += 1
            continue
        status, _, errors = run([args.bin / "hlo-run", path, "--platform=interpreter", "--input", folder / "in.npz", "--output", folder / "out.npz"])
        problem = errors.splitlines()[0] if status != 0 and errors else f"status {status}" if status else None
        if problem is None:
            out = np.load(folder / "out.npz", allow_pickle=True)
            for i, value in enumerate(expected):
                problem = problem or different(out[f"out{i}"], value)
        if problem is None and args.structure and form == forms[0]:
            problem = structure(module, path, args, folder)
        right += problem is None
        if problem:
            print(f"{program.name} {form}: {problem}")
    return right, len(forms)


def structure(module, path, args, folder):
    theirs = folder / "xla.hlo"
    made = xla_mlir.mlir_module_to_xla_computation(mlir.module_to_bytecode(module))
    theirs.write_text(made.as_hlo_text(print_large_constants=True))
    status, output, errors = run([args.bin / "hlo-diff", path, theirs])
    if status == 0:
        return None
    return "structure: " + ((output + errors).splitlines() or ["differs"])[0]


def primitives():
    """Names of the primitives that lower for CPUs, and of those that do so in a program."""
    lowered = set()
    tables = (mlir._lowerings, mlir._platform_specific_lowerings["cpu"])  # pylint: disable=protected-access
    for table in tables:
        for primitive, entry in list(table.items()):
            def noted(*args, primitive=primitive, rule=entry.rule, **kwargs):
                lowered.add(primitive.name)
                return rule(*args, **kwargs)
            table[primitive] = type(entry)(noted, entry.inline)
    for program in stablehlo_programs.PROGRAMS:
        try:
            jax.jit(program.function, keep_unused=True).lower(*program.inputs())
        except Exception as refused:  # pylint: disable=broad-except
            print(f"{program.name}: {str(refused).splitlines()[0][:160]}", file=sys.stderr)
    return {primitive.name for table in tables for primitive in table}, lowered


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path)
    parser.add_argument("--primitives", action="store_true")
    parser.add_argument("--forms", default="text,located,generic,bytecode,artifact,1.0.0,0.9.0")
    parser.add_argument("--structure", action="store_true")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    if args.primitives:
        known, covered = primitives()
        print(f"{len(covered)} of {len(known)}: {', '.join(sorted(covered))}\nothers: {', '.join(sorted(known - covered))}")
        return 0
    if args.bin is None:
        parser.error("--bin")
    forms = args.forms.split(",")
    right = tried = 0
    with tempfile.TemporaryDirectory() as scratch:
        for program in stablehlo_programs.PROGRAMS:
            if args.names and program.name not in args.names:
                continue
            try:
                one, of = check(program, forms, args, pathlib.Path(scratch))
            except Exception as fault:  # pylint: disable=broad-except
                print(f"{program.name}: {type(fault).__name__}: {str(fault).splitlines()[0][:160]}")
                one, of = 0, len(forms)
            right, tried = right + one, tried + of
    print(f"{right} of {tried} agree")
    return 0 if right == tried else 1


if __name__ == "__main__":
    sys.exit(main())
