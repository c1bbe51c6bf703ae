#!/usr/bin/env python3
"""Runs modules on 1, 2 and 8 threads, and at each --opt-level, and compares the results' bits:
threads_test.py --bin BUILD/bin [--only threads|levels] [--jobs N] PATH... | --corpus.

PATHs are files or folders of .hlo; --corpus: all modules of ../shared/corpus/jax with recorded inputs. A module whose
inputs stand in NAME.npz runs on them, others on random ones; NAME.opt.hlo runs as it stands. What hlo-run refuses,
it must refuse each time. Other levels may give a NaN another sign. Nearly all of the time goes into starting hlo-run (six
times a module, some 50 ms of processor time each), so that --jobs of them run beside each other.
Exit status 1 where bits differ, 77 where the corpus is missing.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import zipfile

CORPUS = pathlib.Path(__file__).resolve().parents[3] / "shared" / "corpus" / "jax"
FIRST = "--threads=1"
WAYS = {"threads": ["--threads=2", "--threads=8"], "levels": ["--opt-level=0", "--opt-level=1", "--opt-level=3"]}
SKIPPED = 77
# Bytes and bits of the exponent, with how many bits stand behind it, of types as numpy names them; V2 is bf16.
FLOATS = {"f2": (2, 0x1F, 10), "V2": (2, 0xFF, 7), "f4": (4, 0xFF, 23), "f8": (8, 0x7FF, 52),
          "c8": (4, 0xFF, 23), "c16": (8, 0x7FF, 52)}


def recorded(module):
    """The inputs of a module; NAME.opt.hlo shares those of NAME.hlo."""
    return module.with_name(re.sub(r"(\.[a-z]+)?\.opt$", "", module.stem) + ".npz")


def results(hlo_run, module, way):
    """The exit status, and the bytes of each result."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.npz"
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


def same_but_nans(one, other):
    """True if two .npy files are the same but for the bits of NaNs."""
    descr = re.search(rb"'descr': '[|<]([^']+)'", one)
    layout = FLOATS.get(descr.group(1).decode()) if descr else None
    start = 10 + int.from_bytes(one[8:10], "little")  # of the data: magic, version, the header's length, the header
    if layout is None or len(one) != len(other) or one[:start] != other[:start]:
        return False
    width, exponent, fraction = layout

    def is_nan(data, at):
        bits = int.from_bytes(data[at:at + width], "little")
        return bits >> fraction & exponent == exponent and bits & ((1 << fraction) - 1) != 0

    return all(one[at:at + width] == other[at:at + width] or is_nan(one, at) and is_nan(other, at)
               for at in range(start, len(one), width))


def difference(hlo_run, module, ways):
    """None, or what differs."""
    first = results(hlo_run, module, FIRST)
    for way in ways:
        other = results(hlo_run, module, way)
        if other[0] != first[0]:
            return f"exit status {first[0]} with {FIRST}, {other[0]} with {way}"
        changed = [name for name in first[1] if first[1][name] != other[1].get(name) and
                   not ("level" in way and same_but_nans(first[1][name], other[1].get(name, b"")))]
        if changed:
            return f"{', '.join(changed)}: other bits with {way} than with {FIRST}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="the build's bin folder")
    parser.add_argument("--corpus", action="store_true")
    parser.add_argument("--only", choices=list(WAYS), help="compare thread counts alone, or levels alone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="modules that run beside each other")
    args = parser.parse_args()
    if args.corpus and not CORPUS.exists():
        print(f"skipped: no {CORPUS}")
        sys.exit(SKIPPED)
    modules = [m for p in args.paths for m in ([p] if p.is_file() else sorted(p.rglob("*.hlo")))]
    if args.corpus:
        modules += [m for m in sorted(CORPUS.rglob("*.hlo")) if recorded(m).exists()]
    ways = WAYS[args.only] if args.only else WAYS["threads"] + WAYS["levels"]
    differ = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        found = pool.map(lambda module: difference(args.bin / "hlo-run", module, ways), modules)
        for module, why in zip(modules, found):
            if why:
                print(f"{module}: {why}", flush=True)
                differ += 1
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{len(modules)} modules, {differ} differ ({used.ru_utime + used.ru_stime:.0f} s of processor time)")
    sys.exit(1 if differ or not modules else 0)


if __name__ == "__main__":
    main()
