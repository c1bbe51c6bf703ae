"""Compiles and runs one HLO module with IREE, for benchmarks/compare.py.

time_iree.py MODULE INPUTS.npz SECONDS: takes the inputs that time_xla.py made, and jaxlib's StableHLO for the module; prints a
line of JSON: compile_s, run_s (the fastest, less what a module that does nothing takes through Python), cpu_s (processor time
of a run, likewise), peak_rss_mib.
Needs pip install jax iree-base-compiler iree-base-runtime.
"""
import json
import os
import pathlib
import resource
import sys
import time

import numpy

os.environ["JAX_PLATFORMS"] = "cpu"
import iree.compiler  # noqa: E402
import iree.runtime  # noqa: E402
from jax._src.lib import _jax  # noqa: E402
from jaxlib import _hlo  # noqa: E402

NOTHING = "HloModule m\nENTRY e {\n  p = f32[] parameter(0)\n  ROOT n = f32[] negate(p)\n}\n"


def compiled(text):
    computation = _hlo.XlaComputation(_hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
    stablehlo = _jax.mlir.xla_computation_to_mlir_module(computation)
    start = time.perf_counter()
    code = iree.compiler.compile_str(stablehlo, input_type="stablehlo", target_backends=["llvm-cpu"],
                                     extra_args=["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"])
    taken = time.perf_counter() - start
    context = iree.runtime.SystemContext(config=iree.runtime.Config("local-task"))
    context.add_vm_module(iree.runtime.VmModule.copy_buffer(context.instance, code))
    module = next(m for name, m in context.modules.items() if name != "hal")
    return module["main"], context.config.device, computation.program_shape(), taken


def least_seconds(run, arguments, seconds):
    """(wall clock of the fastest run, processor time of one on average)"""
    times, end, used = [], time.perf_counter() + seconds, time.process_time()
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        run(*arguments)
        times.append(time.perf_counter() - start)
    return min(times), (time.process_time() - used) / len(times)


def main():
    path, inputs, seconds = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), float(sys.argv[3])
    run, device, shape, compile_s = compiled(path.read_text())
    stored = numpy.load(inputs)
    arrays = [stored[k].view(p.numpy_dtype()) if stored[k].dtype.kind == "V" else stored[k]
              for k, p in zip(stored.files, shape.parameter_shapes())]
    nothing, other, _, _ = compiled(NOTHING)
    floor, cpu_floor = least_seconds(nothing, [iree.runtime.asdevicearray(other, numpy.float32(1))], 0.05)
    taken, cpu = least_seconds(run, [iree.runtime.asdevicearray(device, a) for a in arrays], seconds)
    print(json.dumps({"compile_s": compile_s, "run_s": max(taken - floor, 1e-7), "cpu_s": max(cpu - cpu_floor, 1e-7),
                      "peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: Apache-2.0
