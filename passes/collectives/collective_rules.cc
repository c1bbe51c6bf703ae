// Local rewrites of collectives, each a pass of XLA's.
//   dynamic-slice of an all-gather at the own place -> the operand
//   all-reduce(all-reduce(x)) over orthogonal groups -> one all-reduce
#include <algorithm>
#include <map>
#include <optional>

#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matchers.h"
#include "passes/spmd/tilings.h"

namespace hlokit {
namespace {

using Made = absl::StatusOr<Instruction*>;

bool IsOnlyReadBy(const Instruction* x, const Instruction* user) {
  return x->users().size() == 1 && x->users()[0] == user && !x->IsRoot() &&
         x->control_successors().empty();
}

bool IsPlainAllReduce(const Instruction* i) {
  return i->opcode() == Opcode::kAllReduce && i->shape().IsArray() && i->operand_count() == 1;
}

Made SimplifyAllGather(Instruction* i, Rewriter&) {
  if (i->opcode() != Opcode::kAllGather || !i->shape().IsArray() || i->operand_count() != 1)
    return nullptr;
  return SameShape(i->operand(0)->shape(), i->shape()) ? i->operand(0) : nullptr;
}

// Whether `start` is the device's place in its group of `gather`, times `size`.
bool IsOwnPlace(const Instruction* start, const Instruction& gather, int64_t size) {
  const auto values = ByDevice(start, gather);
  if (!values) return false;
  for (const auto& group : GroupsOf(gather))
    for (size_t k = 0; k < group.size(); ++k)
      if (group[k] >= static_cast<int64_t>(values->size()) ||
          (*values)[group[k]] != static_cast<int64_t>(k) * size)
        return false;
  return true;
}

// The dimension of a reshape of an all-gather along which its parts follow each other: the gathered
// dimension must be the outermost of those that the reshape joins or splits with it.
std::optional<int64_t> GatheredDimension(const Instruction& reshape, const Instruction& gather) {
  const Shape& from = gather.shape();
  const Shape& to = reshape.shape();
  const int64_t dim = gather.attr<AllGatherAttrs>().dimensions[0];
  if (from.ElementCount() == 0 || gather.operand(0)->shape().dims[dim] == 0) return std::nullopt;
  const int64_t parts = from.dims[dim] / gather.operand(0)->shape().dims[dim];
  for (int64_t a = 0, b = 0; a < from.rank() && b < to.rank();) {
    const int64_t first = a, outermost = b;
    GroupEnd(from, to, a, b);
    if (dim >= a) continue;
    return first == dim && to.dims[outermost] % parts == 0 ? std::optional<int64_t>(outermost)
                                                           : std::nullopt;
  }
  return std::nullopt;
}

// The shape of what each device adds to the reshape.
Shape PartOf(const Instruction& reshape, const Instruction& gather, int64_t dim) {
  const int64_t own = gather.attr<AllGatherAttrs>().dimensions[0];
  Shape part = reshape.shape();
  part.dims[dim] /= gather.shape().dims[own] / gather.operand(0)->shape().dims[own];
  return part;
}

Made SimplifySlicedGather(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kDynamicSlice || i->operand_count() != 1 + i->shape().rank())
    return nullptr;
  Instruction* gather = i->operand(0);
  const Instruction* reshape = nullptr;
  if (gather->opcode() == Opcode::kReshape) {
    reshape = gather;
    gather = gather->operand(0);
  }
  if (gather->opcode() != Opcode::kAllGather || !gather->shape().IsArray() ||
      gather->shape().HasDynamicDims())
    return nullptr;
  Shape part = gather->operand(0)->shape();
  int64_t dim = gather->attr<AllGatherAttrs>().dimensions[0];
  if (reshape != nullptr) {
    const std::optional<int64_t> after = GatheredDimension(*reshape, *gather);
    // XLA's leaves those alone that the reshape joins with others.
    if (!after || reshape->shape().dims[*after] != gather->shape().dims[dim]) return nullptr;
    dim = *after;
    part = PartOf(*reshape, *gather, dim);
  }
  if (!SameShape(part, i->shape()) ||
      !IsOwnPlace(i->operand(1 + dim), *gather, i->shape().dims[dim]))
    return nullptr;
  return reshape != nullptr ? r.Reshape(gather->operand(0), i->shape()) : gather->operand(0);
}

// An all-gather along a dimension that the broadcast makes: the operands of all devices are
// gathered along a new dimension, which is broadcast next to the one it then joins.
Instruction* GatherAlong(Instruction* gather, Instruction* x, const DimVector& where, int64_t dim,
                         Rewriter& r) {
  HloWriter w(r);
  DimVector dims = x->shape().dims;
  dims.insert(dims.begin(), 1);
  Instruction* own = w.Reshape(x, dims);
  const int64_t devices = gather->shape().dims[dim] / gather->operand(0)->shape().dims[dim];
  dims[0] = devices;
  Instruction* all = r.Clone(gather, RowMajor(x->shape().type, dims), {own});
  all->mutable_attr<AllGatherAttrs>().dimensions = {0};
  DimVector split = gather->operand(0)->shape().dims, to = {dim};
  split.insert(split.begin() + dim, devices);
  for (int64_t d : where) to.push_back(d < dim ? d : d + 1);
  return r.Reshape(w.Broadcast(all, split, to), gather->shape());
}

Made ReorderBroadcast(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kAllGather || !i->shape().IsArray() || i->operand_count() != 1)
    return nullptr;
  Instruction* broadcast = i->operand(0);
  if (broadcast->opcode() != Opcode::kBroadcast || i->shape().ElementCount() == 0) return nullptr;
  const DimVector& where = broadcast->attr<BroadcastAttrs>().dimensions;
  const int64_t dim = i->attr<AllGatherAttrs>().dimensions[0];
  Instruction* x = broadcast->operand(0);
  const auto at = std::find(where.begin(), where.end(), dim);
  if (at == where.end()) return GatherAlong(i, x, where, dim, r);
  Shape shape = x->shape();
  shape.dims[at - where.begin()] = i->shape().dims[dim];
  x = r.Clone(i, shape, {x});
  x->mutable_attr<AllGatherAttrs>().dimensions = {at - where.begin()};
  return r.Broadcast(x, i->shape(), where);
}

