#!/usr/bin/env python3
"""Runs the programs of sharded_programs.py: XLA's values, and the same bits whatever the processes.

  sharded_check.py --bin build/release/bin --programs DIR [--ranks 1,2,4] [--only REGEX] [--every N] [--platform cpu]

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

import mpi_test


def arrays(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--platform", default="cpu")
    options = parser.parse_args()
    ranks = [int(n) for n in options.ranks.split(",")]
    if max(ranks) > 1 and shutil.which("mpirun") is None:
        sys.exit(77)
    hlo_run = options.bin.resolve() / "hlo-run"
    programs = [p for p in sorted(options.programs.glob("*.npz")) if re.search(options.only, p.stem)][::options.every]
    failed, runs = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for inputs in programs:
            before, after = inputs.with_suffix(".hlo"), inputs.with_suffix(".opt.hlo")
            with zipfile.ZipFile(inputs) as archive:
                devices = 1 + max(int(m[1]) for m in re.finditer(r"\.d(\d+)\.npy", " ".join(archive.namelist())))
            loose = ["--abs-error=0.1", "--rel-error=0.05"] if "bf16" in before.read_text() else []
            base = ["--platform", options.platform, f"--input={inputs}"]
            whats = [("partitioned here", before, ["--partition=yes"]), ("partitioned by XLA", after, [])]
            for what, module, flags in whats:
                one = pathlib.Path(folder) / "one.npz"
                one.unlink(missing_ok=True)
                rc, out, err, _ = mpi_test.run([hlo_run, module, "--distributed=none", f"--expected={inputs}", f"--output={one}", *base, *flags, *loose])
                runs += 1
                if rc != 0:
                    failed.append(f"{inputs.stem}, {what}")
                    print(f"FAILED: {failed[-1]}: {rc} {(out + err)[-600:]}", flush=True)
                    continue
                for count in ranks:
                    if count == 1 or devices % count:
                        continue
                    many = pathlib.Path(folder) / "many.npz"
                    many.unlink(missing_ok=True)
                    rc, out, err, _ = mpi_test.run(mpi_test.mpirun(count, hlo_run, module, f"--output={many}", *base, *flags))
                    runs += 1
                    if rc != 0 or arrays(one) != arrays(many):
                        failed.append(f"{inputs.stem}, {what}, {count} processes")
                        print(f"FAILED: {failed[-1]}: {rc} {err[-600:]}", flush=True)
    print(f"{len(programs)} programs, {runs} runs, {len(failed)} failed")
    return 1 if failed or not programs else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
