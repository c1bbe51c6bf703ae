#!/usr/bin/env python3
"""Gives every flag of every tool values that make no sense: each run ends with a documented exit status and, where it
is not 0, a message; never by a signal, an exception or a time limit."""
import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile

MODULE = """HloModule a
ENTRY e {
  x = f32[4,8] parameter(0)
  y = f32[8,16] parameter(1)
  d = f32[4,16] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[4,16], f32[4,8]) tuple(d, x)
}
"""
TOOLS = {"hlo-run": 1, "hlo-opt": 1, "hlo-viz": 1, "hlo-diff": 2, "hlo-cost": 1, "hlo-reduce": 1, "hlo-aot": 1, "hlo-gen": 0, "hlo-lsp": 0}
STAY = {"--serve", "--repl"}  # run until they are told to end
VALUES = ["", "-1", "0", "1", "99999999999999999999", "nan", "x", b"\xff", "a.hlo", "/", "/dev/null", "/dev/full", "{",
          "<", "((((((((", ".*", "*", "a,b", "=", "--", "%s%n", "1e308", "1:2", "0.5", "true", "none", "all", "cpu"]
EXCEPTION = re.compile(rb"terminate called|what\(\):|Check failed|runtime error|Sanitizer")


def flags_of(tool):
    text = subprocess.run([tool, "--help"], capture_output=True, text=True, check=True).stdout
    return sorted(set(re.findall(r"--[a-z][a-z0-9-]+", text)) - STAY)


def fault(command, folder):
    try:
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, cwd=folder, timeout=120)
    except subprocess.TimeoutExpired:
        return "no end within 120 s"
    if done.returncode not in (0, 1, 2):
        return f"exit status {done.returncode}: {done.stderr[:300]!r}"
    if EXCEPTION.search(done.stderr):
        return f"an exception: {done.stderr[:300]!r}"
    if done.returncode == 2 and not done.stderr.strip():
        return "exit status 2 without a message"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/release/bin", help="where the tools are")
    parser.add_argument("--values", type=int, default=2, help=f"of {len(VALUES)}, tried with each flag")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    choose = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "a.hlo"), "w") as file:
            file.write(MODULE)
        commands = []
        for tool, files in TOOLS.items():
            path = os.path.abspath(os.path.join(options.bin, tool))
            for flag in flags_of(path):
                for value in choose.sample(VALUES, min(options.values, len(VALUES))):
                    value = value if isinstance(value, bytes) else value.encode()
                    commands.append([path, *["a.hlo"] * files, flag.encode() + b"=" + value])
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            faults = list(pool.map(lambda command: fault(command, folder), commands))
    for command, what in zip(commands, faults):
        if what:
            print(" ".join(os.fsdecode(part) for part in [os.path.basename(command[0]), *command[1:]]), "->", what)
    wrong = sum(what is not None for what in faults)
    print(f"{len(commands)} command lines, {wrong} faults")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
