#!/usr/bin/env python3
"""More of Triton's tutorials, and what its tests are about, as clients of the simulated CUDA driver: triton_more.py --lib LIB, as triton_client.py."""
import os, sys

if sys.argv[1:2] == ["--lib"]:
    os.environ["HLOKIT_TRITON_SCRIPT"] = os.path.abspath(__file__)

from triton_client import Array, expect, finish, np, tl, triton

try:
    from triton.language.extra import libdevice
except ImportError:
    libdevice = None


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    kept = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(kept, tl.load(x + i, mask=mask) / (1 - p), 0.0), mask=mask)


@triton.jit
def leaky_matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid, rows, columns = tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = pid // (GROUP * columns) * GROUP
    size = min(rows - first, GROUP)
    m, n = first + pid % (GROUP * columns) % size, pid % (GROUP * columns) // size
    rm, rn, rk = (m * BM + tl.arange(0, BM)) % M, (n * BN + tl.arange(0, BN)) % N, tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        pa = tl.load(a + rm[:, None] * K + (k * BK + rk)[None, :], mask=rk[None, :] < K - k * BK, other=0)
        pb = tl.load(b + (k * BK + rk)[:, None] * N + rn[None, :], mask=rk[:, None] < K - k * BK, other=0)
        acc = tl.dot(pa.to(tl.bfloat16, bitcast=True), pb.to(tl.bfloat16, bitcast=True), acc)
    acc = tl.where(acc >= 0, acc, 0.01 * acc)
    om, on = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN)
    tl.store(c + om[:, None] * N + on[None, :], acc, mask=(om[:, None] < M) & (on[None, :] < N))


@triton.jit
def persistent_matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    of_a = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    of_b = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    of_c = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    columns = tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), tl.cdiv(M, BM) * columns, tl.num_programs(0)):
        m, n = tile // columns * BM, tile % columns * BN
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(of_a.load([m, k]), of_b.load([n, k]).T, acc)
        of_c.store([m, n], acc.to(tl.float16))


@triton.jit
def grouped_gemm(pa, pb, pc, sizes, count, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tile, last = tl.program_id(0), 0
    for g in range(count):
        M, N, K = tl.load(sizes + 3 * g), tl.load(sizes + 3 * g + 1), tl.load(sizes + 3 * g + 2)
        columns = tl.cdiv(N, BN)
        tiles = tl.cdiv(M, BM) * columns
        while tile >= last and tile < last + tiles:
            a, b = tl.load(pa + g).to(tl.pointer_type(tl.float16)), tl.load(pb + g).to(tl.pointer_type(tl.float16))
            c = tl.load(pc + g).to(tl.pointer_type(tl.float32))
            rm, rn = (tile - last) // columns * BM + tl.arange(0, BM), (tile - last) % columns * BN + tl.arange(0, BN)
            acc = tl.zeros((BM, BN), dtype=tl.float32)
            for k in range(0, K, BK):
                rk = k + tl.arange(0, BK)
                left = tl.load(a + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
                acc = tl.dot(left, tl.load(b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0), acc)
            tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))
            tile += tl.num_programs(0)
        last += tiles


@triton.jit
def e4m3_matmul(a, b, c, scale, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm, rn, rk = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    pa = tl.load(a + rm[:, None] * BK + rk[None, :]).to(tl.float8e4nv, bitcast=True)
    pb = tl.load(b + rn[None, :] * BK + rk[:, None]).to(tl.float8e4nv, bitcast=True)
    tl.store(c + rm[:, None] * BN + rn[None, :], tl.dot(pa, pb) * tl.load(scale))


@triton.jit
def exact_attention(q, k, v, out, N, BM: tl.constexpr, D: tl.constexpr, BN: tl.constexpr):
    rm, rd, rn = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D), tl.arange(0, BN)
    base = tl.program_id(1) * N * D
    score = tl.dot(tl.load(q + base + rm[:, None] * D + rd[None, :]), tl.load(k + base + rn[None, :] * D + rd[:, None]), input_precision="ieee")
    p = tl.softmax(tl.where(rn[None, :] < N, score, -float("inf")), 1)
    result = tl.dot(p, tl.load(v + base + rn[:, None] * D + rd[None, :], mask=rn[:, None] < N, other=0.0), input_precision="ieee")
    tl.store(out + base + rm[:, None] * D + rd[None, :], result)