// Whether GroupsOf gives the numbers that replica_groups would.
bool NumbersAsWritten(const Instruction& collective) {
  return CollectiveGroupsOf(collective)->mode() != CollectiveOpGroupMode::kCrossReplicaAndPartition;
}

// Groups such that reducing within `inner` and then within `outer` reduces within them; none where
// there are no such.
std::vector<std::vector<int64_t>> JoinedGroups(const std::vector<std::vector<int64_t>>& inner,
                                               const std::vector<std::vector<int64_t>>& outer) {
  std::map<int64_t, size_t> inner_of;
  for (size_t g = 0; g < inner.size(); ++g)
    for (int64_t device : inner[g]) inner_of[device] = g;
  std::map<std::vector<size_t>, int64_t> unions;  // which inner groups, and how often
  for (const auto& group : outer) {
    std::vector<size_t> touched;
    for (int64_t device : group) {
      if (inner_of.count(device) == 0) return {};
      touched.push_back(inner_of[device]);
    }
    std::sort(touched.begin(), touched.end());
    if (std::adjacent_find(touched.begin(), touched.end()) != touched.end()) return {};
    ++unions[touched];
  }
  std::vector<std::vector<int64_t>> joined;
  std::vector<bool> taken(inner.size(), false);
  for (const auto& [touched, times] : unions) {
    std::vector<int64_t> members;
    for (size_t g : touched) {
      // Each member of an inner group meets one of each other through an outer group of its own.
      if (taken[g] || static_cast<int64_t>(inner[g].size()) != times) return {};
      taken[g] = true;
      members.insert(members.end(), inner[g].begin(), inner[g].end());
    }
    std::sort(members.begin(), members.end());
    joined.push_back(std::move(members));
  }
  return joined;
}

Made FoldAllReduce(Instruction* i, Rewriter& r) {
  if (!IsPlainAllReduce(i)) return nullptr;
  Instruction* inner = i->operand(0);
  if (!IsPlainAllReduce(inner) || !IsOnlyReadBy(inner, i)) return nullptr;
  const auto a = ReducerOpcode(*inner->to_apply()), b = ReducerOpcode(*i->to_apply());
  const auto& x = inner->attr<AllReduceAttrs>();
  const auto& y = i->attr<AllReduceAttrs>();
  if (!a || a != b || x.channel_id.has_value() != y.channel_id.has_value() ||
      x.use_global_device_ids != y.use_global_device_ids)
    return nullptr;
  // Both over all devices: which the module does not say.
  if (x.replica_groups == ReplicaGroups() && y.replica_groups == ReplicaGroups()) return nullptr;
  if (!NumbersAsWritten(*i)) return nullptr;
  auto groups = JoinedGroups(GroupsOf(*inner), GroupsOf(*i));
  if (groups.empty()) return nullptr;
  Instruction* made = r.Clone(i, i->shape(), {inner->operand(0)});
  ReplicaGroups lists;
  lists.lists = std::move(groups);
  made->mutable_attr<AllReduceAttrs>().replica_groups = std::move(lists);
  return made;
}

