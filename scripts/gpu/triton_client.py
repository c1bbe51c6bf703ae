#!/usr/bin/env python3
"""Triton (PyPI) as a client of the simulated CUDA driver: its tutorial's kernels on numpy arrays.

    triton_client.py --lib BUILD/lib/libhlokit_cuda_sim.so

is, in a folder of its own and with an empty cache of Triton,

    ln -s BUILD/lib/libhlokit_cuda_sim.so libcuda.so.1; ln -s libcuda.so.1 libcuda.so
    LD_LIBRARY_PATH=. python triton_client.py

Triton compiles, loads and launches as on a GPU. It hands the driver machine code; the simulator takes the PTX that Triton keeps beside
it in its cache. Arrays are allocated by the driver's own functions, so that no PyTorch is needed. Needs triton, numpy and a C compiler.
Exit status 1 where a result is wrong, 77 where Triton is not installed.
"""
import ctypes, os, subprocess, sys, tempfile

try:
    import numpy as np
    import triton
    import triton.language as tl
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

if sys.argv[1:2] == ["--lib"]:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("libcuda.so.1", "libcuda.so"):
            os.symlink(os.path.abspath(sys.argv[2]), f"{folder}/{name}")
        variables = {**os.environ, "LD_LIBRARY_PATH": folder, "TRITON_CACHE_DIR": f"{folder}/cache", "HLOKIT_CUDA_SIM_DEVICES": "1"}
        sys.exit(subprocess.run([sys.executable, os.environ.get("HLOKIT_TRITON_SCRIPT", __file__)], env=variables).returncode)

cuda = ctypes.CDLL("libcuda.so.1")


def check(result, what):
    if result:
        cuda.hlokitSimLastError.restype = ctypes.c_char_p
        sys.exit(f"{what}: error {result} {cuda.hlokitSimLastError().decode()}")


