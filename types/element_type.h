// Element types of HLO arrays: their names, widths and classes, from the table element_types.def.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace hlokit {

// Values equal XLA's PrimitiveType numbers (xla_data.proto), so that protobuf dumps need no map.
enum class ElementType : uint8_t {
#define HLO_TYPE(enumerator, text, number, bits, klass) k##enumerator = number,
#include "types/element_types.def"
#undef HLO_TYPE
};

enum class TypeClass : uint8_t { kNone, kPred, kSigned, kUnsigned, kFloat, kComplex };

inline constexpr int kElementTypeCount = 35;

struct ElementTypeInfo {
  const char* text;
  int bits;  // logical width; sub-byte types still take one byte an element in a Literal
  TypeClass klass;
};

// Facts of `type`; kInvalid for a number outside the table.
const ElementTypeInfo& Info(ElementType type);

// HLO's spelling, such as "bf16".
absl::string_view Text(ElementType type);

// The array element type (or "token", "opaque") spelled `text`, if there is one.
std::optional<ElementType> ElementTypeFromText(absl::string_view text);

inline int BitWidth(ElementType type) { return Info(type).bits; }

// Bytes that one element takes in a Literal and in compiled programs: sub-byte types take one.
inline int ByteWidth(ElementType type) { return (Info(type).bits + 7) / 8; }

inline bool IsFloat(ElementType t) { return Info(t).klass == TypeClass::kFloat; }
inline bool IsComplex(ElementType t) { return Info(t).klass == TypeClass::kComplex; }
inline bool IsSigned(ElementType t) { return Info(t).klass == TypeClass::kSigned; }
inline bool IsUnsigned(ElementType t) { return Info(t).klass == TypeClass::kUnsigned; }
inline bool IsInteger(ElementType t) { return IsSigned(t) || IsUnsigned(t); }
inline bool IsPred(ElementType t) { return t == ElementType::kPred; }
inline bool IsSubByte(ElementType t) { return Info(t).bits > 0 && Info(t).bits < 8; }
// True for the types that arrays may have (not tuple, token, opaque, buffer).
inline bool IsArrayType(ElementType t) { return Info(t).klass != TypeClass::kNone; }

// f32 for c64, f64 for c128, else `type` itself.
ElementType RealComponent(ElementType type);
// c64 for f32, c128 for f64, else kInvalid.
ElementType ComplexOf(ElementType type);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
