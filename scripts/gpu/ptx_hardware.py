#!/usr/bin/env python3
"""Holds the simulator's single instructions against a GPU: ~6,000 kernels, one a form, run by whatever libcuda.so.1 the loader finds.

    ptx_hardware.py make FOLDER --sim BUILD/lib/libhlokit_cuda_sim.so [--filter RE]   writes cases, operands, and the simulator's results (as checksums)
    ptx_hardware.py run FOLDER --save DIR [--jobs 14] [--filter RE]                   runs them on a GPU; DIR/results.npz: what differs
    ptx_hardware.py explain FOLDER DIR --sim LIB [--filter RE]                        prints operands and both results of what differed
    ptx_hardware.py compare FOLDER DIR --sim LIB [--filter RE]                        holds the simulator as it is now against the checksums of a past run

    ptx_hardware.py check --sim LIB                                                   a sample: what agrees, differs, is refused and faults is told so

`run` needs numpy and the driver alone. Kernels go to the driver as PTX, 24 a module; where a module is refused its halves are tried. A kernel that
faults or hangs ends its process, and a new one goes on behind it. Exit status 1: something differs, is refused, or fails.
"""
import argparse, ctypes, gzip, io, json, os, pathlib, re, subprocess, sys, tempfile, threading, time, zipfile, zlib

try:
    import numpy as np
except ImportError:
    sys.exit(77)
import cuda_textures

HEAD = ".version 8.8\n.target sm_90a\n.address_size 64\n"
BATCH = 24


class Driver:
    """A context on device 0."""

    def __init__(self, seconds=60):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.check("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.check("cuDeviceGet", ctypes.byref(device), 0)
        self.check("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.check("cuCtxSetCurrent", context)
        name = ctypes.create_string_buffer(200)
        self.check("cuDeviceGetName", name, 200, device)
        self.name = name.value.decode()

    def call(self, name, *args):
        return getattr(self.cuda, name)(*args)

    def check(self, name, *args):
        result = self.call(name, *args)
        if result:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(result, ctypes.byref(text))
            raise RuntimeError(f"{name}: error {result} {(text.value or b'').decode()}{self.detail()}")

    def detail(self):
        try:
            self.cuda.hlokitSimLastError.restype = ctypes.c_char_p
            return ": " + (self.cuda.hlokitSimLastError() or b"").decode()
        except AttributeError:
            return ""

    def alloc(self, bytes):
        address = ctypes.c_uint64()
        self.check("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(bytes))
        return address

    def upload(self, array):
        array = np.ascontiguousarray(array)
        address = self.alloc(array.nbytes)
        self.copy_in(address, array)
        return address

    def copy_in(self, address, array):
        array = np.ascontiguousarray(array)
        self.check("cuMemcpyHtoDAsync_v2", address, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes), None)
        self.check("cuCtxSynchronize")

    def copy_out(self, address, words):
        out = np.empty(words, np.uint32)
        self.check("cuMemcpyDtoHAsync_v2", out.ctypes.data_as(ctypes.c_void_p), address, ctypes.c_size_t(out.nbytes), None)
        self.check("cuCtxSynchronize")
        return out

    def load(self, text):
        """(module, None) or (None, the driver's words)."""
        module = ctypes.c_void_p()
        log = ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER and its size
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), 8192)
        result = self.call("cuModuleLoadDataEx", ctypes.byref(module), ctypes.c_char_p(text.encode()), 2, options, values)
        return (module, None) if result == 0 else (None, f"error {result}: {log.value.decode(errors='replace').strip() or self.detail()}")

    def tensor_map(self, spec, address):
        """128 bytes, or the driver's error."""
        raw = ctypes.create_string_buffer(256)
        at = (ctypes.addressof(raw) + 63) // 64 * 64
        dims, rank = spec["dims"], len(spec["dims"])
        u64s, u32s, ints = (lambda v: (ctypes.c_uint64 * max(1, len(v)))(*v)), (lambda v: (ctypes.c_uint32 * max(1, len(v)))(*v)), (lambda v: (ctypes.c_int * max(1, len(v)))(*v))
        common = [ctypes.c_void_p(at), spec["type"], rank, address, u64s(dims), u64s(spec["strides"])]
        rest = [u32s(spec["steps"]), spec["interleave"], spec["swizzle"], 0, spec["fill"]]
        if spec.get("im2col"):
            self.check("cuTensorMapEncodeIm2col", *common, ints(spec["lower"]), ints(spec["upper"]), spec["channels"], spec["pixels"], *rest)
        else:
            self.check("cuTensorMapEncodeTiled", *common, u32s(spec["box"]), *rest)
        return ctypes.string_at(at, 128)


