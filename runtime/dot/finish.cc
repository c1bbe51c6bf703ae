// What is done to results of products where the products do not do it themselves.
#include <algorithm>
#include <cstring>

#include "runtime/cpu_features.h"
#include "runtime/dot/finish_internal.h"
#include "runtime/parallel.h"

namespace hlokit {
namespace {

constexpr int64_t kGrain = 1 << 14;  // elements that a thread takes at least

float FloatOf(int64_t word) {
  const auto bits = static_cast<uint32_t>(word);
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

Finish FinishOf(const HlokitFinishDesc& desc, const void* bias, const void* residual,
                const void* out) {
  Finish finish;
  finish.bias = static_cast<const float*>(bias);
  if (residual != nullptr)
    finish.residual = static_cast<const char*>(residual) - static_cast<const char*>(out);
  finish.low = FloatOf(desc.low);
  finish.high = FloatOf(desc.high);
  return finish;
}

Finish FinishOf(HlokitFinishFunction function, void* const* arrays) {
  Finish finish;
  finish.function = function;
  finish.arrays = arrays;
  return finish;
}

FinishRowsKernel BestFinishRows() { return HLOKIT_OF_BEST_ISA(kFinishRows); }

void FinishAll(void* ctx, const HlokitFinishDesc& desc, Finish& finish, void* out) {
  if (finish.done || out == nullptr) return;
  finish.done = true;
  const int64_t cols = desc.cols, grain = kGrain / std::max<int64_t>(cols, 1) + 1;
  if (finish.function != nullptr)
    return ParallelFor(ctx, desc.rows, grain, [&](int64_t begin, int64_t end) {
      finish.function(finish.arrays, begin, end - begin, 0, cols);
    });
  const FinishRowsKernel rows = BestFinishRows();
  ParallelFor(ctx, desc.rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      rows(finish, static_cast<float*>(out) + i * cols, cols, 1, cols, 0);
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
