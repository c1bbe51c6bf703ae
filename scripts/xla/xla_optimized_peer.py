#!/usr/bin/env python3
"""Runs what XLA's optimizers make of random JAX programs, and compares with XLA's results.

  xla_optimized_peer.py --bin DIR [--first N] [--count N] [--targets raw,cpu,gpu] [--form FORM] [--target-config FILE]
                        [--keep DIR]

Each seed is a program of random_programs.py, its gradients (--form derivative) or it on three rows (--form batched). jaxlib compiles
and runs it on its CPU; its raw text, the text that XLA's CPU compiler makes of it and, where jax has the GPU plugin, that of XLA's GPU
compiler (no device is needed) are run by hlo-run, as they stand (--no-passes) and through hlokit's passes. Integers, and floats that no arithmetic has rounded, are the same; others agree to
the TOLERANCE of the coarsest type in the program, times the largest element. Programs that disagree are kept as SEED.TARGET.hlo and SEED.npz (arguments and XLA's results).
--write DIR keeps every program so. Exit status: 0 none differs, 1 some do, 77 no jaxlib.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CONFIG = os.path.join(ROOT, "..", "shared", "corpus", "xla", "target_config", "h100.txtpb")
# Of the largest element: sums in another order, functions written otherwise, bf16 and f16 rounded less often.
TOLERANCE = {"bf16[": 6e-2, "f16[": 1e-2, "f32[": 2e-4, "f64[": 1e-10}
os.environ.setdefault("JAX_PLATFORMS", "cpu")
try:
    import jax
    import ml_dtypes
    import numpy
    from jax._src.interpreters import mlir
    from jax._src.lib import _jax, xla_client
    from jax._src.lib.mlir import ir
    from jax.experimental import topologies
    from jaxlib import _hlo

    import random_programs
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


def print_options():
    options = _hlo.HloPrintOptions()
    options.print_large_constants = True
    return options


class GpuCompiler:
    """XLA's GPU compiler for a device described in a file; `text` is None where there is no such compiler."""

    def __init__(self, config):
        self.device = None
        try:
            with open(config, encoding="utf-8") as file:
                topology = topologies.get_topology_desc(platform="cuda", topology_name="", target_config=file.read(),
                                                        topology="1x1x1")
            self.device, self.context = topology.devices[0], mlir.make_ir_context()
        except Exception as error:  # of several types
            print(f"no GPU compiler: {str(error).splitlines()[0][:150]}")

    def optimized(self, computation):
        text = _jax.mlir.xla_computation_to_mlir_module(computation)
        with self.context:
            parsed = ir.Module.parse(text)
        made = self.device.client.compile(parsed, xla_client.DeviceList((self.device,)), xla_client.CompileOptions())
        return made.hlo_modules()[0].to_string(print_options())


def stored(array):
    """As numpy's own types, which alone .npz files hold."""
    return array if array.dtype.kind in "biufc" and array.dtype.name in numpy.sctypeDict else array.view(f"u{array.dtype.itemsize}")


