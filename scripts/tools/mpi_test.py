#!/usr/bin/env python3
"""hlo-run over several processes of mpirun: the bits of one process, and ends that are told.

  mpi_test.py --bin build/release/bin [--corpus ../shared/corpus/jax/spmd] [--every N]

Exit status 77 where there is no mpirun. With --corpus, the optimized modules of that folder run too, each on 2, 4 and 8
processes, as far as their devices divide.
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "testdata" / "backends"
failures = []


def check(ok, what, text=""):
    if not ok:
        failures.append(what)
        print(f"FAILED: {what}\n{text}")


def mpirun(ranks, *command, each=None):
    """The command of `ranks` processes; `each`: a command for each rank instead."""
    start = ["mpirun", "--oversubscribe", "--mca", "btl_base_warn_component_unused", "0"]
    if os.geteuid() == 0:
        start.append("--allow-run-as-root")
    if each is None:
        return start + ["-np", str(ranks), *map(str, command)]
    parts = []
    for own in each:
        parts += [":"] if parts else []
        parts += ["-np", "1", *map(str, own)]
    return start + parts


def run(command, timeout=120):
    start = time.time()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as late:
        return None, "", str(late.stderr), timeout
    return done.returncode, done.stdout, done.stderr, time.time() - start


def arrays(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def same_bits(hlo_run, module, ranks, work, *flags):
    one, many = work / "one.npz", work / "many.npz"
    for path in (one, many):
        path.unlink(missing_ok=True)
    rc, _, err, _ = run([hlo_run, module, "--distributed=none", f"--output={one}", *flags])
    check(rc == 0, f"{module.name} in one process", err)
    rc, _, err, _ = run(mpirun(ranks, hlo_run, module, f"--output={many}", *flags))
    what = f"{module.name} on {ranks} processes {' '.join(map(str, flags[:1]))}"
    check(rc == 0, what, err)
    if rc == 0:
        differ = sorted(k for k in arrays(one).keys() | arrays(many).keys() if arrays(one).get(k) != arrays(many).get(k))
        check(not differ, f"{what}: other bits in {differ[:5]}")


def ends(what, command, statuses, words, limit_s):
    rc, out, err, seconds = run(command, timeout=limit_s)
    check(rc is not None, f"{what}: no end within {limit_s} s", err)
    check(rc in statuses, f"{what}: exit status {rc}", out + err)
    for word in words:
        check(word in err, f"{what}: no '{word}'", err)
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    if shutil.which("mpirun") is None:
        sys.exit(77)
    hlo_run = options.bin.resolve() / "hlo-run"
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        module = DATA / "mpi_collectives.hlo"
        for ranks in (2, 4):
            for platform in ("cpu", "interpreter"):
                same_bits(hlo_run, module, ranks, work, f"--platform={platform}")
                same_bits(hlo_run, DATA / "mpi_sharded.hlo", ranks, work, f"--platform={platform}", "--partition=yes")
        rc, out, err, _ = run(mpirun(2, hlo_run, module, "--reference-platform=interpreter"))
        check(rc == 0 and out.count("cpu and interpreter agree") == 1, "a comparison, told once", out + err)
        check(len(re.findall(r"^ +\d+ +\S+ +\d+ +\d+ +\d+$", err, re.M)) == 4, "a table of the devices", err)

        ends("processes that do not divide the devices", mpirun(3, hlo_run, module), {2}, ["3 processes"], 60)
        ends("different collectives", mpirun(2, hlo_run, DATA / "mpi_deadlock.hlo"), {2},
             ["devices wait for one another for ever", "rank 0: device 0 at all-reduce", "rank 1: device"], 60)
        ends("a missing file on one rank", mpirun(0, each=[[hlo_run, module], [hlo_run, work / "none.hlo"]]), {2}, ["none.hlo"], 60)
        ends("different modules", mpirun(0, each=[[hlo_run, module], [hlo_run, DATA / "mpi_deadlock.hlo"]]), {2}, ["another module"], 60)
        ends("a flag for one process", mpirun(2, hlo_run, module, "--bisect"), {2}, ["--bisect with several processes"], 60)
        killed = mpirun(0, each=[[hlo_run, module, "--min-seconds=30"],
                                 ["timeout", "-s", "KILL", "3", hlo_run, module, "--min-seconds=30"]])
        seconds = ends("a rank that is killed", killed, {137, 9, 2, 143}, [], 60)
        check(seconds < 25, f"a rank that is killed: {seconds:.0f} s until the end")
        check(not left_over(hlo_run), "processes that are left over")
        if options.corpus:
            for optimized in sorted(options.corpus.glob("*.opt.hlo"))[::options.every]:
                text = optimized.read_text()
                counts = [int(n) for n in re.findall(r"(?:num_partitions|replica_count)=(\d+)", text.split("\n", 1)[0])]
                devices = max(1, counts[0] if len(counts) == 1 else counts[0] * counts[1] if counts else 1)
                for ranks in (2, 4, 8):
                    if devices % ranks == 0:
                        inputs = str(optimized).replace(".opt.hlo", ".npz")
                        same_bits(hlo_run, optimized, ranks, work, "--platform=cpu", f"--input={inputs}")
    print(f"{len(failures)} failures")
    return 1 if failures else 0


def left_over(hlo_run):
    time.sleep(1)
    found = subprocess.run(["pgrep", "-f", f"^{hlo_run} .*--min-seconds=30"], capture_output=True, text=True).stdout.split()
    for process in found:
        os.kill(int(process), signal.SIGKILL)
    return found


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
