// What can be computed while building, and its value.
#include <array>

#include "absl/container/flat_hash_set.h"
#include "builder/xla_builder.h"
#include "interpreter/interpreter.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Opcodes without side effects whose value is no function of their operands, or that may run
// anything.
constexpr std::array kNeverConstant = {Opcode::kParameter,  Opcode::kCall,    Opcode::kCustomCall,
                                       Opcode::kWhile,      Opcode::kScatter, Opcode::kReplicaId,
                                       Opcode::kPartitionId};

bool MayBeConstant(const Instruction& i, XlaBuilder::ConstantRule rule) {
  if (i.opcode() == Opcode::kRng) return rule == XlaBuilder::ConstantRule::kWithRandom;
  for (Opcode never : kNeverConstant)
    if (i.opcode() == never) return false;
  return !HasTrait(i.opcode(), kSideEffect) && !HasTrait(i.opcode(), kCollective) &&
         !HasTrait(i.opcode(), kAsyncStart);
}

// The first instruction among those that `from` needs that is no constant, or null.
const Instruction* FindObstacle(const Instruction& from, XlaBuilder::ConstantRule rule) {
  std::vector<const Instruction*> work = {&from};
  absl::flat_hash_set<const Instruction*> seen = {&from};
  while (!work.empty()) {
    const Instruction* next = work.back();
    work.pop_back();
    if (!MayBeConstant(*next, rule)) return next;
    for (const Instruction* operand : next->operands())
      if (seen.insert(operand).second) work.push_back(operand);
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<bool> XlaBuilder::IsConstant(XlaOp op, ConstantRule rule) const {
  ASSIGN_OR_RETURN(const Instruction* found, Checked(op));
  return FindObstacle(*found, rule) == nullptr;
}

absl::StatusOr<Literal> XlaBuilder::ComputeConstant(XlaOp op, const Layout* output_layout) const {
  ASSIGN_OR_RETURN(const Instruction* root, Checked(op));
  if (const Instruction* obstacle = FindObstacle(*root, ConstantRule::kWithRandom))
    return InvalidArgument("the value depends on ", Text(obstacle->opcode()), " %",
                           obstacle->name(), ", so it is no constant");
  absl::flat_hash_map<const Instruction*, Literal> values;
  absl::flat_hash_set<const Instruction*> needed = {root};
  std::vector<const Instruction*> work = {root};
  while (!work.empty()) {
    const Instruction* next = work.back();
    work.pop_back();
    for (const Instruction* operand : next->operands())
      if (needed.insert(operand).second) work.push_back(operand);
  }
  // Operations stand in the order in which they were made, operands first.
  for (const Instruction* i : ops_) {
    if (!needed.contains(i)) continue;
    std::vector<const Literal*> operands;
    for (const Instruction* operand : i->operands()) operands.push_back(&values.at(operand));
    ASSIGN_OR_RETURN(Literal value, EvaluateInstruction(*i, operands));
    values[i] = std::move(value);
  }
  Literal result = std::move(values[root]);
  if (output_layout == nullptr) return result;
  Shape shape = result.shape();
  if (!shape.IsArray() || static_cast<int>(output_layout->minor_to_major.size()) != shape.rank())
    return InvalidArgument("the layout does not fit ", Text(shape));
  shape.layout = *output_layout;
  shape.has_layout = true;
  result.set_shape(std::move(shape));
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
