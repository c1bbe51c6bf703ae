// ar-crs-combiner: combines a cross-partition all-reduce with the cross-replica all-reduce that
// follows it.
// Matches an all-reduce over all partitions of a replica that adds up (such as spmd-partitioning
// leaves), followed by reshapes, bitcasts, transposes, conversions between floats, and additions or
// subtractions of other such sums or of constants, and then by an all-reduce over replicas that
// adds up, where nothing else reads what lies between. Products with constants may lie there too.
// The first all-reduces go, constants that are added on the way are divided by the number of
// partitions, and the last one runs over the partitions too. One replica has no second sum. One
// partition is no other case: XLA's pass is told how many there are, its modules need not say it.
// Rounds otherwise than before. Cost: linear.
//   all-reduce(f(all-reduce(x, partitions)), replicas)
//     ->  all-reduce(f(x), replicas and partitions)
#include <algorithm>

#include "passes/framework/pass.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

bool AddsUp(const Instruction* i) {
  return i->opcode() == Opcode::kAllReduce && i->operand_count() == 1 && i->shape().IsArray() &&
         IsFloat(i->shape().type) && ReducerOpcode(*i->to_apply()) == Opcode::kAdd &&
         !HasControlEdges(*i);
}

// Whether each group is all partitions of one replica.
bool IsOverPartitions(const Instruction* i) {
  if (!AddsUp(i) || !CollectiveGroupsOf(*i)->channel_id) return false;
  const int64_t partitions = i->module()->header().num_partitions;
  const auto groups = GroupsOf(*i);
  for (std::vector<int64_t> group : groups) {
    std::sort(group.begin(), group.end());
    for (size_t k = 0; k < group.size(); ++k)
      if (group[k] != group[0] + static_cast<int64_t>(k)) return false;
    if (static_cast<int64_t>(group.size()) != partitions || group[0] % partitions != 0)
      return false;
  }
  return !groups.empty();
}

// The value before it is summed over partitions, in the place of the value after.
class Unsummed {
 public:
  Unsummed(Rewriter& r, int64_t partitions) : r_(r), w_(r), partitions_(partitions) {}

  // Whether Make can give it; `user` is the only reader.
  bool CanMake(const Instruction* i, const Instruction* user, int depth = 0) const {
    if (IsSame(i)) return true;
    if (depth > kLongestWay || i->users().size() != 1 || i->users()[0] != user || i->IsRoot() ||
        HasControlEdges(*i))
      return false;
    if (IsOverPartitions(i)) return true;
    switch (i->opcode()) {
      case Opcode::kConvert:
        return IsFloat(i->shape().type) && IsFloat(i->operand(0)->shape().type) &&
               CanMake(i->operand(0), i, depth + 1);
      case Opcode::kReshape:
      case Opcode::kBitcast:
      case Opcode::kTranspose:
      case Opcode::kNegate:
        return i->shape().type == i->operand(0)->shape().type &&
               CanMake(i->operand(0), i, depth + 1);
      case Opcode::kAdd:
      case Opcode::kSubtract:
        return i->operand(0) != i->operand(1) && CanMake(i->operand(0), i, depth + 1) &&
               CanMake(i->operand(1), i, depth + 1);
      case Opcode::kMultiply:
        return Factor(i) != nullptr && CanMake(OtherFactor(i), i, depth + 1);
      default:
        return false;
    }
  }

  Instruction* Make(Instruction* i) {
    if (IsSame(i)) return w_.WithNumber(Opcode::kDivide, i, static_cast<double>(partitions_));
    if (i->opcode() == Opcode::kAllReduce) return i->operand(0);
    if (i->opcode() == Opcode::kMultiply) return MakeProduct(i);
    std::vector<Instruction*> operands;
    for (Instruction* x : i->operands()) operands.push_back(Make(x));
    return r_.Clone(i, i->shape(), operands);
  }

 private:
  static constexpr int kLongestWay = 64;

  // Equal on all partitions by what it is.
  static bool IsSame(const Instruction* i) { return i->IsConstant() || SplatValue(i) != nullptr; }
  // The factor of a product that is equal on all partitions; null if there is none.
  static Instruction* Factor(const Instruction* i) {
    for (Instruction* x : i->operands())
      if (IsSame(x)) return x;
    return nullptr;
  }
  static Instruction* OtherFactor(const Instruction* i) {
    return i->operand(Factor(i) == i->operand(0) ? 1 : 0);
  }
  // A product of a sum is the sum of products: the factor stays as it is.
  Instruction* MakeProduct(Instruction* i) {
    std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
    for (Instruction*& x : operands)
      if (x != Factor(i)) x = Make(x);
    return r_.Clone(i, i->shape(), operands);
  }

  Rewriter& r_;
  HloWriter w_;
  int64_t partitions_;
};

bool HasSum(const Instruction* i) {
  if (i->opcode() == Opcode::kAllReduce) return true;
  if (i->IsConstant() || SplatValue(i) != nullptr) return false;
  return std::any_of(i->operands().begin(), i->operands().end(),
                     [](const Instruction* x) { return HasSum(x); });
}

absl::StatusOr<Instruction*> Combine(Instruction* i, Rewriter& r) {
  const ModuleHeader& header = i->module()->header();
  if (header.replica_count < 2 || !AddsUp(i) || CollectiveGroupsOf(*i)->channel_id) return nullptr;
  Instruction* x = i->operand(0);
  Unsummed unsummed(r, header.num_partitions);
  if (!unsummed.CanMake(x, i) || !HasSum(x)) return nullptr;
  ReplicaGroups groups;
  for (const std::vector<int64_t>& replicas : GroupsOf(*i)) {
    std::vector<int64_t>& devices = groups.lists.emplace_back();
    for (int64_t replica : replicas)
      for (int64_t p = 0; p < header.num_partitions; ++p)
        devices.push_back(replica * header.num_partitions + p);
  }
  Instruction* all = r.Clone(i, i->shape(), {unsummed.Make(x)});
  AllReduceAttrs& attrs = all->mutable_attr<AllReduceAttrs>();
  attrs.replica_groups = std::move(groups);
  attrs.channel_id = LargestChannel(*i->module()) + 1;
  attrs.use_global_device_ids = true;
  return all;
}

}  // namespace

std::unique_ptr<Pass> CreateArCrsCombiner() { return MakeExpander("ar-crs-combiner", Combine); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
