"""Prints how run time grows with the size of arrays, and compile time with the number of instructions, as Markdown tables.

run_growth.py --bin BUILD/bin [--seconds 0.2] [--largest-size 1000] [--most-instructions 100000]
All times are processor times, of all threads together. Run time: each operation at 1, 10, 100, 1000 times its smallest size, as
nanoseconds an element (dot: a multiply-add); level columns are linear. Compile time, with reading: chains of elementwise operations, and of layers (dot, bias, tanh, row sums), as microseconds
an instruction. Exit status 1 where the largest is more than four times as dear as the one before.
"""
import argparse
import pathlib
import resource
import subprocess
import sys
import tempfile

SIZES = [1, 10, 100, 1000]
COUNTS = [100, 1000, 10000, 100000]
ADD = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n"
LESS = "less {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT l = pred[] compare(a, b), direction=LT, type=TOTALORDER\n}\n"


def elementwise(times):
    n = 10000 * times
    return f"ENTRY e {{\n  x = f32[{n}] parameter(0)\n  y = f32[{n}] tanh(x)\n  ROOT z = f32[{n}] add(x, y)\n}}\n", n


def reduce(times):
    n = 10000 * times
    return (f"{ADD}ENTRY e {{\n  x = f32[{n}] parameter(0)\n  zero = f32[] constant(0)\n"
            f"  ROOT s = f32[] reduce(x, zero), dimensions={{0}}, to_apply=add\n}}\n"), n


def dot(times):
    n = 64 * times
    return (f"ENTRY e {{\n  a = f32[{n},128] parameter(0)\n  b = f32[128,128] parameter(1)\n"
            f"  ROOT d = f32[{n},128] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n"), n * 128 * 128


def sort(times):
    n = 4096 * times
    return f"{LESS}ENTRY e {{\n  x = f32[{n}] parameter(0)\n  ROOT s = f32[{n}] sort(x), dimensions={{0}}, to_apply=less\n}}\n", n


def scan(times):
    n = 4096 * times
    return (f"{ADD}ENTRY e {{\n  x = f32[{n}] parameter(0)\n  zero = f32[] constant(0)\n"
            f"  ROOT s = f32[{n}] reduce-window(x, zero), window={{size={n} pad={n - 1}_0}}, to_apply=add\n}}\n"), n


def loop(times):
    n = 1000 * times
    return ("go {\n  s = (s32[], f32[]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
            f"  n = s32[] constant({n})\n  ROOT g = pred[] compare(i, n), direction=LT\n}}\n"
            "step {\n  s = (s32[], f32[]) parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  one = s32[] constant(1)\n"
            "  j = s32[] add(i, one)\n  x = f32[] get-tuple-element(s), index=1\n  y = f32[] cosine(x)\n"
            "  ROOT r = (s32[], f32[]) tuple(j, y)\n}\n"
            "ENTRY e {\n  x = f32[] parameter(0)\n  zero = s32[] constant(0)\n  t = (s32[], f32[]) tuple(zero, x)\n"
            "  w = (s32[], f32[]) while(t), condition=go, body=step\n  ROOT r = f32[] get-tuple-element(w), index=1\n}\n"), n


def chain(count):
    ops = ["add(v{k}, x)", "multiply(v{k}, x)", "maximum(v{k}, x)", "subtract(v{k}, x)", "tanh(v{k})"]
    lines = ["ENTRY e {", "  x = f32[4096] parameter(0)", "  v0 = f32[4096] negate(x)"]
    for k in range(count):
        lines.append(f"  {'ROOT ' if k + 1 == count else ''}v{k + 1} = f32[4096] " + ops[k % len(ops)].format(k=k))
    return "\n".join([*lines, "}", ""])


def layers(count):
    lines = [ADD + "ENTRY e {", "  v0 = f32[16,32] parameter(0)", "  w = f32[32,32] parameter(1)", "  b = f32[32] parameter(2)",
             "  zero = f32[] constant(0)", "  bias = f32[16,32] broadcast(b), dimensions={1}"]
    rounds = max(1, count // 6)
    for k in range(rounds):
        lines += [f"  dot{k} = f32[16,32] dot(v{k}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
                  f"  sum{k} = f32[16,32] add(dot{k}, bias)", f"  tan{k} = f32[16,32] tanh(sum{k})",
                  f"  red{k} = f32[16] reduce(tan{k}, zero), dimensions={{1}}, to_apply=add",
                  f"  wide{k} = f32[16,32] broadcast(red{k}), dimensions={{0}}",
                  f"  {'ROOT ' if k + 1 == rounds else ''}v{k + 1} = f32[16,32] subtract(tan{k}, wide{k})"]
    return "\n".join([*lines, "}", ""])


def processor_time(a, module, runs):
    """Seconds of all threads of one hlo-run, whatever else the machine does."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([a.bin / "hlo-run", module, "--iterations", str(runs)], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(a, text):
    """(seconds to start, read and compile, seconds of one run)"""
    with tempfile.TemporaryDirectory() as folder:
        module = pathlib.Path(folder) / "m.hlo"
        module.write_text("HloModule growth\n" + text)
        once = min(processor_time(a, module, 1) for _ in range(2))
        runs = 8
        while True:
            used = processor_time(a, module, runs) - once
            if used > a.seconds or runs >= 1 << 20:
                return once, max(used, 0) / (runs - 1)
            runs *= 8


def processor_time_of(a, text):
    with tempfile.TemporaryDirectory() as folder:
        module = pathlib.Path(folder) / "m.hlo"
        module.write_text("HloModule growth\n" + text)
        return processor_time(a, module, 1)


def table(head, columns, rows):
    print("| " + " | ".join([head, *(f"{c:,}" for c in columns)]) + " |\n" + "|---" * (len(columns) + 1) + "|")
    slow = []
    for name, values in rows:
        print("| " + " | ".join([name, *(f"{v:.3g}" for v in values)]) + " |", flush=True)
        if len(values) > 1 and values[-1] > 4 * values[-2]:
            slow.append(name)
    print()
    return slow


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--largest-size", type=int, default=SIZES[-1])
    parser.add_argument("--most-instructions", type=int, default=COUNTS[-1])
    a = parser.parse_args()
    sizes = [s for s in SIZES if s <= a.largest_size]
    counts = [c for c in COUNTS if c <= a.most_instructions]

    def run_times():
        for make in (elementwise, reduce, dot, sort, scan, loop):
            modules = [make(s) for s in sizes]
            yield make.__name__, [1e9 * measure(a, text)[1] / work for text, work in modules]

    def compile_times():
        nothing, _ = measure(a, chain(1))
        for make in (chain, layers):
            yield make.__name__, [1e6 * (processor_time_of(a, make(c)) - nothing) / c for c in counts]

    slow = table("run, ns an element at size x", sizes, run_times())
    slow += table("compile, us an instruction of", counts, compile_times())
    for name in slow:
        print(f"{name} grows faster than it should", file=sys.stderr)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
