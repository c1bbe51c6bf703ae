"""Exact arithmetic of binary floating-point formats, on fractions: what PTX's instructions must give (used by ptx_values.py).

A value is the bits of a format of F by name ("f16", "bf16", "f32", "f64"): (exponent bits, mantissa bits). dec() takes it apart, rnd()
rounds a fraction once in one of PTX's modes; fma, add, mul, div and sqrt are these with IEEE's special cases and PTX's canonical NaN.
"""

from fractions import Fraction as Fr
import math

F = {'f16': (5, 10), 'bf16': (8, 7), 'f32': (8, 23), 'f64': (11, 52)}
CAN = {'f16': 0x7FFF, 'bf16': 0x7FFF, 'f32': 0x7FFFFFFF, 'f64': 0x7FF8000000000000}


def bits(f):
    e, m = F[f]
    return 1 + e + m


def dec(f, b):
    e, m = F[f]
    s = b >> (e + m) & 1
    ex = b >> m & ((1 << e) - 1)
    ma = b & ((1 << m) - 1)
    bias = (1 << (e - 1)) - 1
    if ex == (1 << e) - 1:
        return ('nan', s) if ma else ('inf', s)
    if ex == 0:
        v = Fr(ma) * Fr(2) ** (1 - bias - m)
    else:
        v = Fr(ma | 1 << m) * Fr(2) ** (ex - bias - m)
    return ('num', s, v)


def pw(n):
    return Fr(2) ** n


def rnd_int(q, mode, s):
    fl = q.numerator // q.denominator
    r = q - fl
    if r == 0:
        return fl
    if mode in ('rn', 'rni'):
        up = r > Fr(1, 2) or (r == Fr(1, 2) and fl & 1)
    elif mode == 'rna':
        up = r >= Fr(1, 2)
    elif mode in ('rz', 'rzi'):
        up = False
    elif mode in ('rm', 'rmi'):
        up = bool(s)
    elif mode in ('rp', 'rpi'):
        up = not s
    return fl + (1 if up else 0)


def ilog2(v):
    n = v.numerator.bit_length() - v.denominator.bit_length()
    if pw(n) > v:
        n -= 1
    elif pw(n + 1) <= v:
        n += 1
    return n


def rnd(f, s, v, mode='rn'):
    """v>=0 Fraction -> bits"""
    e, m = F[f]
    bias = (1 << (e - 1)) - 1
    sg = s << (e + m)
    if v == 0:
        return sg
    emin = 1 - bias
    ee = max(ilog2(v), emin)
    q = rnd_int(v / pw(ee - m), mode, s)
    if q >= 1 << (m + 1):
        q >>= 1
        ee += 1  # exact power
    if ee > bias:
        inf = ((1 << e) - 1) << m
        if mode in ('rn', 'rna') or (mode == 'rm' and s) or (mode == 'rp' and not s):
            return sg | inf
        return sg | (inf - 1)
    if q < 1 << m:
        return sg | q
    return sg | (ee + bias) << m | (q & ((1 << m) - 1))


def ftz(f, b):
    e, m = F[f]
    if (b >> m) & ((1 << e) - 1) == 0:
        return b & (1 << (e + m))
    return b


def isnan(f, b):
    return dec(f, b)[0] == 'nan'


def val(f, b):
    d = dec(f, b)
    return (-d[2] if d[1] else d[2]) if d[0] == 'num' else None


