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
      const Cut moved = Transposed(split.cut(), order);
      const Shard after = Reshard(split, moved, /*may_replicate=*/false);
      if (!(after.cut() == moved)) return std::nullopt;
      DimVector merged = moved.tiles, joined = after.value->shape().dims;
      merged[j] *= merged[j + 1];
      merged.erase(merged.begin() + j + 1);
      joined[j] *= joined[j + 1];
      joined.erase(joined.begin() + j + 1);
      Instruction* value =
          w_.rewriter().Reshape(after.value, Shape::Array(part.type, joined).WithDefaultLayout());
      const Shard made =
          Array(value, shard.whole, Retiled(moved, merged, moved.has_copies), shard.scope);
      const Shard last = Reshard(made, target, /*may_replicate=*/false);
      if (last.cut() == target) return last;
      return std::nullopt;
    }
  }
  return std::nullopt;
}

// The minor part of dimension d's tiles goes to dimension j: d is split in two, of which the second
// has these tiles.
std::optional<Shard> Sharder::MinorTilesTo(const Shard& shard, const Cut& target, int64_t d,
                                           int64_t j) {
  const Cut& cut = shard.cut();
  const int64_t major = target.tiles[d], minor = cut.tiles[d] / major;
  DimVector tiles = cut.tiles, sizes = shard.whole.dims, local = shard.value->shape().dims;
  tiles[d] = major;
  tiles.insert(tiles.begin() + d + 1, minor);
  sizes[d] = major;
  sizes.insert(sizes.begin() + d + 1, shard.whole.dims[d] / major);
  local.insert(local.begin() + d, 1);
  const ElementType type = shard.whole.type;
  const Shard split =
      Array(w_.rewriter().Reshape(shard.value, RowMajor(type, local)), RowMajor(type, sizes),
            Retiled(cut, tiles, cut.has_copies), shard.scope);
  // Dimension j's own tiles stay the major ones.
  const int64_t from = d + 1, to = j > d ? j + 1 : j;
  DimVector order;
  for (int64_t k = 0; k < static_cast<int64_t>(tiles.size()); ++k) {
    if (k == from) continue;
    order.push_back(k);
    if (k == to) order.push_back(from);
  }
  Cut plain = split.cut();
  plain.has_copies = false;
  DimVector moved_tiles = tiles;
  moved_tiles[to] *= minor;
  moved_tiles[from] = 1;
  const Cut moved = Retiled(Transposed(plain, order), moved_tiles, cut.has_copies);
  const Shard after = Reshard(split, moved, /*may_replicate=*/false);
  if (!(after.cut() == moved)) return std::nullopt;
  DimVector joined = after.value->shape().dims, merged = moved_tiles;
  joined[d] *= joined[from];
  joined.erase(joined.begin() + from);
  merged.erase(merged.begin() + from);
  return Array(w_.rewriter().Reshape(after.value, RowMajor(type, joined)), shard.whole,
               Retiled(moved, merged, cut.has_copies), shard.scope);
}

// A dimension gives some of its tiles to another one and keeps the rest.
std::optional<Shard> Sharder::BySplitSource(const Shard& shard, const Cut& target) {
  const Cut& cut = shard.cut();
  const int64_t rank = cut.rank();
  if (rank != target.rank() || cut.Copies() != target.Copies() ||
      cut.has_copies != target.has_copies || !IsEven(cut, shard.whole))
    return std::nullopt;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t major = target.tiles[d];
    if (major == 1 || cut.tiles[d] == major || cut.tiles[d] % major != 0) continue;
    for (int64_t j = 0; j < rank; ++j) {
      if (j == d || target.tiles[j] != cut.tiles[j] * (cut.tiles[d] / major) ||
          shard.whole.dims[j] % target.tiles[j] != 0)
        continue;
      const auto moved = MinorTilesTo(shard, target, d, j);
      if (!moved) continue;
      const Shard last = Reshard(*moved, target, /*may_replicate=*/false);
      if (last.cut() == target) return last;
    }
  }
  return std::nullopt;
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
  if (!cut.has_copies && target.has_copies) {
    for (int64_t d = 0; d < cut.rank(); ++d)
      if (cut.tiles[d] == target.Copies()) return finish(MadeWhole(cut, {d}));
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
