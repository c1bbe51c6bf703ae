"""Cases of jax_manner.py over eight devices: how results of sharded programs are cut, and their values; collectives; pmap; explicit meshes.

Each case gives the results and, as text, their shardings: those that follow from the program are compared too.
"""
import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from jax_manner_api import error, text
from jax_manner_values import definite


def devices():
    return jax.devices(jax.config.jax_default_device.platform)


def mesh(kind=AxisType.Auto, shape=(4, 2), names=("x", "y")):
    return Mesh(np.array(devices()[: int(np.prod(shape))]).reshape(shape), names, axis_types=(kind,) * len(shape))


def cut(value, *spec, kind=AxisType.Auto):
    return jax.device_put(value, NamedSharding(mesh(kind), P(*spec)))


def told(values):
    """The values, with their shardings and their parts."""
    leaves = [leaf for leaf in jax.tree.leaves(values) if isinstance(leaf, jax.Array)]
    return values, text(*(getattr(leaf.sharding, "spec", type(leaf.sharding).__name__) for leaf in leaves)), [np.asarray(s.data) for leaf in leaves for s in leaf.addressable_shards][:16]


def square(dtype="float32"):
    return np.arange(64, dtype=dtype).reshape(8, 8) / np.asarray(16, dtype) - 1 if np.dtype(dtype).kind == "f" else np.arange(64).reshape(8, 8).astype(dtype)


