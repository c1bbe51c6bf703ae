// Device groups of collectives.
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

std::optional<std::vector<int64_t>> ByDevice(const Instruction* start,
                                             const Instruction& collective) {
  int64_t factor = 1;
  while (start->opcode() != Opcode::kDynamicSlice) {
    if (start->opcode() == Opcode::kMultiply) {
      const Literal* times = SplatValue(start->operand(1));
      if (times == nullptr) return std::nullopt;
      factor *= times->GetInt(0);
    } else if (start->opcode() != Opcode::kReshape && start->opcode() != Opcode::kConvert) {
      return std::nullopt;
    }
    start = start->operand(0);
  }
  const Instruction* table = start->operand(0);
  const bool partitions = CollectiveGroupsOf(collective)->channel_id.has_value();
  const Opcode id = partitions ? Opcode::kPartitionId : Opcode::kReplicaId;
  if (partitions && collective.module()->header().replica_count != 1) return std::nullopt;
  if (start->shape().rank() != 1 || !table->IsConstant() || table->literal() == nullptr ||
      !IsInteger(table->shape().type) || start->operand(1)->opcode() != id)
    return std::nullopt;
  std::vector<int64_t> values;
  for (int64_t device = 0; device < table->shape().dims[0]; ++device)
    values.push_back(table->literal()->GetInt(device) * factor);
  return values;
}

Instruction* PlaceInGroup(HloWriter& w, const Instruction& collective) {
  const ModuleHeader& header = collective.module()->header();
  const bool by_partition = CollectiveGroupsOf(collective)->channel_id.has_value();
  // With several of both, groups may span replicas and partitions.
  if (by_partition && header.replica_count != 1) return nullptr;
  const int64_t devices = by_partition ? header.num_partitions : header.replica_count;
  if (devices > kMaxDevices) return nullptr;
  std::vector<int64_t> places(devices, 0);
  for (const auto& group : GroupsOf(collective))
    for (size_t k = 0; k < group.size(); ++k) {
      if (group[k] < 0 || group[k] >= devices) return nullptr;
      places[group[k]] = k;
    }
  Instruction* id = w.rewriter().Add(by_partition ? Opcode::kPartitionId : Opcode::kReplicaId,
                                     RowMajor(ElementType::kU32, {}), {});
  Instruction* table = w.List(ElementType::kS32, places);
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
