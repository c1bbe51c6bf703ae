#!/usr/bin/env python3
"""Runs the tools while their clocks jump back and forth (testdata/faults/step_clock.cc): each must end in good time, with the
results it has otherwise, and no time that it tells may be negative or lost.

  clock_steps.py --bin build/release/bin

Exit status: 0 nothing found, 1 findings, 2 bad usage.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

MODULE = """HloModule clocks

ENTRY e {
  p = f32[40,30]{1,0} parameter(0)
  q = f32[30,20]{1,0} parameter(1)
  d = f32[40,20]{1,0} dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = f32[40,20]{1,0} tanh(d)
}
"""
ENDLESS = """HloModule endless

yes { p = s32[] parameter(0)  ROOT c = pred[] constant(true) }

next { i = s32[] parameter(0)  one = s32[] constant(1)  ROOT n = s32[] add(i, one) }

ENTRY e {
  i = s32[] constant(0)
  ROOT w = s32[] while(i), condition=yes, body=next
}
"""
# Flags, and the status that they end with.
COMMANDS = [
    (["hlo-run", "m.hlo", "--json=out.json", "--time-passes", "--print-literals"], 0),
    (["hlo-run", "m.hlo", "--json=out.json", "--min-seconds=0.2", "--iterations=3"], 0),
    (["hlo-run", "m.hlo", "--json=out.json", "--profile", "--iterations=5"], 0),
    (["hlo-run", "m.hlo", "--profile=out.json", "--iterations=5"], 0),
    (["hlo-run", "m.hlo", "--time-limit=50", "--reference-platform=interpreter", "--rel-error=1e-4"], 0),
    (["hlo-run", "endless.hlo", "--time-limit=1"], 2),
    (["hlo-run", "endless.hlo", "--platform=interpreter", "--time-limit=1"], 2),
    (["hlo-run", "endless.hlo", "--max-steps=100000"], 2),
    (["hlo-opt", "m.hlo", "--pipeline=cpu", "--time-passes", "--json=out.json"], 0),
    (["hlo-opt", "m.hlo", "--pipeline=cpu", "--verify-each=interp"], 0),
    (["hlo-reduce", "m.hlo", "--run=grep -q tanh {}", "--exit=0", "--time-limit=50", "-o", "out.hlo"], 0),
]
STEPS = ["wall", "all", "back"]
LIMIT = 60  # seconds of a run that takes less than three


def numbers_below_zero(value):
    if isinstance(value, dict):
        return [f"{key}: {found}" for key, item in value.items() for found in numbers_below_zero(item)]
    if isinstance(value, list):
        return [found for item in value for found in numbers_below_zero(item)]
    return [str(value)] if isinstance(value, (int, float)) and value < 0 else []


def wrong(command, status, options, steps):
    """What is wrong with a run under jumping clocks; None where nothing is."""
    with tempfile.TemporaryDirectory(prefix="hlokit_clocks_") as folder:
        for name, text in (("m.hlo", MODULE), ("endless.hlo", ENDLESS)):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        env = dict(os.environ, LD_PRELOAD=os.path.abspath(options.shim), HLOKIT_CLOCK_STEPS=steps)
        try:
            done = subprocess.run([os.path.join(os.path.abspath(options.bin), command[0]), *command[1:]], cwd=folder, env=env,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, text=True)
        except subprocess.TimeoutExpired:
            return f"no end within {LIMIT} s"
        # A leap forward is time that has gone by, for limits too.
        if steps == "all" and done.returncode == 2 and "more than 60 s" in done.stderr:
            return None
        if done.returncode != status:
            return f"status {done.returncode}: {done.stderr[:300]}"
        negative = re.search(r"(?<![\w.])-\d[\d.]* *(ms|s|us|GFLOP/s|GB/s)\b", done.stdout + done.stderr)
        if negative:
            return f"a negative time: {negative.group(0)}"
        path = os.path.join(folder, "out.json")
        if os.path.exists(path):
            with open(path) as file:
                below = numbers_below_zero(json.load(file))
            if below:
                return f"negative numbers: {', '.join(below[:5])}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/release/bin", help="where the tools are")
    parser.add_argument("--shim", help="libhlokit_step_clock.so; in --bin/../lib")
    options = parser.parse_args()
    options.shim = options.shim or os.path.join(options.bin, "..", "lib", "libhlokit_step_clock.so")
    if not os.path.exists(options.shim):
        parser.error(f"{options.shim} is missing: build hlokit_step_clock")
    findings = 0
    for command, status in COMMANDS:
        for steps in STEPS:
            what = wrong(command, status, options, steps)
            if what:
                findings += 1
                print(f"HLOKIT_CLOCK_STEPS={steps} {' '.join(command)}: {what}", flush=True)
    print(f"{len(COMMANDS) * len(STEPS)} runs, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
