// Shardings as tilings: which tile of an array each device holds.
//
// A tiling says into how many tiles each dimension is cut, and tile_of[device]. Devices may share a
// tile (replication). A sharding lists devices in the row-major order of the tiles, the last
// dimensions being replication or manual groups:
//   f32[8,6], devices=[2,1,2]0,1,2,3 last_tile_dim_replicate:
//     devices 0 and 1 hold rows 0-3, devices 2 and 3 rows 4-7
// A dimension that does not divide is padded: tiles have the size rounded up, the last one is
// shorter.
#include "ops/collective/shards.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

#include "ir/module.h"
#include "ops/collective/sdy_internal.h"
#include "ops/evaluate/movement.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr absl::string_view kMarkers[] = {"SPMDFullToShardShape", "SPMDShardToFullShape",
                                          "xla.sdy.GlobalToLocalShape",
                                          "xla.sdy.LocalToGlobalShape"};

// The attribute's text, or null.
const std::string* Attribute(const Instruction& instruction, absl::string_view key) {
  for (const auto& [name, value] : instruction.extras().frontend_attributes)
    if (name == key) return &value;
  return nullptr;
}

absl::StatusOr<std::vector<SdyMesh>> MeshesOf(const Module& module) {
  for (const auto& [name, value] : module.header().frontend_attributes)
    if (name == "xla.sdy.meshes") return ReadSdyMeshes(value);
  return std::vector<SdyMesh>();
}

// Devices in the order of the tiles.
}  // namespace

