#!/usr/bin/env python3
"""JAX on hlokit beside JAX's own CPU: the same small programs, on one device and on eight, in two processes, give the same results.

  jax_plugin_test.py --lib FILE [--python PYTHON]

Exit status: 0 all agree, 1 one does not, 77 PYTHON has no jax of a tested version.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = r"""
import sys
import jax, jax.numpy as jnp, numpy as np
key = jax.random.key(1)
x = jnp.arange(12.0).reshape(3, 4)
spd = x @ x.T + 10 * jnp.eye(3)
def loss(w): return jnp.sum(jnp.tanh(x @ w) ** 2)
results = {
    "arange": x,
    "sin": jax.jit(jnp.sin)(x),
    "dot": jnp.dot(x, x.T),
    "grad": jax.grad(loss)(jnp.ones((4, 2))),
    "vmap": jax.vmap(lambda r: jnp.cumsum(r)[::-1])(x),
    "scan": jax.lax.scan(lambda c, r: (c + r, c * r), jnp.zeros(4), x)[1],
    "while": jax.lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * 2), (0, jnp.ones(3)))[1],
    "cond": jax.lax.cond(x[0, 1] > 0, lambda v: v + 1, lambda v: v - 1, x),
    "sort": jnp.sort(jnp.sin(x * 7)),
    "argmax": jnp.argmax(jnp.sin(x * 3), axis=1),
    "random": jax.random.normal(key, (8,)),
    "ints": jnp.arange(5) // 2 + jnp.array([1, 2, 3, 4, 5], jnp.int32),
    "bf16": (x.astype(jnp.bfloat16) * 3).astype(jnp.float32),
    "bool": x > 3,
    "complex": jnp.exp(1j * x),
    "fft": jnp.abs(jnp.fft.fft(x)),
    "cholesky": jnp.linalg.cholesky(spd),
    "solve": jnp.linalg.solve(spd, jnp.ones(3)),
    "eigvalsh": jnp.linalg.eigvalsh(spd),
    "scatter": x.at[1, 2].add(5.0),
    "empty": jnp.zeros((0, 3)),
    "donated": jax.jit(lambda v: v + 1, donate_argnums=0)(jnp.ones(5)),
    "tuple": jax.jit(lambda v: (v, v + 1))(x)[1],
    "subnormals": jax.jit(lambda v: (v - 1.5e-38) * 1e38)(jnp.array([1e-40, 2e-38, 1.2e-38, -3e-39, 3e-38])),
}
def array_of(name, value):
    try:
        return np.asarray(value)
    except Exception as error:
        raise SystemExit(f"{name}: {error!r}") from error
results["platform"] = np.array([jax.devices()[0].platform == sys.argv[2]])
try:
    jax.jit(lambda v: v)(jnp.ones(3)).delete()
    jnp.add(jnp.ones(3), jnp.ones(4))
    raise SystemExit("shapes that do not match were added")
except TypeError:
    pass
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
cut = NamedSharding(mesh, P("x", "y"))
square = np.arange(64, dtype=np.float32).reshape(8, 8) / 64
a = jax.device_put(square, cut)
def mapped(f, inside, outside, **options):
    return jax.jit(jax.shard_map(f, mesh=mesh, in_specs=inside, out_specs=outside, **options))(a)
from jax.experimental.serialize_executable import deserialize_and_load, serialize
def serialized(f):
    return deserialize_and_load(*serialize(jax.jit(f).lower(a).compile()))(a)
sharded = {
    "sharded": a,
    "sharded_dot": jax.jit(lambda v: jnp.sin(v) @ v + 1)(a),
    "constraint": jax.jit(lambda v: jax.lax.with_sharding_constraint(v * 2, NamedSharding(mesh, P("y"))) + 1, out_shardings=cut)(a),
    "sharded_scan": jax.jit(lambda v: jax.lax.scan(lambda c, r: (c + r, c * r), v[0], v))(a)[1],
    "sharded_grad": jax.jit(jax.grad(lambda v: jnp.sum(jnp.tanh(v @ v.T) ** 2)), out_shardings=cut)(a),
    "sharded_sort": jax.jit(lambda v: jnp.sort(-v, axis=0), out_shardings=NamedSharding(mesh, P(("y", "x"))))(a),
    "eager": jnp.cumsum(a, axis=1) + a.T,
    "psum": mapped(lambda v: jax.lax.psum(v, "x"), P("x", "y"), P(None, "y")),
    "psum_one_axis": mapped(lambda v: jax.lax.psum(v, "x"), P("x"), P(), axis_names={"x"}),
    "all_gather": mapped(lambda v: jax.lax.all_gather(v, "y", axis=1, tiled=True) * jax.lax.axis_index("x"), P("x", "y"), P("x"), check_vma=False),
    "ring": mapped(lambda v: jax.lax.ppermute(v, "x", [(i, (i + 1) % 4) for i in range(4)]) + jax.lax.axis_index("y"), P("x", "y"), P("x", "y")),
    "all_to_all": mapped(lambda v: jax.lax.all_to_all(v, "y", 0, 1, tiled=True) + jax.lax.axis_index("y"), P("x", "y"), P(("x", "y"))),
    "psum_scatter": mapped(lambda v: jax.lax.psum_scatter(v, "y", tiled=True), P("x"), P(("x", "y"))),
    "pmap": jax.pmap(lambda v: jax.lax.psum(v, "i") + v, axis_name="i")(square),
    "pmap_grad": jax.pmap(jax.grad(lambda v: jnp.sum(jax.lax.pmean(v ** 3, "i"))), axis_name="i")(square),
    "serialized": serialized(lambda v: jnp.sin(v) @ v),
    "serialized_map": serialized(jax.shard_map(lambda v: jax.lax.psum(v, "x"), mesh=mesh, in_specs=P("x", "y"), out_specs=P(None, "y"))),
    "other_order": jax.jit(lambda v: v * 3, out_shardings=NamedSharding(jax.sharding.Mesh(np.array(jax.devices())[::-1], ("z",)), P("z")))(square),
}
results |= sharded
left_open = [lambda v: v * 2, lambda v: jnp.sin(v) @ v, lambda v: v.T, lambda v: v.sum(0), lambda v: v[None] + v, lambda v: v.reshape(4, 2, 8),
             lambda v: v.reshape(64), lambda v: v[:4], lambda v: jax.lax.scan(lambda c, r: (c + r, c * r), v[0], v), lambda v: jnp.sort(v, 0),
             lambda v: jax.lax.while_loop(lambda s: s[0, 0] < 5, lambda s: s + 1, v), lambda v: v[::-1], lambda v: v @ v[0], jnp.sum,
             jax.grad(lambda v: jnp.sum(jnp.tanh(v @ v))), lambda v: (jnp.ones((8, 8)), v)]