PROGRAMS = {
    "add": lambda a, b: a + b, "dot": lambda a, b: a @ b, "dot_t": lambda a, b: a @ b.T, "t": lambda a, b: a.T, "sum0": lambda a, b: a.sum(0), "sum1": lambda a, b: a.sum(1), "sum": lambda a, b: a.sum(), "keep": lambda a, b: a.sum(1, keepdims=True), "max": lambda a, b: a.max(0), "argmax": lambda a, b: a.argmax(1),
    "outer": lambda a, b: jnp.einsum("i,j->ij", a[:, 0], b[0]), "row": lambda a, b: a[2], "column": lambda a, b: a[:, 3], "slice": lambda a, b: a[2:6], "strided": lambda a, b: a[::2], "dynamic": lambda a, b: lax.dynamic_slice(a, (2, 0), (4, 8)), "update": lambda a, b: a.at[3].set(1), "dus": lambda a, b: lax.dynamic_update_slice(a, b[:2], (3, 0)), "gather": lambda a, b: a[jnp.array([5, 1, 2])], "scatter": lambda a, b: a.at[jnp.array([5, 1])].add(2),
    "reshape": lambda a, b: a.reshape(64), "reshape2": lambda a, b: a.reshape(4, 2, 8), "reshape3": lambda a, b: a.reshape(2, 32), "flat": lambda a, b: a.ravel() + 1, "expand": lambda a, b: a[None], "squeeze": lambda a, b: a[:, None].squeeze(1), "broadcast": lambda a, b: jnp.broadcast_to(a, (3, 8, 8)), "tile": lambda a, b: jnp.tile(a, (2, 1)), "concat": lambda a, b: jnp.concatenate([a, b]), "concat1": lambda a, b: jnp.concatenate([a, b], 1), "stack": lambda a, b: jnp.stack([a, b]), "split": lambda a, b: jnp.split(a, 2), "pad": lambda a, b: jnp.pad(a, 1), "rev": lambda a, b: a[::-1], "roll": lambda a, b: jnp.roll(a, 1, 0),
    "sort": lambda a, b: jnp.sort(a, 1), "sort0": lambda a, b: jnp.sort(a, 0), "cumsum": lambda a, b: jnp.cumsum(a, 0), "top_k": lambda a, b: lax.top_k(a, 3), "where": lambda a, b: jnp.where(a > 0, a, b), "select": lambda a, b: lax.select(a > b, a, b), "softmax": lambda a, b: jax.nn.softmax(a), "cast": lambda a, b: a.astype("bfloat16"), "iota": lambda a, b: a + jnp.arange(8.0), "constant": lambda a, b: jnp.ones((8, 8)), "scalar": lambda a, b: a * 2, "vmap": lambda a, b: jax.vmap(jnp.dot)(a, b), "vmap1": lambda a, b: jax.vmap(jnp.sin, 1)(a),
    "scan": lambda a, b: lax.scan(lambda c, x: (c + x, c), a[0], a), "scan_matrix": lambda a, b: lax.scan(lambda c, x: (c @ a, c.sum()), b, None, length=3), "while": lambda a, b: lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] @ b), (0, a)), "fori": lambda a, b: lax.fori_loop(0, 3, lambda i, c: c * 2 + b, a), "cond": lambda a, b: lax.cond(a[0, 0] > 0, lambda: a, lambda: b), "grad": lambda a, b: jax.grad(lambda v: jnp.sum(jnp.sin(v @ b)))(a), "grad_scan": lambda a, b: jax.grad(lambda v: lax.scan(lambda c, x: (jnp.sin(c) * x, c.sum()), v, b[:, None, :] * jnp.ones((8, 8, 8)))[0].sum())(a), "grad_scan_weights": lambda a, b: jax.grad(lambda w: lax.scan(lambda c, _: (jnp.tanh(c @ w), None), b, None, length=3)[0].sum())(a), "remat": lambda a, b: jax.grad(jax.checkpoint(lambda v: jnp.sin(jnp.sin(v @ b)).sum()))(a), "jvp": lambda a, b: jax.jvp(lambda v: v @ b, (a,), (b,)), "custom_vjp": lambda a, b: jax.grad(lambda v: jax.nn.relu(v).sum())(a),
    "constraint": lambda a, b: lax.with_sharding_constraint(a + b, P("y", "x")), "constraint_none": lambda a, b: lax.with_sharding_constraint(a * 2, P()) + 1, "constraint_open": lambda a, b: lax.with_sharding_constraint(a * 2, P(P.UNCONSTRAINED, "x")), "constraint_tuple": lambda a, b: lax.with_sharding_constraint((a, {"k": b}), (P("x"), {"k": P(None, ("x", "y"))})), "constraint_vmap": lambda a, b: jax.vmap(lambda v: lax.with_sharding_constraint(v, P("x")))(a), "constraint_grad": lambda a, b: jax.grad(lambda v: (lax.with_sharding_constraint(v, P("y")) ** 2).sum())(a), "constraint_spmd": lambda a, b: jax.vmap(lambda v: lax.with_sharding_constraint(v, P("y")), spmd_axis_name="x")(a),
    "conv": lambda a, b: lax.conv_general_dilated(a[None, :, :, None], b[:2, :2, None, None], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), "window": lambda a, b: lax.reduce_window(a, 0.0, lax.add, (2, 2), (1, 1), "SAME"), "fft": lambda a, b: jnp.fft.fft(a), "cholesky": lambda a, b: jnp.linalg.cholesky(a @ a.T + 99 * jnp.eye(8)), "solve": lambda a, b: jnp.linalg.solve(a + 99 * jnp.eye(8), b), "qr": lambda a, b: jnp.abs(jnp.linalg.qr(a + 5 * jnp.eye(8))[1]), "eigh": lambda a, b: jnp.linalg.eigh(a + a.T)[0], "triangular": lambda a, b: jax.scipy.linalg.solve_triangular(a + 9 * jnp.eye(8), b),
    "random": lambda a, b: a + jax.random.normal(jax.random.key(3), (8, 8)), "bits": lambda a, b: jax.random.bits(jax.random.key(3), (8, 8)), "permutation": lambda a, b: jax.random.permutation(jax.random.key(1), a), "barrier": lambda a, b: lax.optimization_barrier((a, b)), "same": lambda a, b: (a, b, a), "none": lambda a, b: (), "mixed": lambda a, b: {"p": a * 2, "q": [b.T, 3.0, a.sum()]}, "batch": lambda a, b: jnp.einsum("bij,bjk->bik", a.reshape(2, 4, 8), b.reshape(2, 8, 4)), "mlp": lambda a, b: jax.nn.relu(a @ b) @ b.T, "attention": lambda a, b: jax.nn.softmax(a @ b.T) @ b, "norm": lambda a, b: (a - a.mean(1, keepdims=True)) / jnp.sqrt(a.var(1, keepdims=True) + 1), "inner_jit": lambda a, b: jax.jit(lambda v: v @ b)(a) + 1,
    "shard_map": lambda a, b: jax.shard_map(lambda v: lax.psum(v, "x"), mesh=mesh(), in_specs=P("x", "y"), out_specs=P(None, "y"))(a), "named_scope": lambda a, b: jax.named_scope("s")(jnp.sin)(a), "callback": lambda a, b: jax.pure_callback(lambda v: np.asarray(v) * 2, jax.ShapeDtypeStruct((8, 8), a.dtype), a), "linearize": lambda a, b: jax.linearize(jnp.sin, a)[1](b), "hessian": lambda a, b: jax.hessian(lambda v: (v ** 3).sum())(a[0]), "einsum3": lambda a, b: jnp.einsum("ij,jk,kl->il", a, b, a), "trace": lambda a, b: jnp.trace(a @ b), "diag": lambda a, b: jnp.diag(a), "tril": lambda a, b: jnp.tril(a), "nonzero": lambda a, b: jnp.nonzero(a > 0, size=5), "unique": lambda a, b: jnp.unique(a, size=9), "searchsorted": lambda a, b: jnp.searchsorted(a[0], b), "associative": lambda a, b: lax.associative_scan(jnp.add, a), "map": lambda a, b: lax.map(lambda v: v * 2, a), "switch": lambda a, b: lax.switch(1, [lambda: a, lambda: b]), "bitcast": lambda a, b: lax.bitcast_convert_type(a, "int32"), "clip": lambda a, b: jnp.clip(a, -0.5, b), "real": lambda a, b: (a + 1j * b).real,
}
SPECS = ((("x", "y"), ("x", "y")), (("x",), ()), ((None, "x"), ("x",)), ((("x", "y"),), (None, "y")), ((), ("y",)))


