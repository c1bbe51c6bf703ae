"""hlo-run beside XLA (jaxlib) and IREE, where these are installed, on the same modules and inputs.

compare.py --bin BUILD/bin [MODULE.hlo...]   (default: benchmarks/micro/*.hlo)
    --python P     a Python with jax, and for IREE's columns with iree-base-compiler and iree-base-runtime too; what is
                   missing is left out with a word
    --rounds 2 --seconds 0.3 --markdown FILE --plots FOLDER
They take turns, round by round. Times are those of the fastest run; CPU times, of all threads together, are averages, and
what to look at on a busy machine. Modules that move more than they compute (by hlo-cost, where that is built; of 1 MiB and more) have
"of a copy" beside them: the time in which hlo-run copies as many bytes, over theirs. Prints a line a module and geometric means; --markdown writes the table, --plots a bar chart (SVG) of how many times as fast hlo-run is.
Exit status 1 where hlo-run fails on a module.
"""
import argparse
import json
import math
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FLOOR_S = 5e-6  # less is lost in Python's dispatch: no ratio
LEAST_MOVED = 1 << 20  # bytes
COMPARING = re.compile(r"\b(sort|fft|topk|rng-bit-generator|triangular-solve)\(")  # work that is not counted as flops


def run(command, timeout):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["failed"])[-1][:150])
    return done.stdout


def processor_time(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(command, 600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ours(a, module, inputs):
    command = [a.bin / "hlo-run", module, *(["--input", inputs] if inputs.exists() else [])]
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        run([*command, "--iterations", "3", "--min-seconds", a.seconds, "--json", report.name], 600)
        got = json.loads(pathlib.Path(report.name).read_text())
    runs = int(max(4, min(1e6, a.seconds / got["run_min_s"])))
    used = processor_time([*command, "--iterations", runs]) - processor_time([*command, "--iterations", 1])
    return {"compile_s": got["compile_s"], "run_s": got["run_min_s"], "cpu_s": max(used / (runs - 1), 1e-9),
            "peak_rss_mib": got["peak_rss_mib"]}


def moved(a, module):
    """Bytes read and written by a module that computes little with them, else None."""
    tool = a.bin / "hlo-cost"
    if not tool.exists() or COMPARING.search(module.read_text()):
        return None
    cost = json.loads(run([tool, module, "--format", "json"], 60))
    count = cost["peak_memory"]["arguments"] + cost["peak_memory"]["results"]
    work = cost["total"]["flops"] + cost["total"]["transcendentals"]
    return count if count >= LEAST_MOVED and work <= count else None


def copying(a, module, inputs):
    count = a.moved[module]
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "copy.hlo"
        array = f"u8[{count // 2}]{{0}}"
        copy.write_text(f"HloModule copy\nENTRY e {{\n  p = {array} parameter(0)\n  ROOT c = {array} copy(p)\n}}\n")
        report = pathlib.Path(folder) / "report.json"
        run([a.bin / "hlo-run", copy, "--iterations", "3", "--min-seconds", a.seconds, "--json", report], 600)
        return {"run_s": json.loads(report.read_text())["run_min_s"]}


def xla(a, module, inputs):
    return json.loads(run([a.python, HERE / "time_xla.py", module, inputs, a.seconds], 600).splitlines()[-1])


def iree(a, module, inputs):
    return json.loads(run([a.python, HERE / "time_iree.py", module, inputs, a.seconds], 600).splitlines()[-1])


def measure(a, module):
    best = {}
    peers = dict(a.peers, **({"copy": copying} if a.moved[module] else {}))
    with tempfile.TemporaryDirectory() as folder:
        inputs = pathlib.Path(folder) / "inputs.npz"
        for _ in range(a.rounds):
            for name, peer in peers.items():
                try:
                    got = peer(a, module, inputs)
                except (RuntimeError, subprocess.TimeoutExpired, json.JSONDecodeError) as error:
                    if name == "hlokit":
                        raise
                    print(f"{module.stem}: {name}: {error}", file=sys.stderr)
                    continue
                mine = best.setdefault(name, {})
                for key, value in got.items():
                    mine[key] = min(mine.get(key, math.inf), value)
    return best


def ratio(row, key, peer="XLA"):
    """How many times as much the peer takes; NaN where that is not known."""
    if key not in row.get(peer, {}) or (key == "run_s" and row[peer][key] < FLOOR_S):
        return math.nan
    return row[peer][key] / max(row["hlokit"][key], 1e-9)


def geometric_mean(values):
    logs = [math.log(v) for v in values if not math.isnan(v)]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def number(value):
    return "" if math.isnan(value) else f"{value:.2f}"


def markdown(rows):
    peers = [name for name in ("XLA", "IREE") if name == "XLA" or any(name in row for row in rows)]
    figures = {"CPU ms": "cpu_s", "ms": "run_s", "compile, ms": "compile_s"}
    heads = [head for figure in figures for head in (figure, *(h for peer in peers for h in (peer, "ratio")))]
    heads.append("of a copy")
    lines = ["| " + " | ".join(["module", *heads]) + " |", "|---" * (len(heads) + 1) + "|"]
    ms = lambda side, key: f"{1e3 * side[key]:.3g}" if key in side else ""
    for row in rows:
        cells = [row["module"]]
        for key in figures.values():
            cells.append(ms(row["hlokit"], key))
            for peer in peers:
                cells += [ms(row.get(peer, {}), key), number(ratio(row, key, peer))]
        cells.append(number(ratio(row, "run_s", "copy")))
        lines.append("| " + " | ".join(cells) + " |")
    means = ["geometric mean"]
    for key in figures.values():
        means += ["", *(m for peer in peers for m in ("", number(geometric_mean([ratio(r, key, peer) for r in rows]))))]
    return "\n".join([*lines, "| " + " | ".join([*means, ""]) + " |", ""])


def plot(rows, key, title):
    """An SVG bar chart on a scale of powers of two, with a line where both are equally fast."""
    bars = [(row["module"], ratio(row, key)) for row in rows if not math.isnan(ratio(row, key))]
    height, left, width = 18, 210, 420
    logs = [math.log2(v) for _, v in bars]
    low, high = math.floor(min([0, *logs])), math.ceil(max([1, *logs]))
    x = lambda v: left + (v - low) / (high - low) * width
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 70}" height="{height * len(bars) + 60}" '
             'font-family="sans-serif" font-size="12">', f'<text x="10" y="18" font-weight="bold">{title}</text>']
    for k, (name, value) in enumerate(bars):
        y, start, end = 32 + k * height, min(x(0), x(math.log2(value))), max(x(0), x(math.log2(value)))
        parts.append(f'<text x="{left - 6}" y="{y + 12}" text-anchor="end">{name}</text><rect x="{start:.1f}" y="{y}" '
                     f'width="{end - start:.1f}" height="{height - 4}" fill="{"#3a7" if value >= 1 else "#c54"}"/>'
                     f'<text x="{end + 4:.1f}" y="{y + 12}">{value:.2f}</text>')
    bottom = 32 + height * len(bars)
    for power in range(low, high + 1):
        parts.append(f'<line x1="{x(power):.1f}" y1="28" x2="{x(power):.1f}" y2="{bottom}" stroke="{"#000" if power == 0 else "#ccc"}"/>'
                     f'<text x="{x(power):.1f}" y="{bottom + 16}" text-anchor="middle">{2.0 ** power:g}</text>')
    return "\n".join([*parts, "</svg>", ""])


