#!/usr/bin/env python3
"""hlo-run --platform=cuda on a real GPU: correctness over a corpus, then times of a few kernels.

gpu_check.py BIN CORPUS [--jobs 8] [--seconds 240] [--filter RE] [--skip-check] [--skip-times] [--sanitize N]

BIN: folder of hlo-run. CORPUS: .hlo files beside .npz (flat). Writes $OUT/gpu_results.txt (all messages) and $OUT/gpu_times.json.
Needs Python 3.9, numpy, replay_xla.py beside it, score.py there or in ../shared/tools; torch (optional) gives the copy and cuBLAS figures to compare with.
compute-sanitizer, where there is one, looks at N modules for accesses out of bounds and races.
"""
import argparse, concurrent.futures, ctypes, glob, json, os, pathlib, random, re, subprocess, sys, tempfile, threading, time

HERE = pathlib.Path(__file__).resolve().parent
for place in (HERE, HERE.parents[2] / "shared" / "tools"):
    if (place / "score.py").exists():
        sys.path.insert(0, str(place))
        break
import score
import replay_xla
from timed_kernels import TIMES, TORCH, big_dot

OUT = pathlib.Path(os.environ.get("OUT", "/tmp"))
LOCK = threading.Lock()


def say(*words):
    print(*words, flush=True)


def find_driver():
    """Puts the folder of libcuda.so.1 on LD_LIBRARY_PATH where the loader does not find it by itself."""
    try:
        ctypes.CDLL("libcuda.so.1")
        return "found by the loader"
    except OSError:
        pass
    for pattern in ("/usr/local/nvidia/lib*/libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/usr/lib64/libcuda.so.1", "/usr/local/cuda/compat/libcuda.so.1"):
        for found in glob.glob(pattern):
            os.environ["LD_LIBRARY_PATH"] = os.path.dirname(found) + ":" + os.environ.get("LD_LIBRARY_PATH", "")
            return found
    return "not found"


def hlo_run(bin, *flags, timeout=60):
    try:
        p = subprocess.run([bin / "hlo-run", *map(str, flags)], capture_output=True, timeout=timeout, text=True, errors="replace")
        return p.returncode, p.stdout, p.stderr
    except subprocess.TimeoutExpired:
        return -99, "", f"no answer in {timeout} s"


def smoke(bin):
    with tempfile.TemporaryDirectory() as tmp:
        f = pathlib.Path(tmp) / "smoke.hlo"
        f.write_text("HloModule smoke\nENTRY e {\n x = f32[1000] parameter(0)\n y = f32[1000] multiply(x, x)\n ROOT r = f32[1000] add(y, x)\n}\n")
        start = time.time()
        rc, out, err = hlo_run(bin, f, "--platform=cuda", "--reference-platform=interpreter", "--stats", timeout=120)
        say(f"smoke: exit {rc} in {time.time() - start:.1f} s\n{(out + err)[:1500]}")
        return rc == 0


class Checker:
    """check_run of score.py, with whole messages kept by thread."""

    def __init__(self, bin, timeout, flags):
        self.args = argparse.Namespace(bin=bin, platform="cuda", flag=flags, timeout=timeout)
        self.local = threading.local()
        plain = score.run

        def run(cmd, limit):
            rc, out, err = plain(cmd, limit)
            self.local.message = f"exit {rc}\n{err}" if rc else ""
            return rc, out, err

        score.run = run

    def __call__(self, hlo, deadline):
        if time.time() > deadline:
            return "not run", "", 0
        self.local.message = ""
        start = time.time()
        try:
            why = score.check_run(self.args, hlo)
        except Exception as e:  # a result that cannot be read
            why = f"{type(e).__name__}: {e}"
        return why, self.local.message, time.time() - start


