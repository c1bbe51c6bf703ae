#!/usr/bin/env python3
"""Writes testdata/ptxsim/values.txt: operands and exact results for every form of forms.txt that this file knows the meaning of.

    ptx_values.py [--output FILE] [--sets 3]

The results are computed here, from the ISA's text, with integers and fractions: nothing is shared with the simulator. A line is
`form | operands | results`, in hexadecimal, operands in the order of the form's registers. Approximations, NaN payloads of f64 and
divisions by zero are left out: their bits are not laid down. ptxsim/values_test.cc runs each form on a warp, one line a lane.
"""

import argparse, random, re, pathlib
from ptx_floats import *

ROOT = pathlib.Path(__file__).parents[2]
KIND = {'h': 16, 'w': 32, 'q': 64, 'c': 8}
rng = random.Random(1)
E16 = [
    0,
    0x8000,
    1,
    0x8001,
    0x3FF,
    0x400,
    0x83FF,
    0x3C00,
    0xBC00,
    0x7BFF,
    0xFBFF,
    0x7C00,
    0xFC00,
    0x7E00,
    0xFE01,
    0x3E00,
    0x4248,
    0x0080,
    0x8080,
    0x7F,
    0x3F80,
    0xBF80,
    0x7F80,
    0xFF80,
    0x7FC0,
    0x7F7F,
    0xFF7F,
    0xFFFF,
    0x7FFF,
    0x7C01,
    0x7F81,
    2,
    3,
    7,
    8,
    15,
    16,
    0xFF,
    0x100,
]
E32 = [
    0,
    0x80000000,
    1,
    0x80000001,
    0x7FFFFF,
    0x807FFFFF,
    0x800000,
    0x3F800000,
    0xBF800000,
    0x7F7FFFFF,
    0xFF7FFFFF,
    0x7F800000,
    0xFF800000,
    0x7FC00000,
    0xFFC00001,
    0x3F000000,
    0xBF000000,
    0x3FC00000,
    0x40200000,
    0xC0200000,
    0x4EFFFFFF,
    0x4F000000,
    0x4F800000,
    0x5F000000,
    0x5F800000,
    0xCF000000,
    0xCF000001,
    0x7FFFFFFF,
    0xFFFFFFFF,
    0xFFFFFFFE,
    0x477FE000,
    0x477FF000,
    0x477FEFFF,
    0x33000000,
    0x33000001,
    0x33800000,
    0x387FE000,
    0x43E00000,
    0x43E80000,
    0x47600000,
    0x47700000,
    0x3F800001,
    0x3F7FFFFF,
    0x7F7F8000,
    0x7F7F7FFF,
    31,
    32,
    33,
    64,
    255,
    256,
    5,
    0x7F800001,
    0x00800000,
    0x0D000000,
    0x437F0000,
    0x43008000,
]
E64 = [
    0,
    1 << 63,
    1,
    (1 << 63) | 1,
    0x3FF0000000000000,
    0xBFF0000000000000,
    0x7FEFFFFFFFFFFFFF,
    0x7FF0000000000000,
    0xFFF0000000000000,
    0x7FF8000000000000,
    0xFFF8000000000001,
    0x41DFFFFFFFC00000,
    0x41E0000000000000,
    0x43E0000000000000,
    0x43F0000000000000,
    0xC3E0000000000000,
    0x3FE0000000000000,
    0xBFE0000000000000,
    0x3FF8000000000000,
    0x4004000000000000,
    0x000FFFFFFFFFFFFF,
    0x0010000000000000,
    0x36A0000000000000,
    0x3690000000000000,
    0x36A0000000000001,
    0x47EFFFFFE0000000,
    0x47EFFFFFEFFFFFFF,
    0x47EFFFFFF0000000,
    0x380FFFFFFFFFFFFF,
    0x3E70000000000000,
    0x40EFFC0000000000,
    0x40EFFE0000000000,
    (1 << 64) - 1,
    (1 << 63) - 1,
    1 << 32,
    (1 << 32) - 1,
    63,
    64,
    65,
    0x41EFFFFFFFE00000,
    0xC1E0000000200000,
    0x7FF0000000000001,
]


