#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps of public training reports beside what --simulate predicts of them. Skipped (77) where jax is missing.

  training_reports.py --bin DIR [--only REGEX] [--keep FOLDER] [--bar 0.25]

Each report names a model, its machine, how arrays are cut, what is kept for the backward pass, and the seconds of a step. The step is
written here in JAX as such a job runs it (weights cut over all devices and gathered layer by layer in bf16, gradients scattered, layers in a
scan, Adam on the shards, attention as one kernel), lowered for that many devices on an abstract mesh, optimized and simulated by hlo-opt.
One row of REPORTS is all that differs between them. Exit status 1 where one is further off than --bar.
"""
import argparse
import dataclasses
import functools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import jax
    import jax.numpy as jnp
    from jax.ad_checkpoint import checkpoint_name
    from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


@dataclasses.dataclass(frozen=True)
class Model:
    layers: int
    width: int
    heads: int
    kv_heads: int
    hidden: int
    vocabulary: int
    depth: int = 128  # of a head


@dataclasses.dataclass(frozen=True)
class Report:
    name: str
    source: str
    model: Model
    topology: str
    axes: tuple  # of the torus that the slice is
    batch: int   # sequences a device
    length: int
    kept: tuple  # names of what the backward pass does not compute again
    seconds: float


LLAMA2_70B = Model(80, 8192, 64, 8, 28672, 32000)
LLAMA31_70B = Model(80, 8192, 64, 8, 28672, 128256)
LLAMA31_8B = Model(32, 4096, 32, 8, 14336, 128256)
MISTRAL_7B = Model(32, 4096, 32, 8, 14336, 32000)
QKV = ("query", "key", "value")
RECIPES = "github.com/AI-Hypercomputer/tpu-recipes, training/"
REPORTS = (
    Report("Llama 2 70B, 256 TPU v6e", RECIPES + "trillium/Llama2-70B-MaxText", LLAMA2_70B, "tpu-v6e-pod", (16, 16), 2, 4096, QKV, 9.052),
    Report("Llama 3.1 8B, 256 TPU v6e", RECIPES + "trillium/Llama3.1-8B-MaxText/v6e-256", LLAMA31_8B, "tpu-v6e-pod", (16, 16), 4, 8192,
           QKV + ("out",), 4.546),
    Report("Llama 3.1 70B, 256 TPU v6e", RECIPES + "trillium/Llama3.1-70B-MaxText/v6e-256", LLAMA31_70B, "tpu-v6e-pod", (16, 16), 5, 8192,
           QKV, 42.656),
    Report("Mistral 7B, 8 TPU v6e", RECIPES + "trillium/Mistral-7B-MaxText", MISTRAL_7B, "tpu-v6e-pod", (2, 4), 6, 8192, QKV + ("out",), 6.320),
    # v5p-512 are 256 chips; 692 tokens a second and device of 4 sequences.
    Report("Llama 2 70B, 256 TPU v5p", "maxtext.readthedocs.io, Optimized models tiering (v5p, gold); MaxText/configs/v5p/llama2_70b.sh",
           LLAMA2_70B, "tpu-v5p-pod", (4, 8, 8), 4, 4096, QKV + ("out", "down"), 4 * 4096 / 692),
)


@jax.custom_vjp
def attention(q, k, v):
    """One kernel, which hlo-cost counts by its operands: scores stay inside."""
    return jax.ffi.ffi_call("te_fused_attn_forward_ffi", jax.ShapeDtypeStruct(q.shape, q.dtype))(q, k, v)


def attention_forward(q, k, v):
    out = checkpoint_name(attention(q, k, v), "attention")
    return out, (q, k, v, out)


def attention_backward(kept, g):
    q, k, v, out = kept
    return jax.ffi.ffi_call("te_fused_attn_backward_ffi", tuple(jax.ShapeDtypeStruct(a.shape, a.dtype) for a in (q, k, v)))(q, k, v, out, g)


attention.defvjp(attention_forward, attention_backward)


def norm(x, scale):
    wide = x.astype(jnp.float32)
    return (wide * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-5)).astype(x.dtype) * scale.astype(x.dtype)


def rotated(x):
    """Rotary positions: the halves of each head turn against one another."""
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[1], dtype=jnp.float32)[:, None] * 10000.0 ** (-jnp.arange(half, dtype=jnp.float32) / half)
    cos, sin = jnp.cos(angles)[None, :, None].astype(x.dtype), jnp.sin(angles)[None, :, None].astype(x.dtype)
    a, b = jnp.split(x, 2, -1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def whole(shard):
    return jax.lax.all_gather(shard.astype(jnp.bfloat16), "x", tiled=True)


def layer(model, x, w):
    b, s, _ = x.shape
    y = norm(x, w["norm1"])
    q = checkpoint_name((y @ whole(w["q"])).reshape(b, s, model.heads, model.depth), "query")
    k = checkpoint_name((y @ whole(w["k"])).reshape(b, s, model.kv_heads, model.depth), "key")
    v = checkpoint_name((y @ whole(w["v"])).reshape(b, s, model.kv_heads, model.depth), "value")
    mixed = attention(rotated(q), rotated(k), v).reshape(b, s, -1)
    x = x + checkpoint_name(mixed @ whole(w["out"]), "out")
    y = norm(x, w["norm2"])
    return x + checkpoint_name((jax.nn.silu(y @ whole(w["gate"])) * (y @ whole(w["up"]))) @ whole(w["down"]), "down")


def loss(report, weights, tokens):
    model = report.model
    hot = jax.nn.one_hot(tokens, model.vocabulary, dtype=jnp.bfloat16)
    x = hot @ whole(weights["embedding"])
    policy = jax.checkpoint_policies.save_only_these_names(*report.kept)
    one = jax.checkpoint(functools.partial(layer, model), policy=policy)
    x, _ = jax.lax.scan(lambda x, w: (one(x, w), None), x, weights["layers"])
    scores = (norm(x, weights["norm"]) @ whole(weights["head"])).astype(jnp.float32)
    return jnp.mean(jax.nn.logsumexp(scores, -1) - jnp.sum(scores * hot, -1))


def step(report, state, tokens):
    weights, first, second = state
    value, slopes = jax.value_and_grad(functools.partial(loss, report))(weights, tokens)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, slopes)
    second = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, second, slopes)
    weights = jax.tree.map(lambda w, m, v: w - 3e-4 * (m / (jnp.sqrt(v) + 1e-8) + 0.1 * w), weights, first, second)
    return (weights, first, second), jax.lax.pmean(value, "x")


def lowered(report, devices):
    """StableHLO of a step on so many devices."""
    m = report.model
    mesh = AbstractMesh((devices,), ("x",))

    def array(spec, *shape, dtype=jnp.float32):
        return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, spec))

    def cut(*shape):  # of all layers, along the first dimension of each
        return array(PartitionSpec(None, "x"), m.layers, *shape)

    p = PartitionSpec("x")
    weights = {
        "embedding": array(p, m.vocabulary, m.width), "head": array(p, m.width, m.vocabulary), "norm": array(PartitionSpec(), m.width),
        "layers": {"q": cut(m.width, m.heads * m.depth), "k": cut(m.width, m.kv_heads * m.depth), "v": cut(m.width, m.kv_heads * m.depth),
                   "out": cut(m.heads * m.depth, m.width), "gate": cut(m.width, m.hidden), "up": cut(m.width, m.hidden),
                   "down": cut(m.hidden, m.width), "norm1": array(PartitionSpec(), m.layers, m.width),
                   "norm2": array(PartitionSpec(), m.layers, m.width)},
    }
    state = (weights,) * 3
    specs = jax.tree.map(lambda a: a.sharding.spec, state)
    run = jax.shard_map(functools.partial(step, report), mesh=mesh, in_specs=(specs, p), out_specs=(specs, PartitionSpec()), check_vma=False)
    tokens = array(p, report.batch * devices, report.length, dtype=jnp.int32)
    return jax.jit(run, donate_argnums=0).trace(state, tokens).lower(lowering_platforms=("tpu",)).as_text()


def topology_of(report, folder):
    """The installed file of the pod with the slice's axes."""
    shipped = pathlib.Path(__file__).resolve().parents[2] / "simulate" / "topologies" / f"{report.topology}.json"
    topology = json.loads(shipped.read_text())
    topology["links"][0]["axes"] = list(report.axes)
    path = folder / "topology.json"
    path.write_text(json.dumps(topology))
    return path


