// Marks by which collectives are told apart; see the header.
// They are attributes of the front end, kept as text, which no pass but a scheduler's interprets.
#include "passes/collectives/collective_keys.h"

#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

// What must agree, so that one instruction can stand for both.
constexpr absl::string_view kMarks[] = {"_scheduling_group_id", "collective_group_key"};

bool IsConstrained(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kAllReduce:
      return i.attr<AllReduceAttrs>().constrain_layout;
    case Opcode::kAllGather:
      return i.attr<AllGatherAttrs>().constrain_layout;
    case Opcode::kReduceScatter:
      return i.attr<ReduceScatterAttrs>().constrain_layout;
    default:
      return false;
  }
}

}  // namespace

const std::string* FindFrontendAttribute(const Instruction& i, absl::string_view key) {
  for (const auto& [name, value] : i.extras().frontend_attributes)
    if (name == key) return &value;
  return nullptr;
}

bool HasSchedulingAnnotation(const Instruction& i) {
  return FindFrontendAttribute(i, "_scheduling_group_id") != nullptr;
}

bool SameMarks(const Instruction& a, const Instruction& b) {
  for (absl::string_view mark : kMarks) {
    const std::string* x = FindFrontendAttribute(a, mark);
    const std::string* y = FindFrontendAttribute(b, mark);
    if ((x == nullptr) != (y == nullptr) || (x != nullptr && *x != *y)) return false;
  }
  return true;
}

bool HasConstrainedLayouts(const Module& module, Opcode opcode) {
  bool found = false;
  for (const Computation* c : module.Computations())
    c->ForEach([&](const Instruction* i) { found |= i->opcode() == opcode && IsConstrained(*i); });
  return found;
}

Computation* ReducerOn(Module& module, const Computation& reducer, ElementType type) {
  return MakeReducer(module, *ReducerOpcode(reducer), type);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
