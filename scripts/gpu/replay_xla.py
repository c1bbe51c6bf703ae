#!/usr/bin/env python3
"""Replays XLA's own GPU kernels in ptx-sim and holds the results against recorded ones.

    replay_xla.py DUMPS --bin BUILD/bin [--filter RE]

DUMPS is a folder that tools/xla_gpu.py filled: NAME.opt.hlo, NAME/ with XLA's dump and, where there are recorded results, NAME.npz. Each
module gets one verdict, all by the tolerances of score.py:

    agrees       the recorded results
    tf32         those of hlokit's interpreter for the same HLO, with the operands of f32 dots rounded to tf32 as XLA's kernels
                 do (cvt.rna, 10 bits); the recording did not. Of the array's norm to 2^-12: a sum beside the middle of two tf32 rounds either way
    interpreter  those of the interpreter for the same HLO: XLA's CPU, which recorded, flushes denormals and wraps where cuDNN saturates
    no record    nothing is recorded: those of the interpreter (rounded as for tf32, where kernels do) on random inputs
    differs, fails

The last line counts them; exit status 1 where anything differs or fails.
"""
import argparse, collections, concurrent.futures, importlib.util, os, pathlib, re, subprocess, sys, tempfile

import numpy as np


def load_score(path):
    spec = importlib.util.spec_from_file_location("score", path)
    score = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(score)
    return score


def run(command, timeout):
    try:
        p = subprocess.run(list(map(str, command)), capture_output=True, timeout=timeout)
        return p.returncode, (p.stdout + p.stderr).decode(errors="replace")
    except subprocess.TimeoutExpired:
        return -1, f"no answer in {timeout} s"


TRITON_CALL = re.compile(r"fusion\(.*calls=%?([\w.-]+).*__triton")
F32_VALUE = re.compile(r"\s*(?:ROOT )?%?([\w.-]+) = (f32(\[[\d,]*\](?:{[\d,]*})?)) ")
F32_DOT = re.compile(r"(\s*(?:ROOT )?%?([\w.-]+) = f32\[.* dot\()%?([\w.-]+), %?([\w.-]+)\)(?!.*operand_precision={high)(?!.*algorithm=)")


def rounded(operand, shape, name):
    """Lines that round an f32 value to tf32: to the nearest, ties away from zero."""
    integer = "u32" + shape
    line = "  %{n}.{part} = {shape} {text}\n".format
    values = (("one", "u32[]", "constant(4096)"), ("mask", "u32[]", "constant(4294959104)"),
              ("ones", integer, f"broadcast(%{name}.one), dimensions={{}}"), ("masks", integer, f"broadcast(%{name}.mask), dimensions={{}}"),
              ("bits", integer, f"bitcast-convert(%{operand})"), ("up", integer, f"add(%{name}.bits, %{name}.ones)"),
              ("cut", integer, f"and(%{name}.up, %{name}.masks)"), ("tf32", "f32" + shape, f"bitcast-convert(%{name}.cut)"))
    return "".join(line(n=name, part=part, shape=kind, text=text) for part, kind, text in values)


def tf32_form(text):
    """The module with the f32 dots of Triton's fusions on operands rounded to tf32; None where there are none."""
    bodies, body, shapes, out, found = set(TRITON_CALL.findall(text)), None, {}, [], False
    for line in text.splitlines(keepends=True):
        header = re.match(r"%?([\w.-]+) \(.*{\s*$", line)
        if header:
            body, shapes = header[1], {}
        value, dot = F32_VALUE.match(line), F32_DOT.match(line)
        if value:
            shapes[value[1]] = value[3]
        if dot and body in bodies and dot[3] in shapes and dot[4] in shapes:
            sides = [(dot[3], f"{dot[2]}.left"), (dot[4], f"{dot[2]}.right")]
            out += [rounded(operand, shapes[operand], name) for operand, name in sides]
            line = f"{dot[1]}%{sides[0][1]}.tf32, %{sides[1][1]}.tf32)" + line[dot.end():]
            found = True
        out.append(line)
    return "".join(out) if found else None