def pick(w):
    r = rng.random()
    if w == 8:
        return rng.randrange(256)
    if w == 16:
        if r < 0.5:
            return rng.choice(E16)
        return rng.getrandbits(16)
    if w == 32:
        if r < 0.35:
            return rng.choice(E32)
        if r < 0.5:
            return pick(16) | pick(16) << 16
        if r < 0.7:
            return rnd('f32', rng.getrandbits(1), Fr(rng.randrange(1, 1 << 24), 1) * pw(rng.randrange(-30, 10)))
        if r < 0.8:
            return rng.randrange(70)
        return rng.getrandbits(32)
    if r < 0.4:
        return rng.choice(E64)
    if r < 0.6:
        return rnd('f64', rng.getrandbits(1), Fr(rng.randrange(1, 1 << 53), 1) * pw(rng.randrange(-70, 15)))
    if r < 0.7:
        return pick(32) | pick(32) << 32
    if r < 0.8:
        return cvtff('f64', 'f32', pick(32), 'rn')
    return rng.getrandbits(64)


def sx(v, w):
    v &= (1 << w) - 1
    return v - (1 << w) if v >> (w - 1) else v


M = lambda w: (1 << w) - 1


def ity(t):
    return t[0] == 's', int(t[1:])


def iv(t, v):
    s, w = ity(t)
    return sx(v, w) if s else v & M(w)


INTS = {'u8', 's8', 'u16', 's16', 'u32', 's32', 'u64', 's64'}


class Skip(Exception):
    pass


def split(t, v):
    if t.endswith('x2'):
        f = t[:-2]
        w = bits(f) if f in F else int(f[1:])
        return f, w, [v & M(w), v >> w & M(w)]
    f = t
    return f, None, [v]


def lanes(t, args, fn):
    if t.endswith('x2'):
        f = t[:-2]
        w = bits(f) if f in F else int(f[1:])
        return fn(f, *[a & M(w) for a in args]) | fn(f, *[a >> w & M(w) for a in args]) << w
    return fn(t, *args)


def rmode(ms, default='rn'):
    for m in ms:
        if m in ('rn', 'rz', 'rm', 'rp', 'rna', 'rni', 'rzi', 'rmi', 'rpi'):
            return m
    return default


def cmp(op, t, a, b):
    if t in F:
        nan = isnan(t, a) or isnan(t, b)
        if op == 'num':
            return not nan
        if op == 'nan':
            return nan
        if nan:
            return op in ('equ', 'neu', 'ltu', 'leu', 'gtu', 'geu') or (op == 'ne' and False)
        va = dec(t, a)
        vb = dec(t, b)
        k = lambda d: (float('-inf') if d[1] else float('inf')) if d[0] == 'inf' else (-d[2] if d[1] else d[2])
        x, y = k(va), k(vb)
        op = op.rstrip('u') if op.endswith('u') and len(op) == 3 else op
    else:
        if t[0] == 'b':
            x, y = a, b
        else:
            x, y = iv(t, a), iv(t, b)
        if op in ('lo', 'ls', 'hi', 'hs'):
            op = {'lo': 'lt', 'ls': 'le', 'hi': 'gt', 'hs': 'ge'}[op]
            w = int(t[1:])
            x &= M(w)
            y &= M(w)
    return {'eq': x == y, 'ne': x != y, 'lt': x < y, 'le': x <= y, 'gt': x > y, 'ge': x >= y}[op]


def ftzs(t, args, on):
    if not on or t not in ('f32', 'f16'):
        return list(args)
    return [ftz(t, a) for a in args]


