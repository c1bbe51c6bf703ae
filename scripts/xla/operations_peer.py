#!/usr/bin/env python3
"""Holds hlokit to the real XLA of jaxlib, operation by operation. Skipped (77) where what a subcommand needs is missing.

  operations_peer.py infer   --bin DIR [--first N] [--count N]  random operations (random_operations.py) whose result's shape
                                                                is left out: what each reader infers, or refuses
  operations_peer.py values  --bin DIR [--first N] [--count N]  random static operations on random inputs, on both platforms
  operations_peer.py rare    --bin DIR [--first N] [--count N]  operations with all their attributes (rare_operations.py), on numbers
                                                                and on any bits: text, and results on both platforms
  operations_peer.py types   --bin DIR                          conversions between all pairs of types; integer and small-float
                                                                arithmetic on all values of types up to 8 bits, samples of others
  operations_peer.py dots    --bin DIR                          the type of a product without one, for all pairs of types
  operations_peer.py dynamic --bin DIR [NAME...]                each operation on an array whose size only the run knows: the
                                                                interpreter's value is that of an array of just that size, and
                                                                the CPU agrees (needs numpy only)
  operations_peer.py sizes   --bin DIR [NAME...]                each operation over dynamic dimensions (dynamic_cases.py): one, two
                                                                and all of them, sizes 0, 1, the bound, unequal ones

XLA reads without verifying, and its CPU differs on purpose (docs/differences.md): ALLOWED, here and in peer_values.py,
names such differences. Exit status: 0 none but those, 1 others, 77 skipped.
"""
import argparse
import bisect
import collections
import os
import re
import subprocess
import sys
import tempfile

import random_operations
import xla_peer

# Refusals of ours by label, where XLA's reader takes what its verifier, or the seeds' rules, refuse.
ALLOWED = re.compile(
    r"\[(add-dependency-c1|pad-c2|after-all-c1|shift-(left|right-logical|right-arithmetic)-c2|sort-c3|fft-c[34]|topk-c2"
    r"|[a-z-]+-c4)\]$"  # c4 of elementwise operations: the dimensions are the same
    r"|complex numbers have no order|expects pred or real numbers|expects integers or floats|operands differ in (type|dimensions)"
    r"|batch-norm-[a-z]+: operand \d is ")
UNKNOWN = "dimension of unknown size"  # XLA infers `?`, which cannot be compiled; hlokit asks for a shape
SECONDS = 30  # of the real XLA for one question, under load


def judge(hlo, text):
    """(accepted, the root's line or the refusal)."""
    try:
        lines = hlo.hlo_module_from_text(text).to_string().splitlines()
        return True, next(line for line in lines if "ROOT %result" in line)
    except Exception as error:  # of several types
        found = re.search(r"error: (.*)", str(error))
        return False, found.group(1) if found else str(error)[:200]


