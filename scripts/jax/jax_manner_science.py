"""Cases of jax_manner.py for nn, fft, random, scipy and sparse: what the files of these names test, over types and options."""
import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
from jax import nn, random
from jax_manner_values import COMPLEX, FLOATS, INTEGERS, array, definite, edges, numbers


def nn_cases():
    ones = {name: getattr(nn, name) for name in ("relu relu6 sigmoid softplus soft_sign silu log_sigmoid leaky_relu hard_sigmoid hard_silu "
                                                 "hard_tanh elu celu selu gelu mish squareplus sparse_plus sparse_sigmoid tanh identity").split() if hasattr(nn, name)}
    ones |= {"gelu_exact": functools.partial(nn.gelu, approximate=False), "glu": nn.glu, "celu_2": functools.partial(nn.celu, alpha=2.0)}
    for (name, f), t in itertools.product(ones.items(), FLOATS):
        x = array(t, 6, 8, low=-8, high=8)
        yield f"nn.{name}/{t}", lambda f=f, x=x: (f(x), jax.jit(f)(x))
        yield f"nn.{name}/{t}/edges", lambda f=f, t=t: jax.jit(f)(jnp.asarray(edges(t)[:26]))
        yield f"nn.{name}/{t}/grad", lambda f=f, x=x: jax.grad(lambda v: f(v).astype(jnp.float32).sum())(x), 4
        yield f"nn.{name}/{t}/second", lambda f=f, x=x: jax.hessian(lambda v: f(v).sum())(x[0]), 8
    for f, t, axis in itertools.product(("softmax", "log_softmax", "standardize", "logsumexp", "logmeanexp"), FLOATS, (0, -1, (0, 1))):
        x, g = array(t, 5, 7, low=-9, high=9), getattr(nn, f, None)
        if g is None:
            continue
        yield f"nn.{f}/{t}/{axis}", lambda g=g, x=x, axis=axis: jax.jit(lambda v: g(v, axis=axis))(x), 2
        yield f"nn.{f}/{t}/{axis}/where", lambda g=g, x=x, axis=axis: g(x, axis=axis, where=x > 0), 2
        yield f"nn.{f}/{t}/{axis}/grad", lambda g=g, x=x, axis=axis: jax.grad(lambda v: (g(v, axis=axis) ** 2).sum())(x), 8
        yield f"nn.{f}/{t}/{axis}/edges", lambda g=g, t=t, axis=axis: g(jnp.asarray(edges(t)[:12].reshape(3, 4)), axis=axis), 2
    for t, n in itertools.product(FLOATS + INTEGERS, (0, 3, 6)):
        yield f"nn.one_hot/{t}/{n}", lambda t=t, n=n: (nn.one_hot(jnp.array([0, 1, 5, -1]), n, dtype=t), nn.one_hot(jnp.array([[1], [2]]), n, axis=0, dtype=t))
    for t, options in itertools.product(("float16", "bfloat16", "float32"), ({}, {"is_causal": True}, {"scale": 0.3}, {"mask": 1}, {"bias": 1}, {"query_seq_lengths": 1},
                                                                             {"local_window_size": 2}, {"local_window_size": (1, 0)}, {"groups": 2}, {"is_causal": True, "bias": 1})):
        def attention(t=t, options=options, grad=False):
            options = dict(options)
            heads = 4 // options.pop("groups", 1)
            q, k, v = array(t, 2, 6, 4, 8), array(t, 2, 6, heads, 8, salt=1), array(t, 2, 6, heads, 8, salt=2)
            if "mask" in options:
                options["mask"] = jnp.asarray(numbers("bool", 2, 1, 6, 6)) | jnp.eye(6, dtype=bool)
            if "bias" in options:
                options["bias"] = array(t, 2, 4, 6, 6)
            if "query_seq_lengths" in options:
                options |= {"query_seq_lengths": jnp.array([3, 6], jnp.int32), "key_value_seq_lengths": jnp.array([6, 2], jnp.int32)}
            f = lambda q, k, v: nn.dot_product_attention(q, k, v, **options)
            if grad:
                return jax.grad(lambda *a: (f(*a).astype(jnp.float32) ** 2).sum(), (0, 1, 2))(q, k, v)
            return jax.jit(f)(q, k, v)
        yield f"nn.attention/{t}/{options}", attention, 4
        yield f"nn.attention/{t}/{options}/grad", functools.partial(attention, grad=True), 8
    makers = nn.initializers
    for name, t in itertools.product(("zeros ones constant uniform normal truncated_normal glorot_uniform glorot_normal lecun_uniform lecun_normal "
                                      "he_uniform he_normal orthogonal delta_orthogonal").split(), FLOATS + COMPLEX):
        def make(name=name, t=t):
            init = getattr(makers, name)
            init = init if name in ("zeros", "ones") else init(2.0) if name == "constant" else init()
            value = init(random.key(5), (3, 3, 4, 5) if "orth" not in name else (3, 4, 4), t)
            return jnp.abs(value) if "orth" in name else value
        yield f"nn.initializers.{name}/{t}", make, 4