std::vector<int64_t> DevicesOf(const Sharding& sharding) {
  if (!sharding.iota) return sharding.devices;
  DimVector perm = sharding.transpose_perm;
  if (perm.empty()) {
    perm.resize(sharding.reshape_dims.size());
    std::iota(perm.begin(), perm.end(), 0);
  }
  int64_t count = 1;
  for (int64_t size : sharding.reshape_dims) count *= size;
  DimVector strides(perm.size(), 1);
  for (int64_t d = static_cast<int64_t>(perm.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * sharding.reshape_dims[d + 1];
  std::vector<int64_t> devices(count);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (auto d = perm.rbegin(); d != perm.rend(); ++d) {
      devices[i] += rest % sharding.reshape_dims[*d] * strides[*d];
      rest /= sharding.reshape_dims[*d];
    }
  }
  return devices;
}

namespace {

// Tile `tile` of the array: where it starts, and how much of it lies inside.
void Locate(const Tiling& tiling, int64_t tile, const DimVector& whole, const DimVector& part,
            DimVector& starts, DimVector& sizes) {
  for (int64_t d = static_cast<int64_t>(whole.size()) - 1; d >= 0; --d) {
    const int64_t start = tile % tiling.tiles[d] * part[d];
    starts[d] = std::min(start, whole[d]);
    sizes[d] = std::min(part[d], whole[d] - starts[d]);
    tile /= tiling.tiles[d];
  }
}

std::vector<const Shape*> ArraysOf(const Shape& shape) {
  std::vector<const Shape*> arrays;
  for (const ShapeLeaf& leaf : Leaves(shape))
    if (!leaf.shape->IsToken()) arrays.push_back(leaf.shape);
  return arrays;
}

// Where element `leaf` of a tuple was made, through tuples and what picks from them.
const Instruction* MakerOf(const Instruction* value, int64_t leaf) {
  while (value->sharding() == nullptr) {
    if (value->opcode() == Opcode::kTuple && leaf < value->operand_count() &&
        value->operand(leaf)->shape().IsArray()) {
      value = value->operand(leaf);
    } else if (value->opcode() == Opcode::kGetTupleElement && value->shape().IsArray() &&
               value->operand(0)->opcode() == Opcode::kTuple) {
      leaf = value->tuple_index();
      value = value->operand(0);
      if (leaf >= value->operand_count()) break;
    } else {
      break;
    }
  }
  return value;
}

}  // namespace

namespace {

// mesh['x'=2,'y'=2], [{'x'}, {}], replicated={'y'}: the same in Shardy's words.
absl::StatusOr<Tiling> NamedTiling(const Sharding& sharding, const Shape& shape, int64_t devices) {
  if (absl::EndsWith(sharding.text, "], replicated")) return WholeOn(shape, devices);
  const std::string text = absl::StrReplaceAll(sharding.text, {{"'", "\""}});
  const size_t axes = text.find("mesh["), end = text.find(']'), dims = text.find(", [");
  if (axes != 0 || end == std::string::npos || dims != end + 1 ||
      text.find("manual") != std::string::npos || text.find("unreduced") != std::string::npos)
    return Unimplemented("cutting an array by sharding ", sharding.text);
  ASSIGN_OR_RETURN(
      const std::vector<SdyMesh> meshes,
      ReadSdyMeshes(absl::StrCat("{mesh = #sdy.mesh<", text.substr(4, end - 3), ">}")));
  ASSIGN_OR_RETURN(
      const std::vector<SdySharding> read,
      ReadSdyShardings(absl::StrCat("#sdy.sharding<@mesh, ", text.substr(dims + 2), ">"), meshes));
  if (read.size() != 1) return InvalidArgument("a sharding is not read: ", sharding.text);
  return TilingOf(read[0], shape, devices, nullptr);
}

}  // namespace

absl::StatusOr<Tiling> TilingOf(const Sharding& sharding, const Shape& shape, int64_t devices) {
  if (sharding.kind == Sharding::Kind::kText) return NamedTiling(sharding, shape, devices);
  if (sharding.kind == Sharding::Kind::kTuple)
    return Unimplemented("cutting an array by sharding ", sharding.text);
  // Devices hold terms of a sum, and nothing says which.
  const auto& kinds = sharding.last_tile_dims;
  if (sharding.kind == Sharding::Kind::kUnreduced ||
      std::find(kinds.begin(), kinds.end(), "unreduced") != kinds.end())
    return Unimplemented("cutting an array that is unreduced");
  if (sharding.kind != Sharding::Kind::kTiled) return WholeOn(shape, devices);
  if (static_cast<int64_t>(sharding.tile_dims.size()) < shape.rank())
    return InvalidArgument("a sharding of ", sharding.tile_dims.size(), " dimensions for ",
                           Text(shape));
  Tiling tiling = WholeOn(shape, devices);
  std::copy_n(sharding.tile_dims.begin(), shape.rank(), tiling.tiles.begin());
  int64_t copies = 1;
  for (size_t d = shape.rank(); d < sharding.tile_dims.size(); ++d) copies *= sharding.tile_dims[d];
  const std::vector<int64_t> order = DevicesOf(sharding);
  if (static_cast<int64_t>(order.size()) != devices)
    return InvalidArgument("a sharding over ", order.size(), " devices, the module runs on ",
                           devices);
  for (int64_t i = 0; i < devices; ++i) {
    if (order[i] < 0 || order[i] >= devices)
      return InvalidArgument("a sharding names device ", order[i], " of ", devices);
    tiling.tile_of[order[i]] = i / copies;
  }
  return tiling;
}

absl::StatusOr<std::vector<Tiling>> StatedTilings(const Instruction& instruction,
                                                  absl::string_view key,
                                                  absl::Span<const Shape* const> shapes,
                                                  int64_t devices) {
  std::vector<Tiling> tilings;
  if (const std::string* text = Attribute(instruction, key)) {
    ASSIGN_OR_RETURN(const std::vector<SdyMesh> meshes, MeshesOf(*instruction.module()));
    ASSIGN_OR_RETURN(const auto shardings, ReadSdyShardings(*text, meshes));
    const std::string* manual = Attribute(instruction, "xla.sdy.manual_axes");
    std::vector<std::string> axes;
    if (manual != nullptr) {
      ASSIGN_OR_RETURN(axes, ReadSdyManualAxes(*manual));
    }
    if (shardings.size() != shapes.size())
      return InvalidArgument(shardings.size(), " shardings for ", shapes.size(), " arrays");
    for (size_t i = 0; i < shapes.size(); ++i) {
      ASSIGN_OR_RETURN(Tiling tiling, TilingOf(shardings[i], *shapes[i], devices,
                                               manual != nullptr ? &axes : nullptr));
      tilings.push_back(std::move(tiling));
    }
    return tilings;
  }
  const Sharding* sharding = instruction.sharding();
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Sharding* own = sharding;
    if (sharding != nullptr && sharding->kind == Sharding::Kind::kTuple) {
      if (i >= sharding->elements.size())
        return InvalidArgument("no sharding for element ", i, " of ", Text(instruction.shape()));
      own = &sharding->elements[i];
    }
    ASSIGN_OR_RETURN(Tiling tiling, own == nullptr ? WholeOn(*shapes[i], devices)
                                                   : TilingOf(*own, *shapes[i], devices));
    tilings.push_back(std::move(tiling));
  }
  return tilings;
}

