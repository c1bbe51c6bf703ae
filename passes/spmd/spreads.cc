// The algebra of shardings. A tiled spread is an array of devices over its dimensions; what moves,
// joins or splits dimensions transposes or reshapes that array.
//   MovedTo([2,1]0,1, {1,-1}, 3)  ->  [1,2,1]0,1
//   MergeIfCompatible([2,1,2 copies]0,1,2,3 with [1,2,2 copies]0,2,1,3)  ->  [2,2]0,1,2,3
// Meshes named by axes and unreduced shardings are kept as text and go nowhere.
#include "passes/spmd/spreads.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "ops/collective/shards.h"
#include "ops/dim_lists.h"
#include "ops/evaluate/strided.h"

namespace hlokit {
namespace {

// The array of `dims` with its dimensions in another order.
std::vector<int64_t> Transposed(const std::vector<int64_t>& devices, absl::Span<const int64_t> dims,
                                absl::Span<const int64_t> order) {
  const size_t rank = dims.size();
  std::vector<int64_t> strides(rank, 1), index(rank, 0), made;
  for (size_t d = rank; d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  made.reserve(devices.size());
  for (size_t n = 0; n < devices.size(); ++n) {
    int64_t at = 0;
    for (size_t d = 0; d < rank; ++d) at += index[d] * strides[order[d]];
    made.push_back(devices[at]);
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < dims[order[d]]) break;
      index[d] = 0;
    }
  }
  return made;
}

// All dimensions of the array of devices.
DimVector AllDims(const Spread& s) {
  DimVector dims = s.tiles;
  dims.push_back(s.manual);
  dims.push_back(s.copies);
  return dims;
}

Spread Plain(Spread::Kind kind) {
  Spread s;
  s.kind = kind;
  return s;
}

// Sizes of the dimensions after those of the data, by type; nothing where a type is not known.
struct Subgroups {
  std::vector<int64_t> manual, copies;  // places among all dimensions
};
std::optional<Subgroups> SubgroupsOf(const Sharding& sharding, size_t rank) {
  Subgroups found;
  std::vector<std::string> types = sharding.last_tile_dims;
  if (sharding.last_tile_dim_replicate) types.push_back("replicated");
  if (types.size() + rank != sharding.tile_dims.size()) return std::nullopt;
  for (size_t k = 0; k < types.size(); ++k) {
    if (types[k] == "manual") {
      found.manual.push_back(rank + k);
    } else if (types[k] == "replicated") {
      found.copies.push_back(rank + k);
    } else {
      return std::nullopt;
    }
  }
  return found;
}

}  // namespace

Spread Tiled(DimVector tiles, int64_t manual, int64_t copies, std::vector<int64_t> devices) {
  if (manual == 1 && Product(tiles) == 1) return Spread();
  for (size_t k = 0; k < devices.size(); k += copies)
    std::sort(devices.begin() + k, devices.begin() + k + copies);
  Spread s = Plain(Spread::Kind::kTiled);
  s.tiles = std::move(tiles);
  s.manual = manual;
  s.copies = copies;
  s.devices = std::move(devices);
  return s;
}

Spread SpreadOf(const Sharding& sharding, const Shape& shape) {
  Spread other = Plain(Spread::Kind::kOther);
  other.other = sharding;
  switch (sharding.kind) {
    case Sharding::Kind::kReplicated:
      return Spread();
    case Sharding::Kind::kManual:
      return Plain(Spread::Kind::kManual);
    case Sharding::Kind::kMaximal: {
      Spread s = Plain(Spread::Kind::kMaximal);
      s.device = sharding.device;
      return s;
    }
    case Sharding::Kind::kTiled:
      break;
    default:
      return other;
  }
  const size_t rank = shape.IsArray() ? shape.rank() : 0;
  const auto subgroups = SubgroupsOf(sharding, rank);
  std::vector<int64_t> devices = DevicesOf(sharding);
  if (!subgroups || static_cast<int64_t>(devices.size()) != Product(sharding.tile_dims))
    return other;
  DimVector order(rank);
  std::iota(order.begin(), order.end(), 0);
  int64_t manual = 1, copies = 1;
  for (int64_t d : subgroups->manual) manual *= sharding.tile_dims[d], order.push_back(d);
  for (int64_t d : subgroups->copies) copies *= sharding.tile_dims[d], order.push_back(d);
  devices = Transposed(devices, sharding.tile_dims, order);
  DimVector tiles(sharding.tile_dims.begin(), sharding.tile_dims.begin() + rank);
  return Tiled(std::move(tiles), manual, copies, std::move(devices));
}

