"""Inputs and expected results of the kernels of testdata/ptxsim/cuda/basic.cu and tensor.cu, for nvcc_kernels.py."""
import functools, math, struct

import numpy as np

F32 = np.float32


def normal_cdf(values):
    return np.array([0.5 * (1 + math.erf(v / math.sqrt(2))) for v in values])


def mandelbrot(width, x0, y0, step):
    """Steps until a point leaves the circle of radius 2, rounded as the kernel rounds."""
    def at(origin, i):  # a fused multiply-add
        return F32(np.float64(F32(origin)) + np.float64(i) * np.float64(F32(step)))

    counts = np.zeros((width, width), int)
    for row in range(width):
        for column in range(width):
            cx, cy, x, y, n = at(x0, column), at(y0, row), F32(0), F32(0), 0
            while n < 200 and F32(np.float64(x) * x + np.float64(y * y)) < 4:
                x, y, n = (x * x - y * y) + cx, (F32(2) * x * y) + cy, n + 1
            counts[row, column] = n
    return counts


def philox(counter, key):
    """Philox4x32 of ten rounds."""
    c, k, low = [counter, 0, 0, 0], list(key), 0xFFFFFFFF
    for _ in range(10):
        first, second = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [second >> 32 ^ c[1] ^ k[0], second & low, first >> 32 ^ c[3] ^ k[1], first & low]
        k = [(k[0] + 0x9E3779B9) & low, (k[1] + 0xBB67AE85) & low]
    return c


def switched(v):
    by_case = [v * 3, v ^ 0x55, v - 7, v << 2, int(v / 3), int(math.fmod(v, 7)), -v, ~v, v | 1, v & 0xF0, bin(v & 0xFFFFFFFF).count("1"),
               32 - (v & 0xFFFFFFFF).bit_length(), v * v]
    return by_case[v & 15] if v & 15 < len(by_case) else 42


def sums_and_moves(t, r):
    a, b = r.standard_normal(1000).astype(F32), r.standard_normal(1000).astype(F32)
    t.case("vector_add", 4, 256, [a, b, "f32[1000]", 1000], {2: a + b})
    x, y = r.standard_normal(1024).astype(F32), r.standard_normal(1024).astype(F32)
    t.case("saxpy4", 1, 64, [x, y, 2.0, 256], {1: y + F32(2) * x}, 1e-6)
    v = r.integers(-1000, 1000, 5000).astype(np.int32)
    t.case("reduce_shared", 4, 256, [v, np.zeros(1, np.int32), 5000], {1: [v.sum()]})
    t.case("reduce_shuffle", 4, 256, [x, "f32[4]"], {1: x.reshape(4, 256).sum(1)}, 1e-4)
    v = v[:512]
    rows = v.reshape(-1, 32)
    t.case("reduce_cg", 2, 256, [v, "s32[512]"], {1: rows.sum(1, keepdims=True) * 3 + rows.max(1, keepdims=True) * 5 + np.cumsum(rows, 1)})
    eights = x[:512].reshape(-1, 8)
    t.case("reduce_cg8", 2, 256, [x[:512], "f32[512]"],
           {1: eights.max(1, keepdims=True) + np.arange(8) + (np.arange(64) % 32)[:, None]}, 1e-6)
    c = r.integers(0, 9, 32).astype(np.int32)
    chosen = np.where(c % 3 == 0)[0]
    want = np.full(32, -1)
    want[chosen] = np.arange(len(chosen)) * 100 + len(chosen) + c[chosen[0]] * 1000
    t.case("coalesced", 1, 32, [c, "s32[32]"], {1: want})
    t.case("labeled", 1, 32, [c, "s32[32]"], {1: [(c % 4 == c[i] % 4).sum() * 100 + (c[:i] % 4 == c[i] % 4).sum() for i in range(32)]})
    m = r.standard_normal((50, 70)).astype(F32)
    t.case("transpose", "3,2", "32,8", [m.reshape(-1), "f32[3500]", 70, 50], {1: m.T})
    a, b = r.standard_normal((32, 32)).astype(F32), r.standard_normal((32, 32)).astype(F32)
    t.case("matmul", "2,2", "16,16", [a.reshape(-1), b.reshape(-1), "f32[1024]", 32], {2: a @ b}, 1e-4)
    u = r.integers(0, 256, 3000).astype(np.uint8)
    t.case("histogram", 2, 256, [u, np.zeros(256, np.uint32), 3000], {1: np.bincount(u, minlength=256)})
    d = r.integers(0, 2**32, 512).astype(np.uint32)
    t.case("bitonic", 1, 256, [d], {0: np.sort(d)})
    t.case("scan_blelloch", 1, 128, [v[:256], "s32[256]"], {1: np.cumsum(v[:256]) - v[:256]}, shared=1024)
    d = r.integers(0, 2**16, 256).astype(np.uint32)
    t.case("radix_pass", 1, 256, [d, "u32[256]", 3], {1: np.concatenate([d[d >> 3 & 1 == 0], d[d >> 3 & 1 == 1]])})
    x = r.integers(0, 9, 256).astype(F32)
    t.case("cache_hints", 1, 256, [x, "f32[1024]"], {1: np.tile(x * 6, 4)})


