"""Operands for ptx_hardware.py: pools of 64-bit words by kind, 16 slots of 64 rounds of 32 lanes each.

Scalars: special values, values near one, random bits; the second and third slot often nearly cancel the first. Elements of products come in four
profiles (small integers, normal, of many magnitudes, with specials), by round, or by eighth of the pool where a pool is tiles of shared memory.
"""
import zlib
import numpy as np

SLOTS, ROUNDS, LANES = 16, 64, 32
POOL_BYTES = SLOTS * ROUNDS * LANES * 8
E32 = [0, 1, 0x7FFFFF, 0x800000, 0x800001, 0x3F800000, 0x3F800001, 0x3F7FFFFF, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x7F800001, 0x3F000000, 0x3FC00000,
       0x40200000, 0x4EFFFFFF, 0x4F000000, 0x4F7FFFFF, 0x4F800000, 0x5F000000, 0x5EFFFFFF, 0x5F800000, 0x477FE000, 0x477FF000, 0x477FEFFF, 0x33000000,
       0x33000001, 0x33800000, 0x387FE000, 0x43E00000, 0x43E80000, 0x47600000, 0x47700000, 0x437F0000, 0x43008000, 0x0D000000, 0x7F7F8000, 0x40490FDB,
       0x42FC0000, 0x43000000, 0x43160000, 0x42AEAC50]
EINT = [0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFF, 0x800000, 0xFFFFFF, 0x7FFFFFFF,
        0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 0x80000001, 0xAAAAAAAA, 0x55555555, 0x80008000, 0x7FFF7FFF, 0x80808080, 0x7F7F7F7F]


def half_special(rng, n):
    edge = np.array([0, 1, 0x3FF, 0x400, 0x3C00, 0x7BFF, 0x7C00, 0x7E00, 0x7C01, 0x3E00, 0x7F, 0x80, 0x3F80, 0x7F80, 0x7FC0, 0x7F7F, 0x7F81, 2, 0x4248, 0x4049,
                     0x3555, 0x2000, 0x5800, 0x63FF], np.uint32)
    pick = rng.integers(0, 4, n)
    value = rng.integers(0, 1 << 16, n, dtype=np.uint32)
    near = 0x3C00 + rng.integers(-2048, 2048, n)
    edges = edge[rng.integers(0, len(edge), n)] | rng.integers(0, 2, n).astype(np.uint32) << 15
    return np.where(pick == 0, edges, np.where(pick == 1, near | rng.integers(0, 2, n) << 15, value)).astype(np.uint32)


def round_to(value, kind):
    """Bits of f32 values as f16 or bf16, cut."""
    if kind == "f16":
        with np.errstate(over="ignore"):
            return value.astype(np.float16).view(np.uint16).astype(np.uint32)
    return value.astype(np.float32).view(np.uint32) >> 16


