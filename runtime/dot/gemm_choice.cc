// Which compiled kernels a matrix product runs on: by element type, size, and instruction set
// (AVX512_BF16 pairs, AVX512_VNNI quads of bytes and pairs of short integers). The choice never
// changes integer results; floats accumulate in f32, or in f64 if a type is f64.
#include <algorithm>

#include "runtime/cpu_features.h"
#include "runtime/dot/gemm_internal.h"

namespace hlokit {
namespace {

int AccumulatorRank(int32_t type) {  // 1: f32, 2: f64, 3: 32-bit integers, 4: 64-bit integers
  switch (type) {
    case HLOKIT_F16:
    case HLOKIT_BF16:
    case HLOKIT_F32:
      return 1;
    case HLOKIT_F64:
      return 2;
    case HLOKIT_S64:
    case HLOKIT_U64:
      return 4;
    default:
      return IsIntegerType(type) ? 3 : 0;
  }
}

#if defined(__x86_64__)
// Below this many rows and columns, bf16 read in place beats pairs, which need packing. Where the
// first tile packs the rows of B, which lie together in memory, packing costs less.
constexpr int64_t kLeastForPairs = 2 * kGemmMaxRows;
constexpr int64_t kLeastForPairsOfRows = 4;
constexpr int64_t kManyColumns = 256;
constexpr int64_t kLeastAlongK = 64;

bool WantsPairs(const GemmSource& a, const GemmSource& b, const GemmTarget& c) {
  if (a.type != HLOKIT_BF16 || b.type != HLOKIT_BF16 || !HasBf16Products()) return false;
  const bool by_rows = c.cols.size >= kManyColumns && b.outer.table == nullptr &&
                       b.outer.stride == 1 && b.k.table == nullptr && b.k.size % 2 == 0;
  return std::min(c.rows.size, c.cols.size) > (by_rows ? kLeastForPairsOfRows : kLeastForPairs);
}
#endif

}  // namespace

const GemmIsa& BestGemmKernels() { return HLOKIT_OF_BEST_ISA(kGemm); }

#if defined(__x86_64__)

const GemmKernels<float>& FloatKernels(const GemmSource& a, const GemmSource& b,
                                       const GemmTarget& c) {
  return WantsPairs(a, b, c) ? isa_avx512::kGemmBf16Pairs : BestGemmKernels().f32;
}

// Whether columns, or rows if they are fewer, lie along k, so that a few of the others meet them
// where they lie.
bool MeetsAlongK(const GemmSource& a, const GemmSource& b, const GemmTarget& c) {
  const IndexMap& k = c.rows.size < c.cols.size ? b.k : a.k;
  return k.table == nullptr && k.stride == 1 && k.size >= kLeastAlongK;
}

// Kernels for quads of bytes, for pairs of short integers, or those for whole words.
const GemmKernels<uint32_t>& IntegerKernels(const GemmSource& a, const GemmSource& b,
                                            const GemmTarget& c) {
  const auto is_short = [](int32_t type) {
    return type == HLOKIT_S8 || type == HLOKIT_U8 || type == HLOKIT_S16;
  };
  const bool many = std::min(c.rows.size, c.cols.size) > kLeastForPairs / 2;
  const auto is_byte = [](int32_t type) { return type == HLOKIT_S8 || type == HLOKIT_U8; };
  if (is_byte(a.type) && is_byte(b.type) && HasIntegerProducts() &&
      (std::min(c.rows.size, c.cols.size) > 2 || (a.type == b.type && MeetsAlongK(a, b, c)))) {
    const bool signed_b = b.type == HLOKIT_S8;
    if (a.type != b.type)
      return signed_b ? isa_avx512::kGemmUnsignedBySigned : isa_avx512::kGemmSignedByUnsigned;
    return signed_b ? isa_avx512::kGemmSignedQuads : isa_avx512::kGemmUnsignedQuads;
  }
  if (!is_short(a.type) || !is_short(b.type) || !many || BestIsa() == Isa::kBase)
    return BestGemmKernels().u32;
  if (HasIntegerProducts()) return isa_avx512::kGemmIntegerPairsVnni;
  return BestIsa() == Isa::kAvx512 ? isa_avx512::kGemmIntegerPairs : isa_avx2::kGemmIntegerPairs;
}

#else

const GemmKernels<float>& FloatKernels(const GemmSource&, const GemmSource&, const GemmTarget&) {
  return BestGemmKernels().f32;
}
const GemmKernels<uint32_t>& IntegerKernels(const GemmSource&, const GemmSource&,
                                            const GemmTarget&) {
  return BestGemmKernels().u32;
}

#endif

int32_t GemmAccumulator(int32_t a, int32_t b, int32_t c) {
  // Products of floats widen bytes exactly.
  const auto rank = [c](int32_t type) {
    return ByteTypeOf(type) >= 0 && IsFloatType(c) ? 1 : AccumulatorRank(type);
  };
  const int ranks[3] = {rank(a), rank(b), AccumulatorRank(c)};
  const auto [least, most] = std::minmax({ranks[0], ranks[1], ranks[2]});
  if (least >= 1 && most <= 2) return most == 1 ? HLOKIT_F32 : HLOKIT_F64;
  if (least >= 3) return ranks[2] == 4 ? HLOKIT_U64 : HLOKIT_U32;
  return 0;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
