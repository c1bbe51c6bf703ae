// Independent parts of a horizontal fusion: union-find over instructions that read each other.
//   fusion(p, q) = tuple(exp(p), add(q, q))    two parts: result 0 from p, result 1 from q
// Scalars and broadcasts of them are shared: each part computes them again, so they join nothing.
// Near linear.
#include "analysis/fusion_parts.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace hlokit {
namespace {

class Grouper {
 public:
  explicit Grouper(const Computation& body) {
    for (const Instruction* i : body.PostOrder()) {
      if (i == body.root()) continue;
      const bool shared = IsShared(*i);
      place_[i] = static_cast<int>(parent_.size());
      parent_.push_back(static_cast<int>(parent_.size()));
      shared_.push_back(shared);
      if (shared) continue;
      for (const Instruction* operand : i->operands())
        if (!shared_[place_.at(operand)]) parent_[Find(operand)] = Find(i);
    }
  }

  int Find(const Instruction* i) {
    int at = place_.at(i);
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }
  bool shared(const Instruction* i) const { return shared_[place_.at(i)]; }

 private:
  // What each part may read, or make for itself.
  bool IsShared(const Instruction& i) const {
    if (i.IsParameter()) return i.shape().IsScalar();
    if (i.operand_count() == 0) return true;
    return (i.shape().IsScalar() || i.opcode() == Opcode::kBroadcast) &&
           std::all_of(i.operands().begin(), i.operands().end(),
                       [&](const Instruction* operand) { return shared(operand); });
  }

  absl::flat_hash_map<const Instruction*, int> place_;
  std::vector<int> parent_;
  std::vector<bool> shared_;
};

}  // namespace

FusionParts FindFusionParts(const Computation& body) {
  FusionParts parts;
  parts.of_parameter.assign(body.parameter_count(), -1);
  const Instruction* root = body.root();
  if (root->opcode() != Opcode::kTuple) {
    parts.of_result = {0};
    std::fill(parts.of_parameter.begin(), parts.of_parameter.end(), 0);
    return parts;
  }
  Grouper grouper(body);
  absl::flat_hash_map<int, int> numbers;
  for (const Instruction* result : root->operands()) {
    const auto [number, added] =
        numbers.try_emplace(grouper.Find(result), static_cast<int>(numbers.size()));
    parts.of_result.push_back(number->second);
  }
  parts.count = std::max<int>(1, static_cast<int>(numbers.size()));
  for (const Instruction* p : body.parameters()) {
    if (grouper.shared(p)) continue;
    const auto number = numbers.find(grouper.Find(p));
    if (number != numbers.end()) parts.of_parameter[p->parameter_number()] = number->second;
  }
  return parts;
}

bool IsOfScalars(const Instruction& i) {
  const auto is_scalar = [](const Instruction* part) {
    return part->opcode() == Opcode::kTuple ||
           (part->shape().IsScalar() &&
            (part->IsConstant() || part->IsParameter() || HasTrait(part->opcode(), kElementwise)));
  };
  if (i.opcode() != Opcode::kFusion) return is_scalar(&i);
  bool all = true;
  i.to_apply()->ForEach([&](const Instruction* part) { all &= is_scalar(part); });
  return all;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
