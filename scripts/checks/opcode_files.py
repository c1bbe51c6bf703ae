#!/usr/bin/env python3
"""How many source files name each opcode of ir/ops.def: the median, and the files that name most. What many files say of an
opcode belongs into its row. Tests, fuzz targets, the generator, passes/ (rules about opcodes) and ptxsim/ (kSqrt there is an
instruction of PTX) do not count. With --limit N:
fails where the median is above N."""
import argparse
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEFT_OUT = ("passes", "generator", "fuzz", "testdata", "benchmarks", "build", "ptxsim")


def sources():
    for path in sorted(ROOT.rglob("*")):
        top = path.relative_to(ROOT).parts[0]
        if path.suffix in (".cc", ".h", ".def") and top not in LEFT_OUT and not path.stem.endswith("_test"):
            yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, help="the greatest median allowed")
    parser.add_argument("--files", type=int, default=10, help="how many files to list")
    options = parser.parse_args()
    opcodes = set(re.findall(r"^HLO_OP\((\w+),", (ROOT / "ir/ops.def").read_text(encoding="utf-8"), re.M))
    named_in = dict.fromkeys(opcodes, 0)
    files = []
    for path in sources():
        names = set(re.findall(r"\bk([A-Z]\w*)", path.read_text(encoding="utf-8"))) & opcodes
        files.append((len(names), str(path.relative_to(ROOT))))
        for name in names:
            named_in[name] += 1
    median = statistics.median(named_in.values())
    print(f"{len(opcodes)} opcodes; an opcode is named in {median} files (median)")
    for count, path in sorted(files, reverse=True)[:options.files]:
        print(f"{count:4} {path}")
    return 1 if options.limit is not None and median > options.limit else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