def fft_cases():
    shape = (5, 6, 7)
    for name, t, n, axis, norm in itertools.product("fft ifft rfft irfft hfft ihfft".split(), FLOATS[1:] + COMPLEX + ("int32", "bool", "float16"), (None, 4, 9), (-1, 0), (None, "ortho", "forward")):
        if norm == "forward" and (n or axis):
            continue
        yield f"fft.{name}/{t}/{n}/{axis}/{norm}", lambda name=name, t=t, n=n, axis=axis, norm=norm: getattr(jnp.fft, name)(array(t, *shape), n=n, axis=axis, norm=norm), 4
    for name, t, s, norm in itertools.product("fftn ifftn rfftn irfftn fft2 ifft2 rfft2 irfft2".split(), ("float32", "float64", "complex64", "complex128"), (None, (4, 5), (8, 9)), (None, "ortho", "backward")):
        f = getattr(jnp.fft, name)
        yield f"fft.{name}/{t}/{s}/{norm}", lambda f=f, t=t, s=s, norm=norm: f(array(t, *shape), s=s, axes=(-2, -1), norm=norm), 4
        if norm is None and t != "complex128":
            yield f"fft.{name}/{t}/{s}/grad", lambda f=f, t=t, s=s: jax.grad(lambda x: jnp.abs(f(x, s=s, axes=(0, 1))).sum().real, holomorphic=False)(array(t, *shape)), 8
            yield f"fft.{name}/{t}/{s}/vmap", lambda f=f, t=t, s=s: jax.vmap(lambda x: f(x, s=s, axes=(0, 1)))(array(t, 2, *shape)), 4
    for n, t in itertools.product((1, 2, 3, 8, 11, 13, 16, 17, 30, 97, 128, 210, 255, 1000, 1024, 4099), ("complex64", "complex128")):
        yield f"fft.length/{n}/{t}", lambda n=n, t=t: (jnp.fft.fft(array(t, n)), jnp.fft.ifft(array(t, 2, n)), jnp.fft.rfft(array(t, n).real), jnp.fft.irfft(array(t, n))), 8
    for n in (1, 4, 7):
        yield f"fft.freq/{n}", lambda n=n: (jnp.fft.fftfreq(n), jnp.fft.rfftfreq(n, d=0.3), jnp.fft.fftshift(jnp.arange(n)), jnp.fft.ifftshift(jnp.arange(3 * n).reshape(3, n)))
    yield "fft.empty", lambda: jnp.fft.fft(jnp.zeros((0, 4)))
    for name, kind, t, norm in itertools.product(("dct", "idct", "dctn", "idctn"), (2, 3), ("float32", "float64"), (None, "ortho")):
        yield f"fft.{name}/{kind}/{t}/{norm}", lambda name=name, kind=kind, t=t, norm=norm: getattr(jax.scipy.fft, name)(array(t, 5, 6), type=kind, norm=norm), 4


DRAWS = {"bernoulli": (0.3,), "beta": (0.7, 2.0), "binomial": (9.0, 0.4), "cauchy": (), "chisquare": (3.0,), "double_sided_maxwell": (0.5, 1.5), "exponential": (),
         "f": (3.0, 5.0), "gamma": (0.8,), "generalized_normal": (1.5,), "geometric": (0.3,), "gumbel": (), "laplace": (), "loggamma": (0.4,),
         "logistic": (), "lognormal": (0.7,), "maxwell": (), "normal": (), "pareto": (2.0,), "poisson": (4.0,), "rademacher": (), "rayleigh": (1.3,),
         "t": (3.0,), "triangular": (-1.0, 0.2, 2.0), "truncated_normal": (-1.0, 1.5), "uniform": (), "wald": (1.7,), "weibull_min": (1.2, 0.8)}


