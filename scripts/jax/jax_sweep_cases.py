"""The programs of jax_sweep.py: every public function of JAX's array modules, with arguments that it takes.

A case is named MODULE.FUNCTION/RECIPE/DTYPE/TRANSFORM. Most functions are served by GENERIC, tuples of arguments that are tried in
turn; SPECIAL names those that need something of their own. A function that takes none of them is listed by the sweep as not covered.
Values are chosen by a fixed seed and lie in [0.1, 0.9] (recipes u*), in [-2, 2] (the others), or are small integers.
"""
import importlib
import inspect
import zlib

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

MODULES = """jax.numpy jax.numpy.linalg jax.numpy.fft jax.lax jax.lax.linalg jax.nn jax.nn.initializers jax.random jax.ops jax.image
jax.scipy.special jax.scipy.linalg jax.scipy.fft jax.scipy.signal jax.scipy.ndimage jax.scipy.integrate jax.scipy.optimize
jax.scipy.cluster.vq jax.scipy.sparse.linalg jax.scipy.stats jax.experimental.sparse""".split()
STATISTICS = """bernoulli beta betabinom binom cauchy chi2 dirichlet expon gamma gennorm geom gumbel_l gumbel_r laplace logistic multinomial
multivariate_normal nbinom norm pareto poisson t truncnorm uniform vonmises wrapcauchy""".split()
# Nothing to compute: predicates of types, files, printing, state of the framework; and the collectives that need a mapped axis.
SKIPPED = set("""jax.numpy.array_repr jax.numpy.array_str jax.numpy.can_cast jax.numpy.from_dlpack jax.numpy.fromfile jax.numpy.load
jax.numpy.save jax.numpy.savez jax.numpy.get_printoptions jax.numpy.set_printoptions jax.numpy.printoptions jax.numpy.einsum_path
jax.numpy.isdtype jax.numpy.issubdtype jax.numpy.iterable jax.numpy.promote_types jax.numpy.result_type jax.numpy.empty
jax.numpy.empty_like jax.lax.empty jax.lax.after_all jax.lax.create_token jax.lax.ConvGeneralDilatedDimensionNumbers
jax.lax.DotDimensionNumbers jax.lax.PrecisionLike jax.lax.dtype jax.lax.conv_dimension_numbers jax.lax.conv_general_permutations
jax.lax.conv_general_shape_tuple jax.lax.conv_shape_tuple jax.lax.conv_transpose_shape_tuple jax.lax.reduce_window_shape_tuple
jax.lax.padtype_to_pads jax.lax.stage jax.lax.axis_index jax.lax.axis_size jax.lax.pbroadcast jax.lax.pcast jax.lax.precv jax.lax.psend
jax.lax.ragged_all_to_all jax.lax.with_sharding_constraint jax.lax.dce_sink jax.nn.get_scaled_dot_general_config
jax.lax.shape_as_value jax.random.key_dtype jax.random.key_impl jax.numpy.frompyfunc jax.numpy.place jax.numpy.put
jax.experimental.sparse.empty""".split())
# Results whose columns may take either sign (or phase), or come in any order of equals: absolute values are compared.
UP_TO_SIGN = ("eig", "eigh", "svd", "qr", "qr_multiply", "schur", "hessenberg", "lstsq_", "polar_", "orthogonal", "rsf2csf", "tridiagonal",
              "householder_product", "delta_orthogonal", "ormqr", "qdwh_")


class Values:
    """Arrays of a dtype; the same in every process."""

    def __init__(self, dtype):
        self.dtype = jnp.dtype(dtype)

    def __call__(self, *shape, low=-2.0, high=2.0, salt=0):
        rng = np.random.default_rng(zlib.crc32(f"{shape}{self.dtype}{low}{salt}".encode()))
        kind = "b" if self.dtype == bool else jnp.result_type(self.dtype).kind
        if kind == "b":
            return jnp.asarray(rng.integers(0, 2, shape).astype(bool))
        if jnp.issubdtype(self.dtype, jnp.integer):
            lowest = 0 if jnp.issubdtype(self.dtype, jnp.unsignedinteger) or low >= 0 else -5
            return jnp.asarray(rng.integers(lowest, 6, shape).astype(np.int64).astype(self.dtype))
        values = rng.uniform(low, high, shape)
        if jnp.issubdtype(self.dtype, jnp.complexfloating):
            values = values + 1j * rng.uniform(low, high, shape)
        return jnp.asarray(values.astype(self.dtype))

    def unit(self, *shape, salt=0):
        return self(*shape, low=0.1, high=0.9, salt=salt)

    def definite(self, n):
        """Symmetric (Hermitian), positive definite."""
        a = np.asarray(self(n, n)).astype(complex if self.dtype.kind == "c" else float)
        return jnp.asarray((a @ a.conj().T + n * np.eye(n)).astype(self.dtype))


def index(*values):
    return jnp.array(values, jnp.int32)


GENERIC = [
    ("x", lambda v: (v(3, 4),)),
    ("ux", lambda v: (v.unit(3, 4),)),
    ("xx", lambda v: (v(3, 4), v(3, 4, salt=1))),
    ("uxx", lambda v: (v.unit(3, 4), v.unit(3, 4, salt=1))),
    ("xrow", lambda v: (v(3, 4), v(4))),
    ("uxxx", lambda v: (v.unit(3, 4), v.unit(3, 4, salt=1), v.unit(3, 4, salt=2))),
    ("spd", lambda v: (v.definite(4),)),
    ("batch", lambda v: (v(2, 4, 4),)),
    ("sqsq", lambda v: (v(4, 4), v(4, 4, salt=1))),
    ("spdv", lambda v: (v.definite(4), v(4))),
    ("v", lambda v: (v(5),)),
    ("v8v3", lambda v: (v(8), v(3))),
    ("list", lambda v: ([v(3, 4), v(3, 4, salt=1)],)),
    ("xi", lambda v: (v(3, 4), 1)),
    ("vi", lambda v: (v(6), 2)),
    ("xperm", lambda v: (v(3, 4), (1, 0))),
    ("xaxes", lambda v: (v(3, 4), 0, 1)),
    ("cond", lambda v: (v(3, 4) > 0, v(3, 4), v(3, 4, salt=1))),
    ("n", lambda v: (5,)),
    ("nm", lambda v: (5, 2)),
    ("shape", lambda v: ((3, 4),)),
    ("xshape", lambda v: (v(3, 4), (4, 3))),
    ("xindex", lambda v: (v(3, 4), index(2, 0))),
    ("xv4i", lambda v: (v(3, 4), v.unit(4), 1)),
    ("cube", lambda v: (v(2, 3, 4),)),
]
KEYED = [
    ("key", lambda v: (jax.random.key(7),)),
    ("keyshape", lambda v: (jax.random.key(7), (3, 4))),
    ("keyx", lambda v: (jax.random.key(7), v.unit(3, 4))),
    ("keyxx", lambda v: (jax.random.key(7), v.unit(3, 4), v.unit(3, 4, salt=1) + 1)),
    ("keyn", lambda v: (jax.random.key(7), 3)),
]


