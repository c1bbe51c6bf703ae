#!/usr/bin/env python3
"""Replays XLA's own GPU kernels in ptx-sim and holds the results against recorded ones.

    replay_xla.py DUMPS --bin BUILD/bin [--filter RE]

DUMPS is a folder that tools/xla_gpu.py filled: NAME.opt.hlo, NAME/ with XLA's dump and, where there are recorded results, NAME.npz. Each
module gets one verdict:

    agrees       the recorded results, within the tolerances of score.py
    tf32         the recorded results, within those of f16: XLA's kernels multiply f32 in tf32 (10 bits), the recording does not
    interpreter  not the recorded results, but those of hlokit's interpreter for the same HLO; XLA's CPU, which recorded, flushes
                 denormals and wraps where cuDNN saturates
    no record    nothing is recorded: compared with the interpreter on random inputs
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


def recorded(score, data, got, low):
    """None, or how the first result that differs does."""
    names = list(data["names"]) if "names" in data.files else [k for k in data.files if re.fullmatch(r"(in|out)\d+", k)]
    types = list(data["types"]) if "types" in data.files else [*data["in_types"], *data["out_types"]] if "out_types" in data.files else []
    kinds = dict(zip(names, map(str, types)))
    for n in (n for n in names if n.startswith("out")):
        if n not in got.files:
            return f"no {n}"
        why = score.compare(data[n], got[n], score.kind_of(data[n], kinds.get(n)), low)
        if why:
            return f"{n}: {why}"
    return None


def judge(a, score, hlo):
    stem = hlo.name[:-len(".opt.hlo")]
    npz = hlo.with_name(stem + ".npz")
    command = [a.bin / "hlo-run", hlo, "--platform=ptx-sim", f"--kernels={hlo.parent}", "--threads=1"]
    if not npz.exists():
        code, text = run([*command, "--reference-platform=interpreter", "--rel-error=2e-2", "--abs-error=2e-2"], a.timeout)
        return ("no record", "") if code == 0 else ("differs" if code == 1 and " differ " in text else "fails", text)
    data = np.load(npz)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.npz"
        code, text = run([*command, "--input", npz, "--output", out], a.timeout)
        if code:
            return "fails", text
        got = np.load(out)
        low = score.low_precision(hlo)
        why = recorded(score, data, got, low)
        if why is None:
            return "agrees", ""
        ptx = "".join(p.read_text() for p in (hlo.parent / stem).glob("*.ptx"))
        if "tf32" in ptx and recorded(score, data, got, low or "f16") is None:
            return "tf32", why
    code, text = run([*command, "--input", npz, "--reference-platform=interpreter", "--rel-error=1e-4", "--abs-error=1e-5"], a.timeout)
    return ("interpreter" if code == 0 else "differs"), why


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
