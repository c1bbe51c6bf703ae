#!/usr/bin/env python3
"""Programs over eight devices: their results, how these are cut and where they lie. jax_sharding_test.py compares what it prints.

  JAX_PLATFORMS=hlokit PYTHONPATH=python jax_sharding_cases.py [REGEX]
"""
import sys, functools, warnings
warnings.simplefilter("ignore")
import logging; logging.disable(logging.ERROR)
import jax; jax.config.update("jax_num_cpu_devices", 8)
import jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec as P, AxisType, Mesh, SingleDeviceSharding
assert len(jax.devices()) == 8, jax.devices()
mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
S = lambda *a, **k: NamedSharding(mesh, P(*a), **k)
sq = np.arange(64, dtype=np.float32).reshape(8, 8) / 8
a = jax.device_put(sq, S("x", "y"))
def show(v):
  o = []
  for l in jax.tree.leaves(v):
    if isinstance(l, jax.Array): o.append((str(l.dtype), l.shape, str(getattr(l.sharding, "spec", "S")), l.sharding.memory_kind and 1, sorted((s.device.id, str(s.index), float(np.asarray(s.data).astype(np.float64).sum().round(2) + 0)) for s in l.addressable_shards)))
    else: o.append(l)
  return o
C = {}
def case(f): C[f.__name__] = f; return f
@case
def put_reshard(): return jax.device_put(a, S("y", "x")), jax.device_put(a, S(("y", "x"))), jax.device_put(a, jax.devices()[3]), jax.device_put(jax.device_put(a, jax.devices()[3]), S(None, "x"))
@case
def callback(): return jax.make_array_from_callback((8, 8), S("x"), lambda i: sq[i]), jax.make_array_from_single_device_arrays((8, 8), S(("x", "y")), [jax.device_put(sq[i:i+1], d) for i, d in zip(range(8), mesh.devices.flat)])
@case
def in_out(): return jax.jit(lambda x, y: (x @ y, x + 1), in_shardings=(S("x"), S(None, "y")), out_shardings=(S("x", "y"), S("y")))(sq, sq)
@case
def prefix(): return jax.jit(lambda t: jax.tree.map(jnp.sin, t), in_shardings=(S("x"),), out_shardings=S("y"))({"a": sq, "b": (sq, sq + 1)})
@case
def aot():
  c = jax.jit(lambda x: x * 2 + x.sum(), in_shardings=S("x"), out_shardings=S("y")).lower(jax.ShapeDtypeStruct((8, 8), np.float32)).compile()
  r = c(jax.device_put(sq, S("x"))); return r, str(c.input_shardings[0][0].spec), str(c.output_shardings.spec)
@case
def aot_wrong():
  c = jax.jit(lambda x: x * 2, in_shardings=S("x")).lower(jax.ShapeDtypeStruct((8, 8), np.float32)).compile()
  try: c(jax.device_put(sq, S("y"))); return "no error"
  except ValueError as e: return "ValueError"
@case
def uneven():
  try: return jax.device_put(np.ones((6, 6)), S("x"))
  except ValueError as e: return str(e)[:100]
@case
def csc_uneven(): return jax.jit(lambda x: lax.with_sharding_constraint(x * 2, S("x")).sum())(np.ones((6, 6), np.float32))
@case
def donated():
  x = jax.device_put(sq, S("x")); y = jax.jit(lambda v: v + 1, donate_argnums=0)(x); return y, x.is_deleted()
@case
def explicit():
  m = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
  with jax.sharding.use_mesh(m) if hasattr(jax.sharding, "use_mesh") else jax.set_mesh(m):
    x = jax.device_put(sq, P("x", "y")); y = jax.jit(lambda v: (jnp.sin(v) * 2, v.T, v.sum(0), jnp.einsum("ij,kj->ik", v, v, out_sharding=P("x"))))(x); return y, [str(jax.typeof(t)) for t in y]