def dtype_of(v):
    return {"dtype": v.dtype}


add = lambda a, b: a + b
# name -> recipes (name, arguments) or (name, function of the arguments, arguments).
SPECIAL = {
    "jax.numpy.apply_along_axis": [("sum", lambda x: jnp.apply_along_axis(jnp.sum, 0, x), lambda v: (v(3, 4),))],
    "jax.numpy.apply_over_axes": [("sum", lambda x: jnp.apply_over_axes(jnp.sum, x, (0, 1)), lambda v: (v(3, 4),))],
    "jax.numpy.array_split": [("3", lambda x: jnp.array_split(x, 3), lambda v: (v(8),))],
    "jax.numpy.astype": [("i", lambda x: jnp.astype(x, jnp.int16), lambda v: (v(3, 4),)), ("f", lambda x: jnp.astype(x, jnp.float32), lambda v: (v(3, 4),))],
    "jax.numpy.bincount": [("8", lambda x: jnp.bincount(x, length=8), lambda v: (jnp.abs(v(20).astype(jnp.int32)),))],
    "jax.numpy.block": [("2x2", lambda x: jnp.block([[x, x], [x, x]]), lambda v: (v(3, 4),))],
    "jax.numpy.broadcast_shapes": [("2", lambda x: jnp.zeros(jnp.broadcast_shapes(x.shape, (2, 1, 1))), lambda v: (v(3, 4),))],
    "jax.numpy.broadcast_to": [("3", lambda x: jnp.broadcast_to(x, (2, 3, 4)), lambda v: (v(3, 4),))],
    "jax.numpy.choose": [("wrap", lambda x: jnp.choose(index(0, 1, 2, 1), [x, x + x, x], mode="wrap"), lambda v: (v(4),))],
    "jax.numpy.compress": [("axis", lambda x: jnp.compress(np.array([True, False, True]), x, axis=0), lambda v: (v(3, 4),))],
    "jax.numpy.cross": [("3", lambda v: (v(5, 3), v(5, 3, salt=1)))],
    "jax.numpy.delete": [("1", lambda x: jnp.delete(x, 1, axis=0), lambda v: (v(3, 4),))],
    "jax.numpy.diag_indices": [("4", lambda v: (4,))],
    "jax.numpy.digitize": [("bins", lambda v: (v(9), jnp.linspace(-2, 2, 5).astype(v.dtype)))],
    "jax.numpy.dsplit": [("2", lambda x: jnp.dsplit(x, 2), lambda v: (v(2, 3, 4),))],
    "jax.numpy.einsum": [(e, lambda x, y, e=e: jnp.einsum(e, x, y), lambda v: (v(4, 4), v(4, 4, salt=1)))
                         for e in ("ij,jk->ik", "ij,ij->i", "ij,kj->ki", "ii,jj->ij", "ij,jk->")],
    "jax.numpy.extract": [("mask", lambda x: jnp.extract(x > 0, x, size=6), lambda v: (v(3, 4),))],
    "jax.numpy.fill_diagonal": [("2", lambda x: jnp.fill_diagonal(x, 2, inplace=False), lambda v: (v(4, 4),))],
    "jax.numpy.frombuffer": [("b", lambda v: (np.arange(8, dtype=np.float32).tobytes(), np.float32))],
    "jax.numpy.fromfunction": [("add", lambda x: jnp.fromfunction(lambda i, j: i + 2 * j, (3, 4)) * x, lambda v: (v(3, 4),))],
    "jax.numpy.fromiter": [("5", lambda v: (range(5), np.float32))],
    "jax.numpy.fromstring": [("3", lambda v: ("1 2 3",), ), ],
    "jax.numpy.full": [("2", lambda v: ((3, 4), 2, v.dtype))],
    "jax.numpy.full_like": [("2", lambda x: jnp.full_like(x, 2), lambda v: (v(3, 4),))],
    "jax.numpy.geomspace": [("9", lambda a, b: jnp.geomspace(a, b, 9), lambda v: (v.unit(3), v.unit(3, salt=1) + 1))],
    "jax.numpy.hsplit": [("2", lambda x: jnp.hsplit(x, 2), lambda v: (v(3, 4),))],
    "jax.numpy.vsplit": [("2", lambda x: jnp.vsplit(x, 2), lambda v: (v(4, 3),))],
    "jax.numpy.split": [("2", lambda x: jnp.split(x, 2), lambda v: (v(4, 3),))],
    "jax.numpy.indices": [("34", lambda v: ((3, 4),))],
    "jax.numpy.insert": [("1", lambda x: jnp.insert(x, 1, 2, axis=1), lambda v: (v(3, 4),))],
    "jax.numpy.interp": [("5", lambda v: (v(9), jnp.linspace(-2, 2, 5).astype(v.dtype), v(5)))],
    "jax.numpy.ix_": [("2", lambda v: (index(0, 2), index(1, 2, 3)))],
    "jax.numpy.lexsort": [("2", lambda v: ((v(9), v(9, salt=1)),))],
    "jax.numpy.linspace": [("9", lambda a, b: jnp.linspace(a, b, 9), lambda v: (v(3), v(3, salt=1)))],
    "jax.numpy.logspace": [("9", lambda a, b: jnp.logspace(a, b, 9), lambda v: (v(3), v(3, salt=1)))],
    "jax.numpy.mask_indices": [("tri", lambda x: jnp.mask_indices(3, jnp.triu), lambda v: (v(3),))],
    "jax.numpy.matmul": [("b", lambda v: (v(2, 3, 4), v(2, 4, 5)))],
    "jax.numpy.matvec": [("b", lambda v: (v(2, 3, 4), v(2, 4)))],
    "jax.numpy.vecmat": [("b", lambda v: (v(2, 3), v(2, 3, 4)))],
    "jax.numpy.moveaxis": [("c", lambda x: jnp.moveaxis(x, 0, -1), lambda v: (v(2, 3, 4),))],
    "jax.numpy.packbits": [("u8", lambda x: jnp.packbits(x > 0), lambda v: (v(20),))],
    "jax.numpy.unpackbits": [("u8", lambda x: jnp.unpackbits(x.astype(jnp.uint8)), lambda v: (v(5),))],
    "jax.numpy.pad": [(m, lambda x, m=m: jnp.pad(x, ((1, 2), (2, 1)), mode=m), lambda v: (v(3, 4),))
                      for m in ("constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp", "maximum", "mean")],
    "jax.numpy.percentile": [("30", lambda x: jnp.percentile(x, 30.0, axis=0), lambda v: (v(5, 4),))],
    "jax.numpy.nanpercentile": [("30", lambda x: jnp.nanpercentile(x, 30.0, axis=0), lambda v: (v(5, 4),))],
    "jax.numpy.quantile": [(m, lambda x, m=m: jnp.quantile(x, 0.3, axis=0, method=m), lambda v: (v(5, 4),)) for m in ("linear", "nearest", "lower")],
    "jax.numpy.nanquantile": [("0.3", lambda x: jnp.nanquantile(x, 0.3, axis=0), lambda v: (v(5, 4),))],
    "jax.numpy.piecewise": [("2", lambda x: jnp.piecewise(x, [x < 0, x >= 0], [lambda y: -y, lambda y: y * 2]), lambda v: (v(9),))],
    "jax.numpy.polyfit": [("2", lambda x, y: jnp.polyfit(x, y, 2), lambda v: (v(9), v(9, salt=1)))],
    "jax.numpy.put_along_axis": [("1", lambda x: jnp.put_along_axis(x, index(1, 2, 0)[:, None], 1, 1, inplace=False), lambda v: (v(3, 4),))],
    "jax.numpy.ravel_multi_index": [("2", lambda x: jnp.ravel_multi_index((index(1, 2), index(0, 3)), (3, 4)), lambda v: (v(2),))],
    "jax.numpy.unravel_index": [("2", lambda x: jnp.unravel_index(index(1, 7), (3, 4)), lambda v: (v(2),))],
    "jax.numpy.roots": [("strip", lambda x: jnp.roots(x, strip_zeros=False), lambda v: (v.unit(4),))],
    "jax.numpy.searchsorted": [(m, lambda a, x, m=m: jnp.searchsorted(jnp.sort(a), x, method=m), lambda v: (v(9), v(5))) for m in ("scan", "sort", "compare_all")],
    "jax.numpy.select": [("2", lambda x: jnp.select([x > 0, x < 0], [x, x + x]), lambda v: (v(3, 4),))],
    "jax.numpy.sinc": [("x", lambda v: (v(3, 4),))],
    "jax.numpy.stack": [("1", lambda x, y: jnp.stack([x, y], 1), lambda v: (v(3, 4), v(3, 4, salt=1)))],
    "jax.numpy.take_along_axis": [("1", lambda x: jnp.take_along_axis(x, index(1, 2, 0)[:, None], 1), lambda v: (v(3, 4),))],
    "jax.numpy.tensordot": [("1", lambda x, y: jnp.tensordot(x, y, 1), lambda v: (v(3, 4), v(4, 5)))],
    "jax.numpy.trim_zeros": [("v", lambda v: (v(6),))],
    "jax.numpy.tril_indices": [("4", lambda v: (4,))],
    "jax.numpy.triu_indices": [("4", lambda v: (4,))],
    "jax.numpy.vectorize": [("s", lambda x: jnp.vectorize(jnp.sum, signature="(n)->()")(x), lambda v: (v(3, 4),))],
    "jax.numpy.where": [("3", lambda v: (v(3, 4) > 0, v(3, 4), v(4)))],
    "jax.numpy.linalg.matrix_power": [(str(n), lambda x, n=n: jnp.linalg.matrix_power(x, n), lambda v: (v.definite(3),)) for n in (-2, 0, 3)],
    "jax.numpy.linalg.multi_dot": [("3", lambda x, y, z: jnp.linalg.multi_dot([x, y, z]), lambda v: (v(3, 4), v(4, 5), v(5, 2)))],
    "jax.numpy.linalg.norm": [(str(o), lambda x, o=o: jnp.linalg.norm(x, o), lambda v: (v(3, 4),)) for o in (None, 1, 2, -2, "nuc", "fro", np.inf)],
    "jax.numpy.linalg.tensorinv": [("1", lambda x: jnp.linalg.tensorinv(x, 1), lambda v: (v(6, 2, 3),))],
    "jax.numpy.linalg.tensorsolve": [("1", lambda v: (v(2, 3, 6), v(2, 3)))],
    "jax.numpy.linalg.lstsq": [("tall", lambda v: (v(6, 3), v(6)))],
    "jax.lax.all_gather": [("4", lambda x: jax.vmap(lambda y: lax.all_gather(y, "i"), axis_name="i")(x), lambda v: (v(3, 4),))],
    "jax.lax.all_to_all": [("4", lambda x: jax.vmap(lambda y: lax.all_to_all(y, "i", 0, 0), axis_name="i")(x), lambda v: (v(4, 4),))],
    "jax.lax.ppermute": [("4", lambda x: jax.vmap(lambda y: lax.ppermute(y, "i", [(0, 1), (1, 2), (2, 0)]), axis_name="i")(x), lambda v: (v(3, 4),))],
    "jax.lax.pshuffle": [("4", lambda x: jax.vmap(lambda y: lax.pshuffle(y, "i", [1, 2, 0]), axis_name="i")(x), lambda v: (v(3, 4),))],
    "jax.lax.psum_scatter": [("4", lambda x: jax.vmap(lambda y: lax.psum_scatter(y, "i"), axis_name="i")(x), lambda v: (v(4, 4),))],
    "jax.lax.pswapaxes": [("4", lambda x: jax.vmap(lambda y: lax.pswapaxes(y, "i", 0), axis_name="i")(x), lambda v: (v(4, 4),))],
    **{f"jax.lax.{p}": [("v", lambda x, p=p: jax.vmap(lambda y: getattr(lax, p)(y, "i"), axis_name="i")(x), lambda v: (v(3, 4),))]
       for p in ("psum", "pmax", "pmin", "pmean")},
    "jax.lax.approx_max_k": [("3", lambda x: lax.approx_max_k(x, 3), lambda v: (v(3, 16),))],
    "jax.lax.approx_min_k": [("3", lambda x: lax.approx_min_k(x, 3), lambda v: (v(3, 16),))],
    "jax.lax.top_k": [("3", lambda x: lax.top_k(x, 3), lambda v: (v(3, 16),))],
    "jax.lax.argmax": [("1", lambda x: lax.argmax(x, 1, jnp.int32), lambda v: (v(3, 4),))],
    "jax.lax.argmin": [("1", lambda x: lax.argmin(x, 1, jnp.int32), lambda v: (v(3, 4),))],
    "jax.lax.associative_scan": [("add", lambda x: lax.associative_scan(add, x), lambda v: (v(9, 2),)),
                                 ("reverse", lambda x: lax.associative_scan(jnp.multiply, x, reverse=True), lambda v: (v(9, 2),))],
    "jax.lax.bitcast_convert_type": [("u8", lambda x: lax.bitcast_convert_type(x, jnp.uint8), lambda v: (v(3, 4),))],
    "jax.lax.broadcast": [("2", lambda x: lax.broadcast(x, (2,)), lambda v: (v(3, 4),))],
    "jax.lax.broadcast_in_dim": [("2", lambda x: lax.broadcast_in_dim(x, (3, 2, 4), (0, 2)), lambda v: (v(3, 4),))],
    "jax.lax.broadcast_like": [("2", lambda x: lax.broadcast_like(x, jnp.zeros((3, 4))), lambda v: (v(3, 4),))],
    "jax.lax.broadcast_shapes": [("2", lambda x: jnp.zeros(lax.broadcast_shapes(x.shape, (2, 1, 1))), lambda v: (v(3, 4),))],
    "jax.lax.broadcast_to_rank": [("4", lambda x: lax.broadcast_to_rank(x, 4), lambda v: (v(3, 4),))],
    "jax.lax.broadcasted_iota": [("i", lambda x: lax.broadcasted_iota(x.dtype, (3, 4), 1), lambda v: (v(3, 4),))],
    "jax.lax.iota": [("i", lambda x: lax.iota(x.dtype, 7), lambda v: (v(3, 4),))],
    "jax.lax.clamp": [("3", lambda v: (v(3, 4, low=-2), v(3, 4, salt=1), v(3, 4, salt=2)))],
    "jax.lax.collapse": [("1", lambda x: lax.collapse(x, 0, 2), lambda v: (v(2, 3, 4),))],
    "jax.lax.composite": [("f", lambda x: lax.composite(lambda y: y + y, "my.composite")(x), lambda v: (v(3, 4),))],
    "jax.lax.concatenate": [("1", lambda x, y: lax.concatenate([x, y], 1), lambda v: (v(3, 4), v(3, 2)))],
    "jax.lax.cond": [("x", lambda x: lax.cond(x[0, 0] != 0, lambda y: y + y, lambda y: y * y, x), lambda v: (v(3, 4),))],
    "jax.lax.conv": [("same", lambda x, k: lax.conv(x, k, (1, 1), "SAME"), lambda v: (v(2, 3, 8, 8), v(4, 3, 3, 3)))],
    "jax.lax.conv_general_dilated": [
        ("nhwc", lambda x, k: lax.conv_general_dilated(x, k, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), lambda v: (v(2, 8, 8, 3), v(3, 3, 3, 4))),
        ("dilated", lambda x, k: lax.conv_general_dilated(x, k, (1,), ((2, 1),), lhs_dilation=(2,), rhs_dilation=(2,)), lambda v: (v(2, 3, 8), v(4, 3, 3))),
        ("groups", lambda x, k: lax.conv_general_dilated(x, k, (1,), "VALID", feature_group_count=2), lambda v: (v(2, 4, 8), v(6, 2, 3))),
        ("batches", lambda x, k: lax.conv_general_dilated(x, k, (1,), "VALID", batch_group_count=2), lambda v: (v(4, 3, 8), v(6, 3, 3))),
        ("3d", lambda x, k: lax.conv_general_dilated(x, k, (1, 1, 1), "SAME"), lambda v: (v(1, 2, 4, 4, 4), v(2, 2, 2, 2, 2)))],
    "jax.lax.conv_general_dilated_local": [("1d", lambda x, k: lax.conv_general_dilated_local(x, k, (1,), "VALID", (3,)), lambda v: (v(2, 3, 8), v(4, 9, 6)))],
    "jax.lax.conv_general_dilated_patches": [("2d", lambda x: lax.conv_general_dilated_patches(x, (3, 3), (1, 1), "VALID"), lambda v: (v(2, 3, 8, 8),))],
    "jax.lax.conv_transpose": [("2d", lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME"), lambda v: (v(2, 5, 5, 3), v(3, 3, 3, 4)))],
    "jax.lax.conv_with_general_padding": [("2d", lambda x, k: lax.conv_with_general_padding(x, k, (1, 1), ((1, 0), (0, 1)), None, None), lambda v: (v(2, 3, 8, 8), v(4, 3, 3, 3)))],
    "jax.lax.convert_element_type": [(t, lambda x, t=t: lax.convert_element_type(x, t), lambda v: (v(3, 4),)) for t in ("float16", "bfloat16", "float8_e4m3fn", "int32", "int8", "uint8", "uint32", "int4", "bool", "complex64")],
    "jax.lax.cumsum": [("r", lambda x: lax.cumsum(x, 1, reverse=True), lambda v: (v(3, 9),))],
    "jax.lax.custom_linear_solve": [("cg", lambda a, b: lax.custom_linear_solve(lambda x: a @ x, b, lambda _, y: jnp.linalg.solve(a, y), symmetric=True), lambda v: (v.definite(4), v(4)))],
    "jax.lax.custom_root": [("sqrt", lambda a: lax.custom_root(lambda x: x * x - a, a, lambda f, x: lax.fori_loop(0, 20, lambda _, y: 0.5 * (y + a / y), x), lambda g, y: y / g(jnp.ones_like(y))), lambda v: (v.unit(),))],
    "jax.lax.dot": [("mm", lambda v: (v(3, 4), v(4, 5))), ("f32", lambda x, y: lax.dot(x, y, preferred_element_type=jnp.float32), lambda v: (v(3, 4), v(4, 5)))],
    "jax.lax.batch_matmul": [("b", lambda v: (v(2, 3, 4), v(2, 4, 5)))],
    "jax.lax.dot_general": [("b", lambda x, y: lax.dot_general(x, y, (((2,), (1,)), ((0,), (0,)))), lambda v: (v(2, 3, 4), v(2, 4, 5))),
                            ("2", lambda x, y: lax.dot_general(x, y, (((0, 2), (0, 1)), ((), ()))), lambda v: (v(2, 3, 4), v(2, 4, 5)))],
    "jax.lax.dynamic_index_in_dim": [("1", lambda x, i: lax.dynamic_index_in_dim(x, i, 1), lambda v: (v(3, 4), 2))],
    "jax.lax.dynamic_slice": [("2", lambda x, i: lax.dynamic_slice(x, (i, i), (2, 2)), lambda v: (v(3, 4), 2))],
    "jax.lax.dynamic_slice_in_dim": [("2", lambda x, i: lax.dynamic_slice_in_dim(x, i, 2), lambda v: (v(3, 4), 2))],
    "jax.lax.dynamic_update_index_in_dim": [("2", lambda x, y, i: lax.dynamic_update_index_in_dim(x, y, i, 0), lambda v: (v(3, 4), v(4), 2))],
    "jax.lax.dynamic_update_slice": [("2", lambda x, y, i: lax.dynamic_update_slice(x, y, (i, i)), lambda v: (v(3, 4), v(2, 2), 1))],
    "jax.lax.dynamic_update_slice_in_dim": [("2", lambda x, y, i: lax.dynamic_update_slice_in_dim(x, y, i, 0), lambda v: (v(3, 4), v(2, 4), 1))],
    "jax.lax.expand_dims": [("1", lambda x: lax.expand_dims(x, (1,)), lambda v: (v(3, 4),))],
    "jax.lax.fft": [(t, lambda x, t=t, n=n: lax.fft(x, t, n), lambda v: (v(3, 8),)) for t, n in (("FFT", (8,)), ("IFFT", (3, 8)), ("RFFT", (8,)), ("IRFFT", (14,)))],
    "jax.lax.fori_loop": [("5", lambda x: lax.fori_loop(0, 5, lambda i, y: y * y - x, x), lambda v: (v.unit(3, 4),)), ("n", lambda n, x: lax.fori_loop(0, n, lambda i, y: y + x, x), lambda v: (4, v(3)))],
    "jax.lax.full": [("2", lambda x: lax.full((3, 4), 2, x.dtype), lambda v: (v(3),))],
    "jax.lax.full_like": [("2", lambda x: lax.full_like(x, 2), lambda v: (v(3),))],
    "jax.lax.gather": [("rows", lambda x: lax.gather(x, index(2, 0, 5)[:, None], lax.GatherDimensionNumbers((1,), (0,), (0,)), (1, 4), mode=m), lambda v: (v(3, 4),)) for m in ("clip", "fill")],
    "jax.lax.index_take": [("2", lambda x: lax.index_take(x, (index(0, 2),), (0,)), lambda v: (v(3, 4),))],
    "jax.lax.integer_pow": [(str(n), lambda x, n=n: lax.integer_pow(x, n), lambda v: (v(3, 4),)) for n in (-2, 3)],
    "jax.lax.map": [("f", lambda x: lax.map(lambda r: r * r, x), lambda v: (v(3, 4),)), ("batch", lambda x: lax.map(lambda r: r * r, x, batch_size=2), lambda v: (v(5, 4),))],
    "jax.lax.pad": [("neg", lambda x: lax.pad(x, jnp.zeros((), x.dtype), ((1, -1, 1), (-1, 2, 0))), lambda v: (v(3, 4),))],
    "jax.lax.platform_dependent": [("x", lambda x: lax.platform_dependent(x, tpu=lambda y: y * 2, default=lambda y: y + y), lambda v: (v(3),))],
    "jax.lax.ragged_dot": [("2", lambda x, y: lax.ragged_dot(x, y, index(2, 3)), lambda v: (v(5, 4), v(2, 4, 3)))],
    "jax.lax.ragged_dot_general": [("2", lambda x, y: lax.ragged_dot_general(x, y, index(2, 3), lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [0])), lambda v: (v(5, 4), v(2, 4, 3)))],
    "jax.lax.scaled_dot": [("d", lambda x, y: lax.scaled_dot(x, y), lambda v: (v(3, 32), v(5, 32)))],
    "jax.lax.reduce": [("add", lambda x: lax.reduce(x, jnp.zeros((), x.dtype), lax.add, (1,)), lambda v: (v(3, 4),)),
                       ("pair", lambda x: lax.reduce((x, x), (jnp.zeros((), x.dtype),) * 2, lambda a, b: (a[0] + b[0], jnp.maximum(a[1], b[1])), (0,)), lambda v: (v(3, 4),))],
    **{f"jax.lax.reduce_{o}": [("1", lambda x, o=o: getattr(lax, f"reduce_{o}")(x, (1,)), lambda v: (v(3, 4),))] for o in ("and", "or", "xor", "max", "min", "sum", "prod")},
    "jax.lax.reduce_precision": [("5", lambda x: lax.reduce_precision(x, 5, 3), lambda v: (v(3, 4),))],
    "jax.lax.reduce_window": [(n, lambda x, f=f: lax.reduce_window(x, jnp.zeros((), x.dtype), f, (2, 3), (1, 2), "SAME"), lambda v: (v(5, 7),)) for n, f in (("add", lax.add), ("max", lax.max), ("own", lambda a, b: a + b * 2))],
    "jax.lax.reshape": [("d", lambda x: lax.reshape(x, (4, 3), (1, 0)), lambda v: (v(3, 4),))],
    "jax.lax.rev": [("2", lambda x: lax.rev(x, (0, 1)), lambda v: (v(3, 4),))],
    "jax.lax.rng_bit_generator": [(a, lambda k, a=a: lax.rng_bit_generator(k, (5, 3), algorithm=a), lambda v: (jnp.arange(4, dtype=jnp.uint32),)) for a in (lax.RandomAlgorithm.RNG_THREE_FRY, lax.RandomAlgorithm.RNG_PHILOX)],
    "jax.lax.scan": [("sum", lambda x: lax.scan(lambda c, r: (c + r, c * r), x[0], x), lambda v: (v(5, 4),)),
                     ("reverse", lambda x: lax.scan(lambda c, r: (c + r, c * r), x[0], x, reverse=True, unroll=2), lambda v: (v(5, 4),))],
    **{f"jax.lax.{s}": [("rows", lambda x, u, s=s: getattr(lax, s)(x, index(2, 0, 7)[:, None], u, lax.ScatterDimensionNumbers((1,), (0,), (0,))), lambda v: (v(3, 4), v(3, 4, salt=1)))]
       for s in ("scatter", "scatter_add", "scatter_max", "scatter_min", "scatter_mul", "scatter_sub")},
    "jax.lax.scatter_apply": [("rows", lambda x: lax.scatter_apply(x, index(2, 0)[:, None], lambda y: y + y, lax.ScatterDimensionNumbers((1,), (0,), (0,)), update_shape=(2, 4)), lambda v: (v(3, 4),))],
    "jax.lax.select": [("3", lambda v: (v(3, 4) > 0, v(3, 4), v(3, 4, salt=1)))],
    "jax.lax.select_n": [("3", lambda w, *c: lax.select_n(w, *c), lambda v: (index(0, 2, 1, 1), v(4), v(4, salt=1), v(4, salt=2)))],
    "jax.lax.slice": [("s", lambda x: lax.slice(x, (0, 1), (3, 4), (2, 1)), lambda v: (v(3, 4),))],
    "jax.lax.slice_in_dim": [("s", lambda x: lax.slice_in_dim(x, 1, 3, axis=1), lambda v: (v(3, 4),))],
    "jax.lax.sort": [("keys", lambda x, y: lax.sort((x, y), num_keys=2), lambda v: (v(3, 9), v(3, 9, salt=1)))],
    "jax.lax.sort_key_val": [("1", lambda v: (v(3, 9), v(3, 9, salt=1)))],
    "jax.lax.split": [("2", lambda x: lax.split(x, (1, 3)), lambda v: (v(4, 3),))],
    "jax.lax.stack": [("2", lambda x: lax.stack([x, x]), lambda v: (v(4, 3),))],
    "jax.lax.switch": [("3", lambda i, x: lax.switch(i, [lambda y: y, lambda y: y + y, lambda y: y * y], x), lambda v: (2, v(3, 4)))],
    "jax.lax.tile": [("2", lambda x: lax.tile(x, (2, 3)), lambda v: (v(3, 4),))],
    "jax.lax.while_loop": [("5", lambda x: lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] + x), (0, x)), lambda v: (v(3, 4),))],
    "jax.lax.unstack": [("0", lambda v: (v(3, 4),))],
    "jax.lax.linalg.cholesky_update": [("4", lambda v: (jnp.linalg.cholesky(v.definite(4)), v(4)))],
    "jax.lax.linalg.householder_product": [("4", lambda v: (v(4, 3), v.unit(3)))],
    "jax.lax.linalg.lu_pivots_to_permutation": [("5", lambda x: lax.linalg.lu_pivots_to_permutation(index(2, 1, 3, 3), 5), lambda v: (v(3),))],
    "jax.lax.linalg.ormqr": [("4", lambda v: (v(4, 3), v.unit(3), v(4, 4)))],
    "jax.lax.linalg.symmetric_product": [("4", lambda v: (v(4, 3), v(4, 4)))],
    "jax.lax.linalg.triangular_solve": [(f"{l}{u}{t}", lambda a, b, l=l, u=u, t=t: lax.linalg.triangular_solve(a, b, left_side=l, lower=u, transpose_a=t), lambda v: (v.definite(4), v(4, 4))) for l in (0, 1) for u in (0, 1) for t in (0, 1)],
    "jax.lax.linalg.tridiagonal": [("4", lambda v: (v.definite(4),))],
    "jax.lax.linalg.tridiagonal_solve": [("4", lambda v: (v.unit(4).at[0].set(0), v.unit(4) + 3, v.unit(4).at[3].set(0), v(4, 2)))],
    "jax.nn.dot_product_attention": [("4", lambda v: (v(2, 5, 2, 8), v(2, 5, 2, 8, salt=1), v(2, 5, 2, 8, salt=2))), ("causal", lambda q, k, w: jax.nn.dot_product_attention(q, k, w, is_causal=True), lambda v: (v(2, 5, 2, 8), v(2, 5, 2, 8, salt=1), v(2, 5, 2, 8, salt=2)))],
    "jax.nn.one_hot": [("5", lambda x: jax.nn.one_hot(x, 5), lambda v: (v(6),))],
    "jax.nn.scaled_matmul": [("b", lambda a, b: jax.nn.scaled_matmul(a, b, jnp.ones((2, 3, 1), jnp.float8_e8m0fnu), jnp.ones((2, 5, 1), jnp.float8_e8m0fnu)), lambda v: (v(2, 3, 32), v(2, 5, 32)))],
    "jax.nn.scaled_dot_general": [("d", lambda a, b: jax.nn.scaled_dot_general(a, b, (((1,), (1,)), ((), ()))), lambda v: (v(3, 32), v(5, 32)))],
    **{f"jax.nn.initializers.{n}": [("init", lambda k, n=n: getattr(jax.nn.initializers, n)()(k, (6, 4)), lambda v: (jax.random.key(3),))]
       for n in "glorot_normal glorot_uniform he_normal he_uniform kaiming_normal kaiming_uniform lecun_normal lecun_uniform normal orthogonal truncated_normal uniform xavier_normal xavier_uniform".split()},
    "jax.nn.initializers.constant": [("2", lambda k: jax.nn.initializers.constant(2.0)(k, (6, 4)), lambda v: (jax.random.key(3),))],
    "jax.nn.initializers.delta_orthogonal": [("2", lambda k: jax.nn.initializers.delta_orthogonal()(k, (3, 3, 4, 4)), lambda v: (jax.random.key(3),))],
    "jax.nn.initializers.variance_scaling": [("2", lambda k: jax.nn.initializers.variance_scaling(1.0, "fan_avg", "truncated_normal")(k, (6, 4)), lambda v: (jax.random.key(3),))],
    "jax.random.PRNGKey": [("7", lambda v: (7,))],
    "jax.random.key": [("7", lambda n: jax.random.key_data(jax.random.key(n)), lambda v: (7,))],
    "jax.random.clone": [("7", lambda n: jax.random.key_data(jax.random.clone(jax.random.key(n))), lambda v: (7,))],
    "jax.random.fold_in": [("7", lambda n: jax.random.key_data(jax.random.fold_in(jax.random.key(n), 3)), lambda v: (7,))],
    "jax.random.split": [("7", lambda n: jax.random.key_data(jax.random.split(jax.random.key(n), 3)), lambda v: (7,)), ("rbg", lambda n: jax.random.normal(jax.random.split(jax.random.key(n, impl="rbg"), 3)[1], (5,)), lambda v: (7,))],
    "jax.random.key_data": [("7", lambda n: jax.random.key_data(jax.random.key(n)), lambda v: (7,))],
    "jax.random.wrap_key_data": [("7", lambda x: jax.random.normal(jax.random.wrap_key_data(x)), lambda v: (jnp.array([3, 4], jnp.uint32),))],
    "jax.random.bits": [("d", lambda k, x: jax.random.bits(k, (5,), x.dtype), lambda v: (jax.random.key(7), v(3)))],
    "jax.random.ball": [("3", lambda k: jax.random.ball(k, 3), lambda v: (jax.random.key(7),))],
    "jax.random.binomial": [("n", lambda k, p: jax.random.binomial(k, 10, p), lambda v: (jax.random.key(7), v.unit(5)))],
    "jax.random.categorical": [("x", lambda v: (jax.random.key(7), v(5, 4)))],
    "jax.random.choice": [("x", lambda k, x: jax.random.choice(k, x, (4,), replace=False), lambda v: (jax.random.key(7), v(9)))],
    "jax.random.dirichlet": [("x", lambda v: (jax.random.key(7), v.unit(4)))],
    "jax.random.f": [("x", lambda v: (jax.random.key(7), v.unit(4) + 2, v.unit(4, salt=1) + 3))],
    "jax.random.generalized_normal": [("x", lambda k: jax.random.generalized_normal(k, 1.5, (4,)), lambda v: (jax.random.key(7),))],
    "jax.random.multinomial": [("x", lambda k, p: jax.random.multinomial(k, 10, p / p.sum()), lambda v: (jax.random.key(7), v.unit(4)))],
    "jax.random.multivariate_normal": [("x", lambda v: (jax.random.key(7), v(4), v.definite(4)))],
    "jax.random.orthogonal": [("4", lambda k: jax.random.orthogonal(k, 4), lambda v: (jax.random.key(7),))],
    "jax.random.permutation": [("x", lambda v: (jax.random.key(7), v(9)))],
    "jax.random.randint": [("d", lambda k, x: jax.random.randint(k, (9,), 0, 7, x.dtype), lambda v: (jax.random.key(7), v(3)))],
    "jax.random.triangular": [("x", lambda k: jax.random.triangular(k, 0.0, 0.3, 1.0, (5,)), lambda v: (jax.random.key(7),))],
    "jax.random.truncated_normal": [("x", lambda k: jax.random.truncated_normal(k, -1.0, 1.0, (5,)), lambda v: (jax.random.key(7),))],
    "jax.random.weibull_min": [("x", lambda k: jax.random.weibull_min(k, 1.5, 2.0, (5,)), lambda v: (jax.random.key(7),))],
    **{f"jax.ops.segment_{o}": [("4", lambda x, o=o: getattr(jax.ops, f"segment_{o}")(x, index(0, 2, 2, 1, 3, 0), 5), lambda v: (v(6, 2),))] for o in ("max", "min", "prod", "sum")},
    "jax.image.resize": [(m, lambda x, m=m: jax.image.resize(x, (7, 3), m), lambda v: (v(4, 5),)) for m in ("nearest", "linear", "cubic", "lanczos3", "lanczos5")],
    "jax.image.scale_and_translate": [("l", lambda x: jax.image.scale_and_translate(x, (7, 6), (0, 1), jnp.array([1.5, 0.7]), jnp.array([0.2, 0.1]), "linear"), lambda v: (v(4, 5),))],
    "jax.scipy.special.bessel_jn": [("3", lambda x: jax.scipy.special.bessel_jn(x, v=3, n_iter=20), lambda v: (v.unit(5),))],
    "jax.scipy.special.expn": [("2", lambda x: jax.scipy.special.expn(2, x), lambda v: (v.unit(5),))],
    "jax.scipy.special.multigammaln": [("2", lambda x: jax.scipy.special.multigammaln(x + 2, 2), lambda v: (v.unit(5),))],
    "jax.scipy.special.polygamma": [(str(n), lambda x, n=n: jax.scipy.special.polygamma(n, x), lambda v: (v.unit(5),)) for n in (0, 1, 3)],
    "jax.scipy.special.sph_harm_y": [("2", lambda t, p: jax.scipy.special.sph_harm_y(index(2, 1), index(1, 0), t, p, n_max=3), lambda v: (v.unit(2), v.unit(2, salt=1)))],
    "jax.scipy.special.bernoulli": [("5", lambda x: jax.scipy.special.bernoulli(5) * x, lambda v: (v.unit(6),))],
    "jax.scipy.special.hyp1f1": [("3", lambda v: (v.unit(5), v.unit(5, salt=1), v.unit(5, salt=2)))],
    "jax.scipy.special.hyp2f1": [("4", lambda v: (v.unit(5), v.unit(5, salt=1), v.unit(5, salt=2) + 1, v.unit(5, salt=3)))],
    "jax.scipy.linalg.cho_solve": [("4", lambda a, b: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(a), b), lambda v: (v.definite(4), v(4)))],
    "jax.scipy.linalg.lu_solve": [("4", lambda a, b: jax.scipy.linalg.lu_solve(jax.scipy.linalg.lu_factor(a), b), lambda v: (v.definite(4), v(4)))],
    "jax.scipy.linalg.convolution_matrix": [("4", lambda x: jax.scipy.linalg.convolution_matrix(x, 4), lambda v: (v(3),))],
    "jax.scipy.linalg.eigh_tridiagonal": [("v", lambda d, e: jax.scipy.linalg.eigh_tridiagonal(d, e, eigvals_only=True), lambda v: (v(5), v(4)))],
    "jax.scipy.linalg.funm": [("exp", lambda x: jax.scipy.linalg.funm(x, jnp.exp, disp=False)[0], lambda v: (v.definite(3) / 8,))],
    "jax.scipy.linalg.leslie": [("3", lambda v: (v(4), v(3)))],
    "jax.scipy.linalg.rsf2csf": [("4", lambda x: jax.scipy.linalg.rsf2csf(*jax.scipy.linalg.schur(x)), lambda v: (v(4, 4),))],
    "jax.scipy.linalg.solve_sylvester": [("4", lambda v: (v.definite(4), v.definite(3), v(4, 3)))],
    "jax.scipy.linalg.qr_multiply": [("4", lambda v: (v(4, 4), v(4, 4, salt=1)))],
    "jax.scipy.signal.convolve2d": [(m, lambda x, y, m=m: jax.scipy.signal.convolve2d(x, y, m), lambda v: (v(5, 6), v(3, 2))) for m in ("full", "same", "valid")],
    "jax.scipy.signal.correlate2d": [("full", lambda v: (v(5, 6), v(3, 2)))],
    "jax.scipy.signal.istft": [("8", lambda x: jax.scipy.signal.istft(jax.scipy.signal.stft(x, nperseg=8)[2], nperseg=8), lambda v: (v(32),))],
    **{f"jax.scipy.signal.{n}": [("8", lambda *x, n=n: getattr(jax.scipy.signal, n)(*x, nperseg=8), lambda v, k=k: tuple(v(32, salt=i) for i in range(k)))] for n, k in (("stft", 1), ("welch", 1), ("csd", 2))},
    "jax.scipy.ndimage.map_coordinates": [(f"{o}{m}", lambda x, c, o=o, m=m: jax.scipy.ndimage.map_coordinates(x, [c, c], o, m), lambda v: (v(5, 5), v.unit(6) * 4)) for o in (0, 1) for m in ("constant", "nearest", "mirror", "wrap")],
    "jax.scipy.optimize.minimize": [("bfgs", lambda x: jax.scipy.optimize.minimize(lambda y: jnp.sum((y - 1) ** 2) + jnp.sum(y[1:] * y[:-1]), x, method="BFGS").x, lambda v: (v(3),))],
    "jax.scipy.cluster.vq.vq": [("3", lambda v: (v(9, 2), v(3, 2)))],
    **{f"jax.scipy.sparse.linalg.{n}": [("4", lambda a, b, n=n: getattr(jax.scipy.sparse.linalg, n)(a, b)[0], lambda v: (v.definite(4), v(4)))] for n in ("bicgstab", "cg", "gmres")},
    "jax.numpy.fft.irfft": [("9", lambda x: jnp.fft.irfft(x, 9), lambda v: (v(3, 5),))],
}


