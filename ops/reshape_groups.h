// Which dimensions of a reshape's two sides hold the same elements.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "types/shape.h"

namespace hlokit {

// Dimensions from .. from_end of the operand and to .. to_end of the result, of as many elements.
struct ReshapeGroup {
  int from = 0, from_end = 0, to = 0, to_end = 0;
  bool empty = false;  // at the bounds already
};

// The smallest such groups, in order: [4,6,5] and [4,2,3,5] give 4|4, 6|2,3 and 5|5. A dimension of
// size 1 belongs to the next group that is larger, at the end to the last. One group where there
// are no elements. Needs as many elements on both sides.
std::vector<ReshapeGroup> ReshapeGroups(absl::Span<const int64_t> from,
                                        absl::Span<const int64_t> to);

// Run-time sizes of the result for those of the operand: within each group the dynamic dimensions,
// the last first, take as many as there are elements for, at most their bounds; sizes of arrays
// that are empty at their bounds stay there. Source: XLA's inference of dynamic dimensions.
DimVector ReshapedSizes(absl::Span<const ReshapeGroup> groups,
                        absl::Span<const int64_t> operand_sizes, const Shape& result);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
