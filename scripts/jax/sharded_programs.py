#!/usr/bin/env python3
"""Sharded JAX programs by families, before and after XLA's partitioner, with the results of each device.

  sharded_programs.py --out DIR [--count 300] [--only REGEX]    (a Python with jax; one process, 16 host devices)

Writes for each program DIR/NAME.hlo (as JAX lowers it: Shardy's annotations, whole arrays), DIR/NAME.opt.hlo (what XLA made
of it, one device's program) and DIR/NAME.npz (in0.d3, out0.d3: arrays of device 3). sharded_check.py runs them.

Families: data, tensor, expert and pipeline parallel training steps, FSDP, sequence parallel and ring attention, experts by
all-to-all, embeddings, convolutions with halos, sorts and sums over cut axes, gathers and scatters, loops, regions that are
manual on some axes. Sizes, meshes (4 to 16 devices), element types and depths vary with the number of the program.
"""
import argparse
import os
import pathlib
import re
import sys

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=16"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

FAMILIES = {}


def family(function):
    FAMILIES[function.__name__] = function
    return function


class Program:
    """A function, its arguments, and how they and the results lie on a mesh."""

    def __init__(self, mesh, function, arguments, in_specs, out_specs):
        self.mesh, self.function, self.arguments = mesh, function, arguments
        self.in_specs, self.out_specs = in_specs, out_specs


def mesh_of(**axes):
    count = int(np.prod(list(axes.values())))
    return Mesh(np.array(jax.devices()[:count]).reshape(tuple(axes.values())), tuple(axes))


def flat(k):
    """A number of devices and an element type for program k of a family"""
    return [4, 8, 6, 16, 12, 2 * 5][k % 6], [jnp.float32, jnp.float32, jnp.bfloat16][k % 3]


def grid(k):
    return [(2, 2), (2, 4), (4, 2), (4, 4), (2, 3), (3, 4), (8, 2), (2, 8)][k % 8]


def rand(rng, *shape, dtype=jnp.float32):
    return jnp.asarray(rng.standard_normal(shape), dtype)


def mlp(params, x):
    for w, b in params:
        x = jax.nn.relu(x @ w + b)
    return x


def layers(rng, sizes, dtype=jnp.float32):
    return [(rand(rng, a, b, dtype=dtype) / np.sqrt(a).astype(dtype), rand(rng, b, dtype=dtype)) for a, b in zip(sizes, sizes[1:])]


