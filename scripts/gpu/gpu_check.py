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


ADD = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\nmax { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] maximum(a, b) }\n"


def module(body):
    return f"HloModule m\n{ADD}ENTRY e {{\n{body}\n}}\n"


def reduce_of(shape, result, dims):
    return module(f" x = {shape} parameter(0)\n z = f32[] constant(0)\n ROOT r = {result} reduce(x, z), dimensions={{{dims}}}, to_apply=add")


def dot_of(t, m, n, k, out=None, flags=""):
    return module(f" x = {t}[{m},{k}] parameter(0)\n y = {t}[{k},{n}] parameter(1)\n ROOT r = {out or t}[{m},{n}] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}{flags}")


def softmax_of(rows, columns):
    f = f"f32[{rows},{columns}]"
    return module(f""" x = {f} parameter(0)
 l = f32[] constant(-inf)
 m = f32[{rows}] reduce(x, l), dimensions={{1}}, to_apply=max
 mb = {f} broadcast(m), dimensions={{0}}
 d = {f} subtract(x, mb)
 p = {f} exponential(d)
 z = f32[] constant(0)
 s = f32[{rows}] reduce(p, z), dimensions={{1}}, to_apply=add
 sb = {f} broadcast(s), dimensions={{0}}
 ROOT r = {f} divide(p, sb)""")


def big_dot(t, m, n, k, result, lhs_k, rhs_k, batch=0):
    b = f"{batch}," if batch else ""
    d = 1 if batch else 0
    lhs = f"{t}[{b}{m},{k}]" if lhs_k else f"{t}[{b}{k},{m}]"
    rhs = f"{t}[{b}{n},{k}]" if rhs_k else f"{t}[{b}{k},{n}]"
    batches = "lhs_batch_dims={0}, rhs_batch_dims={0}, " if batch else ""
    return module(f" x = {lhs} parameter(0)\n y = {rhs} parameter(1)\n ROOT r = {result}[{b}{m},{n}] dot(x, y), {batches}"
                  f"lhs_contracting_dims={{{d + (1 if lhs_k else 0)}}}, rhs_contracting_dims={{{d + (1 if rhs_k else 0)}}}")


