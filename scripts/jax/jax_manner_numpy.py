"""Cases of jax_manner.py for jax.numpy: every public function over every type, reductions, indexing, promotion, set operations."""
import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jax_manner_values import ALL, COMPLEX, FLOATS, INTEGERS, array, edges, numbers, pairs

TYPES = FLOATS + COMPLEX + INTEGERS + ("bool", "int4", "uint4", "float8_e4m3fn", "float8_e5m2")
SKIPPED = set("""array_repr array_str load save savez fromfile from_dlpack printoptions set_printoptions get_printoptions empty empty_like frompyfunc
iterable isdtype issubdtype result_type promote_types can_cast ComplexWarning dtype einsum_path""".split())


def every_function_cases():
    """Whatever takes one to three arrays."""
    names = sorted(n for n in dir(jnp) if not n.startswith("_") and callable(getattr(jnp, n)) and not isinstance(getattr(jnp, n), type) and n not in SKIPPED)
    for name, t in itertools.product(names, TYPES):
        f = getattr(jnp, name)
        factor = 200 if t in COMPLEX else 20
        yield f"numpy.{name}/{t}/1", lambda f=f, t=t: f(array(t, 4, 6)), factor
        yield f"numpy.{name}/{t}/2", lambda f=f, t=t: f(array(t, 4, 6), array(t, 6, salt=1)), factor
        yield f"numpy.{name}/{t}/edges", lambda f=f, t=t: jax.jit(f)(jnp.asarray(edges(t))), factor
        if name not in ("roll", "repeat"):  # shapes or loops as long as the values are large
            yield f"numpy.{name}/{t}/pairs", lambda f=f, t=t: jax.jit(f)(*pairs(t)), factor
        if t in ("float32", "int32", "complex64", "bfloat16"):
            yield f"numpy.{name}/{t}/axis", lambda f=f, t=t: f(array(t, 4, 6), axis=1), factor
            yield f"numpy.{name}/{t}/number", lambda f=f, t=t: f(array(t, 4, 6), 2), factor
            yield f"numpy.{name}/{t}/3", lambda f=f, t=t: f(array(t, 6), array(t, 6, salt=1), array(t, 6, salt=2)), factor
            yield f"numpy.{name}/{t}/vmap", lambda f=f, t=t: jax.vmap(f)(array(t, 3, 4, 4)), factor


def reduction_cases():
    names = "sum prod max min mean var std median any all argmax argmin ptp count_nonzero nansum nanprod nanmax nanmin nanmean nanvar nanstd nanmedian nanargmax nanargmin average cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod".split()
    for name, t, axis in itertools.product(names, TYPES, (None, 0, -1, (0, 2))):
        f = getattr(jnp, name)
        yield f"numpy.{name}/{t}/{axis}/reduced", lambda f=f, t=t, axis=axis: f(array(t, 3, 4, 5), axis=axis), 20
        if name not in ("median", "nanmedian", "average", "cumsum", "cumprod", "argmax", "argmin", "nancumsum", "nancumprod", "cumulative_sum", "cumulative_prod", "ptp"):
            yield f"numpy.{name}/{t}/{axis}/where", lambda f=f, t=t, axis=axis: f(array(t, 3, 4, 5), axis=axis, where=jnp.asarray(numbers("bool", 3, 4, 5)), keepdims=True, **({"initial": 1} if f in (jnp.max, jnp.min, jnp.nanmax, jnp.nanmin) else {})), 20
        if name in ("sum", "prod", "mean", "cumsum", "cumprod", "var", "std"):
            for out in ("float32", "int32", "complex64", "bfloat16"):
                yield f"numpy.{name}/{t}/{axis}/dtype/{out}", lambda f=f, t=t, axis=axis, out=out: f(array(t, 3, 4, 5), axis=axis, dtype=out), 20
        if t in FLOATS + COMPLEX and name in ("sum", "prod", "max", "min", "mean", "var", "std", "cumsum", "cumprod", "median"):
            yield f"numpy.{name}/{t}/{axis}/grad", lambda f=f, t=t, axis=axis: jax.grad(lambda x: jnp.abs(f(x, axis=axis) ** 2).sum())(array(t, 3, 4, 5)), 200
    for t, q, method, keep in itertools.product(FLOATS, (0.3, (0.1, 0.9), 1.0), ("linear", "lower", "higher", "midpoint", "nearest"), (False, True)):
        for name in ("quantile", "nanquantile"):
            yield f"numpy.{name}/{t}/{q}/{method}/{keep}", lambda f=getattr(jnp, name), t=t, q=q, m=method, k=keep: (f(array(t, 5, 7), jnp.asarray(q), axis=0, method=m, keepdims=k), f(array(t, 5, 7), jnp.asarray(q), method=m)), 8