def run_many(a, files, folder):
    """Results of many modules by one process, as FOLDER/NAME.npz; whatever it lacks was not computed. {} is the module's name."""
    for f in files:
        target = folder / (f.stem + ".in.npz")
        if not target.exists():
            target.symlink_to(score.recorded(f).resolve())
    flags = ["--no-passes"] if files[0].stem.endswith(".opt") else []
    return subprocess.Popen([a.bin / "hlo-run", *files, "--platform=cuda", f"--input={folder}/{{}}.in.npz", f"--output={folder}/{{}}.out.npz", *flags, *a.flag],
                            stdout=subprocess.DEVNULL, stderr=(folder / f"log{id(files)}").open("w"))


def compare_outputs(f, out):
    """As score.check_run, with the results at hand."""
    import numpy as np
    return replay_xla.recorded(score, np.load(score.recorded(f)), np.load(out), score.low_precision(f))


def check_together(a, files, deadline):
    """{file: what is wrong or None} of what a few processes computed, many modules each; nothing where hlo-run cannot."""
    done = {}
    with tempfile.TemporaryDirectory() as tmp:
        folder = pathlib.Path(tmp)
        lists = []
        for opt in (False, True):
            some = [f for f in files if f.stem.endswith(".opt") == opt]
            lists += [some[k::a.jobs] for k in range(a.jobs) if some[k::a.jobs]]
        processes = [run_many(a, some, folder) for some in lists]
        while any(p.poll() is None for p in processes) and time.time() < deadline:
            time.sleep(0.2)
        for p in processes:
            if p.poll() is None:
                p.kill()
            p.wait()
        for f in files:
            out = folder / (f.stem + ".out.npz")
            if out.exists():
                try:
                    done[f] = compare_outputs(f, out)
                except Exception as e:  # half written
                    pass
    return done


def check(a):
    files = sorted(f for f in a.corpus.rglob("*.hlo") if score.recorded(f).exists() and re.search(a.filter, str(f)))
    random.Random(1).shuffle(files)  # what time does not reach is of all kinds
    if a.first:  # what an earlier run did not reach
        names = set(re.search(r"^not run: (.*)", a.first.read_text(), re.M).group(1).split())
        files.sort(key=lambda f: f.stem not in names)
    checker = Checker(a.bin, a.timeout, a.flag)
    start = time.time()
    deadline = start + a.seconds
    together = {} if a.one_by_one else check_together(a, files, start + 0.7 * a.seconds)
    say(f"\n{len(together)} modules computed by {a.jobs} processes in {time.time() - start:.0f} s; the rest one by one")
    results = [(f, (why, "", 0)) for f, why in together.items()]
    rest = [f for f in files if f not in together]
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        results += list(zip(rest, pool.map(lambda f: checker(f, deadline), rest)))
    not_run = [f for f, r in results if r[0] == "not run"]
    failed = sorted((f, r) for f, r in results if r[0] not in (None, "not run"))
    passed = len(results) - len(failed) - len(not_run)
    with (OUT / "gpu_results.txt").open("w") as log:
        log.write(f"{passed} passed, {len(failed)} failed, {len(not_run)} not run, {time.time() - start:.0f} s, {a.jobs} processes\n\n")
        for f, (why, message, seconds) in failed:
            log.write(f"=== {f.name} ({seconds:.1f} s): {why}\n{message[:6000]}\n")
        log.write("\nnot run: " + " ".join(f.stem for f in not_run) + "\n\nseconds:\n")
        for f, r in sorted(results, key=lambda x: -x[1][2])[:100]:
            log.write(f"{r[2]:7.2f} {f.name} {'ok' if r[0] is None else r[0][:80]}\n")
    kinds = {}
    for f, (why, message, _) in failed:
        # numbers out, so that one fault is one kind
        kinds.setdefault(re.sub(r"0x[0-9a-f]+|[\d.]+(e[+-]?\d+)?", "N", why.split(": ", 1)[-1])[:90], []).append(f.stem)
    say(f"check: {passed} passed, {len(failed)} failed, {len(not_run)} not run, in {time.time() - start:.0f} s ({a.jobs} processes)")
    for kind, names in sorted(kinds.items(), key=lambda k: -len(k[1])):
        say(f"  {len(names):4d} x {kind}: {' '.join(names[:6])}{' ...' if len(names) > 6 else ''}")
    for f, (why, message, _) in failed[:60]:
        say(f"FAIL {f.name}: {why[:200]}")
    return not failed