def step(loss):
    def train(params, *batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        return jax.tree.map(lambda p, g: p - jnp.asarray(0.1, p.dtype) * g, params, grads), value
    return train


def same(tree, spec):
    return jax.tree.map(lambda _: spec, tree)


@family
def data_parallel(k, rng):
    n, dtype = flat(k)
    params = layers(rng, [12, 16 + 4 * (k % 3), 8][: 2 + k % 2], dtype)
    x, y = rand(rng, 4 * n, 12, dtype=dtype), rand(rng, 4 * n, params[-1][0].shape[1], dtype=dtype)
    train = step(lambda p, x, y: jnp.mean((mlp(p, x) - y) ** 2))
    return Program(mesh_of(x=n), train, (params, x, y), (same(params, P()), P("x"), P("x")), (same(params, P()), P()))


@family
def fsdp(k, rng):
    n, dtype = flat(k)
    params = layers(rng, [n, 2 * n, n], dtype)
    x, y = rand(rng, 2 * n, n, dtype=dtype), rand(rng, 2 * n, n, dtype=dtype)
    train = step(lambda p, x, y: jnp.mean((mlp(p, x) - y) ** 2))
    specs = same(params, P("x"))
    return Program(mesh_of(x=n), train, (params, x, y), (specs, P("x"), P("x")), (specs, P()))


@family
def fsdp_scan(k, rng):
    n, dtype = flat(k)
    w = rand(rng, 3 + k % 3, n, n, dtype=dtype)
    x = rand(rng, n, n, dtype=dtype)

    def f(w, x):
        return lax.scan(lambda h, u: (jnp.tanh(h @ u), jnp.sum(h)), x, w)
    return Program(mesh_of(x=n), f, (w, x), (P(None, "x"), P("x")), (P("x"), P()))


@family
def tensor_parallel(k, rng):
    a, b = grid(k)
    d, h = 8, 4 * b
    w1, w2 = rand(rng, d, h), rand(rng, h, d)
    x = rand(rng, 2 * a, 3 + k % 3, d)

    def f(w1, w2, x):
        return x + jax.nn.gelu(x @ w1) @ w2
    return Program(mesh_of(data=a, model=b), f, (w1, w2, x), (P(None, "model"), P("model", None), P("data")), P("data"))


@family
def tensor_parallel_step(k, rng):
    a, b = grid(k)
    params = [rand(rng, 8, 2 * b), rand(rng, 2 * b, 8)]
    x = rand(rng, 2 * a, 8)
    train = step(lambda p, x: jnp.mean((x + jax.nn.gelu(x @ p[0]) @ p[1]) ** 2))
    specs = [P(None, "model"), P("model", None)]
    return Program(mesh_of(data=a, model=b), train, (params, x), (specs, P("data")), (specs, P()))


@family
def attention_heads(k, rng):
    a, b = grid(k)
    t, dh = 6 + k % 4, 4
    wq, wk, wv = (rand(rng, 8, b, dh) for _ in range(3))
    wo = rand(rng, b, dh, 8)
    x = rand(rng, a, t, 8)

    def f(wq, wk, wv, wo, x):
        q, key, v = (jnp.einsum("btd,dhk->bthk", x, w) for w in (wq, wk, wv))
        s = jnp.einsum("bthk,bshk->bhts", q, key) / 2.0
        s = jnp.where(jnp.tril(jnp.ones((t, t), bool)), s, -1e9)
        return jnp.einsum("bhts,bshk,hkd->btd", jax.nn.softmax(s), v, wo)
    heads = P(None, "model")
    return Program(mesh_of(data=a, model=b), f, (wq, wk, wv, wo, x), (heads, heads, heads, P("model"), P("data")), P("data"))


@family
def sequence_parallel(k, rng):
    n, dtype = flat(k)
    x, g = rand(rng, 2, 2 * n, 8, dtype=dtype), rand(rng, 8, dtype=dtype)
    w = rand(rng, 8, 8, dtype=dtype)

    def f(x, g, w):
        m = x.mean(-1, keepdims=True)
        h = (x - m) * lax.rsqrt(((x - m) ** 2).mean(-1, keepdims=True) + 1e-5) * g
        p = jax.nn.softmax((h @ w @ h.swapaxes(1, 2)).astype(jnp.float32))
        return x + (p.astype(x.dtype) @ h)
    return Program(mesh_of(x=n), f, (x, g, w), (P(None, "x"), P(), P()), P(None, "x"))


@family
def ring_attention(k, rng):
    n = [4, 8, 6, 16][k % 4]
    mesh = mesh_of(x=n)
    t, d = 2 + k % 3, 4
    q, key, v = (rand(rng, n * t, d) for _ in range(3))

    def local(q, key, v):
        def turn(_, s):
            key, v, top, total, acc = s
            a = q @ key.T
            m = jnp.maximum(top, a.max(1))
            e = jnp.exp(a - m[:, None])
            scale = jnp.exp(top - m)
            acc, total = acc * scale[:, None] + e @ v, total * scale + e.sum(1)
            ring = [(i, (i + 1) % n) for i in range(n)]
            return lax.ppermute(key, "x", ring), lax.ppermute(v, "x", ring), m, total, acc
        start = (key, v, q[:, 0] * 0 - 1e30, q[:, 0] * 0, q * 0)
        *_, total, acc = lax.fori_loop(0, n, turn, start)
        return acc / total[:, None]
    f = jax.shard_map(local, mesh=mesh, in_specs=(P("x"),) * 3, out_specs=P("x"))
    return Program(mesh, f, (q, key, v), (P("x"),) * 3, P("x"))


@family
def pipeline(k, rng):
    n = [4, 8, 6, 12][k % 4]
    mesh = mesh_of(stage=n)
    w, x = rand(rng, n, 4, 4) / 2, rand(rng, 3 + k % 3, 2, 4)

    def local(w, x):
        stage, micro = lax.axis_index("stage"), x.shape[0]

        def tick(i, s):
            held, out = s
            held = jnp.where(stage == 0, x[jnp.minimum(i, micro - 1)], held)
            held = jnp.tanh(held @ w[0])
            at = jnp.clip(i - n + 1, 0, micro - 1)
            out = jnp.where((stage == n - 1) & (i >= n - 1), out.at[at].set(held), out)
            return lax.ppermute(held, "stage", [(j, (j + 1) % n) for j in range(n)]), out
        zero = jnp.zeros_like(x)
        _, out = lax.fori_loop(0, micro + n - 1, tick, (zero[0], zero))
        return lax.psum(jnp.where(stage == n - 1, out, 0), "stage")
    f = jax.shard_map(local, mesh=mesh, in_specs=(P("stage"), P()), out_specs=P(), check_vma=False)
    return Program(mesh, f, (w, x), (P("stage"), P()), P())


@family
def experts_all_to_all(k, rng):
    n = [4, 8, 6, 16][k % 4]
    mesh = mesh_of(x=n)
    t, d = n * (1 + k % 2), 4
    x, w = rand(rng, n * t, d), rand(rng, n, d, d)

    def local(x, w):
        sent = x.reshape(n, -1, d)
        got = lax.all_to_all(sent, "x", 0, 0)
        made = jax.nn.relu(got @ w[0])
        return lax.all_to_all(made, "x", 0, 0).reshape(x.shape)
    f = jax.shard_map(local, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"))
    return Program(mesh, f, (x, w), (P("x"), P("x")), P("x"))


@family
def experts_einsum(k, rng):
    a, b = grid(k)
    tokens, d, e, c = 2 * a, 4, b, 3
    x, gate = rand(rng, a, tokens, d), rand(rng, d, e)
    w1, w2 = rand(rng, e, d, 6), rand(rng, e, 6, d)

    def f(x, gate, w1, w2):
        p = jax.nn.softmax(x @ gate)
        best = jax.nn.one_hot(p.argmax(-1), e)
        place = (jnp.cumsum(best, 1) - 1) * best
        slots = jax.nn.one_hot(place.sum(-1).astype(jnp.int32), c) * (place.sum(-1) < c)[..., None]
        mask = best[..., None] * slots[..., None, :]
        sent = jnp.einsum("gtec,gtd->egcd", mask, x)
        made = jnp.einsum("egcf,efd->egcd", jax.nn.relu(jnp.einsum("egcd,edf->egcf", sent, w1)), w2)
        return jnp.einsum("gtec,egcd->gtd", mask * p[..., None], made)
    return Program(mesh_of(data=a, expert=b), f, (x, gate, w1, w2), (P("data"), P(), P("expert"), P("expert")), P("data"))


@family
def embedding(k, rng):
    n, _ = flat(k)
    table = rand(rng, 3 * n, 4)
    ids = jnp.asarray(rng.integers(0, 3 * n, (n, 3 + k % 3)), jnp.int32)

    def f(table, ids):
        x = table[ids]
        return x, jnp.zeros_like(table).at[ids.reshape(-1)].add(x.reshape(-1, 4))
    rows = [P("x"), P(None, None)][k % 2]
    table = table if k % 2 == 0 else table
    return Program(mesh_of(x=n), f, (table, ids), (rows, P("x")), (P("x"), rows))


@family
def gathers(k, rng):
    n, _ = flat(k)
    x = rand(rng, n, 5, 6)
    ids = jnp.asarray(rng.integers(0, 5, (n, 4)), jnp.int32)

    def f(x, ids):
        taken = jnp.take_along_axis(x, ids[..., None], axis=1)
        return taken, lax.dynamic_slice_in_dim(x, ids[0, 0], 2, axis=1), x.at[jnp.arange(n), ids[:, 0]].multiply(2.0)
    return Program(mesh_of(x=n), f, (x, ids), (P("x"), P("x")), (P("x"), P("x"), P("x")))


@family
def convolution(k, rng):
    a, b = grid(k)
    x, w = rand(rng, a, 4 * b, 6, 4), rand(rng, 3, 3, 4, 8)
    stride = 1 + k % 2

    def f(x, w):
        y = lax.conv_general_dilated(x, w, (stride, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jax.nn.relu(y), y.sum((0, 1, 2))
    return Program(mesh_of(data=a, space=b), f, (x, w), (P("data", "space"), P()), (P("data", "space"), P()))


@family
def convolution_step(k, rng):
    n, _ = flat(k)
    params = [rand(rng, 3, 3, 2, 4), rand(rng, 3, 3, 4, 2)]
    x = rand(rng, n, 6, 6, 2)

    def net(p, x):
        for w in p:
            x = jnp.tanh(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
        return jnp.mean((lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")) ** 2)
    specs = same(params, P())
    return Program(mesh_of(x=n), step(net), (params, x), (specs, P("x")), (specs, P()))


@family
def stencil(k, rng):
    a, b = grid(k)
    x = rand(rng, 3 * a, 2 * b)

    def f(x):
        for _ in range(1 + k % 3):
            x = 0.2 * (x + jnp.roll(x, 1, 0) + jnp.roll(x, -1, 0) + jnp.roll(x, 1, 1) + jnp.roll(x, -1, 1))
        return x, jnp.pad(x, 1)[1:-1, 1:-1] - x[::-1, ::-1]
    return Program(mesh_of(x=a, y=b), f, (x,), (P("x", "y"),), (P("x", "y"), P("x", "y")))


@family
def sums_and_sorts(k, rng):
    n, _ = flat(k)
    x = rand(rng, 2 * n, 3 * n)
    axis = k % 2

    def f(x):
        return (jnp.cumsum(x, axis), jnp.sort(x, axis), jnp.argsort(x, 1 - axis), x.max(axis), jax.nn.logsumexp(x, axis),
                jnp.argmax(x, axis))
    return Program(mesh_of(x=n), f, (x,), (P("x"),), (P("x"), P("x"), P("x"), P(), P(), P()))


@family
def reshards(k, rng):
    a, b = grid(k)
    x = rand(rng, 2 * a * b, a * b)

    def f(x):
        y = lax.with_sharding_constraint(jnp.sin(x), NamedSharding(mesh, P("y", "x")))
        z = lax.with_sharding_constraint(y.T * 2.0, NamedSharding(mesh, P(("x", "y"))))
        return z.reshape(a * b, 2, a * b), (x @ z).sum(0)
    mesh = mesh_of(x=a, y=b)
    return Program(mesh, f, (x,), (P("x", "y"),), (P("x"), P("y")))


@family
def loops(k, rng):
    n, _ = flat(k)
    a = rand(rng, 2 * n, 2 * n)
    a, b = a @ a.T / n + jnp.eye(2 * n) * n, rand(rng, 2 * n)

    def f(a, b):
        def turn(s):
            i, x, r, p, rs = s
            ap = a @ p
            alpha = rs / (p @ ap)
            x, r = x + alpha * p, r - alpha * ap
            new = r @ r
            return i + 1, x, r, r + new / rs * p, new
        return lax.while_loop(lambda s: (s[0] < 4) & (s[4] > 1e-6), turn, (0, b * 0, b, b, b @ b))[1]
    return Program(mesh_of(x=n), f, (a, b), (P("x"), P("x")), P("x"))


@family
def branches(k, rng):
    n, _ = flat(k)
    x = rand(rng, 2 * n, n)

    def f(x, i):
        return lax.switch(i, [lambda x: x @ x.T, lambda x: jnp.tanh(x) @ x.T, lambda x: (x * 2) @ jnp.cos(x).T], x)
    return Program(mesh_of(x=n), f, (x, jnp.int32(k % 3)), (P("x"), P()), P(None, "x"))


@family
def manual_on_one_axis(k, rng):
    a, b = [(2, 2), (2, 4), (4, 2), (4, 4)][k % 4]
    mesh = mesh_of(x=a, y=b)
    x, w = rand(rng, 2 * a, 2 * b), rand(rng, 2 * b, 2 * b)

    def local(x, w):
        y = lax.psum(jnp.sin(x) @ w, "x")
        return lax.with_sharding_constraint(y, P(None, "y")) + x
    f = jax.shard_map(local, mesh=mesh, in_specs=(P("x"), P()), out_specs=P("x"), axis_names={"x"})
    return Program(mesh, f, (x, w), (P("x", "y"), P(None, "y")), P("x", "y"))


@family
def collectives(k, rng):
    n = [4, 8, 6, 16][k % 4]
    mesh = mesh_of(x=n)
    x = rand(rng, n * n, 3)

    def local(x):
        y = lax.psum_scatter(x, "x", tiled=True) + lax.axis_index("x").astype(x.dtype)
        z = lax.all_gather(y, "x", tiled=True)
        return lax.ppermute(x, "x", [(i, (i + 3) % n) for i in range(n)]), z * lax.pmax(x.sum(), "x"), y
    f = jax.shard_map(local, mesh=mesh, in_specs=P("x"), out_specs=(P("x"), P("x"), P("x")))
    return Program(mesh, f, (x,), (P("x"),), (P("x"), P("x"), P("x")))


@family
def linear_algebra(k, rng):
    n, _ = flat(k)
    a = rand(rng, n, 4, 4)
    a = a @ a.swapaxes(1, 2) + 4 * jnp.eye(4)
    b = rand(rng, n, 4, 2)

    def f(a, b):
        c = jnp.linalg.cholesky(a)
        y = jax.scipy.linalg.solve_triangular(c, b, lower=True)
        return c, y, jnp.abs(jnp.fft.fft(b[..., 0]))
    return Program(mesh_of(x=n), f, (a, b), (P("x"), P("x")), (P("x"), P("x"), P("x")))


@family
def uneven(k, rng):
    n, _ = flat(k)
    x, w = rand(rng, 2 * n, n + 1 + k % 3), rand(rng, n + 1 + k % 3, 5)

    def f(x, w):
        h = lax.with_sharding_constraint(x, NamedSharding(mesh, P(None, "x")))
        y = h @ w
        return y, jnp.concatenate([x, x[:, ::-1]], 1)[:, 1:], x.sum(0)
    mesh = mesh_of(x=n)
    return Program(mesh, f, (x, w), (P("x"), P()), (P("x"), P("x"), P()))


@family
def random_numbers(k, rng):
    n, _ = flat(k)

    def f(key):
        a, b = jax.random.split(key)
        x = jax.random.normal(a, (2 * n, 3))
        return x, jax.random.permutation(b, 2 * n), jnp.where(jax.random.bernoulli(b, 0.5, x.shape), x, 0)
    return Program(mesh_of(x=n), f, (jax.random.PRNGKey(k),), (P(),), (P("x"), P("x"), P("x")))


def shards(array):
    pieces = sorted(array.addressable_shards, key=lambda s: s.device.id)
    return [np.asarray(piece.data) for piece in pieces]


def stored(array):
    return array.view(np.uint16) if array.dtype.name == "bfloat16" else array


def whole_text(compiled):
    """With all constants, which tables of a device's place are"""
    from jaxlib import _hlo
    options = _hlo.HloPrintOptions()
    options.print_large_constants = True
    return compiled.runtime_executable().hlo_modules()[0].to_string(options)


TYPES = {"float32": "f32", "bfloat16": "bf16", "int32": "s32", "uint32": "u32", "bool": "pred", "int64": "s64", "float64": "f64"}


def write(out, name, program):
    def put(specs):
        return jax.tree.map(lambda s: NamedSharding(program.mesh, s), specs, is_leaf=lambda s: isinstance(s, P))
    arguments = [jax.tree.map(jax.device_put, a, s) for a, s in zip(program.arguments, put(program.in_specs))]
    jitted = jax.jit(program.function, in_shardings=put(program.in_specs), out_shardings=put(program.out_specs), keep_unused=True)
    with jax.sharding.set_mesh(program.mesh) if hasattr(jax.sharding, "set_mesh") else program.mesh:
        lowered = jitted.lower(*arguments)
        compiled = lowered.compile()
        results = compiled(*arguments)
    (out / f"{name}.hlo").write_text(lowered.as_text(dialect="hlo"))
    (out / f"{name}.opt.hlo").write_text(whole_text(compiled))
    arrays, names, types = {}, [], []
    for prefix, leaves in (("in", jax.tree.leaves(arguments)), ("out", jax.tree.leaves(results))):
        for i, leaf in enumerate(leaves):
            for d, piece in enumerate(shards(leaf)):
                names.append(f"{prefix}{i}.d{d}")
                types.append(TYPES[leaf.dtype.name])
                arrays[names[-1]] = stored(piece)
    np.savez(out / f"{name}.npz", names=np.array(names), types=np.array(types), **arrays)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--only", default="", help="regular expression on names")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    made = failed = 0
    for number in range(options.count):
        function = list(FAMILIES.values())[number % len(FAMILIES)]
        k = number // len(FAMILIES)
        name = f"{function.__name__}_{k}"
        if not re.search(options.only, name):
            continue
        try:
            write(options.out, name, function(k, np.random.default_rng(number)))
            made += 1
        except Exception as error:  # JAX or XLA has no such program
            failed += 1
            print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0][:200]}", file=sys.stderr)
    print(f"{made} programs made, {failed} not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
