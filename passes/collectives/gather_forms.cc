// All-gathers, and reductions over devices, in forms that machines of several hosts want.
//   add(all-gather(a), all-gather(b))   ->   all-gather(add(a, b))
#include <algorithm>
#include <map>
#include <optional>

#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

using Made = absl::StatusOr<Instruction*>;
using Lists = std::vector<std::vector<int64_t>>;

bool IsPlainGather(const Instruction* i) {
  return i->opcode() == Opcode::kAllGather && i->shape().IsArray() && i->operand_count() == 1;
}

bool IsTiedTo(const Instruction* x, const Instruction* user) {
  return x->users().size() == 1 && x->users()[0] == user && !x->IsRoot() && !HasControlEdges(*x);
}

// Channels tell collectives apart and play no part here.
bool SameForm(const Instruction& a, const Instruction& b) {
  AllGatherAttrs x = a.attr<AllGatherAttrs>(), y = b.attr<AllGatherAttrs>();
  if (x.channel_id.has_value() != y.channel_id.has_value()) return false;
  x.channel_id = y.channel_id;
  return x == y && a.operand(0)->shape().dims == b.operand(0)->shape().dims;
}

Made GatherTogether(Instruction* i, Rewriter& r) {
  if (!HasTrait(i->opcode(), kElementwise) || i->operand_count() != 2 || !i->shape().IsArray())
    return nullptr;
  Instruction *a = i->operand(0), *b = i->operand(1);
  if (!IsPlainGather(a) || !IsPlainGather(b) || !IsTiedTo(a, i) || !IsTiedTo(b, i) ||
      !SameForm(*a, *b))
    return nullptr;
  Shape part = i->shape();
  part.dims = a->operand(0)->shape().dims;
  return r.Clone(a, i->shape(), {r.Clone(i, part, {a->operand(0), b->operand(0)})});
}

// Memory order of an array to which dimension `at` is added, of which `beside` is the next minor
// one
// (-1: it is the major-most).
std::vector<int64_t> OrderWith(const Layout& layout, int64_t at, int64_t beside) {
  std::vector<int64_t> order;
  for (const int64_t d : layout.minor_to_major) {
    order.push_back(d < at ? d : d + 1);
    if (d == beside) order.push_back(at);
  }
  if (beside < 0) order.push_back(at);
  return order;
}

// copy(all-gather(copy(a))), where a's major-most dimension is another than the gathered one: what
// is gathered along that lies as a does, part after part, and one copy puts it in order.
Made GatherAlongMajor(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kCopy || !IsPlainGather(i->operand(0))) return nullptr;
  Instruction* gather = i->operand(0);
  Instruction* inner = gather->operand(0);
  if (inner->opcode() != Opcode::kCopy || !IsTiedTo(gather, i) || !IsTiedTo(inner, gather) ||
      gather->attr<AllGatherAttrs>().constrain_layout)
    return nullptr;
  Instruction* a = inner->operand(0);
  const Shape& from = a->shape();
  if (!from.has_layout || !i->shape().has_layout || from.HasDynamicDims() || from.rank() == 0 ||
      from.ElementCount() == 0)
    return nullptr;
  const int64_t dim = gather->attr<AllGatherAttrs>().dimensions[0];
  const int64_t major = from.layout.minor_to_major.back();
  if (dim == major) return nullptr;
  const int64_t devices = gather->shape().dims[dim] / from.dims[dim];
  Shape all = from;
  all.dims[major] *= devices;
  Instruction* made = r.Clone(gather, all, {a});
  made->mutable_attr<AllGatherAttrs>().dimensions = {major};
  DimVector split = from.dims;
  split.insert(split.begin() + major, devices);
  const auto as = [&](const Layout& layout, int64_t beside) {
    Shape shape = Shape::ArrayWithLayout(from.type, split, OrderWith(layout, major, beside));
    shape.layout.extras = layout.extras;
    return shape;
  };
  Instruction* parts = r.Add(Opcode::kBitcast, as(from.layout, -1), {made});
  Instruction* moved = r.Add(Opcode::kCopy, as(i->shape().layout, dim), {parts});
  return r.Add(Opcode::kBitcast, i->shape(), {moved});
}

// Each group by hosts: those of one host, and those of one place within the hosts. Nothing where a
// host has more of a group than another.
struct ByHost {
  Lists within, between;
};
std::optional<ByHost> SplitByHost(const Lists& groups, int64_t devices_per_host) {
  ByHost split;
  size_t each = 0;
  for (const std::vector<int64_t>& group : groups) {
    std::map<int64_t, std::vector<int64_t>> hosts;
    for (int64_t device : group) hosts[device / devices_per_host].push_back(device);
    if (hosts.size() < 2) return std::nullopt;
    if (each == 0) each = hosts.begin()->second.size();
    const size_t first_place = split.between.size();
    split.between.resize(first_place + each);
    for (const auto& [host, devices] : hosts) {
      if (devices.size() != each) return std::nullopt;
      split.within.push_back(devices);
      for (size_t k = 0; k < each; ++k) split.between[first_place + k].push_back(devices[k]);
    }
  }
  if (each < 2) return std::nullopt;
  return split;
}

// Groups written out, on the channel of the whole.
template <typename Attrs>
Attrs Over(const Lists& groups, const AllReduceAttrs& like) {
  Attrs attrs;
  attrs.channel_id = like.channel_id;
  attrs.replica_groups.lists = groups;
  attrs.use_global_device_ids = like.use_global_device_ids;
  return attrs;
}