def random_cases():
    for (name, parameters), t, impl in itertools.product(DRAWS.items(), (None,) + FLOATS + ("complex64", "complex128"), ("threefry2x32", "rbg", "unsafe_rbg")):
        if impl != "threefry2x32" and t not in (None, "bfloat16"):
            continue
        def draw(name=name, parameters=parameters, t=t, impl=impl):
            f = getattr(random, name)
            options = {"dtype": t} if t else {}
            if name == "double_sided_maxwell" or name == "generalized_normal":
                return f(random.key(11, impl=impl), *parameters, (4, 50), **options)
            return f(random.key(11, impl=impl), *parameters, shape=(4, 50), **options)
        yield f"random.{name}/{t}/{impl}", draw, 8
        yield f"random.{name}/{t}/{impl}/vmap", lambda draw=draw, name=name, parameters=parameters, impl=impl: jax.vmap(lambda k: getattr(random, name)(k, *parameters, **({"shape": (3,)} if name not in ("double_sided_maxwell", "generalized_normal") else {"shape": (3,)})))(random.split(random.key(2, impl=impl), 4)), 8
    for impl, t in itertools.product(("threefry2x32", "rbg", "unsafe_rbg"), ("uint8", "uint16", "uint32", "uint64")):
        k = functools.partial(random.key, 7, impl=impl)
        yield f"random.bits/{impl}/{t}", lambda k=k, t=t: (random.bits(k(), (5, 3), t), random.bits(k(), (), t), random.bits(k(), (129,), t))
        yield f"random.keys/{impl}/{t}", lambda k=k: (random.split(k(), (2, 3)), random.fold_in(k(), 77), random.clone(k()), random.key_data(k()))
    for impl, t, (low, high) in itertools.product(("threefry2x32", "rbg"), INTEGERS + ("int4", "uint4"), ((0, 5), (-3, 3), (0, 1 << 40), (5, 2))):
        yield f"random.randint/{impl}/{t}/{low}/{high}", lambda impl=impl, t=t, low=low, high=high: random.randint(random.key(3, impl=impl), (40,), low, high, t)
    for replace, p, axis, shape in itertools.product((True, False), (None, 1), (0, 1), ((), (3,), (2, 2))):
        def choose(replace=replace, p=p, axis=axis, shape=shape):
            a = array("float32", 5, 6)
            weights = None if p is None else jnp.arange(1.0, a.shape[axis] + 1) / sum(range(1, a.shape[axis] + 1))
            return random.choice(random.key(1), a, shape, replace=replace, p=weights, axis=axis), random.choice(random.key(1), 9, shape, replace=replace)
        yield f"random.choice/{replace}/{p}/{axis}/{shape}", choose
    for n, axis, independent in itertools.product((1, 7, 1000), (0, 1), (False, True)):
        yield f"random.permutation/{n}/{axis}/{independent}", lambda n=n, axis=axis, independent=independent: (random.permutation(random.key(3), jnp.arange(n * 2).reshape(n, 2), axis=axis, independent=independent), random.permutation(random.key(3), n))
    for t, axis, mode in itertools.product(FLOATS, (0, -1), (None, "low", "high")):
        yield f"random.categorical/{t}/{axis}/{mode}", lambda t=t, axis=axis, mode=mode: (random.categorical(random.key(5), array(t, 5, 6), axis=axis, mode=mode), random.categorical(random.key(5), array(t, 5, 6), axis=axis, shape=(3, 6 if axis == 0 else 5)))
    for t in ("float32", "float64", "float16"):
        yield f"random.dirichlet/{t}", lambda t=t: random.dirichlet(random.key(5), array(t, 4, low=0.3), (6,), t), 20
        yield f"random.multinomial/{t}", lambda t=t: random.multinomial(random.key(5), jnp.asarray(9.0, t), jnp.array([0.2, 0.5, 0.3], t), shape=(6, 3))
        yield f"random.ball/{t}", lambda t=t: random.ball(random.key(5), 3, 2, (6,), t), 20
        for method in ("cholesky", "eigh", "svd"):
            yield f"random.multivariate_normal/{t}/{method}", lambda t=t, method=method: jnp.abs(random.multivariate_normal(random.key(5), array(t, 3), definite(t, 3), (6,), t, method=method)), 1e9 if method != "cholesky" else 20
    for t in ("float32", "complex64", "float64"):
        yield f"random.orthogonal/{t}", lambda t=t: jnp.abs(random.orthogonal(random.key(5), 4, (2,), t)), 20


