// Groups and pairs, whichever attributes name them.
//
// Devices are numbered replica * partitions + partition. What an id in replica_groups means:
//   no channel                       kCrossReplica: replicas, of the same partition
//   channel                          kCrossPartition: partitions, of the same replica
//   channel, use_global_device_ids   true: kFlattenedID, devices; false: kCrossReplicaAndPartition,
//                                    replicas with all of their partitions
// No groups mean one of all. Ids are looked up in a hash table, so a device's group costs its size.
#include "ops/collective/device_groups.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "ops/collective/device_group_list.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Groups as written, found by the ids in them.
class GroupReader {
 public:
  GroupReader(const CollectiveGroups& collective, int64_t replicas, int64_t partitions)
      : mode_(collective.mode()),
        partitions_(partitions),
        ids_(IdCount(mode_, replicas, partitions)) {
    if (collective.groups != nullptr) groups_ = collective.groups->Expand();
    if (collective.groups == nullptr || collective.groups->empty()) {
      std::vector<int64_t>& all = groups_.emplace_back(ids_);
      std::iota(all.begin(), all.end(), 0);
    }
    for (size_t group = 0; group < groups_.size(); ++group)
      for (const int64_t id : groups_[group]) group_of_[id] = group;
  }

  // As DeviceGroupOf.
  absl::StatusOr<std::vector<int64_t>> DevicesWith(int64_t device) const {
    const int64_t replica = device / partitions_, partition = device % partitions_;
    const auto found = group_of_.find(IdOf(device));
    std::vector<int64_t> devices;
    if (found == group_of_.end()) return devices;
    using Mode = CollectiveOpGroupMode;
    for (const int64_t id : groups_[found->second]) {
      if (id < 0 || id >= ids_)
        return InvalidArgument("replica group names ", id, ", which is no device of ", ids_);
      if (mode_ == Mode::kCrossReplica) devices.push_back(id * partitions_ + partition);
      if (mode_ == Mode::kCrossPartition) devices.push_back(replica * partitions_ + id);
      if (mode_ == Mode::kFlattenedID) devices.push_back(id);
      for (int64_t p = 0; mode_ == Mode::kCrossReplicaAndPartition && p < partitions_; ++p)
        devices.push_back(id * partitions_ + p);
    }
    return devices;
  }

 private:
  int64_t IdOf(int64_t device) const {
    if (mode_ == CollectiveOpGroupMode::kFlattenedID) return device;
    return mode_ == CollectiveOpGroupMode::kCrossPartition ? device % partitions_
                                                           : device / partitions_;
  }

  const CollectiveOpGroupMode mode_;
  const int64_t partitions_, ids_;
  std::vector<std::vector<int64_t>> groups_;
  absl::flat_hash_map<int64_t, size_t> group_of_;  // by id
};

absl::StatusOr<GroupReader> ReaderOf(const Instruction& instruction, int64_t replicas,
                                     int64_t partitions) {
  const std::optional<CollectiveGroups> collective = CollectiveGroupsOf(instruction);
  if (!collective) return Unimplemented("communication by ", Text(instruction.opcode()));
  return GroupReader(*collective, replicas, partitions);
}

// All partitions of the replica of `device`, which meet where a manual region ends.
std::vector<int64_t> PartitionsWith(int64_t device, int64_t partitions) {
  std::vector<int64_t> all(partitions);
  std::iota(all.begin(), all.end(), device / partitions * partitions);
  return all;
}

}  // namespace

CollectiveOpGroupMode CollectiveGroups::mode() const {
  using Mode = CollectiveOpGroupMode;
  if (use_global_device_ids.value_or(false)) return Mode::kFlattenedID;
  if (!channel_id.has_value()) return Mode::kCrossReplica;
  return use_global_device_ids ? Mode::kCrossReplicaAndPartition : Mode::kCrossPartition;
}

std::optional<CollectiveGroups> CollectiveGroupsOf(const Instruction& instruction) {
  return VisitAttributes(instruction.opcode(), instruction.attributes(),
                         []<typename A>(const A& attrs) -> std::optional<CollectiveGroups> {
                           constexpr bool has_groups = requires {
                             attrs.channel_id, attrs.replica_groups;
                           };
                           constexpr bool has_pairs = requires {
                             attrs.channel_id, attrs.source_target_pairs;
                           };
                           if constexpr (has_groups || has_pairs) {
                             CollectiveGroups collective;
                             collective.channel_id = attrs.channel_id;
                             if constexpr (has_groups) collective.groups = &attrs.replica_groups;
                             if constexpr (requires { attrs.use_global_device_ids; })
                               collective.use_global_device_ids = attrs.use_global_device_ids;
                             return collective;
                           } else {
                             return std::nullopt;
                           }
                         });
}

int64_t IdCount(CollectiveOpGroupMode mode, int64_t replicas, int64_t partitions) {
  if (mode == CollectiveOpGroupMode::kCrossPartition) return partitions;
  if (mode != CollectiveOpGroupMode::kFlattenedID) return replicas;
  int64_t devices = 0;
  return __builtin_mul_overflow(replicas, partitions, &devices)
             ? std::numeric_limits<int64_t>::max()
             : devices;
}

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
  if (instruction.opcode() == Opcode::kCustomCall) return PartitionsWith(device, partitions);
  ASSIGN_OR_RETURN(const GroupReader reader, ReaderOf(instruction, replicas, partitions));
  return reader.DevicesWith(device);
}

absl::StatusOr<std::vector<std::vector<int64_t>>> DeviceGroupsOf(const Instruction& instruction,
                                                                 int64_t replicas,
                                                                 int64_t partitions) {
  std::vector<std::vector<int64_t>> groups;
  const int64_t devices = replicas * partitions;
  if (instruction.opcode() == Opcode::kCustomCall) {
    for (int64_t d = 0; d < devices; ++d) groups.push_back(PartitionsWith(d, partitions));
    return groups;
  }
  ASSIGN_OR_RETURN(const GroupReader reader, ReaderOf(instruction, replicas, partitions));
  for (int64_t device = 0; device < devices; ++device) {
    ASSIGN_OR_RETURN(std::vector<int64_t> group, reader.DevicesWith(device));
    groups.push_back(std::move(group));
  }
  return groups;
}

absl::StatusOr<std::vector<std::vector<int64_t>>> DeviceGroupListOf(const Instruction& instruction,
                                                                    int64_t replicas,
                                                                    int64_t partitions) {
  const int64_t devices = replicas * partitions;
  std::vector<std::vector<int64_t>> list;
  if (instruction.opcode() == Opcode::kCustomCall) {
    for (int64_t d = 0; d < devices; d += partitions) list.push_back(PartitionsWith(d, partitions));
    return list;
  }
  ASSIGN_OR_RETURN(const GroupReader reader, ReaderOf(instruction, replicas, partitions));
  std::vector<bool> seen(devices, false);
  for (int64_t device = 0; device < devices; ++device) {
    if (seen[device]) continue;
    ASSIGN_OR_RETURN(std::vector<int64_t> group, reader.DevicesWith(device));
    for (const int64_t member : group) seen[member] = true;
    if (!group.empty()) list.push_back(std::move(group));
  }
  return list;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