// Devices by what they read: those that read the same, and sets in which each reads something else.
struct Readers {
  std::vector<std::vector<int64_t>> same, different;
};

// What the devices of one group read; the same number of readers for each value.
std::optional<Readers> ReadersOf(absl::Span<const int64_t> by_device,
                                 absl::Span<const int64_t> group) {
  std::map<int64_t, std::vector<int64_t>> holders;
  for (int64_t device : group) {
    if (device >= static_cast<int64_t>(by_device.size())) return std::nullopt;
    holders[by_device[device]].push_back(device);
  }
  Readers readers;
  const size_t each = holders.begin()->second.size();
  readers.different.resize(each);
  for (auto& [value, same] : holders) {
    if (same.size() != each) return std::nullopt;
    for (size_t k = 0; k < each; ++k) readers.different[k].push_back(same[k]);
    readers.same.push_back(std::move(same));
  }
  if (each == 1 || holders.size() == 1) return std::nullopt;
  return readers;
}

// Those of all groups, in one list.
std::optional<Readers> ReadersOf(absl::Span<const int64_t> by_device,
                                 const std::vector<std::vector<int64_t>>& groups) {
  Readers all;
  for (const std::vector<int64_t>& group : groups) {
    std::optional<Readers> readers = ReadersOf(by_device, group);
    if (!readers || (!all.same.empty() && readers->same[0].size() != all.same[0].size()))
      return std::nullopt;
    all.same.insert(all.same.end(), readers->same.begin(), readers->same.end());
    all.different.insert(all.different.end(), readers->different.begin(), readers->different.end());
  }
  return all;
}

// A slice that several devices share of a sum over all: the sum over one device of each slice, then
// the slice, then the sum over those that share it.
Made SplitAllReduce(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kDynamicSlice) return nullptr;
  Instruction* sum = i->operand(0);
  if (!IsPlainAllReduce(sum) || !IsOnlyReadBy(sum, i) || !ReducerOpcode(*sum->to_apply()))
    return nullptr;
  const auto groups = GroupsOf(*sum);
  if (groups.empty() || !NumbersAsWritten(*sum)) return nullptr;
  for (int64_t k = 1; k < i->operand_count(); ++k) {
    const auto values = ByDevice(i->operand(k), *sum);
    const auto readers = values ? ReadersOf(*values, groups) : std::nullopt;
    if (!readers) continue;
    Instruction* first = r.Clone(sum, sum->shape(), {sum->operand(0)});
    std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
    operands[0] = first;
    Instruction* second = r.Clone(sum, i->shape(), {r.Clone(i, i->shape(), operands)});
    AllReduceAttrs& within = first->mutable_attr<AllReduceAttrs>();
    AllReduceAttrs& across = second->mutable_attr<AllReduceAttrs>();
    within.replica_groups = ReplicaGroups();
    within.replica_groups.lists = readers->different;
    across.replica_groups = ReplicaGroups();
    across.replica_groups.lists = readers->same;
    if (across.channel_id) across.channel_id = LargestChannel(*i->module()) + 1;
    return second;
  }
  return nullptr;
}

Made MakeContiguous(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kAllReduce || i->operand_count() < 2) return nullptr;
  const ElementType type = i->operand(0)->shape().type;
  HloWriter w(r);
  std::vector<Instruction*> flat, parts;
  for (Instruction* operand : i->operands()) {
    if (operand->shape().type != type) return nullptr;
    flat.push_back(w.Reshape(operand, {operand->shape().ElementCount()}));
  }
  Instruction* joined = w.Concatenate(flat, 0);
  Instruction* reduced = r.Clone(i, joined->shape(), {joined});
  int64_t start = 0;
  for (size_t k = 0; k < flat.size(); ++k) {
    const int64_t end = start + flat[k]->shape().dims[0];
    parts.push_back(r.Reshape(w.SliceOf(reduced, 0, start, end), i->shape().elements[k]));
    start = end;
  }
  return w.Tuple(parts);
}