NAMES = {"bool": "pred", "bfloat16": "bf16", "float16": "f16", "float32": "f32", "float64": "f64", "complex64": "c64",
         **{f"{kind}{bits}": f"{kind[0].replace('i', 's')}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}}


def write_values(path, arguments, results):
    arrays = {f"in{k}": stored(x) for k, x in enumerate(arguments)} | {f"out{k}": stored(x) for k, x in enumerate(results)}
    numpy.savez(path, types=numpy.array([NAMES[x.dtype.name] for x in arguments + results]), **arrays)


def difference(got, wanted, allowed):
    """What is wrong with the worst element, or nothing; `allowed` is relative to the largest element."""
    if got.shape != wanted.shape or got.dtype.itemsize != wanted.dtype.itemsize:
        return f"shape {got.shape} {got.dtype}"
    if got.dtype != wanted.dtype:
        got = got.view(wanted.dtype)
    if wanted.dtype.kind in "iub" or wanted.dtype.name.startswith(("int", "uint")):
        wrong = int(numpy.sum(got != wanted))
        return f"{wrong} of {wanted.size} differ" if wrong else ""
    wide = numpy.complex128 if wanted.dtype.kind == "c" else numpy.float64
    x, y = got.astype(wide), wanted.astype(wide)
    if numpy.array_equal(x, y, equal_nan=True):
        return ""
    odd = ~(numpy.isfinite(x) & numpy.isfinite(y))
    if not numpy.array_equal(x[odd], y[odd], equal_nan=True):
        return "NaN or infinity"
    scale = max(1e-30, float(numpy.abs(y[~odd]).max(initial=0)))
    worst = float(numpy.abs(x - y)[~odd].max(initial=0)) / scale
    return f"{worst:.2g} of the largest element" if worst > allowed else ""


class Runner:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.gpu = GpuCompiler(options.target_config) if "gpu" in options.targets else None

    def texts(self, lowered, compiled):
        """(target, text), and refusals as text None."""
        computation = lowered.compiler_ir(dialect="hlo")
        if "raw" in self.options.targets:
            yield "raw", computation.get_hlo_module().to_string(print_options())
        if "cpu" in self.options.targets:
            yield "cpu", compiled.runtime_executable().hlo_modules()[0].to_string(print_options())
        if self.gpu is not None and self.gpu.device is not None:
            try:
                yield "gpu", self.gpu.optimized(computation)
            except Exception:  # XLA's GPU compiler does not take it
                yield "gpu", None

    def run(self, path, values, results, allowed, flags):
        """What is wrong with hlo-run's results, or nothing."""
        out = os.path.join(self.folder, "out.npz")
        done = subprocess.run([os.path.join(self.options.bin, "hlo-run"), path, f"--input={values}", f"--output={out}", *flags],
                              capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            return f"status {done.returncode}: {(done.stderr.strip().splitlines() or [''])[0][:300]}"
        with numpy.load(out) as found:
            for k, wanted in enumerate(results):
                wrong = difference(found[f"out{k}"], wanted, allowed[k])
                if wrong:
                    return f"result {k} ({wanted.dtype}{list(wanted.shape)}): {wrong}"
        return ""

    def check(self, seed, count):
        """Counts runs, refusals and disagreements of one program."""
        arguments = random_programs.inputs(seed)
        exact = []
        run = random_programs.FORMS[self.options.form](random_programs.program(seed, exact), exact)
        lowered = jax.jit(run, keep_unused=True).lower(*arguments)
        raw = lowered.as_text(dialect="hlo")
        coarsest = next((t for name, t in TOLERANCE.items() if re.search(r"\b" + re.escape(name), raw)), 0)
        compiled = lowered.compile()
        results = [numpy.asarray(x) for x in compiled(*arguments)]
        folder = self.options.write or self.folder
        values = os.path.join(folder, f"{seed}.npz")
        write_values(values, arguments, results)
        for target, text in self.texts(lowered, compiled):
            count["refused" if text is None else target] = count.get("refused" if text is None else target, 0) + 1
            if text is None:
                continue
            path = os.path.join(folder, f"{seed}.{target}.hlo")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            for flags in ([["--no-passes"], []] if self.options.bin else []):
                wrong = self.run(path, values, results, [0 if e else coarsest for e in exact], flags)
                count["runs"] = count.get("runs", 0) + 1
                if wrong:
                    count["disagree"] = count.get("disagree", 0) + 1
                    print(f"seed {seed} {target} {' '.join(flags) or 'passes'}: {wrong}", flush=True)
                    if self.options.keep:
                        for kept in (path, values):
                            os.makedirs(self.options.keep, exist_ok=True)
                            subprocess.run(["cp", kept, self.options.keep], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", help="folder of hlo-run; without it programs are made, and kept with --write")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--targets", default="raw,cpu,gpu", type=lambda text: text.split(","))
    parser.add_argument("--form", default="plain", choices=random_programs.FORMS)
    parser.add_argument("--target-config", default=CONFIG)
    parser.add_argument("--keep", help="folder for programs that disagree")
    parser.add_argument("--write", help="folder for all programs")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    if options.write:
        os.makedirs(options.write, exist_ok=True)
    count, start = {}, time.time()
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(options, folder)
        for seed in range(options.first, options.first + options.count):
            try:
                runner.check(seed, count)
            except (TypeError, ValueError, IndexError, ArithmeticError, subprocess.TimeoutExpired) as error:
                if "reverse-mode" in str(error):  # a loop of as many rounds as the run finds
                    count["without derivative"] = count.get("without derivative", 0) + 1
                    continue
                count["failed"] = count.get("failed", 0) + 1
                print(f"seed {seed}: {type(error).__name__} {str(error).splitlines()[0][:200]}", flush=True)
            if seed % 20 == 19:
                jax.clear_caches()
    print(", ".join(f"{n} {what}" for what, n in sorted(count.items())), f"in {time.time() - start:.0f} s")
    return 1 if count.get("disagree") or count.get("failed") else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
