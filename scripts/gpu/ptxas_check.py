"""Assembles the PTX of modules with NVIDIA's ptxas: no error, and no spills but those that are named.

ptxas_check.py --bin BUILD/bin [--archs sm_80,sm_90a,sm_100] [MODULE or FOLDER...]: hlo-opt --stage=ptx, then ptxas for the same architecture.
Without modules: every RUN-ON-EACH-BACKEND file of testdata/ops. --every N takes each N-th. Exit status 77 where there is no ptxas (of a PATH,
/usr/local/cuda or the wheel nvidia-cuda-nvcc), 1 where a module's PTX is refused.
"""
import argparse
import concurrent.futures
import glob
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]


def find_ptxas():
    places = glob.glob("/usr/local/cuda/bin/ptxas") + glob.glob(sys.prefix + "/lib/python*/site-packages/nvidia/cuda_nvcc/bin/ptxas")
    return shutil.which("ptxas") or next(iter(places), None)


def modules_of(paths):
    for path in paths:
        yield from sorted(path.rglob("*.hlo")) if path.is_dir() else [path]


def knows(ptxas, arch):
    """Whether this ptxas assembles for the architecture at all."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n")
        file.flush()
        return subprocess.run([ptxas, f"--gpu-name={arch}", file.name, "-o", "/dev/null"], capture_output=True).returncode == 0


def check(args, ptxas, module, arch):
    """(what is wrong or None, kernels, spilled bytes); no kernels: hlo-opt has no PTX for the module."""
    made = subprocess.run([str(args.bin / "hlo-opt"), str(module), "--stage=ptx", f"--gpu-arch={arch}"], capture_output=True, text=True)
    if made.returncode == 2:  # text that is refused on purpose
        return None, 0, 0
    if made.returncode != 0:
        return f"{module} {arch}: hlo-opt: exit status {made.returncode}: {made.stderr}", 0, 0
    if ".entry" not in made.stdout:
        return None, 0, 0
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(made.stdout)
        file.flush()
        done = subprocess.run([ptxas, "-v", f"--gpu-name={arch}", file.name, "-o", "/dev/null"], capture_output=True, text=True)
    if done.returncode != 0:
        return f"{module} {arch}: ptxas: {(done.stdout + done.stderr)[:400]}", 0, 0
    spills = sum(int(line.split("bytes spill stores")[0].split(",")[-1]) for line in done.stderr.splitlines() if "bytes spill stores" in line)
    return None, made.stdout.count(".entry"), spills


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--archs", default="sm_80,sm_90a,sm_100")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("modules", type=pathlib.Path, nargs="*")
    args = parser.parse_args()
    ptxas = find_ptxas()
    if ptxas is None:
        print("no ptxas")
        sys.exit(77)
    modules = list(modules_of(args.modules or [ROOT / "testdata" / "ops"]))[::args.every]
    bad = 0
    for arch in args.archs.split(","):
        if not knows(ptxas, arch):
            print(f"{arch}: {ptxas} does not know it")
            continue
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda module: check(args, ptxas, module, arch), modules))
        wrong = [why for why, _, _ in results if why]
        for why in wrong[:20]:
            print(why)
        for module, (_, _, spilled) in zip(modules, results):
            if spilled:
                print(f"{arch}: {module}: {spilled} bytes of spills")
        print(f"{arch}: {sum(r[1] for r in results)} kernels of {len(modules)} modules, {len(wrong)} refused, "
              f"{sum(r[2] > 0 for r in results)} modules with spills")
        bad += len(wrong) + (not any(r[1] for r in results))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