// The one dimension along which the slice is smaller than what it slices; -1 where there is none or
// there are several.
int64_t SlicedDimension(const Instruction& slice) {
  int64_t dim = -1;
  for (int64_t d = 0; d < slice.shape().rank(); ++d) {
    if (slice.shape().dims[d] == slice.operand(0)->shape().dims[d]) continue;
    if (dim >= 0) return -1;
    dim = d;
  }
  return dim;
}

// The device's own part of a sum over its group, sliced as it is or after a reshape that leaves the
// sliced dimension alone.
Made CreateReduceScatter(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kDynamicSlice) return nullptr;
  Instruction* sum = i->operand(0);
  const Instruction* reshape = nullptr;
  if (sum->opcode() == Opcode::kReshape && IsOnlyReadBy(sum, i)) {
    reshape = sum;
    sum = sum->operand(0);
  }
  if (!IsPlainAllReduce(sum) || !IsOnlyReadBy(sum, reshape != nullptr ? reshape : i) ||
      i->operand_count() != 1 + i->shape().rank())
    return nullptr;
  const int64_t sliced = SlicedDimension(*i);
  if (sliced < 0) return nullptr;
  int64_t dim = sliced;
  if (reshape != nullptr) {
    const DimVector map = DimensionMap(*reshape, 0);
    dim = std::find(map.begin(), map.end(), sliced) - map.begin();
    if (dim == static_cast<int64_t>(map.size())) return nullptr;
  }
  const int64_t part = i->shape().dims[sliced];
  if (part * GroupSize(*sum) != sum->shape().dims[dim] ||
      !IsOwnPlace(i->operand(1 + sliced), *sum, part))
    return nullptr;
  const auto& attrs = sum->attr<AllReduceAttrs>();
  ReduceScatterAttrs scatter;
  scatter.channel_id = attrs.channel_id;
  scatter.replica_groups = attrs.replica_groups;
  scatter.use_global_device_ids = attrs.use_global_device_ids;
  scatter.dimensions.push_back(dim);
  Shape shape = sum->shape();
  shape.dims[dim] = part;
  Instruction* made = r.Add(Opcode::kReduceScatter, shape, {sum->operand(0)}, std::move(scatter));
  made->set_called({sum->to_apply()});
  made->CopyExtrasFrom(*sum);
  made->mutable_extras().backend_config = sum->extras().backend_config;
  return reshape != nullptr ? r.Reshape(made, i->shape()) : made;
}

// A reshape of an all-gather that each part can go through by itself.
Made ReshapeParts(Instruction* i, Rewriter& r) {
  Instruction* gather = i->operand(0);
  if (gather->opcode() != Opcode::kAllGather || gather->operand_count() != 1 ||
      !gather->shape().IsArray() || !IsOnlyReadBy(gather, i))
    return nullptr;
  const std::optional<int64_t> dim = GatheredDimension(*i, *gather);
  if (!dim) return nullptr;
  const Shape part = PartOf(*i, *gather, *dim);
  Instruction* made = r.Clone(gather, i->shape(), {r.Reshape(gather->operand(0), part)});
  made->mutable_attr<AllGatherAttrs>().dimensions = {*dim};
  return made;
}

// A reshape that an all-reduce reads moves after it, one of an all-gather before it.
Made ReorderTransformation(Instruction* i, Rewriter& r) {
  if (i->shape().HasDynamicDims()) return nullptr;
  if (i->opcode() == Opcode::kReshape) return ReshapeParts(i, r);
  if (!IsPlainAllReduce(i) || i->users().size() > 1) return nullptr;
  Instruction* reshape = i->operand(0);
  if (reshape->opcode() != Opcode::kReshape || !IsOnlyReadBy(reshape, i)) return nullptr;
  Instruction* x = reshape->operand(0);
  return r.Reshape(r.Clone(i, x->shape(), {x}), i->shape());
}

bool IsReduction(const Instruction* i) {
  return (i->opcode() == Opcode::kAllReduce || i->opcode() == Opcode::kReduceScatter) &&
         i->shape().IsArray() && i->operand_count() == 1;
}