std::vector<int64_t> ManualGroupsOf(const Sharding& sharding, int64_t devices) {
  const auto& kinds = sharding.last_tile_dims;
  const size_t rank = sharding.tile_dims.size() - std::min(kinds.size(), sharding.tile_dims.size());
  const std::vector<int64_t> order = DevicesOf(sharding);
  if (std::find(kinds.begin(), kinds.end(), "manual") == kinds.end() ||
      static_cast<int64_t>(order.size()) != devices)
    return {};
  std::vector<int64_t> groups(devices, 0);
  for (int64_t i = 0; i < devices; ++i) {
    int64_t rest = i, group = 0, scale = 1;
    for (size_t k = kinds.size(); k-- > 0; rest /= sharding.tile_dims[rank + k]) {
      if (kinds[k] != "manual") continue;
      group += rest % sharding.tile_dims[rank + k] * scale;
      scale *= sharding.tile_dims[rank + k];
    }
    if (order[i] < 0 || order[i] >= devices) return {};
    groups[order[i]] = group;
  }
  return groups;
}

absl::StatusOr<std::vector<std::string>> StatedManualAxes(const Instruction& marker) {
  const std::string* text = Attribute(marker, "xla.sdy.manual_axes");
  if (text == nullptr) return std::vector<std::string>();
  return ReadSdyManualAxes(*text);
}

absl::StatusOr<std::vector<int64_t>> ManualGroupsOf(const Instruction& marker,
                                                    absl::string_view key,
                                                    const std::vector<std::string>& axes,
                                                    int64_t devices) {
  ASSIGN_OR_RETURN(const std::vector<SdyMesh> meshes, MeshesOf(*marker.module()));
  const std::string* text = Attribute(marker, key);
  if (text == nullptr) return InvalidArgument(marker.name(), ": no ", key);
  ASSIGN_OR_RETURN(auto shardings, ReadSdyShardings(*text, meshes));
  // Without operands the marker names no mesh; there is but one then.
  SdySharding by_axes;
  if (!shardings.empty()) by_axes.mesh = shardings[0].mesh;
  if (shardings.empty() && !meshes.empty()) by_axes.mesh = meshes[0];
  by_axes.dimensions.emplace_back();
  for (const auto& [name, size] : by_axes.mesh.axes)
    if (axes.empty() || std::find(axes.begin(), axes.end(), name) != axes.end())
      by_axes.dimensions[0].push_back({name});
  ASSIGN_OR_RETURN(Tiling tiling, TilingOf(by_axes, Shape::Array(ElementType::kPred, {devices}),
                                           devices, nullptr));
  return std::move(tiling.tile_of);
}

Tiling CoarserBy(const Tiling& tiling, const Tiling& finer) {
  Tiling coarse = tiling;
  for (size_t d = 0; d < tiling.tiles.size(); ++d) coarse.tiles[d] /= finer.tiles[d];
  for (int64_t& tile : coarse.tile_of) {
    int64_t rest = tile, number = 0, scale = 1;
    for (size_t d = tiling.tiles.size(); d-- > 0; rest /= tiling.tiles[d]) {
      number += rest % tiling.tiles[d] / finer.tiles[d] * scale;
      scale *= coarse.tiles[d];
    }
    tile = number;
  }
  return coarse;
}

