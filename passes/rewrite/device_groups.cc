// Device groups of collectives.
//
// What the numbers in replica_groups mean depends on channel and flag (CollectiveOpGroupMode):
// replicas, partitions, or devices. GroupsOf gives them as the opcode uses them, all in one group
// where none are named:
//   2 replicas of 2 partitions, replica_groups={{0,1}}, channel_id=1, no global ids
//   ->  {{0, 1, 2, 3}}: each replica with all of its partitions
// Groups that would list more than kMaxDevices are given up rather than made: passes then leave the
// collective alone.
#include "passes/rewrite/device_groups.h"

#include <algorithm>
#include <numeric>

#include "passes/rewrite/matchers.h"
#include "support/limits.h"

namespace hlokit {
namespace {

// How many there are of what the groups number.
int64_t IdCountOf(const Instruction& collective, CollectiveOpGroupMode mode) {
  const ModuleHeader& header = collective.module()->header();
  return IdCount(mode, header.replica_count, header.num_partitions);
}

// Each replica of a group with all of its partitions, as devices.
void SpellOutPartitions(std::vector<std::vector<int64_t>>& groups, int64_t partitions) {
  for (std::vector<int64_t>& group : groups) {
    std::vector<int64_t> devices;
    for (int64_t replica : group)
      for (int64_t p = 0; p < partitions; ++p) devices.push_back(replica * partitions + p);
    group = std::move(devices);
  }
}

}  // namespace

std::vector<std::vector<int64_t>> GroupsOf(const Instruction& collective) {
  const auto named = CollectiveGroupsOf(collective);
  auto groups = named->groups->Expand();
  const int64_t ids = IdCountOf(collective, named->mode());
  if (groups.empty() && ids <= kMaxDevices) {
    groups.emplace_back(ids);
    std::iota(groups[0].begin(), groups[0].end(), 0);
  }
  if (named->mode() != CollectiveOpGroupMode::kCrossReplicaAndPartition) return groups;
  const int64_t partitions = collective.module()->header().num_partitions;
  size_t members = 0;
  for (const auto& group : groups) members += group.size();
  if (partitions > kMaxDevices || members * partitions > kMaxDevices) return {};
  SpellOutPartitions(groups, partitions);
  return groups;
}

int64_t LargestChannel(const Module& module) {
  int64_t largest = 0;
  for (const Computation* c : module.Computations())
    for (const Instruction* i : c->Instructions()) {
      auto look = [&]<typename A>(A) {
        largest = std::max(largest, i->attr<A>().channel_id.value_or(0));
      };
      if (i->opcode() == Opcode::kAllReduce) look(AllReduceAttrs());
      if (i->opcode() == Opcode::kAllGather) look(AllGatherAttrs());
      if (i->opcode() == Opcode::kReduceScatter) look(ReduceScatterAttrs());
      if (i->opcode() == Opcode::kAllToAll) look(AllToAllAttrs());
      if (i->opcode() == Opcode::kCollectivePermute) look(CollectivePermuteAttrs());
    }
  return largest;
}

int64_t GroupSize(const Instruction& collective) {
  const auto groups = GroupsOf(collective);
  for (const auto& group : groups)
    if (group.size() != groups[0].size()) return 0;
  return groups.empty() ? 0 : groups[0].size();
}

namespace {

// What an integer scalar is on each of the ids that a collective's groups number.
class DeviceValues {
 public:
  DeviceValues(CollectiveOpGroupMode mode, int64_t replicas, int64_t partitions)
      : mode_(mode), replicas_(replicas), partitions_(partitions) {}

  using Values = std::optional<std::vector<int64_t>>;

  Values Of(const Instruction* i) {
    if (--left_ < 0 || i->shape().ElementCount() != 1 || !IsInteger(i->shape().type))
      return std::nullopt;
    switch (i->opcode()) {
      case Opcode::kConstant:
        if (i->literal() == nullptr) return std::nullopt;
        return std::vector<int64_t>(Count(), i->literal()->GetInt(0));
      case Opcode::kReplicaId:
      case Opcode::kPartitionId:
        return Ids(i->opcode() == Opcode::kReplicaId);
      case Opcode::kReshape:
      case Opcode::kConvert:
      case Opcode::kBroadcast:
      case Opcode::kCopy:
        return InRange(Of(i->operand(0)), i->shape().type);
      case Opcode::kAdd:
      case Opcode::kSubtract:
      case Opcode::kMultiply:
        return InRange(Combined(*i), i->shape().type);
      case Opcode::kDynamicSlice:
        return Looked(*i);
      default:
        return std::nullopt;
    }
  }

 private:
  int64_t Count() const {
    switch (mode_) {
      case CollectiveOpGroupMode::kCrossReplica:
        return replicas_;
      case CollectiveOpGroupMode::kCrossPartition:
        return partitions_;
      default:
        return replicas_ * partitions_;
    }
  }

  // Nothing where ids of one kind do not tell those of the other.
  Values Ids(bool replica) const {
    const bool by_replica = mode_ == CollectiveOpGroupMode::kCrossReplica;
    const bool by_partition = mode_ == CollectiveOpGroupMode::kCrossPartition;
    if ((by_replica && !replica && partitions_ != 1) || (by_partition && replica && replicas_ != 1))
      return std::nullopt;
    std::vector<int64_t> values;
    for (int64_t k = 0; k < Count(); ++k) {
      const int64_t r = by_replica ? k : by_partition ? 0 : k / partitions_;
      const int64_t p = by_partition ? k : by_replica ? 0 : k % partitions_;
      values.push_back(replica ? r : p);
    }
    return values;
  }

