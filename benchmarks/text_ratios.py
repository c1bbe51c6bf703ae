"""Reading and printing beside XLA, and the memory of modules, as a Markdown table.

text_ratios.py MODULE... --bin BUILD/bin [--rounds N] [--write PAGE]: run it with a Python that has jaxlib. The two take turns,
round by round; a figure is the best of all rounds, in processor time: XLA's of one process that is warm, hlokit's of hlo-opt in
a new process for each reading. Memory, where hlokit_text_benchmark is built: what a process that holds many copies of the
module grows by, for each byte of text. --write puts the table in place of that in the page. Exit status 1 where reading is below 5 times XLA's speed, printing below 2 times, or memory above 4.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
from jaxlib import _hlo  # noqa: E402

HEADER = "| module | KB | reading | printing | memory |"
BARS = (5, 2, 4)


def taken(function):
    start = time.thread_time()
    result = function()
    return time.thread_time() - start, result


def xla(text):
    """(seconds to read, seconds to print)"""
    read, module = taken(lambda: _hlo.hlo_module_from_text(text))
    return read, taken(module.to_string)[0]


def ours(program, path):
    with tempfile.TemporaryDirectory() as folder:
        json_path = pathlib.Path(folder) / "times.json"
        subprocess.run([program, path, "--no-verify", "-o", f"{folder}/out.hlo", "--json", json_path], check=True)
        times = json.loads(json_path.read_text())
        return times["load_cpu_s"], times["print_cpu_s"]


def memory(program, path):
    """Bytes for each byte of text, or None."""
    if not program.exists():
        return None
    run = subprocess.run([program, path, "--benchmark_filter=^memory/", "--benchmark_format=json"], capture_output=True,
                         text=True, check=True)
    return json.loads(run.stdout)["benchmarks"][0]["resident"]


def measure(path, bin_folder, rounds):
    text = path.read_text()
    best = [float("inf")] * 4
    for _ in range(rounds):
        for _ in range(3):
            best = list(map(min, best, xla(text) + ours(bin_folder / "hlo-opt", path)))
    return best[0] / best[2], best[1] / best[3], memory(bin_folder / "hlokit_text_benchmark", path), len(text)


def replace_table(page, rows):
    lines = page.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(HEADER))
    end = next(i for i in range(start, len(lines)) if not lines[i].startswith("|"))
    page.write_text("\n".join(lines[:start] + rows + lines[end:]) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="+", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--write", type=pathlib.Path)
    arguments = parser.parse_args()
    rows, missed = [HEADER, "|---|---|---|---|---|"], []
    for path in arguments.modules:
        reading, printing, resident, size = measure(path, arguments.bin, arguments.rounds)
        name = re.sub(r"^hlo_", "", path.name.split(".")[0])
        kept = "" if resident is None else f"{resident:.1f}"
        rows.append(f"| {name} | {size // 1000} | {reading:.1f} | {printing:.1f} | {kept} |")
        print(rows[-1], flush=True)
        if reading < BARS[0] or printing < BARS[1] or (resident or 0) > BARS[2]:
            missed.append(name)
    if arguments.write:
        replace_table(arguments.write, rows)
    if missed:
        print("short of a bar:", ", ".join(missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
