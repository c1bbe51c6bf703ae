#!/usr/bin/env python3
"""Compiles the CUDA sources of testdata/ptxsim/cuda with nvcc and holds what ptx-sim makes of their PTX against numpy.

    nvcc_kernels.py --bin BUILD/bin [--nvcc PATH] [--arch 80,90a,100a] [--filter RE] [--keep DIR]

basic.cu has kernels of the kinds that CUDA's samples have, math.cu the functions of CUDA one after the other, tensor.cu matrix instructions, barriers,
pipelines, clusters and blocks of CUB. Expected results: nvcc_samples.py and nvcc_functions.py, without the simulator. Exit status: 1 where a kernel is
refused or wrong, 77 where there is no nvcc. The last line is `N checks, M wrong`.
"""
import argparse, pathlib, re, shutil, subprocess, sys, tempfile

import numpy as np

import nvcc_functions, nvcc_samples

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "testdata" / "ptxsim" / "cuda"


class Runner:
    """Runs kernels of one PTX file and counts what is right."""

    def __init__(self, hlo_run, ptx, arch, chosen):
        self.hlo_run, self.ptx, self.arch, self.chosen = hlo_run, ptx, arch, re.compile(chosen)
        self.checks, self.wrong = 0, []

    def run(self, kernel, grid, block, inputs, shared=0, cluster=1):
        """The buffers afterwards, in the order of the parameters that are buffers, and what was printed; None where it failed."""
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out.npz"
            command = [self.hlo_run, "--ptx", self.ptx, f"--kernel={kernel}", f"--grid={grid}", f"--block={block}", f"--output={out}"]
            if shared:
                command.append(f"--shared={shared}")
            if cluster > 1:
                command.append(f"--cluster={cluster}")
            for i, value in enumerate(inputs):
                if isinstance(value, np.ndarray):
                    np.save(f"{folder}/{i}.npy", value)
                    value = f"{folder}/{i}.npy"
                command.append(f"--input={value}")
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
            if done.returncode != 0:
                self.report(kernel, (done.stderr or done.stdout).strip().splitlines()[0][:200])
                return None, done.stdout
            if not out.exists():
                return [], done.stdout
            with np.load(out) as data:
                return [data[name] for name in sorted(data.files, key=lambda name: int(name[3:]))], done.stdout

    def report(self, name, what):
        self.wrong.append(name)
        print(f"sm_{self.arch} {name}: {what}", flush=True)

    def hold(self, name, got, want, tolerance=0):
        """Bit for bit but for the sign of zeros, or within `tolerance`, relative and absolute."""
        self.checks += 1
        got = np.asarray(got).reshape(-1)
        want = np.asarray(want).reshape(-1)
        if tolerance:
            same = np.isclose(got.astype(np.float64), want.astype(np.float64), rtol=tolerance, atol=tolerance, equal_nan=True)
        else:
            want = want.astype(got.dtype)
            same = (got == want) | ((got != got) & (want != want))
        if not same.all():
            at = int(np.argmin(same))
            self.report(name, f"element {at} is {got[at]}, not {want[at]}")

    def case(self, kernel, grid, block, inputs, expected, tolerance=0, **more):
        """`expected`: the buffer's number -> its contents."""
        if not self.chosen.search(kernel):
            return
        results, _ = self.run(kernel, grid, block, inputs, **more)
        for number, want in expected.items() if results is not None else ():
            self.hold(f"{kernel}[{number}]", results[number], want, tolerance)


def compile_ptx(nvcc, source, arch, to):
    include = pathlib.Path(nvcc).resolve().parents[1] / "include" / "cccl"
    command = [nvcc, "-ptx", f"-arch=sm_{arch}", "-std=c++17", "-w", f"-I{include}", "--expt-relaxed-constexpr", source, "-o", to]
    subprocess.run(list(map(str, command)), check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    parser.add_argument("--arch", default="80,90a,100a")
    parser.add_argument("--filter", default="")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the PTX")
    a = parser.parse_args()
    if not pathlib.Path(a.nvcc).exists():
        print("no nvcc")
        sys.exit(77)
    checks, wrong = 0, 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = a.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for arch in a.arch.split(","):
            for source, cases in (("basic", nvcc_samples.basic), ("tensor", nvcc_samples.tensor), ("math", nvcc_functions.functions)):
                ptx = folder / f"{source}.{arch}.ptx"
                compile_ptx(a.nvcc, SOURCES / f"{source}.cu", arch, ptx)
                runner = Runner(a.bin / "hlo-run", ptx, arch, a.filter)
                cases(runner)
                checks += runner.checks
                wrong += len(runner.wrong)
    print(f"{checks} checks, {wrong} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
