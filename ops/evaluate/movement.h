// Parts of data movement that executors use directly.
#pragma once

#include "absl/types/span.h"
#include "types/literal.h"

namespace hlokit {

// Where a slice of `sizes` starts in an array of `dims`: each index clamped so that the slice fits.
// `indices` is a scalar a dimension, or one vector.
DimVector ClampedStarts(absl::Span<const Literal* const> indices, absl::Span<const int64_t> dims,
                        absl::Span<const int64_t> sizes);

// dynamic-update-slice in place.
void UpdateSlice(Literal& target, const Literal& update, absl::Span<const Literal* const> indices);

// The box of `sizes` at `starts`, which lies inside; and its inverse.
Literal SliceBox(const Literal& operand, absl::Span<const int64_t> starts,
                 absl::Span<const int64_t> sizes);
void PlaceBox(const Literal& part, absl::Span<const int64_t> starts, Literal& into);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
