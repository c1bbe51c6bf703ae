// Collectives: device groups against the module's counts, source-target pairs, channels. Ops of
// different kinds may share a channel: JAX numbers them all 1.
#include <algorithm>
#include <optional>

#include "ir/op_facts.h"
#include "ops/collective/device_groups.h"
#include "ops/dim_lists.h"
#include "verifier/verifier_internal.h"

namespace hlokit {
namespace {

int64_t IdsOf(const CollectiveGroups& c, const ModuleHeader& header) {
  return IdCount(c.mode(), header.replica_count, header.num_partitions);
}

bool Fits(const ReplicaGroups& groups) {
  constexpr int64_t kMax = int64_t{1} << 24;
  auto product = [](const DimVector& dims) {
    int64_t p = 1;
    for (int64_t d : dims) p = d < 1 || p > kMax ? int64_t{0} : p * d;
    return p;
  };
  const int64_t devices = product(groups.reshape_dims);
  const bool permutes =
      groups.transpose_perm.empty() ||
      IsPermutation(groups.transpose_perm, static_cast<int64_t>(groups.reshape_dims.size()));
  return devices > 0 && devices <= kMax && devices == product(groups.iota_dims) && permutes;
}

// Opcodes whose groups may differ in size.
bool AllowsUneven(Opcode opcode) {
  return WholeOf(opcode).value_or(opcode) == Opcode::kAllReduce ||
         opcode == Opcode::kCollectiveBroadcast;
}

// [group-c1] a well-formed list of groups, none empty; [group-c2] of one size; [group-c3] no id
// twice; [group-c4] every id from 0 on (a broadcast may leave some out); [group-c5] as many as the
// module has.
class GroupCheck {
 public:
  GroupCheck(VerifyRun& run, const Instruction& at, const CollectiveGroups& c)
      : run_(run), at_(at), c_(c) {}

  void Check() {
    if (c_.use_global_device_ids.value_or(false) && !c_.channel_id)
      run_.Error(at_, "group-c6", "use_global_device_ids needs a channel_id");
    if (c_.groups == nullptr || c_.groups->empty()) return;
    if (c_.groups->form == ReplicaGroups::Form::kIota && !Fits(*c_.groups)) {
      run_.Error(at_, "group-c1", "replica_groups=", ListText(c_.groups->iota_dims),
                 "<=", ListText(c_.groups->reshape_dims), " do not lay out the same devices");
      return;
    }
    const std::vector<std::vector<int64_t>> groups = c_.groups->Expand();
    if (CheckSizes(groups)) CheckIds(groups);
  }

 private:
  bool CheckSizes(const std::vector<std::vector<int64_t>>& groups) {
    for (const auto& group : groups) {
      if (group.empty()) {
        run_.Error(at_, "group-c1", "replica_groups has an empty group");
        return false;
      }
      if (group.size() != groups[0].size() && !AllowsUneven(at_.opcode())) {
        run_.Error(at_, "group-c2", "replica_groups has groups of ", groups[0].size(), " and of ",
                   group.size());
        return false;
      }
    }
    return true;
  }

  void CheckIds(const std::vector<std::vector<int64_t>>& groups) {
    std::vector<int64_t> ids;
    for (const auto& group : groups) ids.insert(ids.end(), group.begin(), group.end());
    std::sort(ids.begin(), ids.end());
    const auto twice = std::adjacent_find(ids.begin(), ids.end());
    if (twice != ids.end()) {
      run_.Error(at_, "group-c3", "replica_groups names ", *twice, " twice");
      return;
    }
    if (ids.empty()) return;
    const int64_t count = static_cast<int64_t>(ids.size());
    const bool partial = at_.opcode() == Opcode::kCollectiveBroadcast;
    if (ids[0] < 0 || (!partial && ids.back() != count - 1)) {
      run_.Error(at_, "group-c4", "replica_groups does not name each of 0 to ", count - 1);
      return;
    }
    const ModuleHeader& header = run_.module.header();
    const int64_t expected = IdsOf(c_, header);
    // XLA takes groups of any number of replicas where the module names one replica.
    const bool counts_stated =
        (header.replica_count > 1 || header.num_partitions > 1) && expected > 1;
    if (counts_stated && (partial ? ids.back() >= expected : count != expected))
      run_.Error(at_, "group-c5", "replica_groups names ", count, " devices, expected ", expected);
  }