def check_dots(a):
    """Dots on tensor cores (warpgroups and mma.sync) beside the CPU's results."""
    cases = {}
    for lhs_k in (1, 0):
        for rhs_k in (1, 0):
            cases[f"bf16 1024x1024x512 k-last {lhs_k}{rhs_k}"] = (big_dot("bf16", 1024, 1024, 512, "f32", lhs_k, rhs_k), 2e-3)
            cases[f"f16 wide 2048x2048x264 k-last {lhs_k}{rhs_k}"] = (big_dot("f16", 2048, 2048, 264, "f32", lhs_k, rhs_k), 2e-3)
            cases[f"bf16 tails 1000x1096x328 k-last {lhs_k}{rhs_k}"] = (big_dot("bf16", 1000, 1096, 328, "f32", lhs_k, rhs_k), 2e-3)
            cases[f"bf16 batched small 40x(72x80x56) k-last {lhs_k}{rhs_k}"] = (big_dot("bf16", 72, 80, 56, "f32", lhs_k, rhs_k, 40), 2e-3)
            cases[f"f16 odd 333x455x211 k-last {lhs_k}{rhs_k}"] = (big_dot("f16", 333, 455, 211, "f32", lhs_k, rhs_k), 2e-3)
            cases[f"s8 1024x1024x512 k-last {lhs_k}{rhs_k}"] = (big_dot("s8", 1024, 1024, 512, "s32", lhs_k, rhs_k), 0)
    cases["u8 wide"] = (big_dot("u8", 2048, 2048, 272, "s32", 1, 1), 0)
    cases["f8e4m3fn"] = (big_dot("f8e4m3fn", 512, 512, 256, "f32", 1, 0), 2e-3)
    cases["f32"] = (big_dot("f32", 512, 512, 256, "f32", 1, 0), 2e-4)
    cases["f64"] = (big_dot("f64", 512, 512, 256, "f64", 1, 0), 1e-9)

    def one(item):
        name, (text, error) = item
        with tempfile.TemporaryDirectory() as tmp:
            hlo = pathlib.Path(tmp) / "m.hlo"
            hlo.write_text(text)
            start = time.time()
            rc, out, err = hlo_run(a.bin, hlo, "--platform=cuda", "--reference-platform=cpu", f"--abs-error={error}", f"--rel-error={error}", timeout=60)
            return name, rc, (out + err).strip(), time.time() - start

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        results = list(pool.map(one, cases.items()))
    bad = [r for r in results if r[1]]
    say(f"\ndots beside the CPU: {len(results) - len(bad)} passed, {len(bad)} failed")
    for name, rc, text, seconds in bad:
        say(f"  FAIL {name}: exit {rc}: {text[:400]}")
    with (OUT / "gpu_dots.txt").open("w") as log:
        for name, rc, text, seconds in results:
            log.write(f"=== {name}: exit {rc}, {seconds:.1f} s\n{text[:3000]}\n")


def check_random(a):
    """Modules of hlo-gen beside the interpreter, many by each process."""
    files = sorted(a.random.rglob("*.hlo"))

    def some(k):
        return hlo_run(a.bin, *files[k::a.jobs], "--platform=cuda", "--reference-platform=interpreter", "--abs-error=1e-3", "--rel-error=1e-3", timeout=a.seconds)

    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        results = list(pool.map(some, range(a.jobs)))
    agree = sum((out + err).count(" agree (") for _, out, err in results)
    say(f"\nrandom modules: {agree} of {len(files)} agree; exits {[rc for rc, _, _ in results]}")
    with (OUT / "gpu_random.txt").open("w") as log:
        for rc, out, err in results:
            log.write(f"=== exit {rc}\n" + "\n".join(line for line in (out + err).splitlines() if " agree (" not in line and not line.startswith("parsed in")) + "\n")
    return agree == len(files)


