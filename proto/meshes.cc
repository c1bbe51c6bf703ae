// Meshes: shardings and device groups that name axes, which the IR keeps as text.
//
//   {mesh['x'=2,'y'=4], [{'x'}, {}]}   <->   mesh {axes {name: "x" size: 2} ...}
//                                            dim_shardings {axes {mesh_axis_index: 0}} ...
// The text is XLA's own, brought to one form by the parser, so writing scans it strictly: what does
// not fit is a fault of ours, not of the user. Reading puts the text together from the message and
// checks sizes and indices on the way.
#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/metadata_internal.h"
#include "proto/scanner_internal.h"
#include "proto/shardings_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

using AxisRefs = google::protobuf::RepeatedPtrField<pb::AxisRefProto>;

// `([4,2]T(1,0))` or `(0,2,1,3)`.
bool ScanDeviceIds(Scanner& scanner, pb::MeshProto* mesh) {
  auto add_to = [&](google::protobuf::RepeatedField<int64_t>* list) {
    int64_t number = 0;
    if (!scanner.Int(number)) return false;
    list->Add(number);
    return true;
  };
  if (!scanner.Eat("(["))
    return scanner.List("(", ")", [&] { return add_to(mesh->mutable_device_ids()); });
  pb::MeshProto::IotaTransform* iota = mesh->mutable_iota_transform();
  do {
    if (!add_to(iota->mutable_reshape_dims())) return false;
  } while (scanner.Eat(","));
  if (!scanner.Eat("]")) return false;
  if (scanner.Eat("T") &&
      !scanner.List("(", ")", [&] { return add_to(iota->mutable_transpose_perm()); }))
    return false;
  return scanner.Eat(")");
}

// `mesh['a'=2,'b'=4], device_ids=(..)` or `maximal_mesh[device_id=3]`.
bool ScanMesh(Scanner& scanner, pb::MeshProto* mesh) {
  if (scanner.Eat("maximal_mesh[device_id=")) {
    int64_t device = 0;
    if (!scanner.Int(device)) return false;
    mesh->add_device_ids(device);
    return scanner.Eat("]");
  }
  if (!scanner.Eat("mesh")) return false;
  const bool ok = scanner.List("[", "]", [&] {
    pb::MeshProto::MeshAxis* axis = mesh->add_axes();
    int64_t size = 0;
    if (!scanner.String(*axis->mutable_name()) || !scanner.Eat("=") || !scanner.Int(size))
      return false;
    axis->set_size(size);
    return true;
  });
  if (!ok) return false;
  return !scanner.Eat(", device_ids=") || ScanDeviceIds(scanner, mesh);
}

// `'b'`, or `'b':(1)2`.
bool ScanAxis(Scanner& scanner, const pb::MeshProto& mesh, pb::AxisRefProto* ref) {
  std::string name;
  if (!scanner.String(name)) return false;
  const auto found = std::find_if(mesh.axes().begin(), mesh.axes().end(),
                                  [&](const auto& axis) { return axis.name() == name; });
  if (found == mesh.axes().end()) return false;
  ref->set_mesh_axis_index(found - mesh.axes().begin());
  if (!scanner.Eat(":")) return true;
  int64_t before = 0, size = 0;
  if (!scanner.Eat("(") || !scanner.Int(before) || !scanner.Eat(")") || !scanner.Int(size))
    return false;
  ref->mutable_sub_axis_info()->set_pre_size(before);
  ref->mutable_sub_axis_info()->set_size(size);
  return true;
}

bool ScanAxes(Scanner& scanner, const pb::MeshProto& mesh, AxisRefs* refs) {
  return scanner.List("{", "}", [&] { return ScanAxis(scanner, mesh, refs->Add()); });
}

// `{'a', ?}`: the question mark says that more axes may join.
bool ScanDimension(Scanner& scanner, const pb::MeshProto& mesh,
                   pb::NamedShardingProto::DimensionSharding* dimension) {
  dimension->set_is_closed(true);
  return scanner.List("{", "}", [&] {
    if (!scanner.Eat("?")) return ScanAxis(scanner, mesh, dimension->add_axes());
    dimension->set_is_closed(false);
    return true;
  });
}

bool ScanSharding(Scanner& scanner, pb::NamedShardingProto* out) {
  if (!ScanMesh(scanner, out->mutable_mesh())) return false;
  const pb::MeshProto& mesh = out->mesh();
  while (scanner.Eat(",")) {
    absl::string_view part;
    if (scanner.Peek() == '[') {
      if (!scanner.List("[", "]",
                        [&] { return ScanDimension(scanner, mesh, out->add_dim_shardings()); }))
        return false;
      continue;
    }
    if (!scanner.Word(part)) return false;
    if (part == "replicated" && !scanner.Eat("=")) continue;
    scanner.Eat("=");
    AxisRefs* refs = part == "replicated"  ? out->mutable_replicated_axes()
                     : part == "unreduced" ? out->mutable_unreduced_axes()
                     : part == "manual"    ? out->mutable_manual_axes()
                                           : nullptr;
    if (refs == nullptr || !ScanAxes(scanner, mesh, refs)) return false;
  }
  return scanner.AtEnd();
}

