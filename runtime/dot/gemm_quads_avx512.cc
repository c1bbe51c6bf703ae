// The inner loop of Gemm for operands of s8 and u8: AVX512_VNNI multiplies four unsigned by four
// signed bytes along k and sums them in 32 bits.
//
// The instruction takes one unsigned and one signed operand. Where A has the same type as B, A is
// offset by 128 to the other sign (a ^ 0x80), which adds 128 times the column sum of B for s8:
//   sum (a + 128) b = sum a b + 128 sum b
// CloseQuads stores the correction behind each packed panel, and the accumulators start from it, so
// it costs nothing in the loop. All arithmetic wraps modulo 2^32, so the result is exact.
#define HLOKIT_ISA isa_avx512
#define HLOKIT_VECTOR_BYTES 64
#define HLOKIT_ACCUMULATORS 28
#include <immintrin.h>

#include "runtime/dot/gemm_units_internal.h"

namespace hlokit::isa_avx512 {
namespace {

constexpr int kQuadRows = HLOKIT_ACCUMULATORS / kUnitVectors;

template <bool kSigned>
HLOKIT_INLINE __m512i AddProducts(__m512i sum, __m512i a, __m512i b) {
  // By the intrinsic GCC 12 keeps the sums in memory.
  if constexpr (kSigned) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  } else {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(b), "v"(a));
  }
  return sum;
}

// What moved bytes of A add to the sums of each column. 128 is no s8: of unsigned columns half of
// it.
template <bool kSigned>
HLOKIT_INLINE __m512i Movement() {
  return _mm512_set1_epi8(static_cast<char>(kSigned ? 128 : 64));
}

// Behind a panel of B: what its columns start from, to make up for the moved bytes of A.
template <bool kSigned>
void CloseQuads(uint32_t* panel, int64_t rows) {
  for (int v = 0; v < kUnitVectors; ++v) {
    __m512i moved = _mm512_setzero_si512();
    for (int64_t p = 0; p < rows; ++p)
      moved = AddProducts<kSigned>(moved, Movement<kSigned>(),
                                   _mm512_loadu_si512(panel + p * kUnitWidth + v * kUnitLanes));
    const __m512i start =
        kSigned ? _mm512_sub_epi32(_mm512_setzero_si512(), moved) : _mm512_add_epi32(moved, moved);
    _mm512_storeu_si512(panel + rows * kUnitWidth + v * kUnitLanes, start);
  }
}

// kSigned: B's bytes are s8 and A's unsigned; else the other way around. kMoved: A's are moved.
template <int kRows, bool kSigned, bool kMoved>
void MicroQuads(int64_t k, const uint32_t* a, int64_t lda, const void* b_data, int64_t ldb,
                uint32_t* c, int64_t ldc, bool accumulate) {
  const uint32_t* b = static_cast<const uint32_t*>(b_data);
  __m512i sum[kRows][kUnitVectors];
#pragma GCC unroll 2
  for (int v = 0; v < kUnitVectors; ++v) {
    const __m512i start =
        kMoved ? _mm512_loadu_si512(b + k * ldb + v * kUnitLanes) : _mm512_setzero_si512();
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) sum[r][v] = start;
  }
  for (int64_t p = 0; p < k; ++p, b += ldb) {
    const __m512i b0 = _mm512_loadu_si512(b), b1 = _mm512_loadu_si512(b + kUnitLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const __m512i factor = _mm512_set1_epi32(static_cast<int>(a[r * lda + p]));
      sum[r][0] = AddProducts<kSigned>(sum[r][0], factor, b0);
      sum[r][1] = AddProducts<kSigned>(sum[r][1], factor, b1);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kUnitVectors; ++v) {
      uint32_t* to = c + r * ldc + v * kUnitLanes;
      _mm512_storeu_si512(
          to, accumulate ? _mm512_add_epi32(_mm512_loadu_si512(to), sum[r][v]) : sum[r][v]);
    }
  }
}

template <bool kMoved>
void PackQuadsA(const GemmSource& source, int64_t x0, int64_t count, int64_t k0, int64_t depth,
                int64_t pitch, uint32_t* to) {
  PackUnitsA<uint32_t, uint8_t>(source, x0, count, k0, depth, pitch, to);
  if constexpr (!kMoved) return;
  const int64_t units = (depth + 3) / 4;
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t p = 0; p < units; ++p) to[r * pitch + p] ^= 0x80808080;
  }
}

