// Reads device groups: lists, iota forms, mesh axes.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "parser/values_internal.h"

namespace hlokit {
namespace {

struct Mesh {
  std::vector<std::string> names;
  DimVector sizes;
  std::vector<int64_t> devices;  // in row-major order of the axes; empty: 0, 1, ...
};

// `'x'`, or part of it: `'x':(4)2` is the 2 positions that follow a factor of 4.
struct AxisRef {
  int64_t axis = 0;
  int64_t before = 1, size = 1;
};

std::vector<int64_t> IotaDevices(const DimVector& reshape_dims, const DimVector& perm) {
  ReplicaGroups order;
  order.form = ReplicaGroups::Form::kIota;
  order.reshape_dims = reshape_dims;
  order.transpose_perm = perm;
  order.iota_dims = {1, DeviceCount(reshape_dims)};
  auto groups = order.Expand();
  return groups.empty() ? std::vector<int64_t>() : std::move(groups[0]);
}

bool ReadDeviceIds(Reader& r, Mesh& mesh) {
  const char* at = r.Here();
  if (!r.TryEatWord("device_ids")) return r.Expected("device_ids=");
  if (!r.Eat('=', "after device_ids")) return false;
  if (r.Peek() != '(') return r.Expected("'('");
  r.TryEat('(');
  if (r.Peek() == '[') {
    DimVector reshape, perm;
    if (!ReadIota(r, reshape, perm)) return false;
    mesh.devices = IotaDevices(reshape, perm);
  } else {
    do {
      if (!r.Int(mesh.devices.emplace_back())) return false;
    } while (r.TryEat(','));
  }
  if (static_cast<int64_t>(mesh.devices.size()) != DeviceCount(mesh.sizes))
    return r.Error(at, "the mesh has ", DeviceCount(mesh.sizes), " positions, but ",
                   mesh.devices.size(), " device ids");
  return r.Eat(')', "after the device ids");
}

bool ReadMesh(Reader& r, Mesh& mesh) {
  const char* at = r.Here();
  r.Word();
  const bool ok = r.List('[', ']', [&] {
    return r.String(mesh.names.emplace_back()) && r.Eat('=', "after the axis name") &&
           r.Int(mesh.sizes.emplace_back());
  });
  if (!ok) return false;
  if (DeviceCount(mesh.sizes) < 1) return r.Error(at, "the mesh has no positions or too many");
  return !r.TryEat(',') || ReadDeviceIds(r, mesh);
}

bool ReadAxisRef(Reader& r, const Mesh& mesh, AxisRef& ref) {
  const char* at = r.Here();
  std::string name;
  if (!r.String(name)) return false;
  const auto found = std::find(mesh.names.begin(), mesh.names.end(), name);
  if (found == mesh.names.end()) return r.Error(at, "the mesh has no axis '", name, "'");
  ref.axis = found - mesh.names.begin();
  ref.size = mesh.sizes[ref.axis];
  if (!r.TryEat(':')) return true;
  if (!r.Eat('(', "before the size in front of a part of an axis") || !r.Int(ref.before) ||
      !r.Eat(')', "after that size") || !r.Int(ref.size))
    return false;
  const int64_t full = mesh.sizes[ref.axis];
  const bool fits = ref.before > 0 && ref.size > 0 && ref.before <= full &&
                    ref.size <= full / ref.before && full % (ref.before * ref.size) == 0;
  return fits || r.Error(at, "the part does not divide the axis of size ", full);
}

// Positions that differ in the named axes alone form a group.
std::vector<std::vector<int64_t>> GroupsOver(const Mesh& mesh, const std::vector<AxisRef>& refs) {
  std::map<int64_t, std::vector<int64_t>> groups;
  int64_t group_size = 1;
  for (const AxisRef& ref : refs) group_size *= ref.size;
  const DimVector strides = RowMajorStrides(mesh.sizes);
  int64_t position = 0;
  ForEachIndex(mesh.sizes, [&](absl::Span<const int64_t> index) {
    int64_t rank = 0;
    int64_t group = position;
    for (const AxisRef& ref : refs) {
      const int64_t after = mesh.sizes[ref.axis] / (ref.before * ref.size);
      const int64_t digit = index[ref.axis] / after % ref.size;
      rank = rank * ref.size + digit;
      group -= digit * after * strides[ref.axis];
    }
    auto& members = groups[group];
    members.resize(group_size);
    members[rank] = mesh.devices.empty() ? position : mesh.devices[position];
    ++position;
  });
  std::vector<std::vector<int64_t>> out;
  for (auto& [key, members] : groups) out.push_back(std::move(members));
  return out;
}

bool ReadMeshGroups(Reader& r, ReplicaGroups& groups) {
  groups.form = ReplicaGroups::Form::kMesh;
  const char* start = r.Here();
  Mesh mesh;
  std::vector<AxisRef> refs;
  if (!ReadMesh(r, mesh)) return false;
  if (!r.List('{', '}', [&] { return ReadAxisRef(r, mesh, refs.emplace_back()); })) return false;
  int64_t size = 1;
  for (const AxisRef& ref : refs)
    if (__builtin_mul_overflow(size, ref.size, &size) || size > DeviceCount(mesh.sizes))
      return r.Error(start, "an axis is named twice");
  groups.mesh_text = std::string(start, r.raw_position());
  groups.lists = GroupsOver(mesh, refs);
  return true;
}

bool ReadIotaGroups(Reader& r, ReplicaGroups& groups) {
  groups.form = ReplicaGroups::Form::kIota;
  const char* start = r.Here();
  if (!r.List('[', ']', [&] { return r.Int(groups.iota_dims.emplace_back()); })) return false;
  if (groups.iota_dims.size() != 2) return r.Error(start, "expected two sizes, [groups,members]");
  if (!r.TryEat("<=")) return r.Expected("'<='");
  if (!ReadIota(r, groups.reshape_dims, groups.transpose_perm)) return false;
  if (DeviceCount(groups.iota_dims) == DeviceCount(groups.reshape_dims)) return true;
  return r.Error(start, "the groups hold ", DeviceCount(groups.iota_dims),
                 " devices, the order after <= has ", DeviceCount(groups.reshape_dims));
}

}  // namespace

int64_t DeviceCount(const DimVector& dims) {
  int64_t count = 1;
  for (int64_t d : dims)
    if (d < 0 || __builtin_mul_overflow(count, d, &count) || count > kMaxDevices) return -1;
  return count;
}

void SimplifyIota(DimVector& reshape_dims, DimVector& perm) {
  if (perm.empty())
    for (size_t i = 0; i < reshape_dims.size(); ++i) perm.push_back(static_cast<int64_t>(i));
  // Runs of dimensions that stay neighbours count as one; dimensions of size 1 do not matter.
  DimVector kept;
  for (int64_t d : perm)
    if (reshape_dims[d] != 1) kept.push_back(d);
  auto follows = [&](int64_t a,
                     int64_t b) {  // b is the next dimension after a that is larger than 1
    for (++a; a < b; ++a)
      if (reshape_dims[a] != 1) return false;
    return a == b;
  };
  std::vector<std::pair<int64_t, int64_t>> runs;  // first dimension, size; in transposed order
  for (size_t i = 0; i < kept.size(); ++i) {
    if (i > 0 && follows(kept[i - 1], kept[i])) {
      runs.back().second *= reshape_dims[kept[i]];
    } else {
      runs.push_back({kept[i], reshape_dims[kept[i]]});
    }
  }
  if (runs.size() <= 1) {
    reshape_dims = {runs.empty() ? 1 : runs[0].second};
    perm.clear();
    return;
  }
  auto sorted = runs;
  std::sort(sorted.begin(), sorted.end());
  reshape_dims.clear();
  perm.clear();
  for (const auto& run : sorted) reshape_dims.push_back(run.second);
  for (const auto& run : runs)
    perm.push_back(std::find(sorted.begin(), sorted.end(), run) - sorted.begin());
}

bool ReadIota(Reader& r, DimVector& reshape_dims, DimVector& perm) {
  const char* start = r.Here();
  if (!r.List('[', ']', [&] { return r.Int(reshape_dims.emplace_back()); })) return false;
  if (DeviceCount(reshape_dims) < 1) return r.Error(start, "no devices, or too many");
  if (r.TryEatWord("T")) {
    const char* at = r.Here();
    if (!r.List('(', ')', [&] { return r.Int(perm.emplace_back()); })) return false;
    DimVector sorted = perm;
    std::sort(sorted.begin(), sorted.end());
    bool permutes = sorted.size() == reshape_dims.size();
    for (size_t i = 0; permutes && i < sorted.size(); ++i)
      permutes = sorted[i] == static_cast<int64_t>(i);
    if (!permutes)
      return r.Error(at, "T(..) must order the ", reshape_dims.size(), " dimensions before it");
  } else if (reshape_dims.size() > 1) {
    return r.Expected("'T(' after several dimensions");
  }
  SimplifyIota(reshape_dims, perm);
  return true;
}

bool ReadValue(Reader& r, ReplicaGroups& groups) {
  if (r.Peek() == '[') return ReadIotaGroups(r, groups);
  if (r.PeekWord() == "mesh") return ReadMeshGroups(r, groups);
  return r.List('{', '}', [&] {
    auto& group = groups.lists.emplace_back();
    return r.List('{', '}', [&] { return r.Int(group.emplace_back()); });
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