namespace {

// Arrays and tokens; of a tuple within a tuple that is empty there are none.
void AddLeaves(const Shape& shape, std::vector<const Shape*>& leaves) {
  if (!shape.IsTuple()) {
    leaves.push_back(&shape);
    return;
  }
  for (const Shape& element : shape.elements) AddLeaves(element, leaves);
}

// Elements of tuples within tuples may be written as a tree; in the end there is one list.
void Flatten(const Sharding& sharding, std::vector<const Sharding*>& list) {
  if (sharding.kind != Sharding::Kind::kTuple) {
    list.push_back(&sharding);
    return;
  }
  for (const Sharding& element : sharding.elements) Flatten(element, list);
}

}  // namespace

int64_t ArrayLeafCount(const Shape& shape) {
  std::vector<const Shape*> leaves;
  AddLeaves(shape, leaves);
  return static_cast<int64_t>(leaves.size());
}

int64_t LeafCount(const Shape& shape) { return std::max<int64_t>(ArrayLeafCount(shape), 1); }

Spreads SpreadsOf(const Sharding* sharding, const Shape& shape) {
  Spreads spreads;
  if (sharding == nullptr) return spreads;
  std::vector<const Shape*> leaves;
  AddLeaves(shape, leaves);
  if (leaves.empty()) leaves.push_back(&shape);
  std::vector<const Sharding*> list;
  Flatten(*sharding, list);
  for (size_t k = 0; k < leaves.size(); ++k) {
    const Sharding* own = sharding->kind != Sharding::Kind::kTuple ? sharding
                          : k < list.size()                        ? list[k]
                                                                   : nullptr;
    spreads.push_back(own != nullptr ? SpreadOf(*own, *leaves[k]) : Spread());
  }
  return spreads;
}

Sharding ShardingOf(const Spread& s) {
  Sharding sharding;
  switch (s.kind) {
    case Spread::Kind::kReplicated:
    case Spread::Kind::kUnknown:
      return sharding;
    case Spread::Kind::kMaximal:
      sharding.kind = Sharding::Kind::kMaximal;
      sharding.device = s.device;
      return sharding;
    case Spread::Kind::kManual:
      sharding.kind = Sharding::Kind::kManual;
      return sharding;
    case Spread::Kind::kOther:
      return s.other;
    case Spread::Kind::kTiled:
      break;
  }
  sharding.kind = Sharding::Kind::kTiled;
  sharding.tile_dims = s.tiles;
  if (s.manual > 1) sharding.tile_dims.push_back(s.manual);
  if (s.copies > 1) sharding.tile_dims.push_back(s.copies);
  if (s.manual > 1) {
    sharding.last_tile_dims.push_back("manual");
    if (s.copies > 1) sharding.last_tile_dims.push_back("replicated");
  } else {
    sharding.last_tile_dim_replicate = s.copies > 1;
  }
  SetDevices(s.devices, sharding);
  return sharding;
}

Sharding ShardingOf(const Spreads& spreads, const Shape& shape) {
  if (!shape.IsTuple()) return ShardingOf(spreads[0]);
  Sharding tuple;
  tuple.kind = Sharding::Kind::kTuple;
  for (const Spread& s : spreads) tuple.elements.push_back(ShardingOf(s));
  return tuple;
}

int64_t TileCount(const Spread& s) { return s.IsTiled() ? Product(s.tiles) : 1; }

Spread ReplicatedOn(const Spread& s, absl::Span<const int64_t> dims) {
  if (!s.IsTiled()) return s;
  const int64_t rank = s.tiles.size();
  DimVector order, tiles = s.tiles;
  int64_t copies = s.copies;
  for (int64_t d = 0; d < rank; ++d)
    if (!Contains(dims, d)) order.push_back(d);
  order.push_back(rank);
  for (int64_t d = 0; d < rank; ++d) {
    if (!Contains(dims, d)) continue;
    order.push_back(d);
    copies *= tiles[d];
    tiles[d] = 1;
  }
  order.push_back(rank + 1);
  return Tiled(std::move(tiles), s.manual, copies, Transposed(s.devices, AllDims(s), order));
}

Spread ReplicatedExcept(const Spread& s, absl::Span<const int64_t> dims) {
  DimVector others;
  for (size_t d = 0; d < s.tiles.size(); ++d)
    if (!Contains(dims, static_cast<int64_t>(d))) others.push_back(d);
  return ReplicatedOn(s, others);
}

