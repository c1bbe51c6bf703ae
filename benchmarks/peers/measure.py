"""Runs one program of benchmarks/peers by one peer or by several that share what they import and the weights, for compare.py:

measure.py PROGRAM PEER[,PEER...] --out FOLDER [--bin BUILD/bin] [--seconds S] [--threads N] [--small]

prints a line of JSON for each peer: peer, run_s (the fastest run), compile_s (to the first result), or peer and fault; and
writes the first run's results to FOLDER/PROGRAM.PEER.npz. Two runs before those that count are warm-up.

measure.py --serve --out FOLDER ...   (what compare.py starts, one process a framework, so that each is imported once)

answers each line of standard input by a line of JSON: `prepare PROGRAM PEER` compiles and writes the first run's results, `run PEER
SECONDS` times a prepared peer, as often as it is asked, `forget` frees the program.
Weights are parameters for hlokit (frozen: --freeze-inputs; hlokit_fresh: new ones in each run) and XLA, constants of the model
for the others. Each peer runs at
its best public setting: torch.compile in max-autotune, OpenVINO with the latency hint, ONNX Runtime with all optimizations.
"""
import argparse
import functools
import gc
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import ml_dtypes
import numpy
import programs

os.environ.setdefault("JAX_PLATFORMS", "cpu")


class Unable(Exception):
    """A peer has no way to run the program."""


def tree_map(function, tree):
    if isinstance(tree, dict):
        return {key: tree_map(function, value) for key, value in tree.items()}
    return [tree_map(function, value) for value in tree] if isinstance(tree, list) else function(tree)


def fastest(run, seconds):
    """The fastest of the runs that fit into `seconds`, of two at least, after one that warms up."""
    run()
    best, count, end = float("inf"), 0, time.perf_counter() + seconds
    while count < 2 or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        best, count = min(best, time.perf_counter() - start), count + 1
    return best


def prepared(run, start):
    """(the first run's results, seconds since `start`, what times more runs)"""
    first = wide(run())
    return first, time.perf_counter() - start, lambda seconds: fastest(run, seconds)


def wide(result):
    results = result if isinstance(result, (list, tuple)) else [result]
    return [numpy.asarray(r).astype(numpy.float32) for r in results]


@functools.cache
def made(program, small):
    """Peers of one process share the arrays; none of them writes to these."""
    return programs.made(program, small)


def jax_function(a, program):
    import for_jax
    import jax
    weights, inputs = made(a.program, a.small)
    donated = tuple(1 + k for k in program.donated)
    return jax.jit(getattr(for_jax, program.function), donate_argnums=donated), weights, inputs


def by_xla(a, program):
    import jax
    function, weights, inputs = jax_function(a, program)
    weights, inputs = jax.device_put(weights), jax.device_put(inputs)
    caches = {}

    def run():  # a donated input is the result of the run before
        arguments = [caches.pop(k, x) for k, x in enumerate(inputs)]
        result = jax.block_until_ready(function(weights, *arguments))
        for place, k in enumerate(program.donated):
            caches[k] = result[1 + place]
        return result

    return prepared(run, time.perf_counter())


@functools.cache
def exported(name, small):
    """A folder with module.pb and in.npz of a program, in memory where the system has a folder for that; it goes with the process."""
    import jax
    function, weights, inputs = jax_function(argparse.Namespace(program=name, small=small), programs.PROGRAMS[name])
    lowered = function.lower(weights, *inputs)
    owner = tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    folder = pathlib.Path(owner.name)
    (folder / "module.pb").write_bytes(lowered.compiler_ir("hlo").as_serialized_hlo_module_proto())
    leaves = jax.tree_util.tree_leaves((weights, *inputs))
    kept = sorted(lowered._lowering.compile_args["kept_var_idx"])  # of arguments that the program reads
    numpy.savez(folder / "in.npz", **{f"in{n}": leaves[k] for n, k in enumerate(kept)})
    return owner