DISTRIBUTIONS = {"bernoulli": ((0, 1), (0.3,)), "beta": ("u", (1.2, 2.3)), "betabinom": ("k", (9, 1.5, 2.5)), "binom": ("k", (9, 0.3)), "cauchy": ("x", ()),
                 "chi2": ("p", (3.0,)), "expon": ("p", ()), "gamma": ("p", (1.7,)), "gennorm": ("x", (1.3,)), "geom": ("k", (0.3,)), "gumbel_l": ("x", ()), "gumbel_r": ("x", ()),
                 "laplace": ("x", ()), "logistic": ("x", ()), "nbinom": ("k", (5, 0.4)), "norm": ("x", ()), "pareto": ("p", (2.5,)), "poisson": ("k", (3.5,)),
                 "t": ("x", (4.0,)), "truncnorm": ("x", (-1.0, 1.5)), "uniform": ("x", ()), "vonmises": ("x", (1.5,)), "wrapcauchy": ("p", (0.4,)), "skewnorm": ("x", (0.7,)), "pearson3": ("x", (0.5,))}


def statistics_cases():
    domains = {"u": np.linspace(-0.2, 1.2, 15), "x": np.array([-40, -9, -3, -1.2, -0.4, 0, 0.3, 1, 2.4, 7, 40.0]), "p": np.array([-1, 0, 1e-3, 0.2, 1, 1.7, 3, 9, 60.0]), "k": np.arange(-1.0, 12)}
    for (name, (domain, parameters)), t in itertools.product(DISTRIBUTIONS.items(), FLOATS):
        module = getattr(jax.scipy.stats, name, None)
        for method in "pdf logpdf pmf logpmf cdf logcdf sf logsf ppf isf entropy".split() if module else ():
            f = getattr(module, method, None)
            if f is None:
                continue
            x = np.linspace(-0.1, 1.1, 13) if method in ("ppf", "isf") else domains.get(domain, np.array([-1, 0, 1, 2.0])) if isinstance(domain, str) else np.array([-1, 0, 1, 2.0])
            with_type = [np.asarray(p).astype(t) for p in parameters]
            if method == "entropy":
                yield f"scipy.stats.{name}.entropy/{t}", lambda f=f, with_type=with_type: f(*with_type), 20
                continue
            yield f"scipy.stats.{name}.{method}/{t}", lambda f=f, x=x, t=t, with_type=with_type: jax.jit(f)(jnp.asarray(x.astype(t)), *with_type), 40
            if name not in ("bernoulli", "binom", "geom", "nbinom", "poisson", "betabinom") and t in ("float32", "float64"):
                yield f"scipy.stats.{name}.{method}/{t}/loc", lambda f=f, x=x, t=t, with_type=with_type: f(jnp.asarray(x.astype(t)), *with_type, loc=0.5, scale=2.0), 40
                yield f"scipy.stats.{name}.{method}/{t}/grad", lambda f=f, x=x, t=t, with_type=with_type: jax.vmap(jax.grad(lambda v: f(v, *with_type)))(jnp.asarray(x[3:8].astype(t))), 100
    for t in ("float32", "float64"):
        x = lambda t=t: array(t, 6, 7)
        yield f"scipy.stats.multivariate_normal/{t}", lambda t=t: (jax.scipy.stats.multivariate_normal.logpdf(array(t, 4, 3), array(t, 3, salt=1), definite(t, 3)), jax.scipy.stats.multivariate_normal.pdf(array(t, 4, 3), array(t, 3, salt=1), 2.0)), 20
        yield f"scipy.stats.dirichlet/{t}", lambda t=t: jax.scipy.stats.dirichlet.logpdf(jnp.array([0.2, 0.3, 0.5], t), jnp.array([1.5, 2, 3], t)), 20
        yield f"scipy.stats.multinomial/{t}", lambda t=t: jax.scipy.stats.multinomial.logpmf(jnp.array([1, 2, 3]), 6, jnp.array([0.2, 0.3, 0.5], t)), 20
        for method in ("average", "min", "max", "dense", "ordinal"):
            yield f"scipy.stats.rankdata/{t}/{method}", lambda x=x, method=method: (jax.scipy.stats.rankdata(jnp.round(x()), method=method), jax.scipy.stats.rankdata(jnp.round(x()), method=method, axis=1))
        yield f"scipy.stats.mode/{t}", lambda x=x: (jax.scipy.stats.mode(jnp.round(x()), axis=0), jax.scipy.stats.mode(jnp.round(x()), axis=None, keepdims=True))
        yield f"scipy.stats.sem/{t}", lambda x=x: (jax.scipy.stats.sem(x()), jax.scipy.stats.sem(x(), axis=1, ddof=0, nan_policy="omit")), 10
        for bandwidth in (None, "silverman", 0.4):
            def kde(t=t, bandwidth=bandwidth):
                k = jax.scipy.stats.gaussian_kde(array(t, 2, 20), bw_method=bandwidth)
                return k(array(t, 2, 5)), k.logpdf(array(t, 2, 5)), k.integrate_gaussian(jnp.zeros(2, t), jnp.eye(2, dtype=t)), k.resample(random.key(0), (4,))
            yield f"scipy.stats.gaussian_kde/{t}/{bandwidth}", kde, 100


