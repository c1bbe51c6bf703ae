#!/usr/bin/env python3
"""Runs the command lines of testdata/tools/xla_command_lines.tsv, which people type for XLA's programs, on the links that bear
these programs' names. Each has a folder of its own in which stand-ins lie for the files that it names. At least 90 % must run
unchanged; each other must end with exit status 2 and say what to type instead."""
import argparse
import concurrent.futures
import glob
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HLO = """HloModule stand_in
ENTRY e {
  x = f32[4,4] parameter(0)
  NAME = f32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = f32[4,4] tanh(NAME)
}
"""
MLIR = """module @stand_in {
  func.func @main(%arg0: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.negate %arg0 : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
"""
# What each other file holds.
OTHERS = {"in.npz": None, "options.txt": 'xla_backend_optimization_level: 1\nxla_dump_to: "dumped"\n', "results.textpb": "version: 3\n"}
WRITTEN = re.compile(r"--?(o|output\w*|text_output|html_output|xla_dump\w*|xla_gpu\w*|dump\w*|append\w*|execution\w*|script|browser)=")
LEAST_SHARE = 0.9


def stand_in(folder, word, command, tools):
    """Makes the file that `word` names, unless it is none."""
    if "*" in word:
        word = word.replace("*", "module_0001." if word.find("*") == word.rfind("/") + 1 else ".txt", 1).replace("*", ".txt")
    path = os.path.join(folder, word)
    ending = word.rsplit(".", 1)[-1]
    if os.path.exists(path) or ending not in ("hlo", "txt", "pb", "pbtxt", "mlir", "ir", "npz", "riegeli", "textpb"):
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    name = re.search(r"--instruction_name=%?(\S+)", command)
    text = HLO.replace("NAME", name[1] if name else "d")
    proto = next((form for form, words in {"pb": ("pb", "proto_binary", "snapshot_proto_binary"), "pbtxt": ("pbtxt", "proto_text")}.items()
                  if any(f"input_format={word}" in command.split() or f"--input_format={word} " in command for word in words)),
                 ending if ending in ("pb", "pbtxt") else None)
    if os.path.basename(word) in OTHERS:
        if ending == "npz":
            subprocess.run([tools / "hlo-run", "-", f"--output={path[:-4]}0.npz"], input=HLO.replace("NAME", "d"), text=True, check=True)
            make_input(path)
        else:
            pathlib.Path(path).write_text(OTHERS[os.path.basename(word)], encoding="utf-8")
    elif ending in ("mlir", "ir") or "stablehlo" in command:
        pathlib.Path(path).write_text(MLIR, encoding="utf-8")
    elif proto:
        subprocess.run([tools / "hlo-opt", "-", f"--format={proto}", "-o", path], input=text, text=True, check=True)
    else:
        pathlib.Path(path).write_text(text, encoding="utf-8")


def make_input(path):
    """The results of a run as the arguments of the next: out0 becomes in0."""
    import zipfile
    with zipfile.ZipFile(path[:-4] + "0.npz") as old, zipfile.ZipFile(path, "w") as new:
        new.writestr("in0.npy", old.read("out0.npy"))


def local(word):
    """A path from the root as one inside the folder; programs of /bin stay where they are."""
    return re.sub(r"(^|=)/(?!dev/|bin/)", r"\1", word)


def run(line, tools):
    source, command, expected = line
    with tempfile.TemporaryDirectory() as folder:
        words = shlex.split(command)
        environment = {key: value for key, value in os.environ.items() if key != "XLA_FLAGS"}
        while re.match(r"\w+=", words[0]):
            key, value = words.pop(0).split("=", 1)
            environment[key] = value
        words = [re.sub(r"\$\{(\w+)\}", lambda match: environment[match[1]], local(word)) for word in words]
        arguments = []
        for word in words[1:]:
            if not WRITTEN.match(word) and not word.startswith("-o"):
                stand_in(folder, word.split("=", 1)[1] if word.startswith("-") and "=" in word else word, command, tools)
            found = sorted(glob.glob(os.path.join(folder, word))) if "*" in word and not word.startswith("-") else []
            arguments += [os.path.relpath(path, folder) for path in found] or [word]
        done = subprocess.run([tools / words[0], *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        output = done.stdout.decode("utf-8", "replace")
    kind, _, pattern = expected.partition(" ")
    wanted = {"ok": (0,), "ran": (0, 1, 2), "refused": (2,)}[kind]
    if done.returncode not in wanted or not re.search(pattern, output):
        return f"{source}\n  {command}\n  expected {expected}, ended with {done.returncode}:\n  " + output[:600].replace("\n", "\n  ")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(".")[0])
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin", help="where the tools are")
    parser.add_argument("--only", default="", help="lines that hold this text")
    options = parser.parse_args()
    text = (ROOT / "testdata" / "tools" / "xla_command_lines.tsv").read_text(encoding="utf-8")
    lines = [line.split("\t") for line in text.splitlines() if line and line[0] != "#" and options.only in line]
    tools = options.bin.resolve()
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        faults = [fault for fault in pool.map(lambda line: run(line, tools), lines) if fault]
    for fault in faults:
        print(fault)
    refused = sum(expected.startswith("refused") for _, _, expected in lines)
    share = (len(lines) - refused - len(faults)) / max(len(lines), 1)
    print(f"{len(lines)} command lines: {len(lines) - refused} are to run, {refused} to be refused; {len(faults)} do otherwise")
    return 1 if faults or (not options.only and (share < LEAST_SHARE or len(lines) < 200)) else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