def operands_of(sweep, count):
    return (sweep["base"] + np.arange(count, dtype=np.uint64) * np.uint64(sweep["step"])).astype(np.uint32)


def steps_off(sweep, out):
    """Results of a function less those rounded from double, in steps of the last bit: small numbers, which compress."""
    bits = operands_of(sweep, len(out))
    with np.errstate(all="ignore"):
        x = (bits.astype(np.uint64) << np.uint64(32)).view(np.float64) if sweep["wide"] else bits.view(np.float32).astype(np.float64)
        exact = {"rcp": lambda: 1 / x, "rsqrt": lambda: 1 / np.sqrt(x), "sqrt": lambda: np.sqrt(x), "ex2": lambda: np.exp2(x), "lg2": lambda: np.log2(x), "sin": lambda: np.sin(x), "cos": lambda: np.cos(x), "tanh": lambda: np.tanh(x)}[sweep["function"]]()
        near = (exact.view(np.uint64) >> np.uint64(32)).astype(np.uint32) if sweep["wide"] else exact.astype(np.float32).view(np.uint32)
    return (out - near).view(np.int32)


def module_text(cases, data):
    return HEAD + data["const"] + "".join(c["text"] for c in cases)


class Runner:
    """Runs a list of cases, printing a line of JSON for each; with a folder, results that differ go there."""

    def __init__(self, data, save, everything):
        self.driver, self.data, self.save, self.everything = Driver(), data, save, everything
        self.input = self.driver.upload(data["pools"])
        self.room = 80 << 20
        self.output = self.driver.alloc(self.room)
        self.target = self.driver.alloc(1 << 20)
        self.maps = self.driver.alloc(4096)

    def say(self, **line):
        print(json.dumps(line), flush=True)

    def run(self, cases):
        for i in range(0, len(cases), BATCH):
            self.load(cases[i:i + BATCH])

    def load(self, cases):
        module, why = self.driver.load(module_text(cases, self.data))
        if module is None:
            if len(cases) == 1:
                return self.say(case=cases[0]["index"], refused=why)
            middle = len(cases) // 2
            self.load(cases[:middle])
            return self.load(cases[middle:])
        for case in cases:
            self.say(case=case["index"], begin=True)
            try:
                self.launch(module, case)
            except Exception as error:
                self.say(case=case["index"], failed=str(error)[:600])
                if self.driver.call("cuCtxSynchronize") != 0 or "sim" not in self.driver.name.lower():
                    sys.exit(3)  # the context may be lost
        self.driver.call("cuModuleUnload", module)

    def launch(self, module, case):
        function, words = ctypes.c_void_p(), case["grid"] * case["words"]
        self.driver.check("cuModuleGetFunction", ctypes.byref(function), module, ctypes.c_char_p(f"k{case['index']}".encode()))
        blank = np.full(words, 0xCDCDCDCD, np.uint32)
        self.driver.copy_in(self.output, blank)
        holders = [self.input, self.output]
        spec = case.get("tensor")
        if spec:
            address = ctypes.c_uint64(self.input.value + self.data["places"][spec["pool"]])
            if spec.get("store"):  # into a copy
                at = self.data["places"][spec["pool"]] // 8
                self.driver.copy_in(self.target, self.data["pools"][at:at + 16384])
                address = self.target
            described = self.driver.tensor_map(spec, address)
            if spec.get("by_value", True):
                holders.append((ctypes.c_char * 128).from_buffer_copy(described))
            else:
                self.driver.copy_in(self.maps, np.frombuffer(described, np.uint8))
                holders.append(self.maps)
        texture = case.get("texture")
        if texture:
            at = self.data["places"][texture["pool"]] // 8
            texture = cuda_textures.TextureOf(self.driver, texture, self.data["pools"][at:at + 32768])
            holders.append(texture.handle)
        pointers = (ctypes.c_void_p * len(holders))(*[ctypes.cast(ctypes.pointer(h), ctypes.c_void_p) for h in holders])
        self.driver.check("cuLaunchKernel", function, case["grid"], 1, 1, case["block"], 1, 1, case["shared"], None, pointers, None)
        self.driver.check("cuCtxSynchronize")
        if spec and spec.get("store"):
            out, blocks = self.driver.copy_out(self.target, 32768), 1
        elif texture and texture.spec.get("read_back"):
            out, blocks = texture.read_back(), 1
        else:
            out, blocks = self.driver.copy_out(self.output, words), case["grid"]
        if texture:
            texture.destroy()
        parts = min(blocks, 64)
        sums = [zlib.crc32(part.tobytes()) for part in out.reshape(parts, -1)]
        expected = case.get("sums")
        differs = [b for b in range(parts) if expected and sums[b] != expected[b]]
        if self.save and (differs or self.everything):
            np.savez_compressed(f"{self.save}/{case['index']}.npz", out=steps_off(case["sweep"], out) if case["sweep"] else out)
        self.say(case=case["index"], sums=sums, differs=differs, device=self.driver.name)


