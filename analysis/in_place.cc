// Rules of in-place execution: when a result may be written over an operand.
//
// The rule for an elementwise operation is simple: element i of the result is written after element
// i of the operand was read, and nobody reads it again. A fusion has to satisfy it for every path
// from the parameter to the result, so the search follows all users of the parameter:
//   fusion(p, q) = add(p, q)                    p or q may be overwritten
//   fusion(p) = add(p, reverse(p))              not: reverse reads other elements of p
//   fusion(p, u) = dynamic-update-slice(p, u)   p must be, or all of it would be copied
// Cost: linear in the users, at most 512 instructions; larger fusions are not shared.
#include "analysis/in_place.h"

#include <algorithm>
#include <vector>

#include "analysis/product_finish.h"
#include "ir/computation.h"

namespace hlokit {
namespace {

// Dimensions of size above one, slowest first in memory, as (size) list in memory order; equal
// lists under a bitcast of one element type mean equal places when no dimension is split, which
// row-major order of both makes exact.
bool RowMajorAfterSqueeze(const Shape& shape) {
  const DimVector order = shape.MinorToMajor();
  int64_t last = shape.rank();
  for (int64_t d : order) {
    if (shape.dims[d] == 1) continue;
    if (d > last) return false;
    last = d;
  }
  return true;
}

bool SameStorage(const Shape& a, const Shape& b) {
  return a.IsArray() && b.IsArray() && ByteWidth(a.type) == ByteWidth(b.type) &&
         SameMemoryOrder(a, b);
}

// True if a dynamic-slice reads just the elements that the dynamic-update-slice `update` will
// write.
bool ReadsUpdatedWindow(const Instruction* slice, const Instruction* update) {
  if (slice->opcode() != Opcode::kDynamicSlice ||
      slice->shape().dims != update->operand(1)->shape().dims)
    return false;
  if (slice->operand_count() != update->operand_count() - 1) return false;
  for (int64_t i = 1; i < slice->operand_count(); ++i)
    if (slice->operand(i) != update->operand(i + 1)) return false;
  return true;
}

// Every use of fusion parameter `p` reaches the root's leaf only element by element, or is the base
// of the root's dynamic-update-slice, or reads the very window that this one writes.
bool ReadOnlyAtOwnIndex(const Instruction* p, const Instruction* root, const Shape& result) {
  const bool updates = root->opcode() == Opcode::kDynamicUpdateSlice;
  std::vector<const Instruction*> work = {p};
  std::vector<const Instruction*> seen;
  while (!work.empty()) {
    const Instruction* at = work.back();
    work.pop_back();
    for (const Instruction* user : at->users()) {
      if (user->opcode() == Opcode::kTuple && user == root) continue;
      if (updates && user == root) {
        const bool as_base = at == p && user->operand(0) == p;
        const bool as_update = at != p && user->operand(1) == at && user->operand(0) != at;
        for (int64_t i = 2; i < user->operand_count(); ++i)
          if (user->operand(i) == at) return false;
        if (as_base == as_update || (as_base && user->operand(1) == at)) return false;
        continue;
      }
      const Shape& domain = updates ? root->operand(1)->shape() : result;
      const bool window = updates && at == p && ReadsUpdatedWindow(user, root);
      const bool pointwise = HasTrait(user->opcode(), kElementwise) && (!updates || at != p) &&
                             SameMemoryOrder(user->shape(), domain) &&
                             SameMemoryOrder(at->shape(), user->shape());
      if (!window && !pointwise) return false;
      if (std::find(seen.begin(), seen.end(), user) == seen.end()) {
        seen.push_back(user);
        work.push_back(user);
      }
    }
    if (seen.size() > 512) return false;
  }
  return true;
}

bool OutputAliases(const std::vector<OutputAlias>& aliases, const Instruction& instruction,
                   int64_t operand, int64_t operand_leaf, int64_t result_leaf) {
  const auto result_leaves = Leaves(instruction.shape());
  const auto operand_leaves = Leaves(instruction.operand(operand)->shape());
  for (const OutputAlias& alias : aliases)
    if (alias.operand == operand && result_leaves[result_leaf].index == alias.output &&
        operand_leaves[operand_leaf].index == alias.operand_index)
      return true;
  return false;
}

}  // namespace

bool SameMemoryOrder(const Shape& a, const Shape& b) {
  if (a.IsTuple() != b.IsTuple() || a.elements.size() != b.elements.size()) return false;
  for (size_t e = 0; e < a.elements.size(); ++e)
    if (!SameMemoryOrder(a.elements[e], b.elements[e])) return false;
  if (!a.IsArray() || !b.IsArray()) return a.IsArray() == b.IsArray();
  if (a.dims != b.dims) return false;
  std::vector<int64_t> x, y;
  for (int64_t d : a.MinorToMajor())
    if (a.dims[d] != 1) x.push_back(d);
  for (int64_t d : b.MinorToMajor())
    if (b.dims[d] != 1) y.push_back(d);
  return x == y;
}

bool IsBitcast(const Shape& from, const Shape& to) {
  if (!from.IsArray() || !to.IsArray()) return false;
  if (SameMemoryOrder(from, to)) return true;
  return RowMajorAfterSqueeze(from) && RowMajorAfterSqueeze(to) &&
         from.ElementCount() == to.ElementCount();
}

// Sub-byte types are compared by type, not by width: s4 and u4 fill their byte with different bits.
bool IsPassThrough(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kBitcast: {
      // Types below a byte differ in the bits that fill it: those of s4 repeat the sign.
      const ElementType from = i.operand(0)->shape().type, to = i.shape().type;
      return from == to || (BitWidth(from) == BitWidth(to) && !IsSubByte(to));
    }
    case Opcode::kOptimizationBarrier:
    case Opcode::kDomain:
    case Opcode::kAddDependency:
      return true;
    case Opcode::kCopy:
      return i.shape().IsArray() && SameMemoryOrder(i.operand(0)->shape(), i.shape());
    case Opcode::kReshape:
    case Opcode::kTranspose:
      if (i.opcode() == Opcode::kReshape)
        return IsBitcast(i.operand(0)->shape(), i.shape()) && i.shape().dynamic_mask == 0;
      {
        // A transpose whose result layout undoes it moves nothing.
        const Shape& from = i.operand(0)->shape();
        const auto& perm = i.attr<DimensionsAttrs>().dimensions;
        std::vector<int64_t> x, y;
        for (int64_t d : from.MinorToMajor())
          if (from.dims[d] != 1) x.push_back(d);
        for (int64_t d : i.shape().MinorToMajor())
          if (i.shape().dims[d] != 1) y.push_back(perm[d]);
        return x == y;
      }
    default:
      return false;
  }
}

