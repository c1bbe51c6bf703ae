// Shapes and metadata read straight from their bytes, and shapes written: nearly all that dumps
// hold, at a fraction of what messages cost.
#pragma once

#include "absl/strings/string_view.h"
#include "ir/attribute_types.h"
#include "proto/wire_internal.h"
#include "support/shared_text.h"
#include "types/shape.h"

namespace hlokit {

// Each reads what Read (shapes_internal.h, metadata_internal.h) makes of the message in `bytes`.
// False, with any value in the result, where libprotobuf has to look at it: broken bytes, unknown
// fields, texts beyond ASCII, what is rare (layouts with tiles or memory spaces, profiles), and all
// that Read refuses.
bool ReadFromWire(absl::string_view bytes, Shape& shape);
bool ReadFromWire(absl::string_view bytes, SharedTextCache& texts, OpMetadata& metadata);

// Appends the fields of the shape's message, as Write (shapes_internal.h) has them.
void AppendToWire(const Shape& shape, WireWriter& out);
// The same in a field of this number.
void AppendToWire(int number, const Shape& shape, WireWriter& out);

bool IsAscii(absl::string_view text);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
