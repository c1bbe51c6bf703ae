"""Prints how the time of passes grows with the number of instructions, as a Markdown table of ns an instruction.

pass_growth.py --bin BUILD/bin [--passes dce,algsimp,cse,tuple-simplifier | all] [--counts 10000,100000,1000000]
Processor time of the passes alone, as hlo-opt --json tells it. Level columns are linear; caches that no longer hold the module
raise the last by two to three times. Kinds of modules: `mixed`, chains that each pass finds work in; `dead`, nothing of which is used; `shared`, readers
of one value; `equal`, the same instruction over and over; `tuple`, one tuple of all; `wide`, one concatenation of all;
`calls`, `fusions`, `loops`, computations of a few instructions each; `collectives`, independent reductions and permutations. Exit status 1 where the time grows nearly as the square: an instruction of the
largest is more than half as many times dearer as there are more of them.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

COUNTS = [10_000, 100_000, 1_000_000]
HEAD = "ENTRY e {\n  p = f32[8] parameter(0)\n  q = f32[8] parameter(1)\n  one = f32[] constant(1)\n  ones = f32[8] broadcast(one), dimensions={}\n"


def mixed(count):
    lines, last, other = [HEAD], "p", "q"
    for k in range(0, count, 8):
        lines.append(f"  a_{k} = f32[8] add({last}, q)\n  b_{k} = f32[8] multiply(a_{k}, ones)\n  dead{k} = f32[8] cosine(b_{k})\n"
                     f"  c_{k} = f32[8] negate(b_{k})\n  d_{k} = f32[8] negate(b_{k})\n  e_{k} = f32[8] subtract(c_{k}, {other})\n"
                     f"  f_{k} = f32[2,4] reshape(e_{k})\n  g_{k} = f32[8] reshape(f_{k})\n")
        last, other = f"g_{k}", f"d_{k}"
    return "".join(lines) + f"  ROOT root = f32[8] add({last}, p)\n}}\n"


def dead(count):
    body = "".join(f"  v{k + 1} = f32[8] sine(v{k})\n" for k in range(count))
    return HEAD + "  v0 = f32[8] cosine(p)\n" + body + "  ROOT root = f32[8] add(p, q)\n}\n"


def shared(count):
    body = "".join(f"  v{k + 1} = f32[8] atan2(v{k}, q)\n" for k in range(count))
    return HEAD + "  v0 = f32[8] cosine(p)\n" + body + f"  ROOT root = f32[8] add(v{count}, q)\n}}\n"


def equal(count):
    body = "".join(f"  v{k} = f32[8] sine(p)\n" for k in range(count - 1))
    types, values = ", ".join(["f32[8]"] * 10), ", ".join(f"v{k}" for k in range(10))
    return HEAD + body + f"  ROOT root = ({types}) tuple({values})\n}}\n"


def tuple_of_all(count):
    half = count // 3
    body = "".join(f"  v{k} = f32[8] sine(p)\n  w{k} = f32[8] multiply(v{k}, ones)\n" for k in range(half))
    body += "  t = (" + ", ".join(["f32[8]"] * half) + ") tuple(" + ", ".join(f"w{k}" for k in range(half)) + ")\n"
    body += "".join(f"  g{k} = f32[8] get-tuple-element(t), index={k}\n" for k in range(half))
    return HEAD + body + f"  ROOT root = f32[8] add(g0, g{half - 1})\n}}\n"


def calls(count):
    made, entry = [], [HEAD, "  v0 = f32[8] sine(p)\n"]
    for k in range(count // 12):
        body = "".join(f"  x{n + 1} = f32[8] {'sine' if n % 2 else 'negate'}(x{n})\n" for n in range(9))
        made.append(f"c{k}_ {{\n  x0 = f32[8] parameter(0)\n{body}  ROOT x = f32[8] negate(x9)\n}}\n")
        entry.append(f"  v{k + 1} = f32[8] call(v{k}), to_apply=c{k}_\n")
    return "".join(made) + "".join(entry) + f"  ROOT root = f32[8] add(v{count // 12}, q)\n}}\n"


def fusions(count):
    made, entry = [], [HEAD, "  v0 = f32[8] sine(p)\n"]
    for k in range(count // 6):
        made.append(f"f{k}_ {{\n  x0 = f32[8] parameter(0)\n  x1 = f32[8] parameter(1)\n  x2 = f32[8] sine(x0)\n"
                    f"  ROOT x = f32[8] add(x1, x2)\n}}\n")
        entry.append(f"  v{k + 1} = f32[8] fusion(v{k}, q), kind=kLoop, calls=f{k}_\n")
    return "".join(made) + "".join(entry) + f"  ROOT root = f32[8] add(v{count // 6}, q)\n}}\n"


def loops(count):
    made, entry, state = [], [HEAD, "  zero = s32[] constant(0)\n  v0 = f32[8] sine(p)\n"], "(s32[], f32[8])"
    for k in range(count // 14):
        made.append(f"c{k}_ {{\n  t = {state} parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n  n = s32[] constant(3)\n"
                    f"  ROOT r = pred[] compare(i, n), direction=LT\n}}\n"
                    f"b{k}_ {{\n  t = {state} parameter(0)\n  i = s32[] get-tuple-element(t), index=0\n"
                    f"  x = f32[8] get-tuple-element(t), index=1\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n"
                    f"  y = f32[8] sine(x)\n  ROOT r = {state} tuple(j, y)\n}}\n")
        entry.append(f"  t{k} = {state} tuple(zero, v{k})\n  w{k} = {state} while(t{k}), condition=c{k}_, body=b{k}_\n"
                     f"  v{k + 1} = f32[8] get-tuple-element(w{k}), index=1\n")
    return "".join(made) + "".join(entry) + f"  ROOT root = f32[8] add(v{count // 14}, q)\n}}\n"


def wide(count):
    half = count // 2
    body = "".join(f"  v{k} = f32[8] sine({'pq'[k % 2]})\n  w{k} = f32[8] multiply(v{k}, ones)\n" for k in range(half))
    return HEAD + body + f"  ROOT root = f32[{8 * half}] concatenate(" + ", ".join(f"w{k}" for k in range(half)) + "), dimensions={0}\n}\n"


def collectives(count):
    add = "add_ {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] add(a, b)\n}\n"
    body = "".join(f"  v{k + 1} = f32[8] sine(v{k})\n  r{k} = f32[8] all-reduce(v{k}), replica_groups={{}}, to_apply=add_\n"
                   f"  z{k} = f32[8] collective-permute(r{k}), source_target_pairs={{{{0,0}}}}\n" for k in range(count // 3))
    half = count // 3
    return (add + HEAD + "  v0 = f32[8] cosine(p)\n" + body + "  ROOT root = (" + ", ".join(["f32[8]"] * half) + ") tuple("
            + ", ".join(f"z{k}" for k in range(half)) + ")\n}\n")


KINDS = [("mixed", mixed), ("dead", dead), ("shared", shared), ("equal", equal), ("tuple", tuple_of_all), ("calls", calls),
         ("fusions", fusions), ("loops", loops), ("wide", wide), ("collectives", collectives)]


def seconds(program, module, passes, limit):
    """{pass: seconds of processor time}; infinite where it takes longer than the limit or fails."""
    report = module.with_suffix(".json")
    found = {}
    for name in passes:  # each on the module as it stands
        try:
            which = name if name.startswith("--pipeline") else f"--passes={name}"
            subprocess.run([program, module, which, "--no-verify", "-o", "/dev/null", "--json", report],
                           check=True, capture_output=True, timeout=limit)
        except subprocess.TimeoutExpired:
            found[name] = math.inf
            continue
        except subprocess.CalledProcessError as error:
            print(f"{name}: {error.stderr.decode()[:300]}", file=sys.stderr)
            continue
        found[name] = sum(run["processor_s"] for run in json.loads(report.read_text())["passes"])
    return found


def every_pass(program):
    """The names that --list-passes=help gives, pipelines too, without options' lines."""
    lines = subprocess.run([program, "--list-passes=help"], check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.split("\t")[0] for line in lines if "\t" in line and not line.startswith(" ")]


