// From a user to what it reads: what the user's sharding says of its operand.
//   transpose, reshape, reverse, broadcast, reduce: moved back    tuple: its leaf
//   dot: batch and free dimensions from the result, contracted ones from the other operand
// Users of the operand's own shape pass on what they have.
#include <algorithm>

#include "ops/dim_lists.h"
#include "passes/spmd/spread_rules.h"

namespace hlokit {
namespace {

int64_t PlaceOf(const Instruction& i, const Instruction& user) {
  return std::find(user.operands().begin(), user.operands().end(), &i) - user.operands().begin();
}

// The dimensions that a broadcast makes hold copies.
Spread OfBroadcast(const Instruction& user, const Spread& s, int64_t rank) {
  const DimVector& where = user.attr<BroadcastAttrs>().dimensions;
  DimVector map(user.shape().rank(), -1);
  for (size_t d = 0; d < where.size(); ++d) map[where[d]] = d;
  return MovedTo(s, map, rank);
}

Spread OfReduce(const Instruction& user, const Spread& s, int64_t rank) {
  DimVector map;
  for (int64_t d = 0; d < rank; ++d)
    if (!Contains(user.attr<DimensionsAttrs>().dimensions, d)) map.push_back(d);
  return MovedTo(s, map, rank);
}

Spread OfProduct(const Instruction& user, int64_t k, const KnownSpreads& known, bool combine) {
  const ProductDims dims = ProductDimsOf(user);
  const Instruction* other = user.operand(1 - k);
  const int64_t rank = user.operand(k)->shape().rank();
  const auto own = [k](const ProductDims::Dim& d) { return k == 0 ? d.lhs : d.rhs; };
  const auto theirs = [k](const ProductDims::Dim& d) { return k == 0 ? d.rhs : d.lhs; };
  DimVector from_result(user.shape().rank(), -1), from_other(other->shape().rank(), -1);
  for (const auto& d : dims.batch) {
    from_result[d.output] = own(d);
    from_other[theirs(d)] = own(d);
  }
  for (const auto& d : k == 0 ? dims.lhs_free : dims.rhs_free) from_result[d.output] = own(d);
  for (const auto& d : dims.contracting) from_other[theirs(d)] = own(d);
  Spread made = MovedTo(known[&user][0], from_result, rank);
  if (!known.Propagates(other)) return made;
  Spread by_other = MovedTo(known[other][0], from_other, rank);
  return Merge(made, by_other, combine) ? by_other : made;
}

// The sizes of a ragged dot's groups are cut along batch dimensions, which come first, alone.
Spread OfGroupSizes(const Instruction& user, const KnownSpreads& known) {
  const ProductDims dims = ProductDimsOf(user);
  const int64_t rank = user.operand(2)->shape().rank();
  DimVector map(user.shape().rank(), -1);
  for (size_t k = 0; k < dims.batch.size() && static_cast<int64_t>(k) + 1 < rank; ++k)
    map[dims.batch[k].output] = static_cast<int64_t>(k);
  return MovedTo(known[&user][0], map, rank);
}

// The tuple that `user` takes `i`'s element of: what is known of its other leaves stays.
Spreads OfElement(const Instruction& i, const Instruction& user, const KnownSpreads& known) {
  const Spreads& own = known[&user];
  Spreads leaves = known[&i];
  if (leaves.empty()) leaves.assign(LeafCount(i.shape()), Spread::Unknown());
  const int64_t first = FirstLeaf(i.shape(), user.tuple_index());
  std::copy(own.begin(), own.end(), leaves.begin() + first);
  return leaves;
}

bool SameDimensions(const Shape& a, const Shape& b) {
  if (a.IsTuple() != b.IsTuple()) return false;
  if (!a.IsTuple()) return a.IsArray() == b.IsArray() && a.dims == b.dims;
  if (a.elements.size() != b.elements.size()) return false;
  for (size_t k = 0; k < a.elements.size(); ++k)
    if (!SameDimensions(a.elements[k], b.elements[k])) return false;
  return true;
}

// The user's leaf that is its operand k's own.
Spreads LeafOf(const Spreads& spreads, int64_t k) {
  if (spreads.size() == 1) return spreads;
  return k < static_cast<int64_t>(spreads.size()) ? Spreads{spreads[k]} : Spreads{};
}

Spreads Find(const Instruction& i, const Instruction& user, const KnownSpreads& known,
             int aggressiveness) {
  const Spreads& own = known[&user];
  const int64_t k = PlaceOf(i, user), rank = i.shape().IsArray() ? i.shape().rank() : 0;
  switch (user.opcode()) {
    case Opcode::kBroadcast:
      return {OfBroadcast(user, own[0], rank)};
    case Opcode::kConcatenate:
      return aggressiveness == 0 ? Spreads{} : own;
    case Opcode::kDynamicSlice:
      return aggressiveness > 0 && k == 0 ? own : Spreads{};
    case Opcode::kDynamicUpdateSlice:
      if (aggressiveness > 0 && k > 1 && own[0].IsReplicated()) return own;
      return aggressiveness > 0 && k < 2 ? own : Spreads{};
    case Opcode::kReduceWindow:
      return k < user.operand_count() / 2 ? LeafOf(own, k) : Spreads{};
    case Opcode::kReshape:
      return {Reshaped(own[0], user.shape(), i.shape())};
    case Opcode::kPad:
      return k == 0 ? own : Spreads{};
    case Opcode::kSlice:
      return own;
    case Opcode::kTranspose: {
      const DimVector& order = user.attr<DimensionsAttrs>().dimensions;
      return {MovedTo(own[0], order, rank)};
    }
    case Opcode::kReverse:
      return {Reversed(own[0], user.attr<DimensionsAttrs>().dimensions)};
    case Opcode::kTuple: {
      if (i.shape().IsTuple() && i.shape().elements.empty()) return {};
      const auto first = own.begin() + FirstLeaf(user.shape(), k);
      return Spreads(first, first + LeafCount(i.shape()));
    }
    case Opcode::kGetTupleElement:
      return OfElement(i, user, known);
    case Opcode::kRaggedDot:
      if (k == 2) return {OfGroupSizes(user, known)};
      return {OfProduct(user, k, known, aggressiveness > 0)};
    case Opcode::kDot:
      return {OfProduct(user, k, known, aggressiveness > 0)};
    case Opcode::kConvolution:
      if (!ProductDimsOf(user).spatial.empty() || k > 1) return {};
      return {OfProduct(user, k, known, aggressiveness > 0)};
    case Opcode::kReduce: {
      if (rank == 0) return {};
      const Spreads leaf = LeafOf(own, k);
      return leaf.empty() ? leaf : Spreads{OfReduce(user, leaf[0], rank)};
    }
    case Opcode::kSort:
      return LeafOf(own, k);
    case Opcode::kGather:
      return FromGatherUser(i, user, known);
    case Opcode::kScatter:
      return FromScatterUser(i, user, known);
    default:
      return SameDimensions(i.shape(), user.shape()) ? own : Spreads{};
  }
}

}  // namespace

Spreads FromUser(const Instruction& i, const Instruction& user, const KnownSpreads& known,
                 int aggressiveness) {
  if (!PassesThrough(user, aggressiveness) || !known.Propagates(&user)) return {};
  Spreads found = Find(i, user, known, aggressiveness);
  if (static_cast<int64_t>(found.size()) != LeafCount(i.shape())) return {};
  if (CallTarget(i) == "ShardBarrierTo")
    for (Spread& s : found) s = Spread();
  return found;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
