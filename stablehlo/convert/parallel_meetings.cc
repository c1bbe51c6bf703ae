// What programs that run side by side compute where they meet: an all_gather joins the values of
// its group, an all_reduce applies its region to them one after the other, a permute hands them on.
//   all_reduce of x0 in process 0 and x1 in process 1, group [0, 1]: both get region(x0, x1)
// Cost: of a group of n, n - 1 applications of the region for each of its members.
#include <algorithm>
#include <numeric>

#include "stablehlo/convert/collectives_internal.h"
#include "stablehlo/convert/parallel_internal.h"

namespace hlokit {

// The groups of the collective that a process waits at, as numbers of processes: of replicas those
// of its partition, of partitions those of its replica, else all.
absl::StatusOr<std::vector<std::vector<size_t>>> ParallelRun::GroupsAround(size_t process) const {
  const Process& p = processes_[process];
  const MlirOperation& op = *p.waits;
  ASSIGN_OR_RETURN(const auto channel, ChannelOf(op));
  ASSIGN_OR_RETURN(const bool global, OpAttributes(op).Bool("use_global_device_ids", false));
  ASSIGN_OR_RETURN(const ReplicaGroups stated, GroupsOf(*p.body, op));
  Meeting meeting = channel ? MeetingOf(op.name) : Meeting::kReplicas;
  const int64_t ids = meeting == Meeting::kPartitions            ? partitions_
                      : meeting == Meeting::kByChannel && global ? replicas_ * partitions_
                                                                 : replicas_;
  std::vector<std::vector<int64_t>> lists = stated.lists;
  if (lists.empty()) {
    lists.emplace_back(ids);
    std::iota(lists[0].begin(), lists[0].end(), 0);
  }
  std::vector<std::vector<size_t>> groups;
  for (const std::vector<int64_t>& list : lists) {
    std::vector<size_t>& group = groups.emplace_back();
    for (const int64_t id : list) {
      if (id < 0 || id >= ids || std::count(list.begin(), list.end(), id) > 1)
        return InvalidArgument(op.name, ": participant ", id, " is none, or named twice");
      if (meeting == Meeting::kPartitions) {
        group.push_back(p.replica * partitions_ + id);
      } else if (meeting == Meeting::kReplicas) {
        group.push_back(id * partitions_ + p.partition);
      } else if (global) {
        group.push_back(id);
      } else {
        for (int64_t k = 0; k < partitions_; ++k) group.push_back(id * partitions_ + k);
      }
    }
  }
  return groups;
}

absl::StatusOr<std::vector<size_t>> ParallelRun::GroupOf(size_t process) const {
  ASSIGN_OR_RETURN(const auto groups, GroupsAround(process));
  for (const std::vector<size_t>& group : groups)
    if (std::find(group.begin(), group.end(), process) != group.end()) return group;
  return std::vector<size_t>();
}

// Whether all participants of the collective at which `process` waits are there; it is done then.
absl::StatusOr<bool> ParallelRun::Meet(size_t process) {
  const MlirOperation& op = *processes_[process].waits;
  std::vector<size_t> group;
  ASSIGN_OR_RETURN(const auto channel, ChannelOf(op));
  const bool permutes = op.name == "stablehlo.collective_permute";
  if (permutes) {
    const Process& p = processes_[process];
    for (size_t i = 0; i < processes_.size(); ++i)
      if (channel ? processes_[i].replica == p.replica : processes_[i].partition == p.partition)
        group.push_back(i);
  } else {
    ASSIGN_OR_RETURN(group, GroupOf(process));
  }
  for (const size_t member : group) {
    const MlirOperation* other = processes_[member].waits;
    if (other == nullptr) return false;
    if (other->name != op.name || other->operands.size() != op.operands.size() ||
        other->results.size() != op.results.size())
      return WithPlace(InvalidArgument(op.name, ": a participant waits at ", other->name),
                       op.place);
  }
  absl::Status met = permutes ? Permute(group) : MeetGroup(group, process);
  if (!met.ok()) return WithPlace(std::move(met), op.place);
  return true;
}

void ParallelRun::Finish(Process& p, absl::Span<Instruction* const> results) {
  for (size_t i = 0; i < results.size(); ++i) p.body->Set(p.waits->results[i], results[i]);
  p.waits = nullptr;
  ++p.frames.back().next;
}

// Operand `i` of each member.
absl::StatusOr<std::vector<Instruction*>> ParallelRun::Values(const std::vector<size_t>& group,
                                                              size_t i) {
  std::vector<Instruction*> values;
  for (const size_t member : group) {
    const Process& p = processes_[member];
    ASSIGN_OR_RETURN(values.emplace_back(), p.body->Value(*p.waits->operands[i]));
    if (!values.back()->shape().IsArray() ||
        !SameIgnoringLayout(values.back()->shape(), values.front()->shape()))
      return InvalidArgument(p.waits->name, ": the participants' values differ in type");
  }
  return values;
}

// The region, applied element by element to the values of the first two, to that and the third ...
absl::StatusOr<Instruction*> ParallelRun::Reduced(const std::vector<size_t>& group, size_t i) {
  Process& first = processes_[group[0]];
  const MlirOperation& op = *first.waits;
  RETURN_IF_ERROR(BlockOf(op, 0, 2).status());
  ASSIGN_OR_RETURN(std::vector<Instruction*> values, Values(group, i));
  for (Instruction*& value : values)
    RETURN_IF_ERROR(Promote(around_, op, op.regions[0], 0, i, absl::MakeSpan(&value, 1)));
  Instruction* sum = values[0];
  DimVector dimensions(sum->shape().rank());
  std::iota(dimensions.begin(), dimensions.end(), 0);
  for (size_t k = 1; k < values.size(); ++k) {
    ASSIGN_OR_RETURN(Computation * region, first.body->Region(op.regions[0]));
    sum = around_.Add(Opcode::kMap, sum->shape(), {sum, values[k]}, MapAttrs{dimensions});
    sum->set_called({region});
  }
  return sum;
}

Instruction* ParallelRun::Joined(const std::vector<Instruction*>& parts, int64_t dimension) {
  if (parts.size() == 1) return parts[0];
  Shape shape = parts[0]->shape();
  shape.dims[dimension] *= static_cast<int64_t>(parts.size());
  return around_.Add(Opcode::kConcatenate, shape, parts, DimensionsAttrs{{dimension}});
}

Instruction* ParallelRun::Part(Instruction* whole, int64_t dimension, int64_t part, int64_t parts) {
  Shape shape = whole->shape();
  shape.dims[dimension] /= parts;
  SliceAttrs slice;
  for (int d = 0; d < shape.rank(); ++d) {
    const int64_t start = d == dimension ? part * shape.dims[d] : 0;
    slice.slice.push_back({start, start + shape.dims[d], 1});
  }
  return around_.Add(Opcode::kSlice, shape, {whole}, std::move(slice));
}

// Result `i` of a member of the group; `member` is its position there.
absl::StatusOr<Instruction*> ParallelRun::ResultOf(const std::vector<size_t>& group, size_t member,
                                                   size_t i) {
  const MlirOperation& op = *processes_[group[member]].waits;
  const OpAttributes attributes(op);
  ASSIGN_OR_RETURN(const std::vector<Instruction*> values, Values(group, i));
  const Shape shape = values[0]->shape();
  const int64_t size = static_cast<int64_t>(group.size());
  const auto fits = [&](int64_t d, int64_t parts) {
    return d >= 0 && d < shape.rank() && parts > 0 && shape.dims[d] % parts == 0;
  };
  const absl::Status wrong = InvalidArgument(op.name, ": a dimension does not fit ", Text(shape));
  if (op.name == "stablehlo.all_gather") {
    ASSIGN_OR_RETURN(const int64_t d, attributes.Int("all_gather_dim"));
    if (!fits(d, 1)) return wrong;
    return Joined(values, d);
  }
  if (op.name == "stablehlo.all_to_all") {
    ASSIGN_OR_RETURN(const int64_t split, attributes.Int("split_dimension"));
    ASSIGN_OR_RETURN(const int64_t join, attributes.Int("concat_dimension"));
    if (!fits(split, size) || !fits(join, 1)) return wrong;
    std::vector<Instruction*> parts;
    for (Instruction* value : values)
      parts.push_back(Part(value, split, static_cast<int64_t>(member), size));
    return Joined(parts, join);
  }
  ASSIGN_OR_RETURN(Instruction * sum, Reduced(group, i));
  if (op.name == "stablehlo.collective_reduce")
    return member == 0 ? sum : around_.Splat(0, sum->shape());
  if (op.name == "stablehlo.all_reduce") return sum;
  ASSIGN_OR_RETURN(const int64_t d, attributes.Int("scatter_dimension"));
  if (!fits(d, size)) return wrong;
  return Part(sum, d, static_cast<int64_t>(member), size);
}

// The results of all members, before any of them goes on. A process without a group gets zeros.
absl::Status ParallelRun::MeetGroup(const std::vector<size_t>& group, size_t process) {
  const MlirOperation& op = *processes_[process].waits;
  std::vector<std::vector<Instruction*>> results(group.size());
  const bool broadcasts = op.name == "stablehlo.collective_broadcast";
  if (group.empty()) {
    if (!broadcasts && op.name != "stablehlo.collective_reduce")
      return InvalidArgument(op.name, ": a process is in no group");
    std::vector<Instruction*> zeros;
    for (const MlirValue& result : op.results)
      zeros.push_back(around_.Splat(0, BodyConverter::ShapeOf(*result.type)));
    Finish(processes_[process], zeros);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const bool rooted, OpAttributes(op).Bool("has_dynamic_root", false));
  std::vector<int64_t> roots(op.results.size(), 0);
  if (rooted) {
    ASSIGN_OR_RETURN(const Instruction* root, processes_[process].body->Value(*op.operands.back()));
    const auto ints = ConstantInts(*root);
    if (!ints || ints->size() != roots.size())
      return Unimplemented(op.name, ": the roots are known only at run time");
    roots = *ints;
  }
  if (op.operands.size() != op.results.size() + (rooted ? 1 : 0))
    return InvalidArgument(op.name, ": expected a result for each operand");
  for (size_t member = 0; member < group.size(); ++member)
    for (size_t i = 0; i < op.results.size(); ++i) {
      if (broadcasts) {
        ASSIGN_OR_RETURN(const std::vector<Instruction*> values, Values(group, i));
        if (roots[i] < 0 || roots[i] >= static_cast<int64_t>(values.size()))
          return InvalidArgument(op.name, ": there is no root ", roots[i]);
        results[member].push_back(values[roots[i]]);
        continue;
      }
      ASSIGN_OR_RETURN(results[member].emplace_back(), ResultOf(group, member, i));
    }
  for (size_t member = 0; member < group.size(); ++member)
    Finish(processes_[group[member]], results[member]);
  return absl::OkStatus();
}

// Each target gets its source's value, those that are no target zeros.
absl::Status ParallelRun::Permute(const std::vector<size_t>& all) {
  const MlirOperation& op = *processes_[all[0]].waits;
  ASSIGN_OR_RETURN(const DimVector pairs, OpAttributes(op).Ints("source_target_pairs"));
  if (pairs.size() % 2 != 0 || op.operands.size() != op.results.size())
    return InvalidArgument(op.name, ": expected pairs, and a result for each operand");
  std::vector<std::vector<Instruction*>> results(all.size());
  for (size_t i = 0; i < op.results.size(); ++i) {
    ASSIGN_OR_RETURN(const std::vector<Instruction*> values, Values(all, i));
    for (size_t target = 0; target < all.size(); ++target) {
      Instruction* value = nullptr;
      for (size_t k = 0; k < pairs.size(); k += 2)
        if (pairs[k + 1] == static_cast<int64_t>(target) && pairs[k] >= 0 &&
            pairs[k] < static_cast<int64_t>(all.size()))
          value = values[pairs[k]];
      if (value == nullptr) value = around_.Splat(0, values[0]->shape());
      results[target].push_back(value);
    }
  }
  for (size_t target = 0; target < all.size(); ++target)
    Finish(processes_[all[target]], results[target]);
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