def program_cases():
    for (name, f), (left, right) in itertools.product(PROGRAMS.items(), SPECS):
        def run(f=f, left=left, right=right):
            with mesh():
                return told(jax.jit(f)(cut(square(), *left), cut(square()[::-1].copy(), *right)))
        yield f"devices.auto/{name}/{left}/{right}", run, 100
        def explicit(f=f, left=left, right=right):
            with jax.set_mesh(mesh(AxisType.Explicit)):
                a, b = cut(square(), *left, kind=AxisType.Explicit), cut(square()[::-1].copy(), *right, kind=AxisType.Explicit)
                out = jax.jit(f)(a, b)
                return told(out), text([str(jax.typeof(leaf)) for leaf in jax.tree.leaves(out)])
        yield f"devices.explicit/{name}/{left}/{right}", explicit, 100
        if (left, right) in SPECS[:2]:
            for out in (("y", "x"), (), "auto"):
                def forced(f=f, left=left, right=right, out=out):
                    m = mesh()
                    with m:
                        put = lambda *s: NamedSharding(m, P(*s))
                        g = jax.jit(f, in_shardings=(put(*left), put(*right)), **({} if out == "auto" else {"out_shardings": put(*out)}))
                        compiled = g.lower(square(), square()).compile()
                        return told(g(square(), square())), text([s.spec for s in jax.tree.leaves(compiled.input_shardings)], [getattr(s, "spec", None) for s in jax.tree.leaves(compiled.output_shardings)])
                yield f"devices.forced/{name}/{left}/{right}/{out}", forced, 100
            yield f"devices.eager/{name}/{left}/{right}", lambda f=f, left=left, right=right: told(f(cut(square(), *left), cut(square()[::-1].copy(), *right))) if name not in ("shard_map",) and not name.startswith("constraint") else 0, 100


