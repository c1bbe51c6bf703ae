// Brings an array from one tiling to another: an all-gather along each dimension that is cut too
// finely or differently, then a dynamic-slice at an offset that a table gives for each partition
// id.
//   f32[8] in 4 tiles -> f32[8] in 2 tiles: all-gather in pairs of devices
#include "passes/spmd/resharding.h"
#include "absl/strings/str_cat.h"

#include <map>
#include <utility>

namespace hlokit {

ReplicaGroups Resharder::GroupsAlong(const Tiling& tiling, const std::vector<bool>& dims) const {
  // By manual group, by the parts along the other dimensions, and by which of the holders of its
  // tile a device is.
  std::map<std::vector<int64_t>, std::map<std::vector<int64_t>, int64_t>> groups;
  std::map<std::pair<int64_t, int64_t>, int64_t> holders;
  for (int64_t device = 0; device < devices_; ++device) {
    const int64_t manual = groups_ == nullptr ? 0 : (*groups_)[device];
    std::vector<int64_t> key = {manual, holders[{manual, tiling.tile_of[device]}]++}, place;
    for (size_t d = 0; d < tiling.tiles.size(); ++d)
      (dims[d] ? place : key).push_back(PartAlong(tiling, device, d));
    groups[key][place] = device;
  }
  ReplicaGroups lists;
  for (int64_t replica = 0; replica < replicas_; ++replica)
    for (const auto& [key, members] : groups) {
      std::vector<int64_t> group;
      for (const auto& [place, device] : members) group.push_back(replica * devices_ + device);
      lists.lists.push_back(std::move(group));
    }
  return lists;
}

Instruction* Resharder::Lookup(absl::Span<const int64_t> by_device) {
  Instruction* id = w_.rewriter().Add(Opcode::kPartitionId, RowMajor(ElementType::kU32, {}), {});
  Instruction* table = w_.List(ElementType::kS32, by_device);
  return w_.Reshape(w_.DynamicSlice(table, {id}, {1}), {});
}

Part Resharder::GatherAlong(Part part, int64_t d) {
  std::vector<bool> along(part.tiling.tiles.size(), false), others(along.size(), true);
  along[d] = true;
  others[d] = false;
  AllGatherAttrs attrs;
  attrs.channel_id = next_channel_++;
  attrs.replica_groups = GroupsAlong(part.tiling, along);
  attrs.dimensions = {d};
  attrs.use_global_device_ids = true;
  Shape shape = part.value->shape();
  shape.dims[d] *= part.tiling.tiles[d];
  Instruction* all = w_.rewriter().Add(Opcode::kAllGather, shape, {part.value}, std::move(attrs));
  if (shape.dims[d] != part.whole.dims[d]) all = w_.SliceOf(all, d, 0, part.whole.dims[d]);
  return {all, part.whole, Restricted(part.tiling, others), /*manual=*/false, part.groups};
}

Part Resharder::CutAlong(Part part, const Tiling& tiling, int64_t d) {
  const int64_t parts = tiling.tiles[d], size = (part.whole.dims[d] + parts - 1) / parts;
  Instruction* x = part.value;
  if (size * parts != part.whole.dims[d]) {
    PaddingConfig padding(part.whole.rank());
    padding[d].high = size * parts - part.whole.dims[d];
    x = w_.Pad(x, w_.Integer(x->shape().type, 0), std::move(padding));
  }
  std::vector<int64_t> starts;
  for (int64_t device = 0; device < devices_; ++device)
    starts.push_back(PartAlong(tiling, device, d) * size);
  std::vector<Instruction*> at(part.whole.rank(), w_.Integer(ElementType::kS32, 0));
  at[d] = Lookup(starts);
  DimVector sizes = x->shape().dims;
  sizes[d] = size;
  part.value = w_.DynamicSlice(x, at, sizes);
  return part;
}

Part Resharder::To(Part part, const Tiling& tiling) {
  if (part.manual || SameTiling(part.tiling, tiling)) return part;
  const int64_t rank = part.whole.rank();
  std::vector<bool> cut(rank, false);
  for (int64_t d = 0; d < rank; ++d) {
    bool same = part.tiling.tiles[d] == tiling.tiles[d];
    for (int64_t device = 0; device < devices_ && same; ++device)
      same = PartAlong(part.tiling, device, d) == PartAlong(tiling, device, d);
    if (same) continue;
    if (part.tiling.tiles[d] != 1) part = GatherAlong(std::move(part), d);
    cut[d] = tiling.tiles[d] != 1;
  }
  for (int64_t d = 0; d < rank; ++d)
    if (cut[d]) part = CutAlong(std::move(part), tiling, d);
  part.tiling = tiling;
  return part;
}

Instruction* Resharder::AllReduce(Instruction* value, const Tiling& operand,
                                  const std::vector<bool>& reduced, Computation* reducer) {
  AllReduceAttrs attrs;
  attrs.channel_id = next_channel_++;
  attrs.replica_groups = GroupsAlong(operand, reduced);
  attrs.use_global_device_ids = true;
  Instruction* sum =
      w_.rewriter().Add(Opcode::kAllReduce, value->shape(), {value}, std::move(attrs));
  sum->set_called({reducer});
  return sum;
}

Instruction* SentBy(HloWriter& w, const Instruction& outfeed, int64_t device, Instruction* data,
                    Instruction* token) {
  Rewriter& here = w.rewriter();
  Instruction* id = here.Add(Opcode::kPartitionId, RowMajor(ElementType::kU32, {}), {});
  Instruction* own = w.Compare(id, w.Integer(ElementType::kU32, device), ComparisonDirection::kEq);
  Instruction* both = w.Tuple({data, token});
  std::vector<Computation*> branches;
  for (const bool sends : {true, false}) {
    Computation* branch =
        data->module()->AddComputation(absl::StrCat(outfeed.name(), sends ? "_send" : "_skip"));
    Instruction* p = branch->AddParameter(0, both->shape());
    if (sends) {
      Rewriter r(*branch);
      HloWriter inner(r);
      branch->set_root(r.Clone(&outfeed, outfeed.shape(), {inner.Part(p, 0), inner.Part(p, 1)}));
    } else {
      branch->set_root(branch->Add(Opcode::kAfterAll, outfeed.shape(), {}));
    }
    branches.push_back(branch);
  }
  Instruction* made = here.Add(Opcode::kConditional, outfeed.shape(), {own, both, both});
  made->set_called(std::move(branches));
  return made;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
