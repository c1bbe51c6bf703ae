// Groups and pairs, whichever attributes name them.
#include "ops/device_groups.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "support/status.h"

namespace hlokit {
namespace {

// What a collective says of its group, whichever struct says it.
struct GroupAttrs {
  bool has_channel = false;
  bool has_global_flag = false;  // ops that may carry use_global_device_ids
  bool use_global_device_ids = false;
  bool permutes = false;  // source-target pairs instead of groups: all devices meet
  ReplicaGroups groups;
};

template <typename A>
GroupAttrs From(const A& attrs) {
  GroupAttrs group;
  group.has_channel = attrs.channel_id.has_value();
  if constexpr (requires { attrs.use_global_device_ids; }) {
    group.has_global_flag = true;
    group.use_global_device_ids = attrs.use_global_device_ids;
  }
  if constexpr (requires { attrs.replica_groups; })
    group.groups = attrs.replica_groups;
  else
    group.permutes = true;
  return group;
}

absl::StatusOr<GroupAttrs> GroupAttrsOf(const Instruction& instruction) {
  switch (instruction.opcode()) {
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
      return From(instruction.attr<AllReduceAttrs>());
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
      return From(instruction.attr<AllGatherAttrs>());
    case Opcode::kReduceScatter:
      return From(instruction.attr<ReduceScatterAttrs>());
    case Opcode::kAllToAll:
      return From(instruction.attr<AllToAllAttrs>());
    case Opcode::kRaggedAllToAll:
      return From(instruction.attr<RaggedAllToAllAttrs>());
    case Opcode::kCollectiveBroadcast:
      return From(instruction.attr<CollectiveBroadcastAttrs>());
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
      return From(instruction.attr<CollectivePermuteAttrs>());
    default:
      return Unimplemented("communication by ", Text(instruction.opcode()));
  }
}

}  // namespace

std::vector<std::string> PairFaults(const CollectivePermuteAttrs& permute) {
  std::vector<std::string> faults;
  std::vector<int64_t> sources, targets;
  for (const auto& [source, target] : permute.source_target_pairs) {
    sources.push_back(source);
    targets.push_back(target);
  }
  for (std::vector<int64_t>* ids : {&sources, &targets}) {
    if (ids->empty()) continue;
    std::sort(ids->begin(), ids->end());
    const auto twice = std::adjacent_find(ids->begin(), ids->end());
    if (ids->front() < 0)
      faults.push_back(absl::StrCat("source_target_pairs names ", ids->front()));
    if (twice != ids->end() && permute.slice_sizes.empty())
      faults.push_back(absl::StrCat("source_target_pairs has ", *twice, " twice as ",
                                    ids == &sources ? "source" : "target"));
  }
  return faults;
}

std::vector<std::pair<int64_t, int64_t>> TransferPairs(const Instruction& instruction) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (const auto& [key, value] : instruction.extras().frontend_attributes) {
    if (key != "_xla_send_recv_source_target_pairs") continue;
    const std::string plain =
        absl::StrReplaceAll(value, {{"{", ""}, {"}", ""}, {"\"", ""}, {" ", ""}});
    std::vector<int64_t> numbers;
    for (absl::string_view text : absl::StrSplit(plain, ',', absl::SkipEmpty())) {
      int64_t number = 0;
      if (absl::SimpleAtoi(text, &number)) numbers.push_back(number);
    }
    for (size_t i = 0; i + 1 < numbers.size(); i += 2)
      pairs.push_back({numbers[i], numbers[i + 1]});
  }
  return pairs;
}

absl::StatusOr<std::vector<int64_t>> DeviceGroupOf(const Instruction& instruction, int64_t device,
                                                   int64_t replicas, int64_t partitions) {
  const int64_t replica = device / partitions, partition = device % partitions;
  if (instruction.opcode() == Opcode::kCustomCall) {  // out of a manual region: all partitions
    std::vector<int64_t> all(partitions);
    std::iota(all.begin(), all.end(), replica * partitions);
    return all;
  }
  ASSIGN_OR_RETURN(const GroupAttrs attrs, GroupAttrsOf(instruction));
  enum { kReplicas, kPartitions, kReplicasWhole, kDevices } mode = kReplicas;
  if (attrs.has_channel) mode = !attrs.has_global_flag ? kPartitions : kReplicasWhole;
  if (attrs.use_global_device_ids) mode = kDevices;
  const int64_t ids = mode == kPartitions ? partitions
                      : mode == kDevices  ? replicas * partitions
                                          : replicas;
  const int64_t own = mode == kPartitions ? partition : mode == kDevices ? device : replica;
  std::vector<int64_t> group;
  for (const std::vector<int64_t>& candidate : attrs.groups.Expand())
    if (std::find(candidate.begin(), candidate.end(), own) != candidate.end()) group = candidate;
  if (attrs.permutes || attrs.groups.empty()) {
    group.resize(ids);
    std::iota(group.begin(), group.end(), 0);
  }
  std::vector<int64_t> devices;
  for (int64_t id : group) {
    if (id < 0 || id >= ids)
      return InvalidArgument("replica group names ", id, ", which is no device of ", ids);
    if (mode == kReplicas) devices.push_back(id * partitions + partition);
    if (mode == kPartitions) devices.push_back(replica * partitions + id);
    if (mode == kDevices) devices.push_back(id);
    for (int64_t p = 0; mode == kReplicasWhole && p < partitions; ++p)
      devices.push_back(id * partitions + p);
  }
  return devices;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
