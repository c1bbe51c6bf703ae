// Brings shards from one cut to another, by the cheapest collective that does: none, a permute, an
// all-to-all, an all-gather, or a slice of what each partition has; at last the whole array.
//   devices=[4,1] -> [1,4]   reshape, all-to-all, transpose, reshape
//   devices=[2,2] -> [2,1,2 copies]   all-gather in pairs
//   devices=[2,1,2 copies] -> [2,2]   dynamic-slice
#include "passes/spmd/sharder.h"

#include <algorithm>
#include <numeric>

#include "absl/algorithm/container.h"

namespace hlokit {
namespace {

using DimPairs = std::vector<std::pair<int64_t, int64_t>>;

bool ByPermuteAlone(const Cut& from, const Cut& to) {
  return from.IsTiled() && to.IsTiled() && from.tiles == to.tiles &&
         from.has_copies == to.has_copies && from.devices != to.devices;
}

// Which dimensions swap their tiles, one all-to-all each.
std::optional<DimPairs> AllToAllDims(const Cut& from, const Cut& to) {
  if (!from.IsTiled() || !to.IsTiled() || from.tiles.size() != to.tiles.size() ||
      from.has_copies != to.has_copies || from.Copies() != to.Copies() ||
      from.NumTiles() != to.NumTiles())
    return std::nullopt;
  std::map<int64_t, std::vector<int64_t>> sources, targets;  // dimensions by their tiles
  for (int64_t d = 0; d < from.rank(); ++d) {
    if (from.tiles[d] == to.tiles[d]) continue;
    sources[from.tiles[d]].push_back(d);
    targets[to.tiles[d]].push_back(d);
  }
  if (sources.empty() || sources.size() != targets.size()) return std::nullopt;
  for (const auto& [tiles, dims] : sources) {
    const auto found = targets.find(tiles);
    if (found == targets.end() || found->second.size() != dims.size()) return std::nullopt;
  }
  const auto remove = [](std::map<int64_t, std::vector<int64_t>>& from_map, int64_t tiles,
                         int64_t dim) {
    auto& list = from_map[tiles];
    list.erase(absl::c_find(list, dim));
    if (list.empty()) from_map.erase(tiles);
  };
  DimPairs swaps;
  while (!sources.empty()) {
    const int64_t tiles = sources.begin()->first, d = sources.begin()->second.back();
    const int64_t wanted = to.tiles[d];
    if (wanted == tiles) {
      remove(sources, tiles, d);
      remove(targets, tiles, d);
      continue;
    }
    const std::vector<int64_t>& others = sources[wanted];
    if (tiles != 1 && wanted % tiles != 0) return std::nullopt;
    // One that the swap helps too, if there is one.
    const auto better = absl::c_find_if(others, [&](int64_t other) {
      return tiles == 1 ? to.tiles[other] != 1 : to.tiles[other] == tiles;
    });
    const int64_t other = better == others.end() ? others.back() : *better;
    swaps.push_back({other, d});
    remove(targets, wanted, d);
    sources.begin()->second.back() = other;
    remove(sources, wanted, other);
  }
  return swaps;
}

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
  if (ByPermuteAlone(cut, target)) return ByPermute(shard, target);
  if (const auto dims = AllToAllDims(cut, target)) return ByAllToAll(shard, target, *dims);
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
  if (!same.empty() && MadeWhole(shard.cut(), same) == MadeWhole(target, same))
    return Array(w_.rewriter().Add(Opcode::kCopy, shard.value->shape(), {shard.value}), shard.whole,
                 target, shard.scope);
  IntPairs pairs;
  for (size_t k = 0; k < target.devices.size(); ++k)
    pairs.push_back({shard.cut().devices[k], target.devices[k]});
  return Array(writer_.Permute(shard.value, pairs, shard.scope), shard.whole, target, shard.scope);
}

Shard Sharder::ByAllToAll(Shard shard, const Cut& target,
                          absl::Span<const std::pair<int64_t, int64_t>> dims) {
  for (const auto& [source, goal] : dims) shard = SwapDims(shard, target, source, goal);
  if (shard.cut() == target) return shard;
  return ByPermute(shard, target);
}

// Gives the tiles that dimension `source` has more than `goal` to that one.
Shard Sharder::SwapDims(const Shard& shard, const Cut& target, int64_t source, int64_t goal) {
  const Cut& cut = shard.cut();
  const Shape& whole = shard.whole;
  const int64_t rank = whole.rank(), group = cut.tiles[source] / cut.tiles[goal];
  DimVector split, order, tiles = cut.tiles;
  int64_t from = -1, to = -1;
  for (size_t d = 0; d < cut.tiles.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    split.push_back(dim == source ? cut.tiles[d] / group : cut.tiles[d]);
    if (dim == source || dim == goal) {
      (dim == source ? from : to) = static_cast<int64_t>(split.size());
      split.push_back(dim == source ? group : 1);
    }
  }
  order.resize(split.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[from], order[to]);
  std::swap(tiles[source], tiles[goal]);
  Cut refined = cut;
  refined.tiles = split;
  refined.has_copies = false;
  const Cut swapped = Retiled(Transposed(refined, order), tiles, target.has_copies);
  // Rows of the goal dimension are padded so that each member of a group gets as many.
  Shape padded = whole, source_padded = whole;
  const auto round_up = [](int64_t size, int64_t unit) { return (size + unit - 1) / unit * unit; };
  padded.dims[goal] = round_up(whole.dims[goal], tiles[goal]);
  PaddingConfig padding(rank);
  padding[goal].high = padded.dims[goal] - PaddedSize(whole, cut, goal);
  Instruction* zero = writer_.Zero(whole.type);
  Instruction* x = shard.value;
  if (const auto windowed = ForPad(shard, padding, padded, cut, zero))
    x = PadLocally(*windowed, zero);
  DeviceGroups groups(swapped.devices.size() / group);
  swapped.ForEach([&](const DimVector& place, int64_t device) {
    int64_t g = 0;
    for (size_t d = 0; d < place.size(); ++d) {
      const int64_t unit = static_cast<int64_t>(d) == goal ? group : 1;
      g = g * (swapped.tiles[d] / unit) + place[d] / unit;
    }
    groups[g].push_back(device);
  });
  DimVector dims, permutation, result = x->shape().dims;
  for (int64_t d = 0; d < rank; ++d) {
    if (d == goal) dims.push_back(group);
    dims.push_back(d == goal ? x->shape().dims[d] / group : x->shape().dims[d]);
  }
  Instruction* exchanged = writer_.AllToAll(w_.Reshape(x, dims), groups, goal, shard.scope);
  const int64_t new_source = goal < source ? source + 1 : source;
  for (int64_t d = 0; d <= rank; ++d) {
    if (d == goal) continue;
    if (d == new_source) permutation.push_back(goal);
    permutation.push_back(d);
  }
  result[goal] /= group;
  result[source] *= group;
  Instruction* joined = w_.Reshape(w_.Transpose(exchanged, permutation), result);
  // What was padding of the source dimension is cut off.
  source_padded.dims[source] = PaddedSize(whole, cut, source);
  const int64_t kept = round_up(whole.dims[source], tiles[source]);
  const Shard made = Array(joined, source_padded, swapped, shard.scope);
  if (kept == source_padded.dims[source]) return Array(joined, whole, swapped, shard.scope);
  SliceSpec slice;
  for (int64_t d = 0; d < rank; ++d) slice.push_back({0, d == source ? kept : whole.dims[d], 1});
  if (const auto windowed = ForSlice(made, slice, swapped)) joined = SliceLocally(*windowed, slice);
  return Array(joined, whole, swapped, shard.scope);
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
  Shard from = ByPermuteAlone(shard.cut(), *like) ? ByPermute(shard, *like) : shard;
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
  return ByPermuteAlone(*like, target) ? ByPermute(made, target) : made;
}

// [2,3] to [1,2,3 copies] and back: the copied dimension is gathered, or cut, by itself.
std::optional<Shard> Sharder::CopiesByAllToAll(const Shard& shard, const Cut& target) {
  const bool from_copies = shard.cut().has_copies;
  const Cut& copied = from_copies ? shard.cut() : target;
  const Cut& tiled = from_copies ? target : shard.cut();
  if (!copied.has_copies || tiled.has_copies || !tiled.IsTiled() ||
      tiled.tiles.size() + 1 != copied.tiles.size() || copied.tiles[0] != 1 ||
      copied.devices != tiled.devices)
    return std::nullopt;
  int64_t last = -1;
  for (int64_t d = tiled.rank() - 1; d >= 0; --d) {
    if (tiled.tiles[d] > 1 && last < 0) {
      if (tiled.tiles[d] != copied.Copies()) return std::nullopt;
      last = d;
    }
    if (tiled.tiles[d] != copied.tiles[d + 1]) return std::nullopt;
  }
  if (last < 0) return std::nullopt;
  DimVector tiles = tiled.tiles;
  tiles[last] = 1;
  tiles.push_back(copied.Copies());
  const Cut between = Retiled(tiled, tiles, true);
  if (between.IsReplicated() || between == shard.cut() || between == target) return std::nullopt;
  if (from_copies) {
    const auto dims = AllToAllDims(shard.cut(), between);
    if (!dims) return std::nullopt;
    return To(ByAllToAll(shard, between, *dims), target);
  }
  const auto dims = AllToAllDims(between, target);
  if (!dims) return std::nullopt;
  return ByAllToAll(To(shard, between), target, *dims);
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