N = 128 << 20  # elements: 512 MiB of f32
MB = 1 << 20
# name: (module, bytes that must move, floating-point operations)
TIMES = {
    "x*x+x f32[128Mi]": (module(f" x = f32[{N}] parameter(0)\n y = f32[{N}] multiply(x, x)\n ROOT r = f32[{N}] add(y, x)"), 8 * N, 0),
    "x+y bf16[128Mi]": (module(f" x = bf16[{N}] parameter(0)\n y = bf16[{N}] parameter(1)\n ROOT r = bf16[{N}] add(y, x)"), 6 * N, 0),
    "convert f32->bf16[128Mi]": (module(f" x = f32[{N}] parameter(0)\n ROOT r = bf16[{N}] convert(x)"), 6 * N, 0),
    "tanh f32[128Mi]": (module(f" x = f32[{N}] parameter(0)\n ROOT r = f32[{N}] tanh(x)"), 8 * N, 0),
    "row sum f32[32768,4096]": (reduce_of("f32[32768,4096]", "f32[32768]", 1), 4 * N, 0),
    "column sum f32[32768,4096]": (reduce_of("f32[32768,4096]", "f32[4096]", 0), 4 * N, 0),
    "full sum f32[128Mi]": (reduce_of(f"f32[{N}]", "f32[]", 0), 4 * N, 0),
    "transpose f32[8192,16384]": (module(" x = f32[8192,16384] parameter(0)\n ROOT r = f32[16384,8192] transpose(x), dimensions={1,0}"), 8 * N, 0),
    "transpose bf16[8192,16384]": (module(" x = bf16[8192,16384] parameter(0)\n ROOT r = bf16[16384,8192] transpose(x), dimensions={1,0}"), 4 * N, 0),
    "softmax f32[32768,1024]": (softmax_of(32768, 1024), 8 * 32 * MB, 0),
    "softmax f32[8192,16384]": (softmax_of(8192, 16384), 8 * N, 0),
    "slice f32[32768,4096]": (module(" x = f32[32768,4096] parameter(0)\n ROOT r = f32[32768,2048] slice(x), slice={[0:32768],[1024:3072]}"), 4 * N, 0),
    "concatenate f32 2x[16384,4096]": (module(" x = f32[16384,4096] parameter(0)\n y = f32[16384,4096] parameter(1)\n ROOT r = f32[32768,4096] concatenate(x, y), dimensions={0}"), 8 * N, 0),
    "dot f32 4096^3": (dot_of("f32", 4096, 4096, 4096), 0, 2 * 4096**3),
    "dot bf16 4096^3": (dot_of("bf16", 4096, 4096, 4096), 0, 2 * 4096**3),
    "dot bf16->f32 4096^3": (dot_of("bf16", 4096, 4096, 4096, "f32"), 0, 2 * 4096**3),
    "dot f16 4096^3": (dot_of("f16", 4096, 4096, 4096), 0, 2 * 4096**3),
    "dot s8->s32 4096^3": (dot_of("s8", 4096, 4096, 4096, "s32"), 0, 2 * 4096**3),
    "dot bf16 8192^3": (dot_of("bf16", 8192, 8192, 8192), 0, 2 * 8192**3),
    "dot bf16 4096^3, k last in both": (big_dot("bf16", 4096, 4096, 4096, "bf16", 1, 1), 0, 2 * 4096**3),
    "dot bf16 4096^3, k first in both": (big_dot("bf16", 4096, 4096, 4096, "bf16", 0, 0), 0, 2 * 4096**3),
    "dot s8->s32 4096^3, k last in both": (big_dot("s8", 4096, 4096, 4096, "s32", 1, 1), 0, 2 * 4096**3),
    "dot bf16 512x512x8192": (dot_of("bf16", 512, 512, 8192), 0, 2 * 512 * 512 * 8192),
    "batched dot bf16 64x[1024,128]x[128,1024]": (module(" x = bf16[64,1024,128] parameter(0)\n y = bf16[64,128,1024] parameter(1)\n ROOT r = bf16[64,1024,1024] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}"), 0, 2 * 64 * 1024 * 1024 * 128),
    "sort f32[4Mi]": (module(" x = f32[4194304] parameter(0)\n ROOT r = f32[4194304] sort(x), dimensions={0}, to_apply=lt").replace("ENTRY", "lt { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = pred[] compare(a, b), direction=LT }\nENTRY"), 8 * 4 * MB, 0),
    "convolution f32 NHWC 32x56x56x64 3x3x64": (module(" x = f32[32,56,56,64] parameter(0)\n w = f32[3,3,64,64] parameter(1)\n ROOT r = f32[32,56,56,64] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"), 0, 2 * 32 * 56 * 56 * 64 * 64 * 9),
}


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


def time_all(a):
    say("\ntimes (minimum and median of runs; arguments and results stay on the device; host time of launches and of one synchronization a run included)")
    figures = {}
    torch_figures(figures) if not a.no_torch else None
    for name, (text, moved, flops) in TIMES.items():
        if a.times and not re.search(a.times, name):
            continue
        with tempfile.TemporaryDirectory() as tmp:
            hlo, out = pathlib.Path(tmp) / "m.hlo", pathlib.Path(tmp) / "t.json"
            hlo.write_text(text)
            start = time.time()
            rc, _, err = hlo_run(a.bin, hlo, "--platform=cuda", "--iterations=20", "--warmup=3", f"--json={out}", timeout=90)
            if rc or not out.exists():
                say(f"  {name}: exit {rc}: {err.strip()[:300]}")
                continue
            t = json.loads(out.read_text())
            low, middle = t["run_min_s"], t["run_med_s"]
            rate = f"{moved / low * 1e-9:7.0f} GB/s" if moved else f"{flops / low * 1e-12:7.2f} TFLOP/s"
            figures[name] = t
            say(f"  {name}: {low * 1e6:.1f} us (median {middle * 1e6:.1f}) {rate}  host kernels {t['reference_kernels']}, whole command {time.time() - start:.1f} s")
    bars(figures)
    (OUT / "gpu_times.json").write_text(json.dumps(figures, indent=1))


