// Values of constants in text.
#pragma once

#include "parser/reader_internal.h"
#include "types/literal.h"

namespace hlokit {

struct LiteralForms {
  // In: an array with bounded dimensions may name its run-time sizes before its elements,
  // `(2) {1, 2}`. Constants of modules do not.
  bool sizes = false;
  // Out: there is a `{...}`; the literal is of no use.
  bool elided = false;
};

// Reads a value of `shape` (`{1, 2}`, `(1, {2})`, `-inf`). A single number for an array of several
// elements is its first element, the others are 0, as XLA reads it (with a warning where the number
// is not 0).
bool ReadLiteral(Reader& reader, const Shape& shape, Literal& literal, LiteralForms& forms);
// The same with the shape in front: `f32[2]{0} {1, 2}`, `(s32[], f32[1]) (1, {2})`, `( s32[] 1,
// pred[2] {0, 1} )`.
bool ReadTypedLiteral(Reader& reader, Literal& literal, LiteralForms& forms);

// Whether a group in parentheses stands before braces; a complex number stands before none.
bool StartsWithSizes(Reader& reader);
// `(1,2) {{5, 6}}` of s32[<=4,2]: a size for each dimension, those of static ones included.
bool ReadBoundedArray(Reader& reader, const Shape& shape, Literal& literal, LiteralForms& forms);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
