#!/usr/bin/env python3
"""Gives every flag of every tool values that make no sense: each run ends with a documented exit status and, where it
is not 0, a message; never by a signal, an exception or a time limit. --lines tries whole command lines at random: several flags,
twice the same, values apart from their flags or left out, flags of other tools, files of other kinds, odd words."""
import argparse
import concurrent.futures
import os
import random
import re
import struct
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


# Files of a command line, by name; the tools run beside them.
FILES = {"a.hlo": MODULE.encode(), "empty.hlo": b"", "blank.hlo": b"\n\n", "half.hlo": MODULE.encode()[:100], "zero.bin": bytes(64),
         "utf16.hlo": MODULE.encode("utf-16"), "crlf.hlo": MODULE.replace("\n", "\r\n").encode(), "x.json": b'{"x": "w", "y": "v"}',
         "topology.json": b'{"name": "t", "device": {"name": "d", "flops": {"f32": 1e12}, "vector_flops": 1e11, "memory_bandwidth": 1e11},'
                          b' "links": [{"name": "l", "kind": "ring", "size": 4, "bandwidth": 1e9}]}',
         "w.safetensors": struct.pack("<Q", 54) + b'{"x":{"dtype":"F32","shape":[4,8],"data_offsets":[0,8]' + bytes(8),
         "two.hlo": MODULE.encode() + b"// -----\n" + MODULE.encode(), "program.mlir": b"module { func.func @main() -> tensor<2xf32> { } }",
         "a.npy": b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 8), }".ljust(117) + b"\n" + bytes(128)}
WORDS = [*FILES, "-", "--", "---", "-x", "--no-such-flag", "--=", "=", "@a.hlo", ".", "..", "missing.hlo", "/dev/null", "/proc/self/mem", "",
         " ", "--help=1", "-h", "--version", "\u00e9", "%", "a.hlo,two.hlo", "*.hlo"]


def odd_line(choose, tool, flags, every):
    """A command line of one to six words behind the tool."""
    words = [choose.choice(list(FILES))] if choose.random() < 0.7 else ["a.hlo"]
    for _ in range(choose.randrange(1, 6)):
        kind = choose.random()
        flag = choose.choice(flags if kind < 0.9 else every)
        value = choose.choice(VALUES + list(FILES))
        value = value if isinstance(value, str) else "\udcff"
        if kind < 0.4:
            words.append(f"{flag}={value}")
        elif kind < 0.6:
            words += [flag, value]
        elif kind < 0.75:
            words.append(flag)
        elif kind < 0.8:
            words += [flag, flag]
        elif kind < 0.85:
            words.append(choose.choice([flag[1:], flag.replace("-", "_"), flag[:-1], flag.upper(), "--no-" + flag[2:]]))
        else:
            words.insert(choose.randrange(len(words) + 1), choose.choice(WORDS))
    return [tool, *(os.fsencode(word.replace("\0", "")) for word in words)]


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


def write_files(folder):
    for name, content in FILES.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content)


def single_flags(options, choose):
    commands = []
    for tool, files in TOOLS.items():
        path = os.path.abspath(os.path.join(options.bin, tool))
        for flag in flags_of(path):
            for value in choose.sample(VALUES, min(options.values, len(VALUES))):
                value = value if isinstance(value, bytes) else value.encode()
                commands.append([path, *["a.hlo"] * files, flag.encode() + b"=" + value])
    return commands


def lines(options, choose):
    paths = [os.path.abspath(os.path.join(options.bin, tool)) for tool in TOOLS]
    flags = {path: flags_of(path) for path in paths}
    every = sorted(set().union(*flags.values()))
    return [odd_line(choose, path, flags[path], every) for path in (choose.choice(paths) for _ in range(options.lines))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/release/bin", help="where the tools are")
    parser.add_argument("--values", type=int, default=2, help=f"of {len(VALUES)}, tried with each flag")
    parser.add_argument("--lines", type=int, default=0, help="whole command lines at random, instead of single flags")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    choose = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        write_files(folder)
        commands = lines(options, choose) if options.lines else single_flags(options, choose)
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