def special_cases():
    special = jax.scipy.special
    points = np.concatenate([np.linspace(-6, 6, 25), [0.01, 0.1, 0.99, 15, 40, 120, -15.5, 1e-6, 1e-20, 300, 1e6, np.inf, -np.inf, np.nan]])
    skipped = ("lpmn", "lpmn_values", "sph_harm", "sph_harm_y", "comb")
    for name, t in itertools.product(sorted(n for n in dir(special) if not n.startswith("_") and callable(getattr(special, n)) and n not in skipped), FLOATS):
        f = getattr(special, name)
        for count in (1, 2, 3, 4):
            def several(f=f, t=t, count=count):
                x = points.astype(t)
                rolled = [jnp.asarray(np.roll(np.abs(x) if i else x, 7 * i)) for i in range(count)]
                return jax.jit(f)(*rolled)
            yield f"scipy.special.{name}/{t}/{count}", several, 200 if t in ("float32", "float64") else 4
            if count < 4 and t in ("float32", "float64"):
                yield f"scipy.special.{name}/{t}/{count}/unit", lambda f=f, t=t, count=count: jax.jit(f)(*(array(t, 30, low=0.05, high=0.95, salt=i) for i in range(count))), 30
                yield f"scipy.special.{name}/{t}/{count}/grad", lambda f=f, t=t, count=count: jax.grad(lambda *a: f(*a).sum(), tuple(range(count)))(*(array(t, 20, low=0.05, high=0.95, salt=i) for i in range(count))), 200
                yield f"scipy.special.{name}/{t}/{count}/order", lambda f=f, t=t, count=count: f(*([jnp.arange(20) % 5] + [array(t, 20, low=0.5, high=5, salt=i) for i in range(1, count)])), 200
    for t in ("float32", "float64"):
        for n in (0, 1, 3, 6):
            yield f"scipy.special.bernoulli/{n}/{t}", lambda n=n: special.bernoulli(n), 10
            yield f"scipy.special.sph_harm_y/{n}/{t}", lambda n=n, t=t: special.sph_harm_y(jnp.array([n]), jnp.array([n // 2]), array(t, 1, low=0), array(t, 1, low=0, salt=1), n_max=n), 40
            yield f"scipy.special.multigammaln/{n}/{t}", lambda n=n, t=t: special.multigammaln(array(t, 9, low=6, high=12), n), 30
            yield f"scipy.special.polygamma/{n}/{t}", lambda n=n, t=t: special.polygamma(n, array(t, 9, low=0.3, high=12)), 60
            yield f"scipy.special.expn/{n}/{t}", lambda n=n, t=t: special.expn(n, array(t, 9, low=0.3, high=12)), 60


def scipy_cases():
    signal, ndimage = jax.scipy.signal, jax.scipy.ndimage
    for mode, t, method in itertools.product(("full", "same", "valid"), FLOATS + COMPLEX + ("int32",), ("auto", "direct", "fft")):
        yield f"scipy.signal.convolve/{mode}/{t}/{method}", lambda mode=mode, t=t, method=method: (signal.convolve(array(t, 9), array(t, 4), mode, method), signal.correlate(array(t, 4, 5), array(t, 3, 2), mode, method)), 10
        yield f"scipy.signal.convolve2d/{mode}/{t}", lambda mode=mode, t=t: (signal.convolve2d(array(t, 9, 8), array(t, 4, 3), mode), signal.correlate2d(array(t, 4, 5), array(t, 3, 2), mode), signal.fftconvolve(array(t, 4, 5), array(t, 3, 2), mode)), 10
    for t, kind in itertools.product(("float32", "float64", "complex64"), ("linear", "constant")):
        yield f"scipy.signal.detrend/{t}/{kind}", lambda t=t, kind=kind: (signal.detrend(array(t, 5, 20), type=kind), signal.detrend(array(t, 20, 3), axis=0, type=kind, bp=[7])), 20
    for t, segment, detrend, padded in itertools.product(("float32", "float64", "complex64"), (16, 17), (False, "constant"), (True, False)):
        x = lambda t=t: array(t, 2, 100)
        yield f"scipy.signal.spectra/{t}/{segment}/{detrend}/{padded}", lambda x=x, s=segment, d=detrend, p=padded: (signal.stft(x(), nperseg=s, detrend=d, padded=p), signal.welch(x(), nperseg=s, detrend=d), signal.csd(x(), x()[::-1], nperseg=s, detrend=d)), 20
    for t in ("float32", "float64"):
        yield f"scipy.signal.istft/{t}", lambda t=t: signal.istft(signal.stft(array(t, 100), nperseg=16)[2], nperseg=16), 20
    for t, order, mode in itertools.product(("float32", "float64", "int32", "uint8", "complex64"), (0, 1), ("constant", "nearest", "wrap", "mirror", "reflect")):
        yield f"scipy.ndimage.map_coordinates/{t}/{order}/{mode}", lambda t=t, order=order, mode=mode: ndimage.map_coordinates(array(t, 6, 7), [array("float32", 30, low=-9, high=15), array("float32", 30, low=-9, high=15, salt=1)], order, mode, cval=1), 20
    for t, method in itertools.product(("float32", "float64"), ("BFGS", "l-bfgs-experimental-do-not-rely-on-this")):
        yield f"scipy.optimize/{t}/{method}", lambda t=t, method=method: jax.scipy.optimize.minimize(lambda x: ((1 - x[:-1]) ** 2).sum() + (10 * (x[1:] - x[:-1] ** 2) ** 2).sum(), jnp.zeros(3, t), method=method).x, 500
    from jax.scipy.spatial.transform import Rotation, Slerp
    for t in ("float32", "float64"):
        q, w = (lambda t=t: array(t, 4, 4)), (lambda t=t: array(t, 4, 4, salt=3))
        def turns(q=q, w=w, t=t):
            a, b = Rotation.from_quat(q()), Rotation.from_quat(w())
            return [r.as_quat(canonical=True) for r in (a * b, a.inv(), b)] + [a.as_matrix(), a.as_rotvec(), a.as_mrp(), a.as_euler("xyz"), a.as_euler("ZYX", degrees=True), a.magnitude(), a.apply(array(t, 4, 3)), a.mean().as_matrix(),
                    Rotation.from_euler("xyz", array(t, 5, 3)).as_matrix(), Rotation.from_rotvec(array(t, 5, 3)).as_quat(canonical=True), Rotation.from_matrix(a.as_matrix()).as_matrix(), Rotation.from_mrp(array(t, 5, 3)).as_matrix(),
                    Slerp.init(jnp.arange(4.0, dtype=t), a)(jnp.linspace(0, 3, 7, dtype=t)).as_matrix()]
        yield f"scipy.spatial.rotation/{t}", turns, 100
    from jax.scipy.interpolate import RegularGridInterpolator
    for t, method, bounds in itertools.product(("float32", "float64", "complex64"), ("linear", "nearest"), (None, 3.0, jnp.nan)):
        yield f"scipy.interpolate/{t}/{method}/{bounds}", lambda t=t, method=method, bounds=bounds: RegularGridInterpolator((jnp.arange(4.0), jnp.array([0.0, 1, 3, 4, 9])), array(t, 4, 5), method=method, bounds_error=False, fill_value=bounds)(array("float32", 20, 2, low=-1, high=10)), 20
    for t in FLOATS:
        yield f"scipy.integrate/{t}", lambda t=t: (jax.scipy.integrate.trapezoid(array(t, 3, 8), axis=1), jax.scipy.integrate.trapezoid(array(t, 8), jnp.sort(array(t, 8, salt=1)))), 4
        yield f"scipy.cluster/{t}", lambda t=t: jax.scipy.cluster.vq.vq(array(t, 9, 3), array(t, 4, 3, salt=1)), 10
    for t, solver in itertools.product(("float32", "float64", "complex64", "complex128"), ("cg", "gmres", "bicgstab")):
        f = getattr(jax.scipy.sparse.linalg, solver)
        yield f"scipy.sparse.linalg.{solver}/{t}", lambda f=f, t=t: jax.jit(lambda a, b: f(lambda x: a @ x, b, tol=1e-6)[0])(definite(t, 6), array(t, 6)), 3000 if "64" in t and t != "float64" else 1e7
    yield "scipy.sparse.linalg.gmres/methods", lambda: [jax.scipy.sparse.linalg.gmres(definite("float32", 6), array("float32", 6), solve_method=m)[0] for m in ("batched", "incremental")], 1000


def sparse_cases():
    from jax.experimental import sparse
    dense = lambda t, *s, salt=0: jnp.where(jnp.asarray(numbers("bool", *s, salt=salt)), array(t, *s, salt=salt), 0)
    for t, batch, inner in itertools.product(("float32", "float64", "complex64", "int32", "float16"), (0, 1, 2), (0, 1)):
        s = (3, 4, 5)
        def round_trip(t=t, batch=batch, inner=inner, s=s):
            m = sparse.BCOO.fromdense(dense(t, *s), n_batch=batch, n_dense=inner)
            out = [m.data, m.indices, m.todense(), m.sum_duplicates().todense(), m.sum(2 if not inner else 0).todense() if batch + inner < 3 else 0, (m * 2).todense(), m.T.todense() if not batch and not inner else 0, (-m).todense(), m.astype(jnp.float32).todense() if t != "complex64" else 0]
            return out
        yield f"sparse.bcoo/{t}/{batch}/{inner}", round_trip, 4
    for t, a_batch in itertools.product(("float32", "float64", "complex64", "int32", "bfloat16"), (0, 1)):
        def products(t=t, a_batch=a_batch):
            a, b = dense(t, 3, 4, 5), dense(t, 3, 5, 6, salt=1)
            m, n = sparse.BCOO.fromdense(a, n_batch=a_batch), sparse.BCOO.fromdense(b, n_batch=a_batch)
            numbers_ = (((2,), (1,)), ((0,), (0,))) if a_batch else (((2,), (1,)), ((), ()))
            f = lambda m, b: sparse.bcoo_dot_general(m, b, dimension_numbers=numbers_)
            rows = sparse.BCOO.fromdense(a[0])
            out = [f(m, b), jax.jit(f)(m, b), f(m, n).todense(), rows @ b[0], a[0] @ sparse.BCOO.fromdense(b[0]), (rows @ sparse.BCOO.fromdense(b[0])).todense()]
            out.append(sparse.bcoo_dot_general_sampled(a[0], b[0], sparse.BCOO.fromdense(dense(t, 3, 6)).indices, dimension_numbers=(((1,), (0,)), ((), ()))))
            return out
        yield f"sparse.dot/{t}/{a_batch}", products, 8
    for t in ("float32", "float64", "complex64", "int32"):
        def shapes(t=t):
            m = sparse.BCOO.fromdense(dense(t, 4, 6))
            return [x.todense() for x in (m.reshape(3, 8), m[1], m[1:3, ::2], m[:, 2:3], m + m, m - 2 * m, m * dense(t, 4, 6, salt=2), sparse.bcoo_concatenate([m, m], dimension=0), sparse.bcoo_broadcast_in_dim(m, shape=(2, 4, 6), broadcast_dimensions=(1, 2)),
                    sparse.bcoo_squeeze(sparse.BCOO.fromdense(dense(t, 4, 1, 6)), dimensions=(1,)), sparse.bcoo_rev(m, dimensions=(0,)), sparse.bcoo_reduce_sum(m, axes=(1,)), sparse.bcoo_dynamic_slice(m, (1, 2), (2, 3)), sparse.bcoo_slice(m, [1, 0], [3, 6], [1, 2]), m.sort_indices(), sparse.bcoo_multiply_sparse(m, m), sparse.bcoo_update_layout(m, n_batch=1, on_inefficient=None), sparse.eye(4, dtype=t), sparse.bcoo_gather(m, jnp.array([[0], [2]]), jax.lax.GatherDimensionNumbers((1,), (0,), (0,)), (1, 6)) if hasattr(sparse, "bcoo_gather") else m)]
        yield f"sparse.shapes/{t}", shapes, 4
        def rows(t=t):
            a, b, v = dense(t, 5, 7), array(t, 7, 3), array(t, 7)
            out = []
            for kind in (sparse.BCSR, sparse.CSR, sparse.CSC, sparse.COO):
                m = kind.fromdense(a)
                out += [m.todense(), m @ b, m @ v, jax.jit(lambda m, b: m @ b)(m, b)]
                if kind is not sparse.BCSR:
                    out.append(m.T @ array(t, 5))
            batched = sparse.BCSR.fromdense(dense(t, 2, 5, 7), n_batch=1)
            return out + [batched.todense(), batched.to_bcoo().todense(), sparse.bcsr_dot_general(batched, array(t, 2, 7, 3), dimension_numbers=(((2,), (1,)), ((0,), (0,))))]
        yield f"sparse.rows/{t}", rows, 8
        yield f"sparse.sparsify/{t}", lambda t=t: [x.todense() if hasattr(x, "todense") else x for x in sparse.sparsify(lambda a, v: (a @ v, a.T @ a[:, 0].todense() if False else (a * 2), a.sum(), a + a))(sparse.BCOO.fromdense(dense(t, 5, 5)), array(t, 5))], 8
        yield f"sparse.while/{t}", lambda t=t: jax.jit(lambda m: jax.lax.fori_loop(0, 3, lambda i, m: sparse.BCOO((m.data * 2, m.indices), shape=m.shape), m))(sparse.BCOO.fromdense(dense(t, 5, 5))).todense()
    for t in ("float32", "float64", "complex64"):
        def gradients(t=t):
            m, v = sparse.BCOO.fromdense(dense(t, 5, 5)), array(t, 5)
            f = lambda data, v: jnp.abs(sparse.BCOO((data, m.indices), shape=m.shape) @ v).sum()
            return jax.grad(f, (0, 1))(m.data, v), jax.vmap(lambda v: m @ v)(array(t, 3, 5)), sparse.grad(lambda m, v: jnp.abs(m @ v).sum())(m, v).todense(), jax.jvp(lambda d: sparse.BCOO((d, m.indices), shape=m.shape).todense(), (m.data,), (m.data,))
        yield f"sparse.grad/{t}", gradients, 8
    for t in ("float32", "float64"):
        def solve(t=t):
            m = sparse.BCSR.fromdense(definite(t, 6))
            return sparse.linalg.spsolve(m.data, m.indices, m.indptr, array(t, 6)), jax.grad(lambda b: sparse.linalg.spsolve(m.data, m.indices, m.indptr, b).sum())(array(t, 6))
        yield f"sparse.spsolve/{t}", solve, 100
        yield f"sparse.lobpcg/{t}", lambda t=t: sparse.linalg.lobpcg_standard(definite(t, 60), random.normal(random.key(1), (60, 3), t), m=40)[0], 100
    yield "sparse.random", lambda: (sparse.random_bcoo(random.key(1), (5, 6), nse=0.4).todense(), sparse.random_bcoo(random.key(1), (5, 6), nse=0.4, sorted_indices=True).indices)


def cases():
    for part in (nn_cases, fft_cases, random_cases, statistics_cases, special_cases, scipy_cases, sparse_cases):
        yield from part()
# SPDX-License-Identifier: Apache-2.0
