#!/usr/bin/env python3
"""Runs modules with hlo-run --sanitize and lists what the code finds in itself:
sanitize_sweep.py --bin BUILD/bin [--jobs N] [--generated COUNT --seed S [--flag=FLAG]...] [PATH...].

PATHs are files or folders of .hlo; a module whose inputs stand in NAME.npz runs on them, others on random ones; NAME.opt.hlo
runs as it stands. --generated: modules of hlo-gen beside them, each after the pipeline and as it stands. Modules that hlo-run
refuses (exit status 2) are counted. --times compares with runs without checks. Exit status 1 where something is found.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time


def recorded(module):
    """The inputs of a module; NAME.opt.hlo shares those of NAME.hlo."""
    return module.with_name(re.sub(r"(\.[a-z]+)?\.opt$", "", module.stem) + ".npz")


def run(options, module, flags, sanitize=True):
    """Exit status (or None: too long), what it wrote to standard error, and seconds."""
    command = [f"{options.bin}/hlo-run", str(module), *flags] + (["--sanitize"] if sanitize else [])
    environment = dict(os.environ, HLOKIT_ELIDED_CONSTANTS="xla")
    start = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment,
                              timeout=options.timeout, check=False)
    except subprocess.TimeoutExpired:
        return None, "", options.timeout
    return done.returncode, done.stderr, time.monotonic() - start


def ways(module):
    """The flags of each run of a module."""
    common = ["--seed=1"]
    if recorded(module).exists():
        common += ["--input", str(recorded(module))]
    if module.stem.endswith(".opt"):
        return [common + ["--no-passes"]]
    return [common]


def generated(options, folder):
    """Modules of hlo-gen, in files."""
    for seed in range(options.seed, options.seed + options.generated):
        path = pathlib.Path(folder) / f"random_{seed}.hlo"
        command = [f"{options.bin}/hlo-gen", f"--seed={seed}", "--output=-", *options.flag]
        with open(path, "w", encoding="utf-8") as out:
            if subprocess.run(command, stdout=out, stderr=subprocess.DEVNULL, check=False).returncode == 0:
                yield path


def modules(options):
    """All modules of the paths."""
    for path in options.paths:
        yield from sorted(path.rglob("*.hlo")) if path.is_dir() else [path]


def check(options, job):
    """One run: its counts, and its text where something is found."""
    module, flags = job
    status, text, seconds = run(options, module, flags)
    plain = run(options, module, flags, sanitize=False)[2] if options.times and status in (0, 1) else 0
    name = "slow" if status is None else {0: "clean", 1: "found", 2: "refused"}.get(status, "crashed")
    return name, seconds, plain, f"{name}: {module} {' '.join(flags)}\n{text}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=pathlib.Path)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--generated", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--flag", action="append", default=[], help="for hlo-gen; repeatable")
    parser.add_argument("--times", action="store_true")
    options = parser.parse_args()
    counts, sums = {}, [0.0, 0.0]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [(module, flags) for module in modules(options) for flags in ways(module)]
        jobs += [(module, flags) for module in generated(options, folder) for flags in (["--seed=1"], ["--no-passes"])]
        for name, seconds, plain, text in pool.map(lambda job: check(options, job), jobs):
            counts[name] = counts.get(name, 0) + 1
            sums[0] += seconds
            sums[1] += plain
            if name in ("found", "crashed", "slow"):
                print(text, flush=True)
    print(", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "no modules")
    if options.times and sums[1] > 0:
        print(f"{sums[0]:.1f} s with checks, {sums[1]:.1f} s without: {sums[0] / sums[1]:.1f} times")
    return 1 if counts.get("found") or counts.get("crashed") else 0


if __name__ == "__main__":
    sys.exit(main())
