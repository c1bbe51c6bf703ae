// The elements of tensors as MLIR stores them in bytes.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/attribute_types.h"

namespace hlokit {

// Whether there are elements and all have the same bits.
bool AllEqual(const Literal& literal);

// The literal, or a scalar where there are several elements and all are equal: MLIR makes no
// difference between `dense<[2, 2]>` and `dense<2>`.
SharedLiteral OneOfEqual(SharedLiteral literal);

// The elements of an array of `shape` from bytes in row-major order, little-endian; a scalar
// literal where `splat_allowed` and the bytes are those of a single element that stands for all, or
// all elements are equal. i1
// takes a bit or a byte an element, as the number of bytes says; other types below a byte take one.
// Where `owner` is not null it keeps `bytes`, and large arrays are copied when first looked into.
// Errors: InvalidArgument where the number of bytes is another.
absl::StatusOr<SharedLiteral> DenseFromBytes(absl::string_view bytes, const Shape& shape,
                                             bool splat_allowed,
                                             const std::shared_ptr<const void>& owner = nullptr);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
