"""Small JAX programs, one an operation or a way to use it, for stablehlo_peer.py."""
import dataclasses
import functools
from typing import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.state.discharge import run_state
from jax.ad_checkpoint import checkpoint_name
from jax.experimental import sparse as jsparse
from jax.experimental.layout import Layout, with_layout_constraint
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

F = np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32)
POSITIVE = np.abs(F) + 0.1
UNIT = np.clip(F / 4, -0.95, 0.95).astype(np.float32)
I = np.arange(12, dtype=np.int32).reshape(3, 4) - 5
U = np.arange(12, dtype=np.uint32).reshape(3, 4)
B = F > 0
C = (F + 1j * F[::-1]).astype(np.complex64)
SQUARE = (F @ F.T + 3 * np.eye(3)).astype(np.float32)
IMAGE = np.random.default_rng(2).normal(size=(2, 6, 6, 3)).astype(np.float32)
KERNEL = np.random.default_rng(3).normal(size=(3, 3, 3, 4)).astype(np.float32)
WIDE = np.random.default_rng(4).normal(size=(2, 3, 4)).astype(np.float32)


@dataclasses.dataclass
class Program:
    name: str
    function: Callable
    values: tuple

    def inputs(self):
        return self.values


PROGRAMS = []


def add(name, function, *values):
    PROGRAMS.append(Program(name, function, values))


for name, x in [("abs", F), ("neg", F), ("sign", F), ("floor", F), ("ceil", F), ("exp", F), ("exp2", F), ("expm1", F), ("log", POSITIVE),
                ("log1p", POSITIVE), ("sqrt", POSITIVE), ("rsqrt", POSITIVE), ("cbrt", F), ("sin", F), ("cos", F), ("tan", F), ("tanh", F),
                ("sinh", F), ("cosh", F), ("asin", UNIT), ("acos", UNIT), ("atan", F), ("asinh", F), ("acosh", POSITIVE + 1),
                ("atanh", UNIT), ("logistic", F), ("erf", F), ("erfc", F), ("erf_inv", UNIT), ("lgamma", POSITIVE), ("digamma", POSITIVE),
                ("bessel_i0e", F), ("bessel_i1e", F), ("is_finite", F), ("round", F), ("square", F), ("integer_pow3", F), ("not", B),
                ("bitwise_not", I), ("population_count", U), ("clz", U), ("real", C), ("imag", C), ("conj", C)]:
    functions = {"round": lambda v: (lax.round(v, lax.RoundingMethod.AWAY_FROM_ZERO), lax.round(v, lax.RoundingMethod.TO_NEAREST_EVEN)),
                 "integer_pow3": lambda v: lax.integer_pow(v, 3), "not": jnp.logical_not}
    add(name, functions.get(name) or getattr(lax, name), x)
