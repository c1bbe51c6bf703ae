// The table of element types and look-ups in it.
#include "types/element_type.h"

#include <array>

#include "absl/container/flat_hash_map.h"

namespace hlokit {
namespace {

constexpr std::array<ElementTypeInfo, kElementTypeCount> kInfos = {{
#define HLO_TYPE(enumerator, text, number, bits, klass) {text, bits, TypeClass::klass},
#include "types/element_types.def"
#undef HLO_TYPE
}};

}  // namespace

const ElementTypeInfo& Info(ElementType type) {
  const auto index = static_cast<size_t>(type);
  return kInfos[index < kInfos.size() ? index : 0];
}

absl::string_view Text(ElementType type) {
  return type == ElementType::kBuffer ? "buffer" : Info(type).text;
}

std::optional<ElementType> ElementTypeFromText(absl::string_view text) {
  static const auto* const by_text = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, ElementType>;
    for (int i = 1; i < kElementTypeCount; ++i) {
      const auto type = static_cast<ElementType>(i);
      if (type != ElementType::kTuple) (*map)[Info(type).text] = type;
    }
    return map;
  }();
  auto found = by_text->find(text);
  if (found == by_text->end() || found->second == ElementType::kBuffer) return std::nullopt;
  return found->second;
}

ElementType RealComponent(ElementType type) {
  if (type == ElementType::kC64) return ElementType::kF32;
  return type == ElementType::kC128 ? ElementType::kF64 : type;
}

ElementType ComplexOf(ElementType type) {
  if (type == ElementType::kF32) return ElementType::kC64;
  return type == ElementType::kF64 ? ElementType::kC128 : ElementType::kInvalid;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
