// What the calls of CUB's radix sort and sums that XLA's GPU compiler makes say of their rows.
#pragma once

#include <optional>

#include "ir/attributes.h"
#include "ops/vendor/call_config.h"
#include "types/shape.h"

namespace hlokit {

// The number of neighbouring keys that are sorted with each other: the keys of one of `batch_size`
// equal segments where `config` says so (xla.gpu.ext.cub_sort_*), else those of the last dimension.
// -1 where the segments are not equal. `keys` has at least one dimension.
// Source: XLA, stream_executor/cuda/cub_sort_kernel_cuda.cc.
int64_t CubRowLength(const ConfigValue& config, const Shape& keys);

// The dimension of `row_length` along which a call of CUB sums: the minor-most one in memory, those
// of size 1 aside. Nothing where there is none, or the sum is of another kind. Memory is that of
// the layout that the call asks of its operand, else of `operand`'s: a value of the interpreter
// may have the layout of what it is a copy of.
std::optional<int64_t> CubScanDimension(const ConfigValue& config, const CustomCallAttrs& attrs,
                                        const Shape& operand);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