@case
def explicit_reshard():
  m = jax.make_mesh((8,), ("x",), axis_types=(AxisType.Explicit,))
  with jax.set_mesh(m):
    x = jax.sharding.reshard(jnp.arange(16.), P("x")); return jax.jit(lambda v: jax.sharding.reshard(v * 2, P()))(x), x + x, jax.grad(lambda v: (v * v).sum())(x)
def sm(f, i, o, *args, **k): return jax.jit(jax.shard_map(f, mesh=mesh, in_specs=i, out_specs=o, **k))(*(args or (a,)))
@case
def sm_coll(): return [sm(f, P("x", "y"), o, check_vma=False) for f, o in [(lambda v: lax.psum(v, ("x", "y")), P()), (lambda v: lax.pmax(v, "x"), P(None, "y")), (lambda v: lax.pmin(v, "y"), P("x")), (lambda v: lax.pmean(v, "x"), P(None, "y")), (lambda v: lax.all_gather(v, "x"), P(None, None, "y")), (lambda v: lax.all_gather(v, ("x", "y"), tiled=True), P()), (lambda v: lax.psum_scatter(v, "y", scatter_dimension=0, tiled=True), P(("x", "y"))), (lambda v: lax.all_to_all(v, "y", 0, 1, tiled=True), P("x", "y")), (lambda v: lax.all_to_all(v.reshape(2, 4), "y", 0, 0), P("x", "y")), (lambda v: lax.pshuffle(v, "x", [1, 0, 3, 2]), P("x", "y")), (lambda v: lax.ppermute(v, "x", [(0, 1), (1, 0)]), P("x", "y")), (lambda v: v * lax.axis_index(("x", "y")), P("x", "y")), (lambda v: v * lax.axis_size("x"), P("x", "y")), (lambda v: lax.psum(v, "x", axis_index_groups=[[0, 1], [2, 3]]), P("x", "y")), (lambda v: lax.all_gather(v, "x", axis_index_groups=[[0, 2], [1, 3]], axis=1, tiled=True), P("x", "y")), (lambda v: v, P("x", "y"))] ]
@case
def sm_vma(): return sm(lambda v: lax.psum(v, "x"), P("x", "y"), P(None, "y")), sm(lambda v: lax.fori_loop(0, 3, lambda i, c: c + lax.psum(c, "x") * .1, v), P("x", "y"), P("x", "y"), check_vma=False), jax.grad(lambda v: sm(lambda u: lax.psum((u ** 2).sum(), ("x", "y")), P("x", "y"), P(), v))(a)
@case
def sm_partial(): return jnp.asarray(np.asarray(jax.jit(jax.shard_map(lambda v: lax.psum(v, "x") + 1, mesh=mesh, in_specs=P("x"), out_specs=P(), axis_names={"x"}))(a))), jnp.asarray(np.asarray(jax.jit(jax.shard_map(lambda v: jnp.sin(v @ v.T), mesh=mesh, in_specs=P("x"), out_specs=P("x"), axis_names={"x"}))(a)))
@case
def sm_eager(): return jax.shard_map(lambda v: lax.psum(v * 2, "y"), mesh=mesh, in_specs=P("x", "y"), out_specs=P("x"))(a)
@case
def sm_scan(): return sm(lambda v: lax.scan(lambda c, t: (lax.ppermute(c, "x", [(i, (i + 1) % 4) for i in range(4)]) + t, c.sum()), v[0], v), P("x", "y"), (P(("x", "y")), P(None)), check_vma=False)
@case
def sm_remat_vmap(): return jax.vmap(lambda s: sm(lambda v: lax.psum(v * s, "x"), P("x", "y"), P(None, "y")))(jnp.arange(3.)), jax.grad(lambda v: sm(jax.checkpoint(lambda u: jnp.sin(lax.all_gather(u, "x", tiled=True, axis=0))), P("x", "y"), P(None, "y"), v, check_vma=False).sum())(a)
@case
def sm_cond(): return sm(lambda v: lax.cond(lax.axis_index("x") > 1, lambda u: u * 2, lambda u: u - 1, v), P("x", "y"), P("x", "y"))
@case
def sm_rng(): return sm(lambda v: v + jax.random.normal(jax.random.fold_in(jax.random.key(0), lax.axis_index("x")), v.shape), P("x", "y"), P("x", "y"))
@case
def pmaps():
  f = lambda x: x - lax.psum(x, "i")
  return [np.asarray(t).tolist() for t in jax.tree.leaves((jax.pmap(f, "i")(sq), jax.pmap(lambda x, y: x + y, in_axes=(0, None))(sq, 2.), jax.pmap(lambda x: x * 2, out_axes=1)(sq), jax.pmap(lambda x: {"a": x.sum()}, "i")(sq), jax.pmap(lambda x: lax.ppermute(x, "i", [(i, 7 - i) for i in range(8)]), "i")(sq), jax.pmap(lambda x: lax.all_gather(x, "i"), "i")(sq[:, :1]), jax.pmap(lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1, 2, 3], [4, 5, 6, 7]]), "i")(sq), jax.pmap(lambda x: lax.axis_index("i") + 0 * x, "i")(sq), jax.grad(lambda v: jax.pmap(lambda x: jnp.sin(x) * lax.psum(x, "i"), "i")(v).sum())(sq), jax.pmap(lambda x: x + 1, devices=jax.devices()[:4])(sq[:4]), jax.vmap(jax.pmap(lambda x: lax.psum(x, "i"), "i"))(sq.reshape(2, 4, 8)), jax.pmap(jax.vmap(lambda x: lax.psum(x, ("i", "j")), "j"), "i")(sq), jax.pmap(lambda x, n: x * n, static_broadcasted_argnums=1)(sq, 3), jax.pmap(lambda x: lax.all_to_all(x, "i", 0, 0), "i")(sq), jax.pmap(lambda x: lax.psum_scatter(x, "i"), "i")(sq)))]