  // Nothing where a value would wrap.
  static Values InRange(Values values, ElementType type) {
    constexpr int64_t kLargest = int64_t{1} << 30;
    const int64_t bits = std::min<int64_t>(30, BitWidth(type) - (IsSigned(type) ? 1 : 0));
    for (const int64_t value : values.value_or(std::vector<int64_t>()))
      if (value >= std::min(kLargest, int64_t{1} << bits) || (value < 0 && !IsSigned(type)) ||
          value < -(int64_t{1} << bits))
        return std::nullopt;
    return values;
  }

  Values Combined(const Instruction& i) {
    const Values a = Of(i.operand(0)), b = Of(i.operand(1));
    if (!a || !b) return std::nullopt;
    std::vector<int64_t> values;
    for (size_t k = 0; k < a->size(); ++k) {
      const int64_t x = (*a)[k], y = (*b)[k];
      values.push_back(i.opcode() == Opcode::kAdd        ? x + y
                       : i.opcode() == Opcode::kSubtract ? x - y
                                                         : x * y);
    }
    return values;
  }

  // An entry of a constant table.
  Values Looked(const Instruction& i) {
    const Instruction* table = i.operand(0);
    if (i.shape().rank() != 1 || !table->IsConstant() || table->literal() == nullptr)
      return std::nullopt;
    Values at = Of(i.operand(1));
    if (!at) return std::nullopt;
    for (int64_t& value : *at)
      value = table->literal()->GetInt(std::clamp<int64_t>(value, 0, table->shape().dims[0] - 1));
    return at;
  }

  CollectiveOpGroupMode mode_;
  int64_t replicas_, partitions_;
  int left_ = 64;  // instructions to look at
};

}  // namespace

std::optional<std::vector<int64_t>> ByDevice(const Instruction* start,
                                             const Instruction& collective) {
  const ModuleHeader& header = collective.module()->header();
  const CollectiveOpGroupMode mode = CollectiveGroupsOf(collective)->mode();
  const int64_t ids = IdCountOf(collective, mode);
  if (ids > kMaxDevices || header.replica_count > kMaxDevices ||
      header.num_partitions > kMaxDevices ||
      header.replica_count * header.num_partitions > kMaxDevices)
    return std::nullopt;
  return DeviceValues(mode, header.replica_count, header.num_partitions).Of(start);
}

namespace {

// The running device among what the groups of a mode number, a u32 scalar.
Instruction* IdOf(HloWriter& w, CollectiveOpGroupMode mode, const ModuleHeader& header) {
  const auto id = [&w](Opcode opcode) {
    return w.rewriter().Add(opcode, RowMajor(ElementType::kU32, {}), {});
  };
  if (mode == CollectiveOpGroupMode::kCrossReplica) return id(Opcode::kReplicaId);
  if (mode == CollectiveOpGroupMode::kCrossPartition || header.replica_count == 1)
    return id(Opcode::kPartitionId);
  if (header.num_partitions == 1) return id(Opcode::kReplicaId);
  Instruction* first =
      w.WithInteger(Opcode::kMultiply, id(Opcode::kReplicaId), header.num_partitions);
  return w.Binary(Opcode::kAdd, first, id(Opcode::kPartitionId));
}

}  // namespace

Instruction* PlaceInGroup(HloWriter& w, const Instruction& collective) {
  const CollectiveOpGroupMode mode = CollectiveGroupsOf(collective)->mode();
  const int64_t ids = mode == CollectiveOpGroupMode::kCrossReplicaAndPartition
                          ? IdCountOf(collective, CollectiveOpGroupMode::kFlattenedID)
                          : IdCountOf(collective, mode);
  if (ids > kMaxDevices) return nullptr;
  // One group of all in their order, whatever number of devices the module names.
  const auto groups = GroupsOf(collective);
  if (groups.size() == 1 && IsIota(groups[0]) && mode != CollectiveOpGroupMode::kFlattenedID)
    return IdOf(w, mode, collective.module()->header());
  std::vector<int64_t> places(ids, 0);
  bool same = true;  // the place is the number
  for (const auto& group : groups)
    for (size_t k = 0; k < group.size(); ++k) {
      if (group[k] < 0 || group[k] >= ids) return nullptr;
      places[group[k]] = k;
      same &= group[k] == static_cast<int64_t>(k);
    }
  Instruction* id = IdOf(w, mode, collective.module()->header());
  if (same) return id;
  Instruction* table = w.List(ElementType::kU32, places);
  return w.Reshape(w.DynamicSlice(table, {id}, {1}), {});
}

bool Needs(const Instruction* i, absl::Span<Instruction* const> group) {
  std::vector<bool> seen(i->module()->id_bound(), false);
  std::vector<const Instruction*> work = {i};
  while (!work.empty()) {
    const Instruction* next = work.back();
    work.pop_back();
    if (std::find(group.begin(), group.end(), next) != group.end()) return true;
    for (auto before : {next->operands(), next->control_predecessors()})
      for (const Instruction* operand : before) {
        if (seen[operand->id()]) continue;
        seen[operand->id()] = true;
        work.push_back(operand);
      }
  }
  return false;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