Made ReorderConvert(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kConvert) return nullptr;
  Instruction* reduction = i->operand(0);
  const ElementType from = reduction->shape().type, to = i->shape().type;
  if (!IsReduction(reduction) || !IsOnlyReadBy(reduction, i) || !IsFloat(from) || !IsFloat(to) ||
      BitWidth(to) <= BitWidth(from))
    return nullptr;
  const auto opcode = ReducerOpcode(*reduction->to_apply());
  if (!opcode) return nullptr;
  HloWriter w(r);
  Instruction* made = r.Clone(reduction, i->shape(), {w.Convert(reduction->operand(0), to)});
  made->set_called({MakeReducer(*i->module(), *opcode, to)});
  return made;
}

Made ReorderTranspose(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kTranspose) return nullptr;
  Instruction* scatter = i->operand(0);
  if (scatter->opcode() != Opcode::kReduceScatter || !IsReduction(scatter) ||
      !IsOnlyReadBy(scatter, i))
    return nullptr;
  const DimVector& order = i->attr<DimensionsAttrs>().dimensions;
  Instruction* x = scatter->operand(0);
  Shape shape = i->shape();
  for (size_t d = 0; d < order.size(); ++d) shape.dims[d] = x->shape().dims[order[d]];
  Instruction* made = r.Clone(scatter, i->shape(), {r.Clone(i, shape, {x})});
  DimVector& dims = made->mutable_attr<ReduceScatterAttrs>().dimensions;
  dims = {std::find(order.begin(), order.end(), dims[0]) - order.begin()};
  return made;
}

}  // namespace

// all-gather-simplifier: an all-gather within groups of one device is its operand, and so is the
// device's own part of one. Exact.
std::unique_ptr<Pass> CreateAllGatherSimplifier() {
  return MakeExpander("all-gather-simplifier", [](Instruction* i, Rewriter& r) {
    Made whole = SimplifyAllGather(i, r);
    return !whole.ok() || *whole != nullptr ? whole : SimplifySlicedGather(i, r);
  });
}

// all-gather-dynamic-slice-simplifier: a dynamic-slice that takes a device's own part out of what
// it has gathered becomes that part. Exact.
std::unique_ptr<Pass> CreateAllGatherDynamicSliceSimplifier() {
  return MakeExpander("all-gather-dynamic-slice-simplifier", SimplifySlicedGather);
}

// all-gather-bcast-reorder: an all-gather of a broadcast becomes a broadcast of an all-gather,
// which moves less. Exact.
std::unique_ptr<Pass> CreateAllGatherBroadcastReorder() {
  return MakeExpander("all-gather-bcast-reorder", ReorderBroadcast);
}

// all-reduce-folder: an all-reduce of an all-reduce whose groups make up larger groups becomes one.
// Reassociates floats.
std::unique_ptr<Pass> CreateAllReduceFolder() {
  return MakeExpander("all-reduce-folder", FoldAllReduce);
}

// all-reduce-splitter: a slice of an all-reduce over all devices that several of them share becomes
// an all-reduce over one device of each slice, the slice, and an all-reduce over those that share
// it, which moves less. Reassociates floats.
std::unique_ptr<Pass> CreateAllReduceSplitter() {
  return MakeExpander("all-reduce-splitter", SplitAllReduce);
}

// all-reduce-contiguous: an all-reduce of several arrays becomes one of their concatenation. Exact.
std::unique_ptr<Pass> CreateAllReduceContiguous() {
  return MakeExpander("all-reduce-contiguous", MakeContiguous);
}

// collective-transformation-reorderer: a reshape that only an all-reduce reads, which has one
// reader, moves after it; the only reader of an all-gather, a reshape that each part can go through
// by itself, moves before it. Exact.
std::unique_ptr<Pass> CreateCollectiveTransformationReorderer() {
  return MakeExpander("collective-transformation-reorderer", ReorderTransformation);
}

// reduce-scatter-creator: a device's own part of an all-reduce over its group, which nothing else
// reads but a reshape before the slice, comes from a reduce-scatter. Exact.
std::unique_ptr<Pass> CreateReduceScatterCreator() {
  return MakeExpander("reduce-scatter-creator", CreateReduceScatter);
}

// reorder-convert-reduce-add: a conversion to a wider type moves before the all-reduce or
// reduce-scatter that it is the only reader of. Rounds less.
std::unique_ptr<Pass> CreateReorderConvertReduceAdd() {
  return MakeExpander("reorder-convert-reduce-add", ReorderConvert);
}

// reorder-reduce-transpose: a transpose moves before the reduce-scatter that it is the only reader
// of. Exact.
std::unique_ptr<Pass> CreateReorderReduceTranspose() {
  return MakeExpander("reorder-reduce-transpose", ReorderTranspose);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