def predicted(report, options, folder):
    devices = functools.reduce(lambda a, b: a * b, report.axes)
    module = folder / (re.sub(r"\W+", "_", report.name) + ".mlir")
    module.write_text(lowered(report, devices))
    opt, device = options.bin / "hlo-opt", module.with_suffix(".hlo")
    topology = topology_of(report, folder)
    for command in ([opt, module, "--passes=shardy-xla,spmd-partitioning", "-o", device],
                    [opt, device, "--pipeline=gpu", "--passes=async-collective-creator,latency-hiding-scheduler",
                     f"--simulate={topology}", f"--trips={report.model.layers}", "--simulate-format=json"]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr[:2000])
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=pathlib.Path, help="where modules stay")
    parser.add_argument("--bar", type=float, default=0.25)
    options = parser.parse_args()
    worst = 0
    print("| report | published, s | predicted, s | difference |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or pathlib.Path(scratch)
        for report in REPORTS:
            if not re.search(options.only, report.name):
                continue
            seconds = predicted(report, options, folder)["step_s"]
            off = seconds / report.seconds - 1
            worst = max(worst, abs(off))
            print(f"| {report.name} | {report.seconds:.2f} | {seconds:.2f} | {100 * off:+.0f} % |", flush=True)
    return 1 if worst > options.bar else 0


if __name__ == "__main__":
    sys.exit(main())