Spread ReplicatedAll(const Spread& s, int64_t rank) {
  if (s.kind == Spread::Kind::kMaximal || s.IsManual()) return s;
  if (!s.IsTiled()) return Spread();
  Spread all = ReplicatedExcept(s, {});
  if (all.IsTiled()) all.tiles.assign(rank, 1);
  return all;
}

Spread MovedTo(const Spread& s, absl::Span<const int64_t> to, int64_t rank) {
  if (!s.IsTiled()) return s;
  DimVector gone;
  for (size_t d = 0; d < to.size(); ++d)
    if (to[d] < 0) gone.push_back(d);
  const Spread kept = ReplicatedOn(s, gone);
  if (!kept.IsTiled()) return kept;
  DimVector tiles(rank, 1), from(rank, -1), order;
  for (size_t d = 0; d < to.size(); ++d)
    if (to[d] >= 0) from[to[d]] = d;
  for (int64_t d = 0; d < rank; ++d) {
    if (from[d] < 0) continue;
    order.push_back(from[d]);
    tiles[d] = kept.tiles[from[d]];
  }
  // Dimensions of one tile that go nowhere stand wherever there is place.
  for (int64_t d : gone) order.push_back(d);
  order.push_back(to.size());
  order.push_back(to.size() + 1);
  return Tiled(std::move(tiles), kept.manual, kept.copies,
               Transposed(kept.devices, AllDims(kept), order));
}

Spread Reversed(const Spread& s, absl::Span<const int64_t> dims) {
  if (!s.IsTiled()) return s;
  const DimVector all = AllDims(s);
  std::vector<int64_t> devices;
  DimVector index(all.size(), 0);
  for (size_t n = 0; n < s.devices.size(); ++n) {
    int64_t at = 0;
    for (size_t d = 0; d < all.size(); ++d)
      at = at * all[d] +
           (Contains(dims, static_cast<int64_t>(d)) ? all[d] - 1 - index[d] : index[d]);
    devices.push_back(s.devices[at]);
    for (size_t d = all.size(); d-- > 0;) {
      if (++index[d] < all[d]) break;
      index[d] = 0;
    }
  }
  return Tiled(s.tiles, s.manual, s.copies, std::move(devices));
}

namespace {

// Tiles of the target, or the dimension of the source that keeps them from being told.
struct ReshapeResult {
  std::optional<DimVector> tiles;
  int64_t blocked = -1;
};

// One walk along both shapes, major dimensions first; what is left of a dimension that splits goes
// on as a dimension of its own.
ReshapeResult ReshapeTiles(const DimVector& from, const DimVector& tiles, const DimVector& to) {
  struct Piece {
    int64_t size, parts, dim;
  };
  std::vector<Piece> source;
  for (size_t d = from.size(); d-- > 0;)
    source.push_back({from[d], tiles[d], static_cast<int64_t>(d)});
  std::vector<int64_t> target(to.rbegin(), to.rend());
  DimVector made;
  const auto blocked = [](const Piece& p) { return ReshapeResult{std::nullopt, p.dim}; };
  while (!source.empty() || !target.empty()) {
    Piece s{1, 1, source.empty() ? -1 : source.back().dim};
    int64_t t = 1;
    if (!source.empty()) s = source.back(), source.pop_back();
    if (!target.empty()) t = target.back(), target.pop_back();
    if (s.size == t) {
      made.push_back(s.parts);
    } else if (t == 1) {
      made.push_back(1);
      source.push_back(s);
    } else if (s.size == 1) {
      if (s.parts > 1) return blocked(s);
      target.push_back(t);
    } else if (s.size > t) {
      if (s.parts == 1 && s.size % t == 0) {
        made.push_back(1);
        source.push_back({s.size / t, 1, s.dim});
        continue;
      }
      if (s.size % s.parts != 0 || s.size % t != 0)
        return s.parts > 1 ? blocked(s) : ReshapeResult{};
      const bool fits = t % s.parts == 0;
      if (!fits && s.parts % t != 0) return blocked(s);
      made.push_back(fits ? s.parts : t);
      source.push_back({s.size / t, fits ? 1 : s.parts / t, s.dim});
    } else {
      if (s.parts > 1 && s.size % s.parts != 0) return blocked(s);
      if (source.empty()) return {};
      Piece next = source.back();
      source.pop_back();
      if (next.parts != 1 && s.size != s.parts) return blocked(next);
      source.push_back({s.size * next.size, s.parts * next.parts, s.parts > 1 ? s.dim : next.dim});
      target.push_back(t);
    }
  }
  made.resize(to.size(), 1);
  return {made, -1};
}

}  // namespace