def arith(name, ms, types, args):
    t = types[0]
    mode = rmode(ms)
    fz = 'ftz' in ms
    if t in INTS or t in ('u16x2', 's16x2'):
        if t.endswith('x2'):
            return lanes(t, args, lambda f, *a: arith(name, ms, [f], a) & 0xFFFF)
        s, w = ity(t)
        A = [iv(t, a) for a in args]
        if name in ('add', 'sub'):
            r = A[0] + A[1] if name == 'add' else A[0] - A[1]
            if 'sat' in ms:
                r = max(-(1 << 31), min((1 << 31) - 1, r))
            return r & M(w)
        if name == 'mul':
            r = A[0] * A[1]
            if 'wide' in ms:
                return r & M(2 * w)
            return (r >> w if 'hi' in ms else r) & M(w)
        if name == 'mad':
            r = A[0] * A[1]
            if 'wide' in ms:
                return (r + args[2]) & M(2 * w)
            r = r >> w if 'hi' in ms else r & M(w)
            if 'sat' in ms:
                return max(-(1 << 31), min((1 << 31) - 1, r + A[2])) & M(32)
            return (r + args[2]) & M(w)
        if name in ('div', 'rem'):
            if A[1] == 0:
                raise Skip
            q = abs(A[0]) // abs(A[1])
            q = -q if (A[0] < 0) != (A[1] < 0) else q
            if q >= 1 << (w - 1) and s:
                raise Skip
            return (q if name == 'div' else A[0] - q * A[1]) & M(w)
        if name in ('min', 'max'):
            r = min(A[0], A[1]) if name == 'min' else max(A[0], A[1])
            if 'relu' in ms:
                r = max(r, 0)
            return r & M(w)
        if name == 'abs':
            return abs(A[0]) & M(w)
        if name == 'neg':
            return -A[0] & M(w)
        if name == 'sad':
            return (args[2] + abs(A[0] - A[1])) & M(w)

    def one_(f, *a):
        if f not in F:
            raise Skip
        if f == 'f64' and any(isnan('f64', x) for x in a) and name not in ('min', 'max'):
            raise Skip
        if len(types) > 1:  # mixed: add.f32.f16
            fa = types[1]
            if name == 'fma':
                r = fma('f32', a[0], a[1], a[2], mode, fa=fa)
            elif name == 'add':
                r = add('f32', a[0], a[1], mode, fa=fa)
            else:
                r = add('f32', a[0], neg('f32', a[1]) if not isnan('f32', a[1]) else a[1], mode, fa=fa)
            return sat('f32', r) if 'sat' in ms else r
        a = ftzs(f, a, fz)
        if name == 'add':
            r = add(f, a[0], a[1], mode)
        elif name == 'sub':
            r = add(f, a[0], neg(f, a[1]), mode)
        elif name == 'mul':
            r = mul(f, a[0], a[1], mode)
        elif name in ('fma', 'mad'):
            if 'oob' in ms:
                raise Skip
            r = fma(f, a[0], a[1], a[2], mode)
        elif name == 'div':
            if 'approx' in ms or 'full' in ms:
                raise Skip
            r = div(f, a[0], a[1], mode)
        elif name == 'rcp':
            if 'approx' in ms:
                raise Skip
            r = div(f, one(f), a[0], mode)
        elif name == 'sqrt':
            if 'approx' in ms:
                raise Skip
            r = sqrt(f, a[0], mode)
        elif name == 'abs':
            if isnan(f, a[0]):
                raise Skip
            return a[0] & M(bits(f) - 1)
        elif name == 'neg':
            if isnan(f, a[0]):
                raise Skip
            return neg(f, a[0])
        elif name in ('min', 'max'):
            x = list(a)
            if 'xorsign' in ms:
                sg = (x[0] ^ x[1]) >> (bits(f) - 1) & 1
            if 'xorsign' in ms or 'abs' in ms:
                x = [v & M(bits(f) - 1) for v in x]
            nn = [v for v in x if not isnan(f, v)]
            if ('NaN' in ms and len(nn) < len(x)) or not nn:
                return CAN[f]
            r = nn[0]
            for v in nn[1:]:
                if less(f, v, r) == (name == 'min') and v != r:
                    r = v
            if 'xorsign' in ms:
                r = r & M(bits(f) - 1) | sg << (bits(f) - 1)
            return r
        else:
            raise Skip
        if f == 'f64' and isnan(f, r):
            raise Skip  # of an invalid operation: sign and payload are the hardware's
        if fz and f in ('f32', 'f16'):
            r = ftz(f, r)
        if 'sat' in ms:
            r = sat(f, r)
        if 'relu' in ms:
            r = relu(f, r)
        return r

    return lanes(t, args, one_)


def small(fmt, f, b, relu_, rz=False):
    """f bits to e4m3 etc. satfinite"""
    eb, mb, hasinf, mx = {
        'e4m3': (4, 3, 0, 0x7E),
        'e5m2': (5, 2, 1, 0x7B),
        'e2m3': (2, 3, 2, 0x1F),
        'e3m2': (3, 2, 2, 0x1F),
        'e2m1': (2, 1, 2, 7),
    }[fmt]
    nan = {'e4m3': 0x7F, 'e5m2': 0x7F}.get(fmt, mx)
    d = dec(f, b)
    sb = eb + mb
    if d[0] == 'nan':
        return nan
    if relu_ and d[1]:
        return 0
    sg = d[1] << sb
    if d[0] == 'inf':
        return sg | mx
    v = d[2]
    if v == 0:
        return sg
    bias = (1 << (eb - 1)) - 1
    ee = max(ilog2(v), 1 - bias)
    q = rnd_int(v / pw(ee - mb), 'rn', d[1])
    if q >= 1 << (mb + 1):
        q >>= 1
        ee += 1
    code = q if q < 1 << mb else (ee + bias) << mb | (q & ((1 << mb) - 1))
    return sg | min(code, mx) if not (code > mx) else sg | mx