Made ReduceByHost(Instruction* i, Rewriter& r, int64_t devices_per_host) {
  if (i->opcode() != Opcode::kAllReduce || !i->shape().IsArray() || i->operand_count() != 1 ||
      CollectiveGroupsOf(*i)->mode() == CollectiveOpGroupMode::kCrossReplicaAndPartition)
    return nullptr;
  const auto split = SplitByHost(GroupsOf(*i), devices_per_host);
  const int64_t elements = i->shape().ElementCount();
  if (!split || elements == 0) return nullptr;
  const auto each = static_cast<int64_t>(split->within[0].size());
  if (elements % each != 0 || !SameShape(i->operand(0)->shape(), i->shape())) return nullptr;
  const auto& attrs = i->attr<AllReduceAttrs>();
  // The elements in the order in which they lie in memory.
  Instruction* line =
      r.Add(Opcode::kBitcast, RowMajor(i->shape().type, {elements}), {i->operand(0)});
  auto scatter = Over<ReduceScatterAttrs>(split->within, attrs);
  scatter.dimensions = {0};
  const ElementType type = i->shape().type;
  Instruction* own =
      r.Add(Opcode::kReduceScatter, RowMajor(type, {elements / each}), {line}, std::move(scatter));
  own->set_called({i->to_apply()});
  Instruction* sum =
      r.Add(Opcode::kAllReduce, own->shape(), {own}, Over<AllReduceAttrs>(split->between, attrs));
  sum->set_called({i->to_apply()});
  auto gather = Over<AllGatherAttrs>(split->within, attrs);
  gather.dimensions = {0};
  Instruction* all = r.Add(Opcode::kAllGather, line->shape(), {sum}, std::move(gather));
  return r.Add(Opcode::kBitcast, i->shape(), {all});
}

// The devices for which a predicate `id == constant` or `id != constant` is true; nothing for
// others. Only of permutations among partitions of one replica, or among replicas of one partition.
std::optional<int64_t> ComparedId(const Instruction* predicate, const Instruction& permute) {
  if (predicate->opcode() == Opcode::kBroadcast) predicate = predicate->operand(0);
  if (predicate->opcode() != Opcode::kCompare) return std::nullopt;
  const bool by_partition = permute.attr<CollectivePermuteAttrs>().channel_id.has_value();
  const Opcode wanted = by_partition ? Opcode::kPartitionId : Opcode::kReplicaId;
  const int constant = predicate->operand(0)->opcode() == wanted ? 1 : 0;
  if (predicate->operand(1 - constant)->opcode() != wanted) return std::nullopt;
  return IntegerSplat(predicate->operand(constant));
}

Made FoldSelect(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kCollectivePermute || i->operand_count() != 1 || !i->shape().IsArray())
    return nullptr;
  const Instruction* select = i->operand(0);
  if (select->opcode() != Opcode::kSelect) return nullptr;
  const auto id = ComparedId(select->operand(0), *i);
  const auto& pairs = i->attr<CollectivePermuteAttrs>().source_target_pairs;
  if (!id || pairs.empty()) return nullptr;
  const Instruction* compare = select->operand(0)->opcode() == Opcode::kBroadcast
                                   ? select->operand(0)->operand(0)
                                   : select->operand(0);
  const ComparisonDirection direction = compare->attr<CompareAttrs>().direction;
  if (direction != ComparisonDirection::kEq && direction != ComparisonDirection::kNe)
    return nullptr;
  int chosen = -1;
  for (const auto& [source, target] : pairs) {
    const bool holds = (source == *id) == (direction == ComparisonDirection::kEq);
    const int choice = holds ? 1 : 2;
    if (chosen >= 0 && choice != chosen) return nullptr;
    chosen = choice;
  }
  return r.Clone(i, i->shape(), {select->operand(chosen)});
}

}  // namespace

// all-gather-optimizer: an elementwise operation of two all-gathers of the same form, which nothing
// else reads, becomes an all-gather of the operation. Exact.
std::unique_ptr<Pass> CreateAllGatherOptimizer() {
  return MakeExpander("all-gather-optimizer", GatherTogether);
}

// all-gather-major-dimension-rewriter: an all-gather between two copies that change layouts becomes
// one along the dimension that is major-most before the first, and one copy after it. Exact.
std::unique_ptr<Pass> CreateAllGatherMajorDimensionRewriter() {
  return MakeExpander("all-gather-major-dimension-rewriter", GatherAlongMajor);
}

// all-reduce-blueconnect: an all-reduce of one array in groups of several hosts, of each of which
// equally many devices belong to the group, becomes a reduce-scatter within each host, an
// all-reduce between hosts, and an all-gather within each host. Option: `devices-per-host` (8).
// Reassociates floats.
std::unique_ptr<Pass> CreateAllReduceBlueConnect(PassArguments& arguments) {
  const int64_t devices = arguments.Int("devices-per-host", 8, "devices that share a host");
  return MakeExpander("all-reduce-blueconnect", [devices](Instruction* i, Rewriter& r) -> Made {
    if (devices < 1) return nullptr;
    return ReduceByHost(i, r, devices);
  });
}

// collective-select-folder: a collective-permute of a choice by the device's number is one of the
// value that all devices that send choose. Exact.
std::unique_ptr<Pass> CreateCollectiveSelectFolder() {
  return MakeExpander("collective-select-folder", FoldSelect);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
