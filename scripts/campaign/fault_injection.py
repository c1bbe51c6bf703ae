#!/usr/bin/env python3
"""Makes allocations and system calls of the tools fail, one a run, and holds the tools to their contract.

Each tool first runs undisturbed, and its calls are counted (testdata/faults/fail_call.cc). Then it runs again and again, and
each time another call fails: no memory, a full disk, an I/O error, no descriptor, no thread, an interrupted or short transfer.
The tool must end by itself, within --time-limit, with the status and everything that it writes undisturbed, or with 2 or 3 and a
message (one that speaks of memory, where memory was refused); files must be whole or missing, and nothing else may be left.

  fault_injection.py --bin build/release/bin                  a sample of each kind, as ctest runs it
  fault_injection.py --bin build/release/bin --places 8       one call of each place: 8 return addresses
  fault_injection.py --bin build/release/bin --samples 0      every call: hours
  fault_injection.py ... --only hlo-run --fault memory,4711,error   one of them again

Exit status: 0 nothing found; 1 findings, each printed with the command that repeats it; 2 bad usage.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

MODULE = """HloModule faults, input_output_alias={}

sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }

less { i = s32[] parameter(0)  n = s32[] constant(3)  ROOT c = pred[] compare(i, n), direction=LT }

next { i = s32[] parameter(0)  one = s32[] constant(1)  ROOT n = s32[] add(i, one) }