// Whether the results that have arrays in common with that of `result_leaf` are computed in one
// loop, element by element, and the operand is one of theirs: parts of a fusion run one after the
// other.
bool BufferSharing::IsOneLoop(int64_t operand, int64_t result_leaf) {
  const Computation& body = *i_.to_apply();
  if (!parts_) parts_ = FindFusionParts(body);
  const int own = parts_->of_result[result_leaf];
  if (parts_->count > 1 && parts_->of_parameter[operand] != own) return false;
  const Instruction* root = body.root();
  const Shape& shape = root->operand(result_leaf)->shape();
  for (int64_t k = 0; k < root->operand_count(); ++k) {
    const Instruction* other = root->operand(k);
    if (parts_->of_result[k] == own &&
        (!SameMemoryOrder(other->shape(), shape) || !HasTrait(other->opcode(), kElementwise)))
      return false;
  }
  return true;
}

// A dynamic-update-slice root elsewhere fed by the parameter would read it at other indices: only
// the plain forms.
bool BufferSharing::FusionMay(int64_t operand, int64_t operand_leaf, int64_t result_leaf,
                              bool* wanted) {
  if (operand_leaf != 0 || !i_.operand(operand)->shape().IsArray()) return false;
  const Computation* body = i_.to_apply();
  const Instruction* root = body->root();
  const Instruction* p = body->parameter(operand);
  const bool tuple = root->opcode() == Opcode::kTuple;
  const Instruction* part = tuple ? root->operand(result_leaf) : root;
  if (!SameStorage(p->shape(), part->shape())) return false;
  if (tuple && !IsOneLoop(operand, result_leaf)) return false;
  if (root->opcode() == Opcode::kScatter) {  // nothing else reads the base
    *wanted = root->operand_count() == 3 && root->operand(0) == p && p->users().size() == 1;
    return *wanted;
  }
  if (root->opcode() == Opcode::kDynamicUpdateSlice) {
    if (root->operand(0) != p) return false;
    *wanted = true;
  } else if (!HasTrait(part->opcode(), kElementwise) || FindFinishedProduct(i_).has_value()) {
    return false;  // products keep sums in the result
  }
  return ReadOnlyAtOwnIndex(p, root, part->shape());
}

bool MayShareBuffer(const Instruction& i, int64_t operand, int64_t operand_leaf,
                    int64_t result_leaf, bool* wanted) {
  return BufferSharing(i).May(operand, operand_leaf, result_leaf, wanted);
}

bool BufferSharing::May(int64_t operand, int64_t operand_leaf, int64_t result_leaf, bool* wanted) {
  *wanted = false;
  const Instruction& i = i_;
  switch (i.opcode()) {
    case Opcode::kFusion:
      return FusionMay(operand, operand_leaf, result_leaf, wanted);
    case Opcode::kDynamicUpdateSlice:
      *wanted = operand == 0;
      return operand == 0 && SameStorage(i.operand(0)->shape(), i.shape());
    case Opcode::kScatter: {
      const int64_t arrays = (i.operand_count() - 1) / 2;
      *wanted = operand == result_leaf && operand < arrays;
      if (!*wanted) return false;
      const Shape& result = i.shape().IsTuple() ? i.shape().elements[result_leaf] : i.shape();
      return SameStorage(i.operand(operand)->shape(), result);
    }
    case Opcode::kSort: {
      *wanted = operand == result_leaf;
      const Shape& result = i.shape().IsTuple() ? i.shape().elements[result_leaf] : i.shape();
      return operand == result_leaf && SameStorage(i.operand(operand)->shape(), result);
    }
    case Opcode::kCustomCall:
      *wanted = OutputAliases(i.attr<CustomCallAttrs>().output_to_operand_aliasing, i, operand,
                              operand_leaf, result_leaf);
      return *wanted;
    default:
      return HasTrait(i.opcode(), kElementwise) && i.shape().IsArray() && operand_leaf == 0 &&
             SameStorage(i.operand(operand)->shape(), i.shape());
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
