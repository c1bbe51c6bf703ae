// The k best values of each line, for topk and for custom calls of that name.
#pragma once

#include "absl/strings/string_view.h"
#include "types/literal.h"

namespace hlokit {

// True of custom calls of that name, of all platforms: the largest values of the one operand.
inline bool IsTopKTarget(absl::string_view target) {
  return target == "TopK" || target == "mhlo.topk" || target == "__gpu$TopK";
}

// (values, indices) along the last dimension, best first; k is at most its size. `result` is the
// tuple's shape.
Literal TopK(const Literal& operand, int64_t k, bool largest, const Shape& result);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