Spread Reshaped(const Spread& s, const Shape& from, const Shape& to) {
  if (!s.IsTiled() || from.ElementCount() == 0) return ReplicatedAll(s, to.rank());
  Spread kept = s;
  for (int64_t tries = 0; tries <= from.rank() && kept.IsTiled(); ++tries) {
    const ReshapeResult result = ReshapeTiles(from.dims, kept.tiles, to.dims);
    if (result.tiles && Product(*result.tiles) == Product(kept.tiles))
      return Tiled(*result.tiles, kept.manual, kept.copies, kept.devices);
    if (result.blocked < 0) break;
    kept = ReplicatedOn(kept, {result.blocked});
  }
  return ReplicatedAll(s, to.rank());
}

bool IsMoreSpecific(const Spread& a, const Spread& b) {
  if (a.kind == Spread::Kind::kUnknown) return false;
  if (b.kind == Spread::Kind::kUnknown) return true;
  if (a.IsManual() && b.IsTileMaximal()) return true;
  if (a.IsManual() || b.IsManual()) return false;
  if (!b.IsTileMaximal()) return TileCount(a) > TileCount(b);
  return b.IsReplicated() ? !a.IsReplicated() : !a.IsTileMaximal();
}

bool IsMoreSpecific(const Spreads& a, const Spreads& b) {
  bool better = false;
  for (size_t k = 0; k < a.size() && k < b.size(); ++k) {
    if (IsMoreSpecific(b[k], a[k])) return false;
    better |= IsMoreSpecific(a[k], b[k]);
  }
  return better;
}

namespace {

// Who holds the tile at `index`, in the manual group `group`.
std::set<int64_t> HoldersAt(const Spread& s, absl::Span<const int64_t> index, int64_t group) {
  int64_t at = 0;
  for (size_t d = 0; d < s.tiles.size(); ++d)
    at = at * s.tiles[d] + (s.tiles[d] == 1 ? 0 : index[d]);
  const auto begin = s.devices.begin() + (at * s.manual + group) * s.copies;
  return std::set<int64_t>(begin, begin + s.copies);
}

}  // namespace

bool MergeIfCompatible(const Spread& other, int64_t least, Spread& into) {
  if (!other.IsTiled()) return false;
  if (into.IsTileMaximal()) {
    into = other;
    return true;
  }
  if (!into.IsTiled() || into.copies == 1 || into.manual != other.manual ||
      into.tiles.size() != other.tiles.size() || into.devices.size() != other.devices.size())
    return false;
  DimVector tiles;
  for (size_t d = 0; d < into.tiles.size(); ++d) {
    const int64_t a = into.tiles[d], b = other.tiles[d];
    if (a != b && a != 1 && b != 1) return false;
    tiles.push_back(std::max(a, b));
  }
  const int64_t count = Product(tiles) * into.manual, devices = into.devices.size();
  if (devices % count != 0 || count / into.manual < least) return false;
  const size_t copies = devices / count;
  std::vector<int64_t> made;
  DimVector index(tiles.size(), 0);
  for (int64_t n = 0; n < count / into.manual; ++n) {
    for (int64_t group = 0; group < into.manual; ++group) {
      const std::set<int64_t> a = HoldersAt(into, index, group), b = HoldersAt(other, index, group);
      std::vector<int64_t> both;
      std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
      if (both.size() != copies) return false;
      made.insert(made.end(), both.begin(), both.end());
    }
    for (size_t d = tiles.size(); d-- > 0;) {
      if (++index[d] < tiles[d]) break;
      index[d] = 0;
    }
  }
  into = Tiled(std::move(tiles), into.manual, copies, std::move(made));
  return true;
}

bool Merge(const Spread& old, Spread& made, bool combine) {
  if (combine && old.IsTiled() && made.IsTiled() && old.copies > 1 && made.copies > 1 &&
      old.devices.size() == made.devices.size() &&
      MergeIfCompatible(old, std::max(TileCount(old), TileCount(made)) + 1, made))
    return true;
  return IsMoreSpecific(made, old);
}

bool Merge(const Spreads& old, Spreads& made, bool combine) {
  bool better = false;
  for (size_t k = 0; k < made.size() && k < old.size(); ++k) {
    const bool own = Merge(old[k], made[k], combine);
    if (!own && made.size() > 1) made[k] = old[k];
    better |= own;
  }
  return better;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
