// The tables of PTX's types and state spaces.
#include "ptxsim/types.h"

#include <iterator>

namespace hlokit::ptx {
namespace {

struct TypeRow {
  absl::string_view text;
  int bits;
  TypeKind kind;
};

constexpr TypeRow kTypes[] = {
    {"", 0, TypeKind::kNone},
#define HLOKIT_PTX_TYPE(name, text, bits, kind) {text, bits, TypeKind::kind},
#include "ptxsim/types.def"
#undef HLOKIT_PTX_TYPE
};

struct SpaceRow {
  absl::string_view text;
  Space space;
};

constexpr SpaceRow kSpaces[] = {
    {"global", Space::kGlobal},      {"shared", Space::kShared},
    {"shared::cta", Space::kShared}, {"shared::cluster", Space::kShared},
    {"local", Space::kLocal},        {"const", Space::kConst},
    {"param", Space::kParam},        {"param::entry", Space::kParam},
    {"param::func", Space::kParam},  {"reg", Space::kRegister},
};

}  // namespace

std::optional<Type> TypeNamed(absl::string_view text) {
  for (size_t i = 1; i < std::size(kTypes); ++i)
    if (kTypes[i].text == text) return static_cast<Type>(i);
  return std::nullopt;
}

absl::string_view Text(Type type) { return kTypes[static_cast<size_t>(type)].text; }
TypeKind KindOf(Type type) { return kTypes[static_cast<size_t>(type)].kind; }
int BitsOf(Type type) { return kTypes[static_cast<size_t>(type)].bits; }

std::optional<Space> SpaceNamed(absl::string_view text) {
  for (const SpaceRow& row : kSpaces)
    if (row.text == text) return row.space;
  return std::nullopt;
}

absl::string_view Text(Space space) {
  for (const SpaceRow& row : kSpaces)
    if (row.space == space) return row.text;
  return "generic";
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