for name in ["abs", "sign", "exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "expm1", "log1p", "neg", "square", "logistic"]:
    add(name + "_complex", getattr(lax, name), C)
for name in ["add", "sub", "mul", "div", "rem", "max", "min", "atan2", "nextafter", "eq", "ne", "lt", "le", "gt", "ge"]:
    add(name, getattr(lax, name), F, F[::-1])
    if name not in ("atan2", "nextafter"):
        add(name + "_s32", getattr(lax, name), I, np.maximum(I[::-1], 1))
for name in ["bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right_logical", "shift_right_arithmetic"]:
    add(name, getattr(lax, name), I, np.abs(I[::-1]))
add("pow", lax.pow, POSITIVE, F)
add("complex", lax.complex, F, F)
add("polygamma", lax.polygamma, np.full_like(F, 1), POSITIVE)
add("zeta", lax.zeta, POSITIVE + 1.5, POSITIVE)
add("igamma", lax.igamma, POSITIVE, POSITIVE[::-1])
add("betainc", lax.betainc, POSITIVE, POSITIVE[::-1], np.abs(UNIT))
add("clamp", lambda v: (lax.clamp(-0.5, v, 0.5), lax.clamp(v - 1, v * 2, v + 1)), F)
add("select", lambda p, v: (jnp.where(p, v, 0), lax.select_n(p[0, 0], v, -v), lax.select_n(jnp.int32(1), v, -v)), B, F)
for kind in [jnp.float16, jnp.bfloat16, jnp.int8, jnp.uint8, jnp.int16, jnp.uint16, jnp.int32, jnp.uint32, jnp.bool_, jnp.complex64, jnp.int4, jnp.uint4,
             jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.float8_e4m3b11fnuz, jnp.float8_e4m3fnuz, jnp.float8_e5m2fnuz, jnp.float8_e3m4, jnp.float8_e4m3, jnp.float8_e8m0fnu, jnp.float4_e2m1fn, jnp.int2, jnp.uint2]:
    kind_name = jnp.dtype(kind).name
    add("convert_" + kind_name, functools.partial(lambda k, v: v.astype(k).astype(jnp.complex64 if k == jnp.complex64 else jnp.float32), kind), POSITIVE)
    add("constant_" + kind_name, functools.partial(lambda k, v: v + jnp.asarray([[1, 0, 1, 1]], k).astype(jnp.float32 if k != jnp.complex64 else k), kind), F)
add("bitcast", lambda v: (lax.bitcast_convert_type(v, jnp.int32), lax.bitcast_convert_type(v, jnp.uint8), lax.bitcast_convert_type(lax.bitcast_convert_type(v, jnp.uint16), jnp.float32)), F)
add("reduce_precision", lambda v: lax.reduce_precision(v, 5, 10), F)
add("reshape", lambda v: (v.reshape(4, 3), v.reshape(-1), v[None], v.T), F)
add("transpose3", lambda v: jnp.transpose(v, (2, 0, 1)), WIDE)
add("broadcast", lambda v: (lax.broadcast(v, (2,)), lax.broadcast_in_dim(v[:1], (2, 3, 4), (1, 2)), jnp.broadcast_to(v[:, :1], (3, 5))), F)
add("iota", lambda v: v + lax.broadcasted_iota(jnp.float32, (3, 4), 1) + jnp.arange(4), F)
add("slice", lambda v: (v[1:, ::2], v[:2], v[2], v[..., -1], v[::-1]), F)
add("pad", lambda v: (lax.pad(v, 1., ((1, 2, 0), (0, 0, 1))), lax.pad(v, 0., ((-1, 0, 0), (0, -1, 0)))), F)
add("concatenate", lambda v: (jnp.concatenate([v, v * 2], 0), jnp.stack([v, v], 1), jnp.concatenate([v], 0)), F)
add("rev", lambda v: lax.rev(v, (0, 1)), F)
add("dynamic_slice", lambda v, i: (lax.dynamic_slice(v, (i, 0), (2, 2)), lax.dynamic_slice(v, (1, 0), (2, 2)), lax.dynamic_index_in_dim(v, i)), F, np.int32(1))
add("dynamic_update_slice", lambda v, i: lax.dynamic_update_slice(v, v[:1, :2] * 9, (i, i)), F, np.int32(1))
add("gather", lambda v, i: (v[i], v[:, i], jnp.take(v, i, axis=1), v[i, i], jnp.take_along_axis(v, jnp.argsort(v), 1)), F, np.array([0, 2], np.int32))
add("scatter", lambda v, i: (v.at[i].set(7.), v.at[i].add(1.), v.at[:, i].max(0.), v.at[i, i].mul(2.), v.at[i].min(0.)), F, np.array([0, 2], np.int32))
add("scatter_batch", lambda v, i: jax.vmap(lambda a, k: a.at[k].add(1.))(v, i), F, np.array([0, 2, 1], np.int32))
add("gather_batch", lambda v, i: jax.vmap(lambda a, k: a[k])(v, i), F, np.array([0, 2, 1], np.int32))
for name in ["sum", "prod", "max", "min", "argmax", "argmin", "any", "all", "mean", "var", "cumsum", "cumprod", "sort", "argsort", "median"]:
    add("jnp_" + name, functools.partial(lambda f, v: (f(v, axis=0), f(v, axis=1)), getattr(jnp, name)), F)
for name in ["cummax", "cummin", "cumlogsumexp"]:
    add(name, functools.partial(lambda f, v: f(v, axis=1), getattr(lax, name)), F)
add("reduce_pair", lambda v, i: lax.reduce((v, i), (np.float32(0), np.int32(0)), lambda a, b: (a[0] + b[0], jnp.maximum(a[1], b[1])), (1,)), F, I)
add("reduce_and", lambda p: (jnp.all(p, 1), jnp.any(p, 0), lax.reduce_xor(p, (0,))), B)
add("sort_pair", lambda v, i: lax.sort((v, i), num_keys=1, dimension=0), F, I)
add("sort_two_keys", lambda v, i: lax.sort((i // 3, v), num_keys=2), F, I)
add("top_k", lambda v: lax.top_k(v, 2), F)
add("approx_max_k", lambda v: lax.approx_max_k(v, 2), F)
add("reduce_window", lambda v: (lax.reduce_window(v, 0., lax.add, (2, 2), (1, 1), "VALID"), lax.reduce_window(v, -np.inf, lax.max, (2, 1), (2, 1), "SAME")), F)
add("pool_gradient", jax.grad(lambda v: lax.reduce_window(v, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").sum()), IMAGE)
add("dot", lambda v: (v @ v.T, jnp.einsum("ij,kj->ik", v, v), jnp.dot(v[0], v[1]), lax.dot(v, v.T, precision="highest")), F)
add("dot_batch", lambda v: jnp.einsum("bij,bkj->bik", v, v), WIDE)
add("dot_types", lambda v: lax.dot(v.astype(jnp.bfloat16), v.T.astype(jnp.bfloat16), preferred_element_type=jnp.float32), F)
add("dot_int", lambda v: lax.dot(v.astype(jnp.int8), v.T.astype(jnp.int8), preferred_element_type=jnp.int32), I)
add("conv", lambda v, k: lax.conv_general_dilated(v, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), IMAGE, KERNEL)
add("conv_dilated", lambda v, k: lax.conv_general_dilated(v, k, (2, 1), ((1, 0), (2, 1)), (1, 2), (2, 1), ("NHWC", "HWIO", "NHWC")), IMAGE, KERNEL)
add("conv_groups", lambda v, k: lax.conv_general_dilated(v, k, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=3), IMAGE, KERNEL[:, :, :1, :3])
add("conv_transpose", lambda v, k: lax.conv_transpose(v, k, (2, 2), "SAME"), IMAGE, KERNEL)
add("conv_gradient", jax.grad(lambda k, v: lax.conv_general_dilated(v, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")).sum()), KERNEL, IMAGE)
add("fft", lambda v: (jnp.fft.fft(v), jnp.fft.ifft(v), jnp.fft.rfft(v), jnp.fft.irfft(jnp.fft.rfft(v)), jnp.fft.fft2(v)), F)
add("cholesky", jnp.linalg.cholesky, SQUARE)
add("triangular_solve", lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, lower=True), np.tril(SQUARE), F)
add("solve", lambda a, b: jnp.linalg.solve(a, b), SQUARE, F)
add("inv", jnp.linalg.inv, SQUARE)
add("det", jnp.linalg.det, SQUARE)
add("qr_r", lambda a: jnp.abs(jnp.linalg.qr(a)[1]), SQUARE)
add("eigvalsh", jnp.linalg.eigvalsh, SQUARE)
add("svdvals", lambda a: jnp.linalg.svd(a, compute_uv=False), F)
add("while", lambda v: lax.while_loop(lambda c: c[0] < 4, lambda c: (c[0] + 1, c[1] * 1.5 + v), (0, v)), F)
add("while_one", lambda n: lax.while_loop(lambda c: c < 100, lambda c: c * 2, n), np.int32(3))
add("fori", lambda v: lax.fori_loop(0, 3, lambda i, s: s + v[i], v[0]), F)
add("scan", lambda v: lax.scan(lambda c, x: (c + x, c * x), v[0], v), F)
add("map", lambda v: lax.map(jnp.sin, v), F)
add("cond", lambda v: lax.cond(v[0, 0] > 0, lambda x: x * 2, lambda x: x - v, v), F)
add("cond_many", lambda v: lax.cond(v[0, 0] > 0, lambda: (v, v * 2), lambda: (v - 1, v)), F)
add("switch", lambda v, i: lax.switch(i, [lambda x: x, jnp.sin, lambda x: x @ v.T @ v], v), F, np.int32(2))
add("nested_loops", lambda v: lax.fori_loop(0, 2, lambda i, s: lax.fori_loop(0, 3, lambda j, t: t + v * s, s), v), F)
add("cond_in_scan", lambda v: lax.scan(lambda c, x: (lax.cond(x[0] > 0, lambda: c + x, lambda: c * v[0]), c), v[0], v), F)
add("associative_scan", lambda v: lax.associative_scan(jnp.add, v), F)
add("jit_calls", lambda v: jax.jit(lambda a: jax.jit(jnp.sin)(a) + jax.jit(jnp.sin)(a * 2))(v), F)
add("barrier", lambda v: (lax.optimization_barrier((v, v * 2)), lax.optimization_barrier(v)), F)
add("checkpoint", jax.grad(lambda v: jax.checkpoint(lambda a: jnp.sin(jnp.sin(a)))(v).sum()), F)
add("grad_mlp", jax.grad(lambda w, v: jnp.sum(jax.nn.softmax(jax.nn.relu(v @ w) @ w.T) ** 2)), F.T.copy(), F)
add("rng_bits", lambda k: lax.rng_bit_generator(k, (5,)), np.arange(4, dtype=np.uint32))
add("uniform", lambda s: jax.random.uniform(jax.random.key(s), (7,)), np.int32(3))
add("normal", lambda s: jax.random.normal(jax.random.key(s), (7,)), np.int32(3))
add("bernoulli", lambda s: jax.random.bernoulli(jax.random.key(s), 0.3, (7,)), np.int32(3))
add("permutation", lambda s: jax.random.permutation(jax.random.key(s), 7), np.int32(3))
add("categorical", lambda s, v: jax.random.categorical(jax.random.key(s), v), np.int32(3), F)
add("gamma", lambda s: jax.random.gamma(jax.random.key(s), 2., (3,)), np.int32(3))
for name in ["relu", "gelu", "silu", "softplus", "elu", "selu", "leaky_relu", "log_softmax", "softmax", "hard_tanh", "logsumexp", "celu", "glu", "mish"]:
    add("nn_" + name, getattr(jax.nn, name), F)
for name in ["sinc", "nan_to_num", "trunc", "i0", "deg2rad", "signbit", "frexp", "modf", "cumsum", "diff", "ravel", "unwrap", "floor", "isnan", "isposinf", "ptp", "nanmean", "count_nonzero", "gradient"]:
    add("np_" + name, getattr(jnp, name), F)
for name in ["logaddexp", "hypot", "copysign", "heaviside", "floor_divide", "fmod", "mod", "outer", "maximum", "kron", "ldexp_", "float_power", "isclose", "arctan2"]:
    if hasattr(jnp, name):
        add("np2_" + name, getattr(jnp, name), POSITIVE, F)
add("attention", lambda q: jax.nn.dot_product_attention(q[None], q[None], q[None]), WIDE)
add("layer_norm", lambda v: (v - v.mean(-1, keepdims=True)) / jnp.sqrt(v.var(-1, keepdims=True) + 1e-5), F)
add("embedding", lambda t, i: jnp.take(t, i, axis=0) @ t.T, F, np.array([[0, 2], [1, 1]], np.int32))
add("one_hot", lambda i: jax.nn.one_hot(i, 5), np.array([0, 3], np.int32))
add("searchsorted", lambda v, x: jnp.searchsorted(jnp.sort(v[0]), x[1]), F, F)
add("bincount", lambda i: jnp.bincount(i, length=5), np.array([0, 3, 3], np.int32))
add("unused", lambda v, w: v, F, I)
add("scalars", lambda a, b: (a + b, a * 2, 3), np.float32(1.5), np.float32(2))
add("no_inputs", lambda: jnp.arange(5) * 2)
add("empty", lambda v: (v[:0], v[:0].sum(0)), F)
add("large_constant", lambda v: v + np.arange(12, dtype=np.float32).reshape(3, 4) ** 1.5, F)
add("poly", lambda v: jnp.polyval(jnp.array([1., 2., 3.]), v), F)
add("interp", lambda v: jnp.interp(v, jnp.array([-1., 0., 1.]), jnp.array([3., 2., 5.])), F)
add("select_and_gather", jax.jacfwd(lambda v: lax.reduce_window(v, -np.inf, lax.max, (2, 1), (1, 1), "VALID")), F)
add("vmap", jax.vmap(lambda v: jnp.outer(v, v)), F)
add("hessian", jax.hessian(lambda v: jnp.sum(jnp.tanh(v) ** 2)), F[0].copy())


@jax.custom_vjp
def _custom_vjp(v):
    return jnp.sin(v)


_custom_vjp.defvjp(lambda v: (jnp.sin(v), v), lambda v, g: (g * jnp.cos(v) * 2,))


@jax.custom_jvp
def _custom_jvp(v):
    return jnp.exp(v)


_custom_jvp.defjvp(lambda p, t: (jnp.exp(p[0]), t[0] * 3))


def on_one_device(function):
    return jax.shard_map(function, mesh=jax.make_mesh((1,), ("x",)), in_specs=P(), out_specs=P(), check_vma=False)

# Primitives that the programs above leave out.
add("eig", lambda a: jnp.abs(jnp.linalg.eig(a)[0]).sum(), SQUARE)
add("schur", lambda a: jnp.abs(jax.scipy.linalg.schur(a)[0]).sum(), SQUARE)
add("hessenberg", lambda a: jnp.abs(lax.linalg.hessenberg(a)[0]), SQUARE)
add("householder_product", lambda a: lax.linalg.householder_product(*lax.linalg.geqrf(a)) if hasattr(lax.linalg, "geqrf") else jnp.linalg.qr(a)[0], SQUARE)
add("lu_pivots", lambda a: lax.linalg.lu_pivots_to_permutation(lax.linalg.lu(a)[1], 3), SQUARE)
add("tridiagonal", lambda a: jnp.abs(lax.linalg.tridiagonal(a)[1]), SQUARE)
add("tridiagonal_solve", lax.linalg.tridiagonal_solve, np.array([0, 1, 2], np.float32), np.array([4, 5, 6], np.float32), np.array([1, 2, 0], np.float32), F)
add("symmetric_product", lax.linalg.symmetric_product, F, SQUARE)
add("igammac", lax.igammac, POSITIVE, POSITIVE[::-1])
add("igamma_grad", lax.igamma_grad_a, POSITIVE, POSITIVE[::-1])
add("random_algorithms", lambda s: [jax.random.bits(jax.random.fold_in(jax.random.key(s, impl=i), 3), (3,)) for i in ("threefry2x32", "rbg", "unsafe_rbg")], np.int32(5))
add("random_keys", lambda s: jax.random.key_data(jax.random.clone(jax.random.wrap_key_data(jnp.stack([s, s + 1])))), np.uint32(5))
add("scatter_sub", lambda v: v.at[jnp.array([0, 2])].subtract(1.5), F)
add("scatter_all", lambda v: (v.at[0].multiply(2), v.at[1].max(0), v.at[1].min(0), v.at[0, 1].divide(3), v.at[2].power(2)), POSITIVE)
add("pool_gradient", jax.grad(lambda v: lax.reduce_window(v, -np.inf, lax.max, (2, 2), (2, 2), "VALID").sum()), F)
add("reduce_window", lambda v: lax.reduce_window(v, np.float32(1), lambda a, b: a * b + a, (2, 1), (1, 1), "SAME"), F)
add("reduce_window_min", lambda v: lax.reduce_window(v, np.inf, lax.min, (1, 3), (1, 2), "VALID"), F)
add("ragged_dot", lambda a, b, n: lax.ragged_dot(a, b, n), np.ones((5, 4), np.float32), WIDE.transpose(0, 2, 1).copy(), np.array([2, 3], np.int32))
add("tile", lambda v: jnp.tile(v, (2, 1, 3)), F)
add("unstack", jnp.unstack, F)
add("sparse", lambda v: (lambda m: (m.todense(), m @ v.T, m.T.todense(), m.sum_duplicates(nse=12).data))(jsparse.BCOO.fromdense(v, nse=12)), F)
add("sparse_rows", lambda v: (lambda m: (m.todense(), m @ v.T))(jsparse.BCSR.fromdense(v, nse=12)), F)
add("custom_derivatives", jax.value_and_grad(lambda v: _custom_vjp(v).sum() + _custom_jvp(v).sum()), F)
add("composite", lambda v: lax.composite(lambda x, *, k: jnp.sin(x) * k, name="my.scaled_sine", version=2)(v, k=2.0), F)
add("names", jax.grad(lambda v: jax.checkpoint(lambda a: jnp.sin(checkpoint_name(jnp.sin(a), "s")), policy=jax.checkpoint_policies.save_only_these_names("s"))(v).sum()), F)
add("linear_call", lambda v: jax.linear_transpose(lambda a: a * 3, v)(v), F)
add("device_put", lambda v: jax.device_put(v) + 1, F)
add("platform", lambda v: lax.platform_dependent(v, cpu=lambda a: a * 2, default=lambda a: a * 3), F)
add("mulhi", lax.mulhi, U, U[::-1] + np.uint32(2**31)) if hasattr(lax, "mulhi") else None
add("copies", lambda v: (jnp.array(v, copy=True), jnp.empty_like(v).shape[0]), F)
add("collectives", lambda v: on_one_device(lambda a: (lax.psum(a, "x"), lax.pmax(a, "x"), lax.pmin(a, "x"), lax.pmean(a, "x"), lax.axis_index("x")))(v), F)
add("exchanges", lambda v: on_one_device(lambda a: (lax.all_gather(a, "x"), lax.all_to_all(a, "x", 0, 1), lax.ppermute(a, "x", [(0, 0)]), lax.psum_scatter(a, "x")))(v), F[None])


def on_a_mesh(function, kind=jax.sharding.AxisType.Auto):
    return lambda v: function(v, jax.make_mesh((1,), ("x",), axis_types=(kind,)))


@jax.custom_vjp
def _recomputed(v):
    return jnp.sin(v)


_recomputed.defvjp(lambda v: (jnp.sin(v), v), lambda v, g: (g * 2,), optimize_remat=True)


@jax.custom_batching.custom_vmap
def _own_vmap(v):
    return jnp.sin(v)


_own_vmap.def_vmap(lambda size, batched, v: (jnp.sin(v) * 2, True))

# The rest of what lowers to a program of one device: sparse formats, generators, calls of several kinds, shardings.
add("cholesky_update", lambda a, w: lax.linalg.cholesky_update(jnp.linalg.cholesky(a).T, w), SQUARE, F[:, 0].copy())
add("pivoted_qr", lambda a: jax.scipy.linalg.qr(a, pivoting=True)[2], SQUARE)
add("orthogonal_product", lambda a, b: jnp.abs(jax.scipy.linalg.qr_multiply(a, b, mode="left")[0]), SQUARE, SQUARE[::-1].copy())
add("custom_vmap", lambda v: (_own_vmap(v), jax.vmap(_own_vmap)(v)), F)
add("custom_vjp_forward", _custom_vjp, F)
add("recomputed", jax.grad(lambda v: _recomputed(v).sum()), F)
add("exported", lambda v: jax.export.export(jax.jit(jnp.sin))(v).call(v), F)
add("linear_function", lambda v: jax.custom_derivatives.linear_call(lambda r, x: x * r, lambda r, t: t * r, 2.0, v), F)
add("sparse_coordinates", lambda v: (lambda m: (m.todense(), m @ v.T, m @ v[0]))(jsparse.COO.fromdense(v, nse=12)), F)
add("sparse_compressed", lambda v: (lambda m: (m.todense(), m @ v.T, m @ v[0]))(jsparse.CSR.fromdense(v, nse=12)), F)
add("sparse_products", lambda v, s: (lambda m, n: (jsparse.bcoo_sort_indices(m).data, (m @ m.T).todense(), jsparse.todense(m), jsparse.bcoo_dot_general_sampled(
    v, v.T, n.indices, dimension_numbers=(((1,), (0,)), ((), ())))))(jsparse.BCOO.fromdense(v, nse=12), jsparse.BCOO.fromdense(s, nse=9)), F, SQUARE)
add("sparse_extract", lambda v: (lambda m: jsparse.bcsr_extract(m.indices, m.indptr, v))(jsparse.BCSR.fromdense(v, nse=12)), F)
add("rng_uniform_shape", lambda v: v + lax.rng_uniform(1., 1.0000001, (3, 4)), F)
add("state", lambda v: run_state(lambda r: r.__setitem__(slice(None), r[:] * 2))(v), F)
add("scaled_dot", lambda v: lax.scaled_dot(v, v.T), F)
for name in ["philox2x32", "philox4x32", "threefry4x32"]:
    add("random_" + name, functools.partial(lambda impl, s: jax.random.bits(jax.random.key(s, impl=impl), (3,)), name), np.int32(3))
add("empty_array", lambda v: lax.empty((0, 4), np.float32).sum(0) + v, F)
add("layout", lambda v: with_layout_constraint(v, Layout((1, 0))) * 2, F)
add("sharding_hint", on_a_mesh(lambda v, mesh: lax.with_sharding_constraint(v, NamedSharding(mesh, P("x"))) * 2), F)
add("resharded", on_a_mesh(lambda v, mesh: jax.sharding.reshard(v, NamedSharding(mesh, P("x"))) * 2, jax.sharding.AxisType.Explicit), F)
add("varying", on_a_mesh(lambda v, mesh: jax.shard_map(
    lambda a: (lax.psum(lax.pcast(a, "x", to="varying"), "x"), lax.all_gather(lax.pcast(a, "x", to="varying"), "x", tiled=True)),
    mesh=mesh, in_specs=P(), out_specs=(P(), P("x")))(v)), F)
