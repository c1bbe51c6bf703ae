#!/usr/bin/env python3
"""Runs the programs of sharded_programs.py: XLA's values, and the same bits whatever the processes.

  sharded_check.py --bin build/release/bin --programs DIR [--ranks 1,2,4] [--only REGEX] [--every N] [--platforms cpu,interpreter]

For each DIR/NAME.hlo hlo-run propagates, partitions and runs it on its devices (--partition=yes), in one process and under
mpirun, and each shard must be XLA's; DIR/NAME.opt.hlo, which XLA partitioned, must give the same. Exit status 77 where ranks
are asked for and there is no mpirun.
"""
import argparse
import pathlib
import re
import shutil
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import mpi_test


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--platforms", default="cpu")
    options = parser.parse_args()
    ranks = [int(n) for n in options.ranks.split(",")]
    if max(ranks) > 1 and shutil.which("mpirun") is None:
        sys.exit(77)
    hlo_run = options.bin.resolve() / "hlo-run"
    programs = [p for p in sorted(options.programs.glob("*.npz")) if re.search(options.only, p.stem)][::options.every]
    by_devices = {}
    for inputs in programs:
        with zipfile.ZipFile(inputs) as archive:
            devices = 1 + max(int(m[1]) for m in re.finditer(r"\.d(\d+)\.npy", " ".join(archive.namelist())))
        loose = "bf16" in inputs.with_suffix(".hlo").read_text()
        by_devices.setdefault((devices, loose), []).append(inputs)
    runs = 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for (devices, loose), group in sorted(by_devices.items()):
            splits = [(count, devices // count) for count in ranks if count > 1 and devices % count == 0]
            tolerance = ["--abs-error=0.1", "--rel-error=0.05"] if loose else []
            for platform in options.platforms.split(","):
                for suffix, what, flags in ((".hlo", "here", ["--partition=yes"]), (".opt.hlo", "xla", [])):
                    files = {f"{p.stem}-{what}": (p.with_suffix(suffix), p) for p in group}
                    flags = [f"--platform={platform}", *flags]
                    wrong = mpi_test.run_batch(files, work, "right", lambda rest: [
                        hlo_run, "--distributed=none", *flags, f"--expected={work}/{{}}.npz", *tolerance, *rest])
                    for name, text in wrong.items():
                        mpi_test.check(False, f"{name} {flags[0]}: not XLA's values", text)
                    runs += len(files) + mpi_test.batch_bits(hlo_run, {n: f for n, f in files.items() if n not in wrong}, splits, work, *flags)
            print(f"{len(group)} programs of {devices} devices{', bf16' if loose else ''}, processes x devices {splits}: "
                  f"{runs} runs so far, {len(mpi_test.failures)} failed", flush=True)
    print(f"{len(programs)} programs, {runs} runs, {len(mpi_test.failures)} failed")
    return 1 if mpi_test.failures or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