def simulations(t, r):
    s, x, years = (r.uniform(low, high, 128).astype(F32) for low, high in ((5, 30), (1, 100), (0.25, 10)))
    s6, x6, t6, rate, volatility = s.astype(float), x.astype(float), years.astype(float), 0.02, 0.3
    d1 = (np.log(s6 / x6) + (rate + 0.5 * volatility**2) * t6) / (volatility * np.sqrt(t6))
    call = s6 * normal_cdf(d1) - x6 * np.exp(-rate * t6) * normal_cdf(d1 - volatility * np.sqrt(t6))
    t.case("black_scholes", 1, 128, [s, x, years, "f32[128]", "f32[128]"], {3: call, 4: call - s6 + x6 * np.exp(-rate * t6)}, 2e-4)
    t.case("mandelbrot", "4,16", "16,4", ["s32[4096]", 64, -2.0, -1.3, 0.04], {0: mandelbrot(64, -2, -1.3, 0.04)})
    p = r.standard_normal((128, 4)).astype(F32)
    q = p.astype(float)
    apart = q[None, :, :3] - q[:, None, :3]
    pull = (apart * (q[None, :, 3] / ((apart**2).sum(2) + 0.01) ** 1.5)[:, :, None]).sum(1)
    t.case("nbody", 2, 64, [p.reshape(-1), "f32[512]", 128], {1: np.concatenate([pull, np.zeros((128, 1))], 1)}, 1e-3)
    image, taps = r.integers(0, 9, (4, 64)).astype(F32), [1, 2, 3, 4, 5, 4, 3, 2, 1]
    t.case("conv_rows", "2,4", 32, [image.reshape(-1), "f32[256]", 64], {1: np.array([np.convolve(row, taps, "same") for row in image])})
    h, walsh = r.integers(-5, 5, 256).astype(F32), np.array([[1]])
    while len(walsh) < 256:
        walsh = np.block([[walsh, walsh], [walsh, -walsh]])
    t.case("fast_walsh", 1, 128, [h], {0: walsh @ h})
    t.case("philox", 2, 32, ["u32[256]", 123, 456], {0: np.array([philox(i, (123, 456)) for i in range(64)])})
    g = r.integers(0, 9, (10, 10, 10)).astype(F32)
    want = np.zeros_like(g)
    inner = slice(1, -1)
    want[inner, inner, inner] = (g[inner, inner, :-2] + g[inner, inner, 2:] + g[inner, :-2, inner] + g[inner, 2:, inner] + g[:-2, inner, inner] +
                                 g[2:, inner, inner] - 6 * g[inner, inner, inner])
    t.case("stencil3d", 1, "10,10", [g.reshape(-1), np.zeros(1000, F32), 10], {1: want})


