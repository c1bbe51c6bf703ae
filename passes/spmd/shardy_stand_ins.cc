// Operations that Shardy sees otherwise than GSPMD, whose rules sharding-propagation has, are
// replaced by others that are spread as Shardy has it.
//
// Example: where x[8,1] is cut along its first dimension, GSPMD's rule for reshape(x) to [8] loses
// the cut if the second is cut too; a sum over the second dimension keeps it.
// What is made of constants alone is made once for each user, so that nothing spreads from one user
// to another by way of an iota that both happen to share. Cost: a look at each instruction.
#include "passes/spmd/shardy_stand_ins.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "passes/rewrite/hlo_writer.h"

namespace hlokit {
namespace {

// Shardy cuts what is reversed as its operand, where GSPMD reverses the devices too.
Instruction* ForReverse(Instruction* i) {
  return i->parent()->Add(Opcode::kCopy, i->shape(), {i->operand(0)});
}

// Dimensions of size 1 that a reshape takes away do not hinder the others: a sum over them.
Instruction* ForSqueeze(Instruction* i) {
  const Shape& from = i->operand(0)->shape();
  const Shape& to = i->shape();
  if (from.rank() <= to.rank()) return nullptr;
  DimVector gone;
  int k = 0;
  for (int d = 0; d < from.rank(); ++d) {
    const bool kept = k < to.rank() && from.dims[d] == to.dims[k] &&
                      (from.dims[d] != 1 || from.rank() - d == to.rank() - k);
    if (kept)
      ++k;
    else if (from.dims[d] == 1)
      gone.push_back(d);
    else
      return nullptr;
  }
  if (k != to.rank()) return nullptr;
  Instruction* zero = i->parent()->AddConstant(Literal(Shape::Array(from.type, {})));
  Instruction* sum =
      i->parent()->Add(Opcode::kReduce, i->shape(), {i->operand(0), zero}, DimensionsAttrs{gone});
  sum->set_called({MakeReducer(*i->module(), Opcode::kAdd, from.type)});
  return sum;
}

// A part of an array, of another type: the first elements of the last dimension.
Instruction* ForPartOfTopK(Instruction* part) {
  Instruction* x = part->operand(0)->operand(0);
  SliceSpec slice;
  for (int64_t size : part->shape().dims) slice.push_back({0, size, 1});
  Shape shape = part->shape();
  shape.type = x->shape().type;
  Instruction* made = part->parent()->Add(Opcode::kSlice, shape, {x}, SliceAttrs{std::move(slice)});
  if (shape.type == part->shape().type) return made;
  return part->parent()->Add(Opcode::kConvert, part->shape(), {made});
}

// A factorization that JAX gives to LAPACK: Shardy knows nothing of it.
Instruction* ForFactorization(Instruction* i) {
  if (!i->shape().IsArray() || i->shape().rank() != 2) return nullptr;
  CustomCallAttrs attrs;
  attrs.target = "opaque";
  return i->parent()->Add(Opcode::kCustomCall, i->shape(), i->operands(), std::move(attrs));
}

// What stands for an instruction while shardings are spread; null: itself.
Instruction* StandIn(Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kReverse:
      return ForReverse(i);
    case Opcode::kReshape:
      return ForSqueeze(i);
    case Opcode::kGetTupleElement:
      return i->operand(0)->opcode() == Opcode::kTopK ? ForPartOfTopK(i) : nullptr;
    case Opcode::kCholesky:
    case Opcode::kTriangularSolve:
      return ForFactorization(i);
    default:
      return nullptr;
  }
}

void ReplaceAll(Computation* computation) {
  for (Instruction* i : computation->PostOrder()) {
    if (i->sharding() != nullptr || i->IsRoot()) continue;
    Instruction* made = StandIn(i);
    if (made == nullptr) continue;
    i->ReplaceAllUsesWith(made);
    computation->Remove(i);
  }
}

// More copies than this are not made.
constexpr int64_t kMaxCopies = 20'000;

// Whether it is to be cut as the other values of a group: then all its users read that cut.
bool IsInGroup(const Instruction& i) {
  return std::any_of(i.users().begin(), i.users().end(), [](const Instruction* user) {
    return user->opcode() == Opcode::kCustomCall &&
           user->attr<CustomCallAttrs>().target == "xla.sdy.ShardingGroup";
  });
}

// Whether it is made of constants alone, where its operands in `constant` are.
bool IsConstantLike(const Instruction& i, const absl::flat_hash_set<const Instruction*>& constant) {
  if (IsInGroup(i)) return false;
  if (i.IsConstant() || i.opcode() == Opcode::kIota) return true;
  const bool passes = HasTrait(i.opcode(), kElementwise) || i.opcode() == Opcode::kBroadcast ||
                      i.opcode() == Opcode::kReshape || i.opcode() == Opcode::kSlice;
  if (!passes || i.operand_count() == 0) return false;
  for (const Instruction* operand : i.operands())
    if (!constant.contains(operand)) return false;
  return true;
}

// An array of a number that no other has, so that common-subexpression elimination, which
// shardy-xla begins with, does not join what was split.
Instruction* NewConstant(Computation* computation, const Shape& shape, int64_t number) {
  Instruction* value = computation->AddConstant(Literal::R0(static_cast<double>(number)));
  if (shape.rank() > 0) {
    Shape wide = shape;
    wide.type = ElementType::kF64;
    value = computation->Add(Opcode::kBroadcast, wide, {value}, BroadcastAttrs{});
  }
  return computation->Add(Opcode::kConvert, shape, {value});
}

// Gives each user of such an instruction its own: users before operands.
void SplitConstants(Computation* computation, int64_t& numbers) {
  const auto order = computation->PostOrder();
  absl::flat_hash_set<const Instruction*> constant;
  for (const Instruction* i : order)
    if (i->sharding() == nullptr && IsConstantLike(*i, constant)) constant.insert(i);
  int64_t copies = 0;
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    Instruction* i = *at;
    if (!constant.contains(i)) continue;
    const std::vector<Instruction*> users(i->users().begin(), i->users().end());
    for (size_t k = i->operand_count() == 0 ? 0 : 1; k < users.size() && copies < kMaxCopies;
         ++k, ++copies) {
      Instruction* own = i->operand_count() == 0
                             ? NewConstant(computation, i->shape(), numbers++)
                             : computation->Add(i->CloneWith(i->shared_shape(), i->operands()));
      for (int64_t o = 0; o < users[k]->operand_count(); ++o)
        if (users[k]->operand(o) == i) users[k]->SetOperand(o, own);
    }
  }
}

// Gives a result that stands alone a copy behind it, so that it is no root.
void PutCopyBehindRoot(Module& module) {
  Computation* entry = module.entry();
  Instruction* root = entry->root();
  if (!root->shape().IsArray() || root->sharding() != nullptr) return;
  entry->set_root(entry->Add(Opcode::kCopy, root->shape(), {root}));
}

}  // namespace

void SetShardyStandIns(Module& module) {
  PutCopyBehindRoot(module);
  int64_t numbers = 0;
  for (Computation* computation : module.Computations()) {
    ReplaceAll(computation);
    SplitConstants(computation, numbers);
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