def by_hlokit(a, program, frozen=True):
    owner = exported(a.program, a.small)
    folder = pathlib.Path(owner.name)

    def hlo_run(*options):
        command = [a.bin / "hlo-run", folder / "module.pb", "--input", folder / "in.npz", "--json", folder / "times.json",
                   *(["--threads", a.threads] if a.threads else []),
                   *(["--freeze-inputs", "^w_"] if frozen and not program.trains else []), *options]
        subprocess.run([str(c) for c in command], check=True, stdout=subprocess.DEVNULL)
        return json.loads((folder / "times.json").read_text())

    compile_s = hlo_run("--output", folder / "out.npz")["compile_s"]
    out = numpy.load(folder / "out.npz")
    first = [out[key].view(ml_dtypes.bfloat16) if out[key].dtype.kind == "V" else out[key] for key in out.files]
    timing = ["--iterations", 2, "--warmup", 2, "--output-mode", "return_outputs", *(["--donate"] if program.donated else [])]
    return wide(first), compile_s, lambda seconds: hlo_run(*timing, "--min-seconds", seconds)["run_min_s"]


def by_hlokit_fresh(a, program):
    return by_hlokit(a, program, frozen=False)


PICTURES = ("resnet", "train_resnet", "vision", "mobilenet", "efficientnet", "denoise")  # functions of pictures


class TorchProgram:
    """The torch function with weights as constants; pictures and filters in torch's order, in channels_last."""

    def __init__(self, a, program):
        import for_torch
        import torch
        if a.threads:
            torch.set_num_threads(a.threads)
        self.torch, self.function = torch, getattr(for_torch, program.function)
        weights, inputs = made(a.program, a.small)
        self.weights = tree_map(self.tensor, weights)
        self.inputs = [self.tensor(x) for x in inputs]

    def tensor(self, x):
        torch, x = self.torch, numpy.asarray(x)
        if x.dtype == ml_dtypes.bfloat16:
            got = torch.from_numpy(x.view(numpy.int16).copy()).view(torch.bfloat16)
        else:
            got = torch.from_numpy(x.copy())
        if x.ndim != 4 or self.function.__name__ not in PICTURES:
            return got
        is_filter = x.shape[0] == x.shape[1] and x.shape[0] <= 11
        return got.permute((3, 2, 0, 1) if is_filter else (0, 3, 1, 2)).contiguous(memory_format=torch.channels_last)

    def module(self):
        weights, function = self.weights, self.function

        class Net(self.torch.nn.Module):
            def forward(self, *inputs):
                return function(weights, *inputs)

        return Net().eval()

    def wide(self, result):
        return wide([r.detach().float() for r in (result if isinstance(result, (list, tuple)) else [result])])


def by_torch(a, program, compiled=False):
    net = TorchProgram(a, program)
    start = time.perf_counter()
    module = net.torch.compile(net.module(), mode="max-autotune") if compiled else net.module()

    def run():
        with net.torch.inference_mode(not program.trains):
            return module(*net.inputs)

    first = net.wide(run())
    return first, time.perf_counter() - start, lambda seconds: fastest(run, seconds)


def by_torch_compiled(a, program):
    return by_torch(a, program, compiled=True)


def by_openvino(a, program):
    import openvino
    if program.trains:
        raise Unable("runs inference alone")
    net = TorchProgram(a, program)
    start = time.perf_counter()
    with net.torch.no_grad():
        model = openvino.convert_model(net.module(), example_input=tuple(net.inputs))
    properties = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "bf16" if program.dtype != numpy.float32 else "f32"}
    if a.threads:
        properties["INFERENCE_NUM_THREADS"] = a.threads
    request = openvino.Core().compile_model(model, "CPU", properties).create_infer_request()
    bf16 = net.torch.bfloat16
    arrays = [openvino.Tensor(x.view(net.torch.int16).numpy(), list(x.shape), openvino.Type.bf16) if x.dtype == bf16
              else x.numpy() for x in net.inputs]
    return prepared(lambda: [request.infer(arrays, share_inputs=True)[k] for k in range(len(model.outputs))], start)