def scalar_pool(kind, rng):
    n = SLOTS * ROUNDS * LANES
    shape = (SLOTS, ROUNDS * LANES)
    if kind in ("f16", "bf16"):
        halves = [half_special(rng, n) for _ in range(4)]
        out = sum(h.astype(np.uint64) << np.uint64(16 * i) for i, h in enumerate(halves)).reshape(shape)
    elif kind == "f32":
        words = []
        for _ in range(2):
            pick = rng.integers(0, 5, n)
            edges = np.array(E32, np.uint32)[rng.integers(0, len(E32), n)] | rng.integers(0, 2, n).astype(np.uint32) << 31
            bits = rng.integers(0, 1 << 32, n, dtype=np.uint32)
            near = 0x3F800000 + rng.integers(-(1 << 26), 1 << 26, n) | rng.integers(0, 2, n) << 31
            ints = (rng.integers(-300, 300, n) * 0.5).astype(np.float32).view(np.uint32)
            words.append(np.select([pick == 0, pick == 1, pick == 2], [edges, near, ints], bits).astype(np.uint32))
        out = (words[0].astype(np.uint64) | words[1].astype(np.uint64) << np.uint64(32)).reshape(shape)
        close = rng.integers(0, 4, shape[1]) == 0  # operands that cancel, almost
        low = out[0] & np.uint64(0xFFFFFFFF)
        for s in (1, 2):
            turned = (low + rng.integers(0, 4, shape[1]).astype(np.uint64)) ^ np.uint64(0x80000000)
            out[s] = np.where(close, (out[s] & np.uint64(0xFFFFFFFF00000000)) | (turned & np.uint64(0xFFFFFFFF)), out[s])
    elif kind == "f64":
        edge = np.array([0, 1, 0xFFFFFFFFFFFFF, 0x10000000000000, 0x3FF0000000000000, 0x3FF0000000000001, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000,
                         0x7FF8000000000000, 0x7FF0000000000001, 0x47EFFFFFE0000000, 0x47EFFFFFF0000000, 0x380FFFFFFFFFFFFF, 0x36A0000000000000,
                         0x41DFFFFFFFC00000, 0x41E0000000000000, 0x41EFFFFFFFE00000, 0x43E0000000000000, 0x43F0000000000000, 0x3FE0000000000000,
                         0x4004000000000000, 0x40EFFFC000000000, 0x40EFFE0000000000, 0x3E70000000000000], np.uint64)
        pick = rng.integers(0, 5, n)
        bits = rng.integers(0, 1 << 64, n, dtype=np.uint64)
        edges = edge[rng.integers(0, len(edge), n)]
        near = np.uint64(0x3FF0000000000000) + rng.integers(0, 1 << 58, n, dtype=np.uint64) - np.uint64(1 << 57)
        ints = (rng.integers(-300, 300, n) * 0.5).view(np.uint64)
        with np.errstate(invalid="ignore"):
            f32 = rng.integers(0, 1 << 31, n, dtype=np.uint32).view(np.float32).astype(np.float64).view(np.uint64)
        out = np.select([pick == 0, pick == 1, pick == 2, pick == 3], [edges, near, ints, f32], bits)
        out = (out ^ (rng.integers(0, 2, n, dtype=np.uint64) << np.uint64(63))).reshape(shape)
        close = rng.integers(0, 4, shape[1]) == 0
        for s in (1, 2):
            out[s] = np.where(close, (out[0] + rng.integers(0, 4, shape[1]).astype(np.uint64)) ^ np.uint64(1 << 63), out[s])
    else:
        words = []
        for _ in range(2):
            pick = rng.integers(0, 3, n)
            edges = np.array(EINT, np.uint32)[rng.integers(0, len(EINT), n)]
            small = (rng.integers(-70, 70, n) & 0xFFFFFFFF).astype(np.uint32)
            words.append(np.select([pick == 0, pick == 1], [edges, small], rng.integers(0, 1 << 32, n, dtype=np.uint32)).astype(np.uint32))
        out = (words[0].astype(np.uint64) | words[1].astype(np.uint64) << np.uint64(32)).reshape(shape)
    return out.reshape(-1)


def f8_bits(value, kind):
    """Bits of values as e4m3 or e5m2, cut to what they hold."""
    mantissa, bias, top = (3, 7, 0x7E) if kind == "e4m3" else (2, 15, 0x7B)
    magnitude = np.minimum(np.abs(value), 448.0 if kind == "e4m3" else 57344.0)
    exponent = np.maximum(np.floor(np.log2(np.maximum(magnitude, 1e-30))), 1 - bias)
    steps = np.floor(magnitude / 2.0**(exponent - mantissa)).astype(np.int64)
    bits = np.where(steps >= 1 << mantissa, ((exponent + bias).astype(np.int64) << mantissa) + steps - (1 << mantissa), steps)
    return (np.minimum(bits, top) | (value < 0) << 7).astype(np.uint32)


