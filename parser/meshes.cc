// Reads meshes and axes, and brings them to XLA's form.
//
// A named sharding refers to axes of a mesh: a mesh with the axes x of 2 and y of 4 has 8 devices,
// and a reference may mean a whole axis or a factor of one. Parts of one axis may not overlap.
#include "parser/meshes_internal.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/attribute_types.h"
#include "parser/values_internal.h"

namespace hlokit {
namespace {

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
  r.Word();
  if (!r.Eat('=', "after device_ids") || !r.Eat('(', "before the device ids")) return false;
  if (r.Peek() == '[') {
    if (!ReadIota(r, mesh.reshape_dims, mesh.perm)) return false;
    mesh.devices = IotaDevices(mesh.reshape_dims, mesh.perm);
  } else {
    do {
      if (!r.Int(mesh.devices.emplace_back())) return false;
    } while (r.TryEat(','));
  }
  if (!r.Eat(')', "after the device ids")) return false;
  const int64_t positions = DeviceCount(mesh.sizes);
  if (static_cast<int64_t>(mesh.devices.size()) != positions)
    return r.Error(at, "the mesh has ", positions, " positions, but ", mesh.devices.size(),
                   " device ids");
  std::vector<bool> seen(positions);
  for (int64_t device : mesh.devices) {
    if (device < 0 || device >= positions || seen[device])
      return r.Error(at, "the device ids must be 0 to ", positions - 1, ", each once");
    seen[device] = true;
  }
  if (mesh.perm.empty() && !mesh.reshape_dims.empty()) mesh.devices.clear();  // 0, 1, ...
  return true;
}

// Whether the part `b`, which starts no earlier than `a`, leaves `a` alone.
bool Apart(const AxisRef& a, const AxisRef& b) {
  return !a.whole && !b.whole && b.before % (a.before * a.size) == 0;
}

}  // namespace

bool ReadMesh(Reader& r, Mesh& mesh) {
  const char* at = r.Here();
  r.Word();
  const bool ok = r.List('[', ']', [&] {
    const char* name_at = r.Here();
    std::string name;
    if (!r.String(name) || !r.Eat('=', "after the axis name") || !r.Int(mesh.sizes.emplace_back()))
      return false;
    if (std::find(mesh.names.begin(), mesh.names.end(), name) != mesh.names.end())
      return r.Error(name_at, "the mesh has two axes '", name, "'");
    mesh.names.push_back(std::move(name));
    return true;
  });
  if (!ok) return false;
  if (DeviceCount(mesh.sizes) < 1) return r.Error(at, "the mesh has no positions or too many");
  const char* end = r.raw_position();
  if (!mesh.names.empty() && r.TryEat(',') && r.PeekWord() == "device_ids")
    return ReadDeviceIds(r, mesh);
  r.MoveTo(end);
  return true;
}

bool ReadAxes(Reader& r, const Mesh& mesh, AxisRefs& refs, bool* open) {
  return r.List('{', '}', [&] {
    const char* at = r.Here();
    if (open != nullptr && !*open && r.TryEat('?')) return *open = true;
    if (open != nullptr && *open) return r.Error(at, "'?' must be the last of a list of axes");
    AxisRef& ref = refs.emplace_back();
    std::string name;
    if (!r.String(name)) return false;
    const auto found = std::find(mesh.names.begin(), mesh.names.end(), name);
    if (found == mesh.names.end()) return r.Error(at, "the mesh has no axis '", name, "'");
    ref.axis = found - mesh.names.begin();
    const int64_t full = mesh.sizes[ref.axis];
    ref.size = full;
    if (!r.TryEat(':')) return true;
    ref.whole = false;
    if (!r.Eat('(', "before the size in front of a part of an axis") || !r.Int(ref.before) ||
        !r.Eat(')', "after that size") || !r.Int(ref.size))
      return false;
    const bool fits = ref.before > 0 && ref.size > 1 && ref.size < full && ref.before <= full &&
                      ref.size <= full / ref.before && full % (ref.before * ref.size) == 0;
    return fits || r.Error(at, "the part does not divide the axis of size ", full);
  });
}

bool CheckAxes(Reader& r, const char* at, const Mesh& mesh, const std::vector<AxisRefs>& lists) {
  std::vector<AxisRefs> by_axis(mesh.names.size());
  for (const AxisRefs& list : lists) {
    for (size_t i = 0; i < list.size(); ++i) {
      const bool joined = i > 0 && !list[i].whole && list[i].axis == list[i - 1].axis &&
                          list[i].before == list[i - 1].before * list[i - 1].size;
      if (joined)
        return r.Error(at, "two neighbouring parts of the axis '", mesh.names[list[i].axis],
                       "' must be written as one");
      by_axis[list[i].axis].push_back(list[i]);
    }
  }
  for (AxisRefs& refs : by_axis) {
    std::sort(refs.begin(), refs.end(),
              [](const AxisRef& a, const AxisRef& b) { return a.before < b.before; });
    for (size_t i = 1; i < refs.size(); ++i)
      if (!Apart(refs[i - 1], refs[i]))
        return r.Error(at, "the axis '", mesh.names[refs[i].axis], "' is used twice");
  }
  return true;
}

void AppendMesh(std::string& out, const Mesh& mesh) {
  out += "mesh[";
  for (size_t i = 0; i < mesh.names.size(); ++i)
    absl::StrAppend(&out, i > 0 ? "," : "", "'", mesh.names[i], "'=", mesh.sizes[i]);
  out += ']';
  if (mesh.devices.empty()) return;
  if (mesh.reshape_dims.empty()) {
    absl::StrAppend(&out, ", device_ids=(", absl::StrJoin(mesh.devices, ","), ")");
  } else {
    absl::StrAppend(&out, ", device_ids=([", absl::StrJoin(mesh.reshape_dims, ","), "]T(",
                    absl::StrJoin(mesh.perm, ","), "))");
  }
}

void AppendAxes(std::string& out, const Mesh& mesh, const AxisRefs& refs,
                absl::string_view separator) {
  for (size_t i = 0; i < refs.size(); ++i) {
    const AxisRef& ref = refs[i];
    absl::StrAppend(&out, i > 0 ? separator : "", "'", mesh.names[ref.axis], "'");
    if (!ref.whole) absl::StrAppend(&out, ":(", ref.before, ")", ref.size);
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