def bars(figures):
    """The issue's bars: bandwidth kernels at 85 % of a copy, bf16 dots at 70 % of cuBLAS."""
    rate = lambda name: float(m.group(1)) if (m := re.search(re.escape(name) + r": [\d.]+ us ([\d.]+)", figures.get("torch", ""))) else None
    copy = rate("torch copy f32[128Mi]")
    say("\nbars: bandwidth kernels >= 85 % of a copy, bf16 dots >= 70 % of cuBLAS")
    for name, (_, moved, flops) in TIMES.items():
        if name not in figures:
            continue
        low = figures[name]["run_min_s"]
        best, got = (copy, moved / low * 1e-9) if moved else (rate(f"torch matmul torch.bfloat16 {'8192' if '8192' in name else '4096'}^3") if "bf16 4096^3" in name or "bf16 8192^3" in name else None, flops / low * 1e-12)
        if best and "sort" not in name:
            say(f"  {'ok    ' if got / best >= (0.85 if moved else 0.7) else 'MISSED'} {100 * got / best:5.1f} %  {name}")


def torch_figures(figures):
    code = """
import torch
def best(f, n=20):
    for _ in range(3): f()
    low = 1e9
    for _ in range(n):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record(); f(); b.record(); torch.cuda.synchronize()
        low = min(low, a.elapsed_time(b) * 1e-3)
    return low
print(torch.cuda.get_device_name(0))
x = torch.randn(128 << 20, device='cuda'); y = torch.empty_like(x)
t = best(lambda: y.copy_(x)); print(f'torch copy f32[128Mi]: {t*1e6:.1f} us {8*x.numel()/t*1e-9:.0f} GB/s')
t = best(lambda: x.view(32768, 4096).sum(0)); print(f'torch column sum f32[32768,4096]: {t*1e6:.1f} us {4*x.numel()/t*1e-9:.0f} GB/s')
t = best(lambda: torch.softmax(x.view(32768, 4096), 1)); print(f'torch softmax f32[32768,4096]: {t*1e6:.1f} us {8*x.numel()/t*1e-9:.0f} GB/s')
del x, y
for dt in (torch.float32, torch.bfloat16, torch.float16):
    for n in (4096, 8192):
        a = torch.randn(n, n, device='cuda').to(dt); b = torch.randn(n, n, device='cuda').to(dt)
        t = best(lambda: a @ b); print(f'torch matmul {dt} {n}^3: {t*1e6:.1f} us {2*n**3/t*1e-12:.1f} TFLOP/s')
a = torch.randn(64, 1024, 128, device='cuda').bfloat16(); b = torch.randn(64, 128, 1024, device='cuda').bfloat16()
t = best(lambda: a @ b); print(f'torch bmm bf16 64x[1024,128]x[128,1024]: {t*1e6:.1f} us {2*64*1024*1024*128/t*1e-12:.1f} TFLOP/s')
x = torch.randn(4 << 20, device='cuda'); t = best(lambda: torch.sort(x)); print(f'torch sort f32[4Mi]: {t*1e6:.1f} us')
"""
    p = subprocess.run(["python3", "-c", code], capture_output=True, text=True, timeout=120)
    say("  " + "\n  ".join((p.stdout or p.stderr[-400:]).strip().splitlines()))
    figures["torch"] = p.stdout


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
    if not a.skip_times:
        time_all(a)
    if a.sanitize:
        sanitize(a)
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
