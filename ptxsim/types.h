// The types and state spaces of PTX.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace hlokit::ptx {

enum class Type : uint8_t {
  kNone,
#define HLOKIT_PTX_TYPE(name, text, bits, kind) k##name,
#include "ptxsim/types.def"
#undef HLOKIT_PTX_TYPE
};

enum class TypeKind : uint8_t { kNone, kBits, kUnsigned, kSigned, kFloat, kPredicate };

// "s32" without its dot; nullopt for other words.
std::optional<Type> TypeNamed(absl::string_view text);
absl::string_view Text(Type type);
TypeKind KindOf(Type type);
int BitsOf(Type type);
// Bytes in memory and in a register: at least one.
inline int BytesOf(Type type) { return (BitsOf(type) + 7) / 8; }
inline bool IsFloat(Type type) { return KindOf(type) == TypeKind::kFloat; }
inline bool IsSigned(Type type) { return KindOf(type) == TypeKind::kSigned; }
inline bool IsInteger(Type type) {
  return KindOf(type) == TypeKind::kSigned || KindOf(type) == TypeKind::kUnsigned;
}

enum class Space : uint8_t { kGeneric, kRegister, kGlobal, kShared, kLocal, kConst, kParam };

// "global", "shared::cta", "param::entry", ...; nullopt for other words.
std::optional<Space> SpaceNamed(absl::string_view text);
absl::string_view Text(Space space);

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
