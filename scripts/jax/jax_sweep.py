#!/usr/bin/env python3
"""Every public function of JAX's array modules on hlokit beside JAX's own CPU, eager, jitted, differentiated and vectorized.

  jax_sweep.py --lib FILE [--python PYTHON] [--only REGEX] [--sample N] [--x64] [--work DIR] [--failures FILE]

The CPU's process runs first: what it computes are the cases (jax_sweep_cases.py says how arguments are found), what it refuses are not.
The platform's process runs the same; a crash or a case of more than --patience seconds is a failure of that case, and the process is
started again behind it. Results agree within a tolerance of the result's type, relative to the largest element of the array.
Exit status: 0 at least --bar percent agree, 1 fewer, 77 PYTHON has no jax.
"""
import argparse
import collections
import itertools
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOLERANCES = {"float64": 1e-10, "complex128": 1e-10, "float32": 2e-5, "complex64": 2e-5, "float16": 4e-3, "bfloat16": 3e-2,
              "float8_e4m3fn": 0.13, "float8_e5m2": 0.26}
TRANSFORMS = ("eager", "jit", "grad", "vmap")


# --- the process that runs cases -----------------------------------------------------------------------------------------------------

def transformed(function, arguments, transform):
    """Gives what the transform of the function gives for the arguments."""
    import jax
    import jax.numpy as jnp

    if transform == "eager":
        return function(*arguments)
    if transform == "jit":
        static = tuple(i for i, a in enumerate(arguments) if not hasattr(a, "dtype") and not isinstance(a, (list, tuple)))
        static += tuple(i for i, a in enumerate(arguments) if isinstance(a, tuple) and not any(hasattr(e, "dtype") for e in a))
        return jax.jit(function, static_argnums=static)(*arguments)
    if transform == "vmap":
        if not hasattr(arguments[0], "ndim") or arguments[0].ndim == 0:
            raise TypeError("nothing to map over")
        both = jnp.stack([arguments[0], arguments[0][::-1] if arguments[0].ndim == 1 else arguments[0]])
        return jax.vmap(lambda first: function(first, *arguments[1:]))(both)

    def loss(first):
        leaves = [leaf for leaf in jax.tree.leaves(function(first, *arguments[1:])) if jnp.issubdtype(leaf.dtype, jnp.inexact)]
        if not leaves:
            raise TypeError("no result to differentiate")
        return sum(jnp.sum(jnp.real(leaf) * (1 + jnp.arange(leaf.size).reshape(leaf.shape) % 3)).astype(jnp.float32) for leaf in leaves)

    return jax.grad(loss)(arguments[0])


def plain(value):
    """The arrays of a result, as numpy's."""
    import jax
    import numpy as np

    leaves = []
    for leaf in jax.tree.leaves(value):
        if hasattr(leaf, "dtype") and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jax.random.key_data(leaf)
        array = np.asarray(leaf)
        if array.dtype.kind not in "OSU":
            leaves.append((array.dtype.name, array))
    return leaves


def cases(only, dtypes):
    """Yields (case's name, its function, its maker of arguments, transform), lazily: a name costs nothing."""
    import jax_sweep_cases as table

    special = {**table.SPECIAL, **table.sparse_cases()}
    for full_name, function in table.functions():
        if not only.search(full_name):
            continue
        for dtype in dtypes:
            for recipe, called, make in table.recipes(full_name, function, special):
                for transform in TRANSFORMS:
                    yield f"{full_name}/{recipe}/{dtype}/{transform}", called, make, transform


def arguments_of(name, make):
    """The arguments; None where they are the same as float32's."""
    import jax
    import jax_sweep_cases as table

    dtype = name.split("/")[2]
    arguments = make(table.Values(dtype))
    if dtype != "float32" and not any(getattr(leaf, "dtype", None) == table.jnp.dtype(dtype) for leaf in jax.tree.leaves(arguments)):
        return None
    return arguments


