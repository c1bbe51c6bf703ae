// Rows of CUB's sorts.
#include "ops/vendor/cub_sort.h"

namespace hlokit {

int64_t CubRowLength(const ConfigValue& config, const Shape& keys) {
  const auto segments = static_cast<int64_t>(config.NumberOr("batch_size", 0));
  if (segments <= 0) return keys.dims.back();
  const int64_t count = keys.ElementCount();
  return count % segments == 0 ? count / segments : -1;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