def time_all(a):
    say("\ntimes (minimum and median of runs; arguments and results stay on the device; host time of launches and of one synchronization a run included)")
    figures = {}
    torch_figures(figures) if not a.no_torch else None
    deadline = time.time() + a.times_seconds
    last = lambda item: bool(a.times_last and re.search(a.times_last, item[0]))
    for name, (text, moved, flops) in sorted(TIMES.items(), key=last):
        if a.times and not re.search(a.times, name) or time.time() > deadline:
            continue
        with tempfile.TemporaryDirectory() as tmp:
            hlo, out = pathlib.Path(tmp) / "m.hlo", pathlib.Path(tmp) / "t.json"
            hlo.write_text(text)
            start = time.time()
            rc, _, err = hlo_run(a.bin, hlo, "--platform=cuda", "--iterations=20", "--warmup=3", f"--json={out}", timeout=30)
            if rc or not out.exists():
                say(f"  {name}: exit {rc}: {err.strip()[:300]}")
                continue
            t = json.loads(out.read_text())
            low, middle = t["run_min_s"], t["run_med_s"]
            rate = f"{moved / low * 1e-9:7.0f} GB/s" if moved else f"{flops / low * 1e-12:7.2f} TFLOP/s"
            figures[name] = t
            torch = torch_time(figures, name)
            beside = f"  torch {torch:.1f} us, {low * 1e6 / torch:.2f} of it" if torch else ""
            say(f"  {name}: {low * 1e6:.1f} us (median {middle * 1e6:.1f}) {rate}{beside}  host kernels {t['reference_kernels']}, whole command {time.time() - start:.1f} s")
            (OUT / "gpu_times.json").write_text(json.dumps(figures, indent=1))
    bars(figures)
    (OUT / "gpu_times.json").write_text(json.dumps(figures, indent=1))


def torch_time(figures, name):
    """Microseconds."""
    found = re.search("torch " + re.escape(name) + r": ([\d.]+) us", figures.get("torch", ""))
    return float(found.group(1)) if found else None


def bars(figures):
    """The issue's bars: bandwidth kernels at 85 % of a copy, bf16 dots at 70 % of cuBLAS."""
    copy = torch_time(figures, "copy f32[128Mi]")
    copy = 8 * (128 << 20) / copy * 1e-3 if copy else None
    say("\nbars: bandwidth kernels >= 85 % of a copy, bf16 dots >= 70 % of cuBLAS")
    for name, (_, moved, flops) in TIMES.items():
        if name not in figures or "sort" in name:
            continue
        low, torch = figures[name]["run_min_s"], torch_time(figures, name)
        if moved and copy:
            part, bar = moved / low * 1e-9 / copy, 0.85
        elif "dot" in name and torch:
            part, bar = torch * 1e-6 / low, 0.7
        else:
            continue
        say(f"  {'ok    ' if part >= bar else 'MISSED'} {100 * part:5.1f} %  {name}")


def torch_figures(figures):
    """The same work by PyTorch, an expression a timed module; the copy and the large products, which the bars are held against."""
    code = """
import torch, torch.nn.functional as F
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
def best(f, n=20):
    for _ in range(3): f()
    low = 1e9
    for _ in range(n):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record(); f(); b.record(); torch.cuda.synchronize()
        low = min(low, a.elapsed_time(b) * 1e-3)
    return low
def r(*shape, t=torch.float32): return torch.randn(*shape, device='cuda').to(t)
bf = torch.bfloat16
print(torch.cuda.get_device_name(0))
x = torch.randn(128 << 20, device='cuda'); y = torch.empty_like(x)
t = best(lambda: y.copy_(x)); print(f'torch copy f32[128Mi]: {t*1e6:.1f} us {8*x.numel()/t*1e-9:.0f} GB/s')
del x, y
def one(name, make):
    try: print(f'torch {name}: {best(make())*1e6:.1f} us', flush=True)
    except Exception as e: print(f'torch {name}: {type(e).__name__} {str(e)[:80]}', flush=True)
    torch.cuda.empty_cache()
""" + "".join(f"def make():\n  {setup}\n  return lambda: {work}\none({name!r}, make)\n" for name, (setup, work) in TORCH.items())
    try:
        p = subprocess.run(["python3", "-c", code], capture_output=True, text=True, timeout=100)
        text = p.stdout or p.stderr[-400:]
    except subprocess.TimeoutExpired as e:
        text = (e.stdout or b"").decode()
    say("  " + "\n  ".join(text.strip().splitlines()))
    figures["torch"] = text


