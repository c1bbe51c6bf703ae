#!/usr/bin/env python3
"""Counts of our kernels beside XLA's for the same modules, both by ptx-sim: DRAM sectors and executed warp instructions.

    ptx_counts.py DUMPS --bin BUILD/bin --modules CORPUS [--filter RE] [--json FILE]

DUMPS is a folder that tools/xla_gpu.py filled, CORPUS has the modules it was made of. For each: the sums over the launches of one run, ours
divided by XLA's, and the launch of ours that reads and writes most. A module in which XLA calls a library (cuBLAS, cuDNN, CUB) is counted apart, for
the calls have no kernel to count. The last lines are the geometric means. Profiles: docs/ptxsim.md.
"""
import argparse, csv, json, math, os, pathlib, re, subprocess, tempfile

COLUMNS = ("dram", "warp_instructions")


def launches(path):
    """The rows of a file of counts, `dram` added."""
    if not os.path.exists(path):
        return []
    rows = list(csv.DictReader(open(path), delimiter="\t"))
    for row in rows:
        row["dram"] = int(row["dram_read"]) + int(row["dram_written"])
        row["warp_instructions"] = int(row["warp_instructions"])
    return rows


def run(command, environment, timeout):
    try:
        done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, timeout=timeout)
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return -1, f"no answer in {timeout} s"


def count(args, name):
    """The counts of a module, or why there are none."""
    inputs = args.modules / f"{name}.npz"
    given = [f"--input={inputs}"] if inputs.exists() else []
    with tempfile.TemporaryDirectory() as folder:
        files = {who: os.path.join(folder, who) for who in ("ours", "xla")}
        common = ["--platform=ptx-sim", "--threads=1", f"--output={folder}/out.npz", "--elided-constants=xla", *given]
        code, text = run([args.bin / "hlo-run", args.dumps / f"{name}.opt.hlo", f"--kernels={args.dumps}", f"--profile={files['xla']}",
                          "--stats", *common], None, args.timeout)
        if code != 0:
            return f"XLA's: {text.strip().splitlines()[-1] if text.strip() else code}"
        library = sorted(set(re.findall(r"^  (custom-call) ", text, re.M)))
        code, text = run([args.bin / "hlo-run", args.modules / f"{name}.hlo", *common],
                         {**os.environ, "HLOKIT_CUDA_SIM_PROFILE": files["ours"]}, args.timeout)
        if code != 0:
            return f"ours: {text.strip().splitlines()[-1] if text.strip() else code}"
        ours, xla = launches(files["ours"]), launches(files["xla"])
    result = {"name": name, "library": bool(library), "launches": (len(ours), len(xla))}
    for column in COLUMNS:
        result[column] = (sum(r[column] for r in ours), sum(r[column] for r in xla))
    if ours:
        for column in COLUMNS:
            worst = max(ours, key=lambda r: r[column])
            result[f"most_{column}"] = (worst["kernel"], worst[column])
    return result


def mean(results, column):
    ratios = [r[column][0] / r[column][1] for r in results if min(r[column]) > 0]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("dumps", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--modules", type=pathlib.Path, required=True)
    parser.add_argument("--filter", default="")
    parser.add_argument("--timeout", type=int, default=60)
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    results = []
    for hlo in sorted(args.dumps.glob("*.opt.hlo")):
        name = hlo.name[:-len(".opt.hlo")]
        if not re.search(args.filter, name):
            continue
        result = count(args, name)
        if isinstance(result, str):
            print(f"{name}: {result[:160]}", flush=True)
            continue
        results.append(result)
        ratios = [r[0] / max(1, r[1]) for r in (result[c] for c in COLUMNS)]
        print(f"{name}: DRAM sectors {ratios[0]:.2f}, instructions {ratios[1]:.2f}, launches {result['launches'][0]} beside "
              f"{result['launches'][1]}{', XLA calls a library' if result['library'] else ''}; most: {result.get('most_dram')}, "
              f"{result.get('most_warp_instructions')}", flush=True)
    for title, some in (("kernels alone", [r for r in results if not r["library"]]), ("with libraries", [r for r in results if r["library"]])):
        print(f"{title}: {len(some)} modules, geometric mean of DRAM sectors {mean(some, 'dram'):.3f}, of instructions "
              f"{mean(some, 'warp_instructions'):.3f}")
    if args.json:
        args.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
