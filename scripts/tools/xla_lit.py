#!/usr/bin/env python3
"""Runs XLA's LIT tests of its HLO tools (`// RUN:` lines of .hlo and .mlir files) with the tools of a build.

  xla_lit.py --bin BUILD/bin FOLDER [--only REGEX]

FOLDER is one of a checkout of XLA: xla/hlo/tools/tests, xla/hlo/transforms/tests, xla/tools/hlo_opt/tests. Prints each file that
fails with the line and what it printed, and the counts. Needs FileCheck and not (Debian: llvm-19-tools).
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SUBSTITUTIONS = {"%{GPU}": "a100_sxm_80", "%{PTX}": "PTX"}
SECONDS = 60


def run_lines(text):
    """The commands of a file, continued lines joined."""
    commands = []
    for line in re.findall(r"^\s*(?://|#)\s*RUN:\s*(.*)$", text, re.MULTILINE):
        if commands and commands[-1].endswith("\\"):
            commands[-1] = commands[-1][:-1] + line
        else:
            commands.append(line)
    return commands


def failure(path, environment, scratch):
    """The first command that fails with its output; None where all hold."""
    names = {**SUBSTITUTIONS, "%S": str(path.parent), "%s": str(path), "%t": str(scratch / (path.name + ".tmp"))}
    for command in run_lines(path.read_text(encoding="utf-8")):
        line = command
        for name, value in names.items():
            line = line.replace(name, value)
        try:
            done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, errors="replace",
                                  timeout=SECONDS, env=environment, cwd=scratch, check=False)
        except subprocess.TimeoutExpired:
            return command, f"more than {SECONDS} s"
        if done.returncode != 0:
            return command, done.stdout + done.stderr
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--only", default=".", metavar="REGEX")
    parser.add_argument("folder", type=pathlib.Path)
    a = parser.parse_args()
    files = [f for f in sorted(a.folder.resolve().rglob("*")) if f.suffix in (".hlo", ".mlir") and re.search(a.only, str(f))]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        (scratch / "bin").mkdir()
        for tool in ("FileCheck", "not"):
            found = shutil.which(tool) or shutil.which(f"{tool}-19")
            if found is None:
                print(f"skipped: no {tool}")
                return 77
            (scratch / "bin" / tool).symlink_to(found)
        environment = {**os.environ, "PATH": f"{scratch / 'bin'}:{a.bin.resolve()}:{os.environ['PATH']}"}
        for path in files:
            found = failure(path, environment, scratch)
            if found is not None:
                failed += 1
                print(f"{path.relative_to(a.folder.resolve())}\n  {found[0]}\n    " + found[1][:1500].replace("\n", "\n    "))
    print(f"{len(files) - failed} of {len(files)} files hold")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