class Tool:
    """Our programs, and a folder for their files."""

    def __init__(self, folder):
        self.folder, self.files = folder, tempfile.TemporaryDirectory()

    def path(self, name):
        return os.path.join(self.files.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def call(self, program, *arguments):
        return subprocess.run([os.path.join(self.folder, program), *arguments], capture_output=True, text=True)

    def roots(self, texts, *flags):
        """What judge() says of XLA, of hlo-opt for each text."""
        path = self.write("all.hlo", "// -----\n".join(texts))
        starts, line = [], 1
        for text in texts:
            starts.append(line)
            line += text.count("\n") + 1
        answers = {}
        for at, message in re.findall(r"^" + re.escape(path) + r":(\d+):\d+: error: (.*)$",
                                      self.call("hlo-opt", "--split-input-file", *flags, path).stderr, re.M):
            answers.setdefault(bisect.bisect_right(starts, int(at)) - 1, (False, message))
        good = [i for i in range(len(texts)) if i not in answers]
        path = self.write("good.hlo", "// -----\n".join(texts[i] for i in good))
        ended = self.call("hlo-opt", "--split-input-file", *flags, path)
        roots = [line for line in ended.stdout.splitlines() if "ROOT %result" in line]
        if len(roots) != len(good):
            raise RuntimeError(f"{len(roots)} results of {len(good)} modules: {ended.stderr[:500]}")
        answers.update(zip(good, ((True, root) for root in roots)))
        return [answers[i] for i in range(len(texts))]

    def run(self, text, inputs, *flags):
        """The results as numpy arrays, or the first line of the refusal."""
        import numpy
        numpy.savez(self.path("in.npz"), **{f"in{i}": raw(x) for i, x in enumerate(inputs)})
        ended = self.call("hlo-run", self.write("run.hlo", text), "--input", self.path("in.npz"),
                          "--output", self.path("out.npz"), *flags)
        if ended.returncode:
            return (ended.stderr.splitlines() or [f"status {ended.returncode}"])[0].split("error: ")[-1]
        with numpy.load(self.path("out.npz")) as file:
            return [file[f"out{i}"] for i in range(sum(name.startswith("out") for name in file.files))]


def raw(array):
    """As hlo-run takes it: types that numpy lacks as their bits."""
    import numpy
    array = numpy.asarray(array)
    if array.dtype.isbuiltin:
        return array
    return array.view({1: numpy.uint8, 2: numpy.uint16}[array.dtype.itemsize])


class Findings:
    """Counts of what was compared; prints one example of each kind of difference."""

    def __init__(self):
        self.counts, self.kinds = collections.Counter(), collections.Counter()

    def note(self, what, kind=None, example=None):
        self.counts[what] += 1
        if kind is None:
            return
        self.kinds[kind] += 1
        if self.kinds[kind] == 1:
            print(f"{kind}\n{example}\n", flush=True)

    def finish(self):
        for kind, count in self.kinds.most_common():
            print(f"{count}x {kind}")
        print(", ".join(f"{count} {what}" for what, count in sorted(self.counts.items())))
        return 1 if self.kinds else 0


def asked(peer, text):
    peer.ask(text)
    answer = peer.answer(SECONDS)
    return (False, answer) if isinstance(answer, str) else answer


def infer(options):
    peer, tool, findings = xla_peer.Peer(judge), Tool(options.bin), Findings()
    for start in range(options.first, options.first + options.count, 200):
        seeds = range(start, min(start + 200, options.first + options.count))
        texts = [random_operations.operation(seed).text() for seed in seeds]
        for seed, text, ours in zip(seeds, texts, tool.roots(texts)):
            compare_inference(findings, seed, text, asked(peer, text), ours)
    return findings.finish()


def compare_inference(findings, seed, text, theirs, ours):
    if "cannot infer shape for opcode" in theirs[1] or UNKNOWN in ours[1]:
        return findings.note("without an inferred shape")
    if theirs[1] in ("aborts", "hangs"):
        return findings.note("XLA " + theirs[1])
    if theirs == ours or not theirs[0] and not ours[0]:
        return findings.note("alike" if ours[0] else "refused by both")
    if theirs[0] and not ours[0] and ALLOWED.search(ours[1]):
        return findings.note("refused by the seeds' rules")
    kind = "inferred differently" if ours[0] and theirs[0] else "refused by XLA alone" if ours[0] else "refused by us alone"
    refusal = "" if ours[0] and theirs[0] else re.sub(r"[\d<=,?\[\]]+", "#", (theirs if ours[0] else ours)[1])
    return findings.note("different", f"{kind} {refusal}", f"seed {seed}\n  XLA  {theirs[1]}\n  ours {ours[1]}\n{text}")


def dots(options):
    peer, tool, findings = xla_peer.Peer(judge), Tool(options.bin), Findings()
    types = ("pred s1 s2 s4 s8 s16 s32 s64 u1 u2 u4 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128 f8e5m2 f8e4m3 f8e4m3fn f8e4m3b11fnuz "
             "f8e3m4 f8e5m2fnuz f8e4m3fnuz f4e2m1fn f8e8m0fnu").split()
    attributes = ", lhs_contracting_dims={0}, rhs_contracting_dims={0}"
    texts = [random_operations.Operation("dot", [f"{a}[2]", f"{b}[2]"], attributes).text() for a in types for b in types]
    for text, ours in zip(texts, tool.roots(texts, "--no-verify")):
        compare_inference(findings, 0, text, asked(peer, text), ours)
    return findings.finish()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["infer", "values", "rare", "types", "dots", "dynamic", "sizes"])
    parser.add_argument("--bin", required=True, help="folder of the programs")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--count", type=int, default=2000, help="how many seeds")
    parser.add_argument("names", nargs="*", help="of dynamic and sizes: only these operations")
    options = parser.parse_intermixed_args()
    try:
        import numpy  # noqa: F401
        if options.command != "dynamic":
            import ml_dtypes  # noqa: F401
            from jaxlib import _hlo  # noqa: F401; here already, since each peer is a fork of this process
    except ImportError as error:
        print(f"skipped: {error}")
        return xla_peer.SKIPPED
    if options.command == "dynamic":
        import dynamic_twins
        return dynamic_twins.compare(Tool(options.bin), Findings(), options.names)
    if options.command == "sizes":
        import peer_dynamic
        return peer_dynamic.sizes(options, Tool(options.bin), Findings())
    if options.command == "rare":
        import peer_rare
        return peer_rare.rare(options, Tool(options.bin), Findings())
    if options.command in ("values", "types"):
        import peer_values
        return getattr(peer_values, options.command)(options, Tool(options.bin), Findings())
    return {"infer": infer, "dots": dots}[options.command](options)


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