def can_import(python, modules):
    return shutil.which(python) and not subprocess.run([python, "-c", f"import {modules}"], capture_output=True).returncode


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--plots", type=pathlib.Path)
    a = parser.parse_args()
    a.modules = a.modules or sorted((HERE / "micro").glob("*.hlo"))
    a.peers = {}
    for name, peer, modules in (("XLA", xla, "jax"), ("IREE", iree, "jax, iree.compiler, iree.runtime")):
        if can_import(a.python, modules):
            a.peers[name] = peer  # XLA comes first: it makes the inputs
        else:
            print(f"{a.python} cannot import {modules}: no {name} column", file=sys.stderr)
    a.peers["hlokit"] = ours
    a.moved = {module: moved(a, module) for module in a.modules}
    return a


def main():
    a = parse_arguments()
    rows, failed = [], False
    for module in a.modules:
        try:
            row = {"module": module.stem, **measure(a, module)}
        except RuntimeError as error:
            print(f"{module.stem:26} {error}")
            failed = True
            continue
        rows.append(row)
        times = " ".join(f"{name} {1e3 * side['run_s']:9.3f} ms" for name, side in row.items() if name != "module" and "run_s" in side)
        print(f"{module.stem:26} {times}   CPU {number(ratio(row, 'cpu_s')):>6}  run {number(ratio(row, 'run_s')):>6}  compile {number(ratio(row, 'compile_s')):>6}  of a copy {number(ratio(row, 'run_s', 'copy')):>6}", flush=True)
    print("geometric means: " + ", ".join(
        f"{what} {number(geometric_mean([ratio(r, key) for r in rows]))}"
        for what, key in (("CPU", "cpu_s"), ("run", "run_s"), ("compile", "compile_s"), ("memory", "peak_rss_mib"))))
    if a.markdown:
        a.markdown.write_text(markdown(rows))
    if a.plots:
        a.plots.mkdir(parents=True, exist_ok=True)
        for key, title in (("cpu_s", "cpu"), ("run_s", "run"), ("compile_s", "compile")):
            (a.plots / f"{title}.svg").write_text(plot(rows, key, f"{title}: times as fast as XLA"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
