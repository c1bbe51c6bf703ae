// Matrix product over index maps: the core below hlokit_dot and hlokit_conv, and its table of
// compiled kernels.
#pragma once

#include <stdint.h>

#include "runtime/element.h"

namespace hlokit {

// Offsets, in elements, of the positions of one matrix dimension: i * stride, or table[i] where
// there is a table. `run` (tables only): offsets rise by one within each aligned group of `run`
// positions.
struct IndexMap {
  int64_t size = 0;
  int64_t stride = 0;
  const int64_t* table = nullptr;
  int64_t run = 1;
};

// An operand: rows of A or columns of B as `outer`, the summed dimension as `k`; `type` is a
// HlokitType. From position negate_from of k on, values count negatively (complex products need
// it).
struct GemmSource {
  const void* data = nullptr;
  int32_t type = 0;
  IndexMap outer;
  IndexMap k;
  int64_t negate_from = INT64_MAX;
};

struct Finish;  // finish_internal.h

struct GemmTarget {
  void* data = nullptr;
  int32_t type = 0;
  IndexMap rows, cols;
  Finish* finish = nullptr;  // done, where C takes the sums of tiles as they are; null: none
};

// C = A B. Sums are kept in f32 (f16, bf16, f32), f64 or the integers modulo 2^32 or 2^64, and
// rounded once to C's type. Real types only; both k have one size. The order of summation depends
// on the sizes alone. Sets an error of the run for a pair of types without kernel, or if memory is
// short.
void Gemm(void* ctx, const GemmSource& a, const GemmSource& b, const GemmTarget& c);

// The type in which Gemm sums for given element types: HLOKIT_F32, F64, U32, U64, or 0 if it has no
// kernel.
int32_t GemmAccumulator(int32_t a, int32_t b, int32_t c);

// Where element x of a dimension lies.
HLOKIT_INLINE int64_t OffsetAt(const IndexMap& map, int64_t x) {
  return map.table != nullptr ? map.table[x] : x * map.stride;
}

// From x, how many positions lie side by side.
HLOKIT_INLINE int64_t RunFrom(const IndexMap& map, int64_t x) {
  if (map.table == nullptr) return map.stride == 1 ? map.size - x : 1;
  return map.run - x % map.run;
}

// Whether positions lie side by side, a few of them at least.
HLOKIT_INLINE bool HasRuns(const IndexMap& map) {
  return map.table != nullptr ? map.run >= 4 : map.stride == 1;
}

// Whether an operand lies along the summed dimension, and across its rows or columns does not.
HLOKIT_INLINE bool LiesAlongK(const GemmSource& source) {
  return HasRuns(source.k) && !HasRuns(source.outer);
}

HLOKIT_INLINE int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// --- the kernels of one instruction set ---

// Types of a byte that kernels of f32 widen where they read B in place.
constexpr int kGemmByteTypes = 4;
// Which of them a type is; -1: none.
HLOKIT_INLINE constexpr int ByteTypeOf(int32_t type) {
  return type == HLOKIT_S8         ? 0
         : type == HLOKIT_U8       ? 1
         : type == HLOKIT_F8E4M3FN ? 2
         : type == HLOKIT_F8E5M2   ? 3
                                   : -1;
}

constexpr int kGemmShapes = 4;  // register tiles: many rows, some, few but wide; then
constexpr int kGemmNarrow = 3;  // many rows of one vector at most
constexpr int kGemmMaxRows = 14;
constexpr int64_t kGemmPartDepth = 512;             // packed positions of k summed one by one
constexpr int kGemmDotRows = 8;                     // that row-dot kernels take at most
constexpr int kGemmDotCols = 8;                     // that they work on together at most
constexpr int kGemmTileElements = 14 * 8 * 64 / 4;  // more than any register tile holds

// c[rows][vectors] = or += a[rows][k] * b[k][vectors]; rows are lda, ldb and ldc elements apart.
template <typename T>
using MicroKernel = void (*)(int64_t k, const T* a, int64_t lda, const void* b, int64_t ldb, T* c,
                             int64_t ldc, bool accumulate);

// As MicroKernel, where b is read from the operand itself and left packed at `packed`, its rows
// side by side.
template <typename T>
using PackingKernel = void (*)(int64_t k, const T* a, int64_t lda, const void* b, int64_t ldb,
                               T* packed, T* c, int64_t ldc, bool accumulate);

// As MicroKernel, where b is read from the operand itself: sums start from those in c if
// `continues`, and row p, of the same columns, is prefetched from `ahead` on.
template <typename T>
using StreamingKernel = void (*)(int64_t k, const T* a, int64_t lda, const void* b, int64_t ldb,
                                 const void* ahead, T* c, int64_t ldc, bool continues);

// Rows of other panels of B that lie side by side, as many as k at most: from the operand, `ld`
// elements apart, to where they are packed, the first panel at `to`.
template <typename T>
struct RowsToPack {
  const void* from;
  int64_t ld, count;
  T* to;
  int64_t panels, panel_size;  // in elements
};

// As MicroKernel, which packs rows of other panels meanwhile.
template <typename T>
using FillingKernel = void (*)(int64_t k, const T* a, int64_t lda, const T* b, int64_t ldb,
                               const RowsToPack<T>& rows, T* c, int64_t ldc, bool accumulate);

// As MicroKernel, which prefetches k lines of the cache, `ahead_step` bytes apart, from `ahead` on.
template <typename T>
using FetchingKernel = void (*)(int64_t k, const T* a, int64_t lda, const void* b, int64_t ldb,
                                const char* ahead, int64_t ahead_step, T* c, int64_t ldc,
                                bool accumulate);

// Products of rows of A, packed, with columns of B that lie along k in runs of elements side by
// side: c[r * ldc + j] = sum over runs i and p < run of a[r * lda + i * run + p] *
// b[columns[j] + runs[i] + p]. Kernels of units (depth_unit above 1) take one run, and rows of A
// that are whole vectors.
template <typename T>
struct RowDotTask {
  const T* a;
  int64_t lda;
  const void* b;
  const int64_t* columns;  // offsets in elements
  int64_t cols;
  const int64_t* runs;  // offsets in elements
  int64_t run_count, run;
  T* c;
  int64_t ldc;
};
template <typename T>
using RowDotKernel = void (*)(const RowDotTask<T>& task);

// Copies positions [x0, x0 + count) x [k0, k0 + depth) of a source into rows that are `pitch`
// elements apart. A: row-major. B: k-major, with zeros from `count` to `pitch`.
template <typename T>
using PackKernel = void (*)(const GemmSource& source, int64_t x0, int64_t count, int64_t k0,
                            int64_t depth, int64_t pitch, T* to);

// Rounds a tile (row pitch `ld`) into the target at (row, col).
template <typename T>
using StoreKernel = void (*)(const T* tile, int64_t ld, int64_t rows, int64_t cols,
                             const GemmTarget& target, int64_t row, int64_t col);

// Kernels that read an operand B of one type whose rows lie together in memory, by row count; null
// where there is none.
template <typename T>
struct FreshKernels {
  PackingKernel<T> packing[kGemmShapes][kGemmMaxRows + 1];
  FillingKernel<T> filling[kGemmShapes][kGemmMaxRows + 1];
  StreamingKernel<T> streaming[kGemmShapes][kGemmMaxRows + 1];
};

template <typename T>
struct GemmKernels {
  int lanes;                 // of one vector
  int slab_depth;            // positions of k, in packed elements, that are worked on together
  int vectors[kGemmShapes];  // a register tile is up to max_rows by vectors * lanes
  int max_rows[kGemmShapes];
  MicroKernel<T> micro[kGemmShapes][kGemmMaxRows + 1];       // by row count; b of type T
  MicroKernel<T> micro_bf16[kGemmShapes][kGemmMaxRows + 1];  // b of bf16; null unless T is float
  FreshKernels<T> fresh;       // b of type T; of pairs of bf16 where kernels work on these
  FreshKernels<T> fresh_bf16;  // b of bf16; none unless T is float
  FetchingKernel<T> fetching[kGemmShapes][kGemmMaxRows + 1];  // where there is a packing kernel
  RowDotKernel<T> row_dots[kGemmDotRows + 1];       // by row count; null where there is none
  RowDotKernel<T> row_dots_bf16[kGemmDotRows + 1];  // b of bf16; null unless T is float
  // By type of a byte; none unless T is float.
  StreamingKernel<T> streaming_bytes[kGemmByteTypes][kGemmShapes][kGemmMaxRows + 1];
  RowDotKernel<T> row_dots_bytes[kGemmByteTypes][kGemmDotRows + 1];
  const GemmKernels* mirrored;  // for A and B in the other order; null: these
  int depth_unit;               // positions of k in one packed element: 2 for pairs of bf16
  PackKernel<T> (*pack_a)(int32_t type);  // null for a type without conversion
  PackKernel<T> (*pack_b)(int32_t type);
  StoreKernel<T> (*store)(int32_t type);
  // Writes a last row of the panel, behind so many packed rows of a slab, from which the kernels
  // start their sums; null where they start at zero. A slab is no deeper than kGemmPartDepth then.
  void (*close_panel)(T* panel, int64_t rows);
};

struct GemmIsa {
  GemmKernels<float> f32;
  GemmKernels<double> f64;
  GemmKernels<uint32_t> u32;
  GemmKernels<uint64_t> u64;
};

// Rows of A at most that row-dot kernels take, where sums are so deep.
int64_t MaxDotRows(int64_t depth);
// Computes C by row-dot kernels if A has few rows, B is made for them (it lies along k in runs that
// fill vectors) and they need no packing that would pay; else returns false.
bool RunRowDots(void* ctx, const GemmKernels<float>& kernels, const GemmSource& a,
                const GemmSource& b, const GemmTarget& c);
bool RunRowDots(void* ctx, const GemmKernels<uint32_t>& kernels, const GemmSource& a,
                const GemmSource& b, const GemmTarget& c);
bool RunRowDots(void* ctx, const GemmKernels<double>& kernels, const GemmSource& a,
                const GemmSource& b, const GemmTarget& c);

// Kernels for this machine; those of floats and of integers up to 32 bits depend on the operands.
const GemmIsa& BestGemmKernels();
const GemmKernels<float>& FloatKernels(const GemmSource& a, const GemmSource& b,
                                       const GemmTarget& c);
const GemmKernels<uint32_t>& IntegerKernels(const GemmSource& a, const GemmSource& b,
                                            const GemmTarget& c);

namespace isa_base {
extern const GemmIsa kGemm;
}
namespace isa_avx2 {
extern const GemmIsa kGemm;
extern const GemmKernels<uint32_t> kGemmIntegerPairs;  // of s8, u8 and s16
}  // namespace isa_avx2
namespace isa_avx512 {
extern const GemmIsa kGemm;
extern const GemmKernels<uint32_t> kGemmIntegerPairs, kGemmIntegerPairsVnni;  // with AVX512_VNNI
// Both operands s8, both u8, A of u8 and B of s8, and the other way around; the same.
extern const GemmKernels<uint32_t> kGemmSignedQuads, kGemmUnsignedQuads, kGemmUnsignedBySigned,
    kGemmSignedByUnsigned;
extern const GemmKernels<float>
    kGemmBf16Pairs;  // both operands bf16; needs AVX512_BF16; no reading of B in place
}  // namespace isa_avx512

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
