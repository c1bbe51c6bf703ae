"""Shows how reading, printing, verifying and protobuf grow with the text: sample modules from 10 KB to 100 MB.

text_growth.py BUILD_DIR [--largest KILOBYTES] [--seconds S] [--write PAGE]: runs hlokit_text_benchmark (ninja
hlokit_text_benchmark) and prints a Markdown table of MB/s of text, by CPU time, and of memory in bytes for each byte of text;
--write puts it in place of the table in the page. Linear means that a column falls no further once modules exceed the caches
(1 MB and more). Exit status 1 where a rate at the largest text is below a third of that at 1 MB.
"""
import argparse
import json
import pathlib
import subprocess
import sys

SIZES = [10, 100, 1000, 10000, 100000]  # KB
COLUMNS = ["read", "print", "verify", "free", "read_proto", "write_proto"]
HEADER = "| text | " + " | ".join(c.replace("_", " ") for c in COLUMNS) + " | memory/text |"


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


def table(records, sizes):
    rows = [HEADER, "|" + "---|" * (len(COLUMNS) + 2)]
    for size in sizes:
        rates = [records[c, size]["bytes_per_second"] / 1e6 for c in COLUMNS]
        text = f"{size} KB" if size < 1000 else f"{size // 1000} MB"
        rows.append(f"| {text} | " + " | ".join(f"{r:.0f}" for r in rates) + f" | {records['read', size]['memory']:.1f} |")
    return rows


def replace_table(page, rows):
    lines = page.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("| text |"))
    end = next(i for i in range(start, len(lines)) if not lines[i].startswith("|"))
    page.write_text("\n".join(lines[:start] + rows + lines[end:]) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--largest", type=int, default=SIZES[-1])
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--write", type=pathlib.Path)
    arguments = parser.parse_args()
    records = measure(arguments.build / "bin/hlokit_text_benchmark", arguments.largest, arguments.seconds)
    sizes = [s for s in SIZES if s <= arguments.largest]
    rows = table(records, sizes)
    print("\n".join(rows))
    if arguments.write:
        replace_table(arguments.write, rows)
    rate = lambda what, size: records[what, size]["bytes_per_second"]
    slow = [c for c in COLUMNS if rate(c, sizes[-1]) * 3 < rate(c, min(1000, sizes[-1]))]
    for column in slow:
        print(f"{column} is not linear: a byte of {sizes[-1]} KB takes more than three times a byte of 1 MB")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
