// Shapes and layouts in text.
#pragma once

#include "parser/reader_internal.h"
#include "types/shape.h"

namespace hlokit {

// The element type that a word spells, or kInvalid.
ElementType TypeFromWord(absl::string_view word);

// Whether a word is a name only with a percent sign in front: an element type, or a word of the
// language such as `inf` or `ROOT`.
bool IsKeyword(absl::string_view word);

// Whether a shape starts at the next token: an element type, a tuple's parenthesis or `b(`.
bool StartsShape(Reader& reader);

// Arrays without a layout get the default one, or none. kTight: the default one, and a brace after
// a blank is no layout but a literal's, as in `s32[2] {1, 0}`.
enum class MissingLayout { kDefault, kNone, kTight };
bool ReadShape(Reader& reader, Shape& shape, MissingLayout missing = MissingLayout::kDefault);

// The text of the shape that starts at the next token where that is all that decides the shape;
// empty where only ReadShape can tell.
absl::string_view PeekShapeText(Reader& reader);

// `{1,0:T(8,128)S(1)}`, the layout of `shape`, whose dimensions are known.
bool ReadLayout(Reader& reader, Shape& shape);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