BODIES = {
    "psum": (lambda v: lax.psum(v, "x"), P(None, "y")), "psum2": (lambda v: lax.psum(v, ("x", "y")), P()), "pmean": (lambda v: lax.pmean(v, "y"), P("x")), "pmax": (lambda v: lax.pmax(v, "x"), P(None, "y")), "pmin": (lambda v: lax.pmin(v, "x"), P(None, "y")), "all_gather": (lambda v: lax.all_gather(v, "x"), P(None, None, "y")), "all_gather_tiled": (lambda v: lax.all_gather(v, "x", axis=1, tiled=True), P("x", "y")), "all_to_all": (lambda v: lax.all_to_all(v, "y", 0, 1, tiled=True), P(("x", "y"))), "ppermute": (lambda v: lax.ppermute(v, "x", [(i, (i + 1) % 4) for i in range(4)]), P("x", "y")), "ppermute_part": (lambda v: lax.ppermute(v, "x", [(0, 2), (1, 3)]), P("x", "y")), "psum_scatter": (lambda v: lax.psum_scatter(v, "y", scatter_dimension=1, tiled=True), P("x", "y")), "axis_index": (lambda v: v * lax.axis_index("x") + lax.axis_index("y"), P("x", "y")), "axis_size": (lambda v: v * lax.axis_size("x"), P("x", "y")), "pshuffle": (lambda v: lax.pshuffle(v, "x", [1, 2, 3, 0]), P("x", "y")), "groups": (lambda v: lax.psum(v, "x", axis_index_groups=[[0, 1], [2, 3]]), P("x", "y")), "index_pair": (lambda v: v + lax.axis_index(("x", "y")), P("x", "y")),
    "scan": (lambda v: lax.scan(lambda c, t: (c + lax.psum(t, "x"), t), jnp.zeros_like(v[0]) + lax.psum(v[0] * 0, "x"), v)[0], P("y")), "while": (lambda v: lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] + lax.ppermute(s[1], "x", [(0, 1), (1, 2), (2, 3), (3, 0)])), (0, v))[1], P("x", "y")), "cond": (lambda v: lax.cond(lax.axis_index("x") > 1, lambda t: t * 2, lambda t: t - 1, v), P("x", "y")), "matmul": (lambda v: lax.psum(v @ v.T, "y"), P("x")), "random": (lambda v: v + jax.random.uniform(jax.random.fold_in(jax.random.key(0), lax.axis_index("x")), v.shape), P("x", "y")), "sort": (lambda v: jnp.sort(v, 1), P("x", "y")), "grad_inside": (lambda v: jax.grad(lambda t: jnp.sum(t ** 2))(v), P("x", "y")), "remat": (lambda v: jax.checkpoint(lambda t: jnp.sin(lax.psum(t, "x")))(v), P(None, "y")), "vmap": (lambda v: jax.vmap(lambda t: lax.psum(t, "x"))(v), P(None, "y")), "jit": (lambda v: jax.jit(lambda t: lax.pmax(t, "y"))(v), P("x")), "tuple": (lambda v: (v, lax.psum(v, "x"), v.sum()[None, None]), (P("x", "y"), P(None, "y"), P("x", "y"))), "debug": (lambda v: (jax.debug.callback(lambda t: None, v), v)[1], P("x", "y")), "int": (lambda v: lax.psum(1, "x") * v, P("x", "y")), "bool": (lambda v: lax.pmax((v > 0).astype("int32"), "x") > 0, P(None, "y")), "pvary": (lambda v: lax.pcast(jnp.ones(v.shape), ("x", "y"), to="varying") * v, P("x", "y")), "linalg": (lambda v: jnp.linalg.inv(v @ v.T + 9 * jnp.eye(2)), P("x", "y")), "softmax": (lambda v: (lambda e: e / lax.psum(e.sum(1, keepdims=True), "y"))(jnp.exp(v - lax.pmax(lax.stop_gradient(v.max(1, keepdims=True)), "y"))), P("x", "y")), "gather_sum": (lambda v: lax.all_gather(v, ("x", "y"), tiled=True).sum(0), P(("x", "y"))),
}