def control(t, r):
    v = r.integers(-1000, 1000, 64).astype(np.int32)
    t.case("switch_table", 1, 64, [v, "s32[64]"], {1: [switched(int(x)) for x in v]})
    t.case("fpointers", 1, 64, [v, "s32[64]"], {1: [(x + i, x * i, max(x, i))[i % 3] for i, x in enumerate(v)]})
    z = r.integers(-9, 9, 64).astype(F32)
    t.case("virtuals", 1, 64, [z, "f32[64]"], {1: [x * x * 2 if i % 2 else 3 * x * x + 2 for i, x in enumerate(z)]})
    fibonacci = [0, 1]
    while len(fibonacci) < 12:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    t.case("recursion", 1, 64, ["s32[64]"], {0: [fibonacci[i % 12] for i in range(64)]})
    v = v[:32]
    t.case("local_array", 1, 32, [v, "s32[32]"], {1: [sum(v[int(v[(i + j) % 32]) & 31] * (i + 1) for j in range(8)) for i in range(32)]})
    positive = sum(1 << i for i in range(32) if v[i] > 0)
    counted = positive + 3 * bool((v == 5).any()) + 7 * bool((v > -1000).all())
    alike = [sum(1 << j for j in range(32) if math.fmod(v[j], 5) == math.fmod(v[i], 5)) for i in range(32)]
    same = 0xFFFFFFFF if len({int(x / 1000) for x in v}) == 1 else 0
    t.case("votes", 1, 32, [v, "u32[32]"], {1: [(counted & 0xFFFFFFFF) ^ alike[i] ^ same for i in range(32)]})
    bits = [int(x) for x in v.astype(np.uint32)]
    folded = functools.reduce(lambda a, b: a ^ b, bits) ^ functools.reduce(lambda a, b: a | b, bits) ^ functools.reduce(lambda a, b: a & b, bits)
    total = (int(v.sum()) + 3 * int(v.max()) + 5 * int(v.min()) + folded) % 2**32
    t.case("redux", 1, 32, [v.view(np.uint32), "u32[32]"], {1: np.full(32, total)})
    q = r.integers(-4, 4, 128).astype(np.int32)
    t.case("sync_counts", 1, 128, [q, "s32[128]"], {1: np.full(128, (q > 0).sum() * 4 + 2 * bool((q > -5).all()) + bool((q == 3).any()))})
    if t.chosen.search("prints"):
        _, printed = t.run("prints", 1, 32, [np.array([3, 4], np.int32)])
        t.hold("prints", printed == "".join(f"{x} abc {1.5 * x:5.2f} 123456789abc z|7   |%\n" for x in (3, 4)), True)


def atomics(t, r):
    v, start = r.integers(0, 1000, 64).astype(np.int32), np.array([1, 2, 3, 4, -1, 0, 7, 5, 5, 0, 0, 0, 0], np.int32)
    want = start.copy()
    want[:4] = want[0] + v.sum(), want[1] - v.sum(), max(3, v.max()), min(4, v.min())
    for place, combine in ((4, np.bitwise_and), (5, np.bitwise_or), (6, np.bitwise_xor)):
        want[place] = combine.reduce(v, initial=start[place])
    for _ in v:
        want[7] = 0 if want[7] >= 17 else want[7] + 1
        want[8] = 13 if want[8] == 0 or want[8] > 13 else want[8] - 1
    want[9:] = 64, 128, 5, 9
    t.case("atomics_i", 1, 64, [start, v], {0: want})
    v, start = r.integers(0, 2**63, 64).astype(np.uint64), np.array([1, 2, 2**62, 2**64 - 1, 0, 7, 0, 0], np.uint64)
    want = start.copy()
    want[0] += v.sum()
    for place, combine in ((1, np.maximum), (2, np.minimum), (3, np.bitwise_and), (4, np.bitwise_or), (5, np.bitwise_xor), (6, np.maximum)):
        want[place] = combine.reduce(v, initial=start[place])
    want[7] = 5
    t.case("atomics_l", 1, 64, [start, v], {0: want})
    t.case("atomics_f", 1, 64, [np.zeros(1, F32), np.zeros(1), np.zeros(2, np.float16), np.zeros(2, np.uint16), np.zeros(1, np.float16), np.zeros(1, np.uint16)],
           {0: [32], 1: [16], 2: [32, 64], 3: [0x4280, 0], 4: [64], 5: [192]})
    t.case("spin_lock", 3, 64, [np.zeros(1, np.int32), np.zeros(1, np.int32)], {1: [6]})
    x = r.integers(0, 9, 128).astype(F32)
    t.case("last_block", 4, 32, [x, "f32[4]", np.zeros(1, np.uint32), "f32[1]"], {1: x.reshape(4, 32).sum(1), 3: [x.sum()]})


