"""Cases of jax_manner.py for lax: every operation over every type, edge values, conversions, windows, products, sorts, scatters."""
import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax_manner_values import ALL, COMPLEX, FLOAT8, FLOATS, INTEGERS, NARROW, array, edges, numbers, pairs

UNARY = """abs acos acosh asin asinh atan atanh bessel_i0e bessel_i1e cbrt ceil clz conj cos cosh digamma erf erf_inv erfc exp exp2 expm1
floor imag integer_pow3 is_finite lgamma log log1p logistic neg bitwise_not population_count real reciprocal round rsqrt sign sin sinh sqrt square tan tanh""".split()
BINARY = """add atan2 bitwise_and bitwise_or bitwise_xor complex div eq eq_to ge gt igamma igammac le le_to lt lt_to max min mul ne nextafter pow
random_gamma_grad rem shift_left shift_right_arithmetic shift_right_logical sub mulhi polygamma zeta""".split()
SHARP = {"sin", "cos", "tan", "digamma", "lgamma", "pow", "igamma", "igammac", "random_gamma_grad", "polygamma", "zeta"}


def one(name):
    if name == "integer_pow3":
        return lambda x: lax.integer_pow(x, 3)
    return getattr(lax, name)


def element_cases():
    for name, t in itertools.product(UNARY, ALL):
        f, factor = one(name), 100 if name in SHARP or t in COMPLEX else 4
        yield f"lax.{name}/{t}/edges", lambda f=f, t=t: jax.jit(f)(jnp.asarray(edges(t))), factor
        yield f"lax.{name}/{t}/some", lambda f=f, t=t: f(array(t, 7, 9)), factor
        if t in FLOATS + COMPLEX:
            yield f"lax.{name}/{t}/grad", lambda f=f, t=t: jax.jvp(f, (array(t, 30, low=0.1, high=0.9),), (array(t, 30, salt=1),)), factor * 8
    for name, t in itertools.product(BINARY, ALL):
        f, factor = getattr(lax, name, None), 200 if name in SHARP or t in COMPLEX else 4
        if f is None:
            continue
        yield f"lax.{name}/{t}/edges", lambda f=f, t=t: jax.jit(f)(*pairs(t)), factor
        yield f"lax.{name}/{t}/some", lambda f=f, t=t: f(array(t, 7, 9), array(t, 7, 9, salt=1)), factor
        if t in FLOATS + COMPLEX:
            yield f"lax.{name}/{t}/grad", lambda f=f, t=t: jax.jvp(f, (array(t, 30, low=0.1, high=0.9), array(t, 30, low=1.1, high=2.9)), (array(t, 30, salt=1), array(t, 30, salt=2))), factor * 8
    for t in ALL:
        yield f"lax.clamp/{t}", lambda t=t: lax.clamp(*(array(t, 40, salt=i) for i in range(3)))
        yield f"lax.select/{t}", lambda t=t: (lax.select(array("bool", 40), array(t, 40), array(t, 40, salt=1)), lax.select_n(jnp.arange(40, dtype="int32") % 3, *(array(t, 40, salt=i) for i in range(3))))
        yield f"lax.betainc/{t}", lambda t=t: lax.betainc(array(t, 40, low=0.1), array(t, 40, low=0.1, salt=1), array(t, 40, low=0, high=1)), 100
        yield f"lax.integer_pow/{t}", lambda t=t: [lax.integer_pow(array(t, 20), n) for n in (-2, 0, 1, 5)], 10
        yield f"lax.round/{t}", lambda t=t: [lax.round(jnp.asarray(edges(t)), lax.RoundingMethod(m)) for m in (0, 1)]
        for e, m in ((5, 10), (8, 7), (4, 3), (2, 1), (11, 20)):
            yield f"lax.reduce_precision/{t}/{e}/{m}", lambda t=t, e=e, m=m: lax.reduce_precision(jnp.asarray(edges(t)), e, m)
    for a, b in itertools.product(ALL, ALL):
        yield f"lax.convert/{a}/{b}", lambda a=a, b=b: jax.jit(lambda x: lax.convert_element_type(x, b))(array(a, 33, low=-9 if "int" not in a else -2, high=9))
        yield f"lax.convert_edges/{a}/{b}", lambda a=a, b=b: jax.jit(lambda x: lax.convert_element_type(x, b))(jnp.asarray(edges(a)[np.isfinite(edges(a).astype(complex)) & (np.abs(edges(a).astype(complex)) < 100)]))
        yield f"lax.bitcast/{a}/{b}", lambda a=a, b=b: lax.bitcast_convert_type(array(a, 4, 16), b)


