#!/usr/bin/env python3
"""Runs hlo-gen's modules, and what XLA's CPU and GPU compilers make of them, and compares with XLA's results.

  generated_peer.py --bin DIR [--first N] [--count N] [--instructions N] [--target-config FILE] [--keep DIR] [RECIPE...]

For each recipe (all of `hlo-gen --list-recipes` but LayoutBitcast, whose layouts XLA assigns anew) and seed a module of that recipe
alone. XLA runs it on its CPU; hlo-run runs its text, that of XLA's CPU compiler and, where jax has the GPU plugin, that of XLA's GPU
compiler (no device is needed): through the passes, without, without optimization, and on the interpreter. Modules that need a host
or other devices, whose numbers are random or in XLA's hands (custom calls), and those that XLA refuses or dies of are counted.
--keep DIR: the texts that differ.
Exit status: 0 none differs, 1 some do, 77 no jaxlib.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy

    import xla_optimized_peer
    import xla_peer
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

WAYS = {"passes": [], "no passes": ["--no-passes"], "level 0": ["--no-passes", "--opt-level=0"],
        "interpreter": ["--no-passes", "--platform=interpreter"]}
FOREIGN = re.compile(r" (infeed|outfeed|send|recv|rng|rng-get-and-update-state|custom-call|domain|partition-id|replica-id"
                     r"|stochastic-convert|all-[a-z-]+|reduce-scatter|ragged-all-to-all|collective-[a-z-]+)\(")
# Relative; where a module's own bound says nothing of another order of operations.
ALLOWED = {"bfloat16": 1.6e-2, "float16": 2e-3, "float32": 1e-5, "float64": 1e-10, "complex64": 2e-5, "complex128": 1e-10}
SECONDS = 60


def random_input(generator, shape):
    kind, dims = numpy.dtype(shape.numpy_dtype()), shape.dimensions()
    if kind == bool or "int" in kind.name:
        return generator.integers(0, 2 if kind == bool or kind.name.endswith(("t2", "t4")) else 8, dims).astype(kind)
    parts = [generator.uniform(-1, 1, dims) for _ in range(1 + (kind.kind == "c"))]
    return (parts[0] + 1j * parts[1] if kind.kind == "c" else parts[0]).astype(kind)


def leaves(shape):
    return [leaf for part in shape.tuple_shapes() for leaf in leaves(part)] if shape.is_tuple() else [shape]


def compile_and_run(hlo, question):
    """(text, seed, configuration of a GPU) -> inputs, results and {target: text}; or XLA's refusal."""
    import jax
    from jax._src.lib import _jax, xla_client
    jax.config.update("jax_enable_x64", True)
    text, seed, config = question
    try:
        computation = hlo.XlaComputation(hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
        shapes = [leaf for shape in computation.program_shape().parameter_shapes() for leaf in leaves(shape)]
        generator = numpy.random.default_rng(seed)
        inputs, device = [random_input(generator, shape) for shape in shapes], jax.local_devices()[0]
        made = device.client.compile_and_load(_jax.mlir.xla_computation_to_mlir_module(computation),
                                              xla_client.DeviceList((device,)), xla_client.CompileOptions())
        results = made.execute_sharded([jax.device_put(x, device) for x in inputs]).disassemble_into_single_device_arrays()
        texts = {"raw": text, "cpu": made.hlo_modules()[0].to_string(xla_optimized_peer.print_options())}
    except Exception as error:  # of several types
        return str(error)[:200]
    try:
        compile_and_run.gpu = getattr(compile_and_run, "gpu", None) or xla_optimized_peer.GpuCompiler(config)
        if compile_and_run.gpu.device is not None:
            texts["gpu"] = compile_and_run.gpu.optimized(computation)
    except Exception:  # XLA's GPU compiler does not take it
        pass
    return inputs, [numpy.asarray(r[0]) for r in results], texts


def difference(got, wanted, error):
    """What is wrong with an array, or nothing; `error` is what the module's rounding may make of it."""
    if got.shape != wanted.shape or got.dtype.itemsize != wanted.dtype.itemsize:
        return f"shape {got.shape} {got.dtype}"
    got = got if got.dtype == wanted.dtype else got.view(wanted.dtype)
    if wanted.dtype.kind in "iub" or wanted.dtype.name.startswith(("int", "uint")):
        wrong = got != wanted
    else:
        wide = numpy.complex128 if wanted.dtype.kind == "c" else numpy.float64
        allowed = ALLOWED.get(wanted.dtype.name, .5 if wanted.dtype.name.startswith("float4") else .13)
        wrong = ~numpy.isclose(got.astype(wide), wanted.astype(wide), rtol=allowed, atol=max(4 * error, allowed / 10), equal_nan=True)
    if not wrong.any():
        return ""
    at = tuple(numpy.argwhere(wrong)[0])
    return f"{wrong.sum()} of {wanted.size} {wanted.dtype} differ, at {list(map(int, at))}: {got[at]}, XLA {wanted[at]}"


class Tool:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def module(self, recipe, seed):
        command = [f"{self.options.bin}/hlo-gen", f"--seed={seed}", f"--recipe={recipe}",
                   f"--instructions={self.options.instructions}", "--output=-"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def run(self, path, flags, results, error):
        """What is wrong with hlo-run's results, or nothing."""
        out = os.path.join(self.folder, "out.npz")
        try:
            done = subprocess.run([f"{self.options.bin}/hlo-run", path, f"--input={self.folder}/in.npz", f"--output={out}", *flags],
                                  capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return "takes too long"
        if done.returncode:
            return f"status {done.returncode}: {(done.stderr.splitlines() or [''])[0][:250]}"
        with numpy.load(out) as found:
            wrong = [(k, difference(found[f"out{k}"], wanted, error)) for k, wanted in enumerate(results)]
        return next((f"result {k}: {text}" for k, text in wrong if text), "")

    def compare(self, name, text, answer):
        """How many runs differ from XLA's."""
        inputs, results, texts = answer
        bound = re.search(r"--abs-error=([0-9.e+-]+)", text)
        numpy.savez(os.path.join(self.folder, "in.npz"), **{f"in{k}": xla_optimized_peer.stored(x) for k, x in enumerate(inputs)})
        differ = 0
        for target, made in texts.items():
            path = os.path.join(self.options.keep or self.folder, f"{name}.{target}.hlo")
            with open(path, "w", encoding="utf-8") as file:
                file.write(made)
            wrong = {way: self.run(path, flags, results, float(bound.group(1)) if bound else 0) for way, flags in WAYS.items()}
            for way, what in wrong.items():
                if what:
                    print(f"{name} {target}, {way}: {what}", flush=True)
            differ += sum(map(bool, wrong.values()))
            if not any(wrong.values()):
                os.remove(path)
        return differ


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipes", nargs="*")
    parser.add_argument("--bin", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--instructions", type=int, default=6)
    parser.add_argument("--target-config", default=xla_optimized_peer.CONFIG)
    parser.add_argument("--keep")
    options = parser.parse_args()
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    listed = subprocess.run([f"{options.bin}/hlo-gen", "--list-recipes"], capture_output=True, text=True, check=True).stdout
    count, peer = dict.fromkeys(("agree", "differ", "refused by XLA", "not comparable"), 0), xla_peer.Peer(compile_and_run)
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(options, folder)
        for recipe in options.recipes or [line.split()[0] for line in listed.splitlines()
                                           if line.strip() and not line.startswith("LayoutBitcast")]:
            for seed in range(options.first, options.first + options.count):
                text = tool.module(recipe, seed)
                if FOREIGN.search(text):
                    count["not comparable"] += 1
                    continue
                peer.ask((text, seed, options.target_config))
                answer = peer.answer(SECONDS)
                if isinstance(answer, str):
                    count["refused by XLA"] += 1
                    continue
                count["differ" if tool.compare(f"{recipe}_{seed}", text, answer) else "agree"] += 1
    print(", ".join(f"{n} {what}" for what, n in count.items()))
    return 1 if count["differ"] else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
