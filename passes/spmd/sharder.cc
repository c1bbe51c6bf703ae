// Brings shards from one cut to another, by the cheapest collective that does: none, a permute, an
// all-to-all, an all-gather, or a slice of what each partition has; at last the whole array.
//   devices=[4,1] -> [1,4]   all-to-all (sharder_all_to_all.cc)
//   devices=[2,2] -> [2,1,2 copies]   all-gather in pairs
//   devices=[2,1,2 copies] -> [2,2]   dynamic-slice
#include "passes/spmd/sharder.h"

#include <algorithm>
#include <numeric>

#include "absl/algorithm/container.h"
#include "passes/spmd/cut_places.h"

namespace hlokit {
namespace {

// Each tile of `coarse` is a union of tiles of `fine` on the devices that share it.
bool IsFinerTiling(const Cut& fine, const Cut& coarse) {
  std::vector<DimVector> place(coarse.devices.size());
  coarse.ForEach([&](const DimVector& at, int64_t device) { place[device] = at; });
  bool finer = true;
  fine.ForEach([&](const DimVector& at, int64_t device) {
    for (int64_t d = 0; d < coarse.rank(); ++d)
      finer &= at[d] / (fine.tiles[d] / coarse.tiles[d]) == place[device][d];
  });
  return finer;
}

// A cut with the tiles of `target` that `copies` becomes by cutting what its copies share.
std::optional<Cut> FinerLike(const Cut& copies, const Cut& target) {
  if (!copies.has_copies || !target.IsTiled() || copies.devices.size() != target.devices.size() ||
      copies.rank() != target.rank())
    return std::nullopt;
  const int64_t rank = copies.rank();
  DimVector split(copies.tiles.begin(), copies.tiles.begin() + rank), order;
  for (int64_t d = 0; d < rank; ++d) {
    if (target.tiles[d] % copies.tiles[d] != 0) return std::nullopt;
    order.push_back(d);
    if (target.tiles[d] == copies.tiles[d]) continue;
    order.push_back(static_cast<int64_t>(split.size()));
    split.push_back(target.tiles[d] / copies.tiles[d]);
  }
  if (IsFinerTiling(target, copies)) return target;
  if (target.has_copies) {
    order.push_back(static_cast<int64_t>(split.size()));
    split.push_back(target.Copies());
  }
  Cut refined;
  refined.kind = Cut::Kind::kTiled;
  refined.tiles = split;
  refined.devices = copies.devices;
  return Retiled(Transposed(refined, order), target.tiles, target.has_copies);
}

// All devices have a part of the array, or all of it.
bool IsShared(const Cut& cut) { return cut.IsTiled() || cut.IsReplicated(); }

bool IsScalarBroadcast(const Instruction& x) {
  return x.opcode() == Opcode::kBroadcast && x.operand(0)->shape().IsScalar();
}

}  // namespace

int64_t PaddedSize(const Shape& whole, const Cut& cut, int64_t d) {
  return ShardOf(whole, cut).dims[d] * cut.Dim(d);
}

Shard Sharder::To(const Shard& shard, const std::vector<Cut>& targets) {
  if (!shard.whole.IsTuple()) return To(shard, targets[0]);
  if (shard.cuts == targets) return shard;
  std::vector<Instruction*> elements;
  size_t next = 0;
  for (size_t k = 0; k < shard.whole.elements.size(); ++k) {
    const Shape& element = shard.whole.elements[k];
    const int64_t leaves = NumLeaves(element);
    const auto part = [&](const std::vector<Cut>& all) {
      return std::vector<Cut>(all.begin() + next, all.begin() + next + leaves);
    };
    Shard one{w_.Part(shard.value, k), element, part(shard.cuts), shard.scope};
    elements.push_back(To(one, part(targets)).value);
    next += leaves;
  }
  return {w_.Tuple(elements), shard.whole, targets, shard.scope};
}

Shard Sharder::To(const Shard& shard, const Cut& target) {
  if (shard.whole.IsToken()) return shard;
  if (shard.whole.IsTuple()) return To(shard, std::vector<Cut>(shard.cuts.size(), target));
  if (shard.cut() == target) return shard;
  for (const Shard& other : known_[{shard.value, shard.scope}])
    if (other.cut() == target) return other;
  Shard made = Reshard(shard, target, /*may_replicate=*/true);
  Know(shard, made);
  return made;
}

Shard Sharder::Reshard(const Shard& shard, const Cut& target, bool may_replicate) {
  const Cut& cut = shard.cut();
  if (cut == target) return shard;
  if (!cut.sums.empty()) {
    Computation* add = writer_.Add(shard.whole.type);
    Instruction* sum = writer_.AllReduce(shard.value, cut.sums, add, shard.scope);
    return To(Array(sum, shard.whole, Summed(cut), shard.scope), target);
  }
  if (!target.sums.empty()) return Unreduced(To(shard, Summed(target)), target);
  // Values of manual regions are not arrays that anybody shares.
  if (cut.IsManual() || target.IsManual()) return {shard.value, shard.whole, {target}, shard.scope};
  if (IsShared(cut) && IsShared(target) && IsScalarBroadcast(*shard.value))
    return Array(w_.rewriter().Broadcast(shard.value->operand(0),
                                         ShardOf(shard.whole, target).WithDefaultLayout(), {}),
                 shard.whole, target, shard.scope);
  if (HaveSameTiles(cut, target)) return ByPermute(shard, target);
  if (auto made = ByAllToAll(shard, target)) return *made;
  if (target.IsTiled() && cut.has_copies) {
    if (auto made = FromCopies(shard, target)) return *made;
    if (auto made = CopiesByAllToAll(shard, target)) return *made;
  }
  if (cut.IsTiled() && target.has_copies) {
    if (auto made = ToCopies(shard, target)) return *made;
    if (auto made = CopiesByAllToAll(shard, target)) return *made;
  }
  if (cut.IsReplicated()) return FromReplicated(shard, target);
  if (!target.IsReplicated()) {
    if (cut.IsTiled() && target.IsTiled())
      if (auto made = InSteps(shard, target)) return *made;
    if (!may_replicate) return shard;
    if (cut.IsTiled() && target.IsTiled())
      if (auto made = InGroupsAlike(shard, target)) return *made;
    return To(Replicated(shard), target);
  }
  if (cut.HasOneDevice()) return FromDevice(shard);
  DimVector dims(shard.whole.rank());
  std::iota(dims.begin(), dims.end(), 0);
  return Array(MakeWhole(shard, dims), shard.whole, Cut(), shard.scope);
}

namespace {

DeviceGroups InOrder(DeviceGroups groups) {
  for (Devices& group : groups) absl::c_sort(group);
  absl::c_sort(groups);
  return groups;
}

}  // namespace

// The first device of each group keeps its value and the others have zeros, unless the value is a
// sum over these very groups: then that is not made.
Shard Sharder::Unreduced(const Shard& shard, const Cut& target) {
  Instruction* x = shard.value;
  const DeviceGroups all = writer_.InModule(target.sums, *shard.scope).lists;
  if (x->opcode() == Opcode::kAllReduce && x->to_apply() == writer_.Add(x->shape().type) &&
      InOrder(x->attr<AllReduceAttrs>().replica_groups.lists) == InOrder(all))
    return Array(x->operand(0), shard.whole, target, shard.scope);
  std::vector<int64_t> keeps(shard.scope->size(), 0);
  for (const Devices& group : target.sums) keeps[group[0]] = 1;
  Instruction* kept = writer_.Lookup(keeps, ElementType::kS32, writer_.PartitionId(shard.scope));
  Instruction* is_kept = w_.Compare(kept, writer_.S32(0), ComparisonDirection::kNe);
  Instruction* mask =
      w_.rewriter().Broadcast(is_kept, RetypedLike(x->shape(), ElementType::kPred), {});
  return Array(w_.Select(mask, x, w_.FillInteger(x->shape(), 0)), shard.whole, target, shard.scope);
}

Shard Sharder::FromReplicated(const Shard& shard, const Cut& target) {
  Rewriter& r = w_.rewriter();
  if (!target.IsTiled())
    return Array(r.Add(Opcode::kCopy, shard.value->shape(), {shard.value}), shard.whole, target,
                 shard.scope);
  const Shape part = ShardOf(shard.whole, target);
  Instruction* x = shard.value;
  PaddingConfig padding(part.rank());
  bool is_uneven = false;
  for (int64_t d = 0; d < part.rank(); ++d) {
    padding[d].high = part.dims[d] * target.tiles[d] - shard.whole.dims[d];
    is_uneven |= padding[d].high != 0;
  }
  if (is_uneven) x = w_.Pad(x, writer_.Zero(x->shape().type), std::move(padding));
  const auto offsets = writer_.Offsets(shard.whole, target, shard.scope);
  return Array(w_.DynamicSlice(x, offsets, part.dims), shard.whole, target, shard.scope);
}

// The value of that device, zeros elsewhere, summed up.
Shard Sharder::FromDevice(const Shard& shard) {
  const Shape& shape = shard.value->shape();
  Instruction* number = w_.Integer(ElementType::kU32, shard.cut().device);
  Instruction* is_there =
      w_.Compare(writer_.PartitionId(shard.scope), number, ComparisonDirection::kEq);
  Instruction* chosen =
      w_.rewriter().Broadcast(is_there, RetypedLike(shape, ElementType::kPred), {});
  Instruction* zeros = w_.rewriter().Broadcast(writer_.Zero(shape.type), shape, {});
  Instruction* own = w_.rewriter().Add(Opcode::kSelect, shape, {chosen, shard.value, zeros});
  Devices every(shard.scope->size());
  std::iota(every.begin(), every.end(), 0);
  Instruction* sum =
      writer_.AllReduce(own, {std::move(every)}, writer_.Add(shape.type), shard.scope);
  return Array(sum, shard.whole, Cut(), shard.scope);
}

Shard Sharder::ByPermute(const Shard& shard, const Cut& target) {
  const std::vector<int64_t> same = writer_.BroadcastDims(shard.value);
  const int64_t rank = shard.whole.rank(), devices = shard.scope->size();
  if (!same.empty() && PlacesOf(MadeWhole(shard.cut(), same), rank, devices) ==
                           PlacesOf(MadeWhole(target, same), rank, devices))
    return Array(w_.rewriter().Add(Opcode::kCopy, shard.value->shape(), {shard.value}), shard.whole,
                 target, shard.scope);
  IntPairs pairs;
  for (size_t k = 0; k < target.devices.size(); ++k)
    pairs.push_back({shard.cut().devices[k], target.devices[k]});
  return Array(writer_.Permute(shard.value, pairs, shard.scope), shard.whole, target, shard.scope);
}

// Rows that fewer, larger tiles need of a neighbour, where sizes do not divide.
Instruction* Sharder::ForFewerTiles(const Shard& shard, const Cut& from, const Cut& to,
                                    absl::Span<const int64_t> dims) {
  Instruction* x = shard.value;
  std::vector<Instruction*> places;
  for (const int64_t d : dims) {
    const int64_t tiles = to.Dim(d);
    const int64_t have = PaddedSize(shard.whole, from, d) / tiles;
    const int64_t want = PaddedSize(shard.whole, to, d) / tiles;
    if (have <= want || tiles == 1) continue;
    if (places.empty()) places = writer_.Places(from, shard.scope);
    const PlaceFunction left =
        PlaceFunction(0, have - want) * PlaceFunction(1, 0, from.Dim(d) / tiles);
    x = writer_.ExchangeHaloCompact(x, shard.whole, {left, PlaceFunction(0, 0) - left}, nullptr, d,
                                    from, places[d], shard.scope);
  }
  return x;
}

// Rows that more, smaller tiles need of a neighbour.
Instruction* Sharder::ForMoreTiles(const Shard& shard, const Cut& to,
                                   absl::Span<const int64_t> dims) {
  const Cut& from = shard.cut();
  Instruction* x = shard.value;
  PaddingConfig padding(shard.whole.rank());
  bool pads = false;
  std::vector<Instruction*> places;
  for (const int64_t d : dims) {
    const int64_t tiles = from.Dim(d);
    const int64_t have = PaddedSize(shard.whole, from, d) / tiles;
    const int64_t want = PaddedSize(shard.whole, to, d) / tiles;
    if (have >= want) continue;
    if (tiles == 1) {
      padding[d].high = want - have;
      pads = true;
      continue;
    }
    if (places.empty()) places = writer_.Places(from, shard.scope);
    x = writer_.ExchangeHaloCompact(
        x, shard.whole, {PlaceFunction(have - want, 0), PlaceFunction(want - have, want - have)},
        nullptr, d, from, places[d], shard.scope);
  }
  return pads ? w_.Pad(x, writer_.Zero(x->shape().type), std::move(padding)) : x;
}

std::optional<Shard> Sharder::ToCopies(const Shard& shard, const Cut& target) {
  const std::optional<Cut> like = FinerLike(target, shard.cut());
  if (!like) return std::nullopt;
  Shard from = HaveSameTiles(shard.cut(), *like) ? ByPermute(shard, *like) : shard;
  DimVector dims, factors;
  for (int64_t d = 0; d < shard.whole.rank(); ++d)
    if (like->tiles[d] > target.tiles[d]) {
      dims.push_back(d);
      factors.push_back(like->tiles[d] / target.tiles[d]);
    }
  Instruction* x = ForFewerTiles(from, *like, target, dims);
  const Grouped grouped = GroupBy(*like, dims, factors);
  Cut inner = grouped.cut;
  // Along other dimensions the members of a group hold unlike shards; these stay as they are.
  DeviceScope* scope = writer_.Within(shard.scope, grouped.groups);
  Instruction* whole =
      MakeWhole(Array(x, ShardOf(shard.whole, target), std::move(inner), scope), dims);
  return Array(whole, shard.whole, target, shard.scope);
}

std::optional<Shard> Sharder::FromCopies(const Shard& shard, const Cut& target) {
  const Cut& cut = shard.cut();
  const std::optional<Cut> like = FinerLike(cut, target);
  if (!like) return std::nullopt;
  DimVector dims;
  for (int64_t d = 0; d < shard.whole.rank(); ++d)
    if (like->tiles[d] > cut.tiles[d]) dims.push_back(d);
  Instruction* x = ForMoreTiles(shard, *like, dims);
  const Shape part = ShardOf(shard.whole, *like);
  Shape padded = part;
  for (int64_t d = 0; d < part.rank(); ++d) padded.dims[d] *= like->tiles[d];
  std::vector<Instruction*> offsets = writer_.Offsets(padded, *like, shard.scope);
  const std::vector<Instruction*> old = writer_.Offsets(padded, cut, shard.scope);
  for (size_t d = 0; d < offsets.size(); ++d)
    offsets[d] = w_.Binary(Opcode::kSubtract, offsets[d], old[d]);
  const Shard made = Array(w_.DynamicSlice(x, offsets, part.dims), shard.whole, *like, shard.scope);
  return HaveSameTiles(*like, target) ? ByPermute(made, target) : made;
}

Instruction* Sharder::MakeWhole(const Shard& shard, absl::Span<const int64_t> dims) {
  const Cut& cut = shard.cut();
  const Shape& own = shard.value->shape();
  Shape target = own, padded = own;
  DimVector single, summed, gathered;
  for (const int64_t d : dims) {
    const int64_t tiles = cut.Dim(d);
    if (tiles == 1) continue;
    target.dims[d] = shard.whole.dims[d];
    if (target.dims[d] == own.dims[d]) {
      single.push_back(d);
    } else if (target.dims[d] <= tiles / 2) {
      summed.push_back(d);
    } else {
      padded.dims[d] = own.dims[d] * tiles;
      gathered.push_back(d);
    }
  }
  Instruction* x = shard.value;
  if (!single.empty()) {  // the first along these dimensions has it all
    DimVector others;
    for (size_t d = 0; d < cut.tiles.size(); ++d)
      if (!absl::c_linear_search(single, static_cast<int64_t>(d)))
        others.push_back(static_cast<int64_t>(d));
    DeviceScope* scope = writer_.Within(shard.scope, GroupBy(cut, others).groups);
    x = FromDevice(Array(x, own, Cut::OnDevice(0), scope)).value;
  }
  x = writer_.AllGatherAlong(x, cut, gathered, shard.scope);
  if (!summed.empty()) {
    Instruction* zero = writer_.Zero(own.type);
    DimVector masked, skipped;
    for (const int64_t d : summed) {
      if (shard.whole.dims[d] >= cut.Dim(d)) {
        padded.dims[d] = own.dims[d] * cut.Dim(d);
        continue;
      }
      masked.push_back(d);  // updates past the end would be moved inside
      padded.dims[d] = shard.whole.dims[d];
    }
    if (!masked.empty()) {
      for (int64_t d = 0; d < own.rank(); ++d)
        if (!absl::c_linear_search(masked, d)) skipped.push_back(d);
      x = PadWith(Array(x, padded, cut, shard.scope), zero, {}, skipped);
    }
    Instruction* zeros = w_.rewriter().Broadcast(zero, padded, {});
    x = w_.DynamicUpdateSlice(
        zeros, x, writer_.Offsets(padded, MadeWholeExcept(cut, summed), shard.scope, summed));
    x = writer_.AllReduceAlong(x, cut, summed, writer_.Add(own.type), shard.scope);
  }
  if (target.dims == x->shape().dims) return x;
  SliceSpec slice;
  for (int64_t d = 0; d < target.rank(); ++d) slice.push_back({0, target.dims[d], 1});
  return w_.Slice(x, std::move(slice));
}

Instruction* Sharder::PadWith(const Shard& shard, Instruction* pad,
                              absl::Span<const int64_t> left_padded,
                              absl::Span<const int64_t> skipped) {
  const Cut& cut = shard.cut();
  if (!cut.IsTiled() || IsEven(cut, shard.whole)) return shard.value;
  const Shape& own = shard.value->shape();
  std::vector<Instruction*> offsets;
  Instruction* mask = nullptr;
  for (int64_t d = 0; d < own.rank(); ++d) {
    if (shard.whole.dims[d] % cut.tiles[d] == 0 || absl::c_linear_search(skipped, d)) continue;
    if (offsets.empty()) offsets = writer_.Offsets(shard.whole, cut, shard.scope);
    Instruction* row = w_.Iota(ElementType::kS32, own.dims, d);
    row = w_.Binary(Opcode::kAdd, row, w_.Fill(row->shape(), offsets[d]));
    const bool left = absl::c_linear_search(left_padded, d);
    const int64_t limit =
        left ? own.dims[d] * cut.tiles[d] - shard.whole.dims[d] : shard.whole.dims[d];
    Instruction* inside = w_.Compare(row, w_.Fill(row->shape(), writer_.S32(limit)),
                                     left ? ComparisonDirection::kGe : ComparisonDirection::kLt);
    mask = mask == nullptr ? inside : w_.Binary(Opcode::kAnd, mask, inside);
  }
  if (mask == nullptr) return shard.value;
  return w_.Select(mask, shard.value, w_.Fill(own, pad));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
