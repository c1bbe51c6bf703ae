"""Programs that users know, by hlokit and by what they would run them with instead, side by side:

compare.py --bin BUILD/bin --python PYTHON [--programs REGEX] [--peers hlokit,xla,...] [--rounds 2] [--seconds 2]
           [--threads N] [--small] [--markdown FILE] [--page FILE] [--limit SECONDS] [--keep FILE.json]

PYTHON has jax and what it has of torch, openvino, onnxruntime and iree-base-compiler with its runtime; what is missing has no column. There is a process for each framework.
All peers prepare a program, then they take turns, each TURNS times a round; a figure is the fastest run, so that a slow moment of
the machine spoils no peer's. Results are compared with XLA's. Prints a line a program:
milliseconds, and how many times as fast hlokit is as the best of the others, with frozen weights and with fresh ones.
torch.compile takes minutes a program and runs only where --peers names torch_compiled.
--page writes the page docs/peers.md: the table, the machine and the versions. --limit ends after so many seconds: a program that
was begun then has no row. --keep holds what was measured, so that the next call goes on with the programs that are missing:

    compare.py --bin build/release/bin --python PYTHON --page docs/peers.md --limit 340 --keep FILE.json   (until all have rows)

Exit status 1 where a program fails on hlokit or where results differ, 77 where jax is missing.
"""
import argparse
import contextlib
import json
import math
import os
import pathlib
import platform
import re
import select
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
try:
    import numpy
    import programs
except ImportError as missing:  # numpy or ml_dtypes
    print(f"skipped: {missing}")
    sys.exit(77)

OURS = ["hlokit", "hlokit_fresh"]
PEERS = [*OURS, "xla", "torch", "torch_compiled", "openvino", "onnxruntime", "iree"]
TURNS = 2  # of each peer in a round
# Peers of one framework share a process: what it imports, the weights, and the lowered module.
FRAMEWORKS = {p: "jax" if p in (*OURS, "xla", "iree") else "torch" for p in PEERS}
MODULES = {"hlokit": "jax", "hlokit_fresh": "jax", "xla": "jax", "torch_compiled": "torch", "iree": "iree.compiler"}
PACKAGES = {"iree.compiler": "iree-base-compiler"}  # of modules whose package has another name
PAGE = """# Programs that users know, beside other ways to run them

This page is made by `benchmarks/peers/compare.py --page docs/peers.md`. Each figure is the fastest run, in ms; peers
take turns, several for each program. The last columns say how many times as fast hlokit is as the best of the others: with weights that are promised to stay the same (`hlokit`,
`--freeze-inputs`, the others have them as constants of the model), and with weights that may be new in each run (`hlokit_fresh`).
Where a cell is empty, the peer is not installed or has no such program. Programs, sizes and settings: `benchmarks/peers/programs.py` and `measure.py`.

"""


def has(python, peer):
    found = subprocess.run([python, "-c", f"import {MODULES.get(peer, peer)}"], capture_output=True, check=False)
    return found.returncode == 0


class Worker:
    """measure.py --serve of one framework; a new process takes the place of one that ended or was too slow."""

    def __init__(self, a, folder):
        self.a, self.folder, self.process = a, folder, None

    def start(self):
        a = self.a
        command = [a.python, HERE / "measure.py", "--serve", "--out", self.folder, "--bin", a.bin, "--threads", a.threads,
                   *(["--small"] if a.small else [])]
        environment = {**os.environ, **({"OMP_NUM_THREADS": str(a.threads)} if a.threads else {})}
        self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env=environment)

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    def ask(self, *words):
        """The answer to a line, a dictionary; one with a fault if there is none in time."""
        if self.process is None:
            self.start()
        limit = min(self.a.timeout, max(self.a.end - time.monotonic(), 1))
        try:
            self.process.stdin.write(" ".join(str(w) for w in words) + "\n")
            self.process.stdin.flush()
            ready = select.select([self.process.stdout], [], [], limit)[0]
            line = self.process.stdout.readline() if ready else f"longer than {limit:.0f} s"
        except BrokenPipeError:
            line = ""
        if line.startswith("{"):
            return json.loads(line)
        self.stop()
        return {"fault": line or "the process ended"}


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


def take_turns(a, name, peers, workers):
    """({peer: seconds}, {peer: a word on why there are none})"""
    times, faults = {}, {}
    for peer in peers:
        got = workers[FRAMEWORKS[peer]].ask("prepare", name, peer)
        if "fault" in got:
            faults[peer] = got["fault"]
    for _ in range(a.rounds * TURNS):
        for peer in (p for p in peers if p not in faults):
            got = workers[FRAMEWORKS[peer]].ask("run", peer, a.seconds / TURNS)
            if "fault" in got:
                faults[peer] = got["fault"]
            else:
                times[peer] = min(times.get(peer, math.inf), got["run_s"])
    for worker in workers.values():
        worker.ask("forget")
    return times, faults