class Array:
    """Device memory with what Triton asks of a tensor."""

    def __init__(self, values):
        self.shape, self.dtype_np, self.nbytes = values.shape, values.dtype, values.nbytes
        self.dtype = {"float32": "fp32", "float16": "fp16", "int32": "i32", "int8": "i8", "uint8": "u8", "int64": "i64", "uint16": "u16"}[values.dtype.name]
        self.address = ctypes.c_uint64()
        check(cuda.cuMemAlloc_v2(ctypes.byref(self.address), ctypes.c_size_t(values.nbytes)), "cuMemAlloc")
        values = np.ascontiguousarray(values)
        check(cuda.cuMemcpyHtoD_v2(self.address, values.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(self.nbytes)), "cuMemcpyHtoD")

    def data_ptr(self):
        return self.address.value

    def numpy(self):
        out = np.empty(self.shape, self.dtype_np)
        check(cuda.cuMemcpyDtoH_v2(out.ctypes.data_as(ctypes.c_void_p), self.address, ctypes.c_size_t(self.nbytes)), "cuMemcpyDtoH")
        return out


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < columns
    v = tl.load(x + row * columns + i, mask=mask, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * columns + i, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def layer_norm(x, w, b, out, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < columns
    v = tl.load(x + row * columns + i, mask=mask, other=0.0)
    mean = tl.sum(v, axis=0) / columns
    d = tl.where(mask, v - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(d * d, axis=0) / columns + eps)
    tl.store(out + row * columns + i, d * rstd * tl.load(w + i, mask=mask) + tl.load(b + i, mask=mask), mask=mask)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        pa = tl.load(a + rm[:, None] * K + (k + rk)[None, :], mask=(rm[:, None] < M) & ((k + rk)[None, :] < K), other=0.0)
        pb = tl.load(b + (k + rk)[:, None] * N + rn[None, :], mask=((k + rk)[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc = tl.dot(pa, pb, acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def matmul_bytes(a, b, c, KIND: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm, rn, rk = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    pa = tl.load(a + rm[:, None] * BK + rk[None, :])
    pb = tl.load(b + rk[:, None] * BN + rn[None, :])
    if KIND == "s8":
        tl.store(c + rm[:, None] * BN + rn[None, :], tl.dot(pa, pb, out_dtype=tl.int32))
    else:
        tl.store(c + rm[:, None] * BN + rn[None, :], tl.dot(pa.to(tl.float8e5, bitcast=True), pb.to(tl.float8e5, bitcast=True)))


@triton.jit
def attention(q, k, v, out, N, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rm, rd = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    query = tl.load(q + rm[:, None] * D + rd[None, :])
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, N, BN):
        rn = start + tl.arange(0, BN)
        key = tl.load(k + rn[None, :] * D + rd[:, None])
        score = tl.where(rm[:, None] >= rn[None, :], tl.dot(query, key) * scale, -float("inf"))
        now = tl.maximum(most, tl.max(score, 1))
        p = tl.exp(score - now[:, None])
        fade = tl.exp(most - now)
        total = total * fade + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), tl.load(v + rn[:, None] * D + rd[None, :]), acc * fade[:, None])
        most = now
    tl.store(out + rm[:, None] * D + rd[None, :], acc / total[:, None])


@triton.jit
def in_order(x, sorted_x, sums, most, ROW: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, ROW)
    value = tl.load(x + row * ROW + i)
    tl.store(sorted_x + row * ROW + i, tl.sort(value))
    tl.store(sums + row * ROW + i, tl.cumsum(value, 0))
    tl.store(most + row, tl.argmax(value, 0))


@triton.jit
def histogram(x, counts, largest, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(counts + value % BINS, 1, mask=i < n)
    tl.atomic_max(largest, tl.max(value, 0))


@triton.jit
def transpose_by_descriptor(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    target = tl.make_tensor_descriptor(out, shape=[N, M], strides=[M, 1], block_shape=[BN, BM])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    target.store([n, m], source.load([m, n]).T)


failed = 0


def expect(name, got, want, tolerance):
    global failed
    error = float(np.abs(got - want).max())
    ok = error <= tolerance
    failed += not ok
    print(f"{name}: {'agrees' if ok else 'DIFFERS'}, largest error {error:.2e}")


def finish():
    sys.exit(1 if failed else 0)


def main():
    triton.runtime.driver.active.get_current_device()  # makes a context current
    rng = np.random.default_rng(0)
    n = 98432
    x, y = (rng.standard_normal(n).astype(np.float32) for _ in range(2))
    out = Array(np.zeros(n, np.float32))
    add[(triton.cdiv(n, 1024),)](Array(x), Array(y), out, n, BLOCK=1024)
    expect("vector-add", out.numpy(), x + y, 0)

    x = rng.standard_normal((37, 781)).astype(np.float32)
    out = Array(np.zeros_like(x))
    softmax[(37,)](Array(x), out, 781, BLOCK=1024)
    e = np.exp(x - x.max(1, keepdims=True))
    expect("softmax", out.numpy(), e / e.sum(1, keepdims=True), 1e-6)

    w, b = (rng.standard_normal(781).astype(np.float32) for _ in range(2))
    out = Array(np.zeros_like(x))
    layer_norm[(37,)](Array(x), Array(w), Array(b), out, 781, 1e-5, BLOCK=1024)
    m = x.mean(1, keepdims=True)
    expect("layer-norm", out.numpy(), (x - m) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b, 2e-5)

    for M, N, K in ((128, 128, 64), (200, 136, 96)):
        p, q = rng.standard_normal((M, K)).astype(np.float16), rng.standard_normal((K, N)).astype(np.float16)
        out = Array(np.zeros((M, N), np.float32))
        matmul[(triton.cdiv(M, 64), triton.cdiv(N, 64))](Array(p), Array(q), out, M, N, K, BM=64, BN=64, BK=32)
        expect(f"matmul {M}x{N}x{K}", out.numpy(), p.astype(np.float32) @ q.astype(np.float32), 1e-3)
    more(rng)
    finish()


def of_e5m2(bits):
    return (bits.astype(np.uint16) << 8).view(np.float16).astype(np.float32)


def more(rng):
    p, q = (rng.integers(-100, 100, (64, 64)).astype(np.int8) for _ in range(2))
    out = Array(np.zeros((64, 64), np.int32))
    matmul_bytes[(1,)](Array(p), Array(q), out, KIND="s8", BM=64, BN=64, BK=64)
    expect("matmul of int8", out.numpy(), p.astype(np.int32) @ q.astype(np.int32), 0)
    p, q = (rng.integers(0x2C, 0x44, (64, 64)).astype(np.uint8) | rng.integers(0, 2, (64, 64)).astype(np.uint8) << 7 for _ in range(2))
    out = Array(np.zeros((64, 64), np.float32))
    matmul_bytes[(1,)](Array(p), Array(q), out, KIND="e5m2", BM=64, BN=64, BK=64)
    want = of_e5m2(p) @ of_e5m2(q)
    expect("matmul of e5m2", out.numpy(), want, 2e-3 * float(np.abs(want).max()))  # wgmma keeps 14 bits

    q, k, v = (rng.standard_normal((128, 64)).astype(np.float16) for _ in range(3))
    out = Array(np.zeros((128, 64), np.float32))
    attention[(2,)](Array(q), Array(k), Array(v), out, 128, 0.125, BM=64, BN=64, D=64)
    score = np.where(np.tri(128) > 0, q.astype(np.float32) @ k.astype(np.float32).T * 0.125, -np.inf)
    e = np.exp(score - score.max(1, keepdims=True))
    expect("causal attention", out.numpy(), e / e.sum(1, keepdims=True) @ v.astype(np.float32), 5e-3)

    x = rng.permutation(4 * 256).reshape(4, 256).astype(np.int32)
    results = [Array(np.zeros_like(x)), Array(np.zeros_like(x)), Array(np.zeros(4, np.int32))]
    in_order[(4,)](Array(x), *results, ROW=256)
    for name, got, want in zip(("sort", "cumsum", "argmax"), results, (np.sort(x, 1), np.cumsum(x, 1), np.argmax(x, 1))):
        expect(name, got.numpy(), want, 0)

    x = rng.integers(0, 5000, 3000).astype(np.int32)
    counts, largest = Array(np.zeros(64, np.int32)), Array(np.zeros(1, np.int32))
    histogram[(triton.cdiv(3000, 512),)](Array(x), counts, largest, 3000, BINS=64, BLOCK=512)
    expect("histogram by atomics", counts.numpy(), np.bincount(x % 64, minlength=64), 0)
    expect("maximum by atomics", largest.numpy(), x.max(), 0)

    if hasattr(triton, "set_allocator"):
        kept = []

        def allocate(size, alignment, stream):
            kept.append(Array(np.zeros(size, np.int8)))
            return kept[-1]

        triton.set_allocator(allocate)
        x = rng.standard_normal((96, 64)).astype(np.float32)
        out = Array(np.zeros((64, 96), np.float32))
        transpose_by_descriptor[(3, 2)](Array(x), out, 96, 64, BM=32, BN=32)
        expect("transpose by tensor descriptors", out.numpy(), x.T, 0)


if __name__ == "__main__":
    main()
