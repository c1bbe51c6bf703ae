// Cuts that no single collective takes to each other are reached in steps: over a cut of the array
// with one of its dimensions split in two, or over one that keeps part of the copies.
//   devices=[2,4] -> [8,1]   the 4 tiles go to dimension 0: it is split in two parts, [2,1,4]
//   becomes
//                            [2,4,1] by an all-to-all, and the parts are one dimension again
//   devices=[8,1] -> [2,4]   the other way round: the minor 4 of dimension 0's tiles go to
//   dimension 1
// Cost: the collectives of the steps, each on arrays of a shard's size; nothing is ever whole.
#include <algorithm>
#include <numeric>

#include "absl/algorithm/container.h"
#include "passes/spmd/cut_groups.h"
#include "passes/spmd/sharder.h"

namespace hlokit {

// A dimension whose tiles go whole to another one that has some already: that one is split in two,
// of which the first keeps them.
std::optional<Shard> Sharder::BySplitDim(const Shard& shard, const Cut& target) {
  const Cut& cut = shard.cut();
  const int64_t rank = cut.rank();
  if (rank != target.rank() || cut.Copies() != target.Copies()) return std::nullopt;
  for (int64_t d = 0; d < rank; ++d) {
    if (cut.tiles[d] <= 1 || target.tiles[d] != 1) continue;
    std::vector<int64_t> candidates;
    for (int64_t j = d - 1; j >= 0; --j) candidates.push_back(j);
    for (int64_t j = d + 1; j < rank; ++j) candidates.push_back(j);
    for (const int64_t j : candidates) {
      if (target.tiles[j] == 1 || target.tiles[j] != cut.tiles[d] * cut.tiles[j] ||
          shard.value->shape().dims[j] % cut.tiles[d] != 0 ||
          PaddedSize(shard.whole, cut, j) != PaddedSize(shard.whole, target, j))
        continue;
      DimVector tiles = cut.tiles, sizes = shard.whole.dims, local = shard.value->shape().dims;
      tiles.insert(tiles.begin() + j + 1, 1);
      sizes.insert(sizes.begin() + j + 1, local[j]);
      sizes[j] = cut.tiles[j];
      local.insert(local.begin() + j, 1);
      Shape whole = shard.whole, part = shard.value->shape();
      whole = Shape::Array(whole.type, sizes).WithDefaultLayout();
      part = Shape::Array(part.type, local).WithDefaultLayout();
      const Shard split = Array(w_.rewriter().Reshape(shard.value, part), whole,
                                Retiled(cut, tiles, cut.has_copies), shard.scope);
      DimVector order(tiles.size() - (cut.has_copies ? 1 : 0));
      std::iota(order.begin(), order.end(), 0);
      std::swap(order[j + 1], order[d > j ? d + 1 : d]);
      Cut moved = Transposed(split.cut(), order);
      DimVector merged = moved.tiles;
      merged[j] *= merged[j + 1];
      merged.erase(merged.begin() + j + 1);
      // Where nothing else is to move, what is split is the target.
      if (merged == target.tiles) moved = Retiled(target, moved.tiles, target.has_copies);
      const Shard after = Reshard(split, moved, /*may_replicate=*/false);
      if (!(after.cut() == moved)) return std::nullopt;
      DimVector joined = after.value->shape().dims;
      joined[j] *= joined[j + 1];
      joined.erase(joined.begin() + j + 1);
      Instruction* value =
          w_.rewriter().Reshape(after.value, Shape::Array(part.type, joined).WithDefaultLayout());
      const Cut last = Retiled(moved, merged, moved.has_copies);
      return ToInParts(Array(value, shard.whole, last, shard.scope), target);
    }
  }
  return std::nullopt;
}

// The minor part of dimension d's tiles goes to other dimensions: d is split in two, of which the
// second has these tiles and the target none.
std::optional<Shard> Sharder::WithoutMinorTiles(const Shard& shard, const Cut& target, int64_t d) {
  const Cut& cut = shard.cut();
  const int64_t major = target.tiles[d], minor = cut.tiles[d] / major;
  DimVector tiles = cut.tiles, goal = target.tiles, sizes = shard.whole.dims;
  DimVector local = shard.value->shape().dims;
  tiles[d] = major;
  tiles.insert(tiles.begin() + d + 1, minor);
  goal.insert(goal.begin() + d + 1, 1);
  sizes[d] = major;
  sizes.insert(sizes.begin() + d + 1, shard.whole.dims[d] / major);
  local.insert(local.begin() + d, 1);
  const ElementType type = shard.whole.type;
  const Shard split =
      Array(w_.rewriter().Reshape(shard.value, RowMajor(type, local)), RowMajor(type, sizes),
            Retiled(cut, tiles, cut.has_copies), shard.scope);
  const Cut moved = Retiled(target, goal, target.has_copies);
  const Shard after = Reshard(split, moved, /*may_replicate=*/false);
  if (!(after.cut() == moved)) return std::nullopt;
  DimVector joined = after.value->shape().dims;
  joined[d] *= joined[d + 1];
  joined.erase(joined.begin() + d + 1);
  return Array(w_.rewriter().Reshape(after.value, RowMajor(type, joined)), shard.whole, target,
               shard.scope);
}

// A dimension gives some of its tiles to others and keeps the rest.
std::optional<Shard> Sharder::BySplitSource(const Shard& shard, const Cut& target) {
  const Cut& cut = shard.cut();
  if (cut.rank() != target.rank() || cut.Copies() != target.Copies() ||
      cut.has_copies != target.has_copies || !IsEven(cut, shard.whole))
    return std::nullopt;
  for (int64_t d = 0; d < cut.rank(); ++d) {
    const int64_t major = target.tiles[d];
    if (major == 1 || cut.tiles[d] <= major || cut.tiles[d] % major != 0) continue;
    if (auto made = WithoutMinorTiles(shard, target, d)) return made;
  }
  return std::nullopt;
}

namespace {

// How the members of `groups` hold a group's part under `cut`, whose own groups along `dims` have
// the same members in another order; nothing where they do not, or where groups differ in that.
std::optional<Cut> WithinReordered(const Cut& cut, const DimVector& dims,
                                   const DeviceGroups& groups) {
  Grouped own = GroupBy(cut, dims);
  if (own.groups.size() != groups.size() || !own.cut.IsTiled()) return std::nullopt;
  std::optional<Devices> order;
  for (size_t g = 0; g < groups.size(); ++g) {
    Devices places;
    for (const int64_t member : own.cut.devices) {
      const auto found = absl::c_find(groups[g], own.groups[g][member]);
      if (found == groups[g].end()) return std::nullopt;
      places.push_back(found - groups[g].begin());
    }
    if (order && *order != places) return std::nullopt;
    order = std::move(places);
  }
  own.cut.devices = *order;
  return own.cut;
}

// Its copies are the minor tiles of dimension d.
Cut WithCopiesAlong(const Cut& cut, int64_t d) {
  DimVector order(cut.rank()), tiles = cut.tiles;
  std::iota(order.begin(), order.end(), 0);
  order.insert(order.begin() + d + 1, cut.rank());
  tiles[d] *= tiles.back();
  tiles.pop_back();
  Cut plain = cut;
  plain.has_copies = false;
  return Retiled(Transposed(plain, order), tiles, false);
}

}  // namespace

// Dimensions along which both have as many tiles stay cut; within each group of devices along them
// the array is made whole and cut anew, and at last goes to the devices that shall have it.
std::optional<Shard> Sharder::InGroupsAlike(const Shard& shard, const Cut& target) {
  const Cut& cut = shard.cut();
  DimVector alike;
  for (int64_t d = 0; d < cut.rank(); ++d)
    if (cut.tiles[d] > 1 && cut.tiles[d] == target.Dim(d)) alike.push_back(d);
  if (alike.empty()) return std::nullopt;
  const Grouped from = GroupBy(cut, alike);
  const Cut inner =
      WithinReordered(target, alike, from.groups).value_or(GroupBy(target, alike).cut);
  DeviceScope* scope = writer_.Within(shard.scope, from.groups);
  Instruction* own = w_.Unary(Opcode::kCopy, shard.value);
  const Shape part = InGroup(shard.whole, cut, alike);
  const Shard made = To(Array(own, part, from.cut, scope), inner);
  const Cut outer = FromGroups(from.groups, alike, from.sizes, inner, cut.rank());
  const Shard moved = Array(made.value, shard.whole, outer, shard.scope);
  if (outer == target) return moved;
  return HaveSameTiles(outer, target) ? std::optional(ByPermute(moved, target)) : std::nullopt;
}

std::optional<Shard> Sharder::InSteps(const Shard& shard, const Cut& target) {
  if (auto made = BySplitDim(shard, target)) return made;
  if (auto made = BySplitSource(shard, target)) return made;
  const Cut& cut = shard.cut();
  const auto finish = [&](const Cut& between) -> std::optional<Shard> {
    if (between == cut || between.IsReplicated()) return std::nullopt;
    const Shard made = Reshard(To(shard, between), target, /*may_replicate=*/false);
    return made.cut() == target ? std::optional(made) : std::nullopt;
  };
  if (!cut.has_copies && target.has_copies)
    for (int64_t d = 0; d < cut.rank(); ++d)
      if (cut.tiles[d] > target.Copies() && cut.tiles[d] == target.tiles[d] * target.Copies())
        if (const auto made = ToInParts(shard, WithCopiesAlong(target, d)))
          return To(*made, target);
  if (target.has_copies && target.Copies() > cut.Copies()) {
    for (int64_t d = 0; d < cut.rank(); ++d)
      if (cut.tiles[d] > 1 && cut.tiles[d] * cut.Copies() == target.Copies())
        return finish(MadeWhole(cut, {d}));
    return std::nullopt;
  }
  if (!cut.has_copies || target.has_copies) return std::nullopt;
  // The copies are cut along a dimension first that the target cuts.
  for (int64_t d = 0; d < target.rank(); ++d) {
    if (cut.tiles[d] != 1 || target.tiles[d] == 1 || target.tiles[d] % cut.Copies() != 0) continue;
    DimVector order(cut.tiles.size());
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[d], order.back());
    Cut plain = cut;
    plain.has_copies = false;
    Cut between = Transposed(plain, order);
    between = Cut::Tiled(between.tiles, between.devices, true);
    return finish(between);
  }
  return std::nullopt;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
