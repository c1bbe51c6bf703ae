// What is done to the results of a product of f32 while they are in the cache: a tile, a place of a
// convolution, or, where a way of computing does not know of it, the whole array afterwards. The
// bits are those of separate loops.
#pragma once

#include "runtime/dot/dot_desc.h"
#include "runtime/dot/finish_desc.h"

namespace hlokit {

struct Finish {
  const float* bias = nullptr;  // by column; null: none
  // Bytes from an element of the result to that of an array of its shape, which is added; 0: none.
  int64_t residual = 0;
  float low = 0, high = 0;
  // Compiled code instead of all that; null: none.
  HlokitFinishFunction function = nullptr;
  void* const* arrays = nullptr;
  bool done = false;  // set by who does it
};

// The element of the array that is added at `to`; null: none.
inline const float* ResidualAt(const Finish& finish, const float* to) {
  return finish.residual == 0
             ? nullptr
             : reinterpret_cast<const float*>(reinterpret_cast<const char*>(to) + finish.residual);
}

Finish FinishOf(const HlokitFinishDesc& desc, const void* bias, const void* residual,
                const void* out);
Finish FinishOf(HlokitFinishFunction function, void* const* arrays);

// Rows `ld` elements apart, from column `col` of the result on.
using FinishRowsKernel = void (*)(const Finish& finish, float* to, int64_t ld, int64_t rows,
                                  int64_t cols, int64_t col);
FinishRowsKernel BestFinishRows();

// The whole result, unless that is done.
void FinishAll(void* ctx, const HlokitFinishDesc& desc, Finish& finish, void* out);

// hlokit_dot, which may do `finish` as well.
void RunDot(void* ctx, const HlokitDotDesc& desc, const void* lhs, const void* rhs, void* out,
            Finish* finish);

namespace isa_base {
extern const FinishRowsKernel kFinishRows;
}  // namespace isa_base
namespace isa_avx2 {
extern const FinishRowsKernel kFinishRows;
}  // namespace isa_avx2
namespace isa_avx512 {
extern const FinishRowsKernel kFinishRows;
}  // namespace isa_avx512

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