@case
def pmap_err():
  try: jax.pmap(lambda x: x)(np.ones((9, 2))); return "none"
  except ValueError as e: return str(e)[:60]
@case
def pmap_nested():
  try: return np.asarray(jax.pmap(lambda x: jax.pmap(lambda y: lax.psum(y, "j") + lax.psum(y, "i"), "j")(x), "i")(sq[:4, :2])).tolist()
  except Exception as e: return type(e).__name__
@case
def many(): return jax.jit(lambda x: lax.scan(lambda c, t: (c @ x * .01 + t, c.sum()), x, jnp.ones((5, 8, 8))), in_shardings=S("x", "y"))(sq)
@case
def rng(): return jax.jit(lambda k: jax.random.normal(k, (8, 8)), out_shardings=S("x", "y"))(jax.random.key(3))
@case
def keys():
  k = jax.device_put(jax.random.split(jax.random.key(0), 8), S("x")); return str(k.sharding.spec), jax.random.key_data(jax.jit(lambda k: jax.vmap(jax.random.fold_in, (0, None))(k, 3))(k))
@case
def gather_sh(): return jax.jit(lambda x, i: x[i])(a, jnp.array([1, 3])), a[2:5], a.at[3].set(0.), jnp.concatenate([a, a], 1), a.reshape(64), a[::2], jnp.where(a > 3, a, 0)
@case
def linalg_sh(): return [np.round(np.asarray(t), 3).tolist() for t in (jnp.linalg.cholesky(a @ a.T + 10 * jnp.eye(8)), jnp.linalg.inv(a + 20 * jnp.eye(8)), jnp.sort(-a, 1), jnp.cumsum(a, 0), jnp.fft.fft(a).real)]
@case
def mem(): return jax.device_put(a, S("x", memory_kind="pinned_host")).sharding.memory_kind, jax.jit(lambda x: x * 2, out_shardings=S("x", "y", memory_kind="pinned_host"))(a).sharding.memory_kind
@case
def custom_part():
  from jax.experimental.custom_partitioning import custom_partitioning
  @custom_partitioning
  def f(x): return jnp.sin(x)
  f.def_partition(partition=lambda mesh, i, r: (mesh, jnp.sin, jax.tree.map(lambda s: s.sharding, r), jax.tree.map(lambda s: s.sharding, i)), infer_sharding_from_operands=lambda mesh, i, r: i[0].sharding, sharding_rule="i j -> i j")
  return jax.jit(f)(a)
