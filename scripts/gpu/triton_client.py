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
        sys.exit(subprocess.run([sys.executable, __file__], env=variables).returncode)

cuda = ctypes.CDLL("libcuda.so.1")


def check(result, what):
    if result:
        cuda.hlokitSimLastError.restype = ctypes.c_char_p
        sys.exit(f"{what}: error {result} {cuda.hlokitSimLastError().decode()}")


class Array:
    """Device memory with what Triton asks of a tensor."""

    def __init__(self, values):
        self.shape, self.dtype_np, self.nbytes = values.shape, values.dtype, values.nbytes
        self.dtype = {"float32": "fp32", "float16": "fp16", "int32": "i32"}[values.dtype.name]
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


failed = 0


def expect(name, got, want, tolerance):
    global failed
    error = float(np.abs(got - want).max())
    ok = error <= tolerance
    failed += not ok
    print(f"{name}: {'agrees' if ok else 'DIFFERS'}, largest error {error:.2e}")


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
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