  VerifyRun& run_;
  const Instruction& at_;
  const CollectiveGroups& c_;
};

// [collective-permute-c10] ids are not negative and no source or target comes twice (in-place forms
// may repeat them); [collective-permute-c11] they exist.
void CheckPairs(VerifyRun& run, const Instruction& i) {
  const auto& attr = i.attr<CollectivePermuteAttrs>();
  for (const std::string& fault : PairFaults(attr))
    run.Error(i, absl::StrCat(Text(i.opcode()), "-c10"), fault);
  const ModuleHeader& header = run.module.header();
  const int64_t count = IdsOf(*CollectiveGroupsOf(i), header);
  const bool counts_stated = header.replica_count > 1 || header.num_partitions > 1;
  int64_t last_source = -1, last_target = -1;
  for (const auto& [source, target] : attr.source_target_pairs) {
    last_source = std::max(last_source, source);
    last_target = std::max(last_target, target);
  }
  for (const int64_t last : {last_source, last_target})
    if (counts_stated && last >= count)
      run.Error(i, absl::StrCat(Text(i.opcode()), "-c11"), "source_target_pairs names ", last,
                " of ", count, " devices");
}

// Members of the groups that an op gathers from or scatters to; nothing where neither the op nor
// the module says.
std::optional<int64_t> MembersOf(const VerifyRun& run, const CollectiveGroups& c) {
  const ModuleHeader& header = run.module.header();
  const bool by_replica = c.mode() == CollectiveOpGroupMode::kCrossReplicaAndPartition;
  const int64_t partitions = by_replica ? header.num_partitions : 1;
  if (c.groups != nullptr && !c.groups->empty()) {
    const std::vector<std::vector<int64_t>> groups = c.groups->Expand();
    if (groups.empty()) return std::nullopt;
    return static_cast<int64_t>(groups[0].size()) * partitions;
  }
  if (header.replica_count <= 1 && header.num_partitions <= 1) return std::nullopt;
  return IdsOf(c, header) * partitions;
}

// [all-gather-c10], [all-gather-start-c10], [reduce-scatter-c10]: the dimension grows or shrinks by
// the number of members; one member alone may stand for any number, as XLA has it.
void CheckShards(VerifyRun& run, const Instruction& i, int64_t members) {
  const bool gathers = i.opcode() != Opcode::kReduceScatter;
  const DimVector& dimensions =
      gathers ? i.attr<AllGatherAttrs>().dimensions : i.attr<ReduceScatterAttrs>().dimensions;
  const bool starts = HasTrait(i.opcode(), kAsyncStart);
  const Shape& results = starts ? i.shape().elements[1] : i.shape();
  for (int64_t n = 0; n < i.operand_count() && members > 1; ++n) {
    const Shape& result = i.operand_count() == 1 ? results : results.elements[n];
    const Shape& operand = i.operand(n)->shape();
    const int64_t whole = (gathers ? result : operand).dims[dimensions[0]];
    const int64_t part = (gathers ? operand : result).dims[dimensions[0]];
    if (part > 0 && whole / part != members)
      run.Error(i, absl::StrCat(Text(i.opcode()), "-c10"), "the sizes ", part, " and ", whole,
                " of dimension ", dimensions[0], " do not fit groups of ", members);
  }
}

// [all-to-all-c3] the dimension splits into a part for each member; [all-to-all-c10] without one,
// there is an operand for each.
void CheckSplit(VerifyRun& run, const Instruction& i, int64_t members) {
  const auto& dimensions = i.attr<AllToAllAttrs>().dimensions;
  if (!dimensions) {
    if (i.operand_count() != members)
      run.Error(i, "all-to-all-c10", "expects an operand for each of ", members, " members, found ",
                i.operand_count());
  } else if (const int64_t size = i.operand(0)->shape().dims[(*dimensions)[0]];
             size != kUnbounded && size % members != 0) {
    run.Error(i, "all-to-all-c3", "dimension ", (*dimensions)[0], " of ",
              Text(i.operand(0)->shape()), " does not split into ", members, " parts");
  }
}

void CheckMembers(VerifyRun& run, const Instruction& i, const CollectiveGroups& c) {
  const std::optional<int64_t> members = MembersOf(run, c);
  if (!members) return;
  switch (WholeOf(i.opcode()).value_or(i.opcode())) {
    case Opcode::kAllGather:
    case Opcode::kReduceScatter:
      return CheckShards(run, i, *members);
    case Opcode::kAllToAll:
      return CheckSplit(run, i, *members);
    default:
      return;
  }
}

}  // namespace

void CheckCollectives(VerifyRun& run) {
  run.ForEachInstruction([&](const Instruction& i) {
    if (!HasTrait(i.opcode(), kCollective)) return;
    const CollectiveGroups c = *CollectiveGroupsOf(i);
    const int errors_before = run.out.error_count();
    GroupCheck(run, i, c).Check();
    if (WholeOf(i.opcode()).value_or(i.opcode()) == Opcode::kCollectivePermute) CheckPairs(run, i);
    if (c.channel_id && *c.channel_id < 0)
      run.Error(i, "channel-c1", "expects a channel_id of at least 0, found ", *c.channel_id);
    if (run.out.error_count() == errors_before) CheckMembers(run, i, c);
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