@case
def multi_dev_err():
  try: jax.jit(lambda x, y: x + y)(jax.device_put(1., jax.devices()[0]), jax.device_put(1., jax.devices()[1])); return "none"
  except ValueError as e: return str(e)[:50]
@case
def hlo(): t = jax.jit(lambda x: x * 2, in_shardings=S("x")).lower(sq).compile(); return t.as_text() != "", len(t.cost_analysis()) > 0
@case
def sm_callback():
  got = []; sm(lambda v: (jax.debug.callback(lambda t: got.append(float(np.sum(t))), v), v)[1], P("x", "y"), P("x", "y")); jax.effects_barrier(); return sorted(got)
@case
def roofline(): return jax.jit(lambda x: lax.optimization_barrier(x) + 1)(a), jax.jit(lambda x: jax.lax.dynamic_slice(x, (2, 2), (4, 4)))(a), jax.jit(lambda x: jnp.tile(x, (2, 1)))(a), jax.jit(lambda x: x.astype(jnp.bfloat16).astype(jnp.float32))(a), jax.jit(lambda x: jnp.roll(x, 1, 0))(a), jax.jit(lambda x: lax.reduce_window(x, 0., lax.add, (2, 2), (1, 1), "SAME"))(a), jax.jit(lambda x: jnp.take_along_axis(x, jnp.argsort(-x, 1), 1))(a)
@case
def inspected():
  got = []; look = lambda v: jax.debug.inspect_array_sharding(v, callback=lambda s: got.append(str(s.spec)))
  def f(x): y = jnp.sin(x).T; look(y); look(y.sum()); look(y[3]); return y
  r = jax.jit(f)(a); sm(lambda v: (look(v), v)[1], P("x"), P("x")); return r, got
@case
def inspected_wrong():
  def bad(s): raise ValueError("told")
  try: jax.jit(lambda x: (jax.debug.inspect_array_sharding(x * 2, callback=bad), x)[1])(a); return "none"
  except Exception as e: return type(e).__name__
@case
def fitted():
  b = jax.device_put(sq, S(("x", "y"))); return jax.jit(lambda x: (x[2:6], x[::2], jnp.split(x, 2), x.reshape(2, 32)))(b), jax.jit(lambda x: (x.reshape(2, 32), x.reshape(2, 4, 8), x[:, 3], jnp.pad(x, 1), lax.top_k(x, 3), jnp.linalg.cholesky(x @ x.T + 9 * jnp.eye(8))))(a)
@case
def alike():
  from jax.experimental.shard_alike import shard_alike
  loop = lambda x: lax.scan(lambda c, _: (shard_alike(x, c)[1] * 2, None), jnp.ones((8, 8)), None, length=3)[0]
  chain = lambda x: shard_alike(jnp.zeros_like(x), shard_alike(x, jnp.ones_like(x))[1])
  stated = lambda x: shard_alike(lax.with_sharding_constraint(x * 2, S("y")), jnp.zeros_like(x))
  grown = lambda x: jax.grad(lambda v: (shard_alike(v, jnp.ones_like(v))[1] * v).sum())(x)
  return [jax.jit(f)(a) for f in (loop, chain, grown, lambda x: jnp.sin(shard_alike(x, jnp.arange(64.).reshape(8, 8) * 3)[1]), lambda x: shard_alike(x, jnp.ones((8, 3)) @ jnp.ones((3, 8))))], jax.jit(stated)(sq), jax.jit(jax.vmap(lambda x: shard_alike(x, jnp.zeros_like(x))[1]))(jax.device_put(np.ones((4, 8, 8), np.float32), S(None, "x", "y")))
import re; only = re.compile(sys.argv[1] if len(sys.argv) > 1 else ".")
for n, f in C.items():
  if not only.search(n): continue
  try: r = f(); print(n, show(r), flush=True)
  except Exception as e: print(n, "EXC", type(e).__name__, str(e)[:200].replace("\n", " "), flush=True)
# SPDX-License-Identifier: Apache-2.0
