"""Compiles and runs one HLO module with the XLA inside jaxlib, for benchmarks/compare.py.

time_xla.py MODULE INPUTS.npz SECONDS: makes random inputs where INPUTS.npz is not there yet (in0, in1, ...), prints a line
of JSON: compile_s, run_s (the fastest, less what a module that does nothing takes through Python), cpu_s (processor time of a
run, likewise), peak_rss_mib.
Needs pip install jax.
"""
import json
import os
import pathlib
import resource
import sys
import time

import numpy

os.environ["JAX_PLATFORMS"] = "cpu"
import jax  # noqa: E402
from jax._src.lib import _jax, xla_client  # noqa: E402
from jaxlib import _hlo, lapack  # noqa: E402

lapack._lapack.initialize()
LARGEST_INDEX = 20000  # of random integers: rows of every table in benchmarks/micro


def compiled(text):
    computation = _hlo.XlaComputation(_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
    module = _jax.mlir.xla_computation_to_mlir_module(computation)
    device = jax.local_devices()[0]
    start = time.perf_counter()
    run = device.client.compile_and_load(module, xla_client.DeviceList((device,)), xla_client.CompileOptions())
    return run, computation.program_shape(), time.perf_counter() - start


def random_array(rng, shape):
    dtype, dims = numpy.dtype(shape.numpy_dtype()), shape.dimensions()
    if dtype.kind == "b":
        return rng.integers(0, 2, dims).astype(dtype)
    if dtype.kind in "iu":
        return rng.integers(0, min(LARGEST_INDEX, numpy.iinfo(dtype).max), dims).astype(dtype)
    if dtype.kind == "c":
        return (rng.uniform(-1, 1, dims) + 1j * rng.uniform(-1, 1, dims)).astype(dtype)
    return rng.uniform(-1, 1, dims).astype(dtype)


def least_seconds(run, buffers, seconds):
    """(wall clock of the fastest run, processor time of one on average)"""
    times, end, used = [], time.perf_counter() + seconds, time.process_time()
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        results = run.execute_sharded(buffers).disassemble_into_single_device_arrays()
        jax.block_until_ready([r[0] for r in results])
        times.append(time.perf_counter() - start)
    return min(times), (time.process_time() - used) / len(times)


def main():
    path, inputs, seconds = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), float(sys.argv[3])
    jax.config.update("jax_enable_x64", True)
    run, shape, compile_s = compiled(path.read_text())
    if not inputs.exists():
        rng = numpy.random.default_rng(7)
        arrays = {f"in{k}": random_array(rng, p) for k, p in enumerate(shape.parameter_shapes())}
        numpy.savez(inputs, **arrays)
    else:
        stored = numpy.load(inputs)
        arrays = {k: stored[k].view(p.numpy_dtype()) if stored[k].dtype.kind == "V" else stored[k]
                  for k, p in zip(stored.files, shape.parameter_shapes())}
    buffers = [jax.device_put(a, jax.local_devices()[0]) for a in arrays.values()]
    nothing, _, _ = compiled("HloModule m\nENTRY e {\n  p = f32[] parameter(0)\n  ROOT n = f32[] negate(p)\n}\n")
    floor, cpu_floor = least_seconds(nothing, [jax.device_put(numpy.float32(1), jax.local_devices()[0])], 0.05)
    taken, cpu = least_seconds(run, buffers, seconds)
    print(json.dumps({"compile_s": compile_s, "run_s": max(taken - floor, 1e-7), "cpu_s": max(cpu - cpu_floor, 1e-7),
                      "peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
