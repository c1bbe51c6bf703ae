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

    def shapes(self):
        """Of the weights of a layer that are cut along their first dimension."""
        return {"q": (self.width, self.heads * self.depth), "k": (self.width, self.kv_heads * self.depth),
                "v": (self.width, self.kv_heads * self.depth), "out": (self.heads * self.depth, self.width),
                "gate": (self.width, self.hidden), "up": (self.width, self.hidden), "down": (self.hidden, self.width)}


@dataclasses.dataclass(frozen=True)
class Experts:
    """DeepSeek-V3: queries, keys and values through narrow arrays; each token goes to `chosen` of `experts`, and to one that all share. Its first
    three layers, which have no experts, are counted as the others."""
    layers: int = 61
    width: int = 7168
    heads: int = 128
    experts: int = 256
    chosen: int = 8
    hidden: int = 2048  # of an expert
    vocabulary: int = 129280
    narrow_q: int = 1536
    narrow_kv: int = 512
    depth: int = 128
    turned: int = 64  # of a head's query and key, beside `depth`, those that turn with the position

    def shapes(self):
        one = {"gate": (self.width, self.hidden), "up": (self.width, self.hidden), "down": (self.hidden, self.width)}
        return {"q1": (self.width, self.narrow_q), "q2": (self.narrow_q, self.heads * (self.depth + self.turned)),
                "kv1": (self.width, self.narrow_kv + self.turned), "kv2": (self.narrow_kv, self.heads * 2 * self.depth),
                "out": (self.heads * self.depth, self.width), "router": (self.width, self.experts),
                **{"shared_" + name: shape for name, shape in one.items()},
                **{name: (shape[0], self.experts, shape[1]) for name, shape in one.items()}}


@dataclasses.dataclass(frozen=True)
class Report:
    name: str
    source: str
    model: Model | Experts
    topology: str
    axes: tuple  # of the torus that the slice is
    batch: int   # sequences a device
    length: int
    kept: tuple  # names of what the backward pass does not compute again
    seconds: float


LLAMA2_70B = Model(80, 8192, 64, 8, 28672, 32000)
LLAMA31_70B = Model(80, 8192, 64, 8, 28672, 128256)
LLAMA31_405B = Model(126, 16384, 128, 8, 53248, 128256)
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
    Report("Llama 3.1 405B, 512 TPU v5p", RECIPES + "v5p/Llama3.1-405B-MaxText", LLAMA31_405B, "tpu-v5p-pod", (8, 8, 8), 2, 8192,
           ("attention", "down"), 131.474),
    Report("DeepSeek-V3 671B, 512 TPU v5p", RECIPES + "v5p/DeepSeek3-671B-MaxText", Experts(), "tpu-v5p-pod", (8, 8, 8), 6, 8192, ("out",),
           90.668),
)


@jax.custom_vjp
def attention(q, k, v):
    """One kernel, which hlo-cost counts by its operands: scores stay inside."""
    return jax.ffi.ffi_call("te_fused_attn_forward_ffi", jax.ShapeDtypeStruct((*q.shape[:3], v.shape[3]), q.dtype))(q, k, v)


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


def whole(shard, axis=0):
    return jax.lax.all_gather(shard.astype(jnp.bfloat16), "x", axis=axis, tiled=True)


def gated(y, w, prefix=""):
    return (jax.nn.silu(y @ whole(w[prefix + "gate"])) * (y @ whole(w[prefix + "up"]))) @ whole(w[prefix + "down"])


def layer(model, x, w):
    b, s, _ = x.shape
    y = norm(x, w["norm1"])
    q = checkpoint_name((y @ whole(w["q"])).reshape(b, s, model.heads, model.depth), "query")
    k = checkpoint_name((y @ whole(w["k"])).reshape(b, s, model.kv_heads, model.depth), "key")
    v = checkpoint_name((y @ whole(w["v"])).reshape(b, s, model.kv_heads, model.depth), "value")
    mixed = attention(rotated(q), rotated(k), v).reshape(b, s, -1)
    x = x + checkpoint_name(mixed @ whole(w["out"]), "out")
    return x + checkpoint_name(gated(norm(x, w["norm2"]), w), "down")


@functools.partial(jax.custom_vjp, nondiff_argnums=(3,))
def sent(y, order, back, chosen):
    """Rows of tokens in the order of their experts; a token has `chosen` places."""
    return jnp.take(y, order // chosen, axis=0)


def sent_backward(chosen, back, g):
    return jnp.take(g, back, axis=0).reshape(-1, chosen, g.shape[-1]).sum(1), None, None


sent.defvjp(lambda y, order, back, chosen: (sent(y, order, back, chosen), back), sent_backward)


@jax.custom_vjp
def returned(z, order, back):
    """Rows in the order of their tokens again."""
    return jnp.take(z, back, axis=0)


returned.defvjp(lambda z, order, back: (returned(z, order, back), order), lambda order, g: (jnp.take(g, order, axis=0), None, None))


def mixture(model, y, w):
    """Experts with the same number of tokens each, as products of batches: what a grouped product computes of balanced groups."""
    shape = y.shape
    y = y.reshape(-1, model.width)
    weights, experts = jax.lax.top_k(jax.nn.sigmoid((y @ whole(w["router"])).astype(jnp.float32)), model.chosen)
    order = jnp.argsort(experts.reshape(-1))
    back = jnp.argsort(order)
    rows = sent(y, order, back, model.chosen).reshape(model.experts, -1, model.width)

    def product(rows, name):
        return jnp.einsum("etk,ken->etn", rows, whole(w[name]))

    made = product(jax.nn.silu(product(rows, "gate")) * product(rows, "up"), "down").reshape(-1, model.width)
    made = returned(made, order, back).reshape(-1, model.chosen, model.width)
    mixed = jnp.sum(made * (weights / weights.sum(-1, keepdims=True)).astype(made.dtype)[..., None], 1)
    return (mixed + gated(y, w, "shared_")).reshape(shape)


def layer_of_experts(model, x, w):
    b, s, _ = x.shape
    y = norm(x, w["norm1"])
    q = (y @ whole(w["q1"]) @ whole(w["q2"])).reshape(b, s, model.heads, -1)
    narrow, turned = jnp.split(y @ whole(w["kv1"]), [model.narrow_kv], -1)
    k, v = jnp.split((narrow @ whole(w["kv2"])).reshape(b, s, model.heads, -1), 2, -1)
    k = jnp.concatenate([k, jnp.broadcast_to(rotated(turned[:, :, None]), (b, s, model.heads, model.turned))], -1)
    q = jnp.concatenate([q[..., :model.depth], rotated(q[..., model.depth:])], -1)
    x = x + checkpoint_name(attention(q, k, v).reshape(b, s, -1) @ whole(w["out"]), "out")
    return x + mixture(model, norm(x, w["norm2"]), w)


def loss(report, weights, tokens):
    model = report.model
    hot = jax.nn.one_hot(tokens, model.vocabulary, dtype=jnp.bfloat16)
    x = hot @ whole(weights["embedding"], axis=1)
    policy = jax.checkpoint_policies.save_only_these_names(*report.kept)
    one = jax.checkpoint(functools.partial(layer_of_experts if isinstance(model, Experts) else layer, model), policy=policy)
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
        "embedding": array(PartitionSpec(None, "x"), m.vocabulary, m.width), "head": array(p, m.width, m.vocabulary), "norm": array(PartitionSpec(), m.width),
        "layers": {**{name: cut(*shape) for name, shape in m.shapes().items()},
                   **{name: array(PartitionSpec(), m.layers, m.width) for name in ("norm1", "norm2")}},
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