def compare_program(a, name, peers, workers, folder):
    """({peer: seconds}, words on what went wrong)"""
    times, faults = take_turns(a, name, peers, workers)
    reference = "xla" if "xla" in times else next(iter(times), None)
    for peer in times:
        if peer != reference:
            error = difference(numpy.load(folder / f"{name}.{peer}.npz"), numpy.load(folder / f"{name}.{reference}.npz"))
            if error > programs.PROGRAMS[name].tolerance:
                faults[peer] = f"differs from {reference} by {error:.2g}"
    return times, faults


def kept(a):
    """{program: [times, faults]} of earlier calls, and a function that keeps another one."""
    found = json.loads(a.keep.read_text(encoding="utf-8")) if a.keep and a.keep.exists() else {}

    def keep(name, times, faults):
        found[name] = [times, faults]
        if a.keep:
            a.keep.write_text(json.dumps(found) + "\n", encoding="utf-8")

    return found, keep


def ratios_of(times):
    """How many times as fast each way of ours is as the best of the others; None where there is none."""
    others = [t for peer, t in times.items() if peer not in OURS]
    return {ours: min(others) / times[ours] for ours in OURS if others and ours in times}


def rows_of(a, peers):
    ratios, failed = {ours: [] for ours in OURS}, False
    found_before, keep = kept(a)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        workers = {framework: Worker(a, pathlib.Path(folder)) for framework in set(FRAMEWORKS.values())}
        for worker in workers.values():
            stack.callback(worker.stop)
        for name in programs.PROGRAMS:
            if not re.search(a.programs, name) or (name not in found_before and time.monotonic() >= a.end):
                continue
            if name not in found_before:
                got = compare_program(a, name, peers, workers, pathlib.Path(folder))
                if time.monotonic() >= a.end:  # cut short: no row
                    continue
                keep(name, *got)
            times, faults = found_before[name]
            found = ratios_of(times)
            for ours, ratio in found.items():
                ratios[ours].append(ratio)
            cells = [f"{times[p] * 1e3:.3g}" if p in times else "" for p in peers]
            yield [name, *cells, *[f"{found[ours]:.2f}" if ours in found else "" for ours in OURS]]
            for peer, word in faults.items():
                print(f"{name}, {peer}: {word}", file=sys.stderr)
                failed |= peer in OURS or word.startswith("differs")
    means = [f"{math.prod(r) ** (1 / len(r)):.2f}" if r else "" for r in ratios.values()]
    if any(means):
        yield ["geometric mean", *[""] * len(peers), *means]
    if failed:
        sys.exit(1)


def machine(a, peers, shown):
    """A sentence on the processor and on the versions of the peers."""
    names = [line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
             if line.startswith("model name")]
    modules = {MODULES.get(p, p) for p in peers}
    packages = sorted(PACKAGES.get(m, m) for m in modules)
    script = f"import importlib.metadata as m; print(', '.join(f'{{n}} {{m.version(n)}}' for n in {packages}))"
    versions = subprocess.run([a.python, "-c", script], capture_output=True, text=True, check=False).stdout.strip()
    cores = f"{len(names)} cores of {names[0]}" if names else platform.machine()
    left = [name for name in programs.PROGRAMS if name not in shown]
    missing = f" Not measured this time: {', '.join(left)}." if left else ""
    return f"Measured on {cores}, {a.rounds} rounds of {a.seconds} s, with {versions}.{missing}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--programs", default="")
    parser.add_argument("--peers", default=",".join(p for p in PEERS if p != "torch_compiled"))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--timeout", type=int, default=900)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--limit", type=float, default=math.inf)
    parser.add_argument("--keep", type=pathlib.Path)
    a = parser.parse_args()
    a.end = time.monotonic() + a.limit
    peers = [p for p in a.peers.split(",") if has(a.python, p)]
    if "xla" in a.peers.split(",") and "xla" not in peers:
        print(f"skipped: {a.python} has no jax")
        sys.exit(77)
    head = ["ms", *peers, *[f"best of others / {ours}" for ours in OURS]]
    shown = []
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    print("\n".join(lines), flush=True)
    try:
        for row in rows_of(a, peers):
            lines.append("| " + " | ".join(row) + " |")
            shown.append(row[0])
            print(lines[-1], flush=True)
    finally:
        if a.markdown:
            a.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")
        if a.page:
            a.page.write_text(PAGE + "\n".join(lines) + "\n\n" + machine(a, peers, shown), encoding="utf-8")


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
