"""Expected results of the functions in testdata/ptxsim/cuda/math.cu, for nvcc_kernels.py: from numpy and Python's fractions and integers."""
import math
from fractions import Fraction

import numpy as np

N = 64
F32, F64 = np.float32, np.float64
MODES = ("rn", "rz", "rd", "ru")


def rows_of(t, kernel, inputs, dtype, count):
    """The kernel's results, a row a function; None where it failed or was not chosen."""
    if not t.chosen.search(kernel):
        return None
    results, _ = t.run(kernel, 1, N, [*inputs, f"{dtype}[{N * count}]", N])
    return None if results is None else results[-1].reshape(count, N)


def elementary(a, b, kind):
    """In the order of math_f32 and math_f64; None: held by another test. Values as numpy has them in f64."""
    size = np.abs(a)

    def rounded(x):
        return x.astype(kind).astype(float)

    with np.errstate(all="ignore"):
        return [np.sin(a), np.cos(a), np.tan(a), np.arcsin(b), np.arccos(b), np.arctan(a), np.sinh(b), np.cosh(b), np.tanh(a), np.arcsinh(a),
                np.arccosh(rounded(size + 1)), np.arctanh(rounded(b.astype(kind) * kind(0.9))), np.exp(b), np.exp2(b), 10.0**b, np.expm1(b), np.log(size),
                np.log2(size), np.log10(size), np.log1p(size), np.sqrt(size), 1 / np.sqrt(size), np.cbrt(a), np.hypot(a, b), size**b, np.fmod(a, b),
                np.array([math.remainder(x, y) for x, y in zip(a, b)]), np.array([math.erf(x) for x in b]), np.array([math.erfc(x) for x in b]),
                np.array([math.gamma(x) for x in rounded(np.abs(b) + 0.5)]), None, np.floor(a), np.ceil(a), np.trunc(a), np.rint(a),
                np.sign(a) * np.floor(size + 0.5), np.fmin(a, b), np.fmax(a, b), np.maximum(a - b, 0), np.copysign(a, b),
                np.nextafter(a.astype(kind), b.astype(kind)).astype(float), a * 8, a / 32, np.floor(np.log2(size)), np.floor(np.log2(size)),
                np.sin(np.pi * b), np.cos(np.pi * b), np.array([0.5 * math.erfc(-x / math.sqrt(2)) for x in b]), None,
                a * b + a if kind is F32 else None, a / b, 1 / a]


def within_ulps(t, name, rows, expected, ulps, kind):
    for i, want in enumerate(expected):
        if want is None:
            continue
        got = rows[i].astype(float)
        t.checks += 1
        with np.errstate(all="ignore"):
            off = np.abs(got - want) / np.spacing(np.abs(want).astype(kind)).astype(float)
        off[(got == want) | ((got != got) & (want != want))] = 0
        if not (off <= ulps).all():
            at = int(np.argmin(off <= ulps))
            t.report(f"{name} {i}", f"{got[at]} is {off[at]:.1f} ulps from {want[at]}")


def nearest(q, kind, mode):
    """The Fraction q, rounded."""
    if q == 0:
        return kind(0)
    first = kind(float(q))
    around = [x for x in (np.nextafter(first, kind(-np.inf)), first, np.nextafter(first, kind(np.inf))) if np.isfinite(x)]
    low = max(x for x in around if Fraction(float(x)) <= q)
    high = min(x for x in around if Fraction(float(x)) >= q)
    if mode != "rn":
        return low if mode == "rd" or (mode == "rz") == (q > 0) and mode != "ru" else high
    below, above = q - Fraction(float(low)), Fraction(float(high)) - q
    if below != above:
        return low if below < above else high
    return low if int(np.array(low).view(np.uint32 if kind is F32 else np.uint64)) % 2 == 0 else high


def square_root(q, kind, mode):
    root = math.isqrt(int(q * (1 << 400)))
    more = 0 if root * root == q * (1 << 400) else Fraction(1, 1 << 220)
    return nearest(Fraction(root, 1 << 200) + more, kind, mode)


def clamped(value, bits, signed):
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return max(low, min(high, value))


def rounding_modes(t, x, y, kind):
    name, dtype = ("rounding_f32", "f32") if kind is F32 else ("rounding_f64", "f64")
    exact = [lambda p, q: p + q, lambda p, q: p - q, lambda p, q: p * q, lambda p, q: p * q + p, lambda p, q: p / q, lambda p, q: 1 / p]
    functions = [lambda p, q, mode, f=f: nearest(f(Fraction(float(p)), Fraction(float(q))), kind, mode) for f in exact]
    functions.append(lambda p, q, mode: square_root(abs(Fraction(float(p))), kind, mode))

    def of_integer(scale, bits, signed):
        def convert(p, q, mode):
            scaled = kind((p if signed else abs(p)) * kind(scale))
            return nearest(Fraction(clamped(int(scaled), bits, signed)), kind, mode)
        return convert

    kinds = ((1e8, 32, True), (1e9, 32, False), (1e15, 64, True), (1e18, 64, False)) if kind is F32 else ((1e17, 64, True), (1e18, 64, False))
    functions += [of_integer(*k) for k in kinds]
    if kind is F32:
        functions.append(lambda p, q, mode: nearest(Fraction(float(p) * 1.1), kind, mode))
    rows = rows_of(t, name, [x, y], dtype, 4 * len(functions))
    for i, function in enumerate(functions if rows is not None else ()):
        for m, mode in enumerate(MODES):
            t.hold(f"{name} {i}.{mode}", rows[4 * i + m], np.array([function(p, q, mode) for p, q in zip(x, y)], kind))