def small_val(fmt, b):
    eb, mb = {'e4m3': (4, 3), 'e5m2': (5, 2), 'e2m3': (2, 3), 'e3m2': (3, 2), 'e2m1': (2, 1)}[fmt]
    s = b >> (eb + mb) & 1
    ex = b >> mb & M(eb)
    ma = b & M(mb)
    bias = (1 << (eb - 1)) - 1
    if fmt == 'e4m3' and ex == 15 and ma == 7:
        return 'nan', s, 0
    if fmt == 'e5m2' and ex == 31:
        return ('nan' if ma else 'inf'), s, 0
    v = Fr(ma) * pw(1 - bias - mb) if ex == 0 else Fr(ma | 1 << mb) * pw(ex - bias - mb)
    return 'num', s, v


def cvt(ms, types, a, form):
    d, s = types[0], types[1]
    fz = 'ftz' in ms
    st = 'sat' in ms
    mode = rmode(ms, None)
    if 'rs' in ms or 'pack' in ms or 's2f6x2' in (d, s) or any('scaled' in m for m in ms):
        raise Skip
    if d in INTS and s in INTS:
        v = iv(s, a[0])
        sg, w = ity(d)
        if st:
            v = max(-(1 << (w - 1)) if sg else 0, min((1 << (w - 1)) - 1 if sg else M(w), v))
        v &= M(w)
        return sx(v, w) if sg else v
    if d in INTS and s in F:
        sg, w = ity(d)
        x = a[0]
        if fz:
            x = ftz(s, x) if s == 'f32' else x
        lo, hi = (-(1 << (w - 1)), (1 << (w - 1)) - 1) if sg else (0, M(w))
        nanv = 0 if s != 'f64' and w < 64 else (1 << (w - 1))
        v = to_int(s, x, mode, lo, hi, nanv) & M(w)
        return sx(v, w) if sg else v
    if d in F and s in INTS:
        v = iv(s, a[0])
        r = rnd(d, 1 if v < 0 else 0, abs(v) + Fr(0), mode)
        return sat(d, r) if st else r
    if d in F and s in F and len(a) == 1:
        x = a[0]
        if d == 'f64' and isnan(s, x):
            raise Skip
        if fz and s == 'f32':
            x = ftz(s, x)
        if mode and mode.endswith('i'):
            dd = dec(s, x)
            if dd[0] == 'nan':
                r = CAN[d]
            elif dd[0] == 'inf':
                r = x
            else:
                r = rnd(d, dd[1], Fr(rnd_int(dd[2], mode, dd[1])))
        elif d == s and not mode:
            r = x if not isnan(s, x) else CAN[d]
        else:
            r = cvtff(d, s, x, mode or 'rn')
        if s == 'f64' and isnan(s, x) and not st:  # the sign and the upper payload stay (an H200)
            bits, mantissa = F[d]
            r = x >> 63 << bits + mantissa | ((1 << bits) - 1) << mantissa | ((x | 1 << 51) & M(52)) >> 52 - mantissa
        if fz and d == 'f32':
            r = ftz(d, r)
        if st:
            r = sat(d, r)
        if 'satfinite' in ms:
            dd = dec(d, r)
            e, m = F[d]
            if dd[0] == 'inf':
                r = dd[1] << (e + m) | (((1 << e) - 1) << m) - 1
        if 'relu' in ms:
            r = relu(d, r)
        return r
    if d in ('f16x2', 'bf16x2') and s == 'f32':
        f = d[:-2]
        o = [cvt(ms, [f, 'f32'], [x], form) for x in a]
        return o[0] << 16 | o[1]
    if d == 'tf32':
        x = a[0]
        dd = dec('f32', x)
        if dd[0] == 'nan':
            return 0x7FFFFFFF
        if dd[0] == 'inf':
            r = x if 'satfinite' not in ms else (x >> 31) << 31 | 0x7F7FE000
        else:
            v = dd[2]
            if v == 0:
                r = x
            else:
                ee = max(ilog2(v), -126)
                q = rnd_int(v / pw(ee - 10), mode, dd[1])
                r = rnd('f32', dd[1], q * pw(ee - 10))
                if 'satfinite' in ms and r & 0x7FFFFFFF == 0x7F800000:
                    r = (x >> 31) << 31 | 0x7F7FE000
        if 'relu' in ms:
            r = relu('f32', r)
        return r
    m = re.match(r'(e\dm\d)x2$', d)
    if m:
        rl = 'relu' in ms
        n = 4 if d[:4] == 'e2m1' else 8
        if s == 'f32':
            return small(m[1], 'f32', a[0], rl) << n | small(m[1], 'f32', a[1], rl)
        f = s[:-2]
        return small(m[1], f, a[0] >> 16, rl) << n | small(m[1], f, a[0] & 0xFFFF, rl)
    m = re.match(r'(e\dm\d)x2$', s)
    if m and d in ('f16x2', 'bf16x2'):
        f = d[:-2]
        n = 4 if s[:4] == 'e2m1' else 8

        def u(b):
            k, sg, v = small_val(m[1], b)
            e, mm = F[f]
            if k == 'nan':
                return CAN[f]
            if k == 'inf':
                r = sg << 15 | ((1 << e) - 1) << mm
            else:
                r = rnd(f, sg, v)
            if 'satfinite' in ms and k == 'inf':
                r -= 1
            return relu(f, r) if 'relu' in ms else r

        return u(a[0] >> n & M(n)) << 16 | u(a[0] & M(n))
    if d == 'ue8m0x2':

        def u(f, x):
            dd = dec(f, x)
            if dd[0] == 'nan':
                return 0xFF
            if dd[0] == 'inf':
                return 0xFE if 'satfinite' in ms else 0xFF
            raise Skip

        raise Skip
    if s == 'ue8m0x2':

        def u(b):
            return 0x7FFF if b == 255 else rnd('bf16', 0, pw(b - 127))

        return u(a[0] >> 8 & 255) << 16 | u(a[0] & 255)
    raise Skip


