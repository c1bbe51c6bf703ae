// Custom calls, bitcasts, fusions, the entry's parameters: what has the layouts that it has.
// Linear.
#include "passes/layouts/fixed_layouts.h"

namespace hlokit {

bool NeedsCopy(const Shape& from, const Shape& to) {
  if (from.IsTuple()) {
    for (size_t k = 0; k < from.elements.size(); ++k)
      if (NeedsCopy(from.elements[k], to.elements[k])) return true;
    return false;
  }
  return from.IsArray() && from.MinorToMajor() != to.MinorToMajor();
}

Instruction* InLayout(Instruction* value, const Shape& to) {
  if (!NeedsCopy(value->shape(), to)) return value;
  Computation& c = *value->parent();
  if (!to.IsTuple()) return c.Add(Opcode::kCopy, to, {value});
  std::vector<Instruction*> parts;
  for (size_t k = 0; k < to.elements.size(); ++k) {
    Instruction* part = c.Add(Opcode::kGetTupleElement, value->shape().elements[k], {value},
                              GetTupleElementAttrs{static_cast<int64_t>(k)});
    parts.push_back(InLayout(part, to.elements[k]));
  }
  return c.Add(Opcode::kTuple, to, parts);
}

bool KeepsLayouts(const Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kCustomCall:
    case Opcode::kBitcast:
    case Opcode::kFusion:
    case Opcode::kCopyStart:
    case Opcode::kCopyDone:
      return true;
    case Opcode::kGetTupleElement:
      return KeepsLayouts(i->operand(0));
    default:
      return i->IsParameter() && i->parent()->IsEntry();
  }
}

std::vector<Shape> OperandLayouts(const Instruction* i) {
  std::vector<Shape> shapes;
  for (const Instruction* operand : i->operands())
    shapes.push_back(operand->shape().WithDefaultLayout());
  if (i->opcode() == Opcode::kCustomCall) {
    const auto& constraints = i->attr<CustomCallAttrs>().operand_layout_constraints;
    if (constraints && constraints->size() == shapes.size()) shapes = *constraints;
  } else if (KeepsLayouts(i)) {
    for (size_t k = 0; k < shapes.size(); ++k) shapes[k] = i->operand(k)->shape();
  }
  return shapes;
}

Shape EntryResult(const Computation& entry, bool row_major) {
  const Shape& was = entry.root()->shape();
  if (row_major) return was.WithDefaultLayout();
  const auto& layout = entry.module()->header().entry_layout;
  return layout && SameIgnoringLayout(layout->result, was) ? layout->result : was;
}

bool DiffersInText(const Shape& a, const Shape& b) {
  return Text(a, /*with_layout=*/true) != Text(b, /*with_layout=*/true);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
