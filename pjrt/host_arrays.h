// Arrays in the framework's memory: their shapes, strides and layouts.
#pragma once

#include "pjrt/objects.h"

namespace hlokit {

// Errors: InvalidArgument for a negative or overflowing size, null dimensions, no such type.
absl::StatusOr<Shape> HostShape(PJRT_Buffer_Type type, const int64_t* dims, size_t num_dims);

// Writes the elements of a row-major array to `out` in the layout wanted (null: row-major), which
// is an order of dimensions or strides of a dense array. Errors: Unimplemented for tiles.
absl::Status CopyToHost(const Shape& shape, const uint8_t* elements,
                        const PJRT_Buffer_MemoryLayout* layout, uint8_t* out);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
