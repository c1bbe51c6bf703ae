// The inner loop of Gemm for two bf16 operands: AVX512_BF16 multiplies pairs along k and sums them
// in f32.
#define HLOKIT_ISA isa_avx512
#define HLOKIT_VECTOR_BYTES 64
#define HLOKIT_ACCUMULATORS 28
#include <immintrin.h>

#include "runtime/dot/gemm_units_internal.h"

namespace hlokit::isa_avx512 {
namespace {

// Two rows of bf16 become two vectors of pairs, as PackUnitsAcross orders them.
struct PairedRows {
  alignas(64) uint16_t low[32], high[32];
};
constexpr PairedRows MakePairedRows() {
  PairedRows order = {};
  for (int i = 0; i < 32; ++i) {  // from 32 on: of the second row
    order.low[i] = static_cast<uint16_t>(i / 2 + i % 2 * 32);
    order.high[i] = static_cast<uint16_t>(16 + i / 2 + i % 2 * 32);
  }
  return order;
}
constexpr PairedRows kPairedRows = MakePairedRows();

// kPacks: b is the operand itself, rows of bf16 that are ldb elements apart, and is left packed.
// kFetches: a line of the cache at `ahead` for each step.
template <int kRows, TileTask kTask>
HLOKIT_INLINE void FillPairTile(int64_t k, const float* a, int64_t lda, const void* b_data,
                                int64_t ldb, float* packed, const char* ahead, int64_t ahead_step,
                                float* c, int64_t ldc, bool accumulate) {
  __m512 sum[kRows][kUnitVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kUnitVectors; ++v) sum[r][v] = _mm512_setzero_ps();
  }
  const float* b = static_cast<const float*>(b_data);
  const auto* rows = static_cast<const uint16_t*>(b_data);
  const __m512i low = _mm512_load_si512(kPairedRows.low);
  const __m512i high = _mm512_load_si512(kPairedRows.high);
  for (int64_t p = 0; p < k; ++p) {
    __m512bh b0, b1;
    if constexpr (kTask == TileTask::kPacks) {
      const __m512i first = _mm512_loadu_si512(rows), second = _mm512_loadu_si512(rows + ldb);
      __builtin_prefetch(rows + kRowsAhead * ldb);
      __builtin_prefetch(rows + (kRowsAhead + 1) * ldb);
      const __m512i x = _mm512_permutex2var_epi16(first, low, second);
      const __m512i y = _mm512_permutex2var_epi16(first, high, second);
      _mm512_storeu_si512(packed + p * kUnitWidth, x);
      _mm512_storeu_si512(packed + p * kUnitWidth + kUnitLanes, y);
      b0 = (__m512bh)x, b1 = (__m512bh)y;
      rows += 2 * ldb;
    } else {
      if constexpr (kTask == TileTask::kFetches) {
        __builtin_prefetch(ahead, 0, 2);
        ahead += ahead_step;
      }
      b0 = (__m512bh)_mm512_loadu_ps(b), b1 = (__m512bh)_mm512_loadu_ps(b + kUnitLanes);
      b += ldb;
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const __m512bh factor = (__m512bh)_mm512_set1_ps(a[r * lda + p]);
      sum[r][0] = _mm512_dpbf16_ps(sum[r][0], factor, b0);
      sum[r][1] = _mm512_dpbf16_ps(sum[r][1], factor, b1);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kUnitVectors; ++v) {
      float* to = c + r * ldc + v * 16;
      _mm512_storeu_ps(to, accumulate ? _mm512_add_ps(_mm512_loadu_ps(to), sum[r][v]) : sum[r][v]);
    }
  }
}

template <int kRows>
void MicroPairs(int64_t k, const float* a, int64_t lda, const void* b, int64_t ldb, float* c,
                int64_t ldc, bool accumulate) {
  FillPairTile<kRows, TileTask::kNone>(k, a, lda, b, ldb, nullptr, nullptr, 0, c, ldc, accumulate);
}

template <int kRows>
void PackingPairs(int64_t k, const float* a, int64_t lda, const void* b, int64_t ldb, float* packed,
                  float* c, int64_t ldc, bool accumulate) {
  FillPairTile<kRows, TileTask::kPacks>(k, a, lda, b, ldb, packed, nullptr, 0, c, ldc, accumulate);
}

template <int kRows>
void FetchingPairs(int64_t k, const float* a, int64_t lda, const void* b, int64_t ldb,
                   const char* ahead, int64_t ahead_step, float* c, int64_t ldc, bool accumulate) {
  FillPairTile<kRows, TileTask::kFetches>(k, a, lda, b, ldb, nullptr, ahead, ahead_step, c, ldc,
                                          accumulate);
}

PackKernel<float> ChoosePackPairsA(int32_t type) {
  return type == HLOKIT_BF16 ? &PackUnitsA<float, uint16_t> : nullptr;
}
PackKernel<float> ChoosePackPairsB(int32_t type) {
  return type == HLOKIT_BF16 ? &PackUnitsB<float, uint16_t> : nullptr;
}

template <int kRows>
constexpr void FillPairs(GemmKernels<float>* kernels) {
  kernels->micro[0][kRows] = &MicroPairs<kRows>;
  kernels->fresh.packing[0][kRows] = &PackingPairs<kRows>;
  kernels->fetching[0][kRows] = &FetchingPairs<kRows>;
  if constexpr (kRows > 1) FillPairs<kRows - 1>(kernels);
}

constexpr GemmKernels<float> MakePairs() {
  GemmKernels<float> kernels = {};
  kernels.lanes = kUnitLanes;
  kernels.depth_unit = kPerUnit<uint16_t>;
  kernels.slab_depth = kSlabDepth<float>;
  kernels.vectors[0] = kUnitVectors;
  kernels.max_rows[0] = kGemmMaxRows;
  FillPairs<kGemmMaxRows>(&kernels);
  kernels.pack_a = &ChoosePackPairsA;
  kernels.pack_b = &ChoosePackPairsB;
  kernels.store = &ChooseStore<float>;
  return kernels;
}

}  // namespace

constexpr GemmKernels<float> kGemmBf16Pairs = MakePairs();

}  // namespace hlokit::isa_avx512
// SPDX-License-Identifier: Apache-2.0
