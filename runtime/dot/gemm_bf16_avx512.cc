// The inner loop of Gemm for two bf16 operands: AVX512_BF16 multiplies pairs along k and sums them
// in f32.
#define HLOKIT_ISA isa_avx512
#define HLOKIT_VECTOR_BYTES 64
#define HLOKIT_ACCUMULATORS 28
#include <immintrin.h>

#include "runtime/dot/gemm_units_internal.h"

namespace hlokit::isa_avx512 {
namespace {

template <int kRows>
void MicroPairs(int64_t k, const float* a, int64_t lda, const void* b_data, int64_t ldb, float* c,
                int64_t ldc, bool accumulate) {
  __m512 sum[kRows][kUnitVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kUnitVectors; ++v) sum[r][v] = _mm512_setzero_ps();
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
    for (int v = 0; v < kUnitVectors; ++v) {
      float* to = c + r * ldc + v * 16;
      _mm512_storeu_ps(to, accumulate ? _mm512_add_ps(_mm512_loadu_ps(to), sum[r][v]) : sum[r][v]);
    }
  }
}

PackKernel<float> ChoosePackPairsA(int32_t type) {
  return type == HLOKIT_BF16 ? &PackUnitsA<float, uint16_t> : nullptr;
}
PackKernel<float> ChoosePackPairsB(int32_t type) {
  return type == HLOKIT_BF16 ? &PackUnitsB<float, uint16_t> : nullptr;
}

template <int kRows>
constexpr void FillPairs(MicroKernel<float>* row) {
  row[kRows] = &MicroPairs<kRows>;
  if constexpr (kRows > 1) FillPairs<kRows - 1>(row);
}

constexpr GemmKernels<float> MakePairs() {
  GemmKernels<float> kernels = {};
  kernels.lanes = kUnitLanes;
  kernels.depth_unit = kPerUnit<uint16_t>;
  kernels.slab_depth = kSlabDepth<float>;
  kernels.vectors[0] = kUnitVectors;
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
