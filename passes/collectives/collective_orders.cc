// Transfers in places where fewer bytes move, or where more of them are alike.
//
// Gathers, reductions and packed types in other orders.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "passes/framework/pass.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"
#include "passes/spmd/tilings.h"

namespace hlokit {
namespace {

using Made = absl::StatusOr<Instruction*>;

bool IsPlain(const Instruction* i, Opcode opcode) {
  return i->opcode() == opcode && i->shape().IsArray() && i->operand_count() == 1;
}

// Who sends its part to each device, by the starts that the devices read; empty where some device
// reads no whole part of its group, or two read the same.
IntPairs SendersOf(absl::Span<const int64_t> starts, const Instruction& gather, int64_t size) {
  IntPairs pairs;
  std::set<int64_t> senders;
  for (const auto& group : GroupsOf(gather))
    for (const int64_t device : group) {
      if (device >= static_cast<int64_t>(starts.size()) || starts[device] % size != 0) return {};
      const int64_t place = starts[device] / size;
      if (place < 0 || place >= static_cast<int64_t>(group.size()) ||
          !senders.insert(group[place]).second)
        return {};
      pairs.emplace_back(group[place], device);
    }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

// Whether the groups number the devices as a permutation does: of several replicas and partitions
// they may not.
bool NumbersPartnersAlike(const Instruction& gather) {
  const CollectiveOpGroupMode mode = CollectiveGroupsOf(gather)->mode();
  return mode != CollectiveOpGroupMode::kCrossReplicaAndPartition &&
         (mode != CollectiveOpGroupMode::kFlattenedID ||
          gather.module()->header().replica_count == 1);
}

Made PermuteInstead(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kDynamicSlice || !IsPlain(i->operand(0), Opcode::kAllGather))
    return nullptr;
  const Instruction* gather = i->operand(0);
  if (!SameShape(gather->operand(0)->shape(), i->shape()) || !NumbersPartnersAlike(*gather) ||
      i->operand_count() != 1 + i->shape().rank())
    return nullptr;
  const int64_t dim = gather->attr<AllGatherAttrs>().dimensions[0];
  const int64_t size = i->shape().dims[dim];
  const auto starts = size > 0 ? ByDevice(i->operand(1 + dim), *gather) : std::nullopt;
  if (!starts) return nullptr;
  CollectivePermuteAttrs attrs;
  attrs.source_target_pairs = SendersOf(*starts, *gather, size);
  if (attrs.source_target_pairs.empty()) return nullptr;
  attrs.channel_id = gather->attr<AllGatherAttrs>().channel_id;
  return r.Add(Opcode::kCollectivePermute, i->shape(), {gather->operand(0)}, std::move(attrs));
}

// Whether the padding is of dimension `dim` alone, at its ends.
bool PadsOnly(const PaddingConfig& padding, int64_t dim) {
  for (int64_t d = 0; d < static_cast<int64_t>(padding.size()); ++d)
    if (d == dim ? padding[d].interior != 0 : padding[d] != PaddingDim()) return false;
  return true;
}

// Of each device that reads one whole part of what is gathered and padded, who sends it; `padded`
// becomes 0 for it and is 1 for devices that read padding alone. Nothing where one reads anything
// else, or two read the same.
std::optional<IntPairs> SendersBesidePadding(absl::Span<const int64_t> starts,
                                             const Instruction& pad, int64_t dim, int64_t size,
                                             std::vector<int64_t>& padded) {
  const Instruction& gather = *pad.operand(0);
  const int64_t low = pad.attr<PadAttrs>().padding[dim].low;
  IntPairs pairs;
  std::set<int64_t> senders;
  for (const auto& group : GroupsOf(gather))
    for (const int64_t device : group) {
      if (device >= static_cast<int64_t>(starts.size()) || starts[device] < 0 ||
          starts[device] + size > pad.shape().dims[dim])
        return std::nullopt;
      const int64_t at = starts[device] - low;
      if (at + size <= 0 || at >= gather.shape().dims[dim]) continue;
      if (at < 0 || at % size != 0 || at / size >= static_cast<int64_t>(group.size()) ||
          !senders.insert(group[at / size]).second)
        return std::nullopt;
      padded[device] = 0;
      pairs.emplace_back(group[at / size], device);
    }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

Made PermuteOrPad(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kDynamicSlice || i->operand(0)->opcode() != Opcode::kPad ||
      !IsPlain(i->operand(0)->operand(0), Opcode::kAllGather))
    return nullptr;
  const Instruction* pad = i->operand(0);
  const Instruction* gather = pad->operand(0);
  const std::optional<int64_t> channel = CollectiveGroupsOf(*gather)->channel_id;
  const int64_t dim = gather->attr<AllGatherAttrs>().dimensions[0];
  const int64_t size = i->shape().dims[dim];
  if (!SameShape(gather->operand(0)->shape(), i->shape()) || size == 0 ||
      !NumbersPartnersAlike(*gather) || i->operand_count() != 1 + i->shape().rank() ||
      !PadsOnly(pad->attr<PadAttrs>().padding, dim))
    return nullptr;
  const auto starts = ByDevice(i->operand(1 + dim), *gather);
  if (!starts) return nullptr;
  std::vector<int64_t> padded(starts->size(), 1);
  auto pairs = SendersBesidePadding(*starts, *pad, dim, size, padded);
  if (!pairs || pairs->empty()) return nullptr;
  CollectivePermuteAttrs attrs;
  attrs.source_target_pairs = *std::move(pairs);
  attrs.channel_id = channel;
  Instruction* sent = r.Add(Opcode::kCollectivePermute, i->shape(), {gather->operand(0)}, attrs);
  HloWriter w(r);
  Instruction* id = r.Add(channel ? Opcode::kPartitionId : Opcode::kReplicaId,
                          RowMajor(ElementType::kU32, {}), {});
  Instruction* flag = w.Reshape(w.DynamicSlice(w.List(ElementType::kS32, padded), {id}, {1}), {});
  Instruction* is_padding =
      w.Compare(flag, w.Integer(ElementType::kS32, 0), ComparisonDirection::kNe);
  return w.Select(r.Broadcast(is_padding, i->shape().WithType(ElementType::kPred), {}),
                  w.Fill(i->shape(), pad->operand(1)), sent);
}

// Where the slices that the devices read of what is gathered and padded hold the whole of it: one
// device of each group, at the same place of the group and of the slice; the others read padding.
struct OneReader {
  size_t place = 0;            // in its group
  int64_t before = 0;          // padding in front, in its slice
  std::vector<int64_t> reads;  // by device, 1 for a reader
};

std::optional<OneReader> FindReader(absl::Span<const int64_t> starts, const Instruction& pad,
                                    int64_t dim, int64_t size) {
  const Instruction& gather = *pad.operand(0);
  const int64_t low = pad.attr<PadAttrs>().padding[dim].low;
  const int64_t whole = gather.shape().dims[dim];
  std::optional<OneReader> found;
  for (const auto& group : GroupsOf(gather)) {
    std::optional<size_t> reader;
    for (size_t k = 0; k < group.size(); ++k) {
      const int64_t device = group[k];
      if (device >= static_cast<int64_t>(starts.size()) || starts[device] < 0 ||
          starts[device] + size > pad.shape().dims[dim])
        return std::nullopt;
      const int64_t before = low - starts[device];
      if (before >= size || before + whole <= 0) continue;
      if (before < 0 || before + whole > size || reader) return std::nullopt;
      reader = k;
      if (!found) found = OneReader{k, before, std::vector<int64_t>(starts.size(), 0)};
      if (found->place != k || found->before != before) return std::nullopt;
      found->reads[device] = 1;
    }
    if (!reader) return std::nullopt;
  }
  return found;
}

// What the readers get: padding, the part of each member of the group, padding.
Instruction* GatherForReader(Instruction* i, Rewriter& r, const OneReader& reader, int64_t dim) {
  const Instruction* pad = i->operand(0);
  Instruction* gather = pad->operand(0);
  HloWriter w(r);
  std::vector<Instruction*> pieces;
  const auto fill = [&](int64_t size) {
    if (size == 0) return;
    Shape shape = i->shape();
    shape.dims[dim] = size;
    pieces.push_back(w.Fill(shape, pad->operand(1)));
  };
  const auto groups = GroupsOf(*gather);
  fill(reader.before);
  for (size_t k = 0; k < groups[0].size(); ++k) {
    if (k == reader.place) {
      pieces.push_back(gather->operand(0));
      continue;
    }
    CollectivePermuteAttrs attrs;
    attrs.channel_id = gather->attr<AllGatherAttrs>().channel_id;
    for (auto group = groups.rbegin(); group != groups.rend(); ++group)
      attrs.source_target_pairs.emplace_back((*group)[k], (*group)[reader.place]);
    pieces.push_back(r.Add(Opcode::kCollectivePermute, gather->operand(0)->shape(),
                           {gather->operand(0)}, std::move(attrs)));
    pieces.back()->mutable_extras().frontend_attributes = gather->extras().frontend_attributes;
  }
  fill(i->shape().dims[dim] - reader.before - gather->shape().dims[dim]);
  return w.Concatenate(pieces, dim);
}

Made GatherOrPad(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kDynamicSlice || i->operand(0)->opcode() != Opcode::kPad ||
      !IsPlain(i->operand(0)->operand(0), Opcode::kAllGather))
    return nullptr;
  const Instruction* pad = i->operand(0);
  const Instruction* gather = pad->operand(0);
  const int64_t dim = gather->attr<AllGatherAttrs>().dimensions[0];
  if (!NumbersPartnersAlike(*gather) || i->operand_count() != 1 + i->shape().rank() ||
      !PadsOnly(pad->attr<PadAttrs>().padding, dim))
    return nullptr;
  for (int64_t d = 0; d < i->shape().rank(); ++d)
    if (d != dim && i->shape().dims[d] != gather->shape().dims[d]) return nullptr;
  const auto starts = ByDevice(i->operand(1 + dim), *gather);
  if (!starts) return nullptr;
  const std::optional<OneReader> reader = FindReader(*starts, *pad, dim, i->shape().dims[dim]);
  if (!reader) return nullptr;
  HloWriter w(r);
  Instruction* id =
      r.Add(CollectiveGroupsOf(*gather)->channel_id ? Opcode::kPartitionId : Opcode::kReplicaId,
            RowMajor(ElementType::kU32, {}), {});
  Instruction* flag =
      w.Reshape(w.DynamicSlice(w.List(ElementType::kS64, reader->reads), {id}, {1}), {});
  Instruction* reads = w.Compare(flag, w.Integer(ElementType::kS64, 1), ComparisonDirection::kEq);
  return r.Add(Opcode::kSelect, i->shape(),
               {reads, GatherForReader(i, r, *reader, dim), w.Fill(i->shape(), pad->operand(1))});
}

Made SimplifyPaddedGather(Instruction* i, Rewriter& r) {
  Made whole = GatherOrPad(i, r);
  return !whole.ok() || *whole != nullptr ? whole : PermuteOrPad(i, r);
}

using Groups = std::vector<std::vector<int64_t>>;

// The group and the place of each device.
std::map<int64_t, std::pair<const std::vector<int64_t>*, size_t>> Members(const Groups& groups) {
  std::map<int64_t, std::pair<const std::vector<int64_t>*, size_t>> members;
  for (const auto& group : groups)
    for (size_t k = 0; k < group.size(); ++k) members[group[k]] = {&group, k};
  return members;
}

// Whether each device gets the same part of the same sum when the parts are summed first within
// `scatter` and then within `sum`, rather than the other way round.
bool OrdersAgree(const Groups& sum, const Groups& scatter) {
  const auto summed = Members(sum), scattered = Members(scatter);
  for (const auto& [device, place] : scattered) {
    if (!summed.contains(device)) return false;
    std::vector<int64_t> before, after;
    for (const int64_t b : *place.first) {
      const auto in = summed.find(b);
      if (in == summed.end()) return false;
      before.insert(before.end(), in->second.first->begin(), in->second.first->end());
    }
    for (const int64_t a : *summed.at(device).first) {
      const auto in = scattered.find(a);
      if (in == scattered.end() || in->second.second != place.second) return false;
      after.insert(after.end(), in->second.first->begin(), in->second.first->end());
    }
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    if (before != after) return false;
  }
  return summed.size() == scattered.size();
}

Made ScatterFirst(Instruction* i, Rewriter& r) {
  if (!IsPlain(i, Opcode::kReduceScatter) || !IsPlain(i->operand(0), Opcode::kAllReduce))
    return nullptr;
  Instruction* sum = i->operand(0);
  const auto inner = ReducerOpcode(*sum->to_apply()), outer = ReducerOpcode(*i->to_apply());
  const auto a = CollectiveGroupsOf(*sum), b = CollectiveGroupsOf(*i);
  if (!inner || inner != outer || a->mode() != b->mode() || sum->users().size() != 1 ||
      sum->IsRoot() || !sum->control_successors().empty() ||
      !OrdersAgree(GroupsOf(*sum), GroupsOf(*i)))
    return nullptr;
  return r.Clone(sum, i->shape(), {r.Clone(i, i->shape(), {sum->operand(0)})});
}

bool MovesParts(const Instruction* i) {
  return IsPlain(i, Opcode::kAllGather) || IsPlain(i, Opcode::kCollectivePermute) ||
         IsPlain(i, Opcode::kCollectiveBroadcast) ||
         (IsPlain(i, Opcode::kAllToAll) && i->attr<AllToAllAttrs>().dimensions.has_value());
}

// Whether the collective leaves the last dimension as it is.
bool KeepsLast(const Instruction* i) {
  const int64_t last = i->shape().rank() - 1;
  if (i->opcode() == Opcode::kAllGather) return i->attr<AllGatherAttrs>().dimensions[0] != last;
  if (i->opcode() == Opcode::kAllToAll) {
    const DimVector& dims = *i->attr<AllToAllAttrs>().dimensions;
    return std::find(dims.begin(), dims.end(), last) == dims.end();
  }
  return true;
}

Shape AsBytes(const Shape& shape) {
  DimVector dims = shape.dims;
  dims.back() /= 2;
  return RowMajor(ElementType::kS8, dims);
}

Made MoveBytes(Instruction* i, Rewriter& r) {
  const ElementType type = i->shape().type;
  if ((type != ElementType::kS4 && type != ElementType::kU4) || !MovesParts(i)) return nullptr;
  const Shape& from = i->operand(0)->shape();
  if (from.rank() == 0 || from.dims.back() % 2 != 0 || from.dims.back() == 0 || !KeepsLast(i) ||
      !from.IsRowMajor() || !i->shape().IsRowMajor() || i->shape().HasDynamicDims())
    return nullptr;
  const auto halves = [&](const Shape& shape) {
    DimVector dims = shape.dims;
    dims.back() /= 2;
    dims.push_back(2);
    Shape split = RowMajor(type, dims);
    split.layout.extras = shape.layout.extras;
    return split;
  };
  Instruction* pairs = r.Reshape(i->operand(0), halves(from));
  Instruction* bytes = r.Add(Opcode::kBitcastConvert, AsBytes(from), {pairs});
  Instruction* moved = r.Clone(i, AsBytes(i->shape()), {bytes});
  return r.Reshape(r.Add(Opcode::kBitcastConvert, halves(i->shape()), {moved}), i->shape());
}

Made GatherBeforeReshape(Instruction* i, Rewriter& r) {
  if (!IsPlain(i, Opcode::kAllGather) || i->operand(0)->opcode() != Opcode::kReshape ||
      i->shape().HasDynamicDims())
    return nullptr;
  Instruction* x = i->operand(0)->operand(0);
  const int64_t dim = i->attr<AllGatherAttrs>().dimensions[0];
  const DimVector map = DimensionMap(*i->operand(0), 0);
  const auto at = std::find(map.begin(), map.end(), dim);
  if (at == map.end()) return nullptr;
  Shape shape = x->shape();
  const int64_t place = at - map.begin();
  if (shape.dims[place] != i->operand(0)->shape().dims[dim]) return nullptr;
  shape.dims[place] = i->shape().dims[dim];
  Instruction* made = r.Clone(i, shape, {x});
  made->mutable_attr<AllGatherAttrs>().dimensions = {place};
  return r.Reshape(made, i->shape());
}

}  // namespace