def shard_map_cases():
    for (name, (body, out)), dtype, check in itertools.product(BODIES.items(), ("float32", "bfloat16", "int32"), (True, False)):
        def mapped(body=body, out=out, check=check):
            return jax.shard_map(body, mesh=mesh(), in_specs=P("x", "y"), out_specs=out, check_vma=check)
        value = lambda dtype=dtype: cut(jnp.asarray(square()).astype(dtype), "x", "y")
        yield f"devices.shard_map/{name}/{dtype}/{check}", lambda m=mapped, v=value: told(jax.jit(m())(v())), 100
        if dtype == "float32":
            yield f"devices.shard_map/{name}/{check}/eager", lambda m=mapped, v=value: told(m()(v())), 100
            yield f"devices.shard_map/{name}/{check}/grad", lambda m=mapped, v=value: told(jax.jit(jax.grad(lambda a: sum(jnp.sum(jnp.sin(leaf)) for leaf in jax.tree.leaves(m()(a)))))(v())), 100
            yield f"devices.shard_map/{name}/{check}/vmap", lambda m=mapped, v=value: told(jax.jit(jax.vmap(m()))(jnp.stack([v(), v() * 2]))), 100
            yield f"devices.shard_map/{name}/{check}/jvp", lambda m=mapped, v=value: told(jax.jvp(m(), (v(),), (v(),))), 100
            yield f"devices.shard_map/{name}/{check}/partial", lambda body=body, out=out, check=check, v=value: told(jax.jit(jax.shard_map(body, mesh=mesh(), in_specs=P("x"), out_specs=jax.tree.map(lambda s: P(*("x" if e == "x" else None for e in s)), out, is_leaf=lambda s: isinstance(s, P)), axis_names={"x"}, check_vma=check))(v())), 100


