// Reads device groups: lists, iota forms, mesh axes.
//
//   {{0,1},{2,3}}            lists
//   [2,2]<=[4]               two groups of two, devices in order
//   [2,2]<=[2,2]T(1,0)       the same after a transpose: {{0,2},{1,3}}
//   mesh['x'=2,'y'=2] {'y'}  devices that differ in y alone: {{0,1},{2,3}}
// The form is kept for printing. Iota forms stay numbers: their devices are counted (and bounded)
// but not listed here. Groups over a mesh are listed: a device's index in the mesh is taken apart
// into digits of the named axes, which are its place in the group, and the rest, which is the
// group.
#include <algorithm>
#include <map>

#include "parser/meshes_internal.h"
#include "parser/values_internal.h"

namespace hlokit {
namespace {

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
  if (mesh.devices.empty()) r.TryEat(',');
  if (!ReadAxes(r, mesh, refs) || !CheckAxes(r, start, mesh, {refs})) return false;
  int64_t size = 1;
  for (const AxisRef& ref : refs) size *= ref.size;
  if (size < 2) return r.Error(start, "the groups over these axes hold one device each");
  AppendMesh(groups.mesh_text, mesh);
  groups.mesh_text += " {";
  AppendAxes(groups.mesh_text, mesh, refs, ",");
  groups.mesh_text += '}';
  groups.lists = GroupsOver(mesh, refs);
  return true;
}

bool ReadIotaGroups(Reader& r, ReplicaGroups& groups) {
  groups.form = ReplicaGroups::Form::kIota;
  const char* start = r.Here();
  if (!r.List('[', ']', [&] { return r.Int(groups.iota_dims.emplace_back()); })) return false;
  if (groups.iota_dims.size() != 2) return r.Error(start, "expected two sizes, [groups,members]");
  if (DeviceCount(groups.iota_dims) < 1) return r.Error(start, "no devices, or too many");
  if (!r.TryEat("<=")) return r.Expected("'<='");
  if (!ReadIota(r, groups.reshape_dims, groups.transpose_perm)) return false;
  if (DeviceCount(groups.iota_dims) == DeviceCount(groups.reshape_dims)) return true;
  return r.RuleError(start, "group-c1", "the groups hold ", DeviceCount(groups.iota_dims),
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
  const bool transposed = r.PeekWord() == "T";
  if (transposed && reshape_dims.size() == 1)
    return r.Error(r.Here(), "T(..) needs several dimensions before it");
  if (transposed) {
    r.Word();
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