ENTRY e {
  p = f32[33,17]{1,0} parameter(0)
  q = f32[17,9]{1,0} parameter(1)
  zero = f32[] constant(0)
  d = f32[33,9]{1,0} dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[33,9]{1,0} tanh(d)
  r = f32[33]{0} reduce(t, zero), dimensions={1}, to_apply=sum
  s = f32[33]{0} sort(r), dimensions={0}, to_apply=order
  start = s32[] constant(0)
  w = s32[] while(start), condition=less, body=next
  ROOT out = (f32[33,9]{1,0}, f32[33]{0}, s32[]) tuple(t, s, w)
}
"""
ORDER = "order { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT }\n\n"
MODULE = MODULE.replace("ENTRY", ORDER + "ENTRY")

# Tool and flags, and the files that it writes; {json} files hold times and need only be whole.
COMMANDS = {
    "hlo-run": (["hlo-run", "m.hlo", "--threads=2", "--output=out.npz", "--json=out.json"], ["out.npz", "out.json"]),
    "hlo-run-cache": (["hlo-run", "m.hlo", "--threads=2", "--print-literals", "--cache-dir=cache"], []),
    "hlo-run-interpreter": (["hlo-run", "m.hlo", "--platform=interpreter", "--output=out.txt"], ["out.txt"]),
    "hlo-opt": (["hlo-opt", "m.hlo", "--pipeline=cpu", "-o", "out.hlo"], ["out.hlo"]),
    "hlo-opt-stdout": (["hlo-opt", "m.hlo", "--passes=algsimp,dce"], []),
    "hlo-opt-proto": (["hlo-opt", "m.hlo", "--emit-proto", "-o", "out.pb"], ["out.pb"]),
    "hlo-opt-asm": (["hlo-opt", "m.hlo", "--stage=asm", "-o", "out.s"], ["out.s"]),
    "hlo-viz": (["hlo-viz", "m.hlo", "-o", "out.html"], ["out.html"]),
    "hlo-viz-dot": (["hlo-viz", "m.hlo", "-o", "out.dot"], ["out.dot"]),
    "hlo-viz-svg": (["hlo-viz", "m.hlo", "-o", "out.svg"], ["out.svg"]),
    "hlo-aot": (["hlo-aot", "m.hlo", "--name=f", "-o", "out.o", "--header=out.h"], ["out.o", "out.h"]),
    "hlo-diff": (["hlo-diff", "m.hlo", "other.hlo"], []),
    "hlo-cost": (["hlo-cost", "m.hlo"], []),
    "hlo-gen": (["hlo-gen", "--seed=3", "-o", "."], ["random_3.hlo"]),
}
# Drawn by Graphviz, Pango and the libraries below them, which crash where memory runs out, and may wait for ever where it
# stays so.
DRAWN = {"hlo-viz-svg"}
INPUTS = {"m.hlo": MODULE, "other.hlo": MODULE.replace("tanh", "negate")}
MODES = {"memory": ["error", "onward"], "map": ["error", "onward"], "file": ["error", "onward", "eintr", "short"],
         "thread": ["error", "onward"]}
CACHE_ENTRY = re.compile(r"[0-9a-f]{32}\.o$")
# The last is what glibc says where it cannot load the library that unwinds.
MEMORY = re.compile(r"out of memory|cannot allocate memory|bad_alloc|libgcc_s.so.1 must be installed", re.I)

Outcome = collections.namedtuple("Outcome", "status out err files log seconds")


class Runner:
    def __init__(self, options):
        self.bin, self.shim = os.path.abspath(options.bin), os.path.abspath(options.shim)
        self.limit, self.depth = options.time_limit, options.places

    def run(self, name, fault=None):
        """Runs a command in a folder of its own; with `fault` (GROUP,N,MODE) one call fails."""
        command, _ = COMMANDS[name]
        folder = tempfile.mkdtemp(prefix="hlokit_faults_")
        try:
            for file, text in INPUTS.items():
                with open(os.path.join(folder, file), "w") as out:
                    out.write(text)
            os.mkdir(os.path.join(folder, "tmp"))
            log = os.path.join(folder, "fault.log")
            env = dict(os.environ, LD_PRELOAD=self.shim, HLOKIT_FAULT_LOG=log, TMPDIR=os.path.join(folder, "tmp"),
                       HLOKIT_FAULT_DEPTH=str(self.depth))
            if fault:
                env["HLOKIT_FAULT"] = fault
            start = time.monotonic()
            try:
                done = subprocess.run([os.path.join(self.bin, command[0]), *command[1:]], cwd=folder, env=env,
                                      stdin=subprocess.DEVNULL, capture_output=True, timeout=self.limit)
                status, out, err = done.returncode, done.stdout, done.stderr.decode(errors="replace")
            except subprocess.TimeoutExpired:
                status, out, err = None, b"", ""
            return Outcome(status, out, err, contents(folder), read(log), time.monotonic() - start)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def read(path):
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def contents(folder):
    """What a run left, by path; inputs and the log left out."""
    files = {}
    for here, _, names in os.walk(folder):
        for name in names:
            path = os.path.relpath(os.path.join(here, name), folder)
            if path not in INPUTS and path != "fault.log":
                with open(os.path.join(here, name), "rb") as file:
                    files[path] = file.read()
    return files


def wrong_files(name, outcome, expected, nothing_works):
    _, outputs = COMMANDS[name]
    for path, data in outcome.files.items():
        if nothing_works and (".tmp" in path or path.startswith("tmp/")):  # nor could it be deleted
            continue
        if path.startswith("cache/"):
            if not CACHE_ENTRY.search(path):
                return f"{path} was left"
            if data != expected.files.get(path):
                return f"{path} is damaged"
        elif path not in outputs:
            return f"{path} was left"
        elif path.endswith(".json"):
            try:
                json.loads(data)
            except ValueError:
                return f"{path} is a part"
        elif data != expected.files[path]:
            return f"{path} is not what it is undisturbed ({len(data)} of {len(expected.files[path])} bytes)"
    missing = [path for path in outputs if path not in outcome.files]
    return f"status {outcome.status} without {missing[0]}" if outcome.status == expected.status and missing else None


def wrong(name, fault, outcome, expected):
    """What the tool did that it must not do; None where nothing."""
    if outcome.status is None:
        return "no end"
    done = outcome.status == expected.status  # 0, or 1 of hlo-diff
    if not done and outcome.status not in (2, 3):
        return f"status {outcome.status}"
    group, _, mode = fault.split(",")
    if mode in ("eintr", "short") and not done:
        return f"status {outcome.status} for a transfer to be gone on with"
    # From here on nothing can be written, standard error included.
    nothing_works = group == "file" and mode == "onward"
    if not done and not outcome.err.strip() and not nothing_works and " from" in outcome.log:
        if "fired write" not in outcome.log:
            return f"status {outcome.status} without a message"
    if not done and group == "memory" and name not in DRAWN and not MEMORY.search(outcome.err):
        return f"status {outcome.status}, and the message does not speak of memory"
    if done and expected.out is not None and outcome.out != expected.out:
        return f"status {outcome.status}, but another text on standard output"
    return wrong_files(name, outcome, expected, nothing_works)


def undisturbed(runner, name):
    """What the command does when nothing fails; texts that are never twice the same count as None."""
    first, second = runner.run(name), runner.run(name)
    if first.status not in (0, 1) or " error: " in first.err:
        sys.exit(f"{name} fails undisturbed: status {first.status}: {first.err}")
    return first._replace(out=first.out if first.out == second.out else None)


def numbers(log, group, options, choose):
    """Which calls of a group fail, each in a run of its own."""
    if options.places:
        return [int(n) for n in re.findall(rf"^site {group} (\d+)$", log, re.M)]
    count = int(re.search(rf"^count {group} (\d+)$", log, re.M).group(1))
    if options.samples == 0 or count <= options.samples:
        return list(range(1, count + 1))
    return sorted(choose.sample(range(1, count + 1), options.samples))


def attempts(runner, options):
    """(command, fault, what the command does undisturbed) of every run to be made."""
    choose = random.Random(options.seed)
    made = []
    for name in COMMANDS:
        if not re.search(options.only, name) or not os.path.exists(os.path.join(runner.bin, COMMANDS[name][0][0])):
            continue
        expected = undisturbed(runner, name)
        faults = [f"{group},{n},{mode}" for group, modes in MODES.items() for mode in modes
                  if name not in DRAWN or mode != "onward" for n in numbers(expected.log, group, options, choose)]
        made += [(name, fault, expected) for fault in ([options.fault] if options.fault else faults)]
    if options.order == "random":
        choose.shuffle(made)
    return made


def command_again(runner, name, fault):
    return f"HLOKIT_FAULT={fault} LD_PRELOAD={runner.shim} {runner.bin}/{' '.join(COMMANDS[name][0])}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/release/bin", help="where the tools are")
    parser.add_argument("--shim", help="libhlokit_fail_call.so; in --bin/../lib")
    parser.add_argument("--samples", type=int, default=4, help="calls tried of each group and mode; 0: all")
    parser.add_argument("--places", type=int, default=0, metavar="D",
                        help="try one call of each place instead: of each D innermost return addresses")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--only", default="", metavar="REGEX", help="commands of these names")
    parser.add_argument("--fault", help="GROUP,N,MODE: just this one")
    parser.add_argument("--seconds", type=float, default=0, help="stop after so long; 0: never")
    parser.add_argument("--order", choices=["given", "random"], default="given")
    parser.add_argument("--time-limit", type=float, default=60, help="seconds of one run")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", help="write counts and findings")
    options = parser.parse_args()
    options.shim = options.shim or os.path.join(options.bin, "..", "lib", "libhlokit_fail_call.so")
    if not os.path.exists(options.shim):
        parser.error(f"{options.shim} is missing: build hlokit_fail_call")
    runner = Runner(options)
    todo = attempts(runner, options)
    runner.depth = 0
    end = time.monotonic() + options.seconds if options.seconds else float("inf")
    tally, findings = collections.Counter(), []

    def attempt(name, fault, expected):
        return None if time.monotonic() > end else runner.run(name, fault)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (name, fault, expected), outcome in zip(todo, pool.map(lambda t: attempt(*t), todo)):
            if outcome is None:
                tally["not tried"] += 1
                continue
            tally["runs"] += 1
            tally[f"status {outcome.status}"] += 1
            what = wrong(name, fault, outcome, expected)
            if what:
                fired = " ".join(re.findall(r"^fired (.*)$", outcome.log, re.M))
                findings.append({"command": name, "fault": fault, "what": what, "fired": fired,
                                 "stderr": outcome.err[:500], "repeat": command_again(runner, name, fault)})
                print(f"{name} --fault {fault} ({fired}): {what}\n  {outcome.err[:300].strip()}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in sorted(tally.items())), f", {len(findings)} findings", sep="")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"runs": tally["runs"], "tally": tally, "findings": findings}, file, indent=1)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
