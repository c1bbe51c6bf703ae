"""Prints how the time of passes grows with the number of instructions, as a Markdown table of ns an instruction.

pass_growth.py --bin BUILD/bin [--passes dce,algsimp,cse,tuple-simplifier] [--most 1000000]
Processor time of the passes alone, as hlo-opt --json tells it. Level columns are linear; caches that no longer hold the module
raise the last by two to three times. Kinds of modules: `mixed`, chains that each pass finds work in; `dead`, nothing of which is used; `shared`, readers
of one value; `equal`, the same instruction over and over; `tuple`, one tuple of all; `calls`, a computation for each ten
instructions. Exit status 1 where the largest is more than five times as dear an instruction as the one before.
"""
import argparse
import json
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


KINDS = [("mixed", mixed), ("dead", dead), ("shared", shared), ("equal", equal), ("tuple", tuple_of_all), ("calls", calls)]


def seconds(program, module, passes):
    """{pass: seconds of processor time}"""
    report = module.with_suffix(".json")
    found = {}
    for name in passes:  # each on the module as it stands
        subprocess.run([program, module, f"--passes={name}", "--no-verify", "-o", "/dev/null", "--json", report],
                       check=True, capture_output=True)
        found[name] = sum(run["processor_s"] for run in json.loads(report.read_text())["passes"])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--passes", default="dce,algsimp,cse,tuple-simplifier")
    parser.add_argument("--most", type=int, default=COUNTS[-1])
    parser.add_argument("--kinds", default=",".join(name for name, _ in KINDS))
    a = parser.parse_args()
    passes, counts, slow = a.passes.split(","), [c for c in COUNTS if c <= a.most], []
    print("| ns an instruction of | " + " | ".join(f"{c:,}" for c in counts) + " |\n" + "|---" * (len(counts) + 1) + "|")
    for kind, make in KINDS:
        if kind not in a.kinds.split(","):
            continue
        rows = {name: [] for name in passes}
        with tempfile.TemporaryDirectory() as folder:
            module = pathlib.Path(folder) / "m.hlo"
            for count in counts:
                module.write_text("HloModule growth\n" + make(count))
                for name, s in seconds(a.bin / "hlo-opt", module, passes).items():
                    rows[name].append(1e9 * s / count)
        for name, values in rows.items():
            print(f"| {name}, {kind} | " + " | ".join(f"{v:.0f}" for v in values) + " |", flush=True)
            if len(values) > 1 and values[-1] > 5 * values[-2]:
                slow.append(f"{name}, {kind}")
    for name in slow:
        print(f"{name} grows faster than it should", file=sys.stderr)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
