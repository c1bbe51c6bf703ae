// Values of constants in text.
#pragma once

#include "parser/reader_internal.h"
#include "types/literal.h"

namespace hlokit {

// Reads a value of `shape` (`{1, 2}`, `(1, {2})`, `-inf`). `{...}` in it sets `elided`; `literal`
// is then of no use. A single number for an array of several elements is its first element, the
// others are 0, as XLA reads it (with a warning where the number is not 0).
bool ReadLiteral(Reader& reader, const Shape& shape, Literal& literal, bool& elided);
// The same with the shape in front: `f32[2]{0} {1, 2}`, `(s32[], f32[1]) (1, {2})`, `( s32[] 1,
// pred[2] {0, 1} )`.
bool ReadTypedLiteral(Reader& reader, Literal& literal, bool& elided);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