std::string MeshText(const pb::MeshProto& mesh, Seen& seen) {
  seen.Note(mesh);
  if (mesh.axes().empty() && mesh.device_ids_size() == 1)
    return absl::StrCat("maximal_mesh[device_id=", mesh.device_ids(0), "]");
  std::string text = "mesh[";
  for (const auto& axis : mesh.axes()) {
    seen.Note(axis);
    absl::StrAppend(&text, text.back() == '[' ? "'" : ",'", absl::CEscape(axis.name()),
                    "'=", axis.size());
  }
  text += ']';
  if (mesh.has_iota_transform()) {
    const pb::MeshProto::IotaTransform& iota = mesh.iota_transform();
    seen.Note(iota);
    absl::StrAppend(&text, ", device_ids=([", absl::StrJoin(iota.reshape_dims(), ","), "]");
    if (iota.reshape_dims_size() > 1)
      absl::StrAppend(&text, "T(", absl::StrJoin(iota.transpose_perm(), ","), ")");
    text += ')';
  } else if (mesh.device_ids_size() > 0) {
    absl::StrAppend(&text, ", device_ids=(", absl::StrJoin(mesh.device_ids(), ","), ")");
  }
  return text;
}

// Turns references to axes into text, and remembers whether all of them exist.
class AxisWriter {
 public:
  AxisWriter(const pb::MeshProto& mesh, Seen& seen) : mesh_(mesh), seen_(seen) {}
  bool ok() const { return ok_; }

  std::string Text(const pb::AxisRefProto& ref) {
    seen_.Note(ref);
    const int64_t index = ref.mesh_axis_index();
    ok_ &= index >= 0 && index < mesh_.axes_size();
    if (!ok_) return "";
    std::string text =
        absl::StrCat("'", absl::CEscape(mesh_.axes(static_cast<int>(index)).name()), "'");
    if (!ref.has_sub_axis_info()) return text;
    seen_.Note(ref.sub_axis_info());
    absl::StrAppend(&text, ":(", ref.sub_axis_info().pre_size(), ")", ref.sub_axis_info().size());
    return text;
  }

  std::string Text(const AxisRefs& refs, absl::string_view between = ", ") {
    std::string text;
    for (const pb::AxisRefProto& ref : refs)
      absl::StrAppend(&text, text.empty() ? "" : between, Text(ref));
    return text;
  }

 private:
  const pb::MeshProto& mesh_;
  Seen& seen_;
  bool ok_ = true;
};

}  // namespace

absl::Status WriteMeshSharding(const Sharding& sharding, pb::NamedShardingProto* out) {
  Scanner scanner(sharding.text);
  if (!ScanSharding(scanner, out))
    return InvalidArgument("the sharding ", sharding.text, " has no form as a message");
  Write(sharding.metadata, out->mutable_metadata());
  return absl::OkStatus();
}

absl::StatusOr<std::string> MeshShardingText(const pb::NamedShardingProto& in, Seen& seen) {
  seen.Note(in);
  std::string text = absl::StrCat("{", MeshText(in.mesh(), seen));
  AxisWriter axes(in.mesh(), seen);
  std::string dims;
  for (const auto& dimension : in.dim_shardings()) {
    seen.Note(dimension);
    std::string refs = axes.Text(dimension.axes());
    if (!dimension.is_closed()) absl::StrAppend(&refs, refs.empty() ? "?" : ", ?");
    absl::StrAppend(&dims, dims.empty() ? "" : ", ", "{", refs, "}");
  }
  const bool maximal = in.mesh().axes().empty() && in.mesh().device_ids_size() == 1;
  const bool lists = in.replicated_axes_size() + in.unreduced_axes_size() + in.manual_axes_size();
  if (!dims.empty()) absl::StrAppend(&text, ", [", dims, "]");
  if (dims.empty() && !maximal && !lists) text += ", replicated";
  auto append = [&](const char* name, const AxisRefs& refs) {
    if (!refs.empty()) absl::StrAppend(&text, ", ", name, "={", axes.Text(refs), "}");
  };
  append("replicated", in.replicated_axes());
  append("unreduced", in.unreduced_axes());
  append("manual", in.manual_axes());
  if (!axes.ok()) return InvalidArgument("the mesh has no axis of a number that is named");
  return text + "}";
}

absl::Status WriteMeshGroups(absl::string_view text, pb::MeshAxesReplicaGroupListProto* out) {
  Scanner scanner(text);
  if (ScanMesh(scanner, out->mutable_mesh()) && ScanAxes(scanner, out->mesh(), out->mutable_axes()))
    return absl::OkStatus();
  return InvalidArgument("the device groups ", text, " have no form as a message");
}

absl::StatusOr<std::string> MeshGroupsText(const pb::MeshAxesReplicaGroupListProto& in,
                                           Seen& seen) {
  seen.Note(in);
  AxisWriter axes(in.mesh(), seen);
  std::string text = absl::StrCat(MeshText(in.mesh(), seen), " {", axes.Text(in.axes(), ","), "}");
  if (!axes.ok()) return InvalidArgument("the mesh has no axis of a number that is named");
  return text;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