def worker(options):
    """Runs the cases of the list, or finds them; appends (name, result or error) to the output."""
    import warnings

    import jax

    warnings.simplefilter("ignore")
    jax.config.update("jax_enable_x64", options.x64)
    wanted = None if options.cases is None else pathlib.Path(options.cases).read_text(encoding="utf-8").split("\n")
    chosen = None if wanted is None else set(wanted)
    accepted = collections.Counter()
    refused = None  # the eager case that failed: no transform of it is tried
    with open(options.worker, "ab") as out:
        def put(*entry):
            pickle.dump(entry, out)
            out.flush()

        for name, function, make, transform in cases(re.compile(options.only), options.dtypes.split(",")):
            place = name.rsplit("/", 1)[0]
            group = (name.split("/")[0], name.split("/")[2])
            if chosen is not None and name not in chosen:
                continue
            if chosen is None and (place == refused or (transform == "eager" and accepted[group] >= options.recipes and "/".join(group) and make_is_generic(name))):
                refused = place
                continue
            put("start", name)
            try:
                arguments = arguments_of(name, make)
                if arguments is None:
                    raise TypeError("as float32's")
                put("done", name, plain(transformed(function, arguments, transform)))
                accepted[group] += transform == "eager"
            except Exception as error:  # pylint: disable=broad-except
                if transform == "eager":
                    refused = place
                put("error", name, f"{type(error).__name__}: {str(error)[:600]}")
            if accepted.total() % 200 == 199:
                jax.clear_caches()
        put("end")
    os._exit(0)


def make_is_generic(name):
    import jax_sweep_cases as table

    recipe = name.split("/")[1]
    return any(recipe == generic for generic, _ in itertools.chain(table.GENERIC, table.KEYED))


# --- the process that compares ---------------------------------------------------------------------------------------------------------

def entries(path):
    with open(path, "rb") as file:
        while True:
            try:
                yield pickle.load(file)
            except (EOFError, pickle.UnpicklingError):
                return


def run_platform(options, platform, folder, names):
    """Runs the cases (all where `names` is None) to the end; gives {name: ("done", arrays) or ("error", text)}."""
    results = {}
    for attempt in itertools.count():
        out = pathlib.Path(folder) / f"{platform}.{attempt}"
        out.touch()
        command = [options.python, __file__, "--worker", str(out), "--only", options.only, "--recipes", str(options.recipes), "--dtypes", options.dtypes]
        left = None
        if names is not None:
            left = [name for name in names if name not in results]
            (pathlib.Path(folder) / "cases").write_text("\n".join(left), encoding="utf-8")
            command += ["--cases", f"{folder}/cases"]
        command += ["--x64"] * options.x64
        environment = {**os.environ, "JAX_PLATFORMS": platform}
        if platform == "hlokit":
            environment |= {"PYTHONPATH": str(ROOT / "python"), "HLOKIT_PJRT_LIBRARY": options.lib}
        with open(f"{out}.log", "wb") as log, subprocess.Popen(command, env=environment, stdout=log, stderr=log) as process:
            size, since = 0, time.monotonic()
            while process.poll() is None:
                time.sleep(0.2)
                if out.stat().st_size != size:
                    size, since = out.stat().st_size, time.monotonic()
                elif time.monotonic() - since > options.patience:
                    process.kill()
        started, ended = None, False
        for kind, *entry in entries(out):
            if kind == "start":
                started = entry[0]
            elif kind == "end":
                ended = True
            else:
                results[entry[0]] = (kind, entry[1])
        if ended:
            return results
        if started is None or started in results:
            tail = pathlib.Path(f"{out}.log").read_text(encoding="utf-8", errors="replace")[-2000:]
            raise SystemExit(f"the process of {platform} ended at once:\n{tail}")
        results[started] = ("error", f"the process ended ({process.returncode}) or took more than {options.patience} s")
        if names is None:
            raise SystemExit(f"{platform} crashed in {started}")