def shape_cases():
    for t in ALL:
        x = functools.partial(array, t)
        yield f"lax.shapes/{t}", lambda x=x: [lax.transpose(x(2, 3, 4), (2, 0, 1)), lax.rev(x(3, 5), (0, 1)), lax.reshape(x(4, 6), (3, 8)), lax.broadcast_in_dim(x(3), (2, 3, 4), (1,)), lax.concatenate([x(2, 3), x(4, 3)], 0), lax.squeeze(x(1, 3, 1), (0, 2)), lax.expand_dims(x(3), (0, 2)),
                                               lax.slice(x(7, 9), (1, 2), (7, 8), (2, 3)), lax.dynamic_slice(x(7, 9), (5, -1), (3, 4)), lax.dynamic_update_slice(x(7, 9), x(3, 4, salt=1), (6, 2)), lax.dynamic_index_in_dim(x(7, 9), 3), lax.tie_in(1, x(3)) if hasattr(lax, "tie_in") else 0, lax.tile(x(2, 3), (2, 2)) if hasattr(lax, "tile") else 0, lax.split(x(9), (2, 3, 4))]
        yield f"lax.jit_shapes/{t}", lambda x=x: jax.jit(lambda a, i: (a[i], a[::-1, ::2], a.T.reshape(-1), jnp.roll(a, 2, 1), jnp.flip(a), jnp.repeat(a, 2, 0), jnp.pad(a, 1)))(x(6, 8), 3)
        for edge in (((1, 2, 0), (0, 1, 2)), ((-1, 1, 0), (2, -2, 1)), ((0, 0, 3), (-3, -1, 0))):
            yield f"lax.pad/{t}/{edge}", lambda x=x, edge=edge: lax.pad(x(4, 5), x(salt=1), edge)
        for dimension, stable, keys in itertools.product((0, 1), (True, False), (1, 2)):
            yield f"lax.sort/{t}/{dimension}/{stable}/{keys}", lambda t=t, d=dimension, s=stable, k=keys: (lax.sort(array(t, 8, 9), dimension=d), lax.sort((array(t, 8, 9), array("int32", 8, 9), array("float32", 8, 9)), dimension=d, is_stable=True, num_keys=k))
        yield f"lax.sort_edges/{t}", lambda t=t: (lax.sort(jnp.asarray(edges(t)[::-1].copy())), jnp.argsort(jnp.asarray(np.tile(edges(t), 2))), jnp.argsort(jnp.asarray(edges(t)), descending=True), jnp.lexsort((jnp.arange(len(edges(t))) % 2, jnp.asarray(edges(t)))), jnp.lexsort((jnp.asarray(edges(t)), jnp.arange(len(edges(t))) % 3)))
        yield f"lax.top_k/{t}", lambda t=t: (lax.top_k(array(t, 4, 20), 5), lax.top_k(jnp.asarray(edges(t)), min(6, len(edges(t)))))
        yield f"lax.argminmax/{t}", lambda t=t: [g(array(t, 6, 7), i, d) for g in (lax.argmax, lax.argmin) for i in (0, 1) for d in (np.int32, np.uint8)] + [lax.argmax(jnp.asarray(edges(t)), 0, np.int32), lax.argmin(jnp.asarray(edges(t)), 0, np.int32)]
        for name in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"):
            yield f"lax.{name}/{t}", lambda t=t, f=getattr(lax, name): [f(array(t, 6, 7), axis=i, reverse=r) for i in (0, 1) for r in (False, True)], 8
        for name, init in (("add", 0), ("mul", 1), ("max", None), ("min", None), ("bitwise_or", 0), ("bitwise_and", 1), ("bitwise_xor", 0)):
            for axes in ((0,), (1,), (0, 2), (0, 1, 2)):
                yield f"lax.reduce/{name}/{t}/{axes}", lambda t=t, name=name, axes=axes, init=init: lax.reduce(array(t, 4, 5, 6), jnp.asarray(init if init is not None else (-100 if name == "max" else 100) if "u" not in t and t != "bool" and "8" not in t and "4" not in t and "2" not in t else 0, t), getattr(lax, name), axes), 20
        yield f"lax.iota/{t}", lambda t=t: (lax.iota(t, 6), lax.broadcasted_iota(t, (2, 3), 1), lax.full((2, 3), 1, t), lax.full_like(array(t, 3), 1))
        yield f"lax.edges_reduced/{t}", lambda t=t: (jnp.max(jnp.asarray(edges(t))), jnp.min(jnp.asarray(edges(t))), jnp.nanmax(jnp.asarray(edges(t))), jnp.any(jnp.asarray(edges(t))), jnp.all(jnp.asarray(edges(t))))
    for t in FLOATS + COMPLEX + ("int32", "uint8", "bool"):
        for name, window, strides, padding, dilation, base in itertools.product(("add", "mul", "max", "min"), ((2, 3), (1, 4)), ((1, 1), (2, 3)), ("VALID", "SAME", ((1, 0), (2, 1))), ((1, 1), (1, 2)), ((1, 1), (2, 1))):
            yield f"lax.reduce_window/{name}/{t}/{window}{strides}{padding}{dilation}{base}", lambda t=t, name=name, w=window, s=strides, p=padding, d=dilation, b=base: lax.reduce_window(array(t, 6, 7), np.asarray({"add": 0, "mul": 1, "max": 0, "min": 1}[name], t), getattr(lax, name), w, s, p, base_dilation=b, window_dilation=d), 8
    for t, padding, strides in itertools.product(("float32", "float64", "bfloat16", "float16", "int32"), ("VALID", "SAME"), ((1, 1), (2, 2))):
        yield f"lax.pool_grad/{t}/{padding}/{strides}", lambda t=t, p=padding, s=strides: (jax.grad(lambda x: (lax.reduce_window(x, -np.inf, lax.max, (2, 3), s, p) ** 2).sum())(array(t, 6, 7)), jax.grad(lambda x: (lax.reduce_window(x, 0.0, lax.add, (2, 3), s, p) ** 2).sum())(array(t, 6, 7))), 8