// all-gather-to-collective-permute-simplifier. Matches a dynamic slice of an all-gather that takes,
// by a constant table over devices, the whole part of one device, each of another: leaves a
// collective-permute. Exact.
std::unique_ptr<Pass> CreateAllGatherToCollectivePermuteSimplifier() {
  return MakeExpander("all-gather-to-collective-permute-simplifier", PermuteInstead);
}

// all-reduce-reduce-scatter-reorder. Matches a reduce-scatter of an all-reduce by one function,
// where it does not matter in which order their groups meet: reduces the parts only. Reassociates.
std::unique_ptr<Pass> CreateAllReduceReduceScatterReorder() {
  return MakeExpander("all-reduce-reduce-scatter-reorder", ScatterFirst);
}

// sub-byte-collective-normalization: what moves four-bit values between devices without looking at
// them moves pairs of them as bytes. Exact.
std::unique_ptr<Pass> CreateSubByteCollectiveNormalization() {
  return MakeExpander("sub-byte-collective-normalization", MoveBytes);
}

// canon-all-gather-for-cse: reshapes that an all-gather reads move after it, so that those of one
// array become alike. Exact.
std::unique_ptr<Pass> CreateCanonicalizeAllGatherForCse() {
  return MakeExpander("canon-all-gather-for-cse", GatherBeforeReshape);
}

// all-gather-pad-ds-simplifier: of a padded all-gather one device of each group reads all of it, or
// each device another's part, and the rest padding alone: the parts are sent, and a choice by the
// device takes padding. Exact.
std::unique_ptr<Pass> CreateAllGatherPadDsSimplifier() {
  return MakeExpander("all-gather-pad-ds-simplifier", SimplifyPaddedGather);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
