// Brings shards from one cut to another whose tiles lie along other dimensions, by all-to-alls.
//   devices=[4,1] -> [1,4]       reshape, all-to-all, transpose, reshape
//   devices=[4,1,2] -> [1,8,1]   the tiles of both dimensions in one all-to-all, where sizes divide
#include <algorithm>
#include <map>
#include <numeric>

#include "absl/algorithm/container.h"
#include "passes/spmd/sharder.h"

namespace hlokit {
namespace {

using DimPairs = std::vector<std::pair<int64_t, int64_t>>;

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

}  // namespace

namespace {

// Whether the pairs of dimensions (source, goal) have nothing to do with each other and both cuts
// divide all sizes, so that one all-to-all can move the tiles of all of them.
bool MayMoveTogether(const Shape& whole, const Cut& from, const Cut& to,
                     absl::Span<const std::pair<int64_t, int64_t>> dims) {
  if (dims.size() < 2 || !IsEven(from, whole) || !IsEven(to, whole)) return false;
  std::vector<bool> seen(whole.rank());
  for (const auto& [source, goal] : dims) {
    if (seen[source] || seen[goal] || from.tiles[source] % from.tiles[goal] != 0) return false;
    seen[source] = seen[goal] = true;
  }
  return true;
}

// The cut after each pair of dimensions has swapped its tiles: those that a source has more than
// its goal become the goal's minor ones.
Cut Swapped(const Cut& cut, absl::Span<const std::pair<int64_t, int64_t>> dims, bool has_copies) {
  DimVector split, order, tiles = cut.tiles, minor(cut.tiles.size(), -1), unit(cut.tiles.size(), 1);
  for (const auto& [source, goal] : dims) {
    unit[source] = cut.tiles[source] / cut.tiles[goal];
    std::swap(tiles[source], tiles[goal]);
  }
  for (size_t d = 0; d < cut.tiles.size(); ++d) {
    split.push_back(cut.tiles[d] / unit[d]);
    if (absl::c_none_of(dims, [&](const auto& pair) {
          return pair.first == static_cast<int64_t>(d) || pair.second == static_cast<int64_t>(d);
        }))
      continue;
    minor[d] = static_cast<int64_t>(split.size());
    split.push_back(unit[d]);
  }
  order.resize(split.size());
  std::iota(order.begin(), order.end(), 0);
  for (const auto& [source, goal] : dims) std::swap(order[minor[source]], order[minor[goal]]);
  Cut refined = cut;
  refined.tiles = std::move(split);
  refined.has_copies = false;
  return Retiled(Transposed(refined, order), std::move(tiles), has_copies);
}

}  // namespace

// Dimension k of the new first ones numbers the parts of the k-th goal; they become one dimension
// that the devices exchange.
Shard Sharder::SwapSeveral(const Shard& shard, const Cut& target,
                           std::vector<std::pair<int64_t, int64_t>> dims) {
  absl::c_sort(dims, [](const auto& a, const auto& b) { return a.second < b.second; });
  const Cut& cut = shard.cut();
  const Cut swapped = Swapped(cut, dims, target.has_copies);
  const int64_t rank = shard.whole.rank(), count = static_cast<int64_t>(dims.size());
  DimVector unit(swapped.tiles.size(), 1), split, parts, rest, front, merged, back, result;
  std::vector<int64_t> before(rank, -1);  // which part goes before a dimension, at the end
  int64_t group = 1;
  for (int64_t k = 0; k < count; ++k) {
    const auto& [source, goal] = dims[k];
    unit[goal] = cut.tiles[source] / cut.tiles[goal];
    group *= unit[goal];
    before[source] = k;
  }
  result = shard.value->shape().dims;
  merged.push_back(group);
  for (int64_t d = 0; d < rank; ++d) {
    if (unit[d] > 1) {
      parts.push_back(static_cast<int64_t>(split.size()));
      split.push_back(unit[d]);
      front.push_back(unit[d]);
    }
    rest.push_back(static_cast<int64_t>(split.size()));
    result[d] /= unit[d];
    split.push_back(result[d]);
    merged.push_back(result[d]);
  }
  DimVector permutation = parts;
  permutation.insert(permutation.end(), rest.begin(), rest.end());
  front.insert(front.end(), merged.begin() + 1, merged.end());
  Instruction* x = w_.Transpose(w_.Reshape(shard.value, split), permutation);
  DeviceGroups groups(swapped.devices.size() / group);
  swapped.ForEach([&](const DimVector& place, int64_t device) {
    int64_t g = 0;
    for (size_t d = 0; d < place.size(); ++d)
      g = g * (swapped.tiles[d] / unit[d]) + place[d] / unit[d];
    groups[g].push_back(device);
  });
  x = writer_.AllToAll(w_.Reshape(x, merged), groups, 0, shard.scope);
  for (int64_t d = 0; d < rank; ++d) {
    if (before[d] >= 0) back.push_back(before[d]);
    back.push_back(count + d);
    if (before[d] >= 0) result[d] *= unit[dims[before[d]].second];
  }
  x = w_.Reshape(w_.Transpose(w_.Reshape(x, front), back), result);
  return Array(x, shard.whole, swapped, shard.scope);
}

std::optional<Shard> Sharder::ByAllToAll(Shard shard, const Cut& target) {
  const auto dims = AllToAllDims(shard.cut(), target);
  if (!dims) return std::nullopt;
  if (MayMoveTogether(shard.whole, shard.cut(), target, *dims))
    shard = SwapSeveral(shard, target, *dims);
  else
    for (const auto& [source, goal] : *dims) shard = SwapDims(shard, target, source, goal);
  return shard.cut() == target ? shard : ByPermute(shard, target);
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
  if (!from_copies)
    return AllToAllDims(between, target) ? ByAllToAll(To(shard, between), target) : std::nullopt;
  const auto made = ByAllToAll(shard, between);
  return made ? std::optional(To(*made, target)) : std::nullopt;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