def product_words(kind, rng, profile, n):
    """n 32-bit words of elements. Profiles: 0 small integers, 1 normal, 2 of many magnitudes, 3 random bits of finite values, specials now and then."""
    per = {"f16": 2, "bf16": 2, "f32": 1, "tf32": 1, "e4m3": 4, "e5m2": 4}.get(kind)
    if kind == "s8":
        bits = rng.integers(0, 1 << 32, n, dtype=np.uint32)
        return bits if profile else bits & np.uint32(0x03030303)
    if kind == "s32":
        return [rng.integers(0, 8, n).astype(np.uint32), rng.integers(0, 1 << 32, n, dtype=np.uint32),
                (0x7FFFFFFF - rng.integers(0, 1 << 16, n)).astype(np.uint32), (0x80000000 + rng.integers(0, 1 << 16, n)).astype(np.uint32)][profile]
    m = n * per
    if profile == 0:
        value = rng.integers(-4, 5, m).astype(np.float64)
    elif profile == 1:
        value = rng.random(m) + rng.random(m) + rng.random(m) - 1.5
    else:
        spread = {"f16": 10, "bf16": 20, "f32": 20, "tf32": 20, "e4m3": 6, "e5m2": 10}[kind]
        value = (rng.random(m) + 1) * 2.0**rng.integers(-spread, spread + 1, m) * rng.choice([-1.0, 1.0], m)
        if profile == 3:
            value = np.where(rng.random(m) < 0.3, value * 2.0**rng.integers(-16, 6, m), value)
    if kind in ("f16", "bf16"):
        bits = round_to(value.astype(np.float32), kind)
        if profile == 3:
            odd = np.array([0x7C00, 0xFC00, 0x7E00, 0x0001, 0x83FF, 0] if kind == "f16" else [0x7F80, 0xFF80, 0x7FC0, 0x0001, 0x807F, 0], np.uint32)
            bits = np.where(rng.random(m) < 0.004, odd[rng.integers(0, 6, m)], bits)
        return bits[0::2] | bits[1::2] << 16
    if kind in ("e4m3", "e5m2"):
        bits = f8_bits(value, kind)
        if profile == 3:
            odd = np.array([0x7F, 0xFF, 0, 1, 0x81] if kind == "e4m3" else [0x7C, 0xFC, 0x7E, 1, 0x81], np.uint32)
            bits = np.where(rng.random(m) < 0.002, odd[rng.integers(0, 5, m)], bits)
        return bits[0::4] | bits[1::4] << 8 | bits[2::4] << 16 | bits[3::4] << 24
    bits = value.astype(np.float32).view(np.uint32)
    if kind == "tf32":  # the lower 13 bits are noise
        bits = bits & np.uint32(0xFFFFE000) | rng.integers(0, 1 << 13, m).astype(np.uint32)
    if profile == 3:
        odd = np.array([0x7F800000, 0xFF800000, 0x7FC00000, 1, 0x807FFFFF, 0], np.uint32)
        bits = np.where(rng.random(m) < 0.004, odd[rng.integers(0, 6, m)], bits)
    return bits


def product_pool(kind, rng, tiled):
    """Lanes: a round has a profile. Tiled: an eighth of the pool has a profile."""
    out = np.zeros((SLOTS, ROUNDS, LANES, 2), np.uint32) if not tiled else np.zeros((8, POOL_BYTES // 32), np.uint32)
    if tiled:
        for b in range(8):
            out[b] = product_words(kind, rng, b % 4, out.shape[1])
    elif kind == "f64":
        value = np.zeros((SLOTS, ROUNDS, LANES))
        for r in range(ROUNDS):
            shape = (SLOTS, LANES)
            wide = (rng.random(shape) + 1) * 2.0**rng.integers(-40, 40, shape) * rng.choice([-1.0, 1.0], shape)
            value[:, r] = [rng.integers(-4, 5, shape), rng.random(shape) - 0.5, wide, wide][r % 4]
        return value.reshape(-1).view(np.uint64)
    else:
        for r in range(ROUNDS):
            out[:, r] = product_words(kind, rng, r % 4, SLOTS * LANES * 2).reshape(SLOTS, LANES, 2)
    return np.ascontiguousarray(out).reshape(-1).view(np.uint64)


def metadata_pool(rng, single):
    """Nibbles that choose two of four neighbours, or one of two (tf32)."""
    choices = np.array([0b1110, 0b0100] if single else [0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110], np.uint64)
    n = SLOTS * ROUNDS * LANES
    return sum(choices[rng.integers(0, len(choices), n)] << np.uint64(4 * i) for i in range(16))


SCALAR = ("int", "f16", "bf16", "f32", "f64")
PRODUCT = ("f16", "bf16", "f32", "tf32", "e4m3", "e5m2", "s8", "s32", "f64")
TILED = ("f16", "bf16", "tf32", "e4m3", "e5m2", "s8")


def pool_names():
    return [*SCALAR, *(f"mma_{k}" for k in PRODUCT), *(f"tile_{k}" for k in TILED), "meta2", "meta1", "coords"]


def pools(seed):
    """All pools, one after another, as 64-bit words."""
    parts = []
    for name in pool_names():
        rng = np.random.default_rng(zlib.crc32(name.encode()) + seed)
        if name == "coords":
            part = rng.integers(0, 1 << 64, SLOTS * ROUNDS * LANES, dtype=np.uint64)
        elif name.startswith("meta"):
            part = metadata_pool(rng, name == "meta1")
        elif name.startswith("mma_"):
            part = product_pool(name[4:], rng, False)
        elif name.startswith("tile_"):
            part = product_pool(name[5:], rng, True)
        else:
            part = scalar_pool(name, rng)
        assert part.nbytes == POOL_BYTES, (name, part.nbytes)
        parts.append(part)
    return np.concatenate(parts)


def pool_at(name):
    return pool_names().index(name) * POOL_BYTES