def read_folder(folder, pattern):
    data = json.loads(gzip.open(folder / "cases.json.gz").read())
    data["pools"] = np.load(folder / "pools.npz")["pools"]
    data["cases"] = [c for c in data["cases"] if re.search(pattern, c["name"])]
    return data


def work(a):
    """A worker: its cases are those whose index is on standard input."""
    wanted = set(map(int, sys.stdin.read().split()))
    data = read_folder(a.folder, "")
    Runner(data, a.save, a.everything).run([c for c in data["cases"] if c["index"] in wanted])


class Pool:
    """Processes with a share of the cases each; one that dies or hangs is replaced, without the case that it was at."""

    def __init__(self, a, environment):
        self.a, self.environment, self.lines, self.lock = a, environment, {}, threading.Lock()

    def run(self, indices):
        jobs = max(1, min(self.a.jobs, len(indices) // 8 or 1))
        threads = [threading.Thread(target=self.share, args=(indices[j::jobs],)) for j in range(jobs)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        return self.lines

    def share(self, left):
        tries = 0
        while left and time.time() < self.a.deadline:
            process = subprocess.Popen([sys.executable, __file__, "work", str(self.a.folder), *(["--save", str(self.a.save)] if self.a.save else []), *(["--everything"] if self.a.everything else [])],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment, text=True)
            process.stdin.write(" ".join(map(str, left)))
            process.stdin.close()
            last = [time.time()]
            threading.Thread(target=self.watch, args=(process, last), daemon=True).start()
            at, done = None, set()
            for line in process.stdout:
                last[0] = time.time()
                try:
                    line = json.loads(line)
                except ValueError:
                    continue
                if line.get("begin"):
                    at = line["case"]
                    continue
                at = None if at == line["case"] else at
                done.add(line["case"])
                with self.lock:
                    self.lines[line["case"]] = line
            process.wait()
            words = process.stderr.read().strip()[-400:]
            if at is not None:
                done.add(at)
                with self.lock:
                    self.lines[at] = {"case": at, "failed": f"the process ended ({process.returncode}): {words}"}
            tries = 0 if done else tries + 1
            if tries > 2:
                print(f"a worker cannot start: {words}", flush=True)
                return
            left = [i for i in left if i not in done]

    def watch(self, process, last):
        while process.poll() is None:
            time.sleep(0.5)
            if time.time() - last[0] > self.a.patience or time.time() > self.a.deadline:
                process.kill()


def simulated(library, folder):
    os.symlink(os.path.abspath(library), f"{folder}/libcuda.so.1")
    return {**os.environ, "LD_LIBRARY_PATH": folder, "HLOKIT_CUDA_SIM_DEVICES": "1"}


def make(a):
    import ptx_cases_groups as ptx_cases
    a.folder.mkdir(parents=True, exist_ok=True)
    data, cases = ptx_cases.everything(a.filter, a.seed, not a.no_sweeps)
    np.savez_compressed(a.folder / "pools.npz", pools=data.pop("pools"))
    write(a.folder, {**data, "cases": cases})
    with tempfile.TemporaryDirectory() as tmp:
        lines = Pool(a, simulated(a.sim, tmp)).run([c["index"] for c in cases])
    good, bad = [], []
    for case in cases:
        line = lines.get(case["index"], {"failed": "not run"})
        if "sums" in line:
            case["sums"] = line["sums"]
            good.append(case)
        else:
            bad.append((case["name"], line))
    write(a.folder, {**data, "cases": good})
    for name, line in bad:
        print(f"not in the simulator: {name}: {line.get('refused') or line.get('failed')}"[:400])
    print(f"{len(good)} cases, {len(bad)} that the simulator does not run")
    return bool(bad)


def write(folder, data):
    with gzip.open(folder / "cases.json.gz", "wt", compresslevel=6) as file:
        json.dump(data, file)


def run(a):
    a.save.mkdir(parents=True, exist_ok=True)
    start = time.time()
    data = read_folder(a.folder, a.filter)
    names = {c["index"]: c["name"] for c in data["cases"]}
    with tempfile.TemporaryDirectory() as tmp:
        keep, a.save = a.save, pathlib.Path(tmp)
        lines = Pool(a, simulated(a.sim, tempfile.mkdtemp(dir=tmp)) if a.sim else {**os.environ, "CUDA_CACHE_DISABLE": "1"}).run(list(names))
        pack(a.save, keep, {c["index"]: c["name"] for c in data["cases"]})
    with gzip.open(keep / "lines.json.gz", "wt") as file:
        json.dump(lines, file)
    return tell(a, names, lines, keep, start)


def pack(folder, keep, names, files=5, limit=14 << 20):
    """Results into a few archives; of instructions with many cases not more than 1 MiB each."""
    spent, archives = {}, [[zipfile.ZipFile(keep / f"results{k}.zip", "w"), 0] for k in range(files)]
    for path in sorted(folder.glob("*.npz"), key=lambda f: int(f.stem)):
        size, name = path.stat().st_size, names[int(path.stem)]
        key = re.sub(r"n\d+k", "nk", name.partition(" ")[0])
        room = next((x for x in archives if x[1] + size < limit), None)
        if room and (spent.get(key, 0) < 1 << 20 or " from " in name):
            spent[key] = spent.get(key, 0) + size
            room[0].write(path, path.name)
            room[1] += size
    for archive, _ in archives:
        archive.close()


def load_results(folder, wanted):
    """{index: words} of the cases that were kept."""
    found = {}
    for path in sorted(folder.glob("results*.zip")):
        with zipfile.ZipFile(path) as archive:
            for entry in archive.namelist():
                if int(entry[:-4]) in wanted:
                    found[int(entry[:-4])] = np.load(io.BytesIO(archive.read(entry)))["out"]
    return found


def tell(a, names, lines, keep, start):
    by_name = {}
    report = open(keep / "report.txt", "w")
    for index, name in names.items():
        line = lines.get(index, {"failed": "not run"})
        kind = "refused" if "refused" in line else "failed" if "failed" in line else "differs" if line["differs"] else "same"
        by_name.setdefault(re.split(r"[. ]", name)[0], {}).setdefault(kind, []).append((name, line))
        if kind != "same":
            report.write(f"{kind} {name}: {line.get('refused') or line.get('failed') or str(len(line['differs'])) + ' rounds of ' + str(len(line['sums']))}\n")
    devices = {line.get("device") for line in lines.values()} - {None}
    print(f"{len(names)} cases on {devices} in {time.time() - start:.0f} s")
    for kind in ("same", "differs", "refused", "failed"):
        print(f"  {kind}: {sum(len(v.get(kind, [])) for v in by_name.values())}")
    for instruction, kinds in sorted(by_name.items()):
        bad = {k: v for k, v in kinds.items() if k != "same"}
        if bad:
            print(f"{instruction}: " + ", ".join(f"{len(v)} {k}" for k, v in kinds.items()))
            for kind, cases in bad.items():
                for name, line in cases[:a.show]:
                    print(f"    {kind} {name}: {(line.get('refused') or line.get('failed') or str(len(line['differs'])) + ' rounds')[:160]}")
    return any(k != "same" for v in by_name.values() for k in v)


def compare(a):
    """The simulator's checksums now against those of a run on a GPU."""
    start, data = time.time(), read_folder(a.folder, a.filter)
    past = json.loads(gzip.open(a.results / "lines.json.gz").read())
    names = {c["index"]: c["name"] for c in data["cases"]}
    with tempfile.TemporaryDirectory() as tmp:
        lines = Pool(a, simulated(a.sim, tmp)).run(list(names))
    for index, line in lines.items():
        sums = past.get(str(index), {}).get("sums")
        if "sums" in line:
            line["differs"] = [] if sums is None else [b for b, (x, y) in enumerate(zip(line["sums"], sums)) if x != y]
    return tell(a, names, lines, pathlib.Path(a.save or a.results), start)


def check(a):
    """Cases of many kinds agree with themselves; four that are spoilt are told apart."""
    with tempfile.TemporaryDirectory() as tmp:
        a.folder, a.filter = pathlib.Path(tmp) / "cases", r"^(add|shfl|mma\.sync\.aligned\.m16n8k16|wgmma.*n8k.* registers|mbarrier\.arrive|cp\.async\.bulk|cluster|ldmatrix|atom\.global\.add)"
        if make(a):
            return 1
        data = json.loads(gzip.open(a.folder / "cases.json.gz").read())
        by_name = {c["name"]: c for c in data["cases"]}
        by_name["add.u16 h0,h1,h2"]["sums"][3] ^= 1
        wrong = by_name["add.rn.f32 w0,w1,w2"]
        wrong["text"] = wrong["text"].replace("add.rn.f32", "add.rz.f32")
        refused = by_name["add.rz.f32 w0,w1,w2"]
        refused["text"] = refused["text"].replace("add.rz.f32", "add.rz.f48")
        faulty = by_name["add.rm.f32 w0,w1,w2"]
        faulty["text"] = faulty["text"].replace("st.global.b32 [out+0]", "st.global.b32 [0]")
        write(a.folder, data)
        a.save = out = pathlib.Path(tmp) / "out"
        run(a)
        lines = json.loads(gzip.open(out / "lines.json.gz").read())
        told = {c["name"]: lines[str(c["index"])] for c in data["cases"]}
        odd = {name: line for name, line in told.items() if line.get("differs") != []}
        expected = {"add.u16 h0,h1,h2": "differs", "add.rn.f32 w0,w1,w2": "differs", "add.rz.f32 w0,w1,w2": "failed", "add.rm.f32 w0,w1,w2": "failed"}
        good = set(odd) == set(expected) and all(odd[name].get(kind) for name, kind in expected.items())
        print("as planted" if good else f"not as planted: {odd}")
        return not good or len(told) < 300


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("make", "run", "work", "explain", "compare", "check"))
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    parser.add_argument("results", type=pathlib.Path, nargs="?")
    parser.add_argument("--sim", help="the simulated driver's library, instead of the system's")
    parser.add_argument("--save", type=pathlib.Path)
    parser.add_argument("--everything", action="store_true", help="keep all results, not only those that differ")
    parser.add_argument("--filter", default="", help="regular expression on the names of cases")
    parser.add_argument("--seed", type=int, default=1, help="of the operands")
    parser.add_argument("--no-sweeps", action="store_true", help="without functions over consecutive operands")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", type=int, default=4, help="printed cases of an instruction and outcome; report.txt has all")
    parser.add_argument("--patience", type=float, default=60, help="seconds that a process may be silent")
    parser.add_argument("--seconds", type=float, default=1e6, help="of all")
    a = parser.parse_args()
    a.deadline = time.time() + a.seconds
    sys.exit({"make": make, "run": run, "work": work, "explain": explain, "compare": compare, "check": check}[a.what](a))


def explain(a):
    """Prints lanes whose results differ: operands are found by running the case again in the simulator with --everything."""
    data = read_folder(a.folder, a.filter)
    theirs = load_results(a.results, {c["index"] for c in data["cases"]})
    a.everything, cases = True, {c["index"]: c for c in data["cases"] if c["index"] in theirs}
    with tempfile.TemporaryDirectory() as tmp:
        a.save = pathlib.Path(tmp)
        Pool(a, simulated(a.sim, tempfile.mkdtemp(dir=tmp))).run(list(cases))
        for index, case in cases.items():
            path = a.save / f"{index}.npz"
            if not path.exists():
                print(f"== {case['name']}: not run by the simulator")
                continue
            ours, other = np.load(path)["out"].view(np.uint32), theirs[index].view(np.uint32)
            wrong = np.nonzero(ours != other)[0]
            print(f"== {case['name']}: {len(wrong)} of {len(ours)} words differ")
            threads = case["block"] if not (case.get("tensor") or {}).get("store") else 1
            per = case["words"] // threads
            for lane in list(dict.fromkeys(w // per for w in wrong.tolist()))[:a.show]:
                words = slice(lane * per, lane * per + per)
                operands = [int(data["pools"][(p + (lane // threads * 32 + lane % threads) * 8) // 8]) for p in case.get("operands", [])]
                bad = [k for k in range(per) if ours[words][k] != other[words][k]]
                print(f"  block {lane // threads} thread {lane % threads} operands {' '.join(f'{o:x}' for o in operands)}: " +
                      ", ".join(f"[{k}] simulator {ours[words][k]:08x} GPU {other[words][k]:08x}" for k in bad[:4]))


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
