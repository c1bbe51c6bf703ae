"""Programs that users know, by hlokit and by what they would run them with instead, side by side:

compare.py --bin BUILD/bin --python PYTHON [--programs REGEX] [--peers hlokit,xla,...] [--rounds 2] [--seconds 2]
           [--threads N] [--small] [--markdown FILE] [--page FILE]

PYTHON has jax and what it has of torch, openvino and onnxruntime; what is missing has no column. Each program runs in a process
of its own, peers take turns, round by round; a figure is the fastest run. Results are compared with XLA's. Prints a line a program:
milliseconds, and how many times as fast hlokit is as the best of the others, with frozen weights and with fresh ones.
--page writes the page docs/peers.md: the table, the machine and the versions. Exit status 1 where a program fails on hlokit
or where results differ, 77 where jax is missing.
"""
import argparse
import json
import math
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
try:
    import numpy
    import programs
except ImportError as missing:  # numpy or ml_dtypes
    print(f"skipped: {missing}")
    sys.exit(77)

OURS = ["hlokit", "hlokit_fresh"]
PEERS = [*OURS, "xla", "torch", "torch_compiled", "openvino", "onnxruntime"]
MODULES = {"hlokit": "jax", "hlokit_fresh": "jax", "xla": "jax", "torch_compiled": "torch"}
PAGE = """# Programs that users know, beside other ways to run them

This page is made by `benchmarks/peers/compare.py --page docs/peers.md`. Each figure is the fastest run, in ms, of a process of its own; peers
take turns. The last columns say how many times as fast hlokit is as the best of the others: with weights that are promised to stay the same (`hlokit`,
`--freeze-inputs`, the others have them as constants of the model), and with weights that may be new in each run (`hlokit_fresh`).
Where a cell is empty, the peer is not installed or has no such program. Programs, sizes and settings: `benchmarks/peers/programs.py` and `measure.py`.

"""


def has(python, peer):
    found = subprocess.run([python, "-c", f"import {MODULES.get(peer, peer)}"], capture_output=True, check=False)
    return found.returncode == 0


def measured(a, name, peer, out):
    """The line of measure.py, or a word on why there is none."""
    command = [a.python, HERE / "measure.py", name, peer, "--out", out, "--bin", a.bin, "--seconds", a.seconds,
               "--threads", a.threads, *(["--small"] if a.small else [])]
    environment = {**os.environ, **({"OMP_NUM_THREADS": str(a.threads)} if a.threads else {})}
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=a.timeout, check=False,
                              env=environment)
    except subprocess.TimeoutExpired:
        return f"longer than {a.timeout} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["failed"])[-1][:150]
    return json.loads(done.stdout.strip().splitlines()[-1])


def difference(got, want):
    """The largest error of any result, relative to the largest value of its array."""
    if len(got.files) != len(want.files):
        return math.inf
    worst = 0.0
    for g, w in zip((got[k] for k in got.files), (want[k] for k in want.files)):
        if g.shape != w.shape or not numpy.isfinite(g).all():
            return math.inf
        worst = max(worst, float(numpy.abs(g - w).max() / max(numpy.abs(w).max(), 1e-30)))
    return worst


def compare_program(a, name, peers, folder):
    """({peer: seconds}, words on what went wrong)"""
    times, faults = {}, []
    for _ in range(a.rounds):
        for peer in [p for p in peers if p not in [f[0] for f in faults]]:
            got = measured(a, name, peer, folder / f"{name}.{peer}.npz")
            if isinstance(got, str):
                faults.append((peer, got))
            else:
                times[peer] = min(times.get(peer, math.inf), got["run_s"])
    reference = "xla" if "xla" in times else next(iter(times), None)
    for peer in times:
        if peer != reference:
            error = difference(numpy.load(folder / f"{name}.{peer}.npz"), numpy.load(folder / f"{name}.{reference}.npz"))
            if error > programs.PROGRAMS[name].tolerance:
                faults.append((peer, f"differs from {reference} by {error:.2g}"))
    return times, faults


def ratios_of(times):
    """How many times as fast each way of ours is as the best of the others; None where there is none."""
    others = [t for peer, t in times.items() if peer not in OURS]
    return {ours: min(others) / times[ours] for ours in OURS if others and ours in times}


def rows_of(a, peers):
    ratios, failed = {ours: [] for ours in OURS}, False
    with tempfile.TemporaryDirectory() as folder:
        for name in programs.PROGRAMS:
            if not re.search(a.programs, name):
                continue
            times, faults = compare_program(a, name, peers, pathlib.Path(folder))
            found = ratios_of(times)
            for ours, ratio in found.items():
                ratios[ours].append(ratio)
            cells = [f"{times[p] * 1e3:.3g}" if p in times else "" for p in peers]
            yield [name, *cells, *[f"{found[ours]:.2f}" if ours in found else "" for ours in OURS]]
            for peer, word in faults:
                print(f"{name}, {peer}: {word}", file=sys.stderr)
                failed |= peer in OURS or word.startswith("differs")
    means = [f"{math.prod(r) ** (1 / len(r)):.2f}" if r else "" for r in ratios.values()]
    if any(means):
        yield ["geometric mean", *[""] * len(peers), *means]
    if failed:
        sys.exit(1)


def machine(a, peers):
    """A sentence on the processor and on the versions of the peers."""
    names = [line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
             if line.startswith("model name")]
    modules = sorted({MODULES.get(p, p) for p in peers})
    script = f"import importlib.metadata as m; print(', '.join(f'{{n}} {{m.version(n)}}' for n in {modules}))"
    versions = subprocess.run([a.python, "-c", script], capture_output=True, text=True, check=False).stdout.strip()
    cores = f"{len(names)} cores of {names[0]}" if names else platform.machine()
    return f"Measured on {cores}, {a.rounds} rounds of {a.seconds} s, with {versions}.\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--programs", default="")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--timeout", type=int, default=900)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path)
    a = parser.parse_args()
    peers = [p for p in a.peers.split(",") if has(a.python, p)]
    if "xla" in a.peers.split(",") and "xla" not in peers:
        print(f"skipped: {a.python} has no jax")
        sys.exit(77)
    head = ["ms", *peers, *[f"best of others / {ours}" for ours in OURS]]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    print("\n".join(lines), flush=True)
    try:
        for row in rows_of(a, peers):
            lines.append("| " + " | ".join(row) + " |")
            print(lines[-1], flush=True)
    finally:
        if a.markdown:
            a.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")
        if a.page:
            a.page.write_text(PAGE + "\n".join(lines) + "\n\n" + machine(a, peers), encoding="utf-8")


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
