// What the calls of CUB's radix sort that XLA's GPU compiler makes say of their rows.
#pragma once

#include "ops/vendor/call_config.h"
#include "types/shape.h"

namespace hlokit {

// The number of neighbouring keys that are sorted with each other: the keys of one of `batch_size`
// equal segments where `config` says so (xla.gpu.ext.cub_sort_*), else those of the last dimension.
// -1 where the segments are not equal. `keys` has at least one dimension.
// Source: XLA, stream_executor/cuda/cub_sort_kernel_cuda.cc.
int64_t CubRowLength(const ConfigValue& config, const Shape& keys);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
