// Layouts in other memories.
#include "passes/rewrite/memory_spaces.h"

#include <algorithm>

namespace hlokit {

Shape InSpace(Shape shape, int64_t space) {
  for (Shape& element : shape.elements) element = InSpace(std::move(element), space);
  if (!shape.IsArray() || !shape.has_layout || SpaceOf(shape) == space) return shape;
  LayoutExtras extras = shape.layout.extras ? *shape.layout.extras : LayoutExtras();
  extras.memory_space = space;
  shape.layout.extras =
      extras == LayoutExtras() ? nullptr : std::make_shared<const LayoutExtras>(std::move(extras));
  return shape;
}

int64_t SpaceOf(const Shape& array) { return array.layout.memory_space(); }

bool IsUnaryCallOf(const Instruction* i, absl::string_view target) {
  return i->opcode() == Opcode::kCustomCall && i->operand_count() == 1 &&
         i->attr<CustomCallAttrs>().target == target;
}

absl::string_view FrontendAttribute(const Instruction& i, absl::string_view name) {
  for (const auto& [key, value] : i.extras().frontend_attributes)
    if (key == name) return value;
  return "";
}

bool SetFrontendAttribute(Instruction& i, absl::string_view name, absl::string_view value) {
  auto& attributes = i.mutable_extras().frontend_attributes;
  const auto at = std::find_if(attributes.begin(), attributes.end(),
                               [&](const auto& attribute) { return attribute.first == name; });
  if (at != attributes.end() && at->second == value) return false;
  if (at != attributes.end())
    at->second = std::string(value);
  else
    attributes.emplace_back(std::string(name), std::string(value));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
