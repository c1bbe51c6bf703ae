#!/usr/bin/env python3
"""The arena of modules on the CPU against the peak of live bytes: memory_bound.py --bin BUILD/bin PATH... [--most 5].

PATHs are .hlo files or folders of them; NAME.opt.hlo is taken as it stands. Asks hlo-opt --stage=buffer-assignment for the peak of the
arena and for the bound that no packing can go below, and lists the modules whose arena of at least --least KiB is more than
--most percent above it. Exit status 1 where there are such, or where a module has no buffer assignment.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

FIGURES = re.compile(r"^arena: (\d+) bytes; peak of live bytes: (\d+) bytes", re.M)


def figures(hlo_opt, module):
    """(arena, bound) in bytes, or what went wrong."""
    command = [hlo_opt, "--platform=cpu", "--stage=buffer-assignment", module]
    if module.stem.endswith(".opt"):
        command.append("--passes=")
    environment = dict(os.environ, HLOKIT_ELIDED_CONSTANTS="xla")
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
    found = FIGURES.search(done.stdout)
    if done.returncode or not found:
        return (done.stderr.strip().splitlines() or ["nothing printed"])[0]
    return int(found.group(1)), int(found.group(2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="the build's bin folder")
    parser.add_argument("--most", type=float, default=5, help="percent")
    parser.add_argument("--least", type=float, default=32, help="KiB")
    args = parser.parse_args()
    modules = [m for p in args.paths for m in ([p] if p.is_file() else sorted(p.rglob("*.hlo")))]
    equal = above = failed = 0
    for module in modules:
        got = figures(args.bin / "hlo-opt", module)
        if isinstance(got, str):
            print(f"{module}: {got}", flush=True)
            failed += 1
            continue
        arena, bound = got
        equal += arena == bound
        if arena >= args.least * 1024 and arena > bound * (1 + args.most / 100):
            print(f"{module}: {arena} bytes for {bound}, {100 * (arena / bound - 1):.1f} % more", flush=True)
            above += 1
    print(f"{len(modules)} modules: {equal} at their bound, {above} of {args.least:g} KiB or more above it by over {args.most:g} %, {failed} failed")
    sys.exit(1 if above or failed or not modules else 0)


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
