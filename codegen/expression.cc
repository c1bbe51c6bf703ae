// Expressions: what a kernel computes, seen as a graph with roots (results) and leaves (operands),
// whether it comes from a fusion or a single instruction. Helpers tell whether all of it can be
// walked in memory order (LinearStep) and what an element costs, in simple float operations.
#include "codegen/expression.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "analysis/fusion_parts.h"
#include "analysis/in_place.h"
#include "codegen/op_cost.h"
#include "ir/op_facts.h"

namespace hlokit {

Expression Expression::Of(const Instruction* subject) {
  Expression e;
  e.subject = subject;
  const bool fused = subject->opcode() == Opcode::kFusion;
  const Instruction* root = fused ? subject->to_apply()->root() : subject;
  for (int64_t o = 0; o < subject->operand_count(); ++o)
    e.leaves.push_back({fused ? subject->to_apply()->parameter(o) : subject->operand(o), o});
  int64_t leaf = 0;
  for (const ShapeLeaf& part : Leaves(subject->shape())) {
    const bool tuple = fused && root->opcode() == Opcode::kTuple;
    e.roots.push_back(tuple ? root->operand(leaf) : root);
    e.root_leaves.push_back(tuple ? 0 : leaf);
    e.shapes.push_back(*part.shape);
    ++leaf;
  }
  return e;
}

std::vector<ExpressionPart> PartsOf(const Expression& whole) {
  const Instruction* subject = whole.subject;
  FusionParts found;
  if (subject->opcode() == Opcode::kFusion && whole.roots.size() > 1)
    found = FindFusionParts(*subject->to_apply());
  std::vector<ExpressionPart> parts(found.count);
  for (int64_t leaf = 0; leaf < static_cast<int64_t>(whole.roots.size()); ++leaf) {
    ExpressionPart& part = parts[found.count == 1 ? 0 : found.of_result[leaf]];
    part.expression.subject = subject;
    part.expression.roots.push_back(whole.roots[leaf]);
    part.expression.root_leaves.push_back(whole.root_leaves[leaf]);
    part.expression.shapes.push_back(whole.shapes[leaf]);
    part.results.push_back(leaf);
  }
  if (parts.size() == 1) {
    parts[0].expression.leaves = whole.leaves;
    return parts;
  }
  for (ExpressionPart& part : parts) {
    absl::flat_hash_set<const Instruction*> read(part.expression.roots.begin(),
                                                 part.expression.roots.end());
    for (const Instruction* i : Body(part.expression))
      read.insert(i->operands().begin(), i->operands().end());
    for (const Expression::Leaf& leaf : whole.leaves)
      if (read.contains(leaf.instruction)) part.expression.leaves.push_back(leaf);
  }
  return parts;
}

std::vector<const Instruction*> Body(const Expression& e) {
  absl::flat_hash_set<const Instruction*> seen;
  std::vector<const Instruction*> out;
  const bool fused = e.subject->opcode() == Opcode::kFusion;
  if (!fused) return {e.subject};
  std::vector<std::pair<const Instruction*, bool>> stack;
  for (const Instruction* root : e.roots) stack.push_back({root, false});
  while (!stack.empty()) {
    auto [i, done] = stack.back();
    stack.pop_back();
    if (done) {
      out.push_back(i);
      continue;
    }
    if (i->IsParameter() || !seen.insert(i).second) continue;
    stack.push_back({i, true});
    for (const Instruction* operand : i->operands()) stack.push_back({operand, false});
  }
  return out;
}

namespace {

bool LinearStep(const Instruction* i) {
  if (i->shape().IsScalar() && i->operand_count() == 0) return true;  // constants
  switch (i->opcode()) {
    case Opcode::kBroadcast:
      return i->operand(0)->shape().IsScalar();
    case Opcode::kReshape:
    case Opcode::kBitcast:
      return IsBitcast(i->operand(0)->shape(), i->shape()) && i->operand(0)->shape().IsRowMajor() &&
             i->shape().IsRowMajor();
    case Opcode::kIota:
      return i->shape().rank() == 1;
    case Opcode::kTuple:
      return true;
    default:
      break;
  }
  if (!HasTrait(i->opcode(), kElementwise) || i->opcode() == Opcode::kBitcastConvert) return false;
  for (const Instruction* operand : i->operands())
    if (!operand->shape().IsScalar() && !IsBitcast(operand->shape(), i->shape())) return false;
  return true;
}

// Of one element, in additions.
double OpCost(const Instruction* i) {
  switch (Facts(i->opcode()).cost) {
    case CostClass::kFree:
      return i->operand_count() == 0 ? 0 : 1;
    case CostClass::kIndexing:
      return 3;
    case CostClass::kDivision:
      return 4;
    case CostClass::kFunction:
    case CostClass::kLongFunction:
      return static_cast<double>(FunctionCost(Facts(i->opcode()).cost));
    case CostClass::kSums:
      return static_cast<double>(i->operand(0)->shape().ElementCount()) /
             std::max<int64_t>(1, i->shape().IsTuple() ? i->shape().elements[0].ElementCount()
                                                       : i->shape().ElementCount());
    case CostClass::kWindowSums: {
      double n = 2;
      for (const WindowDim& w : i->attr<WindowAttrs>().window) n *= static_cast<double>(w.size);
      return n;
    }
    case CostClass::kProducts: {
      double n = 2;
      for (int64_t d : i->attr<DotAttrs>().lhs_contracting_dims)
        n *= static_cast<double>(i->operand(0)->shape().dims[d]);
      return n;
    }
    default:
      return 1;
  }
}

}  // namespace

bool IsLinear(const Expression& e) {
  for (const Shape& s : e.shapes)
    if (!s.IsArray() || !IsBitcast(s, e.shapes[0]) ||
        s.ElementCount() != e.shapes[0].ElementCount())
      return false;
  for (const Instruction* i : Body(e))
    if (!LinearStep(i)) return false;
  return true;
}

namespace {

// Finds how many of the fastest dimensions of a domain can be one.
class DimensionMerger {
 public:
  explicit DimensionMerger(const Shape& domain) : domain_(domain) {}

