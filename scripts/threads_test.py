#!/usr/bin/env python3
"""Runs modules on 1, 2 and 8 threads, and at each --opt-level, and compares the results' bits:
threads_test.py --bin BUILD/bin PATH... | --corpus.

PATHs are files or folders of .hlo; --corpus: all modules of ../shared/corpus/jax with recorded inputs. A module whose
inputs stand in NAME.npz runs on them, others on random ones; NAME.opt.hlo runs as it stands. What hlo-run refuses,
it must refuse each time. Exit status 1 where bits differ, 77 where the corpus is missing.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

CORPUS = pathlib.Path(__file__).resolve().parent.parent.parent / "shared" / "corpus" / "jax"
WAYS = ("--threads=1", "--threads=2", "--threads=8", "--opt-level=0", "--opt-level=1", "--opt-level=3")
SKIPPED = 77


def recorded(module):
    """The inputs of a module; NAME.opt.hlo shares those of NAME.hlo."""
    return module.with_name(re.sub(r"(\.[a-z]+)?\.opt$", "", module.stem) + ".npz")


def results(hlo_run, module, way, folder):
    """The exit status, and the bytes of each result."""
    out = pathlib.Path(folder) / f"{way}.npz"
    out.unlink(missing_ok=True)
    command = [hlo_run, module, way, "--output", out, "--seed=1"]
    if recorded(module).exists():
        command += ["--input", recorded(module)]
    if module.stem.endswith(".opt"):
        command.append("--no-passes")
    environment = dict(os.environ, HLOKIT_ELIDED_CONSTANTS="xla")
    status = subprocess.run(command, capture_output=True, env=environment, timeout=300, check=False).returncode
    if status != 0 or not out.exists():
        return status, {}
    with zipfile.ZipFile(out) as arrays:
        return status, {name: arrays.read(name) for name in arrays.namelist()}


def difference(hlo_run, module, folder):
    """None, or what differs."""
    first = results(hlo_run, module, WAYS[0], folder)
    for way in WAYS[1:]:
        other = results(hlo_run, module, way, folder)
        if other[0] != first[0]:
            return f"exit status {first[0]} with {WAYS[0]}, {other[0]} with {way}"
        changed = [name for name in first[1] if first[1][name] != other[1].get(name)]
        if changed:
            return f"{', '.join(changed)}: other bits with {way} than with {WAYS[0]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="the build's bin folder")
    parser.add_argument("--corpus", action="store_true")
    args = parser.parse_args()
    if args.corpus and not CORPUS.exists():
        print(f"skipped: no {CORPUS}")
        sys.exit(SKIPPED)
    modules = [m for p in args.paths for m in ([p] if p.is_file() else sorted(p.rglob("*.hlo")))]
    if args.corpus:
        modules += [m for m in sorted(CORPUS.rglob("*.hlo")) if recorded(m).exists()]
    differ = 0
    with tempfile.TemporaryDirectory() as folder:
        for module in modules:
            why = difference(args.bin / "hlo-run", module, folder)
            if why:
                print(f"{module}: {why}", flush=True)
                differ += 1
    print(f"{len(modules)} modules, {differ} differ")
    sys.exit(1 if differ or not modules else 0)


if __name__ == "__main__":
    main()
