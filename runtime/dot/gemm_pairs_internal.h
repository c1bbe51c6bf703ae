// The inner loop of Gemm for 8- and 16-bit integers: pairs along k as 16-bit words, which one
// instruction multiplies and adds into 32 bits. A packed element is a pair: the geometry of 32-bit
// integers stays as it is, with half the depth. The including file defines what
// gemm_kernels_internal.h wants, and HLOKIT_VNNI where one instruction does both on 64 bytes.
#pragma once

#include <immintrin.h>

#include "runtime/dot/gemm_kernels_internal.h"

namespace hlokit::HLOKIT_ISA {
namespace {

constexpr int kPairVectors = 2;
constexpr int kPairRows = HLOKIT_ACCUMULATORS / kPairVectors;
constexpr int64_t kPairLanes = HLOKIT_VECTOR_BYTES / 4;

#if HLOKIT_VECTOR_BYTES == 64
using PairVector = __m512i;
HLOKIT_INLINE PairVector BroadcastPair(uint32_t pair) {
  return _mm512_set1_epi32(static_cast<int>(pair));
}
HLOKIT_INLINE PairVector LoadPairs(const uint32_t* from) { return _mm512_loadu_si512(from); }
HLOKIT_INLINE void StoreSums(uint32_t* to, PairVector x) { _mm512_storeu_si512(to, x); }
HLOKIT_INLINE PairVector Plus(PairVector x, PairVector y) { return _mm512_add_epi32(x, y); }
HLOKIT_INLINE PairVector Products(PairVector x, PairVector y) { return _mm512_madd_epi16(x, y); }
#else
using PairVector = __m256i;
HLOKIT_INLINE PairVector BroadcastPair(uint32_t pair) {
  return _mm256_set1_epi32(static_cast<int>(pair));
}
HLOKIT_INLINE PairVector LoadPairs(const uint32_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
HLOKIT_INLINE void StoreSums(uint32_t* to, PairVector x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), x);
}
HLOKIT_INLINE PairVector Plus(PairVector x, PairVector y) { return _mm256_add_epi32(x, y); }
HLOKIT_INLINE PairVector Products(PairVector x, PairVector y) { return _mm256_madd_epi16(x, y); }
#endif

// sum + the products of pairs.
HLOKIT_INLINE PairVector Accumulate(PairVector sum, PairVector x, PairVector y) {
#ifdef HLOKIT_VNNI
  return _mm512_dpwssd_epi32(sum, x, y);
#else
  return Plus(sum, Products(x, y));
#endif
}

template <int kRows>
void MicroIntegerPairs(int64_t k, const uint32_t* a, int64_t lda, const void* b_data, int64_t ldb,
                       uint32_t* c, int64_t ldc, bool accumulate) {
  PairVector sum[kRows][kPairVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kPairVectors; ++v) sum[r][v] = BroadcastPair(0);
  }
  const uint32_t* b = static_cast<const uint32_t*>(b_data);
  for (int64_t p = 0; p < k; ++p, b += ldb) {
    const PairVector b0 = LoadPairs(b), b1 = LoadPairs(b + kPairLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const PairVector factor = BroadcastPair(a[r * lda + p]);
      sum[r][0] = Accumulate(sum[r][0], factor, b0);
      sum[r][1] = Accumulate(sum[r][1], factor, b1);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kPairVectors; ++v) {
      uint32_t* to = c + r * ldc + v * kPairLanes;
      StoreSums(to, accumulate ? Plus(LoadPairs(to), sum[r][v]) : sum[r][v]);
    }
  }
}

HLOKIT_INLINE uint32_t Pair(int16_t low, int16_t high) {
  return static_cast<uint16_t>(low) | static_cast<uint32_t>(static_cast<uint16_t>(high)) << 16;
}

