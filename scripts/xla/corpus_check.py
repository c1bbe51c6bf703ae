#!/usr/bin/env python3
"""Runs one group of score.py on ../shared/corpus and holds its figure: corpus_check.py GROUP --bin BUILD/bin [--raise].

The groups, and how many cases each must pass at least, stand in corpus_baseline.json; --raise writes a better figure
there, never a lower one. What failed goes to LOG/GROUP.txt. Exit status 1 where the figure fell, 77 where ../shared
or numpy is missing.
"""
import argparse
import importlib.util
import json
import pathlib
import re
import subprocess
import sys

SCRIPTS = pathlib.Path(__file__).resolve().parent
BASELINE = SCRIPTS / "corpus_baseline.json"
SHARED = SCRIPTS.parents[2] / "shared"
SKIPPED = 77


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def score(group, bin_folder):
    """score.py's whole output for a group. Paths among its arguments are relative to ../shared."""
    arguments = [str(SHARED / a) if a.startswith("corpus") else a for a in group["arguments"]]
    command = [sys.executable, SHARED / "tools" / "score.py", *arguments, "--bin", bin_folder]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout


def write_baseline(baseline):
    rows = (f"  {json.dumps(name)}: {json.dumps(group)}" for name, group in baseline.items())
    BASELINE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def main():
    baseline = json.loads(BASELINE.read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("group", choices=list(baseline))
    parser.add_argument("--bin", required=True, help="the build's bin folder")
    parser.add_argument("--log", type=pathlib.Path, help="folder for the list of what failed")
    parser.add_argument("--raise", dest="raises", action="store_true", help="record a better figure")
    args = parser.parse_args()
    if not (SHARED / "tools" / "score.py").exists():
        skip(f"no {SHARED}")
    if importlib.util.find_spec("numpy") is None:
        skip("python3 has no numpy")

    group = baseline[args.group]
    output = score(group, args.bin)
    if args.log:
        args.log.mkdir(parents=True, exist_ok=True)
        (args.log / f"{args.group}.txt").write_text(output, encoding="utf-8")
    summary = re.search(r"(\d+) passed, (\d+) failed\s*$", output)
    if not summary:
        sys.exit(f"score.py did not finish: {output[-2000:]}")
    passed = int(summary[1])
    fell = passed < group["passed"]
    if fell:
        print(output, end="")
    print(f"{args.group}: {passed} passed, {summary[2]} failed; at least {group['passed']} must pass")
    if args.raises and passed > group["passed"]:
        group["passed"] = passed
        write_baseline(baseline)
    sys.exit(1 if fell else 0)


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