def sanitize(a):
    """compute-sanitizer over some modules: accesses out of bounds, then races in shared memory."""
    tool = next(iter(glob.glob("/usr/local/cuda*/bin/compute-sanitizer") + glob.glob("/opt/nvidia/*/compute-sanitizer")), "compute-sanitizer")
    files = [f for f in sorted(a.corpus.rglob("*.hlo")) if score.recorded(f).exists()]
    random.Random(2).shuffle(files)
    deadline = time.time() + a.sanitize_seconds

    def one(f):
        if time.time() > deadline:
            return f, None, ""
        texts = []
        for what in ("memcheck", "racecheck"):
            try:
                p = subprocess.run([tool, "--tool", what, "--error-exitcode", "77", str(a.bin / "hlo-run"), str(f), "--platform=cuda", "--input", str(score.recorded(f))],
                                   capture_output=True, text=True, timeout=60, errors="replace")
                if p.returncode:
                    texts.append(f"{what}: exit {p.returncode}\n{(p.stdout + p.stderr)[:3000]}")
            except (subprocess.TimeoutExpired, OSError) as e:
                texts.append(f"{what}: {e}"[:200])
        return f, not texts, "\n".join(texts)

    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        results = list(pool.map(one, files[:a.sanitize]))
    done = [r for r in results if r[1] is not None]
    bad = [r for r in done if not r[1]]
    say(f"\ncompute-sanitizer: {len(done)} modules, {len(bad)} with findings: {' '.join(r[0].stem for r in bad[:20])}")
    with (OUT / "gpu_sanitizer.txt").open("w") as log:
        for f, _, text in bad:
            log.write(f"=== {f.name}\n{text}\n")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("bin", type=pathlib.Path)
    p.add_argument("corpus", type=pathlib.Path)
    p.add_argument("--jobs", type=int, default=12)
    p.add_argument("--seconds", type=float, default=240, help="for the corpus")
    p.add_argument("--timeout", type=float, default=60, help="of one module")
    p.add_argument("--filter", default="")
    p.add_argument("--times", default="", help="which of the timed modules")
    p.add_argument("--times-last", default="", help="which of them come last")
    p.add_argument("--times-seconds", type=float, default=600, help="for all of them; those that come last are left out")
    p.add_argument("--first", type=pathlib.Path, help="gpu_results.txt of an earlier run: what it did not reach comes first")
    p.add_argument("--random", type=pathlib.Path, help="folder of modules to compare with the interpreter on random arguments")
    p.add_argument("--flag", action="append", default=[])
    p.add_argument("--one-by-one", action="store_true", help="a process a module")
    p.add_argument("--skip-check", action="store_true")
    p.add_argument("--skip-times", action="store_true")
    p.add_argument("--no-torch", action="store_true")
    p.add_argument("--sanitize", type=int, default=0, help="modules under compute-sanitizer")
    p.add_argument("--sanitize-seconds", type=float, default=60)
    a = p.parse_args()
    a.bin = a.bin.resolve()
    say("driver:", find_driver())
    if not smoke(a.bin):
        say("the first module fails: nothing else is tried")
        sys.exit(1)
    check_dots(a)
    well = a.skip_check or check(a)
    if a.random:
        well = check_random(a) and well
    if not a.skip_times:
        time_all(a)
    if a.sanitize:
        sanitize(a)
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
