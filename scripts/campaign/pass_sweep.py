#!/usr/bin/env python3
"""Every pass on awkward modules: none crashes, leaves an invalid module, changes values, or says falsely whether it changed.

pass_sweep.py --bin FOLDER --modules FOLDER [--passes A,B] [--before LIST]... [--part K/N]
Modules stand between `// -----` lines in FOLDER/*.hlo. They are evaluated on the interpreter before and after each pass, but
for those with a line `// values: no`, which it cannot evaluate. Each pass runs on them as they are, and after each LIST of
passes. --part takes each Nth of these pairs, beginning with the Kth. Exit status 1 where anything is wrong.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

BEFORE = ["", "layout-assignment", "fusion,dce", "call-inliner,flatten-call-graph", "hlo-trivial-scheduler"]
# Which may change values by purpose: they draw other numbers, round less, take loops or what orders effects away.
CHANGE_VALUES = {"rng-expander", "simplify-fp-conversions", "control-flow-flattening", "AssumeGatherIndicesInBoundRewriteToCopy",
                 "control-dep-remover", "despecializer"}
# Which refuse by purpose what they look for.
REFUSE = {"check-no-data-dependency-in-scheduling-annotations", "unstable-reduction-detector", "domain_verifier"}


def run(opt, path, passes, values, *flags):
    verify = "--verify-each=interp" if values else "--verify-each"
    return subprocess.run([opt, path, f"--passes={passes}", verify, "--reproducer=/dev/null", "-o", "/dev/null", *flags],
                          text=True, capture_output=True, timeout=600)


def fault(result, name):
    """What is wrong; empty: nothing. A pass may refuse a module that it has no meaning for."""
    if result.returncode == 0 and "warning: pass" not in result.stderr:
        return ""
    if result.returncode == 2 and (name in REFUSE or re.search(r"error: [^:]*\b" + re.escape(name) + r": ", result.stderr)):
        return ""
    return f"exit status {result.returncode}\n{result.stderr}"


class Sweep:
    def __init__(self, opt, folder, work):
        self.opt, self.work, self.found, self.runs = opt, work, 0, 0
        self.groups = {True: [], False: []}  # by whether there are values: (name, file) of each module
        for path in sorted(folder.glob("*.hlo")):
            for text in re.split(r"^// -----\n", path.read_text(), flags=re.M):
                name = re.search(r"HloModule (\w+)", text).group(1)
                alone = work / f"{path.stem}.{name}.hlo"
                alone.write_text(text)
                self.groups["// values: no\n" not in text].append((f"{path.name}: {name}", alone))
        self.together = {}
        for values, modules in self.groups.items():
            self.together[values] = work / f"all_{values}.hlo"
            self.together[values].write_text("// -----\n".join(alone.read_text() for _, alone in modules))

    def try_pair(self, before, name):
        passes = f"{before},{name}" if before else name
        for values, path in self.together.items():
            compare = values and name not in CHANGE_VALUES
            self.runs += 1
            if not fault(run(self.opt, path, passes, compare, "--split-input-file"), name):
                continue
            for module, alone in self.groups[values]:
                self.runs += 1
                if words := fault(run(self.opt, alone, passes, compare), name):
                    self.found += 1
                    print(f"{module}: --passes={passes}: {words}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--modules", type=pathlib.Path, required=True)
    parser.add_argument("--passes", default="")
    parser.add_argument("--before", action="append")
    parser.add_argument("--part", default="1/1")
    a = parser.parse_args()
    opt = a.bin / "hlo-opt"
    first, step = map(int, a.part.split("/"))
    listed = subprocess.run([opt, "--list-passes=names"], text=True, capture_output=True, check=True).stdout
    names = (a.passes or listed.strip()).split(",")
    pairs = [(before, name) for name in names for before in a.before or BEFORE]
    with tempfile.TemporaryDirectory() as work:
        sweep = Sweep(opt, a.modules, pathlib.Path(work))
        for before, name in pairs[first - 1::step]:
            sweep.try_pair(before, name)
        print(f"{len(pairs[first - 1::step])} lists of passes on {sum(map(len, sweep.groups.values()))} modules, "
              f"{sweep.runs} runs: {sweep.found} faults")
    return sweep.found > 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