def to_integers(t, r):
    x = (r.standard_normal(N) * 10.0 ** r.integers(0, 12, N)).astype(F32)
    y = r.standard_normal(N) * 10.0 ** r.integers(0, 21, N)
    rows = rows_of(t, "to_int", [x, y], "s64", 41)
    if rows is None:
        return
    whole = {"rn": round, "rz": math.trunc, "rd": math.floor, "ru": math.ceil}
    forms = [(v, bits, signed, mode) for v in (x, y) for bits in (32, 64) for signed in (True, False) for mode in MODES]
    for i, (v, bits, signed, mode) in enumerate(forms):
        want = [clamped(whole[mode](float(p)), bits, signed) for p in v]
        t.hold(f"to_int {i}", rows[i], np.array([w - 2**64 if w >= 2**63 else w for w in want]))
    words = y.view(np.int64)
    for i, want in ((32, x.view(np.int32)), (33, words), (34, (words >> 32).astype(np.int32)), (35, words.astype(np.int32))):
        t.hold(f"to_int {i}", rows[i], want)


def as_signed(value, bits):
    value %= 1 << bits
    return value - (1 << bits) if value >> bits - 1 else value


def divided(a, b):
    """As C divides."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def permuted(a, b, selector):
    choice, result = [v >> 8 * i & 255 for v in (a, b) for i in range(4)], 0
    for i in range(4):
        nibble = selector >> 4 * i & 15
        byte = choice[nibble & 7]
        result |= (byte if nibble < 8 else 255 * (byte >> 7)) << 8 * i
    return result


def part(value, bits, i):
    return as_signed(value >> bits * i, bits)


def of_words(a, b):
    u, v, ones = a % 2**32, b % 2**32, 2**32 - 1

    def funnel(left, by):
        return ((v << 32 | u) << by >> 32 if left else (v << 32 | u) >> by) & ones

    dots = [sum(part(u, 8, i) * part(v, 8, i) for i in range(4)), sum((u >> 8 * i & 255) * (v >> 8 * i & 255) for i in range(4)),
            sum(part(u, 16, i) * part(v, 8, i) for i in range(2)), sum((u >> 16 * i & 65535) * (v >> 8 * (i + 2) & 255) for i in range(2))]
    set_bits = [i for i in range(32) if u >> i & 1] + [ones] * 3
    return [divided(a, b), a - b * divided(a, b), u // v, u % v, divided(a, 7), a - 10 * divided(a, 10), u // 1000, a * b >> 32, u * v >> 32,
            as_signed(a, 24) * as_signed(b, 24), (u & 0xFFFFFF) * (v & 0xFFFFFF), bin(u).count("1"), 32 - u.bit_length(), (u & -u).bit_length(),
            int(f"{u:032b}"[::-1], 2), permuted(u, v, 0x3175), permuted(u, v, u & 0x7777), funnel(True, 5), funnel(False, a & 31), funnel(True, min(u, 32)),
            funnel(False, min(v, 32)), abs(a - b) + 9, abs(u - v) + 9, a + b >> 1, a + b + 1 >> 1, u + v >> 1, u + v + 1 >> 1, abs(a), min(a, b), max(u, v),
            a << (b & 31), a >> (b & 31), u >> (v & 31), *(d + 5 for d in dots), part(u, 16, 0) * part(v, 16, 0), (a < b) - (u < v), part(u, 8, 1), set_bits[2]]


def of_long_words(a, b):
    u, v = a % 2**64, b % 2**64
    return [divided(a, b), a - b * divided(a, b), u // v, u % v, divided(a, 1000003), u % 97, a * b >> 64, u * v >> 64, bin(u).count("1"), 64 - u.bit_length(),
            (u & -u).bit_length(), int(f"{u:064b}"[::-1], 2), a * b, a << (b & 63), a >> (b & 63), u >> (v & 63), abs(a), min(a, b), max(u, v), a * b >> 64,
            u * v // 1000, a * b - 1000007 * divided(a * b, 1000007), (u << 64 | v) >> 13, a + b, a - b, ~a ^ b, as_signed(a, 32), as_signed(a, 16), u & 255]


def integers(t, r):
    for name, bits, function, small in (("ints", 32, of_words, 9), ("longs", 64, of_long_words, 99)):
        x, y = (r.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1, N).astype(f"int{bits}") for _ in range(2))
        y[:20] = r.integers(1, small, 20)
        x[3], y[3] = -(2 ** (bits - 1)), 7
        expected = [[as_signed(value, bits) for value in function(int(p), int(q))] for p, q in zip(x, y)]
        rows = rows_of(t, name, [x, y], f"s{bits}", len(expected[0]))
        for i, want in enumerate(zip(*expected) if rows is not None else ()):
            t.hold(f"{name} {i}", rows[i], np.array(want))


def lanes(values, bits, signed):
    count = 32 // bits
    return [[part(v, bits, i) if signed else v >> bits * i & (1 << bits) - 1 for i in range(count)] for v in values]


def joined(parts, bits):
    return sum((p & (1 << bits) - 1) << bits * i for i, p in enumerate(parts))


def of_packed(a, b):
    """In the order of `simd`."""
    def each(bits, signed, f, others=(b,)):
        return joined([f(*p) for p in zip(*lanes((a, *others), bits, signed))], bits)

    def mask(bits, signed, f):
        return each(bits, signed, lambda p, q: -1 if f(p, q) else 0)

    def added(f, bits, signed):
        return each(bits, signed, lambda p, q: clamped(f(p, q), bits, signed))

    plus, minus, u32 = (lambda p, q: p + q), (lambda p, q: p - q), 2**32
    apart, signed_a, signed_b, nine = (lambda p, q: abs(p - q)), as_signed(a, 32), as_signed(b, 32), 0x00070009
    return [each(16, 1, plus), each(8, 1, plus), added(plus, 16, True), added(plus, 8, True), added(plus, 16, False), added(plus, 8, False), each(16, 1, minus),
            each(8, 1, minus), added(minus, 16, True), added(minus, 8, False), each(16, 1, abs, ()), each(8, 1, abs, ()),
            each(8, 1, lambda p: clamped(abs(p), 8, True), ()), each(16, 1, apart), each(8, 0, apart), each(16, 1, lambda p, q: p + q + (p + q >= 0) >> 1),
            each(8, 0, lambda p, q: p + q + 1 >> 1), each(16, 0, lambda p, q: p + q >> 1), each(16, 1, max), each(8, 0, max), each(8, 1, min), each(16, 0, min),
            each(16, 1, lambda p: -p, ()), each(8, 1, lambda p: clamped(-p, 8, True), ()), sum(apart(*p) for p in zip(*lanes((a, b), 16, True))),
            sum(apart(*p) for p in zip(*lanes((a, b), 8, False))), mask(8, 0, lambda p, q: p == q), mask(16, 1, lambda p, q: p > q),
            mask(8, 0, lambda p, q: p <= q), mask(16, 0, lambda p, q: p != q), each(16, 0, lambda p, q: p == q), each(8, 0, lambda p, q: p >= q),
            each(8, 1, lambda p, q: p < q), max(as_signed(a + b, 32), 7), min((a + b) % u32, 7), max(signed_a, signed_b, 3), min(a, b, 3), max(signed_a, signed_b, 0),
            each(16, 1, lambda p, q, s: max(as_signed(p + q, 16), s), (b, nine)), each(16, 1, lambda p, q, s: max(p, q, s, 0), (b, nine)),
            each(16, 1, lambda p, q: max(min(p, q), 0))]


def packed_integers(t, r):
    x, y = (r.integers(0, 2**32, N).astype(np.uint32) for _ in range(2))
    y[:8] = x[:8]
    expected = [[value % 2**32 for value in of_packed(int(p), int(q))] for p, q in zip(x, y)]
    rows = rows_of(t, "simd", [x, y], "u32", len(expected[0]))
    for i, want in enumerate(zip(*expected) if rows is not None else ()):
        t.hold(f"simd {i}", rows[i], np.array(want))


def functions(t):
    r = np.random.default_rng(1)
    x, y = (r.standard_normal(N) * 5).astype(F32), r.uniform(-0.99, 0.99, N).astype(F32)
    x[:6] = 100000.5, -3e7, 1e-3, -1.5, 40, 7.25
    rows = rows_of(t, "math_f32", [x, y], "f32", 57)
    if rows is not None:
        within_ulps(t, "math_f32", rows, elementary(x.astype(float), y.astype(float), F32), 8, F32)
    x[1] = 7.7
    rounding_modes(t, x, y, F32)
    x, y = r.standard_normal(N) * 5, r.uniform(-0.99, 0.99, N)
    x[:6] = 100000.5, -3e7, 1e-3, -1.5, 1e300, 7.25
    rows = rows_of(t, "math_f64", [x, y], "f64", 53)
    if rows is not None:
        within_ulps(t, "math_f64", rows, [*elementary(x, y, F64), np.arctan2(x, y)], 16, F64)
    x[1], x[4] = 8.8, 1.25
    rounding_modes(t, x, y, F64)
    to_integers(t, r)
    integers(t, r)
    packed_integers(t, r)
