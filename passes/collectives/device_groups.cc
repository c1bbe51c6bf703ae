// Device groups of collectives.
#include "passes/collectives/device_groups.h"

#include <numeric>

namespace hlokit {
namespace {

template <typename A>
CollectiveFacts Facts(const Instruction& i) {
  const A& attrs = i.attr<A>();
  CollectiveFacts facts{attrs.channel_id, &attrs.replica_groups};
  if constexpr (requires { attrs.use_global_device_ids; })
    facts.global = attrs.use_global_device_ids;
  return facts;
}

int64_t DeviceCount(const Instruction& collective, const CollectiveFacts& facts) {
  const ModuleHeader& header = collective.module()->header();
  if (!facts.channel) return header.replica_count;
  return facts.global ? header.replica_count * header.num_partitions : header.num_partitions;
}

}  // namespace

std::optional<CollectiveFacts> FactsOf(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
      return Facts<AllReduceAttrs>(i);
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
      return Facts<AllGatherAttrs>(i);
    case Opcode::kReduceScatter:
      return Facts<ReduceScatterAttrs>(i);
    case Opcode::kAllToAll:
      return Facts<AllToAllAttrs>(i);
    case Opcode::kCollectiveBroadcast:
      return Facts<CollectiveBroadcastAttrs>(i);
    default:
      return std::nullopt;
  }
}

std::vector<std::vector<int64_t>> GroupsOf(const Instruction& collective) {
  const auto facts = FactsOf(collective);
  auto groups = facts->groups->Expand();
  if (!groups.empty()) return groups;
  groups.emplace_back(DeviceCount(collective, *facts));
  std::iota(groups[0].begin(), groups[0].end(), 0);
  return groups;
}

int64_t GroupSize(const Instruction& collective) {
  const auto groups = GroupsOf(collective);
  for (const auto& group : groups)
    if (group.size() != groups[0].size()) return 0;
  return groups[0].size();
}

Instruction* PlaceInGroup(HloWriter& w, const Instruction& collective) {
  const auto facts = FactsOf(collective);
  const ModuleHeader& header = collective.module()->header();
  const bool by_partition = facts->channel.has_value();
  // With several of both, groups may span replicas and partitions.
  if (by_partition && header.replica_count != 1) return nullptr;
  const int64_t devices = DeviceCount(collective, *facts);
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

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