@triton.jit
def sums_under_locks(x, sums, locks, counts, columns, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    mask = i < columns
    value = tl.load(x + row * columns + i, mask=mask, other=0)
    lock, count, place = locks + row % GROUPS, counts + row % GROUPS, sums + row % GROUPS * columns + i
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        value += tl.load(place, mask=mask)
    tl.store(place, value, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def split_k_matmul(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm, rn, rk = tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN), tl.program_id(1) * BK + tl.arange(0, BK)
    product = tl.dot(tl.load(a + rm[:, None] * K + rk[None, :]), tl.load(b + rk[:, None] * N + rn[None, :]))
    tl.atomic_add(c + rm[:, None] * N + rn[None, :], product)


@triton.jit
def after(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def recurrence(a, b, out, T: tl.constexpr):
    i = tl.program_id(0) * T + tl.arange(0, T)
    _, states = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, after)
    tl.store(out + i, states)


@triton.jit
def welford(mean_a, square_a, count_a, mean_b, square_b, count_b):
    delta, count = mean_b - mean_a, count_a + count_b
    return mean_a + delta * count_b / count, square_a + square_b + delta * delta * count_a * count_b / count, count


@triton.jit
def variance(x, out, COLUMNS: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, COLUMNS)
    value = tl.load(x + row * COLUMNS + i)
    _, square, count = tl.reduce((value, value * 0, value * 0 + 1), 0, welford)
    tl.store(out + row, square / count)


@triton.jit
def cross_entropy(logits, targets, loss, gradient, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    most, total = -float("inf"), 0.0
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        v = tl.load(logits + row * columns + i, mask=i < columns, other=-float("inf"))
        now = tl.maximum(most, tl.max(v, 0))
        total = total * tl.exp(most - now) + tl.sum(tl.exp(v - now), 0)
        most = now
    target = tl.load(targets + row)
    tl.store(loss + row, tl.log(total) + most - tl.load(logits + row * columns + target))
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        v = tl.load(logits + row * columns + i, mask=i < columns, other=-float("inf"))
        tl.store(gradient + row * columns + i, tl.exp(v - most) / total - tl.where(i == target, 1.0, 0.0), mask=i < columns)


@triton.jit
def int4_matmul(x, packed, scales, out, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm, rn, rh = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK // 2)
    pair = tl.load(packed + rn[:, None] * (BK // 2) + rh[None, :])
    low, high = ((pair << 4).to(tl.int8) >> 4), (pair >> 4)
    w = tl.interleave(low.to(tl.float16), high.to(tl.float16)) * tl.load(scales + rn)[:, None]
    rk = tl.arange(0, BK)
    tl.store(out + rm[:, None] * BN + rn[None, :], tl.dot(tl.load(x + rm[:, None] * BK + rk[None, :]), tl.trans(w)))


@triton.jit
def moved(x, out, places, gathered, R: tl.constexpr, C: tl.constexpr):
    i, j = tl.arange(0, R), tl.arange(0, C)
    value = tl.load(x + i[:, None] * C + j[None, :])
    left, right = tl.split(tl.reshape(tl.flip(value, 1), (R, C // 2, 2)))
    tl.store(out + i[:, None] * C + j[None, :], tl.reshape(tl.permute(tl.join(right, left), (2, 0, 1)), (R, C)))
    tl.store(gathered + i[:, None] * C + j[None, :], tl.gather(value, tl.load(places + i[:, None] * C + j[None, :]), 1))


@triton.jit
def arcs(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out + i, libdevice.asin(v) + libdevice.erf(v) * libdevice.cbrt(v), mask=i < n)


def philox(seed, offset):
    """The first word of Philox 4x32, ten rounds."""
    c = [offset.astype(np.uint64), *(np.zeros_like(offset, np.uint64) for _ in range(3))]
    k, low = [seed & 0xFFFFFFFF, seed >> 32], np.uint64(0xFFFFFFFF)
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> np.uint64(32)) ^ c[1] ^ np.uint64(k[0]), b & low, (a >> np.uint64(32)) ^ c[3] ^ np.uint64(k[1]), a & low]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c[0].astype(np.uint32)


def bf16_bits(x):
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def of_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def of_e4m3(bits):
    bits = bits.astype(np.int32)
    exponent, fraction = bits >> 3 & 15, (bits & 7) / 8
    value = np.where(exponent > 0, (1 + fraction) * 2.0 ** (exponent - 7), fraction * 2.0**-6)
    return np.where(bits & 128, -value, value).astype(np.float32)


def products(rng):
    for M, N, K in ((130, 72, 80), (64, 128, 96)):
        a, b = bf16_bits(rng.standard_normal((M, K))), bf16_bits(rng.standard_normal((K, N)))
        out = Array(np.zeros((M, N), np.float32))
        leaky_matmul[(triton.cdiv(M, 64) * triton.cdiv(N, 64),)](Array(a), Array(b), out, M, N, K, BM=64, BN=64, BK=32, GROUP=2, num_stages=3)
        want = of_bf16(a) @ of_bf16(b)
        expect(f"bf16 matmul {M}x{N}x{K}, grouped, leaky relu", out.numpy(), np.where(want > 0, want, 0.01 * want), 1e-3)

    a, b = rng.standard_normal((256, 64)).astype(np.float16), rng.standard_normal((128, 64)).astype(np.float16)
    out = Array(np.zeros((256, 128), np.float16))
    persistent_matmul[(3,)](Array(a), Array(b), out, 256, 128, 64, BM=64, BN=64, BK=32, num_stages=3)
    expect("persistent matmul by descriptors", out.numpy().astype(np.float32), a.astype(np.float32) @ b.astype(np.float32).T, 2e-2)

    sizes = [(40, 64, 48), (64, 32, 16), (100, 70, 33)]
    groups = [(rng.standard_normal((m, k)).astype(np.float16), rng.standard_normal((k, n)).astype(np.float16)) for m, n, k in sizes]
    left, right = [Array(a) for a, _ in groups], [Array(b) for _, b in groups]
    outs = [Array(np.zeros((m, n), np.float32)) for m, n, _ in sizes]
    pointers = [Array(np.array([x.data_ptr() for x in some], np.int64)) for some in (left, right, outs)]
    grouped_gemm[(4,)](*pointers, Array(np.array(sizes, np.int32)), 3, BM=32, BN=32, BK=16)
    for (a, b), out in zip(groups, outs):
        expect(f"grouped gemm {a.shape}", out.numpy(), a.astype(np.float32) @ b.astype(np.float32), 1e-3)

    a, b = (rng.integers(0, 2, (64, 64)).astype(np.uint8) << 7 | rng.integers(0x20, 0x48, (64, 64)).astype(np.uint8) for _ in range(2))
    out, scale = Array(np.zeros((64, 64), np.float32)), Array(np.array([0.5], np.float32))
    e4m3_matmul[(1,)](Array(a), Array(b), out, scale, BM=64, BN=64, BK=64)
    want = of_e4m3(a) @ of_e4m3(b).T * 0.5
    expect("matmul of e4m3", out.numpy(), want, 2e-3 * float(np.abs(want).max()))  # wgmma keeps 14 bits

    a, b = rng.integers(-4, 5, (32, 128)).astype(np.float16), rng.integers(-4, 5, (128, 64)).astype(np.float16)
    out = Array(np.zeros((32, 64), np.float32))
    split_k_matmul[(2, 4)](Array(a), Array(b), out, 64, 128, BM=32, BN=32, BK=32)
    expect("split-k matmul by atomics", out.numpy(), a.astype(np.float32) @ b.astype(np.float32), 0)

    x, w = rng.standard_normal((32, 64)).astype(np.float16), rng.integers(-8, 8, (32, 64)).astype(np.int8)
    scales = rng.uniform(0.5, 1, 32).astype(np.float16)
    packed = (w[:, 0::2] & 15 | w[:, 1::2] << 4).astype(np.int8)
    out = Array(np.zeros((32, 32), np.float32))
    int4_matmul[(1,)](Array(x), Array(packed), Array(scales), out, BM=32, BN=32, BK=64)
    expect("matmul of packed int4", out.numpy(), x.astype(np.float32) @ (w.astype(np.float16) * scales[:, None]).astype(np.float32).T, 2e-3)

    q, k, v = (rng.standard_normal((2, 64, 32)).astype(np.float32) for _ in range(3))
    out = Array(np.zeros_like(q))
    exact_attention[(2, 2)](Array(q), Array(k), Array(v), out, 64, BM=32, D=32, BN=64)
    score = q @ k.transpose(0, 2, 1)
    e = np.exp(score - score.max(2, keepdims=True))
    expect("attention in f32", out.numpy(), e / e.sum(2, keepdims=True) @ v, 1e-5)


def rows(rng):
    x = rng.standard_normal(5000).astype(np.float32)
    out = Array(np.zeros_like(x))
    dropout[(triton.cdiv(5000, 512),)](Array(x), out, 5000, 0.3, 1234567, BLOCK=512)
    word = philox(1234567, np.arange(5000)).view(np.int32)
    uniform = np.where(word < 0, -word - 1, word).astype(np.float32) * np.float32(4.6566127342e-10)
    expect("dropout by Philox", out.numpy(), np.where(uniform > np.float32(0.3), x / np.float32(0.7), 0), 1e-6)

    x = rng.integers(-50, 50, (24, 100)).astype(np.int32)
    sums = Array(np.zeros((5, 100), np.int32))
    sums_under_locks[(24,)](Array(x), sums, Array(np.zeros(5, np.int32)), Array(np.zeros(5, np.int32)), 100, GROUPS=5, BLOCK=128)
    expect("sums under locks", sums.numpy(), np.stack([x[g::5].sum(0) for g in range(5)]), 0)

    a, b = rng.uniform(-1, 1, (3, 256)).astype(np.float32), rng.standard_normal((3, 256)).astype(np.float32)
    out, state, want = Array(np.zeros_like(a)), np.zeros(3), np.zeros((3, 256))
    recurrence[(3,)](Array(a), Array(b), out, T=256)
    for t in range(256):
        want[:, t] = state = a[:, t] * state + b[:, t]
    expect("linear recurrence by associative_scan", out.numpy(), want, 1e-4)

    x = rng.standard_normal((7, 512)).astype(np.float32)
    out = Array(np.zeros(7, np.float32))
    variance[(7,)](Array(x), out, COLUMNS=512)
    expect("variance by a reduce of three", out.numpy(), x.var(1), 1e-5)

    x, target = rng.standard_normal((9, 700)).astype(np.float32), rng.integers(0, 700, 9).astype(np.int32)
    loss, gradient = Array(np.zeros(9, np.float32)), Array(np.zeros_like(x))
    cross_entropy[(9,)](Array(x), Array(target), loss, gradient, 700, BLOCK=256)
    p = np.exp(x - x.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    expect("cross entropy", loss.numpy(), -np.log(p[np.arange(9), target]), 1e-5)
    p[np.arange(9), target] -= 1
    expect("its gradient", gradient.numpy(), p, 1e-6)

    x = rng.integers(-1000, 1000, (16, 32)).astype(np.int32)
    places = rng.integers(0, 32, (16, 32)).astype(np.int32)
    out, gathered = Array(np.zeros_like(x)), Array(np.zeros_like(x))
    moved[(1,)](Array(x), out, Array(places), gathered, R=16, C=32)
    parts = x[:, ::-1].reshape(16, 16, 2)
    expect("flip, split, join, permute", out.numpy(), np.stack([parts[..., 1], parts[..., 0]], -1).transpose(2, 0, 1).reshape(16, 32), 0)
    expect("gather", gathered.numpy(), np.take_along_axis(x, places, 1), 0)

    if libdevice is not None:
        import math

        x = rng.uniform(-1, 1, 3000).astype(np.float32)
        out = Array(np.zeros_like(x))
        arcs[(triton.cdiv(3000, 1024),)](Array(x), out, 3000, BLOCK=1024)
        expect("asin, erf and cbrt of libdevice", out.numpy(), np.arcsin(x) + np.vectorize(math.erf)(x) * np.cbrt(x), 2e-6)


def main():
    triton.runtime.driver.active.get_current_device()  # makes a context current
    kept = []

    def allocate(size, alignment, stream):
        kept.append(Array(np.zeros(size, np.int8)))
        return kept[-1]

    triton.set_allocator(allocate)
    rng = np.random.default_rng(1)
    rows(rng)
    products(rng)
    finish()


if __name__ == "__main__":
    main()
