// Matrix instructions, barriers, pipelines, clusters and blocks of CUB, for
// scripts/gpu/nvcc_kernels.py.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <stdint.h>
#include <cub/cub.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>
namespace cg = cooperative_groups;
using namespace nvcuda;
#define KERNEL extern "C" __global__ void
template <int M, int N, int Kk, typename T, typename A, typename LA, typename LB>
__device__ void wm(const T* a, const T* b, A* c) {
  wmma::fragment<wmma::matrix_a, M, N, Kk, T, LA> fa;
  wmma::fragment<wmma::matrix_b, M, N, Kk, T, LB> fb;
  wmma::fragment<wmma::accumulator, M, N, Kk, A> fc;
  wmma::fill_fragment(fc, A(1));
  wmma::load_matrix_sync(fa, a, std::is_same<LA, wmma::row_major>::value ? Kk : M);
  wmma::load_matrix_sync(fb, b, std::is_same<LB, wmma::row_major>::value ? N : Kk);
  wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = fc.x[i] * A(2);
  wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
}
KERNEL wmma_f16(const half* a, const half* b, float* c) {
  wm<16, 16, 16, half, float, wmma::row_major, wmma::col_major>(a, b, c);
}
KERNEL wmma_f16_col(const half* a, const half* b, float* c) {
  wm<16, 16, 16, half, float, wmma::col_major, wmma::row_major>(a, b, c);
}
KERNEL wmma_f16_32x8(const half* a, const half* b, float* c) {
  wm<32, 8, 16, half, float, wmma::row_major, wmma::row_major>(a, b, c);
}
KERNEL wmma_f16_8x32(const half* a, const half* b, float* c) {
  wm<8, 32, 16, half, float, wmma::row_major, wmma::row_major>(a, b, c);
}
KERNEL wmma_h(const half* a, const half* b, half* c) {
  wm<16, 16, 16, half, half, wmma::row_major, wmma::col_major>(a, b, c);
}
KERNEL wmma_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
  wm<16, 16, 16, __nv_bfloat16, float, wmma::row_major, wmma::row_major>(a, b, c);
}
KERNEL wmma_s8(const signed char* a, const signed char* b, int* c) {
  wm<16, 16, 16, signed char, int, wmma::row_major, wmma::col_major>(a, b, c);
}
KERNEL wmma_u8(const unsigned char* a, const unsigned char* b, int* c) {
  wm<16, 16, 16, unsigned char, int, wmma::row_major, wmma::col_major>(a, b, c);
}
KERNEL wmma_f64(const double* a, const double* b, double* c) {
  wm<8, 8, 4, double, double, wmma::row_major, wmma::col_major>(a, b, c);
}
KERNEL wmma_tf32(const float* a, const float* b, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
  wmma::fill_fragment(fc, 0.f);
  wmma::load_matrix_sync(fa, a, 8);
  wmma::load_matrix_sync(fb, b, 8);
  for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
KERNEL wmma_s4(const void* a, const void* b, int* c) {
  using namespace wmma::experimental;
  wmma::fragment<wmma::matrix_a, 8, 8, 32, precision::s4, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 32, precision::s4, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 32, int> fc;
  wmma::fill_fragment(fc, 0);
  wmma::load_matrix_sync(fa, a, 32);
  wmma::load_matrix_sync(fb, b, 32);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
}
KERNEL wmma_b1(const void* a, const void* b, int* c) {
  using namespace wmma::experimental;
  wmma::fragment<wmma::matrix_a, 8, 8, 128, precision::b1, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, precision::b1, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> fc;
  wmma::fill_fragment(fc, 0);
  wmma::load_matrix_sync(fa, a, 128);
  wmma::load_matrix_sync(fb, b, 128);
  bmma_sync(fc, fa, fb, fc, bmmaBitOpAND, bmmaAccumulateOpPOPC);
  wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
}
KERNEL pipeline_copy(const float* in, float* out, int n) {
  __shared__ float buf[2][128];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&buf[0][t], in + t, 4);
  __pipeline_commit();
  for (int k = 0; k < n; ++k) {
    if (k + 1 < n) __pipeline_memcpy_async(&buf[(k + 1) & 1][t], in + (k + 1) * 128 + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[k * 128 + t] = buf[k & 1][127 - t];
    __syncthreads();
  }
}
KERNEL cuda_pipe(const float4* in, float4* out, int n) {
  __shared__ float4 buf[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> st;
  auto b = cg::this_thread_block();
  auto p = cuda::make_pipeline(b, &st);
  int t = threadIdx.x;
  p.producer_acquire();
  cuda::memcpy_async(b, buf[0], in, sizeof(float4) * 64, p);
  p.producer_commit();
  for (int k = 0; k < n; ++k) {
    if (k + 1 < n) {
      p.producer_acquire();
      cuda::memcpy_async(b, buf[(k + 1) & 1], in + (k + 1) * 64, sizeof(float4) * 64, p);
      p.producer_commit();
    }
    p.consumer_wait();
    out[k * 64 + t] = buf[k & 1][63 - t];
    p.consumer_release();
  }
}
KERNEL cuda_barrier(const int* in, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int s[128];
  auto b = cg::this_thread_block();
  if (b.thread_rank() == 0) init(&bar, b.size());
  b.sync();
  int t = threadIdx.x;
  for (int k = 0; k < 3; ++k) {
    s[t] = in[t] + k;
    auto tok = bar.arrive();
    int x = t * k;
    bar.wait(std::move(tok));
    out[k * 128 + t] = s[(t + 1) % 128] + x;
    bar.arrive_and_wait();
  }
}
KERNEL barrier_drop(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ int n;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    n = 0;
  }
  __syncthreads();
  atomicAdd(&n, 1);
  if (threadIdx.x >= 32) {
    bar.arrive_and_drop();
    return;
  }
  bar.arrive_and_wait();
  out[threadIdx.x] = n;
}
KERNEL cg_copy(const int* in, int* out) {
  extern __shared__ int sh[];
  auto b = cg::this_thread_block();
  cg::memcpy_async(b, sh, in, sizeof(int) * 256);
  cg::wait(b);
  out[threadIdx.x] = sh[255 - threadIdx.x];
}
KERNEL atomic_refs(int* a, unsigned long long* b, float* f) {
  cuda::atomic_ref<int, cuda::thread_scope_device> r(a[0]);
  r.fetch_add(3, cuda::std::memory_order_relaxed);
  r.fetch_max(100);
  cuda::atomic_ref<int, cuda::thread_scope_block> q(a[1]);
  q.fetch_or(1 << (threadIdx.x & 31), cuda::std::memory_order_acq_rel);
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_system> u(*b);
  u.fetch_add(1, cuda::std::memory_order_seq_cst);
  cuda::atomic_ref<float, cuda::thread_scope_device> g(*f);
  g.fetch_add(0.5f);
  int e = 0;
  cuda::atomic_ref<int, cuda::thread_scope_device> c(a[2]);
  do {
    e = c.load(cuda::std::memory_order_acquire);
  } while (!c.compare_exchange_weak(e, e * 2 + 1 > 1000 ? 1 : e + 1));
  if (threadIdx.x == 0) {
    c.store(c.load() + 5, cuda::std::memory_order_release);
    cuda::atomic_thread_fence(cuda::std::memory_order_seq_cst, cuda::thread_scope_device);
  }
}
KERNEL cub_reduce(const int* in, int* out) {
  using R = cub::BlockReduce<int, 128>;
  __shared__ typename R::TempStorage t;
  int s = R(t).Sum(in[blockIdx.x * 128 + threadIdx.x]);
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}
KERNEL cub_scan(const int* in, int* out) {
  using S = cub::BlockScan<int, 128>;
  __shared__ typename S::TempStorage t;
  int v[4];
  for (int i = 0; i < 4; ++i) v[i] = in[threadIdx.x * 4 + i];
  S(t).ExclusiveSum(v, v);
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = v[i];
}
KERNEL cub_sort(const unsigned* in, unsigned* out) {
  using S = cub::BlockRadixSort<unsigned, 128, 4>;
  __shared__ typename S::TempStorage t;
  unsigned v[4];
  for (int i = 0; i < 4; ++i) v[i] = in[threadIdx.x * 4 + i];
  S(t).Sort(v);
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = v[i];
}
struct Less {
  __device__ bool operator()(float a, float b) const { return a < b; }
};
KERNEL cub_merge(const float* in, float* out) {
  using S = cub::BlockMergeSort<float, 64, 4>;
  __shared__ typename S::TempStorage t;
  float v[4];
  for (int i = 0; i < 4; ++i) v[i] = in[threadIdx.x * 4 + i];
  S(t).Sort(v, Less());
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = v[i];
}
KERNEL cub_load(const int* in, int* out) {
  using L = cub::BlockLoad<int, 64, 4, cub::BLOCK_LOAD_TRANSPOSE>;
  using S = cub::BlockStore<int, 64, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  __shared__ union {
    typename L::TempStorage l;
    typename S::TempStorage s;
  } t;
  int v[4];
  L(t.l).Load(in, v, 250, -1);
  for (int i = 0; i < 4; ++i) v[i] = v[i] * 2 + i;
  __syncthreads();
  S(t.s).Store(out, v, 250);
}
KERNEL cub_warp(const float* in, float* out) {
  using R = cub::WarpReduce<float>;
  using S = cub::WarpScan<float>;
  __shared__ typename R::TempStorage r[4];
  __shared__ typename S::TempStorage s[4];
  int w = threadIdx.x / 32;
  float v = in[threadIdx.x];
  float m = R(r[w]).Reduce(v, cuda::maximum<>{});
  float x;
  S(s[w]).InclusiveSum(v, x);
  out[threadIdx.x] = x + (threadIdx.x % 32 == 0 ? m : 0);
}
KERNEL cub_hist(const unsigned char* in, unsigned* out) {
  using H = cub::BlockHistogram<unsigned char, 64, 4, 256, cub::BLOCK_HISTO_SORT>;
  __shared__ typename H::TempStorage t;
  __shared__ unsigned h[256];
  unsigned char v[4];
  for (int i = 0; i < 4; ++i) v[i] = in[threadIdx.x * 4 + i];
  H(t).Histogram(v, h);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += 64) out[i] = h[i];
}
KERNEL cub_disc(const int* in, int* out) {
  using D = cub::BlockDiscontinuity<int, 128>;
  __shared__ typename D::TempStorage t;
  int v[2] = {in[threadIdx.x * 2], in[threadIdx.x * 2 + 1]}, f[2];
  D(t).FlagHeads(f, v, cuda::std::not_equal_to<>{});
  out[threadIdx.x * 2] = f[0];
  out[threadIdx.x * 2 + 1] = f[1];
}
KERNEL cub_exch(const int* in, int* out) {
  using E = cub::BlockExchange<int, 128, 4>;
  __shared__ typename E::TempStorage t;
  int v[4];
  for (int i = 0; i < 4; ++i) v[i] = in[threadIdx.x * 4 + i];
  E(t).BlockedToStriped(v, v);
  for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = v[i];
}
KERNEL mma_f16(const unsigned* a, const unsigned* b, float* c) {
  int l = threadIdx.x;
  unsigned r[4] = {a[l], a[32 + l], a[64 + l], a[96 + l]}, s[2] = {b[l], b[32 + l]};
  float d[4] = {1, 2, 3, 4};
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(s[0]), "r"(s[1]));
  for (int i = 0; i < 4; ++i) c[32 * i + l] = d[i];
}
KERNEL ldmatrix(const half* in, unsigned* out) {
  __shared__ half s[512];
  for (int i = threadIdx.x; i < 512; i += 32) s[i] = in[i];
  __syncwarp();
  unsigned p = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x * 16 % 512]), r[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(p));
  for (int i = 0; i < 4; ++i) out[i * 32 + threadIdx.x] = r[i];
}
KERNEL int128(const unsigned long long* a, unsigned long long* o) {
  int i = threadIdx.x;
  unsigned __int128 x = ((unsigned __int128)a[2 * i] << 64) | a[2 * i + 1], y = a[i] + 3;
  x = x * y + 7;
  x = x / (y | 1);
  o[2 * i] = x;
  o[2 * i + 1] = x >> 64;
}
struct Big {
  int n;
  float w[20];
  struct {
    short a;
    double b;
  } in[3];
};
KERNEL by_value(const __grid_constant__ Big b, float* out) {
  int i = threadIdx.x;
  out[i] = i < b.n ? b.w[i] * (float)b.in[i % 3].b + b.in[(i + 1) % 3].a : -1;
}
#if __CUDA_ARCH__ >= 900
KERNEL cluster(const int* in, int* out) {
  __shared__ int s[32];
  auto c = cg::this_cluster();
  s[threadIdx.x] = in[blockIdx.x * 32 + threadIdx.x];
  c.sync();
  int peer = (c.block_rank() + 1) % c.num_blocks();
  int* r = c.map_shared_rank(s, peer);
  out[blockIdx.x * 32 + threadIdx.x] =
      r[31 - threadIdx.x] + 1000 * c.block_rank() + 100 * c.num_blocks();
  c.sync();
}
KERNEL bulk(const float* in, float* out) {
  __shared__ alignas(128) float s[256];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  cuda::barrier<cuda::thread_scope_block>::arrival_token tok;
  if (threadIdx.x == 0) {
    cuda::device::experimental::cp_async_bulk_global_to_shared(s, in + blockIdx.x * 256, sizeof(s),
                                                               bar);
    tok = cuda::device::barrier_arrive_tx(bar, 1, sizeof(s));
  } else
    tok = bar.arrive();
  bar.wait(std::move(tok));
  s[threadIdx.x] += 1;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::device::experimental::cp_async_bulk_shared_to_global(out + blockIdx.x * 256, s,
                                                               sizeof(s));
    cuda::device::experimental::cp_async_bulk_commit_group();
    cuda::device::experimental::cp_async_bulk_wait_group_read<0>();
  }
}
KERNEL elect(int* out) {
  namespace p = cuda::ptx;
  unsigned e;
  asm volatile("{ .reg .pred P; elect.sync _|P, 0xffffffff; selp.u32 %0, 1, 0, P; }" : "=r"(e));
  out[threadIdx.x] = e + p::get_sreg_laneid() * 10 + p::get_sreg_nwarpid() * 0;
}
#endif
// SPDX-License-Identifier: Apache-2.0
