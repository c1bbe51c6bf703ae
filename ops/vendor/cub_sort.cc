// Rows of CUB's sorts and sums.
#include "ops/vendor/cub_sort.h"

namespace hlokit {

int64_t CubRowLength(const ConfigValue& config, const Shape& keys) {
  const auto segments = static_cast<int64_t>(config.NumberOr("batch_size", 0));
  if (segments <= 0) return keys.dims.back();
  const int64_t count = keys.ElementCount();
  return count % segments == 0 ? count / segments : -1;
}

std::optional<int64_t> CubScanDimension(const ConfigValue& config, const CustomCallAttrs& attrs,
                                        const Shape& operand) {
  const auto length = static_cast<int64_t>(config.NumberOr("row_length", -1));
  if (config.StringOr("kind", "SUM") != "SUM" || config.NumberOr("vector_length", 1) != 1)
    return std::nullopt;
  const auto& asked = attrs.operand_layout_constraints;
  const bool says = asked && asked->size() == 1 && (*asked)[0].dims == operand.dims;
  const Shape& shape = says ? (*asked)[0] : operand;
  for (const int64_t d : shape.MinorToMajor()) {
    if (shape.dims[d] == length) return d;
    if (shape.dims[d] != 1) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
