// The inner loop of Gemm for two bf16 operands: AVX512_BF16 multiplies pairs along k and sums them
// in f32. A packed element is a pair: the f32 geometry stays as it is, with half the depth.
#define HLOKIT_ISA isa_avx512
#define HLOKIT_VECTOR_BYTES 64
#define HLOKIT_ACCUMULATORS 28
#include <immintrin.h>

#include "runtime/gemm_kernels_internal.h"

namespace hlokit::isa_avx512 {
namespace {

constexpr int kVectors = 2;
constexpr int64_t kWidth = kVectors * 16;

template <int kRows>
void MicroPairs(int64_t k, const float* a, int64_t lda, const void* b_data, int64_t ldb, float* c,
                int64_t ldc, bool accumulate) {
  __m512 sum[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sum[r][v] = _mm512_setzero_ps();
  }
  const float* b = static_cast<const float*>(b_data);
  for (int64_t p = 0; p < k; ++p, b += ldb) {
    const __m512bh b0 = (__m512bh)_mm512_loadu_ps(b), b1 = (__m512bh)_mm512_loadu_ps(b + 16);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const __m512bh factor = (__m512bh)_mm512_set1_ps(a[r * lda + p]);
      sum[r][0] = _mm512_dpbf16_ps(sum[r][0], factor, b0);
      sum[r][1] = _mm512_dpbf16_ps(sum[r][1], factor, b1);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      float* to = c + r * ldc + v * 16;
      _mm512_storeu_ps(to, accumulate ? _mm512_add_ps(_mm512_loadu_ps(to), sum[r][v]) : sum[r][v]);
    }
  }
}

void PackPairsA(const GemmSource& source, int64_t x0, int64_t count, int64_t k0, int64_t depth,
                int64_t pitch, float* to) {
  const uint16_t* from = static_cast<const uint16_t*>(source.data);
  uint16_t* rows = reinterpret_cast<uint16_t*>(to);
  if (HasRuns(source.outer) && !HasRuns(source.k)) {
    uint16_t column[kGemmMaxRows];
    for (int64_t p = 0; p < depth; ++p) {
      Gather(from + OffsetAt(source.k, k0 + p), source.outer, x0, count, column);
      for (int64_t r = 0; r < count; ++r) rows[r * 2 * pitch + p] = column[r];
    }
  } else {
    GatherLines(from, source.outer, x0, count, source.k, k0, depth, rows, 2 * pitch);
  }
  if (depth % 2 == 0) return;
  for (int64_t r = 0; r < count; ++r) rows[r * 2 * pitch + depth] = 0;
}

// Two rows of B become one row of pairs.
void PackPairsB(const GemmSource& source, int64_t x0, int64_t count, int64_t k0, int64_t depth,
                int64_t width, float* to) {
  const uint16_t* from = static_cast<const uint16_t*>(source.data);
  alignas(64) uint16_t even[kWidth] = {}, odd[kWidth] = {};
  for (int64_t p = 0; p < depth; p += 2) {
    Gather(from + OffsetAt(source.k, k0 + p), source.outer, x0, count, even);
    const bool whole = p + 1 < depth;
    if (whole) Gather(from + OffsetAt(source.k, k0 + p + 1), source.outer, x0, count, odd);
    uint32_t* pairs = reinterpret_cast<uint32_t*>(to + p / 2 * width);
    for (int64_t j = 0; j < kWidth; ++j)
      pairs[j] = even[j] | (whole ? static_cast<uint32_t>(odd[j]) << 16 : 0);
  }
}

// Columns that lie along k: pairs are in place already, and are transposed as 32-bit words.
void PackPairsAlongK(const GemmSource& source, int64_t x0, int64_t count, int64_t k0, int64_t depth,
                     int64_t width, float* to) {
  const uint16_t* from = static_cast<const uint16_t*>(source.data);
  alignas(64) float square[16][16] = {};
  for (int64_t p = 0; p < depth; p += 32) {
    const int64_t length = Least(32, depth - p);
    for (int64_t j = 0; j < width; j += 16) {
      for (int64_t i = 0; i < 16; ++i) {
        uint16_t* row = reinterpret_cast<uint16_t*>(square[i]);
        const int64_t used = j + i < count ? length : 0;
        if (used > 0)
          Gather(from + OffsetAt(source.outer, x0 + j + i), source.k, k0 + p, used, row);
        for (int64_t q = used; q < 32; ++q) row[q] = 0;
      }
      alignas(64) float turned[16 * 16];
      TransposeSquare<float>(square, turned, 16);
      for (int64_t q = 0; q < (length + 1) / 2; ++q)
        Store(to + (p / 2 + q) * width + j, Load(turned + q * 16));
    }
  }
}

void PackPairsOfB(const GemmSource& source, int64_t x0, int64_t count, int64_t k0, int64_t depth,
                  int64_t width, float* to) {
  (LiesAlongK(source) ? PackPairsAlongK : PackPairsB)(source, x0, count, k0, depth, width, to);
}

PackKernel<float> ChoosePackPairsA(int32_t type) {
  return type == HLOKIT_BF16 ? &PackPairsA : nullptr;
}
PackKernel<float> ChoosePackPairsB(int32_t type) {
  return type == HLOKIT_BF16 ? &PackPairsOfB : nullptr;
}

template <int kRows>
constexpr void FillPairs(MicroKernel<float>* row) {
  row[kRows] = &MicroPairs<kRows>;
  if constexpr (kRows > 1) FillPairs<kRows - 1>(row);
}

constexpr GemmKernels<float> MakePairs() {
  GemmKernels<float> kernels = {};
  kernels.lanes = 16;
  kernels.depth_unit = 2;
  kernels.slab_depth = kSlabDepth<float>;
  kernels.vectors[0] = kVectors;
  kernels.max_rows[0] = kGemmMaxRows;
  FillPairs<kGemmMaxRows>(kernels.micro[0]);
  kernels.pack_a = &ChoosePackPairsA;
  kernels.pack_b = &ChoosePackPairsB;
  kernels.store = &ChooseStore<float>;
  return kernels;
}

}  // namespace

constexpr GemmKernels<float> kGemmBf16Pairs = MakePairs();

}  // namespace hlokit::isa_avx512
// SPDX-License-Identifier: Apache-2.0