def basic(t):
    for group in (sums_and_moves, simulations, control, atomics):
        group(t, np.random.default_rng(0))


def product(t, r, kernel, m, n, k, dtype, low, high, result, a_rows=True, b_rows=False, times=2, plus=1):
    """d = (a * b + plus) * times of small integers."""
    a, b = r.integers(low, high, (m, k)), r.integers(low, high, (k, n))
    stored = [(a if a_rows else a.T).astype(dtype).reshape(-1), (b if b_rows else b.T).astype(dtype).reshape(-1)]
    t.case(kernel, 1, 32, [*stored, f"{result}[{m * n}]"], {2: (a @ b + plus) * times})


def packed(rows, bits):
    """Rows of small integers, `bits` each, as bytes."""
    if bits == 1:
        return np.packbits(rows.astype(np.uint8), axis=1, bitorder="little").reshape(-1)
    return (rows[:, 0::2] & 15 | (rows[:, 1::2] & 15) << 4).astype(np.uint8).reshape(-1)


def matrices(t, r):
    half = np.float16
    product(t, r, "wmma_f16", 16, 16, 16, half, -4, 5, "f32")
    product(t, r, "wmma_f16_col", 16, 16, 16, half, -4, 5, "f32", False, True)
    product(t, r, "wmma_f16_32x8", 32, 8, 16, half, -4, 5, "f32", True, True)
    product(t, r, "wmma_f16_8x32", 8, 32, 16, half, -4, 5, "f32", True, True)
    product(t, r, "wmma_h", 16, 16, 16, half, -4, 5, "f16")
    product(t, r, "wmma_s8", 16, 16, 16, np.int8, -128, 128, "s32")
    product(t, r, "wmma_u8", 16, 16, 16, np.uint8, 0, 256, "s32")
    product(t, r, "wmma_f64", 8, 8, 4, np.float64, -9, 9, "f64")
    product(t, r, "wmma_tf32", 16, 16, 8, F32, -9, 9, "f32", times=1, plus=0)
    a, b = r.integers(-4, 5, (16, 16)).astype(F32), r.integers(-4, 5, (16, 16)).astype(F32)
    brain = [(x.view(np.uint32) >> 16).astype(np.uint16).reshape(-1) for x in (a, b)]
    t.case("wmma_bf16", 1, 32, [*brain, "f32[256]"], {2: (a @ b + 1) * 2})
    a, b = r.integers(-8, 8, (8, 32)), r.integers(-8, 8, (32, 8))
    t.case("wmma_s4", 1, 32, [packed(a, 4), packed(b.T, 4), "s32[64]"], {2: a @ b})
    a, b = r.integers(0, 2, (8, 128)), r.integers(0, 2, (128, 8))
    t.case("wmma_b1", 1, 32, [packed(a, 1), packed(b.T, 1), "s32[64]"], {2: a @ b})
    a, b = r.integers(-9, 9, (16, 16)).astype(half), r.integers(-9, 9, (16, 8)).astype(half)
    d, want = a.astype(F32) @ b.astype(F32), np.zeros((4, 32))
    of_a, of_b = np.zeros((4, 32, 2), half), np.zeros((2, 32, 2), half)
    for lane in range(32):
        row, k = lane // 4, lane % 4 * 2
        for i in range(4):
            of_a[i, lane] = a[row + 8 * (i % 2), k + 8 * (i // 2):][:2]
            want[i, lane] = d[row + 8 * (i // 2), k + i % 2] + i + 1
        for i in range(2):
            of_b[i, lane] = b[k + 8 * i:, row][:2]
    t.case("mma_f16", 1, 32, [of_a.view(np.uint32).reshape(-1), of_b.view(np.uint32).reshape(-1), "f32[128]"], {2: want})
    x = r.standard_normal(512).astype(half)
    rows = x.reshape(4, 8, 16)[:, :, :8]
    t.case("ldmatrix", 1, 32, [x, "u32[128]"], {1: np.ascontiguousarray(rows.transpose(0, 2, 1)).reshape(-1).view(np.uint32)})


def copies(t, r):
    x = r.standard_normal((5, 128)).astype(F32)
    t.case("pipeline_copy", 1, 128, [x.reshape(-1), "f32[640]", 5], {1: x[:, ::-1]})
    x = r.standard_normal((5, 64, 4)).astype(F32)
    t.case("cuda_pipe", 1, 64, [x.reshape(-1), "f32[1280]", 5], {1: x[:, ::-1]})
    v = r.integers(0, 99, 128).astype(np.int32)
    t.case("cuda_barrier", 1, 128, [v, "s32[384]"], {1: np.array([np.roll(v, -1) + k + np.arange(128) * k for k in range(3)])})
    t.case("barrier_drop", 1, 96, ["s32[32]"], {0: np.full(32, 96)})
    v = r.integers(0, 99, 256).astype(np.int32)
    t.case("cg_copy", 1, 256, [v, "s32[256]"], {1: v[::-1]}, shared=1024)
    t.case("atomic_refs", 1, 64, [np.zeros(3, np.int32), np.zeros(1, np.uint64), np.zeros(1, F32)], {1: [64], 2: [32]})
    u, want = r.integers(0, 2**63, 32).astype(np.uint64), []
    for i in range(16):
        x, y = int(u[2 * i]) << 64 | int(u[2 * i + 1]), int(u[i]) + 3
        x = (x * y + 7) % 2**128 // (y | 1)
        want += [x % 2**64, x >> 64]
    t.case("int128", 1, 16, [u, "u64[32]"], {1: np.array(want, np.uint64)})
    weights = r.standard_normal(20).astype(F32)
    given = struct.pack("<i20f4x", 18, *weights) + b"".join(struct.pack("<h6xd", 7 * i, 1.5 * i) for i in range(3))
    want = [weights[i] * F32(1.5 * (i % 3)) + 7 * ((i + 1) % 3) if i < 18 else -1 for i in range(32)]
    t.case("by_value", 1, 32, [np.frombuffer(given, np.uint8), "f32[32]"], {0: want}, 1e-6)
    if t.arch.startswith("8"):
        return
    v = r.integers(0, 99, 256).astype(np.int32)
    t.case("cluster", 8, 32, [v, "s32[256]"], {1: np.roll(v.reshape(2, 4, 32), -1, 1)[:, :, ::-1] + 1000 * np.arange(4)[None, :, None] + 400}, cluster=4)
    x = r.standard_normal(512).astype(F32)
    t.case("bulk", 2, 256, [x, "f32[512]"], {1: x + 1})
    t.case("elect", 1, 32, ["u32[32]"], {0: [1, *range(10, 320, 10)]})


def cub(t, r):
    v = r.integers(-99, 99, 512).astype(np.int32)
    t.case("cub_reduce", 4, 128, [v, "s32[4]"], {1: v.reshape(4, 128).sum(1)})
    t.case("cub_scan", 1, 128, [v, "s32[512]"], {1: np.cumsum(v) - v})
    u = r.integers(0, 2**32, 512).astype(np.uint32)
    t.case("cub_sort", 1, 128, [u, "u32[512]"], {1: np.sort(u)})
    x = r.standard_normal(256).astype(F32)
    t.case("cub_merge", 1, 64, [x, "f32[256]"], {1: np.sort(x)})
    t.case("cub_load", 1, 64, [v[:250], np.zeros(250, np.int32)], {1: v[:250] * 2 + np.arange(250) % 4})
    x = r.integers(0, 9, 128).astype(F32).reshape(4, 32)
    want = np.cumsum(x, 1)
    want[:, 0] += x.max(1)
    t.case("cub_warp", 1, 128, [x.reshape(-1), "f32[128]"], {1: want})
    c = r.integers(0, 50, 256).astype(np.uint8)
    t.case("cub_hist", 1, 64, [c, "u32[256]"], {1: np.bincount(c, minlength=256)})
    v = r.integers(0, 2, 256).astype(np.int32)
    t.case("cub_disc", 1, 128, [v, "s32[256]"], {1: np.concatenate([[1], (v[1:] != v[:-1]).astype(int)])})
    v = np.arange(512).astype(np.int32)
    t.case("cub_exch", 1, 128, [v, "s32[512]"], {1: v.reshape(4, 128).T})


def tensor(t):
    for group in (matrices, copies, cub):
        group(t, np.random.default_rng(2))