def clampsel(v, lo, hi):
    return max(lo, min(hi, v))


def oracle(form, name, ms, types, a, imm):
    t = types[0] if types else None
    if name in ('add', 'sub', 'mul', 'mad', 'fma', 'div', 'rem', 'abs', 'neg', 'min', 'max', 'sad', 'rcp', 'sqrt'):
        if 'cc' in ms:
            pass
        return arith(name, [m for m in ms if m != 'cc'], types, a)
    if name == 'mul24' or name == 'mad24':
        s, _ = ity(t)
        A = [sx(x, 24) if s else x & M(24) for x in a[:2]]
        r = A[0] * A[1]
        r = r >> 16 if 'hi' in ms else r
        r = sx(r, 32) if s else r & M(32)
        if name == 'mad24':
            if 'sat' in ms:
                r = clampsel(r + sx(a[2], 32), -(1 << 31), (1 << 31) - 1)
            else:
                r += a[2]
        return r & M(32)
    if name == 'popc':
        return bin(a[0]).count('1')
    if name == 'clz':
        w = int(t[1:])
        return w - a[0].bit_length()
    if name == 'brev':
        w = int(t[1:])
        return int(bin(a[0])[2:].zfill(w)[::-1], 2)
    if name == 'bfind':
        s, w = ity(t)
        x = a[0]
        if s and x >> (w - 1):
            x = ~x & M(w)
        if x == 0:
            return 0xFFFFFFFF
        r = x.bit_length() - 1
        return w - 1 - r if 'shiftamt' in ms else r
    if name == 'bfe':
        s, w = ity(t)
        pos = a[1] & 255
        ln = a[2] & 255
        if ln == 0:
            return 0
        sb = (a[0] >> min(pos + ln - 1, w - 1)) & 1 if s else 0
        r = 0
        msb = w - 1
        for i in range(w):
            r |= ((a[0] >> (pos + i) & 1) if i < ln and pos + i <= msb else sb) << i
        return r
    if name == 'bfi':
        w = int(t[1:])
        x, b, pos, ln = a[0], a[1], a[2] & 255, a[3] & 255
        r = b
        for i in range(ln):
            if pos + i < w:
                r = r & ~(1 << (pos + i)) | ((x >> i & 1) << (pos + i) if i < w else 0)
        return r
    if name == 'szext':
        s, _ = ity(t)
        b = a[1]
        if 'wrap' in ms:
            b &= 31
        if b >= 32:
            return a[0]
        if b == 0:
            return 0
        return (sx(a[0], b) if s else a[0] & M(b)) & M(32)
    if name == 'bmsk':
        x, y = a[0], a[1]
        if 'wrap' in ms:
            x &= 31
            y &= 31
        else:
            x = min(x, 32)
            y = min(y, 32)
        return (M(y) << x) & M(32)
    if name == 'dp4a':
        r = sx(a[2], 32)
        for i in range(4):
            r += (sx(a[0] >> 8 * i, 8) if types[0] == 's32' else a[0] >> 8 * i & 255) * (
                sx(a[1] >> 8 * i, 8) if types[1] == 's32' else a[1] >> 8 * i & 255
            )
        return r & M(32)
    if name == 'dp2a':
        r = a[2]
        o = 0 if 'lo' in ms else 2
        for i in range(2):
            r += (sx(a[0] >> 16 * i, 16) if types[0] == 's32' else a[0] >> 16 * i & 0xFFFF) * (
                sx(a[1] >> 8 * (i + o), 8) if types[1] == 's32' else a[1] >> 8 * (i + o) & 255
            )
        return r & M(32)
    if name == 'copysign':
        w = bits(t)
        return a[0] & (1 << (w - 1)) | a[1] & M(w - 1)
    if name == 'testp':
        d = dec(t, a[0])
        m = ms[0]
        e, mm = F[t]
        ex = a[0] >> mm & M(e)
        return {
            'finite': d[0] == 'num',
            'infinite': d[0] == 'inf',
            'number': d[0] != 'nan',
            'notanumber': d[0] == 'nan',
            'normal': 0 < ex < M(e) or d[0] == 'num' and d[2] == 0,
            'subnormal': d[0] == 'num' and ex == 0 and d[2] != 0,
        }[m] * 1
    if name in ('and', 'or', 'xor') and t != 'pred':
        return {'and': a[0] & a[1], 'or': a[0] | a[1], 'xor': a[0] ^ a[1]}[name]
    if name == 'not' and t != 'pred':
        return ~a[0] & M(int(t[1:]))
    if name == 'cnot':
        return int(a[0] == 0)
    if name == 'lop3':
        if len(ms):
            raise Skip
        r = 0
        for i in range(32):
            r |= (imm[-1] >> ((a[0] >> i & 1) * 4 + (a[1] >> i & 1) * 2 + (a[2] >> i & 1)) & 1) << i
        return r
    if name == 'shf':
        c = a[2]
        c = min(c, 32) if 'clamp' in ms else c & 31
        v = a[1] << 32 | a[0]
        return (v >> (32 - c) if 'l' in ms else v >> c) & M(32)
    if name == 'shl':
        w = int(t[1:])
        return a[0] << a[1] & M(w) if a[1] < w else 0
    if name == 'shr':
        w = int(t[1:])
        v = sx(a[0], w) if t[0] == 's' else a[0]
        return (v >> min(a[1], w)) & M(w)
    if name == 'prmt':
        b = [a[0] >> 8 * i & 255 for i in range(4)] + [a[1] >> 8 * i & 255 for i in range(4)]
        c = a[2]
        if not ms:
            r = 0
            for i in range(4):
                n = c >> 4 * i & 15
                v = b[n & 7]
                if n & 8:
                    v = 255 if v >> 7 else 0
                r |= v << 8 * i
            return r
        c &= 3
        sel = {
            'f4e': [[3, 2, 1, 0], [4, 3, 2, 1], [5, 4, 3, 2], [6, 5, 4, 3]],
            'b4e': [[5, 6, 7, 0], [6, 7, 0, 1], [7, 0, 1, 2], [0, 1, 2, 3]],
            'rc8': [[i] * 4 for i in range(4)],
            'ecl': [[3, 2, 1, 0], [3, 2, 1, 1], [3, 2, 2, 2], [3, 3, 3, 3]],
            'ecr': [[0, 0, 0, 0], [1, 1, 1, 0], [2, 2, 1, 0], [3, 2, 1, 0]],
            'rc16': [[1, 0, 1, 0], [3, 2, 3, 2], [1, 0, 1, 0], [3, 2, 3, 2]],
        }[ms[0]][c]
        return sum(b[sel[3 - i]] << 8 * i for i in range(4))
    if name in ('set', 'setp'):
        op = ms[0]
        bo = [m for m in ms if m in ('and', 'or', 'xor')]
        st = types[-1]
        dt = types[0]

        def one_(f, x, y):
            x, y = ftzs(f, [x, y], 'ftz' in ms)
            return cmp(op, f, x, y)

        if st.endswith('x2'):
            f = st[:-2]
            rs = [one_(f, a[0] >> s & 0xFFFF, a[1] >> s & 0xFFFF) for s in (0, 16)]
            if name == 'setp':
                if bo:
                    raise Skip
                return ('pp', rs[0], rs[1])
            return sum((one(f) if r else 0) << 16 * i for i, r in enumerate(rs))
        r = one_(st, a[0], a[1])
        if bo:
            c = not a[2]
            g = lambda r: {'and': r and c, 'or': r or c, 'xor': r != c}[bo[0]]
            if name == 'setp':
                return ('pp', g(r), g(not r))
            r = g(r)
        if name == 'setp':
            return ('pp', r, not r)
        if dt in F:
            return one(dt) if r else 0
        return M(int(dt[1:])) if r else 0
    if name == 'selp':
        return a[0] if a[2] else a[1]
    if name == 'slct':
        if types[-1] == 's32':
            return a[0] if sx(a[2], 32) >= 0 else a[1]
        c = a[2]
        if 'ftz' in ms:
            c = ftz('f32', c)
        return a[0] if cmp('ge', 'f32', c, 0) else a[1]
    if name == 'cvt':
        return cvt(ms, types, a, form)
    raise Skip