def fma(f, a, b, c, mode, fo=None, fa=None):
    """a*b+c: formats fa for a,b ; f for c and result"""
    fa = fa or f
    A, B, C = dec(fa, a), dec(fa, b), dec(f, c)
    if 'nan' in (A[0], B[0], C[0]):
        return CAN[f]
    s = A[1] ^ B[1]
    e, m = F[f]
    inf = ((1 << e) - 1) << m
    if A[0] == 'inf' or B[0] == 'inf':
        o = B if A[0] == 'inf' else A
        if o[0] == 'num' and o[2] == 0:
            return CAN[f]
        if C[0] == 'inf' and C[1] != s:
            return CAN[f]
        return s << (e + m) | inf
    if C[0] == 'inf':
        return C[1] << (e + m) | inf
    p = A[2] * B[2] * (-1 if s else 1)
    c_ = C[2] * (-1 if C[1] else 1)
    r = p + c_
    if r == 0:
        if s == C[1] and p == 0 and c_ == 0:
            sg = s
        elif p == 0 and c_ == 0:
            sg = 1 if mode == 'rm' else 0
        else:
            sg = 1 if mode == 'rm' else 0
        return sg << (e + m)
    return rnd(f, 1 if r < 0 else 0, abs(r), mode)


def one(f):
    e, m = F[f]
    return ((1 << (e - 1)) - 1) << m


def add(f, a, b, mode, fa=None):
    return fma(f, a, one(fa or f), b, mode, fa=fa)


def neg(f, a):
    return a ^ (1 << (bits(f) - 1))


def mul(f, a, b, mode):
    A, B = dec(f, a), dec(f, b)
    if 'nan' in (A[0], B[0]):
        return CAN[f]
    s = A[1] ^ B[1]
    e, m = F[f]
    inf = ((1 << e) - 1) << m
    if 'inf' in (A[0], B[0]):
        for o in (A, B):
            if o[0] == 'num' and o[2] == 0:
                return CAN[f]
        return s << (e + m) | inf
    return rnd(f, s, A[2] * B[2], mode)


def div(f, a, b, mode):
    A, B = dec(f, a), dec(f, b)
    if 'nan' in (A[0], B[0]):
        return CAN[f]
    s = A[1] ^ B[1]
    e, m = F[f]
    inf = ((1 << e) - 1) << m
    sg = s << (e + m)
    if A[0] == 'inf':
        return CAN[f] if B[0] == 'inf' else sg | inf
    if B[0] == 'inf':
        return sg
    if B[2] == 0:
        return CAN[f] if A[2] == 0 else sg | inf
    return rnd(f, s, A[2] / B[2], mode)


def sqrt(f, a, mode):
    A = dec(f, a)
    e, m = F[f]
    if A[0] == 'nan':
        return CAN[f]
    if A[0] == 'inf':
        return CAN[f] if A[1] else a
    if A[2] == 0:
        return a
    if A[1]:
        return CAN[f]
    v = A[2]
    k = ilog2(v) // 2
    sh = m + 4 - k
    w = v * pw(2 * sh)
    n = w.numerator // w.denominator
    r = math.isqrt(n)
    exact = r * r == n and w.denominator == 1
    q = Fr(2 * r + (0 if exact else 1)) * pw(-sh - 1)
    return rnd(f, 0, q, mode)


def sat(f, b):
    d = dec(f, b)
    if d[0] == 'nan':
        return 0
    if d[1]:
        return 0
    if d[0] == 'inf' or d[2] > 1:
        return one(f)
    return b


def relu(f, b):
    if isnan(f, b):
        return CAN[f]
    return 0 if b >> (bits(f) - 1) else b


def less(f, a, b):
    """total for non nan with -0<+0"""
    k = lambda x: (-(x & ((1 << (bits(f) - 1)) - 1)) - 1) if x >> (bits(f) - 1) else x
    return k(a) < k(b)


def to_int(f, b, mode, lo, hi, nanv):
    d = dec(f, b)
    if d[0] == 'nan':
        return nanv
    if d[0] == 'inf':
        return lo if d[1] else hi
    q = rnd_int(d[2], mode, d[1])
    q = -q if d[1] else q
    return max(lo, min(hi, q))


def cvtff(fd, fs, b, mode):
    d = dec(fs, b)
    e, m = F[fd]
    if d[0] == 'nan':
        return CAN[fd]
    if d[0] == 'inf':
        return d[1] << (e + m) | ((1 << e) - 1) << m
    return rnd(fd, d[1], d[2], mode)