Shape ShardShape(const Shape& whole, const Tiling& tiling) {
  Shape part = whole;
  for (int64_t d = 0; d < whole.rank(); ++d)
    part.dims[d] = (whole.dims[d] + tiling.tiles[d] - 1) / tiling.tiles[d];
  return part;
}

void ShardBox(const DimVector& whole, const Tiling& tiling, int64_t device, DimVector& starts,
              DimVector& sizes) {
  const Shape shard = ShardShape(Shape::Array(ElementType::kPred, whole), tiling);
  starts.assign(whole.size(), 0);
  sizes.assign(whole.size(), 0);
  Locate(tiling, tiling.tile_of[device], whole, shard.dims, starts, sizes);
}

Literal ShardOf(const Literal& whole, const Tiling& tiling, int64_t device) {
  const Shape shape = ShardShape(whole.shape(), tiling);
  DimVector starts(shape.rank(), 0), sizes(shape.rank(), 0), origin(shape.rank(), 0);
  Locate(tiling, tiling.tile_of[device], whole.shape().dims, shape.dims, starts, sizes);
  Literal shard(shape);
  PlaceBox(SliceBox(whole, starts, sizes), origin, shard);
  return shard;
}

Literal WithoutPadding(const Literal& shard, const Shape& whole, const Tiling& tiling,
                       int64_t device) {
  const Shape& shape = shard.shape();
  DimVector starts(shape.rank(), 0), sizes(shape.rank(), 0), origin(shape.rank(), 0);
  Locate(tiling, tiling.tile_of[device], whole.dims, shape.dims, starts, sizes);
  Literal kept(shape);
  PlaceBox(SliceBox(shard, origin, sizes), origin, kept);
  return kept;
}

Literal JoinShards(const Shape& whole, const Tiling& tiling,
                   absl::Span<const Literal* const> shards, int64_t device) {
  const Shape shape = ShardShape(whole, tiling);
  DimVector starts(shape.rank(), 0), sizes(shape.rank(), 0), origin(shape.rank(), 0);
  Literal joined(whole);
  const auto place = [&](int64_t d) {
    Locate(tiling, tiling.tile_of[d], whole.dims, shape.dims, starts, sizes);
    PlaceBox(SliceBox(*shards[d], origin, sizes), starts, joined);
  };
  for (int64_t d = static_cast<int64_t>(shards.size()) - 1; d >= 0; --d)
    if (d != device) place(d);
  place(device);
  return joined;
}

bool HasManualRegions(const Module& module) {
  for (const Computation* computation : module.Computations())
    for (const Instruction* i : computation->Instructions()) {
      if (i->opcode() != Opcode::kCustomCall) continue;
      const absl::string_view target = i->attr<CustomCallAttrs>().target;
      if (std::find(std::begin(kMarkers), std::end(kMarkers), target) != std::end(kMarkers))
        return true;
    }
  return false;
}