TYPES = re.compile(r'^(pred|[usb](8|16|32|64|128)|[us]16x2|f16|f16x2|bf16|bf16x2|f32|f32x2|f64|tf32|e\dm\dx[24]|ue8m0x2|s2f6x2|[us][248])$')


def parse(form):
    op, _, ops = form.partition(' ')
    parts = op.split('.')
    name = parts[0]
    ms = [p for p in parts[1:] if not TYPES.match(p)]
    ts = [p for p in parts[1:] if TYPES.match(p)]
    return name, ms, ts, [o.strip() for o in re.split(r',(?![^{]*})', ops)]


def registers(ops):
    """The register operands that a form reads, without `!`."""
    return [o.lstrip('!') for o in ops if re.match(r'^!?[hwqcp]\d$', o)]


def sets_of(form, count):
    """Lines of a form; none where its meaning is not known here."""
    name, ms, ts, ops = parse(form)
    if not all(re.match(r'^!?[hwqcp]\d(\|p\d)?$|^(0x)?[0-9a-f]+$', o) for o in ops):
        return []
    sources = registers(ops[1:])
    imm = [int(o, 0) for o in ops[1:] if o[0].isdigit()]
    width = KIND.get(ops[0][0], 1)
    lines = {}
    for _ in range(40 * count):
        if len(lines) == count:
            break
        a = [rng.getrandbits(1) if r[0] == 'p' else pick(KIND[r[0]]) for r in sources]
        try:
            r = oracle(form, name, ms, ts, a, imm)
        except Skip:
            continue
        r = [int(x) for x in r[1:]] if isinstance(r, tuple) else [int(r) & M(width)]
        r = r[: len(ops[0].split('|'))]
        lines[f"{form} | {' '.join(f'{x:x}' for x in a)} | {' '.join(f'{x:x}' for x in r)}"] = None
    return list(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--output', type=pathlib.Path, default=ROOT / 'testdata/ptxsim/values.txt')
    parser.add_argument('--sets', type=int, default=3)
    args = parser.parse_args()
    forms = [l.split(' ', 1)[1] for l in (ROOT / 'testdata/ptxsim/forms.txt').read_text().splitlines() if l[0] != '#']
    lines = [line for form in dict.fromkeys(forms) for line in sets_of(form, args.sets)]
    args.output.write_text('# Written by scripts/gpu/ptx_values.py: form | operands | results.\n' + '\n'.join(lines) + '\n')
    print(len(lines), 'lines')


if __name__ == '__main__':
    main()