def by_onnxruntime(a, program):
    import onnxruntime
    if program.trains:
        raise Unable("runs inference alone")
    net = TorchProgram(a, program)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, net.torch.no_grad():
        path = str(pathlib.Path(folder) / "model.onnx")
        net.torch.onnx.export(net.module(), tuple(net.inputs), path, dynamo=False)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = a.threads
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feed = {i.name: x.numpy() for i, x in zip(session.get_inputs(), net.inputs)}
    return prepared(lambda: session.run(None, feed), start)


def by_iree(a, program):
    """XLA's StableHLO compiled ahead of time for this processor, weights as constants of the module."""
    import jax
    from iree import compiler, runtime
    from jaxlib.mlir.dialects import stablehlo
    function, weights, inputs = jax_function(a, program)
    if program.donated:
        raise Unable("a donated cache would be copied in each run")
    start = time.perf_counter()
    lowered = jax.jit(lambda *x: function(weights, *x)).lower(*inputs) if not program.trains else function.lower(weights, *inputs)
    arguments = inputs if not program.trains else [*jax.tree_util.tree_leaves(weights), *inputs]
    portable = stablehlo.serialize_portable_artifact(lowered.compiler_ir("stablehlo"), stablehlo.get_minimum_version())
    binary = compiler.compile_str(portable, input_type="stablehlo", target_backends=["llvm-cpu"],
                                  extra_args=["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"])
    config = runtime.Config("local-task")
    module = runtime.load_vm_module(runtime.VmModule.copy_buffer(config.vm_instance, binary), config)
    entry = module.main
    arrays = [runtime.asdevicearray(config.device, numpy.asarray(x)) for x in arguments]

    def run():
        results = entry(*arrays)
        return [numpy.asarray(r) for r in (results if isinstance(results, (list, tuple)) else [results])]

    return prepared(run, start)


PEERS = {"hlokit": by_hlokit, "hlokit_fresh": by_hlokit_fresh, "xla": by_xla, "torch": by_torch, "torch_compiled": by_torch_compiled,
         "openvino": by_openvino, "onnxruntime": by_onnxruntime, "iree": by_iree}


def prepare(a, peer, timers):
    """Compiles a program, writes its first results, and adds to `timers` what times it; returns what is printed of the peer."""
    try:
        results, compile_s, timers[peer] = PEERS[peer](a, programs.PROGRAMS[a.program])
    except Unable as why:
        return {"peer": peer, "fault": str(why)}
    except Exception as fault:  # pylint: disable=broad-exception-caught  # a peer's; the others go on
        return {"peer": peer, "fault": (str(fault).strip().splitlines() or [type(fault).__name__])[-1][:150]}
    numpy.savez(a.out / f"{a.program}.{peer}.npz", *results)
    return {"peer": peer, "compile_s": compile_s}


def answer(a, words, timers):
    if words[0] == "prepare":
        a.program = words[1]
        return prepare(a, words[2], timers)
    if words[0] == "run":
        return {"peer": words[1], "run_s": timers[words[1]](float(words[2]))}
    timers.clear()
    made.cache_clear()
    exported.cache_clear()
    if "jax" in sys.modules:
        sys.modules["jax"].clear_caches()
    gc.collect()
    return {}


def serve(a):
    """Answers on the standard output of the start: exporters print on what stands there afterwards, which goes to /dev/null."""
    answers, timers = os.fdopen(os.dup(1), "w"), {}
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin:
        print(json.dumps(answer(a, line.split(), timers)), file=answers, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", choices=list(programs.PROGRAMS))
    parser.add_argument("peers", nargs="?", default=[], type=lambda text: text.split(","), help="of " + ", ".join(PEERS))
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path("build/release/bin"))
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--threads", type=int, default=0, help="0: one a core")
    parser.add_argument("--small", action="store_true")
    a = parser.parse_args()
    unknown = [p for p in a.peers if p not in PEERS]
    if unknown:
        parser.error(f"no peer {unknown[0]}")
    if a.serve:
        return serve(a)
    for peer in a.peers:
        timers = {}
        line = prepare(a, peer, timers)
        print(json.dumps(line | ({"run_s": timers[peer](a.seconds)} if timers else {})), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