def grows(values, counts, factor):
    """Whether time an instruction rises faster than a few caches that are missed explain, and to what one notices."""
    return len(values) > 1 and values[-1] > factor * values[-2] and values[-1] * counts[-1] > 5e7


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--passes", default="dce,algsimp,cse,tuple-simplifier", help="names, or `all`: only what grows is printed")
    parser.add_argument("--counts", default=",".join(map(str, COUNTS)))
    parser.add_argument("--kinds", default=",".join(name for name, _ in KINDS))
    parser.add_argument("--limit", type=float, default=600, help="seconds a run")
    a = parser.parse_args()
    tool = a.bin / "hlo-opt"
    passes = every_pass(tool) if a.passes == "all" else a.passes.split(",")
    counts, slow = [int(c) for c in a.counts.split(",")], []
    print("| ns an instruction of | " + " | ".join(f"{c:,}" for c in counts) + " |\n" + "|---" * (len(counts) + 1) + "|")
    for kind, make in KINDS:
        if kind not in a.kinds.split(","):
            continue
        rows = {name: [] for name in passes}
        with tempfile.TemporaryDirectory() as folder:
            module = pathlib.Path(folder) / "m.hlo"
            for count in counts:
                module.write_text("HloModule growth\n" + make(count))
                for name, s in seconds(tool, module, passes, a.limit).items():
                    rows[name].append(1e9 * s / count)
        for name, values in rows.items():
            bad = grows(values, counts, counts[-1] / counts[-2] / 2 if len(counts) > 1 else 0)
            if bad or a.passes != "all":
                print(f"| {name}, {kind} | " + " | ".join(f"{v:.0f}" for v in values) + " |", flush=True)
            if bad:
                slow.append(f"{name}, {kind}")
    for name in slow:
        print(f"{name} grows faster than it should", file=sys.stderr)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