def index_cases():
    keys = {"int": 1, "last": -1, "slice": slice(1, 3), "step": slice(None, None, 2), "back": slice(None, None, -1), "stepback": slice(4, 0, -2), "ellipsis": (Ellipsis, 1), "new": (None, 1, None), "tuple": (1, slice(2), -1), "array": np.array([0, 2, 2]), "array2": (np.array([[0, 1], [1, 3]]), 1),
            "mixed": (slice(None), np.array([0, 2]), slice(1, 3)), "apart": (np.array([0, 1]), slice(None), np.array([1, 2])), "mask": np.array([True, False, True, True]), "mask2": (np.eye(4, 5, dtype=bool)), "scalar_mask": True, "empty": np.array([], np.int32), "list": ([0, 1],), "outside": np.array([0, 9, -9]), "uint": np.array([1, 255], np.uint8), "new_array": (None, np.array([1, 2]), Ellipsis, 0)}
    for (name, key), t in itertools.product(keys.items(), ("float32", "bfloat16", "complex64", "int32", "uint8", "bool", "int4", "float64", "float8_e5m2")):
        key = (key,) if not isinstance(key, tuple) else key
        key = tuple(np.asarray(k) if isinstance(k, list) else k for k in key)
        x = functools.partial(array, t, 4, 5, 6)
        yield f"numpy.index/{name}/{t}", lambda x=x, key=key: (x()[key], jax.jit(lambda v: v[key])(x()))
        for method in "set add multiply min max divide power apply subtract".split():
            def update(x=x, key=key, method=method, t=t):
                at = x().at[key]
                return at.apply(lambda v: v + v) if method == "apply" else getattr(at, method)(jnp.asarray(1 if "bool" in t else 2, t) if method != "set" else jnp.ones((), t))
            yield f"numpy.at.{method}/{name}/{t}", update, 8
        for mode in ("clip", "drop", "fill", "wrap", "promise_in_bounds"):
            yield f"numpy.at.mode/{mode}/{name}/{t}", lambda x=x, key=key, mode=mode: (x().at[key].get(mode=mode, **({"fill_value": 1} if mode == "fill" else {})), x().at[key].set(0, mode=mode)) if name != "outside" or mode != "promise_in_bounds" else 0
        if t in ("float32", "complex64", "bfloat16"):
            yield f"numpy.index_grad/{name}/{t}", lambda x=x, key=key: jax.grad(lambda v: jnp.abs(v[key] ** 2).sum())(x()), 20
    for t, mode in itertools.product(TYPES, ("clip", "wrap", "fill", None)):
        yield f"numpy.take/{t}/{mode}", lambda t=t, m=mode: (jnp.take(array(t, 4, 5), jnp.array([0, 7, -1, -9]), axis=1, mode=m), jnp.take(array(t, 4, 5), jnp.array([[0, 7]]), mode=m), jnp.take_along_axis(array(t, 4, 5), jnp.array([[0, 1, 3, 2, 0]]), 0, mode=m), jnp.put_along_axis(array(t, 4, 5), jnp.array([[0, 1, 3, 2, 0]]), 1, 0, inplace=False))
    for name in "add multiply subtract maximum minimum logaddexp logical_and bitwise_or bitwise_xor power hypot".split():
        u = getattr(jnp, name)
        for t in ("float32", "int32", "bool", "complex64", "bfloat16"):
            yield f"numpy.ufunc/{name}/{t}", lambda u=u, t=t: [u.outer(array(t, 3), array(t, 4)), u.accumulate(array(t, 3, 4), axis=1), u.at(array(t, 5), jnp.array([0, 2, 0]), array(t, 3, salt=1), inplace=False), u.reduceat(array(t, 8), jnp.array([0, 3, 5])), u.reduce(array(t, 3, 4), axis=0, initial=1)] if u.identity is not None else [u.outer(array(t, 3), array(t, 4)), u.accumulate(array(t, 3, 4))], 20


