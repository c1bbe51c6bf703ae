// Kernels of the kinds that CUDA samples have, for scripts/gpu/nvcc_kernels.py: sums, scans, sorts,
// stencils, calls, atomics, votes.
#include <assert.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <stdint.h>
#include <stdio.h>
namespace cg = cooperative_groups;
#define KERNEL extern "C" __global__ void
KERNEL vector_add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
KERNEL saxpy4(const float4* x, float4* y, float a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float4 u = x[i], v = y[i];
    v.x += a * u.x;
    v.y += a * u.y;
    v.z += a * u.z;
    v.w += a * u.w;
    y[i] = v;
  }
}
KERNEL reduce_shared(const int* in, int* out, int n) {
  __shared__ int s[256];
  int t = threadIdx.x;
  int sum = 0;
  for (int i = blockIdx.x * 256 + t; i < n; i += gridDim.x * 256) sum += in[i];
  s[t] = sum;
  __syncthreads();
  for (int w = 128; w > 0; w >>= 1) {
    if (t < w) s[t] += s[t + w];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, s[0]);
}
KERNEL reduce_shuffle(const float* in, float* out) {
  float v = in[blockIdx.x * 256 + threadIdx.x];
  for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
  __shared__ float w[8];
  if (threadIdx.x % 32 == 0) w[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 8) {
    v = w[threadIdx.x];
    for (int o = 4; o; o >>= 1) v += __shfl_down_sync(0xff, v, o);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
  }
}
KERNEL reduce_cg(const int* in, int* out) {
  cg::thread_block b = cg::this_thread_block();
  auto t = cg::tiled_partition<32>(b);
  int v = in[blockIdx.x * blockDim.x + b.thread_rank()];
  int s = cg::reduce(t, v, cg::plus<int>());
  int m = cg::reduce(t, v, cg::greater<int>());
  int inc = cg::inclusive_scan(t, v, cg::plus<int>());
  out[blockIdx.x * blockDim.x + threadIdx.x] = s * 3 + m * 5 + inc;
}
KERNEL reduce_cg8(const float* in, float* out) {
  auto t = cg::tiled_partition<8>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = in[i];
  for (int o = t.size() / 2; o; o /= 2) v = fmaxf(v, t.shfl_xor(v, o));
  out[i] = v + t.thread_rank() + t.meta_group_rank();
}
KERNEL coalesced(const int* in, int* out) {
  int i = threadIdx.x;
  out[i] = -1;
  if (in[i] % 3 == 0) {
    auto g = cg::coalesced_threads();
    out[i] = g.thread_rank() * 100 + g.size() + g.shfl(in[i], 0) * 1000;
  }
}
KERNEL labeled(const int* in, int* out) {
  int i = threadIdx.x;
  auto t = cg::tiled_partition<32>(cg::this_thread_block());
  auto g = cg::labeled_partition(t, in[i] % 4);
  out[i] = g.size() * 100 + g.thread_rank();
}
KERNEL transpose(const float* in, float* out, int w, int h) {
  __shared__ float t[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < w && y + j < h) t[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < h && y + j < w) out[(y + j) * h + x] = t[threadIdx.x][threadIdx.y + j];
}
KERNEL matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float s[16][16], u[16][16];
  int r = blockIdx.y * 16 + threadIdx.y, q = blockIdx.x * 16 + threadIdx.x;
  float v = 0;
  for (int k = 0; k < n; k += 16) {
    s[threadIdx.y][threadIdx.x] = a[r * n + k + threadIdx.x];
    u[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + q];
    __syncthreads();
    for (int i = 0; i < 16; ++i) v += s[threadIdx.y][i] * u[i][threadIdx.x];
    __syncthreads();
  }
  c[r * n + q] = v;
}
KERNEL histogram(const unsigned char* in, unsigned* out, int n) {
  __shared__ unsigned h[256];
  h[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    atomicAdd(&h[in[i]], 1u);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], h[threadIdx.x]);
}
KERNEL bitonic(unsigned* d) {
  __shared__ unsigned s[512];
  int t = threadIdx.x;
  s[t] = d[t];
  s[t + 256] = d[t + 256];
  for (int k = 2; k <= 512; k <<= 1)
    for (int j = k / 2; j > 0; j >>= 1) {
      __syncthreads();
      int i = 2 * t - (t & (j - 1));
      bool up = (i & k) == 0;
      if ((s[i] > s[i + j]) == up) {
        unsigned x = s[i];
        s[i] = s[i + j];
        s[i + j] = x;
      }
    }
  __syncthreads();
  d[t] = s[t];
  d[t + 256] = s[t + 256];
}
KERNEL scan_blelloch(const int* in, int* out) {
  extern __shared__ int sh[];
  int t = threadIdx.x, n = 2 * blockDim.x, off = 1;
  sh[2 * t] = in[2 * t];
  sh[2 * t + 1] = in[2 * t + 1];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) sh[off * (2 * t + 2) - 1] += sh[off * (2 * t + 1) - 1];
    off *= 2;
  }
  if (t == 0) sh[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    off >>= 1;
    __syncthreads();
    if (t < d) {
      int a = off * (2 * t + 1) - 1, b = off * (2 * t + 2) - 1;
      int x = sh[a];
      sh[a] = sh[b];
      sh[b] += x;
    }
  }
  __syncthreads();
  out[2 * t] = sh[2 * t];
  out[2 * t + 1] = sh[2 * t + 1];
}
__device__ float cnd(float d) {
  const float A1 = 0.31938153f, A2 = -0.356563782f, A3 = 1.781477937f, A4 = -1.821255978f,
              A5 = 1.330274429f, R = 0.39894228040143267793994605993438f;
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float c = R * expf(-0.5f * d * d) * (k * (A1 + k * (A2 + k * (A3 + k * (A4 + k * A5)))));
  return d > 0 ? 1.0f - c : c;
}
KERNEL black_scholes(const float* s, const float* x, const float* t, float* call, float* put) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float R = 0.02f, V = 0.3f;
  float q = sqrtf(t[i]);
  float d1 = (logf(s[i] / x[i]) + (R + 0.5f * V * V) * t[i]) / (V * q), d2 = d1 - V * q;
  float e = expf(-R * t[i]);
  call[i] = s[i] * cnd(d1) - x[i] * e * cnd(d2);
  put[i] = x[i] * e * (1 - cnd(d2)) - s[i] * (1 - cnd(d1));
}
KERNEL mandelbrot(int* out, int w, float x0, float y0, float d) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  float cx = x0 + px * d, cy = y0 + py * d, x = 0, y = 0;
  int n = 0;
  while (n < 200 && x * x + y * y < 4) {
    float u = __fadd_rn(__fsub_rn(__fmul_rn(x, x), __fmul_rn(y, y)), cx);
    y = __fadd_rn(__fmul_rn(2 * x, y), cy);
    x = u;
    ++n;
  }
  out[py * w + px] = n;
}
KERNEL nbody(const float4* p, float4* acc, int n) {
  __shared__ float4 sp[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  float4 q = p[i];
  float ax = 0, ay = 0, az = 0;
  for (int b = 0; b < n; b += 64) {
    sp[threadIdx.x] = p[b + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 64; ++j) {
      float dx = sp[j].x - q.x, dy = sp[j].y - q.y, dz = sp[j].z - q.z;
      float r2 = dx * dx + dy * dy + dz * dz + 0.01f;
      float inv = rsqrtf(r2);
      float s = sp[j].w * inv * inv * inv;
      ax += dx * s;
      ay += dy * s;
      az += dz * s;
    }
    __syncthreads();
  }
  acc[i] = make_float4(ax, ay, az, 0);
}
__constant__ float taps[9] = {1, 2, 3, 4, 5, 4, 3, 2, 1};
KERNEL conv_rows(const float* in, float* out, int w) {
  int x = threadIdx.x + blockIdx.x * blockDim.x, y = blockIdx.y;
  float s = 0;
  for (int k = -4; k <= 4; ++k) {
    int c = x + k;
    if (c >= 0 && c < w) s += taps[k + 4] * in[y * w + c];
  }
  out[y * w + x] = s;
}
KERNEL fast_walsh(float* d) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = d[t];
  s[t + 128] = d[t + 128];
  for (int st = 128; st > 0; st >>= 1) {
    __syncthreads();
    int lo = t & (st - 1);
    int i0 = 2 * (t - lo) + lo, i1 = i0 + st;
    float a = s[i0], b = s[i1];
    s[i0] = a + b;
    s[i1] = a - b;
  }
  __syncthreads();
  d[t] = s[t];
  d[t + 128] = s[t + 128];
}
KERNEL philox(unsigned* out, unsigned k0, unsigned k1) {
  unsigned c0 = blockIdx.x * blockDim.x + threadIdx.x, c1 = 0, c2 = 0, c3 = 0;
  unsigned i = c0;
  for (int r = 0; r < 10; ++r) {
    unsigned h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0, h1 = __umulhi(0xCD9E8D57u, c2),
             l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  ((uint4*)out)[i] = make_uint4(c0, c1, c2, c3);
}
KERNEL radix_pass(const unsigned* in, unsigned* out, int bit) {
  __shared__ unsigned w[8];
  int t = threadIdx.x, lane = t & 31;
  unsigned v = in[t];
  bool one = v >> bit & 1;
  unsigned m = __ballot_sync(~0u, !one);
  int before = __popc(m & ((1u << lane) - 1));
  if (lane == 0) w[t / 32] = __popc(m);
  __syncthreads();
  int base = 0, total = 0;
  for (int i = 0; i < 8; ++i) {
    if (i < t / 32) base += w[i];
    total += w[i];
  }
  int zeros = base + before;
  out[one ? total + t - zeros : zeros] = v;
}
KERNEL stencil3d(const float* in, float* out, int n) {
  int x = threadIdx.x, y = threadIdx.y;
  for (int z = 1; z < n - 1; ++z)
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1) {
      int i = (z * n + y) * n + x;
      out[i] =
          in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n] - 6 * in[i];
    }
}
KERNEL switch_table(const int* in, int* out) {
  int i = threadIdx.x, v = in[i];
  int r;
  switch (v & 15) {
    case 0:
      r = v * 3;
      break;
    case 1:
      r = v ^ 0x55;
      break;
    case 2:
      r = v - 7;
      break;
    case 3:
      r = v << 2;
      break;
    case 4:
      r = v / 3;
      break;
    case 5:
      r = v % 7;
      break;
    case 6:
      r = -v;
      break;
    case 7:
      r = ~v;
      break;
    case 8:
      r = v | 1;
      break;
    case 9:
      r = v & 0xf0;
      break;
    case 10:
      r = __popc(v);
      break;
    case 11:
      r = __clz(v);
      break;
    case 12:
      r = v * v;
      break;
    default:
      r = 42;
  }
  out[i] = r;
}
typedef int (*fn)(int, int);
__device__ __noinline__ int f_add(int a, int b) { return a + b; }
__device__ __noinline__ int f_mul(int a, int b) { return a * b; }
__device__ __noinline__ int f_max(int a, int b) { return max(a, b); }
__device__ fn table[3] = {f_add, f_mul, f_max};
KERNEL fpointers(const int* in, int* out) {
  int i = threadIdx.x;
  fn f = table[i % 3];
  out[i] = f(in[i], i);
}
struct Shape {
  __device__ virtual float area(float) const = 0;
};
struct Sq : Shape {
  float s;
  __device__ Sq(float x) : s(x) {}
  __device__ float area(float k) const override { return s * s * k; }
};
struct Ci : Shape {
  float r;
  __device__ Ci(float x) : r(x) {}
  __device__ float area(float k) const override { return 3.0f * r * r + k; }
};
KERNEL virtuals(const float* in, float* out) {
  int i = threadIdx.x;
  Sq a(in[i]);
  Ci b(in[i]);
  Shape* p = i % 2 ? (Shape*)&a : (Shape*)&b;
  out[i] = p->area(2.0f);
}
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
KERNEL recursion(int* out) { out[threadIdx.x] = fib(threadIdx.x % 12); }
KERNEL local_array(const int* in, int* out) {
  int a[32];
  int i = threadIdx.x;
  for (int j = 0; j < 32; ++j) a[j] = in[j] * (i + 1);
  int s = 0;
  for (int j = 0; j < 8; ++j) s += a[in[(i + j) % 32] & 31];
  out[i] = s;
}
KERNEL votes(const int* in, unsigned* out) {
  int i = threadIdx.x;
  int p = in[i] > 0;
  unsigned r = __ballot_sync(~0u, p);
  r += __any_sync(~0u, in[i] == 5) * 3 + __all_sync(~0u, in[i] > -1000) * 7;
  unsigned m = __match_any_sync(~0u, in[i] % 5);
  int pred;
  unsigned a = __match_all_sync(~0u, in[i] / 1000, &pred);
  out[i] = r ^ m ^ (a * pred);
}
KERNEL redux(const int* in, int* out) {
  int i = threadIdx.x;
  int v = in[i];
  out[i] = __reduce_add_sync(~0u, v) + __reduce_max_sync(~0u, v) * 3 +
           __reduce_min_sync(~0u, v) * 5 +
           (int)(__reduce_xor_sync(~0u, (unsigned)v) ^ __reduce_or_sync(~0u, (unsigned)v) ^
                 __reduce_and_sync(~0u, (unsigned)v));
}
KERNEL sync_counts(const int* in, int* out) {
  int i = threadIdx.x;
  int c = __syncthreads_count(in[i] > 0), a = __syncthreads_and(in[i] > -5),
      o = __syncthreads_or(in[i] == 3);
  out[i] = c * 4 + (a != 0) * 2 + (o != 0);
}
KERNEL atomics_i(int* a, const int* v) {
  int i = threadIdx.x;
  atomicAdd(&a[0], v[i]);
  atomicSub(&a[1], v[i]);
  atomicMax(&a[2], v[i]);
  atomicMin(&a[3], v[i]);
  atomicAnd(&a[4], v[i]);
  atomicOr(&a[5], v[i]);
  atomicXor(&a[6], v[i]);
  atomicInc((unsigned*)&a[7], 17);
  atomicDec((unsigned*)&a[8], 13);
  atomicAdd_block(&a[9], 1);
  atomicAdd_system(&a[10], 2);
  atomicCAS(&a[11], 0, 5);
  atomicExch(&a[12], 9);
}
KERNEL atomics_l(unsigned long long* a, const unsigned long long* v) {
  int i = threadIdx.x;
  atomicAdd(&a[0], v[i]);
  atomicMax(&a[1], v[i]);
  atomicMin(&a[2], v[i]);
  atomicAnd(&a[3], v[i]);
  atomicOr(&a[4], v[i]);
  atomicXor(&a[5], v[i]);
  atomicMax((long long*)&a[6], (long long)v[i]);
  atomicCAS(&a[7], 0ull, 5ull);
}
KERNEL atomics_f(float* f, double* d, __half2* h, __nv_bfloat16* b, __half* s, unsigned short* c) {
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
  atomicAdd(h, __floats2half2_rn(0.5f, 1.0f));
  atomicAdd(b, __float2bfloat16(1.0f));
  atomicAdd(s, __float2half(1.0f));
  unsigned short old = *c, was;
  do {
    was = old;
    old = atomicCAS(c, was, (unsigned short)(was + 3));
  } while (old != was);
}
KERNEL spin_lock(int* lock, int* count) {
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(lock, 0, 1) != 0) __nanosleep(20);
    __threadfence();
    *count = *(volatile int*)count + 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}
KERNEL last_block(const float* in, float* out, unsigned* done, float* total) {
  __shared__ bool last;
  float v = in[blockIdx.x * 32 + threadIdx.x];
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
  if (threadIdx.x == 0) {
    out[blockIdx.x] = v;
    __threadfence();
    last = atomicAdd(done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    float s = threadIdx.x < gridDim.x ? ((volatile float*)out)[threadIdx.x] : 0;
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (threadIdx.x == 0) *total = s;
  }
}
KERNEL cache_hints(const float* in, float* out) {
  int i = threadIdx.x;
  float v = __ldcg(in + i) + __ldcs(in + i) + __ldlu(in + i) + __ldcv(in + i) + __ldca(in + i) +
            __ldg(in + i);
  __stcg(out + i, v);
  __stcs(out + 256 + i, v);
  __stwt(out + 512 + i, v);
  __stwb(out + 768 + i, v);
}
KERNEL prints(const int* in) {
  if (threadIdx.x < 2)
    printf("%d %s %5.2f %llx %c|%-4u|%%\n", in[threadIdx.x], "abc", 1.5 * in[threadIdx.x],
           0x123456789abcull, 'z', 7u);
  assert(in[0] == 3);
}
// SPDX-License-Identifier: Apache-2.0
