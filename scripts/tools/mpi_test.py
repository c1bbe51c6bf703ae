#!/usr/bin/env python3
"""hlo-run over several processes of mpirun: the bits of one process, and ends that are told.

  mpi_test.py --bin build/release/bin [--corpus ../shared/corpus/jax/spmd [--every N] [--first N] [--platforms cpu,interpreter]]

Exit status 77 where there is no mpirun, or no corpus. With --corpus, the optimized modules of that folder run instead, each on 2, 4 and 8
processes of 1, 2 and 4 devices, as far as these make the module's, on each platform: the bits of one process.
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


def differing(one, many):
    """Names of arrays that are not the same bytes in two .npz files."""
    one, many = arrays(one), arrays(many)
    return sorted(k for k in one.keys() | many.keys() if one.get(k) != many.get(k))


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
        found = differing(one, many)
        check(not found, f"{what}: other bits in {found[:5]}")


def run_batch(programs, work, folder, command):
    """One run of all programs (name: module, inputs), as a launcher's start costs more than most modules: results in work/folder.

    Where the batch fails, each program runs alone. Returns the errors by program.
    """
    (work / folder).mkdir(exist_ok=True)
    for name, (module, inputs) in programs.items():
        for path, target in ((work / f"{name}.hlo", module), (work / f"{name}.npz", inputs)):
            path.unlink(missing_ok=True)
            path.symlink_to(target.resolve())
        (work / folder / f"{name}.npz").unlink(missing_ok=True)

    def start(names):
        files = [work / f"{name}.hlo" for name in names]
        return run(command([*files, f"--input={work}/{{}}.npz", f"--output={work / folder}/{{}}.npz"]), timeout=120 + 20 * len(files))
    if start(programs)[0] == 0:
        return {}
    errors = {}
    for name in programs:
        rc, out, err, _ = start([name])
        if rc != 0:
            errors[name] = f"{rc} {(out + err)[-600:]}"
    return errors


def batch_bits(hlo_run, programs, splits, work, *flags):
    """Programs of one number of devices, by (processes, devices of each) beside one process; how many runs there were."""
    def told(errors, what):
        for name, text in errors.items():
            check(False, f"{name} {flags[0]} {what}", text)
    errors = run_batch(programs, work, "one", lambda rest: [hlo_run, "--distributed=none", *flags, *rest])
    told(errors, "in one process")
    good = {name: files for name, files in programs.items() if name not in errors}
    for ranks, local in splits:
        what = f"on {ranks} processes of {local} devices"
        errors = run_batch(good, work, "many", lambda rest, r=ranks, n=local: mpirun(r, hlo_run, f"--local-devices={n}", *flags, *rest))
        told(errors, what)
        for name in good:
            if name not in errors:
                found = differing(work / "one" / f"{name}.npz", work / "many" / f"{name}.npz")
                check(not found, f"{name} {flags[0]} {what}: other bits in {found[:5]}")
    return len(programs) + len(good) * len(splits)


def devices_of(module):
    counts = [int(n) for n in re.findall(r"(?:num_partitions|replica_count)=(\d+)", module.read_text().split("\n", 1)[0])]
    return counts[0] * (counts[1] if len(counts) > 1 else 1) if counts else 1


def corpus(hlo_run, options, work):
    by_devices = {}
    for module in sorted(options.corpus.glob("*.opt.hlo"))[options.first::options.every]:
        name = module.name.removesuffix(".opt.hlo")
        by_devices.setdefault(devices_of(module), {})[name] = (module, module.with_name(name + ".npz"))
    check(by_devices, f"{options.corpus} has no modules")
    for devices, programs in sorted(by_devices.items()):
        splits = [(ranks, devices // ranks) for ranks in (2, 4, 8) if devices % ranks == 0]
        for platform in options.platforms.split(","):
            runs = batch_bits(hlo_run, programs, splits, work, f"--platform={platform}")
            print(f"{len(programs)} modules of {devices} devices, {platform}, processes x devices {splits}: {runs} runs, "
                  f"{len(failures)} failures so far", flush=True)


def ends(what, command, statuses, words, limit_s):
    rc, out, err, seconds = run(command, timeout=limit_s)
    check(rc is not None, f"{what}: no end within {limit_s} s", err)
    check(rc in statuses, f"{what}: exit status {rc}", out + err)
    for word in words:
        check(word in err, f"{what}: no '{word}'", err)
    return seconds


def programs_and_ends(hlo_run, work):
    module = DATA / "mpi_collectives.hlo"
    for ranks in (2, 4):
        for platform in ("cpu", "interpreter"):
            same_bits(hlo_run, module, ranks, work, f"--platform={platform}")
            same_bits(hlo_run, DATA / "mpi_sharded.hlo", ranks, work, f"--platform={platform}", "--partition=yes")
    shards_and_wholes(hlo_run, work)
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


def folder(path):
    return {file.stem: file.read_bytes() for file in path.glob("*.npy")}


def shards_and_wholes(hlo_run, work):
    """Results as a folder of shards that each process writes, and whole; a folder of shards as arguments; recorded results."""
    module = DATA / "mpi_sharded.hlo"
    rc, _, err, _ = run([hlo_run, module, "--partition=yes", f"--output={work}/one", "--distributed=none"])
    check(rc == 0, "shards of one process", err)
    rc, _, err, _ = run(mpirun(2, hlo_run, module, "--partition=yes", f"--output={work}/two"))
    one, two = folder(work / "one"), folder(work / "two")
    check(rc == 0 and len(one) == 8 and one == two, f"shards in a folder: {sorted(one)}, {sorted(two)}", err)
    check("out1.d3" in two and len(two["out1.d3"]) < len(two["out0.d3"]), "a quarter of the sums on device 3")
    for name, flags in (("whole", ["--partition=yes"]), ("alone", ["--partition=no"])):
        rc, _, err, _ = run(mpirun(2, hlo_run, module, *flags, "--whole-outputs", f"--output={work}/{name}.npz"))
        check(rc == 0, f"whole results, {flags}", err)
    wholes = arrays(work / "whole.npz")
    check(sorted(wholes) == ["out0.npy", "out1.npy"] and len(wholes["out0.npy"]) == 128 + 64 * 80 * 4, "whole arrays are put together")
    check({k: len(v) for k, v in wholes.items()} == {k: len(v) for k, v in arrays(work / "alone.npz").items()}, "whole without a partitioner")
    # Rows of f32[64,80] over four devices are the file's own order: shards one after the other are the whole.
    joined = b"".join(two[f"out0.d{d}"][128:] for d in range(4))
    check(joined == wholes["out0.npy"][128:], "the whole is the shards' rows")
    rc, out, err, _ = run(mpirun(2, hlo_run, module, "--partition=yes", f"--expected={work}/one"))
    check(rc == 0 and "agree" in out, "recorded results in a folder, several processes", out + err)
    for k, name in enumerate(("out0", "out1")):  # shards of one program are the next one's arguments
        for d in range(4):
            (work / "one" / f"{name}.d{d}.npy").rename(work / "one" / f"in{k}.d{d}.npy")
    after = work / "after.hlo"
    after.write_text("HloModule after, num_partitions=4\nENTRY e {\n  a = f32[16,80] parameter(0)\n  b = f32[20] parameter(1)\n"
                     "  ROOT t = (f32[16,80], f32[20]) tuple(a, b)\n}\n")
    rc, _, err, _ = run(mpirun(2, hlo_run, after, f"--input={work}/one", f"--output={work}/three"))
    check(rc == 0 and folder(work / "three") == two, "a folder of shards as arguments", err)
    (work / "empty").mkdir(exist_ok=True)
    ends("a folder without arrays", mpirun(2, hlo_run, after, f"--input={work}/empty"), {2}, ["a folder without .npy files"], 60)
    ends("whole results of a partitioned module", mpirun(2, hlo_run, after, "--whole-outputs"), {2}, ["--whole-outputs joins shards"], 60)


def left_over(hlo_run):
    time.sleep(1)
    found = subprocess.run(["pgrep", "-f", f"^{hlo_run} .*--min-seconds=30"], capture_output=True, text=True).stdout.split()
    for process in found:
        os.kill(int(process), signal.SIGKILL)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--platforms", default="cpu,interpreter")
    options = parser.parse_args()
    if shutil.which("mpirun") is None or (options.corpus and not options.corpus.is_dir()):
        sys.exit(77)
    hlo_run = options.bin.resolve() / "hlo-run"
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        if options.corpus:
            corpus(hlo_run, options, work)
        else:
            programs_and_ends(hlo_run, work)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
