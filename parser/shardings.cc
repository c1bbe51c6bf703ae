// Reads shardings and brings device subgroups into XLA's canonical form.
//   {devices=[2,2]<=[4]}                            two by two tiles on devices 0 to 3
//   {devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}  two tiles, each on two devices
//   {maximal device=1}  {replicated}  {{replicated}, {devices=[2]0,1}}
// Subgroups are merged by type and sorted (manual, unreduced, replicated). Iota lists stay iota
// where that is possible: a device number is a sum of digit * stride over the reshaped dimensions
// (Factor), and a permutation of tile dimensions permutes factors. No list of devices is written
// out for them, so that a sharding over 10,000 devices costs as much as one over 4.
#include "parser/shardings_internal.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "parser/metadata_internal.h"
#include "parser/values_internal.h"

namespace hlokit {
namespace {

// A digit of a device number: devices are sums of digit * stride.
struct Factor {
  int64_t stride;
  int64_t size;
};
using Factors = std::vector<Factor>;

// The factors in the order of the tile dimensions, slowest first.
Factors FactorsOf(const Sharding& s) {
  const DimVector strides = RowMajorStrides(s.reshape_dims);
  Factors factors;
  for (size_t i = 0; i < s.reshape_dims.size(); ++i) {
    const size_t d = s.transpose_perm.empty() ? i : s.transpose_perm[i];
    factors.push_back({strides[d], s.reshape_dims[d]});
  }
  return factors;
}

// The inverse of FactorsOf, with `reshape_dims` and `transpose_perm` simplified as XLA prints them.
void SetFactors(const Factors& factors, Sharding& s) {
  Factors sorted = factors;
  std::sort(sorted.begin(), sorted.end(),
            [](const Factor& a, const Factor& b) { return a.stride > b.stride; });
  s.reshape_dims.clear();
  s.transpose_perm.clear();
  for (const Factor& f : sorted) s.reshape_dims.push_back(f.size);
  for (const Factor& f : factors) {
    const auto same = [&](const Factor& g) { return g.stride == f.stride; };
    s.transpose_perm.push_back(std::find_if(sorted.begin(), sorted.end(), same) - sorted.begin());
  }
  if (s.reshape_dims.empty()) s.reshape_dims = {1};
  if (s.transpose_perm.empty()) s.transpose_perm = {0};
  SimplifyIota(s.reshape_dims, s.transpose_perm);
}

// The factors that make up each tile dimension; false where they do not divide evenly.
bool FactorsByDim(Factors factors, const DimVector& tile_dims, std::vector<Factors>& by_dim) {
  std::erase_if(factors, [](const Factor& f) { return f.size == 1; });
  size_t next = 0;
  for (int64_t need : tile_dims) {
    Factors& dim = by_dim.emplace_back();
    while (need > 1) {
      if (next == factors.size()) return false;
      Factor& f = factors[next];
      if (need % f.size == 0) {
        dim.push_back(f);
        need /= f.size;
        ++next;
      } else if (f.size % need == 0) {
        f.size /= need;
        dim.push_back({f.stride * f.size, need});
        need = 1;
      } else {
        return false;
      }
    }
  }
  return true;
}

// From the iota form to a list of devices.
void SpellOut(Sharding& s) {
  ReplicaGroups order;
  order.form = ReplicaGroups::Form::kIota;
  order.iota_dims = {1, DeviceCount(s.reshape_dims)};
  order.reshape_dims = s.reshape_dims;
  order.transpose_perm = s.transpose_perm;
  s.devices = order.Expand()[0];
  s.iota = false;
  s.reshape_dims.clear();
  s.transpose_perm.clear();
}

// Reorders the tile dimensions; with `sort_last`, devices along the (new) last `sort_last`
// dimensions ascend.
void Rearrange(Sharding& s, const DimVector& perm, int sort_last) {
  std::vector<Factors> by_dim;
  if (s.iota && !FactorsByDim(FactorsOf(s), s.tile_dims, by_dim)) SpellOut(s);
  DimVector dims;
  for (int64_t d : perm) dims.push_back(s.tile_dims[d]);
  if (s.iota) {
    Factors factors;
    for (int64_t d : perm) factors.insert(factors.end(), by_dim[d].begin(), by_dim[d].end());
    size_t sorted = 0;
    for (int i = 0; i < sort_last; ++i) sorted += by_dim[perm[perm.size() - 1 - i]].size();
    std::sort(factors.end() - sorted, factors.end(),
              [](const Factor& a, const Factor& b) { return a.stride > b.stride; });
    SetFactors(factors, s);
  } else {
    const DimVector strides = RowMajorStrides(s.tile_dims);
    std::vector<int64_t> devices;
    ForEachIndex(dims, [&](absl::Span<const int64_t> index) {
      int64_t at = 0;
      for (size_t i = 0; i < index.size(); ++i) at += index[i] * strides[perm[i]];
      devices.push_back(s.devices[at]);
    });
    int64_t run = 1;
    for (int i = 0; i < sort_last; ++i) run *= dims[dims.size() - 1 - i];
    for (auto it = devices.begin(); sort_last > 0 && it < devices.end(); it += run)
      std::sort(it, it + run);
    s.devices = std::move(devices);
  }
  s.tile_dims = dims;
}

// Manual before unreduced before replicated, as XLA sorts them; others in front.
constexpr int kManualOrder = 1, kReplicatedOrder = 9;
int TypeOrder(const std::string& type) {
  if (type == "replicated") return kReplicatedOrder;
  return type == "maximal" ? 0 : type == "manual" ? kManualOrder : 2;
}

void BecomeSimple(Sharding& s, const std::string& type) {
  Sharding simple;
  simple.kind = type == "manual"      ? Sharding::Kind::kManual
                : type == "unreduced" ? Sharding::Kind::kUnreduced
                                      : Sharding::Kind::kReplicated;
  simple.metadata = s.metadata;
  simple.shard_group = s.shard_group;
  s = std::move(simple);
}

// The subgroup dimensions by type, merged and sorted. `types` are those of the last dimensions.
// Without tiles of data one type alone is a simple sharding. As in XLA `maximal` is none, nor is
// `unreduced` that others of size 1 leave alone.
void Canonicalize(Sharding& s, std::vector<std::string> types) {
  const size_t data = s.tile_dims.size() - types.size();
  int64_t tiles = 1;
  for (size_t i = 0; i < data; ++i) tiles *= s.tile_dims[i];
  if (tiles == 1 && types[0] != "maximal" &&
      std::count(types.begin(), types.end(), types[0]) == static_cast<int64_t>(types.size()))
    return BecomeSimple(s, types[0]);
  std::map<int, std::vector<int64_t>> by_type;
  DimVector perm;
  for (size_t i = 0; i < data; ++i) perm.push_back(static_cast<int64_t>(i));
  std::map<int, std::string> names;
  DimVector trivial;
  for (size_t i = 0; i < types.size(); ++i) {
    const auto d = static_cast<int64_t>(data + i);
    if (s.tile_dims[d] == 1) {
      trivial.push_back(d);
      continue;
    }
    by_type[TypeOrder(types[i])].push_back(d);
    names[TypeOrder(types[i])] = types[i];
  }
  if (tiles == 1 && names.size() == 1 &&
      (names.count(kManualOrder) != 0 || names.count(kReplicatedOrder) != 0))
    return BecomeSimple(s, names.begin()->second);
  DimVector merged(s.tile_dims.begin(), s.tile_dims.begin() + data);
  int sort_last = 0;
  perm.insert(perm.end(), trivial.begin(), trivial.end());
  s.last_tile_dims.clear();
  for (const auto& [order, dims] : by_type) {
    int64_t size = 1;
    for (int64_t d : dims) size *= s.tile_dims[d];
    merged.push_back(size);
    perm.insert(perm.end(), dims.begin(), dims.end());
    s.last_tile_dims.push_back(names[order]);
    if (names[order] == "replicated") sort_last = static_cast<int>(dims.size());
  }
  Rearrange(s, perm, sort_last);
  s.tile_dims = merged;
  s.last_tile_dim_replicate = s.last_tile_dims.size() == 1 && s.last_tile_dims[0] == "replicated";
  if (s.last_tile_dim_replicate) s.last_tile_dims.clear();
}

bool ReadTiles(Reader& r, Sharding& s) {
  s.kind = Sharding::Kind::kTiled;
  const char* at = r.Here();
  if (!r.List('[', ']', [&] { return r.Int(s.tile_dims.emplace_back()); })) return false;
  const int64_t tiles = DeviceCount(s.tile_dims);
  if (tiles < 1) return r.Error(at, "no tiles, or too many");
  if (r.TryEat("<=")) {
    s.iota = true;
    if (!ReadIota(r, s.reshape_dims, s.transpose_perm)) return false;
    const int64_t devices = DeviceCount(s.reshape_dims);
    return devices == tiles ||
           r.RuleError(at, "sharding-c1", tiles, " tiles, but ", devices, " devices");
  }
  do {
    if (!r.Int(s.devices.emplace_back())) return false;
  } while (r.TryEat(','));
  if (static_cast<int64_t>(s.devices.size()) != tiles)
    return r.RuleError(at, "sharding-c1", tiles, " tiles, but ", s.devices.size(), " devices");
  return tiles > 1 || r.Error(at, "a tiled sharding needs more than one device");
}

bool ReadSubgroupTypes(Reader& r, std::vector<std::string>& types) {
  return r.List('{', '}', [&] {
    const absl::string_view word = r.PeekWord();
    if (word != "manual" && word != "replicated" && word != "maximal" && word != "unreduced")
      return r.Expected("manual, replicated, maximal or unreduced");
    types.emplace_back(r.Word());
    return true;
  });
}

bool KindFromWord(absl::string_view word, Sharding::Kind& kind) {
  if (word == "replicated")
    kind = Sharding::Kind::kReplicated;
  else if (word == "maximal")
    kind = Sharding::Kind::kMaximal;
  else if (word == "manual")
    kind = Sharding::Kind::kManual;
  else if (word == "unknown")
    kind = Sharding::Kind::kUnknown;
  else if (word == "unreduced")
    kind = Sharding::Kind::kUnreduced;
  else
    return false;
  return true;
}

struct Parts {
  bool has_kind = false, has_device = false, has_tiles = false;
  std::vector<std::string> types;
};

// One of the blank-separated parts between the braces.
bool ReadPart(Reader& r, Sharding& s, Parts& parts) {
  const char* at = r.Here();
  const absl::string_view word = r.Word();
  if (KindFromWord(word, s.kind)) {
    if (parts.has_kind || parts.has_tiles) return r.Error(at, "a sharding is of one kind only");
    return parts.has_kind = true;
  }
  if (word == "last_tile_dim_replicate") {
    parts.types.push_back("replicated");
    return true;
  }
  if (word == "shard_as" || word == "shard_like") {
    int64_t group = 0;
    if (!r.Int(group)) return false;
    s.shard_group = absl::StrCat(word, " ", group);
    return true;
  }
  if (word == "device" && r.TryEat('=')) return parts.has_device = r.Int(s.device);
  if (word == "devices" && r.TryEat('=')) {
    if (parts.has_kind) return r.Error(at, "a sharding with devices= is of no other kind");
    return parts.has_tiles = ReadTiles(r, s);
  }
  if (word == "last_tile_dims" && r.TryEat('=')) return ReadSubgroupTypes(r, parts.types);
  if (word == "metadata" && r.TryEat('=')) return ReadMetadataList(r, s.metadata);
  r.MoveTo(at);
  return r.Expected(
      "replicated, maximal, manual, unknown, unreduced, devices= or another part of a sharding");
}

bool ReadSingle(Reader& r, const char* start, Sharding& s) {
  const absl::string_view first = r.PeekWord();
  if (first == "mesh" || first == "maximal_mesh") return ReadNamedSharding(r, s);
  Parts parts;
  while (!r.TryEat('}'))
    if (!ReadPart(r, s, parts)) return false;
  if (!parts.has_kind && !parts.has_tiles)
    return r.Error(start, "the sharding names no kind and no devices");
  if (parts.has_device != (s.kind == Sharding::Kind::kMaximal))
    return r.Error(start, "device= belongs to a maximal sharding, which needs it");
  if (parts.types.empty()) return true;
  if (!parts.has_tiles || parts.types.size() > s.tile_dims.size())
    return r.Error(start, "more subgroup types than tile dimensions");
  Canonicalize(s, std::move(parts.types));
  return true;
}

}  // namespace

bool ReadValue(Reader& r, Domain& domain) {
  const char* start = r.Here();
  std::string kind;
  uint32_t seen = 0;
  const bool ok = r.List('{', '}', [&] {
    const char* at = r.Here();
    absl::string_view name;
    if (!r.AttributeName(name, "kind=, entry= or exit=")) return false;
    const uint32_t bit = name == "kind" ? 1 : name == "entry" ? 2 : name == "exit" ? 4 : 0;
    if (bit == 0 || (seen & bit) != 0)
      return r.Error(at, "a domain has kind, entry and exit, each once");
    seen |= bit;
    if (bit == 1) return r.String(kind);
    return ReadSharding(r, bit == 2 ? domain.entry : domain.exit);
  });
  if (!ok) return false;
  if (seen != 7) return r.RuleError(start, "domain-c10", "a domain needs kind, entry and exit");
  return kind == "sharding" ||
         r.RuleError(start, "domain-c10", "the only kind of domain is \"sharding\"");
}

bool ReadSharding(Reader& r, Sharding& sharding) {
  Reader::Depth depth(r);
  if (!depth.ok()) return false;
  const char* start = r.Here();
  if (!r.Eat('{', "before the sharding")) return false;
  if (r.Peek() != '{' && r.Peek() != '}') return ReadSingle(r, start, sharding);
  r.MoveTo(start);
  sharding.kind = Sharding::Kind::kTuple;
  return r.List('{', '}', [&] {
    const char* at = r.Here();
    return r.Eat('{', "before an element's sharding") &&
           ReadSingle(r, at, sharding.elements.emplace_back());
  });
}

// A single sharding of a tuple stands for each of its leaves.
void SpreadOverTuple(const Shape& shape, Sharding& sharding) {
  if (!shape.IsTuple() || sharding.kind == Sharding::Kind::kTuple) return;
  Sharding tuple;
  tuple.kind = Sharding::Kind::kTuple;
  const size_t leaves = std::max<size_t>(Leaves(shape).size(), 1);
  tuple.elements.assign(leaves, sharding);
  sharding = std::move(tuple);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
