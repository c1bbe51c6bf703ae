// Sharding propagation: spreads stated shardings to instructions without one, forward from operands
// and backward from users, along the dimension maps.
//
// Rounds over the computation repeat until nothing changes, at most kMaxRounds; stated shardings
// are never changed. A sharding that cuts more dimensions wins over one that cuts fewer, where both
// are compatible (Merged). Each round is linear.
#include <algorithm>

#include "passes/spmd/sharding_passes.h"
#include "passes/spmd/tilings.h"

namespace hlokit {
namespace {

constexpr int kMaxRounds = 16;
constexpr int64_t kMaxShards = 4096;  // every array's cut names each of them

// How an array is cut, within which groups of devices (ManualGroupsOf; empty: there is one).
struct Cut {
  Tiling tiling;
  std::vector<int64_t> groups;
};
using Known = std::vector<std::optional<Cut>>;  // by instruction id

bool Cuts(const std::optional<Cut>& cut) { return cut && !cut->tiling.IsTrivial(); }

std::optional<Cut> OwnCut(const Instruction& i, int64_t devices) {
  auto tiling = OwnTiling(i, devices);
  if (!tiling) return std::nullopt;
  return Cut{*std::move(tiling), ManualGroupsOf(*i.sharding(), devices)};
}

// What the operands' cuts say of the result.
std::optional<Cut> FromOperands(const Instruction& i, const Known& known) {
  std::optional<Cut> found;
  for (int64_t k = 0; k < i.operand_count(); ++k) {
    const auto& own = known[i.operand(k)->id()];
    const DimVector map = DimensionMap(i, k);
    if (!Cuts(own) || map.empty()) continue;
    Tiling moved = Moved(own->tiling, map, i.shape().rank());
    if (moved.IsTrivial()) continue;
    if (!found) {
      found = Cut{std::move(moved), own->groups};
    } else if (auto both = Merged(found->tiling, moved)) {
      found->tiling = *std::move(both);
    }
  }
  return found;
}

// What a user's cut says of the instruction.
std::optional<Cut> FromUsers(const Instruction& i, const Known& known) {
  for (const Instruction* user : i.users()) {
    const auto& theirs = known[user->id()];
    if (!Cuts(theirs)) continue;
    for (int64_t k = 0; k < user->operand_count(); ++k) {
      if (user->operand(k) != &i) continue;
      const DimVector map = DimensionMap(*user, k);
      if (map.empty()) continue;
      DimVector back(user->shape().rank(), -1);
      for (size_t d = 0; d < map.size(); ++d)
        if (map[d] >= 0) back[map[d]] = d;
      Tiling moved = Moved(theirs->tiling, back, i.shape().rank());
      if (!moved.IsTrivial()) return Cut{std::move(moved), theirs->groups};
    }
  }
  return std::nullopt;
}

bool Wants(const Instruction& i, const Known& known) {
  return i.shape().IsArray() && i.sharding() == nullptr && !known[i.id()] && !i.IsParameter() &&
         !i.IsConstant() && i.opcode() != Opcode::kCustomCall;
}

absl::StatusOr<bool> Propagate(Computation& c) {
  const int64_t devices = std::max(c.module()->header().num_partitions, DevicesNamed(*c.module()));
  if (devices < 2 || devices > kMaxShards) return false;
  Known known(c.module()->id_bound());
  std::vector<Instruction*> order = c.PostOrder();
  for (const Instruction* i : order) known[i->id()] = OwnCut(*i, devices);
  bool changed = false, more = true;
  for (int round = 0; round < kMaxRounds && more; ++round) {
    more = false;
    for (Instruction* i : order) {
      if (!Wants(*i, known)) continue;
      auto found = round % 2 == 0 ? FromOperands(*i, known) : FromUsers(*i, known);
      if (!found || !IsEven(found->tiling, i->shape())) continue;
      i->mutable_extras().sharding =
          std::make_unique<Sharding>(ShardingOf(found->tiling, found->groups));
      known[i->id()] = std::move(found);
      changed = more = true;
    }
    more |= round == 0;  // users have not been asked yet
    std::reverse(order.begin(), order.end());
  }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateShardingPropagation() {
  return MakeComputationPass("sharding-propagation", Propagate);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