def disagreement(score, want, types, got, low):
    """None, or how the first result that differs does."""
    for n in (n for n in types if n.startswith("out")):
        if n not in got.files:
            return f"no {n}"
        why = score.compare(want[n], got[n], score.kind_of(want[n], types[n]), low)
        if why:
            return f"{n}: {why}"
    return None


def recorded_types(data):
    names = list(data["names"]) if "names" in data.files else [k for k in data.files if re.fullmatch(r"(in|out)\d+", k)]
    types = list(data["types"]) if "types" in data.files else [*data["in_types"], *data["out_types"]] if "out_types" in data.files else []
    return dict(zip(names, map(str, types))) if types else dict.fromkeys(names)


def result_types(text):
    """Of the entry's results: out0, out1, ..."""
    results = text[:text.index("\n")].split(")->", 1)[1]
    shapes = re.findall(r"\b([a-z]\w*)\[", results.split(")")[0]) if results[0] == "(" else [results.split("[")[0]]
    return {f"out{i}": kind for i, kind in enumerate(shapes)}


class Replay:
    """One module, run in the simulator and by the interpreter on the same inputs."""

    def __init__(self, a, hlo, folder):
        self.a, self.hlo, self.folder = a, hlo, pathlib.Path(folder)
        npz = hlo.with_name(hlo.name[:-len(".opt.hlo")] + ".npz")
        self.inputs = ["--input", npz] if npz.exists() else []

    def results(self, name, *arguments):
        """None and a message where the run fails."""
        out = self.folder / f"{name}.npz"
        code, text = run([self.a.bin / "hlo-run", *arguments, *self.inputs, "--output", out], self.a.timeout)
        return (None, text) if code else (np.load(out), "")

    def simulated(self):
        return self.results("simulated", self.hlo, "--platform=ptx-sim", f"--kernels={self.hlo.parent}", "--threads=1")

    def interpreted(self, text):
        module = self.folder / "module.hlo"
        module.write_text(text)
        return self.results("interpreted", module, "--platform=interpreter")


def judge(a, score, hlo):
    text = hlo.read_text()
    low, rounded_text = score.low_precision(hlo), tf32_form(text)
    rounded_low = low or (rounded_text and "tf32")
    with tempfile.TemporaryDirectory() as folder:
        replay = Replay(a, hlo, folder)
        got, message = replay.simulated()
        if got is None:
            return "fails", message
        if not replay.inputs:
            want, message = replay.interpreted(rounded_text or text)
            why = message if want is None else disagreement(score, want, result_types(text), got, rounded_low)
            return "no record" if why is None else "differs", why
        data = np.load(replay.inputs[1])
        types = recorded_types(data)
        why = disagreement(score, data, types, got, low)
        if why is None:
            return "agrees", ""
        for verdict, form, coarsest in (("tf32", rounded_text, rounded_low), ("interpreter", text, low)):
            want = replay.interpreted(form)[0] if form else None
            if want is not None and disagreement(score, want, types, got, coarsest) is None:
                return verdict, why
    return "differs", why


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dumps", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--score", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[3] / "shared/tools/score.py")
    parser.add_argument("--filter", default="")
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    a = parser.parse_args()
    score = load_score(a.score)
    score.TOLERANCE["tf32"] = 2.0**-12
    modules = [f for f in sorted(a.dumps.glob("*.opt.hlo")) if re.search(a.filter, f.name)]
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for hlo, (verdict, why) in zip(modules, pool.map(lambda f: judge(a, score, f), modules)):
            counts[verdict] += 1
            if verdict not in ("agrees", "no record"):
                lines = [l for l in why.splitlines() if "error" in l] or why.splitlines() or [""]
                print(f"{hlo.name[:-8]}: {verdict}: {lines[0][:300]}", flush=True)
    bad = counts["differs"] + counts["fails"]
    print(", ".join(f"{counts[k]} {k}" for k in ("agrees", "tf32", "interpreter", "no record", "differs", "fails")),
          f"- {100 * (len(modules) - bad) / max(len(modules), 1):.2f} % of {len(modules)}")
    sys.exit(1 if bad or not modules else 0)


if __name__ == "__main__":
    main()
