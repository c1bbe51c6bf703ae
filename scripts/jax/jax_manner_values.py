"""Values that the cases of jax_manner.py take: the same in every run, of every type of JAX.

Subnormal numbers are left out: XLA counts them as zero here and there, by the instruction that it finds.

Example: array("float16", 3, 4) is a 3 x 4 array in [-2, 2]; edges("float32") holds zeros, infinities, NaN and halves.
"""
import zlib

import jax.numpy as jnp
import numpy as np

FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NARROW = ("int4", "uint4")
FLOAT8 = ("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
          "float8_e8m0fnu", "float4_e2m1fn")
ALL = FLOATS + COMPLEX + INTEGERS + NARROW + FLOAT8 + ("bool",)


def is_integer(dtype):
    return jnp.issubdtype(jnp.dtype(dtype), jnp.integer)


def numbers(dtype, *shape, low=-2.0, high=2.0, salt=0):
    """A numpy array; integers lie in [-5, 5], or from 0."""
    wanted = jnp.dtype(dtype)
    rng = np.random.default_rng(zlib.crc32(f"{dtype}{shape}{low}{high}{salt}".encode()))
    if wanted == bool:
        return rng.integers(0, 2, shape).astype(bool)
    if is_integer(wanted):
        info = jnp.iinfo(wanted)
        lowest = max(int(info.min), -5) if low < 0 else 0
        return rng.integers(lowest, min(int(info.max), 5) + 1, shape).astype(np.int64).astype(wanted)
    values = rng.uniform(low, high, shape)
    if jnp.issubdtype(wanted, jnp.complexfloating):
        values = values + 1j * rng.uniform(low, high, shape)
    if wanted.name == "float8_e8m0fnu":
        values = np.abs(values)
    return np.asarray(values).astype(wanted)


def array(dtype, *shape, **options):
    return jnp.asarray(numbers(dtype, *shape, **options))


def definite(dtype, n, batch=()):
    """Hermitian, positive definite, with distinct eigenvalues."""
    a = numbers(dtype, *batch, n, n)
    wide = a.astype(np.complex128 if "complex" in dtype else np.float64)
    return jnp.asarray((wide @ np.swapaxes(wide.conj(), -1, -2) + np.diag(np.arange(n) + 1.0)).astype(dtype))


def edges(dtype):
    """The values at which functions go wrong, then some in between. One dimension."""
    wanted = jnp.dtype(dtype)
    if wanted == bool:
        return np.array([False, True])
    if is_integer(wanted):
        info = jnp.iinfo(wanted)
        low, high = int(info.min), int(info.max)
        every = {low, low + 1, low // 2, -3, -2, -1, 0, 1, 2, 3, 5, 7, 31, 33, high // 3, high - 1, high}
        inside = sorted(v for v in every if low <= v <= high)
        return np.array(inside, np.uint64 if low == 0 else np.int64).astype(wanted)
    part = {"complex64": "float32", "complex128": "float64"}.get(dtype, dtype)
    info = jnp.finfo(part)
    largest, step = float(info.max), float(info.eps)
    values = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 0.1, -0.1, 10.0, -10.0, np.pi, 1e-3, 100.25, float(info.tiny),
              largest, -largest, 1 + step, 1 - step, np.inf, -np.inf, np.nan]
    if part == dtype:
        with np.errstate(all="ignore"):
            return np.array(values).astype(wanted)
    some = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-3, 10.0, largest, np.inf, -np.inf, np.nan]
    return np.array([complex(a, b) for a in some for b in some]).astype(wanted)


def pairs(dtype):
    """All pairs of edge values, as two arrays."""
    values = edges(dtype)[::5] if "complex" in dtype else edges(dtype)
    return jnp.asarray(np.repeat(values, len(values))), jnp.asarray(np.tile(values, len(values)))
# SPDX-License-Identifier: Apache-2.0
