"""Lets each call of the simulated CUDA driver fail, one a run: out of memory, launch failure, unknown error.

cuda_faults.py --bin BUILD/bin [MODULE]: runs hlo-run --platform=ptx-sim with HLOKIT_CUDA_SIM_FAIL=N:CODE (ptxsim/driver) for N = 1, 2, ...
until no call is left to fail. Each run must end with exit status 2 and one message that names the call; a launch's message begins with the
place of its instruction. A run in which a call that only releases something failed may end well. Exit status 1 where one does not.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

CODES = {2: "CUDA_ERROR_OUT_OF_MEMORY", 719: "CUDA_ERROR_LAUNCH_FAILED", 999: "CUDA_ERROR_UNKNOWN"}
MODULE = pathlib.Path(__file__).parents[2] / "testdata" / "backends" / "cuda" / "loop_and_sort.hlo"


def run(command, fail):
    environment = {**os.environ, "HLOKIT_CUDA_SIM_FAIL": fail, "HLOKIT_CUDA_SIM_THREADS": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


def fault_of(result, name, module):
    """What is wrong with a run in which a call failed; empty where nothing is."""
    if result.returncode != 2:
        return f"exit status {result.returncode}"
    if name not in result.stderr or not re.search(r"cu[A-Z]\w+", result.stderr):
        return "the message names neither the call nor the error"
    if "cuLaunchKernel" in result.stderr and f"{module.name}:" not in result.stderr:
        return "a launch's message has no place"
    return ""


def sweep(command, code, module):
    """(runs in which a call failed, what is wrong)."""
    wrong, failed, call, quiet = [], 0, 0, 0
    while quiet < 8:  # so many calls in a row at most only release something
        call += 1
        result = run(command, f"{call}:{code}")
        if result.returncode == 0:
            quiet += 1
            continue
        failed, quiet = failed + 1, 0
        if why := fault_of(result, CODES[code], module):
            wrong.append(f"call {call} fails with {CODES[code]}: {why}\n{result.stderr}")
    return failed, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("module", type=pathlib.Path, nargs="?", default=MODULE)
    args = parser.parse_args()
    command = [str(args.bin / "hlo-run"), "--platform=ptx-sim", "--threads=1", str(args.module)]
    bad = 0
    for code in CODES:
        failed, wrong = sweep(command, code, args.module)
        print(f"{CODES[code]}: {failed} calls, {len(wrong)} faults")
        print("\n".join(wrong), end="")
        bad += len(wrong) + (failed < 20)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