def sparse_cases():
    """Of jax.experimental.sparse: each function on matrices with zeros."""
    from jax.experimental import sparse  # pylint: disable=import-outside-toplevel

    def zeros(v, salt=0, shape=(4, 5)):
        x = v(*shape, salt=salt)
        return jnp.where(jnp.abs(v(*shape, salt=salt + 9)) > 1, x, jnp.zeros((), x.dtype))

    one = {
        "bcoo_todense": lambda m: m, "bcoo_transpose": lambda m: sparse.bcoo_transpose(m, permutation=(1, 0)),
        "bcoo_broadcast_in_dim": lambda m: sparse.bcoo_broadcast_in_dim(m, shape=(2, 4, 5), broadcast_dimensions=(1, 2)),
        "bcoo_concatenate": lambda m: sparse.bcoo_concatenate([m, m], dimension=0), "bcoo_reduce_sum": lambda m: sparse.bcoo_reduce_sum(m, axes=(0,)),
        "bcoo_reshape": lambda m: sparse.bcoo_reshape(m, new_sizes=(5, 4)), "bcoo_rev": lambda m: sparse.bcoo_rev(m, dimensions=(0,)),
        "bcoo_slice": lambda m: sparse.bcoo_slice(m, start_indices=(1, 0), limit_indices=(3, 4)), "bcoo_sort_indices": sparse.bcoo_sort_indices,
        "bcoo_dynamic_slice": lambda m: sparse.bcoo_dynamic_slice(m, (1, 0), (2, 2)), "bcoo_squeeze": lambda m: sparse.bcoo_squeeze(m, dimensions=()),
        "bcoo_sum_duplicates": lambda m: sparse.bcoo_sum_duplicates(m, nse=20), "bcoo_update_layout": lambda m: sparse.bcoo_update_layout(m, n_batch=0),
        "bcoo_multiply_sparse": lambda m: sparse.bcoo_multiply_sparse(m, m), "bcoo_multiply_dense": lambda m: sparse.BCOO((sparse.bcoo_multiply_dense(m, jnp.ones((4, 5), m.dtype)), m.indices), shape=m.shape),
        "bcoo_dot_general": lambda m: sparse.bcoo_dot_general(m, m, dimension_numbers=(((1,), (1,)), ((), ()))),
        "bcoo_extract": lambda m: sparse.bcoo_extract(m, m.todense()), "bcoo_fromdense": lambda m: sparse.bcoo_fromdense(m.todense(), nse=20),
        "bcoo_gather": lambda m: m[index(2, 0)],
    }
    cases = {f"jax.experimental.sparse.{n}": [("m", lambda x, f=f: f(sparse.bcoo_fromdense(x, nse=20)).todense(), lambda v: (zeros(v),))] for n, f in one.items()}
    for kind in ("csr", "coo", "bcsr"):
        make = getattr(sparse, f"{kind}_fromdense")
        cases[f"jax.experimental.sparse.{kind}_fromdense"] = cases[f"jax.experimental.sparse.{kind}_todense"] = [("m", lambda x, make=make: make(x, nse=20).todense(), lambda v: (zeros(v),))]
        if kind != "bcsr":
            cases[f"jax.experimental.sparse.{kind}_matvec"] = [("m", lambda x, y, make=make: make(x, nse=20) @ y, lambda v: (zeros(v), v(5)))]
            cases[f"jax.experimental.sparse.{kind}_matmat"] = [("m", lambda x, y, make=make: make(x, nse=20) @ y, lambda v: (zeros(v), v(5, 3)))]
    cases["jax.experimental.sparse.bcsr_dot_general"] = [("m", lambda x, y: sparse.bcsr_fromdense(x, nse=20) @ y, lambda v: (zeros(v), v(5, 3)))]
    cases["jax.experimental.sparse.bcsr_broadcast_in_dim"] = [("m", lambda x: sparse.bcsr_broadcast_in_dim(sparse.bcsr_fromdense(x, nse=20), shape=(2, 4, 5), broadcast_dimensions=(1, 2)).todense(), lambda v: (zeros(v),))]
    cases["jax.experimental.sparse.bcsr_concatenate"] = [("m", lambda x: sparse.bcsr_concatenate([sparse.bcsr_fromdense(x, nse=20)] * 2, dimension=0).todense(), lambda v: (zeros(v),))]
    cases["jax.experimental.sparse.bcsr_sum_duplicates"] = [("m", lambda x: sparse.bcsr_sum_duplicates(sparse.bcsr_fromdense(x, nse=20), nse=20).todense(), lambda v: (zeros(v),))]
    cases["jax.experimental.sparse.bcsr_extract"] = [("m", lambda x: sparse.bcsr_extract(*(lambda m: (m.indices, m.indptr))(sparse.bcsr_fromdense(x, nse=20)), x), lambda v: (zeros(v),))]
    cases["jax.experimental.sparse.bcoo_dot_general_sampled"] = [("m", lambda x, y: sparse.bcoo_dot_general_sampled(x, y, sparse.bcoo_fromdense(x, nse=20).indices % 4, dimension_numbers=(((1,), (0,)), ((), ()))), lambda v: (zeros(v), v(5, 4)))]
    cases["jax.experimental.sparse.bcoo_conv_general_dilated"] = [("m", lambda x, k: sparse.bcoo_conv_general_dilated(sparse.bcoo_fromdense(x, nse=20), sparse.bcoo_fromdense(k, nse=3), window_strides=(1,), padding="VALID").todense(), lambda v: (zeros(v, shape=(1, 1, 20)), v(1, 1, 3)))]
    cases["jax.experimental.sparse.random_bcoo"] = [("k", lambda k: sparse.random_bcoo(k, (4, 5), nse=6).todense(), lambda v: (jax.random.key(7),))]
    cases["jax.experimental.sparse.todense"] = cases["jax.experimental.sparse.bcoo_todense"]
    cases["jax.experimental.sparse.eye"] = [("4", lambda x: sparse.eye(4).todense() * x, lambda v: (v(4, 4),))]
    cases["jax.experimental.sparse.sparsify"] = [("f", lambda x: sparse.sparsify(lambda m: (m * 2) @ m.T)(sparse.BCOO.fromdense(x, nse=20)).todense(), lambda v: (zeros(v),))]
    for name in ("grad", "jacfwd", "jacrev", "jacobian", "value_and_grad"):
        cases[f"jax.experimental.sparse.{name}"] = [("f", lambda x, n=name: jax.tree.leaves(getattr(sparse, n)(lambda m: (m @ jnp.ones(5, x.dtype)).sum())(sparse.BCOO.fromdense(x, nse=20))), lambda v: (zeros(v),))]
    return cases


def functions():
    """Yields (full name, function): all that is public and callable, classes aside."""
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        for name in sorted(dir(module)):
            value = getattr(module, name)
            if not name.startswith("_") and callable(value) and not inspect.isclass(value) and f"{module_name}.{name}" not in SKIPPED:
                yield f"{module_name}.{name}", value
    for name in STATISTICS:
        module = importlib.import_module(f"jax.scipy.stats.{name}")
        for method in sorted(dir(module)):
            value = getattr(module, method)
            if not method.startswith("_") and inspect.isfunction(value) and value.__module__.startswith("jax._src.scipy.stats"):
                yield f"jax.scipy.stats.{name}.{method}", value


def recipes(full_name, function, special):
    """Yields (recipe, function of the arguments, maker of the arguments)."""
    if full_name in special:
        for entry in special[full_name]:
            yield (str(entry[0]), function, entry[1]) if len(entry) == 2 else (str(entry[0]), entry[1], entry[2])
        return
    tried = KEYED if full_name.startswith(("jax.random.", "jax.nn.initializers.")) else GENERIC
    for name, make in tried:
        yield name, function, make
# SPDX-License-Identifier: Apache-2.0