def pmap_cases():
    bodies = {"psum": lambda x: lax.psum(x, "i"), "norm": lambda x: x / lax.psum(x, "i"), "gather": lambda x: lax.all_gather(x, "i"), "to_all": lambda x: lax.all_to_all(x, "i", 0, 0), "permute": lambda x: lax.ppermute(x, "i", [(i, (i + 3) % 8) for i in range(8)]), "index": lambda x: x + lax.axis_index("i"), "groups": lambda x: lax.psum(x, "i", axis_index_groups=[[0, 2, 4, 6], [1, 3, 5, 7]]), "scatter": lambda x: lax.psum_scatter(x, "i"), "mean": lambda x: lax.pmean(x, "i"), "max": lambda x: lax.pmax(x, "i"), "tree": lambda x: {"a": x.sum(), "b": (x * 2, 1.0)}, "scan": lambda x: lax.scan(lambda c, t: (c + lax.psum(t, "i"), c), 0.0, x), "cond": lambda x: lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x), "random": lambda x: x + jax.random.normal(jax.random.key(0), x.shape), "callback": lambda x: jax.pure_callback(lambda v: np.asarray(v) * 2, jax.ShapeDtypeStruct(x.shape, x.dtype), x), "inverse": lambda x: jnp.linalg.inv(jnp.outer(x, x) + jnp.eye(8)), "swap": lambda x: lax.pswapaxes(x, "i", 0)}
    for (name, body), dtype in itertools.product(bodies.items(), ("float32", "int32", "complex64", "bool")):
        value = lambda dtype=dtype: jnp.asarray(square()).astype(dtype) if dtype != "bool" else jnp.asarray(square()) > 0
        options = lambda: {"axis_name": "i", "devices": devices()}
        yield f"devices.pmap/{name}/{dtype}", lambda b=body, v=value, o=options: told(jax.pmap(b, **o())(v())), 100
        if dtype == "float32":
            yield f"devices.pmap/{name}/grad", lambda b=body, v=value, o=options: told(jax.grad(lambda x: sum(jnp.sum(jnp.sin(leaf)) for leaf in jax.tree.leaves(jax.pmap(b, **o())(x))))(v())), 100
            yield f"devices.pmap/{name}/out1", lambda b=body, v=value, o=options: told(jax.pmap(b, out_axes=-1, **o())(v())), 100
            yield f"devices.pmap/{name}/in1", lambda b=body, v=value, o=options: told(jax.pmap(b, in_axes=1, **o())(v())), 100
            yield f"devices.pmap/{name}/vmap", lambda b=body, v=value, o=options: told(jax.vmap(jax.pmap(b, **o()))(jnp.stack([v(), v()]))), 100
            yield f"devices.pmap/{name}/twice", lambda b=body, v=value, o=options: told((lambda f: (f(v()), f(f(v())) if name in ("psum", "norm", "index", "permute") else 0))(jax.pmap(b, **o()))), 100
    yield "devices.pmap/static", lambda: told(jax.pmap(lambda x, n: x * n, static_broadcasted_argnums=1, devices=devices())(jnp.arange(8.0), 3))
    yield "devices.pmap/none_axis", lambda: told(jax.pmap(lambda x, y: x + y, in_axes=(0, None), devices=devices())(jnp.arange(8.0), jnp.arange(3.0)))
    yield "devices.pmap/out_none", lambda: told(jax.pmap(lambda x: (x, lax.psum(x, "i")), axis_name="i", out_axes=(0, None), devices=devices())(jnp.arange(8.0)))
    yield "devices.pmap/donate", lambda: told(jax.pmap(lambda x: x + 1, donate_argnums=0, devices=devices())(jnp.arange(8.0)))
    yield "devices.pmap/few", lambda: told(jax.pmap(lambda x: lax.psum(x, "i"), axis_name="i", devices=devices()[2:5])(jnp.arange(3.0)))
    for name, function in {"many": lambda: jax.pmap(lambda x: x, devices=devices())(jnp.ones((9, 2))), "mismatch": lambda: jax.pmap(lambda x, y: x, devices=devices())(jnp.ones(8), jnp.ones(4)), "axis": lambda: jax.pmap(lambda x: lax.psum(x, "j"), axis_name="i", devices=devices())(jnp.ones(8)), "rank": lambda: jax.pmap(lambda x: x, devices=devices())(1.0)}.items():
        yield f"devices.pmap_error/{name}", functools.partial(error, function)