def product_cases():
    for a, out in itertools.product(FLOATS + COMPLEX + ("int8", "int16", "int32", "int64", "uint8", "uint32", "int4", "uint4", "bool") + FLOAT8[:7], (None, "float32", "float64", "int32", "bfloat16", "complex64")):
        for name, left, right, dims in (("mm", (4, 5), (5, 6), (((1,), (0,)), ((), ()))), ("mv", (4, 5), (5,), (((1,), (0,)), ((), ()))), ("batch", (3, 4, 5), (3, 6, 5), (((2,), (2,)), ((0,), (0,)))), ("two", (4, 5, 3), (3, 5), (((1, 2), (1, 0)), ((), ()))), ("outer", (3,), (4,), (((), ()), ((), ()))), ("empty", (3, 0), (0, 4), (((1,), (0,)), ((), ()))), ("large", (70, 90), (90, 80), (((1,), (0,)), ((), ())))):
            yield f"lax.dot_general/{name}/{a}/{out}", lambda a=a, out=out, l=left, r=right, d=dims: lax.dot_general(array(a, *l), array(a, *r, salt=1), d, preferred_element_type=out), 8
    for a, b in itertools.product(("float32", "bfloat16", "int8", "float64", "float8_e4m3fn", "float8_e5m2"), repeat=2):
        yield f"lax.dot_mixed/{a}/{b}", lambda a=a, b=b: lax.dot_general(array(a, 4, 5), array(b, 5, 6), (((1,), (0,)), ((), ())), preferred_element_type="float32"), 8
    for precision, t in itertools.product(("default", "high", "highest", "bfloat16", "tensorfloat32", "float32", "F32_F32_F32", "BF16_BF16_F32", "BF16_BF16_F32_X3", "BF16_BF16_F32_X6", "F16_F16_F32", "F64_F64_F64", "F16_F16_F16", "BF16_BF16_BF16", "TF32_TF32_F32"), ("float32", "bfloat16", "float16", "float64")):
        yield f"lax.dot_precision/{precision}/{t}", lambda p=precision, t=t: lax.dot(array(t, 9, 20), array(t, 20, 7), precision=getattr(lax.DotAlgorithmPreset, p, p)), 2000 if "BF16" in precision or "F16" in precision or "TF32" in precision else 8
    for t in ("float32", "bfloat16", "float16", "float64", "complex64"):
        for mode in range(3):
            def ragged(t=t, mode=mode):
                sizes = jnp.array([2, 0, 5, 3], jnp.int32)
                dims = [lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [0]), lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), [0], []), lax.RaggedDotDimensionNumbers((((2,), (1,)), ((0,), (0,))), [0], [])][mode]
                left, right = [((10, 6), (4, 6, 7)), ((10, 6), (10, 7)), ((10, 6, 5), (10, 5, 7))][mode]
                return lax.ragged_dot_general(array(t, *left), array(t, *right), sizes, dims)
            yield f"lax.ragged_dot/{t}/{mode}", ragged, 20
    for t, (spec, left, right), options in itertools.product(FLOATS + COMPLEX + ("int32", "int8", "uint8", "bool"),
                                                             ((("NCHW", "OIHW", "NCHW"), (2, 4, 9, 8), (6, 4, 3, 2)), (("NHWC", "HWIO", "NHWC"), (2, 9, 8, 4), (3, 2, 4, 6)), (("NCH", "OIH", "NCH"), (2, 4, 9), (6, 4, 3)), (("NCHWD", "OIHWD", "NCHWD"), (1, 4, 5, 4, 4), (6, 4, 2, 2, 3)), (("CHWN", "IHWO", "HWNC"), (4, 9, 8, 2), (4, 3, 2, 6))),
                                                             ({}, {"padding": "SAME"}, {"strides": 2}, {"rhs_dilation": 2}, {"lhs_dilation": 2, "padding": "SAME"}, {"groups": 2}, {"batch": 2}, {"padding": (-1, 2)}, {"preferred_element_type": "float32"})):
        def convolve(t=t, spec=spec, left=left, right=right, options=options, grad=False):
            options, n = dict(options), len(left) - 2
            for key in ("strides", "rhs_dilation", "lhs_dilation"):
                if key in options:
                    options[key] = (options[key],) * n
            strides, padding = options.pop("strides", (1,) * n), options.pop("padding", "VALID")
            padding = [padding] * n if isinstance(padding, tuple) else padding
            right = list(right)
            groups, batch = options.pop("groups", 1), options.pop("batch", 1)
            right[spec[1].index("I")] //= groups
            lhs, rhs = array(t, *left), array(t, *right, salt=1)
            f = lambda a, b: lax.conv_general_dilated(a, b, strides, padding, dimension_numbers=spec, feature_group_count=groups, batch_group_count=batch, **options)
            if grad:
                return jax.grad(lambda a, b: (f(a, b).astype(jnp.float32) ** 2).sum(), (0, 1))(lhs, rhs)
            return jax.jit(f)(lhs, rhs)
        name = f"{t}/{spec[0]}/{options}"
        yield f"lax.conv/{name}", convolve, 20
        if t in ("float32", "bfloat16", "float64") and spec[0] in ("NHWC", "NCH"):
            yield f"lax.conv_grad/{name}", functools.partial(convolve, grad=True), 40
    for t, padding, strides in itertools.product(("float32", "bfloat16", "complex64"), ("VALID", "SAME", ((1, 2), (0, 1))), ((1, 1), (2, 3))):
        yield f"lax.conv_transpose/{t}/{padding}/{strides}", lambda t=t, p=padding, s=strides: [lax.conv_transpose(array(t, 2, 5, 6, 3), array(t, 3, 3, 3, 4), s, p, dimension_numbers=("NHWC", "HWIO", "NHWC"), transpose_kernel=False), lax.conv_general_dilated_patches(array(t, 2, 3, 7, 6), (2, 3), s, p) if t != "complex64" else 0], 20


