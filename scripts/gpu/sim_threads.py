#!/usr/bin/env python3
"""Holds results of ptx-sim on one thread of the host against those on eight: the same bits are wanted.

    sim_threads.py CASES... --bin BUILD/bin [--threads 8] [--filter RE]

CASES are folders with NAME.hlo beside NAME.npz (the arguments), or single .hlo files; NAME.opt.hlo runs without passes on NAME.npz, as for
score.py. Each runs with HLOKIT_CUDA_SIM_THREADS=1, then with more, then so once more: three outputs, byte for byte the same. Modules that the
platform refuses are counted apart. Exit status 1 where any differs; the last line is `N same, M differ, K refused`.
"""
import argparse, concurrent.futures, os, pathlib, re, subprocess, sys, tempfile

import numpy as np


def arguments_of(hlo):
    return hlo.with_name(re.sub(r"(\.[a-z]+)?\.opt$", "", hlo.stem) + ".npz")


def arrays(path):
    with np.load(path) as data:
        return {name: (data[name].shape, data[name].dtype.str, data[name].tobytes()) for name in data.files}


def check(a, hlo):
    """None where all runs agree; else what is wrong, and whether it ran at all."""
    as_it_stands = ["--no-passes"] if hlo.stem.endswith(".opt") else []
    first = None
    with tempfile.TemporaryDirectory() as folder:
        for run, threads in enumerate((1, a.threads, a.threads)):
            out = pathlib.Path(folder) / f"{run}.npz"
            command = [a.bin / "hlo-run", hlo, "--platform=ptx-sim", f"--input={arguments_of(hlo)}", f"--output={out}", *as_it_stands]
            environment = {**os.environ, "HLOKIT_CUDA_SIM_THREADS": str(threads)}
            try:
                done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, timeout=a.timeout)
            except subprocess.TimeoutExpired:
                return False, f"no answer in {a.timeout} s on {threads} threads"
            if done.returncode != 0:
                lines = done.stderr.strip().splitlines()
                return run == 0, f"exit {done.returncode} on {threads} threads: {lines[0][:140] if lines else ''}"
            got = arrays(out)
            if first is None:
                first = got
            for name in sorted(set(first) | set(got)):
                if first.get(name) != got.get(name):
                    return False, f"{name} differs on {threads} threads (run {run})"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="+", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--filter", default="")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--jobs", type=int, default=1)
    a = parser.parse_args()
    files = sorted(f for p in a.cases for f in ([p] if p.is_file() else p.rglob("*.hlo")))
    files = [f for f in files if arguments_of(f).exists() and re.search(a.filter, str(f))]
    same = differ = refused = 0
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for hlo, why in zip(files, pool.map(lambda f: check(a, f), files)):
            same += why is None
            differ += why is not None and not why[0]
            refused += why is not None and why[0]
            if why is not None:
                print(f"{hlo}: {why[1]}", flush=True)
    print(f"{same} same, {differ} differ, {refused} refused")
    sys.exit(1 if differ or not files else 0)


if __name__ == "__main__":
    main()
