#!/usr/bin/env python3
"""Kills processes (SIGKILL) while eight of them fill one cache of object code at a time: no damaged entry may ever be used,
later runs must be right, and what was left unfinished must go with the next run.

  cache_kills.py --bin build/release/bin [--rounds 3] [--processes 8] [--seed 0]

Exit status: 0 nothing found, 1 findings.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time

MODULE = """HloModule kills_{n}

sum {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }}

ENTRY e {{
  p = f32[{n},7]{{1,0}} parameter(0)
  zero = f32[] constant(0)
  t = f32[{n},7]{{1,0}} tanh(p)
  u = f32[{n},7]{{1,0}} multiply(t, p)
  ROOT r = f32[{n}]{{0}} reduce(u, zero), dimensions={{1}}, to_apply=sum
}}
"""
ENTRY = re.compile(r"[0-9a-f]{32}\.o$")
MAGIC = b"hlokit object "


class Trial:
    def __init__(self, options, folder):
        self.run_tool = os.path.join(os.path.abspath(options.bin), "hlo-run")
        self.options, self.folder = options, folder
        self.cache = os.path.join(folder, "cache")
        self.random = random.Random(options.seed)
        self.sizes = list(range(3, 3 + options.modules))
        for n in self.sizes:
            with open(os.path.join(folder, f"{n}.hlo"), "w") as file:
                file.write(MODULE.format(n=n))
        self.expected = {n: self.result(n, []) for n in self.sizes}

    def command(self, n, flags):
        return [self.run_tool, f"{n}.hlo", "--print-literals", "--threads=1", *flags]

    def result(self, n, flags):
        """The literals that a run prints; its times and its status otherwise."""
        done = subprocess.run(self.command(n, flags), cwd=self.folder, capture_output=True, text=True, timeout=120)
        if done.returncode != 0 or "warning" in done.stderr:
            return f"status {done.returncode}: {done.stderr}"
        return "\n".join(line for line in done.stdout.splitlines() if not line.startswith("parsed in"))

    def kill_round(self):
        """Eight processes at a time, each killed at some moment or left to end, each followed by another."""
        def start():
            n = self.random.choice(self.sizes)
            process = subprocess.Popen(self.command(n, [f"--cache-dir={self.cache}"]), cwd=self.folder,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return process, time.monotonic() + self.random.uniform(0.005, self.options.longest)

        running = [start() for _ in range(self.options.processes)]
        left = self.options.starts - len(running)
        killed = 0
        while running:
            time.sleep(0.002)
            for item in list(running):
                process, moment = item
                if process.poll() is None and time.monotonic() < moment:
                    continue
                if process.poll() is None:
                    process.kill()
                    killed += 1
                process.wait()
                running.remove(item)
                if left > 0:
                    running.append(start())
                    left -= 1
        return killed

    def files(self):
        return sorted(os.listdir(self.cache)) if os.path.isdir(self.cache) else []

    def damage_some(self):
        """As a machine that lost power leaves files: cut off, or zeros where bytes should be."""
        for name in self.files()[:2]:
            path = os.path.join(self.cache, name)
            size = os.path.getsize(path)
            with open(path, "r+b") as file:
                if self.random.random() < 0.5:
                    file.truncate(size // 2)
                else:
                    file.seek(size // 2)
                    file.write(bytes(min(64, size - size // 2)))

    def findings(self):
        found = []
        for n in self.sizes:
            if self.result(n, [f"--cache-dir={self.cache}"]) != self.expected[n]:
                found.append(f"{n}.hlo gives another result with the cache")
        for name in self.files():
            if not ENTRY.match(name):
                found.append(f"{name} was left in the cache")
                continue
            with open(os.path.join(self.cache, name), "rb") as file:
                if not file.read().startswith(MAGIC):
                    found.append(f"{name} is no entry")
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/release/bin", help="where hlo-run is")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--processes", type=int, default=8, help="at a time")
    parser.add_argument("--starts", type=int, default=40, help="processes of a round")
    parser.add_argument("--modules", type=int, default=6)
    parser.add_argument("--longest", type=float, default=0.5, help="seconds that a process lives, if it does not end before")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    killed, leftovers, found = 0, 0, []
    with tempfile.TemporaryDirectory(prefix="hlokit_kills_") as folder:
        trial = Trial(options, folder)
        for round_number in range(options.rounds):
            for name in trial.files():  # each round writes anew
                os.remove(os.path.join(trial.cache, name))
            killed += trial.kill_round()
            leftovers += sum(not ENTRY.match(name) for name in trial.files())
            if round_number % 2 == 1:
                trial.damage_some()
            found += trial.findings()
    for what in found:
        print(what)
    print(f"{options.rounds} rounds, {killed} processes killed, {leftovers} unfinished files, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