template <typename From>
void PackIntegerA(const GemmSource& source, int64_t x0, int64_t count, int64_t k0, int64_t depth,
                  int64_t pitch, uint32_t* to) {
  const From* from = static_cast<const From*>(source.data);
  for (int64_t r = 0; r < count; ++r) {
    const From* row = from + OffsetAt(source.outer, x0 + r);
    int16_t* words = reinterpret_cast<int16_t*>(to + r * pitch);
    if (RunFrom(source.k, k0) >= depth) {
      row += OffsetAt(source.k, k0);
      for (int64_t p = 0; p < depth; ++p) words[p] = row[p];
    } else {
      for (int64_t p = 0; p < depth; ++p) words[p] = row[OffsetAt(source.k, k0 + p)];
    }
    if (depth % 2 != 0) words[depth] = 0;
  }
}

template <typename From>
void PackIntegerB(const GemmSource& source, int64_t x0, int64_t count, int64_t k0, int64_t depth,
                  int64_t width, uint32_t* to) {
  const From* from = static_cast<const From*>(source.data);
  for (int64_t p = 0; p < depth; p += 2, to += width) {
    const From* even = from + OffsetAt(source.k, k0 + p);
    const bool whole = p + 1 < depth;
    const From* odd = whole ? from + OffsetAt(source.k, k0 + p + 1) : even;
    const int16_t mask = whole ? -1 : 0;
    if (RunFrom(source.outer, x0) >= count) {
      const int64_t at = OffsetAt(source.outer, x0);
      for (int64_t j = 0; j < count; ++j)
        to[j] = Pair(even[at + j], static_cast<int16_t>(odd[at + j] & mask));
    } else {
      for (int64_t j = 0; j < count; ++j) {
        const int64_t at = OffsetAt(source.outer, x0 + j);
        to[j] = Pair(even[at], static_cast<int16_t>(odd[at] & mask));
      }
    }
    for (int64_t j = count; j < width; ++j) to[j] = 0;
  }
}

PackKernel<uint32_t> ChoosePackIntegerA(int32_t type) {
  return type == HLOKIT_S8    ? &PackIntegerA<int8_t>
         : type == HLOKIT_U8  ? &PackIntegerA<uint8_t>
         : type == HLOKIT_S16 ? &PackIntegerA<int16_t>
                              : nullptr;
}
PackKernel<uint32_t> ChoosePackIntegerB(int32_t type) {
  return type == HLOKIT_S8    ? &PackIntegerB<int8_t>
         : type == HLOKIT_U8  ? &PackIntegerB<uint8_t>
         : type == HLOKIT_S16 ? &PackIntegerB<int16_t>
                              : nullptr;
}

template <int kRows>
constexpr void FillIntegerPairs(MicroKernel<uint32_t>* row) {
  row[kRows] = &MicroIntegerPairs<kRows>;
  if constexpr (kRows > 1) FillIntegerPairs<kRows - 1>(row);
}

constexpr GemmKernels<uint32_t> MakeIntegerPairs() {
  GemmKernels<uint32_t> kernels = {};
  kernels.lanes = kPairLanes;
  kernels.depth_unit = 2;
  kernels.slab_depth = kSlabDepth<uint32_t>;
  kernels.vectors[0] = kPairVectors;
  kernels.max_rows[0] = kPairRows;
  FillIntegerPairs<kPairRows>(kernels.micro[0]);
  kernels.pack_a = &ChoosePackIntegerA;
  kernels.pack_b = &ChoosePackIntegerB;
  kernels.store = &ChooseStore<uint32_t>;
  return kernels;
}

}  // namespace

#ifdef HLOKIT_VNNI
constexpr GemmKernels<uint32_t> kGemmIntegerPairsVnni = MakeIntegerPairs();
#else
constexpr GemmKernels<uint32_t> kGemmIntegerPairs = MakeIntegerPairs();
#endif

}  // namespace hlokit::HLOKIT_ISA
// SPDX-License-Identifier: Apache-2.0