bool SaysHowToCut(const Instruction& instruction) {
  const auto cuts = [](const Instruction* i) {
    if (i->opcode() != Opcode::kCustomCall || i->operand_count() != 1) return false;
    const std::string& target = i->attr<CustomCallAttrs>().target;
    return (target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape") &&
           !SameIgnoringLayout(i->shape(), i->operand(0)->shape());
  };
  return cuts(&instruction) ||
         std::any_of(instruction.users().begin(), instruction.users().end(), cuts);
}

namespace {

// Of the meshes that Shardy's attributes spell out where they use them.
int64_t DevicesOfOwnMeshes(const Instruction& i) {
  int64_t devices = 1;
  for (const absl::string_view key :
       {"xla.sdy.sharding", "xla.sdy.in_shardings", "xla.sdy.out_shardings"}) {
    const std::string* text = Attribute(i, key);
    if (text == nullptr || text->find("mesh<") == std::string::npos) continue;
    const auto shardings = ReadSdyShardings(*text, {});
    if (!shardings.ok()) continue;
    for (const SdySharding& sharding : *shardings)
      devices = std::max(devices, sharding.mesh.size());
  }
  return devices;
}

}  // namespace

int64_t DevicesNamed(const Module& module) {
  int64_t devices = 1;
  if (const auto meshes = MeshesOf(module); meshes.ok())
    for (const SdyMesh& mesh : *meshes) devices = std::max(devices, mesh.size());
  if (devices > 1 || module.entry() == nullptr) return devices;
  for (const Instruction* i : module.entry()->Instructions()) {
    if (i->sharding() != nullptr && i->sharding()->kind == Sharding::Kind::kTiled)
      devices = std::max<int64_t>(devices, DevicesOf(*i->sharding()).size());
    devices = std::max(devices, DevicesOfOwnMeshes(*i));
  }
  return devices;
}

absl::StatusOr<std::vector<Tiling>> ParameterTilings(const Instruction& parameter,
                                                     int64_t devices) {
  const absl::string_view key = parameter.sharding() != nullptr ? "" : "xla.sdy.sharding";
  return StatedTilings(parameter, key, ArraysOf(parameter.shape()), devices);
}

namespace {

bool IsMarker(const Instruction& i, absl::string_view target) {
  return i.opcode() == Opcode::kCustomCall && i.attr<CustomCallAttrs>().target == target;
}

// What the maker of a result states of it: its sharding, Shardy's text, or, of what a manual region
// gives, how the region's arrays make it up.
absl::StatusOr<std::vector<Tiling>> MadeTilings(const Instruction& maker,
                                                absl::Span<const Shape* const> arrays,
                                                int64_t devices) {
  constexpr absl::string_view kLeave = "xla.sdy.LocalToGlobalShape";
  if (maker.sharding() != nullptr) return StatedTilings(maker, "", arrays, devices);
  if (IsMarker(maker, kLeave))
    return StatedTilings(maker, "xla.sdy.out_shardings", arrays, devices);
  if (maker.opcode() == Opcode::kGetTupleElement && IsMarker(*maker.operand(0), kLeave) &&
      Attribute(maker, "xla.sdy.sharding") == nullptr) {
    const Instruction& marker = *maker.operand(0);
    ASSIGN_OR_RETURN(std::vector<Tiling> all, StatedTilings(marker, "xla.sdy.out_shardings",
                                                            ArraysOf(marker.shape()), devices));
    const auto index = static_cast<size_t>(maker.tuple_index());
    if (maker.shape().IsArray() && index < all.size())
      return std::vector<Tiling>{std::move(all[index])};
  }
  return StatedTilings(maker, "xla.sdy.sharding", arrays, devices);
}

}  // namespace

absl::StatusOr<std::vector<Tiling>> ResultTilings(const Computation& entry, int64_t devices) {
  const Instruction& root = *entry.root();
  const std::vector<const Shape*> arrays = ArraysOf(root.shape());
  // A result without a sharding is whole, whatever it is made of, unless the header lets its
  // sharding follow from that.
  const std::vector<bool>& open = entry.module()->header().propagate_sharding_to_output;
  const bool follows = std::find(open.begin(), open.end(), true) != open.end();
  const auto whole = [&](const Instruction* maker) {
    return maker != &root && maker->sharding() != nullptr && !follows;
  };
  if (root.sharding() != nullptr || !root.shape().IsTuple() || root.opcode() != Opcode::kTuple) {
    const Instruction* maker = root.shape().IsArray() ? MakerOf(&root, 0) : &root;
    if (whole(maker)) return std::vector<Tiling>{WholeOn(root.shape(), devices)};
    return MadeTilings(*maker, arrays, devices);
  }
  std::vector<Tiling> tilings;
  for (int64_t i = 0; i < root.operand_count(); ++i) {
    const Instruction* maker = MakerOf(root.operand(i), 0);
    if (!Compatible(maker->shape(), root.operand(i)->shape())) maker = root.operand(i);
    const std::vector<const Shape*> parts = ArraysOf(maker->shape());
    if (whole(maker)) {
      for (const Shape* part : parts) tilings.push_back(WholeOn(*part, devices));
      continue;
    }
    ASSIGN_OR_RETURN(std::vector<Tiling> made,
                     StatedTilings(*maker, maker->sharding() != nullptr ? "" : "xla.sdy.sharding",
                                   parts, devices));
    for (Tiling& tiling : made) tilings.push_back(std::move(tiling));
  }
  return tilings;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
