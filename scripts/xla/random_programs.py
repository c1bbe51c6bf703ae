"""Random JAX programs, each the same for a seed: arrays are moved, computed on, reduced, sorted and taken through loops.

A value whose bits follow from the inputs alone (moved, compared, integers) is exact; only such values are compared, sorted or
made integers of, since elsewhere a difference in rounding would choose. Floats stay around one."""
import random

import jax
import jax.numpy as jnp
import numpy
from jax import lax

SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 43, 48, 63, 64, 65, 96, 100, 127, 128, 129, 130, 255, 256, 257,
         511, 512, 513, 1024, 1025] + 3 * [16, 32, 64, 128, 256, 512]  # rows of 2^k are taken modulo by masks
LARGEST = 30000  # elements of an array
TYPES = ["float32"] * 6 + ["bfloat16", "float16", "float64", "int32", "int32", "int8", "uint8", "int16", "uint16", "int64", "uint32"]


def is_float(x):
    return jnp.issubdtype(x.dtype, jnp.floating)


class Value:
    def __init__(self, x, exact):
        self.x, self.exact = x, exact or not is_float(x)


class Program:
    """The values of one program while it is traced; `choose` decides, the same each time."""

    def __init__(self, seed):
        self.choose, self.values = random.Random(seed), []

    # What steps ask for.
    def any(self, test=lambda v: True, rank=0):
        fitting = [v for v in self.values if v.x.ndim >= rank and v.x.size > 0 and test(v)]
        # late ones more often, so that chains grow
        return fitting[max(self.choose.randrange(len(fitting)), self.choose.randrange(len(fitting)))] if fitting else None

    def axis(self, x):
        return self.choose.randrange(x.ndim)

    def keep(self, x, exact):
        if x.size <= LARGEST and x.ndim <= 5 and not jnp.issubdtype(x.dtype, jnp.complexfloating):
            self.values.append(Value(x, exact))

    def like(self, v):
        """A value of the shape and type of `v`."""
        same = [w for w in self.values if w.x.shape == v.x.shape and w.x.dtype == v.x.dtype]
        return self.choose.choice(same)

    def exact_positions(self, count, limit):
        return jnp.asarray([self.choose.randrange(-1, limit + 1) for _ in range(count)], dtype=jnp.int32)

    # Movements.
    def roll(self):
        v = self.any(rank=1)
        axis = self.axis(v.x)
        self.keep(jnp.roll(v.x, self.choose.randrange(-70, 70), axis), v.exact)

    def tile(self):
        v = self.any(lambda v: v.x.size <= 4096)
        if v is None:
            return
        self.keep(jnp.tile(v.x, [self.choose.randrange(1, 5) for _ in range(max(1, v.x.ndim))]), v.exact)

    def periodic(self):
        """Every n-th element of what is repeated, which compilers read at positions modulo its length."""
        v = self.any(lambda v: v.x.size <= 4096, rank=1)
        if v is None:
            return
        x = jnp.tile(v.x, self.choose.randrange(2, 8)) if self.choose.random() < 0.7 else jnp.repeat(v.x, 3, axis=-1)
        if self.choose.random() < 0.3:
            x = jnp.flip(x, -1)
        self.keep(x[..., self.choose.choice([0, 0, 0, 1, 2])::self.choose.randrange(2, 10)], v.exact)

    def repeat(self):
        v = self.any(lambda v: v.x.size <= 8192, rank=1)
        if v is not None:
            self.keep(jnp.repeat(v.x, self.choose.randrange(2, 4), axis=self.axis(v.x)), v.exact)

    def strided(self):
        v = self.any(rank=1)
        index = []
        for n in v.x.shape:
            step = self.choose.choice([1, 1, 2, 3, 3, 4, 5, 6, 7, 8, 9, 11])
            start = self.choose.choice([0, self.choose.randrange(0, max(1, n // 2))])
            index.append(slice(start, n, step if n > step else 1))
        self.keep(v.x[tuple(index)], v.exact)

    def reverse(self):
        v = self.any(rank=1)
        self.keep(jnp.flip(v.x, self.axis(v.x)), v.exact)

    def transpose(self):
        v = self.any(rank=2)
        if v is None:
            return
        order = list(range(v.x.ndim))
        self.choose.shuffle(order)
        self.keep(jnp.transpose(v.x, order), v.exact)

    def reshape(self):
        v = self.any(rank=1)
        shape, rest = [], v.x.size
        for _ in range(self.choose.randrange(0, 4)):
            divisors = [d for d in range(2, min(rest, 600) + 1) if rest % d == 0]
            if not divisors:
                break
            shape.append(self.choose.choice(divisors))
            rest //= shape[-1]
        shape.insert(self.choose.randrange(len(shape) + 1), rest)
        self.keep(v.x.reshape(shape), v.exact)

    def pad(self):
        v = self.any(rank=1)
        padding = [(self.choose.randrange(-2 if n > 5 else 0, 4), self.choose.randrange(-2 if n > 5 else 0, 4),
                    self.choose.choice([0, 0, 0, 1, 2])) for n in v.x.shape]
        self.keep(lax.pad(v.x, jnp.asarray(1, v.x.dtype), padding), v.exact)

    def concatenate(self):
        v = self.any(rank=1)
        axis = self.axis(v.x)
        parts = [v] + [w for w in self.values if w.x.ndim == v.x.ndim and w.x.dtype == v.x.dtype and
                       all(a == b for d, (a, b) in enumerate(zip(w.x.shape, v.x.shape)) if d != axis)]
        parts = [self.choose.choice(parts) for _ in range(self.choose.randrange(2, 6))]
        self.keep(jnp.concatenate([p.x for p in parts], axis), all(p.exact for p in parts))

    def broadcast(self):
        v = self.any(lambda v: v.x.size <= 2048)
        if v is None:
            return
        shape = [self.choose.choice([2, 3, 5, 8, 16])] + list(v.x.shape)
        order = list(range(len(shape)))
        self.choose.shuffle(order)
        self.keep(jnp.transpose(jnp.broadcast_to(v.x, shape), order), v.exact)

    def take(self):
        v = self.any(rank=1)
        axis = self.axis(v.x)
        n = v.x.shape[axis]
        if self.choose.random() < 0.3:  # positions that grow, in few bits
            at = (jnp.arange(self.choose.choice([40, 100, 200, 300]), dtype=self.choose.choice([jnp.uint8, jnp.int32])) *
                  self.choose.choice([2, 3, 5, 7])) % min(n, 255)
        else:
            at = self.exact_positions(self.choose.choice([1, 3, 8, 17, 40]), n)
        wraps = n < 256 and self.choose.random() < 0.5  # whose arithmetic is in the type of the positions
        self.keep(jnp.take(v.x, at, axis, mode="wrap" if wraps else "clip"), v.exact)

    def dynamic_slice(self):
        v = self.any(rank=1)
        sizes = [self.choose.randrange(1, n + 1) for n in v.x.shape]
        starts = list(self.exact_positions(v.x.ndim, max(v.x.shape)))
        self.keep(lax.dynamic_slice(v.x, starts, sizes), v.exact)

    def update(self):
        v = self.any(rank=1)
        part = v.x[tuple(slice(0, self.choose.randrange(1, n + 1)) for n in v.x.shape)]
        starts = list(self.exact_positions(v.x.ndim, max(v.x.shape)))
        # computed before: XLA's own update in place reads elements that it has written (docs/differences.md)
        part = lax.optimization_barrier(-part if v.x.dtype != bool else part)
        self.keep(lax.dynamic_update_slice(v.x, part, starts), v.exact)

    def scatter(self):
        v = self.any(rank=1)
        n = v.x.shape[0]
        at = jnp.asarray(self.choose.sample(range(n), self.choose.randrange(1, min(n, 30) + 1)), dtype=jnp.int32)
        how = self.choose.choice(["set", "add", "max"])
        update = v.x[:at.shape[0]]
        self.keep(getattr(v.x.at[at], how)(update), v.exact and how != "add")

    def triangle(self):
        v = self.any(rank=2)
        if v is not None:
            self.keep(self.choose.choice([jnp.tril, jnp.triu])(v.x, self.choose.randrange(-3, 4)), v.exact)

    def iota_mask(self):
        v = self.any(rank=1)
        at = lax.broadcasted_iota(jnp.int32, v.x.shape, self.axis(v.x))
        mask = at % self.choose.randrange(2, 9) == 0 if self.choose.random() < 0.5 else at < self.choose.choice(SIZES)
        self.keep(jnp.where(mask, v.x, jnp.asarray(0, v.x.dtype)), v.exact)

    # Arithmetic.
    def unary(self):
        v = self.any()
        if is_float(v.x):
            f = self.choose.choice([jnp.tanh, jnp.sin, jnp.cos, lax.logistic, jnp.negative, jnp.abs, lambda x: jnp.exp(-x * x),
                                    lambda x: jnp.sqrt(x * x + 1), lambda x: jnp.log1p(x * x), jnp.arctan, lax.erf, jax.nn.gelu,
                                    jax.nn.silu, lambda x: 1 / (1 + x * x), lambda x: lax.rsqrt(x * x + 0.5), jnp.cbrt, jnp.square])
            exact = f in (jnp.negative, jnp.abs)
            y = f(v.x)
            self.keep(y if exact or f is not jnp.square else jnp.clip(y, 0, 4), v.exact and exact)
        elif v.x.dtype != bool:
            f = self.choose.choice([jnp.negative, jnp.abs, jnp.bitwise_not, lax.population_count, lambda x: x * 3 + 1,
                                    lambda x: x // 3, lambda x: x % 5, lambda x: x >> 1, jnp.sign, lax.clz])
            self.keep(f(v.x), True)

    def binary(self):
        v = self.any(lambda v: v.x.dtype != bool)
        w = self.like(v)
        if is_float(v.x):
            f = self.choose.choice([jnp.add, jnp.subtract, jnp.multiply, jnp.maximum, jnp.minimum,
                                    lambda a, b: a / (1 + b * b), jnp.arctan2, lambda a, b: jnp.hypot(a, b)])
            exact = f in (jnp.maximum, jnp.minimum)
            y = f(v.x, w.x)
            self.keep(y if exact else jnp.clip(y, -4, 4), exact and v.exact and w.exact)
        else:
            f = self.choose.choice([jnp.add, jnp.subtract, jnp.multiply, jnp.maximum, jnp.bitwise_xor, jnp.bitwise_and,
                                    lambda a, b: a // (b * b % 7 + 1), lambda a, b: a << (b & 3)])
            self.keep(f(v.x, w.x), True)

    def spread(self):
        """An operation of an array and a line along one of its dimensions."""
        v = self.any(lambda v: v.x.dtype != bool, rank=1)
        axis = self.axis(v.x)
        line = lax.index_in_dim(v.x, 0, axis, keepdims=True)
        self.keep((v.x - line) * jnp.asarray(0.5 if is_float(v.x) else 3, v.x.dtype), not is_float(v.x))

    def select(self):
        v = self.any(lambda v: v.exact and v.x.dtype != bool)
        if v is not None:
            w = self.like(v)
            self.keep(jnp.where(v.x > w.x, v.x, -w.x), v.exact and w.exact)

    def convert(self):
        v = self.any()
        if is_float(v.x):
            to = self.choose.choice(["float32", "bfloat16", "float16", "float64"])
            self.keep(v.x.astype(to), False)
        else:
            to = self.choose.choice(["float32", "float32", "int32", "int8", "uint8", "int64", "uint16"])
            y = v.x.astype(to)
            self.keep(y % 8 * jnp.float32(0.125) if is_float(y) else y, True)

    # Reductions and products.
    def reduce(self):
        v = self.any(rank=1)
        axes = tuple(d for d in range(v.x.ndim) if self.choose.random() < 0.5) or (v.x.ndim - 1,)
        keepdims = self.choose.random() < 0.3
        f = self.choose.choice([jnp.mean, jnp.max, jnp.min] if is_float(v.x) else [jnp.sum, jnp.max, jnp.min, jnp.any, jnp.all])
        self.keep(f(v.x, axis=axes, keepdims=keepdims), v.exact and f is not jnp.mean)

    def argmax(self):
        v = self.any(lambda v: v.exact, rank=1)
        if v is not None:
            self.keep(self.choose.choice([jnp.argmax, jnp.argmin])(v.x, axis=self.axis(v.x)), True)

    def rows(self):
        v = self.any(lambda v: is_float(v.x), rank=1)
        if v is None:
            return
        axis = self.axis(v.x)
        f = self.choose.choice([jax.nn.softmax, jax.nn.logsumexp, jnp.cumsum, lax.cummax, jnp.var,
                                lambda x, axis: (x - jnp.mean(x, axis, keepdims=True)) *
                                lax.rsqrt(jnp.var(x, axis, keepdims=True) + 0.1)])
        y = f(v.x, axis=axis)
        self.keep(y / y.shape[axis] if f is jnp.cumsum else y, v.exact and f is lax.cummax)

    def dot(self):
        v = self.any(lambda v: is_float(v.x), rank=2)
        if v is None:
            return
        m, k = v.x.shape[-2:]
        right = jnp.swapaxes(v.x, -1, -2) if self.choose.random() < 0.5 else jnp.ones((k, self.choose.choice([1, 3, 8, 17, 64])), v.x.dtype)
        if v.x.size // k * right.shape[-1] <= LARGEST:
            self.keep(jnp.matmul(v.x, right) / k, False)

    def window(self):
        v = self.any(lambda v: v.exact and v.x.dtype in (jnp.float32, jnp.int32), rank=1)
        if v is None:
            return
        sizes = [min(n, self.choose.choice([1, 1, 2, 3])) for n in v.x.shape]
        strides = [self.choose.choice([1, 1, 2, 3]) for _ in sizes]
        low = -jnp.inf if is_float(v.x) else -2**31
        self.keep(lax.reduce_window(v.x, jnp.asarray(low, v.x.dtype), lax.max, sizes, strides,
                                    self.choose.choice(["VALID", "SAME"])), True)

    def convolve(self):
        v = self.any(lambda v: v.x.dtype == jnp.float32 and v.x.shape[-1] <= 600, rank=2)
        if v is None:
            return
        x = v.x.reshape(-1, 1, v.x.shape[-1])
        kernel = jnp.asarray([[[0.5, -0.25, 0.125]]], x.dtype)
        self.keep(lax.conv_general_dilated(x, kernel, [self.choose.choice([1, 2])], [(1, 2)]).reshape(-1), False)

    # Order.
    def sort(self):
        v = self.any(lambda v: v.exact and v.x.dtype != bool, rank=1)
        if v is None:
            return
        axis = self.axis(v.x)
        if self.choose.random() < 0.5:
            self.keep(lax.sort(v.x, dimension=axis), True)
            return
        keys, places = lax.sort((v.x, lax.broadcasted_iota(jnp.int32, v.x.shape, axis)), dimension=axis, num_keys=1, is_stable=True)
        self.keep(keys, True)
        self.keep(places, True)

    def top(self):
        v = self.any(lambda v: v.exact and v.x.dtype in (jnp.float32, jnp.int32), rank=1)
        if v is not None:
            values, places = lax.top_k(v.x, self.choose.randrange(1, min(v.x.shape[-1], 20) + 1))
            self.keep(values, True)
            self.keep(places, True)

    # Control flow.
    def scan(self):
        v = self.any(lambda v: is_float(v.x) and v.x.shape[0] <= 70, rank=2)
        if v is None:
            return
        shift = self.choose.randrange(0, 4)
        last, all_ = lax.scan(lambda c, x: (jnp.tanh(c * 0.5 + jnp.roll(x, shift)), c - x), jnp.zeros_like(v.x[0]), v.x)
        self.keep(last, False)
        self.keep(all_, False)

    def loop(self):
        v = self.any(rank=1)
        trips, shift = self.choose.randrange(0, 6), self.choose.randrange(1, 9)
        order = list(range(v.x.ndim))[::-1]

        def body(i, x):
            x = jnp.roll(x, shift, -1)
            return x.at[0].set(x[-1]) if self.choose_in_loop else jnp.transpose(jnp.transpose(jnp.flip(x, 0), order), order)
        self.choose_in_loop = self.choose.random() < 0.5
        self.keep(lax.fori_loop(0, trips, body, v.x), v.exact)

    def until(self):
        v = self.any(lambda v: v.x.dtype == jnp.int32, rank=1)
        if v is None:
            return
        state = lax.while_loop(lambda s: s[0] < 20, lambda s: (s[0] + 1 + jnp.abs(s[1].ravel()[0]) % 5, s[1] * 5 + s[0]),
                               (jnp.int32(0), v.x))
        self.keep(state[1], True)

    def branch(self):
        v = self.any(rank=1)
        which = jnp.int32(self.choose.randrange(-1, 4)) + 0 * jnp.sum(v.x != v.x, dtype=jnp.int32)
        axis = self.axis(v.x)
        self.keep(lax.switch(which, [lambda x: jnp.flip(x, axis), lambda x: jnp.roll(x, 3, axis), lambda x: x + x], v.x), False)

    STEPS = dict(roll=2, tile=4, periodic=5, repeat=2, strided=6, reverse=3, transpose=4, reshape=5, pad=4, concatenate=4, broadcast=2, take=3,
                 dynamic_slice=2, update=3, scatter=2, triangle=2, iota_mask=2, unary=5, binary=5, spread=2, select=2, convert=3,
                 reduce=4, argmax=1, rows=3, dot=3, window=2, convolve=1, sort=2, top=1, scan=1, loop=2, until=1, branch=1)


def inputs(seed):
    """The arguments of the program, as numpy arrays."""
    choose, numbers = random.Random(seed), numpy.random.default_rng(seed)
    kind, arrays = jnp.dtype(choose.choice(TYPES)), []
    for _ in range(choose.randrange(1, 4)):
        while True:
            shape = [choose.choice(SIZES) for _ in range(choose.choice([1, 1, 2, 2, 2, 3, 4]))]
            if numpy.prod(shape) <= LARGEST // 2:
                break
        if jnp.issubdtype(kind, jnp.floating):
            arrays.append(numbers.uniform(-1, 1, shape).astype(kind))
        else:
            arrays.append(numbers.integers(0 if kind.kind == "u" else -9, 10, shape).astype(kind))
    return arrays


def program(seed, exact):
    """A function of inputs(seed). `exact` gets, once it has been traced, whether each result is."""
    def run(*arguments):
        p = Program(seed + 1)
        for x in arguments:
            p.keep(x, True)
        for _ in range(p.choose.randrange(4, 12)):
            getattr(p, p.choose.choices(list(Program.STEPS), list(Program.STEPS.values()))[0])()
        made = p.values[len(arguments):]
        results = made[-1:] + p.choose.sample(made[:-1], min(2, max(0, len(made) - 1)))
        exact[:] = [v.exact for v in results]
        return [v.x for v in results]
    return run


def derivative(run, exact):
    """The gradients of `run` with respect to its float arguments; `run` itself where it has none."""
    def made(*arguments):
        place = [k for k, x in enumerate(arguments) if is_float(x)]

        def of_floats(*floats):
            whole = list(arguments)
            for k, x in zip(place, floats):
                whole[k] = x
            return [x for x in run(*whole) if is_float(x)]
        results, back = jax.vjp(of_floats, *[arguments[k] for k in place])
        if not place or not results:
            return run(*arguments)
        found = back([jnp.cos(jnp.arange(x.size, dtype=jnp.float32)).reshape(x.shape).astype(x.dtype) for x in results])
        exact[:] = [False] * len(found)
        return list(found)
    return made


def batched(run, exact):
    """`run` on three rows: the arguments, the same in reverse order, and both mixed."""
    del exact  # a row is as exact as the whole

    def made(*arguments):
        def rows(x):
            back = jnp.flip(x)
            return jnp.stack([x, back, jnp.where(jnp.arange(x.size).reshape(x.shape) % 3 == 0, x, back)])
        return jax.vmap(run)(*map(rows, arguments))
    return made


FORMS = {"plain": lambda run, exact: run, "derivative": derivative, "batched": batched}
# SPDX-License-Identifier: Apache-2.0
