// Shapes and layouts between the IR and their messages.
#pragma once

#include "absl/status/status.h"
#include "proto/messages_internal.h"
#include "types/shape.h"

namespace hlokit {

void Write(const Shape& shape, pb::ShapeProto* out);

// Errors: InvalidArgument for element types that this version does not know, negative sizes, more
// than kMaxRank dimensions, more bytes than 64 bits count, and layouts that do not fit.
absl::Status Read(const pb::ShapeProto& in, Seen& seen, Shape& shape);

// Notes the unknown fields of shapes that are derived from others and so not read.
void NoteAll(const pb::ProgramShapeProto& in, Seen& seen);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