cuts = "".join(str(leaf.sharding.spec) for f in left_open for leaf in jax.tree.leaves(jax.jit(f)(a)))
results["cuts"] = np.frombuffer(cuts.encode(), np.uint8)
from jax.experimental import io_callback
order = []
def note(i):
    order.append(int(i))
    return np.int32(i * 2)
def wrong(v):
    raise ValueError("no such thing")
f32 = lambda *shape: jax.ShapeDtypeStruct(shape, np.float32)
donated = jnp.ones(5)
results |= {
    "donation": jax.jit(lambda v: v * 2, donate_argnums=0)(donated),
    "donated_is_gone": np.array(donated.is_deleted()),
    "pure_callback": jax.jit(lambda v: jax.pure_callback(lambda u: np.sin(u) * 2, f32(3, 4), v))(x),
    "callback_vmap": jax.vmap(lambda v: jax.pure_callback(np.cumsum, f32(4), v, vmap_method="sequential"))(x),
    "ordered": jax.jit(lambda: jax.lax.fori_loop(0, 5, lambda i, c: c + io_callback(note, jax.ShapeDtypeStruct((), np.int32), i, ordered=True), jnp.int32(0)))(),
    "order": np.array(order),
    "callback_sharded": jax.jit(lambda v: jax.pure_callback(lambda u: np.cumsum(u, 1), f32(8, 8), v) + v)(a),
    "approx_top_k": jax.lax.approx_max_k(x, 2)[0],
}
printed = []
jax.jit(lambda v: jax.debug.callback(lambda u: printed.append(float(np.sum(u))), v))(a)
jax.jit(jax.shard_map(lambda v: jax.debug.callback(lambda u: printed.append(float(u[0, 0])), v) or v, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y")))(a)
jax.effects_barrier()
results["printed"] = np.sort(np.array(printed))
try:
    jax.block_until_ready(jax.jit(lambda v: jax.pure_callback(wrong, f32(3, 4), v))(x))
    raise SystemExit("an exception of a callback was lost")
except jax.errors.JaxRuntimeError as error:
    assert "no such thing" in str(error)
for name in ("sharded", "serialized", "serialized_map", "constraint", "sharded_grad", "sharded_sort", "psum", "ring", "pmap"):
    results[name + "_shards"] = np.concatenate([np.asarray(s.data).ravel() for s in sorted(sharded[name].addressable_shards, key=lambda s: s.device.id)])
np.savez(sys.argv[1], **{k: array_of(k, v) for k, v in results.items()})
"""


def run(python, platform, out, **environment):
    return subprocess.run([python, "-c", PROGRAMS, out, platform], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "JAX_PLATFORMS": platform, "XLA_FLAGS": "--xla_force_host_platform_device_count=8", **environment}, check=False)


def compare(ours, theirs):
    wrong = 0
    for name in theirs.files:
        a, b = ours[name], theirs[name]
        same = a.shape == b.shape and a.dtype == b.dtype
        if not same or not numpy.allclose(a, b, rtol=2e-5, atol=2e-6, equal_nan=True):
            wrong += 1
            print(f"{name}: {a!r} instead of {b!r}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", required=True)
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    version = subprocess.run([arguments.python, "-c", "import jax; print(jax.__version__)"], capture_output=True, text=True, check=False)
    if version.returncode != 0 or numpy is None:
        print("skipped: no jax")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        theirs = run(arguments.python, "cpu", f"{folder}/cpu.npz")
        ours = run(arguments.python, "hlokit", f"{folder}/hlokit.npz", PYTHONPATH=str(ROOT / "python"),
                   HLOKIT_PJRT_LIBRARY=arguments.lib)
        for done in (theirs, ours):
            if done.returncode != 0:
                print(done.stderr[-3000:])
                return 1
        with numpy.load(f"{folder}/hlokit.npz") as a, numpy.load(f"{folder}/cpu.npz") as b:
            wrong = compare(a, b)
            print(f"{len(b.files)} results of JAX {version.stdout.strip()}, {wrong} differ")
            return 1 if wrong else 0


try:
    import numpy
except ImportError:
    numpy = None

if __name__ == "__main__":
    sys.exit(main())
# SPDX-License-Identifier: Apache-2.0