def difference(name, ours, theirs):
    """None where the arrays agree, else how they differ."""
    import jax_sweep_cases as table
    import numpy as np

    up_to_sign = name.split("/")[0].rsplit(".", 1)[-1] in table.UP_TO_SIGN and "grad" not in name.split("/")[3]
    if len(ours) != len(theirs):
        return f"{len(ours)} arrays, not {len(theirs)}"
    for (type_a, a), (type_b, b) in zip(ours, theirs):
        if type_a != type_b or a.shape != b.shape:
            return f"{type_a}{a.shape}, not {type_b}{b.shape}"
        if type_a in TOLERANCES:
            wide = np.complex128 if "complex" in type_a else np.float64
            a, b = a.astype(wide), b.astype(wide)
            if up_to_sign:
                a, b = np.abs(a), np.abs(b)
            scale = np.max(np.abs(b[np.isfinite(b)]), initial=0)
            tolerance = TOLERANCES[type_a] * max(1 if "grad" in name else 0, scale)
            with np.errstate(invalid="ignore"):
                same = (np.abs(a - b) <= tolerance + TOLERANCES[type_a] * np.abs(b)) | (a == b) | (np.isnan(a) & np.isnan(b))
        else:
            same = (a == b) | ((a != a) & (b != b))
        if not np.all(same):
            at = tuple(int(i) for i in np.argwhere(~same)[0])
            return f"{a[at]}, not {b[at]}, at {at} of {type_a}{a.shape}; {int(np.sum(~same))} of {a.size} differ"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", help="libpjrt_hlokit.so")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", default=".", metavar="REGEX", help="functions whose full name matches")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="one in N of the cases")
    parser.add_argument("--dtypes", default="float32,bfloat16,int32,uint8,bool,complex64", metavar="NAME,...", help="types of the arguments; default %(default)s")
    parser.add_argument("--recipes", type=int, default=1, help="generic recipes of a function and type that are used")
    parser.add_argument("--x64", action="store_true", help="64-bit types too (jax_enable_x64)")
    parser.add_argument("--work", help="keeps the results there; the CPU's of a former run with the same options are used again")
    parser.add_argument("--failures", help="file for a line per failure")
    parser.add_argument("--patience", type=float, default=60)
    parser.add_argument("--bar", type=float, default=99.0)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--cases", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        return worker(options)
    if subprocess.run([options.python, "-c", "import jax"], capture_output=True, check=False).returncode != 0:
        print("skipped: no jax")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        return sweep(options, folder)


def sweep(options, folder):
    kept = pathlib.Path(options.work) / f"cpu{'64' * options.x64}.pickle" if options.work else None
    if kept is not None and kept.exists():
        theirs = pickle.loads(kept.read_bytes())
    else:
        theirs = run_platform(options, "cpu", folder, None)
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(pickle.dumps(theirs))
    only = re.compile(options.only)
    valid = [name for name, (kind, _) in theirs.items() if kind == "done" and only.search(name.split("/")[0])][:: options.sample]
    ours = run_platform(options, "hlokit", folder, valid)
    failures = []
    for name in valid:
        kind, value = ours.get(name, ("error", "not run"))
        found = difference(name, value, theirs[name][1]) if kind == "done" else value
        if found is not None:
            failures.append((name, found))
    report(options, theirs, valid, failures)
    return 0 if len(failures) * 100 <= len(valid) * (100 - options.bar) else 1


def report(options, theirs, valid, failures):
    functions = {name.split("/")[0] for name in theirs}
    covered = {name.split("/")[0] for name in valid}
    if options.sample == 1:
        print("not covered:", *sorted(name for name in functions - covered if re.search(options.only, name)))
    text = "".join(f"{name}\t{' '.join(found.split())}\n" for name, found in failures)
    if options.failures:
        pathlib.Path(options.failures).write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    right = len(valid) - len(failures)
    print(f"{right} of {len(valid)} cases of {len(covered)} functions agree ({100 * right / max(1, len(valid)):.2f} %)")


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