  // 0 where an instruction is not known to go by its place in memory.
  int64_t Find(absl::Span<const Instruction* const> roots) {
    for (int64_t before = -1; before != count_;) {  // what was all of them may be some, later
      before = count_;
      seen_.clear();
      for (const Instruction* root : roots)
        if (!Visit(root)) return 0;
    }
    return count_;
  }

 private:
  bool Visit(const Instruction* i) {
    const Shape& shape = i->shape();
    if (!seen_.insert(i).second || shape.IsScalar()) return true;
    if (!shape.IsArray() || shape.dims != domain_.dims || !shape.IsRowMajor()) return false;
    if (i->IsParameter()) return true;
    if (i->opcode() == Opcode::kBroadcast) return VisitBroadcast(*i);
    if (!HasTrait(i->opcode(), kElementwise) || i->opcode() == Opcode::kBitcastConvert)
      return false;
    for (const Instruction* operand : i->operands())
      if (!Visit(operand)) return false;
    return true;
  }

  bool VisitBroadcast(const Instruction& i) {
    const Instruction& from = *i.operand(0);
    const DimVector& to = i.attr<BroadcastAttrs>().dimensions;
    std::vector<bool> varies(domain_.rank(), false);
    for (int64_t d = 0; d < from.shape().rank(); ++d) varies[to[d]] = from.shape().dims[d] != 1;
    const int64_t rank = domain_.rank();
    int64_t alike = 1;
    while (alike < count_ &&
           (varies[rank - 1 - alike] == varies[rank - 1] || domain_.dims[rank - 1 - alike] == 1))
      ++alike;
    count_ = alike;
    if (!varies[rank - 1]) return true;  // asked for its place along other dimensions only
    return from.IsParameter() && from.shape().IsRowMajor() && std::is_sorted(to.begin(), to.end());
  }

  const Shape& domain_;
  int64_t count_ = domain_.rank();
  absl::flat_hash_set<const Instruction*> seen_;
};

}  // namespace

Shape WalkedShape(const Expression& e, const Shape& domain) {
  Shape walked = domain;
  if (e.subject->opcode() != Opcode::kFusion || !domain.IsRowMajor() || domain.rank() < 2)
    return walked;
  const int64_t count = DimensionMerger(domain).Find(e.roots);
  for (int64_t k = 1; k < count; ++k) {
    const int64_t d = domain.rank() - 1 - k;
    walked.dims.back() *= domain.dims[d];
    walked.dims[d] = 1;
  }
  return walked;
}

bool HasPlainNaNs(const Expression& e) {
  for (const Expression::Leaf& leaf : e.leaves) {
    const Shape& shape = leaf.instruction->shape();
    if (!shape.IsArray() || IsComplex(shape.type) ||
        (IsFloat(shape.type) && shape.type != ElementType::kBF16))
      return false;
  }
  for (const Instruction* i : Body(e))
    if (i->opcode() == Opcode::kBitcastConvert || i->opcode() == Opcode::kBitcast) return false;
  return true;
}

double ElementCost(const Expression& e) {
  double cost = 1;
  for (const Instruction* i : Body(e)) cost += OpCost(i);
  return cost;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
