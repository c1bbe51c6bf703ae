"""Prints how reading, printing and verifying grow with the text: sample modules from 10 KB to 100 MB.

text_growth.py BUILD_DIR [--largest KILOBYTES] [--seconds S]: runs hlokit_text_benchmark (ninja hlokit_text_benchmark) and
prints a table of MB/s, and of memory in bytes for each byte of text. Linear means that a column falls no further once modules
exceed the caches (1 MB and more). Exit status 1 where a rate at the largest text is below a third of that at 1 MB.
"""
import argparse
import json
import pathlib
import subprocess
import sys

SIZES = [10, 100, 1000, 10000, 100000]  # KB
COLUMNS = ["read", "print", "verify", "free"]


def measure(program, largest, seconds):
    """{(what, kilobytes): benchmark record}"""
    sizes = "|".join(f"{s}k" for s in SIZES if s <= largest)
    run = subprocess.run([program, f"--benchmark_filter=/sample_({sizes})$", "--benchmark_format=json",
                          f"--benchmark_min_time={seconds}"], capture_output=True, text=True, check=True)
    records = {}
    for record in json.loads(run.stdout)["benchmarks"]:
        what, _, size = record["name"].partition("/sample_")
        records[what, int(size.rstrip("k"))] = record
    return records


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    parser.add_argument("--seconds", type=float, default=0.2)
    arguments = parser.parse_args()
    records = measure(arguments.build / "bin/hlokit_text_benchmark", arguments.largest, arguments.seconds)
    sizes = [s for s in SIZES if s <= arguments.largest]
    print(f"{'text':>8} " + " ".join(f"{c + ' MB/s':>12}" for c in COLUMNS) + f" {'memory/text':>12}")
    for size in sizes:
        rates = [records[c, size]["bytes_per_second"] / 1e6 for c in COLUMNS]
        print(f"{size:6} KB " + " ".join(f"{r:12.0f}" for r in rates) + f" {records['read', size]['memory']:12.2f}")
    rate = lambda what, size: records[what, size]["bytes_per_second"]
    slow = [c for c in COLUMNS if rate(c, sizes[-1]) * 3 < rate(c, min(1000, sizes[-1]))]
    for column in slow:
        print(f"{column} is not linear: a byte of {sizes[-1]} KB takes more than three times a byte of 1 MB")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
