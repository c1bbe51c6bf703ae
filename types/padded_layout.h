// Layouts that pad: the oldest form of layout, before tiles took its place.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "types/literal.h"

namespace hlokit {

// Each dimension takes padded_dimensions[d] elements in memory, the array's own first, the rest
// `padding_value`. Text has no form for it. Source: seed 000, "Padding".
struct PaddedLayout {
  DimVector minor_to_major;     // the first varies fastest
  DimVector padded_dimensions;  // elements, by dimension; at least the array's sizes
  Literal padding_value;        // a scalar of the array's type
};

// The elements of an array in memory order, padding included, as a vector of its type. Errors:
// InvalidArgument where the layout does not fit the array.
absl::StatusOr<Literal> LinearizePadded(const Literal& array, const PaddedLayout& layout);

// Back: the array of `dims` whose elements lie so in `memory`.
absl::StatusOr<Literal> DelinearizePadded(const Literal& memory, absl::Span<const int64_t> dims,
                                          const PaddedLayout& layout);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