def index_cases():
    for t, mode in itertools.product(FLOATS + COMPLEX + ("int32", "uint8", "bool", "int4", "float8_e4m3fn"), ("clip", "fill", "promise_in_bounds")):
        yield f"lax.gather/{t}/{mode}", lambda t=t, m=mode: lax.gather(array(t, 5, 6, 7), jnp.array([[0, 1], [3, 2], [1, 0]] if m == "promise_in_bounds" else [[0, 1], [9, 2], [-1, 5]]), lax.GatherDimensionNumbers((1,), (0, 1), (0, 1)), (1, 1, 4), mode=m)
        for name in ("scatter", "scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max"):
            if hasattr(lax, name):
                yield f"lax.{name}/{t}/{mode}", lambda t=t, m=mode, f=getattr(lax, name): f(array(t, 5, 6), jnp.array([[0], [3], [1]] if m == "promise_in_bounds" else [[0], [9], [-1]]), array(t, 3, 6, salt=1), lax.ScatterDimensionNumbers((1,), (0,), (0,)), mode=m, unique_indices=True), 4
        for i in ("uint8", "int8", "int64", "uint32"):
            yield f"lax.index_type/{t}/{mode}/{i}", lambda t=t, m=mode, i=i: (array(t, 300, 2).at[jnp.array([0, 100, 127, 1], i)].get(mode=m), array(t, 300).at[jnp.array([0, 100, 127, 1], i)].set(1, mode=m))
    for t in FLOATS + COMPLEX:
        yield f"lax.gather_grad/{t}", lambda t=t: (jax.grad(lambda x: jnp.abs(x[jnp.array([0, 2, 2, -1])] ** 2).sum())(array(t, 5, 3)), jax.grad(lambda x, y: jnp.abs(x.at[jnp.array([0, 2])].mul(y) ** 2).sum(), (0, 1))(array(t, 5, 3), array(t, 2, 3)), jax.vmap(lambda x, i: x[i])(array(t, 4, 5), jnp.arange(4)), jax.vmap(lambda x, i, y: x.at[i].add(y))(array(t, 4, 5), jnp.arange(4), array(t, 4))), 8
        yield f"lax.control/{t}", lambda t=t: (lax.scan(lambda c, x: (c * x + 1, c), array(t), array(t, 9)), lax.scan(lambda c, x: (c + x, c * x), array(t, 3), array(t, 7, 3), reverse=True, unroll=2), lax.fori_loop(0, 5, lambda i, x: x * 1.5 if "float" in t else x, array(t, 3)), lax.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, s[1] + s[1]), (0, array(t, 3))), lax.switch(2, [lambda x: x, lambda x: x + 1, lambda x: x * 2], array(t, 3)), lax.map(lambda x: x * x, array(t, 5, 2), batch_size=2), lax.associative_scan(jnp.add, array(t, 9)), lax.cond(True, lambda x: x, lambda x: -x, array(t, 2)), lax.custom_root(lambda x: x * x - 2, jnp.asarray(1.0, t), lambda f, x: lax.fori_loop(0, 12, lambda i, y: y - f(y) / (2 * y), x), lambda g, y: y / g(jnp.ones((), t)))), 20
        yield f"lax.control_grad/{t}", lambda t=t: (jax.grad(lambda x: jnp.abs(lax.scan(lambda c, y: (jnp.sin(c) * y, c), x, array(t, 5))[0]))(array(t)), jax.grad(lambda x: jnp.abs(lax.cond(True, jnp.sin, jnp.cos, x)))(array(t)), jax.jvp(lambda x: lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, jnp.sin(s[1])), (0, x))[1], (array(t, 2),), (array(t, 2),)), jax.vmap(lambda n, x: lax.fori_loop(0, n, lambda i, y: y + x, x))(jnp.arange(4), array(t, 4)), jax.vmap(lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x))(jnp.array([True, False]), array(t, 2))), 20
        yield f"lax.linear_solve/{t}", lambda t=t: lax.custom_linear_solve(lambda x: 3 * x, array(t, 4), lambda f, b: b / 3, symmetric=True), 8


def cases():
    for part in (element_cases, shape_cases, product_cases, index_cases):
        yield from part()
# SPDX-License-Identifier: Apache-2.0