// kRows rows of A with the kCols columns from `col` on, which lie along k.
template <bool kSigned, int kRows, int kCols>
void RowDotsOfQuads(const RowDotTask<uint32_t>& task, int64_t col) {
  const __m512i move = Movement<kSigned>();
  __m512i sum[kCols][kRows + 1];  // the last: sums of the columns
  const uint8_t* columns[kCols];
#pragma GCC unroll 8
  for (int j = 0; j < kCols; ++j) {
    columns[j] = static_cast<const uint8_t*>(task.b) + task.columns[col + j];
#pragma GCC unroll 16
    for (int r = 0; r <= kRows; ++r) sum[j][r] = _mm512_setzero_si512();
  }
  for (int64_t p = 0; p < task.run; p += 64) {
    const __mmask64 mask = task.run - p >= 64 ? ~uint64_t{0} : (uint64_t{1} << (task.run - p)) - 1;
    __m512i column[kCols];
#pragma GCC unroll 8
    for (int j = 0; j < kCols; ++j) {
      column[j] = _mm512_maskz_loadu_epi8(mask, columns[j] + p);
      sum[j][kRows] = AddProducts<kSigned>(sum[j][kRows], move, column[j]);
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const __m512i row = _mm512_loadu_si512(task.a + r * task.lda + p / 4);
#pragma GCC unroll 8
      for (int j = 0; j < kCols; ++j) sum[j][r] = AddProducts<kSigned>(sum[j][r], row, column[j]);
    }
  }
  uint32_t total[kCols][kRows + 1] = {};
  AddLaneSums<uint32_t, kCols*(kRows + 1)>(reinterpret_cast<VectorOf<uint32_t>::Type*>(sum[0]),
                                           total[0]);
  for (int j = 0; j < kCols; ++j) {
    const uint32_t moved = total[j][kRows];
    for (int r = 0; r < kRows; ++r)
      task.c[r * task.ldc + col + j] = kSigned ? total[j][r] - moved : total[j][r] + 2 * moved;
  }
}

template <bool kSigned, int kRows>
void ManyRowDotsOfQuads(const RowDotTask<uint32_t>& task) {
  constexpr int kCols = kRows <= 2 ? 8 : kRows <= 5 ? 4 : 2;
  int64_t col = 0;
  for (; col + kCols <= task.cols; col += kCols) RowDotsOfQuads<kSigned, kRows, kCols>(task, col);
  for (; col < task.cols; ++col) RowDotsOfQuads<kSigned, kRows, 1>(task, col);
}

template <int kRows, bool kSigned>
constexpr void FillRowDotsOfQuads(RowDotKernel<uint32_t>* row) {
  row[kRows] = &ManyRowDotsOfQuads<kSigned, kRows>;
  if constexpr (kRows > 1) FillRowDotsOfQuads<kRows - 1, kSigned>(row);
}

template <bool kMoved>
PackKernel<uint32_t> ChoosePackQuadsA(int32_t type) {
  return type == HLOKIT_S8 || type == HLOKIT_U8 ? &PackQuadsA<kMoved> : nullptr;
}
PackKernel<uint32_t> ChoosePackQuadsB(int32_t type) {
  return type == HLOKIT_S8 || type == HLOKIT_U8 ? &PackUnitsB<uint32_t, uint8_t> : nullptr;
}

template <int kRows, bool kSigned, bool kMoved>
constexpr void FillQuads(MicroKernel<uint32_t>* row) {
  row[kRows] = &MicroQuads<kRows, kSigned, kMoved>;
  if constexpr (kRows > 1) FillQuads<kRows - 1, kSigned, kMoved>(row);
}

// `mirrored`: for the operands in the other order.
template <bool kSigned, bool kMoved>
constexpr GemmKernels<uint32_t> MakeQuads(const GemmKernels<uint32_t>* mirrored) {
  GemmKernels<uint32_t> kernels = {};
  kernels.lanes = kUnitLanes;
  kernels.depth_unit = kPerUnit<uint8_t>;
  kernels.slab_depth = kMoved ? kGemmPartDepth : kSlabDepth<uint32_t>;
  if constexpr (kMoved) kernels.close_panel = &CloseQuads<kSigned>;
  kernels.vectors[0] = kUnitVectors;
  kernels.max_rows[0] = kQuadRows;
  FillQuads<kQuadRows, kSigned, kMoved>(kernels.micro[0]);
  if constexpr (kMoved) FillRowDotsOfQuads<kGemmDotRows, kSigned>(kernels.row_dots);
  kernels.mirrored = mirrored;
  kernels.pack_a = &ChoosePackQuadsA<kMoved>;
  kernels.pack_b = &ChoosePackQuadsB;
  kernels.store = &ChooseStore<uint32_t>;
  return kernels;
}

}  // namespace

constexpr GemmKernels<uint32_t> kGemmSignedQuads = MakeQuads<true, true>(nullptr);
constexpr GemmKernels<uint32_t> kGemmUnsignedQuads = MakeQuads<false, true>(nullptr);
constexpr GemmKernels<uint32_t> kGemmUnsignedBySigned =
    MakeQuads<true, false>(&kGemmSignedByUnsigned);
constexpr GemmKernels<uint32_t> kGemmSignedByUnsigned =
    MakeQuads<false, false>(&kGemmUnsignedBySigned);

}  // namespace hlokit::isa_avx512
// SPDX-License-Identifier: Apache-2.0
