#!/usr/bin/env python3
"""Modules beside XLA's GPU compiler on one GPU: microseconds of a run, arguments and results on the device.

xla_times.py prepare MODULES FOLDER   MODULES: .hlo files beside .npz with in0, in1, ...; FOLDER gets NAME.mlir, as jaxlib converts them (jax, no GPU)
xla_times.py run MODULES FOLDER --bin BIN [--seconds 200] [--iterations 20] [--launches] [--json FILE]   (jax with CUDA, a GPU)

XLA compiles several modules at a time and runs them one by one; then hlo-run runs each. Both give the fastest of the iterations, the host's
launch and wait included. What Python adds to XLA's is taken off: by how much a module of one operation takes longer there than in hlo-run. The
table ends with the geometric mean of XLA's time divided by ours.
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np


# Other manners of running, by the value of HLOKIT_CUDA_GRAPHS.
MANNERS = {"launch by launch": "0", "kernels apart": "apart"}
NOTHING = "HloModule nothing\nENTRY e {\n  x = f32[8] parameter(0)\n  ROOT y = f32[8] negate(x)\n}\n"
NOTHING_MLIR = """module @nothing {
  func.func public @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    %y = stablehlo.negate %x : tensor<8xf32>
    return %y : tensor<8xf32>
  }
}
"""


def arguments_of(hlo):
    with np.load(hlo.with_suffix(".npz")) as data:
        types = dict(zip(data["names"], data["types"])) if "names" in data.files else None
        found = [data[f"in{i}"] for i in range(sum(name.startswith("in") and name[2:].isdigit() for name in data.files))]
        kinds = [str(types[f"in{i}"]) if types else str(data["types"][i]) for i in range(len(found))]
    return found, kinds


def without_donation(text):
    """The text with nothing given away in its header, so that arguments serve many runs."""
    head, _, rest = text.partition("\n")
    for key in ("input_output_alias={", "buffer_donor={"):
        at = head.find(key)
        if at < 0:
            continue
        end, depth = at + len(key), 1
        while depth:
            depth += {"{": 1, "}": -1}.get(head[end], 0)
            end += 1
        head = (head[:at] + head[end:].lstrip(", ")).rstrip(", ")
    return head + "\n" + rest


def prepare(a):
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jaxlib._hlo as hlo_library
    from jax._src.lib import _jax

    a.folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(a.modules.glob("*.hlo")):
        if path.name.endswith(".opt.hlo") or not path.with_suffix(".npz").exists():
            continue
        try:
            module = hlo_library.hlo_module_from_text(without_donation(path.read_text()))
            converted = _jax.mlir.xla_computation_to_mlir_module(hlo_library.XlaComputation(module.as_serialized_hlo_module_proto()))
        except Exception as error:  # what jaxlib cannot convert is not compared
            print(f"{path.name}: {error}", file=sys.stderr)
            continue
        (a.folder / f"{path.stem}.mlir").write_bytes(converted if isinstance(converted, bytes) else converted.encode())


class Xla:
    """Compiled modules of jax's GPU client and how long they run."""

    def __init__(self):
        import jax
        import ml_dtypes
        from jax._src.lib import xla_client

        jax.config.update("jax_enable_x64", True)
        self.jax, self.client_module, self.narrow = jax, xla_client, ml_dtypes
        self.device = jax.local_devices()[0]

    def compile(self, text):
        devices = self.client_module.DeviceList((self.device,))
        return self.device.client.compile_and_load(text, devices, self.client_module.CompileOptions())

    def on_device(self, array, kind):
        names = {"bf16": "bfloat16", "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "s4": "int4", "u4": "uint4"}
        if kind in names:
            array = array.view(getattr(self.narrow, names[kind]))
        return self.jax.device_put(array, self.device)

    def run(self, program, arguments, iterations):
        buffers = [self.on_device(array, kind) for array, kind in zip(*arguments)]
        times = []
        for _ in range(iterations + 3):
            start = time.perf_counter()
            self.jax.block_until_ready([out[0] for out in program.execute_sharded(buffers).disassemble_into_single_device_arrays()])
            times.append(time.perf_counter() - start)
        return min(times[3:])


def xla_seconds(a, files, deadline):
    """Seconds of a run by module's name, that of nothing too; messages of those that do not compile or run."""
    xla = Xla()
    found = {"nothing": xla.run(xla.compile(NOTHING_MLIR), ([np.zeros(8, np.float32)], ["f32"]), 100)}
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        compiled = {}
        for path in files:
            compiled[path] = pool.submit(lambda path=path: xla.compile((a.folder / f"{path.stem}.mlir").read_text()) if time.time() < deadline else None)
        programs = {}
        for path, future in compiled.items():
            try:
                programs[path] = future.result()
            except Exception as error:
                print(f"XLA refuses {path.stem}: {str(error)[:200]}")
    for path, program in programs.items():
        if program is None or time.time() > deadline:
            continue
        try:
            found[path.stem] = xla.run(program, arguments_of(path), a.iterations)
        except Exception as error:
            print(f"XLA's {path.stem}: {str(error)[:200]}")
    return found


def our_seconds(a, path, graphs=""):
    """Seconds of a run, with HLOKIT_CUDA_GRAPHS set; None, with a message, where hlo-run fails."""
    given = [f"--input={path.with_suffix('.npz')}"] if path.with_suffix(".npz").exists() else []
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "times.json"
        done = subprocess.run([a.bin / "hlo-run", path, "--platform=cuda", *given, f"--iterations={a.iterations}", "--warmup=3", f"--json={out}"],
                              env={**os.environ, "HLOKIT_CUDA_GRAPHS": graphs}, capture_output=True, text=True, errors="replace", timeout=60, check=False)
        if done.returncode or not out.exists():
            print(f"{path.stem}: exit {done.returncode}: {done.stderr.strip()[:200]}")
            return None
        return json.loads(out.read_text())["run_min_s"]


def run(a):
    files = [path for path in sorted(a.modules.glob("*.hlo")) if (a.folder / f"{path.stem}.mlir").exists()]
    start = time.time()
    theirs = xla_seconds(a, files, start + a.seconds / 2)
    with tempfile.TemporaryDirectory() as folder:
        nothing = pathlib.Path(folder) / "nothing.hlo"
        nothing.write_text(NOTHING)
        least = our_seconds(a, nothing)
    python = theirs["nothing"] - least if least else 0
    print(f"XLA: {len(theirs)} of {len(files) + 1} modules in {time.time() - start:.0f} s; Python adds {python * 1e6:.1f} us to a run; hlo-run's least {(least or 0) * 1e6:.1f} us", flush=True)
    rows = {}
    for path in files:
        if path.stem in theirs and time.time() < start + a.seconds:
            try:
                ours = our_seconds(a, path)
                others = {name: our_seconds(a, path, graphs) for name, graphs in MANNERS.items()} if a.launches else {}
            except subprocess.TimeoutExpired:
                print(f"{path.stem}: no answer in 60 s")
                continue
            if ours:
                xla = max(theirs[path.stem] - python, 1e-6)
                rows[path.stem] = {"xla_us": xla * 1e6, "hlokit_us": ours * 1e6, "xla_over_hlokit": xla / ours}
                rows[path.stem].update({name: seconds * 1e6 for name, seconds in others.items() if seconds})
    for name, row in sorted(rows.items(), key=lambda item: item[1]["xla_over_hlokit"]):
        launches = "".join(f"  {name} {row[name]:10.1f} us" for name in MANNERS if name in row)
        print(f"{name:48s} XLA {row['xla_us']:10.1f} us  hlokit {row['hlokit_us']:10.1f} us  {row['xla_over_hlokit']:6.2f}{launches}")
    if rows:
        mean = math.exp(sum(math.log(row["xla_over_hlokit"]) for row in rows.values()) / len(rows))
        print(f"geometric mean over {len(rows)} modules: {mean:.2f}")
        for manner in MANNERS:
            gains = [row[manner] / row["hlokit_us"] for row in rows.values() if manner in row]
            if gains:
                print(f"{manner} / graphs, geometric mean over {len(gains)} modules: {math.exp(sum(map(math.log, gains)) / len(gains)):.2f}")
    if a.json:
        a.json.write_text(json.dumps(rows, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["prepare", "run"])
    parser.add_argument("modules", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--bin", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=200)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--launches", action="store_true", help="without CUDA graphs, and with kernels that do not overlap, too")
    parser.add_argument("--json", type=pathlib.Path)
    a = parser.parse_args()
    if a.command == "run" and not a.bin:
        parser.error("run needs --bin")
    (prepare if a.command == "prepare" else run)(a)


if __name__ == "__main__":
    main()