def placement_cases():
    m = mesh
    def put(value, *spec, **options):
        return jax.device_put(value, NamedSharding(m(), P(*spec), **options))
    cases_ = {
        "reshard": lambda: [jax.device_put(cut(square(), *a), NamedSharding(m(), P(*b))) for a in (("x", "y"), ("x",), (), (("y", "x"),)) for b in (("y", "x"), (None, "x"), (), (("x", "y"),))], "to_one": lambda: [jax.device_put(cut(square(), "x"), d) for d in devices()[:3]], "from_one": lambda: [jax.device_put(jax.device_put(square(), devices()[5]), NamedSharding(m(), P("x")))], "callback": lambda: jax.make_array_from_callback((8, 8), NamedSharding(m(), P("x", "y")), lambda i: square()[i]), "parts": lambda: jax.make_array_from_single_device_arrays((8, 8), NamedSharding(m(), P(("x", "y"))), [jax.device_put(square()[i:i + 1], d) for i, d in enumerate(m().devices.flat)]), "process": lambda: jax.make_array_from_process_local_data(NamedSharding(m(), P("x")), square()), "indexed": lambda: [cut(square(), "x", "y")[k] for k in (2, (slice(None), 3), slice(1, 5), (slice(None, None, 2), 1), -1, np.array([1, 3]), (Ellipsis, None))], "iter": lambda: list(cut(square(), "x")), "ops": lambda: (lambda a: [a + 1, a @ a, a.T, a.sum(), a.mean(1), -a, a > 0, a.reshape(64), a.astype("int32"), a.at[0].set(0), a[None], abs(a)])(cut(square(), "x", "y")),
        "mixed": lambda: cut(square(), "x") + 1.0 + np.ones(8, "float32"), "mixed_put": lambda: cut(square(), "x") + cut(square(), None, "y"), "committed": lambda: text(cut(square(), "x").committed, (cut(square(), "x") + 1).committed, cut(square(), "x").is_fully_replicated, cut(square()).is_fully_replicated, [s.replica_id for s in cut(square(), "x").addressable_shards], [str(s.index) for s in cut(square(), "x", "y").addressable_shards], cut(square(), "x").sharding.shard_shape((8, 8)), cut(square(), "x").sharding.num_devices, [s.device.id for s in cut(square(), None, "y").addressable_shards]), "delete": lambda: (lambda a: (a.delete(), text(a.is_deleted()))[1])(cut(square(), "x")), "copy": lambda: [jnp.copy(cut(square(), "x")), jnp.array(cut(square(), "x")), jnp.asarray(cut(square(), "x"))], "pickle": lambda: np.asarray(__import__("pickle").loads(__import__("pickle").dumps(cut(square(), "x")))), "kinds": lambda: [put(square(), "x", memory_kind=k) for k in ("device", "pinned_host", "unpinned_host")], "kinds_jit": lambda: jax.jit(lambda v: v * 2, out_shardings=NamedSharding(m(), P("x"), memory_kind="device"))(put(square(), "x", memory_kind="device")), "donate": lambda: (lambda a: (jax.jit(lambda v: v + 1, donate_argnums=0)(a), text(a.is_deleted())))(cut(square(), "x")), "aot": lambda: (lambda c: (c(cut(square(), "x")), text(c.input_shardings[0][0].spec, c.output_shardings.spec)))(jax.jit(lambda v: v * 2).lower(jax.ShapeDtypeStruct((8, 8), "float32", sharding=NamedSharding(m(), P("x")))).compile()), "keys": lambda: (lambda k: (jax.random.key_data(k), text(k.sharding.spec), jax.random.key_data(jax.jit(jax.vmap(jax.random.split))(k))))(jax.device_put(jax.random.split(jax.random.key(0), 8), NamedSharding(m(), P("x")))), "random_out": lambda: jax.jit(lambda: jax.random.normal(jax.random.key(1), (8, 8)), out_shardings=NamedSharding(m(), P("x", "y")))(), "zeros_out": lambda: [jnp.zeros((8, 8), device=NamedSharding(m(), P("x"))), jnp.arange(8, device=NamedSharding(m(), P("y"))), jnp.full((8,), 2, device=devices()[3]), jnp.ones_like(cut(square(), "x"))], "prefix": lambda: jax.jit(lambda t: jax.tree.map(jnp.sin, t), in_shardings=(NamedSharding(m(), P("x")),), out_shardings=NamedSharding(m(), P("y")))({"a": square(), "b": (square(), square() + 1)}), "uneven_constraint": lambda: jax.jit(lambda v: lax.with_sharding_constraint(v * 2, NamedSharding(m(), P("x"))).sum(0))(np.ones((6, 6), "float32")), "empty": lambda: cut(np.zeros((0, 8), "float32"), None, "y") + 1, "scalar": lambda: cut(np.float32(3)) * 2, "types": lambda: [cut(square().astype(t), "x", "y") for t in ("float16", "int8", "bool", "complex64", "uint16")], "narrow": lambda: [jax.jit(lambda v: v + v)(cut(jnp.asarray(square()).astype(t), "x", "y")) for t in ("bfloat16", "float8_e5m2", "int4")], "other_mesh": lambda: [jax.jit(lambda v: v * 2)(jax.device_put(square(), NamedSharding(Mesh(np.array(devices())[::-1].reshape(2, 4), ("a", "b")), P("b", "a")))), jax.jit(lambda v: v + 1)(jax.device_put(square(), NamedSharding(Mesh(np.array(devices()[4:8]), ("a",)), P("a"))))], "3d": lambda: jax.jit(lambda v: jnp.einsum("abc,dbc->ad", v, v))(jax.device_put(np.arange(64.0, dtype="float32").reshape(4, 4, 4), NamedSharding(Mesh(np.array(devices()).reshape(2, 2, 2), ("a", "b", "c")), P("a", "b", "c")))), "cache": lambda: (lambda f: (f(cut(square(), "x")), f(cut(square(), "y")), f(square()), text(f._cache_size()))[3])(jax.jit(lambda v: v * 5)), "collectives_text": lambda: text([w in jax.jit(jax.shard_map(b, mesh=m(), in_specs=P("x", "y"), out_specs=o, check_vma=False)).lower(square()).compile().as_text() for w, b, o in (("all-reduce", BODIES["psum"][0], P(None, "y")), ("all-gather", BODIES["all_gather"][0], P(None, None, "y")), ("collective-permute", BODIES["ppermute"][0], P("x", "y")), ("reduce-scatter", BODIES["psum_scatter"][0], P("x", "y")), ("all-to-all", BODIES["all_to_all"][0], P(("x", "y"))))]), "local": lambda: text(len(jax.local_devices(backend=devices()[0].platform)), [d.id for d in devices()], devices()[3].local_hardware_id, devices()[0].process_index), "memory_analysis": lambda: text(jax.jit(lambda v: v * 2).lower(cut(square(), "x")).compile().memory_analysis().argument_size_in_bytes),
    }
    for name, function in cases_.items():
        yield f"devices.placement/{name}", lambda f=function: told(f()), 100
    for name, function in {"uneven": lambda: jax.device_put(np.ones((6, 6)), NamedSharding(m(), P("x"))), "rank": lambda: jax.device_put(np.ones(8), NamedSharding(m(), P("x", "y"))), "name": lambda: NamedSharding(m(), P("z")), "twice": lambda: NamedSharding(m(), P("x", "x")), "two_devices": lambda: jax.jit(lambda a, b: a + b)(jax.device_put(1.0, devices()[0]), jax.device_put(1.0, devices()[1])), "two_meshes": lambda: jax.jit(lambda a, b: a + b)(cut(square(), "x"), jax.device_put(square(), devices()[0])), "aot_wrong": lambda: jax.jit(lambda v: v * 2, in_shardings=NamedSharding(m(), P("x"))).lower(square()).compile()(cut(square(), "y")), "in_uneven": lambda: jax.jit(lambda v: v, in_shardings=NamedSharding(m(), P("x")))(np.ones((6, 6))), "out_uneven": lambda: jax.jit(lambda v: v, out_shardings=NamedSharding(m(), P("x")))(np.ones((6, 6))), "spec_without_mesh": lambda: jax.jit(lambda v: v, in_shardings=P("x"))(square()), "conflict": lambda: jax.jit(lambda v: v, in_shardings=NamedSharding(m(), P("x")))(cut(square(), "y")), "shard_map_shape": lambda: jax.shard_map(lambda v: v, mesh=m(), in_specs=P("x"), out_specs=P("x"))(np.ones((6, 6))), "shard_map_rep": lambda: jax.shard_map(lambda v: v, mesh=m(), in_specs=P("x"), out_specs=P())(square()), "explicit_add": lambda: (lambda c: c)(cut(square(), "x", kind=AxisType.Explicit) + cut(square(), None, "x", kind=AxisType.Explicit)), "explicit_dot": lambda: cut(square(), None, "x", kind=AxisType.Explicit) @ cut(square(), "x", kind=AxisType.Explicit), "callback_error": lambda: jax.jit(lambda v: jax.pure_callback(lambda t: 1 / 0, jax.ShapeDtypeStruct((8, 8), "float32"), v))(cut(square(), "x"))}.items():
        yield f"devices.error/{name}", functools.partial(error, function)


def cases():
    for part in (program_cases, shard_map_cases, pmap_cases, placement_cases):
        yield from part()
# SPDX-License-Identifier: Apache-2.0