def set_cases():
    for t in TYPES:
        a, b = functools.partial(array, t, 12), functools.partial(array, t, 9, salt=3)
        yield f"numpy.unique/{t}", lambda a=a: [jnp.unique(jnp.round(a()) if jnp.issubdtype(a().dtype, jnp.inexact) else a(), return_index=True, return_inverse=True, return_counts=True), jnp.unique(a(), size=5), jnp.unique(a().reshape(4, 3), axis=0, size=6, fill_value=0), jnp.unique_all(a()), jnp.unique(jnp.asarray(edges(a().dtype.name))), jnp.unique(jnp.asarray(edges(a().dtype.name)), equal_nan=False)]
        yield f"numpy.sets/{t}", lambda a=a, b=b: [jnp.union1d(a(), b()), jnp.intersect1d(a(), b(), return_indices=True), jnp.setdiff1d(a(), b()), jnp.setxor1d(a(), b()), jnp.isin(a(), b()), jnp.isin(a(), b(), method="sort"), jnp.isin(a(), b(), invert=True, method="compare_all")]
        yield f"numpy.nonzero/{t}", lambda a=a: [jnp.nonzero(a().reshape(3, 4)), jnp.nonzero(a(), size=4, fill_value=9), jnp.argwhere(a()), jnp.flatnonzero(a()), jnp.where(a()), jnp.extract(a() > 0, a()), jnp.trim_zeros(a()), jnp.count_nonzero(a())]
        yield f"numpy.sorted/{t}", lambda a=a: [jnp.sort(a(), descending=True), jnp.argsort(a(), stable=True, descending=True), jnp.partition(a(), 4)[4], jnp.argpartition(a(), 4)[:4].sum() * 0, jnp.searchsorted(jnp.sort(a()), a(), side="right"), jnp.digitize(a(), jnp.sort(a())), jnp.sort_complex(a()) if jnp.issubdtype(a().dtype, jnp.inexact) else 0, jnp.lexsort((a(), a()[::-1]))]
        yield f"numpy.histograms/{t}", lambda a=a, b=b: [jnp.histogram(a(), 5), jnp.histogram(a(), jnp.array([-1, 0, 2.5]), density=True), jnp.histogram2d(a()[:9], b(), 3), jnp.histogram_bin_edges(a(), 4, range=(-1, 3)), jnp.bincount(jnp.abs(a()).astype(int), length=4)], 20
        yield f"numpy.windows/{t}", lambda t=t: [jnp.convolve(array(t, 7), array(t, 3), m) for m in ("full", "same", "valid")] + [jnp.correlate(array(t, 7), array(t, 3), m) for m in ("full", "same", "valid")] + [jnp.polyval(array(t, 4), array(t, 5)), jnp.polymul(array(t, 4), array(t, 3)), jnp.polyadd(array(t, 4), array(t, 3)), jnp.polyder(array(t, 4)), jnp.polyint(array(t, 4)), jnp.vander(array(t, 4), 3)], 40
        yield f"numpy.interp/{t}", lambda t=t: [jnp.interp(array(t, 9), jnp.arange(-2.0, 3), array(t, 5)), jnp.interp(array("float32", 9), jnp.arange(-2.0, 3), jnp.arange(5.0), period=1.7), jnp.diff(array(t, 9), n=2), jnp.ediff1d(array(t, 5)), jnp.gradient(array(t, 9)) if t not in ("bool",) else 0, jnp.unwrap(array(t, 9)), jnp.trapezoid(array(t, 9)), jnp.cov(array(t, 3, 9)), jnp.corrcoef(array(t, 3, 9))], 100
    for a, b in itertools.product(TYPES, TYPES):
        yield f"numpy.promotion/{a}/{b}", lambda a=a, b=b: [array(a, 5) + array(b, 5, salt=1), array(a, 5) * array(b, salt=1), jnp.where(array("bool", 5), array(a, 5), array(b, 5)), array(a, 5) == array(b, 5), jnp.concatenate([array(a, 2), array(b, 2)])], 8
    for t in TYPES:
        yield f"numpy.weak/{t}", lambda t=t: [array(t, 5) + 1, array(t, 5) * 2.5, 1j + array(t, 5), array(t, 5) // 2, array(t, 5) % 2, array(t, 5) ** 2, 2 ** array(t, 5), array(t, 5) / 2, -array(t, 5) if t != "bool" else 0, divmod(array(t, 5), 2) if t != "bool" else 0, abs(array(t, 5)), array(t, 5) > 0.5], 8
        yield f"numpy.views/{t}", lambda t=t: [array(t, 4, 8).view(v) for v in ("int8", "uint8", "bool") if jnp.dtype(t).itemsize == 1 and t not in ("int4", "uint4")] + [array(t, 4, 8).view("int16"), array(t, 4, 8).astype("float32"), array(t, 4, 8).astype("bool"), array(t, 4).tolist(), array(t, 4, 8).flatten(), array(t, 4, 8).T, array(t, 4, 8).mean() if t not in ("int4", "uint4") else 0, array(t, 4, 8).real, array(t, 4, 8).imag], 20
        yield f"numpy.made/{t}", lambda t=t: [jnp.arange(5, dtype=t), jnp.linspace(0, 4, 5, dtype=t), jnp.eye(3, 4, 1, dtype=t), jnp.tri(3, 4, dtype=t), jnp.full((2,), 1, t), jnp.zeros(3, t), jnp.ones_like(array(t, 3)), jnp.identity(3, t), jnp.asarray([1, 0, 1], t), jnp.array(numbers(t, 3, 4)[::-1, ::2]), jnp.diag(array(t, 3), 1), jnp.kron(array(t, 2, 2), array(t, 2, 3)), jnp.tril(array(t, 4, 4), -1), jnp.logspace(0, 2, 3, dtype=t), jnp.geomspace(1, 4, 3, dtype=t)], 20
    for e, t in itertools.product(("ij,jk->ik", "ij->ji", "ii->i", "ii", "bij,bjk->bik", "...i,i...->...", "ab,cd->abcd", "ijk,kl,lm->ijm", "ij,ij->", "i,i->i", "i->"), ("float32", "bfloat16", "float16", "int32", "complex64", "float64", "bool", "int8")):
        def einsum(e=e, t=t):
            parts = e.split("->")[0].split(",")
            return jnp.einsum(e, *(array(t, *(4,) * len(p.replace("...", "zy")), salt=i) for i, p in enumerate(parts))), jnp.einsum(e, *(array(t, *(4,) * len(p.replace("...", "zy")), salt=i) for i, p in enumerate(parts)), preferred_element_type="float32" if t != "complex64" else "complex64")
        yield f"numpy.einsum/{e}/{t}", einsum, 20
    for mode, t in itertools.product(("constant", "edge", "empty", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric", "wrap"), ("float32", "int32", "complex64", "bool", "uint8", "bfloat16")):
        yield f"numpy.pad/{mode}/{t}", lambda mode=mode, t=t: (jnp.pad(array(t, 3, 4), ((1, 2), (3, 0)), mode) if mode != "empty" else jnp.pad(array(t, 3, 4), 1, mode)[1:-1, 1:-1]), 8


def cases():
    for part in (every_function_cases, reduction_cases, index_cases, set_cases):
        yield from part()
# SPDX-License-Identifier: Apache-2.0
