// From JSON to a Topology: every member is known and has the right kind, or an error points at it.
#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "simulate/topology.h"
#include "support/json_value.h"
#include "support/status.h"
#include "support/text.h"

namespace hlokit {
namespace {

template <typename... Parts>
absl::Status ErrorAt(const JsonValue& value, const Parts&... parts) {
  return WithPlace(LabeledError("topology", parts...), value.place);
}

// One object, whose members are asked for by name; Finish refuses those that nobody asked for.
class ObjectReader {
 public:
  ObjectReader(const JsonValue& object, std::string what)
      : object_(object), what_(std::move(what)) {
    if (object.kind != JsonValue::Kind::kObject)
      Fail(ErrorAt(object, what_, " is ", KindName(object.kind), ", expected an object"));
  }

  const JsonValue* Member(absl::string_view name, JsonValue::Kind kind, bool required) {
    known_.push_back(std::string(name));
    const JsonValue* const member = object_.Find(name);
    if (member == nullptr) {
      if (required) Fail(ErrorAt(object_, what_, " has no \"", name, "\""));
      return nullptr;
    }
    if (member->kind == kind) return member;
    Fail(ErrorAt(*member, "\"", name, "\" of ", what_, " is ", KindName(member->kind),
                 ", expected ", KindName(kind)));
    return nullptr;
  }

  void Text(absl::string_view name, bool required, std::string& out) {
    if (const JsonValue* text = Member(name, JsonValue::Kind::kString, required)) out = text->text;
  }
  // Above `above`, or at it where `or_equal`.
  void Number(absl::string_view name, bool required, double& out, bool or_zero = false) {
    const JsonValue* const number = Member(name, JsonValue::Kind::kNumber, required);
    if (number == nullptr) return;
    out = number->number;
    CheckSign(*number, name, or_zero);
  }
  void CheckSign(const JsonValue& number, absl::string_view name, bool or_zero) {
    if (number.number > 0 || (or_zero && number.number == 0)) return;
    Fail(ErrorAt(number, "\"", name, "\" of ", what_, " is ", number.text, ", expected ",
                 or_zero ? "no negative number" : "a positive number"));
  }
  void Fail(const absl::Status& status) {
    if (status_.ok()) status_ = status;
  }
  absl::Status Finish() {
    for (const auto& [name, value] : object_.members) {
      if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
      NearestName nearest(name);
      for (const std::string& known : known_) nearest.Offer(known);
      Fail(ErrorAt(value, what_, " has no \"", name, "\"", nearest.Hint()));
    }
    return status_;
  }

 private:
  const JsonValue& object_;
  const std::string what_;
  std::vector<std::string> known_;
  absl::Status status_;
};

absl::StatusOr<DeviceModel> ReadDevice(const JsonValue& value) {
  DeviceModel device;
  ObjectReader reader(value, "device");
  reader.Text("name", true, device.name);
  if (const JsonValue* flops = reader.Member("flops", JsonValue::Kind::kObject, true)) {
    for (const auto& [type, rate] : flops->members) {
      if (type != "f8" && type != "f4" && !ElementTypeFromText(type).has_value())
        reader.Fail(ErrorAt(rate, "\"", type, "\" is no element type"));
      if (rate.kind != JsonValue::Kind::kNumber)
        reader.Fail(
            ErrorAt(rate, "flops of ", type, " are ", KindName(rate.kind), ", expected a number"));
      reader.CheckSign(rate, type, /*or_zero=*/false);
      device.flops[type] = rate.number;
    }
    if (flops->members.empty()) reader.Fail(ErrorAt(*flops, "device has flops of no type"));
  }
  reader.Number("vector_flops", true, device.vector_flops);
  device.functions = device.vector_flops / 8;
  reader.Number("functions", false, device.functions);
  reader.Number("memory_bandwidth", true, device.memory_bandwidth);
  reader.Number("memory", false, device.memory, /*or_zero=*/true);
  reader.Number("launch", false, device.launch, /*or_zero=*/true);
  reader.Number("start", false, device.start, /*or_zero=*/true);
  reader.Number("product_efficiency", false, device.product_efficiency);
  reader.Number("memory_efficiency", false, device.memory_efficiency);
  reader.Number("at_full_speed", false, device.at_full_speed, /*or_zero=*/true);
  reader.Number("groups_at_once", false, device.groups_at_once, /*or_zero=*/true);
  RETURN_IF_ERROR(reader.Finish());
  return device;
}

constexpr struct {
  absl::string_view name;
  LinkKind kind;
} kKinds[] = {{"switch", LinkKind::kSwitch},
              {"fat-tree", LinkKind::kFatTree},
              {"ring", LinkKind::kRing},
              {"torus", LinkKind::kTorus},
              {"bus", LinkKind::kBus}};

void ReadKind(ObjectReader& reader, Link& link) {
  const JsonValue* const kind = reader.Member("kind", JsonValue::Kind::kString, true);
  if (kind == nullptr) return;
  for (const auto& row : kKinds) {
    if (kind->text != row.name) continue;
    link.kind = row.kind;
    return;
  }
  reader.Fail(ErrorAt(*kind, "no kind of link: ", kind->text,
                      "; expected switch, fat-tree, ring, torus or bus"));
}

// "size": 8, or "axes": [16, 20, 28] of a torus.
void ReadAxes(ObjectReader& reader, Link& link) {
  std::vector<const JsonValue*> sizes;
  if (link.kind == LinkKind::kTorus) {
    if (const JsonValue* axes = reader.Member("axes", JsonValue::Kind::kArray, true)) {
      for (const JsonValue& axis : axes->items) sizes.push_back(&axis);
      if (sizes.empty()) reader.Fail(ErrorAt(*axes, "a torus without axes"));
    }
  } else if (const JsonValue* size = reader.Member("size", JsonValue::Kind::kNumber, true)) {
    sizes.push_back(size);
  }
  for (const JsonValue* size : sizes) {
    const double number = size->number;
    if (size->kind != JsonValue::Kind::kNumber || number < 1 || number > kMaxDevices ||
        number != std::floor(number))
      return reader.Fail(
          ErrorAt(*size, "link ", link.name, " joins a whole number of units, 1 to ", kMaxDevices));
    link.axes.push_back(static_cast<int64_t>(number));
  }
}

absl::StatusOr<Link> ReadLink(const JsonValue& value) {
  Link link;
  ObjectReader reader(value, "link");
  reader.Text("name", true, link.name);
  ReadKind(reader, link);
  ReadAxes(reader, link);
  reader.Number("bandwidth", true, link.bandwidth);
  reader.Number("latency", false, link.latency, /*or_zero=*/true);
  reader.Number("efficiency", false, link.efficiency);
  reader.Number("collective", false, link.collective, /*or_zero=*/true);
  if (link.kind == LinkKind::kFatTree)
    reader.Number("oversubscription", false, link.oversubscription);
  RETURN_IF_ERROR(reader.Finish());
  return link;
}

}  // namespace

absl::StatusOr<Topology> ReadTopology(const SourceFile& file) {
  ASSIGN_OR_RETURN(const JsonValue value, ParseJson(file.text()));
  Topology topology;
  ObjectReader reader(value, "topology");
  reader.Text("name", true, topology.name);
  reader.Text("source", false, topology.source);
  const JsonValue* const device = reader.Member("device", JsonValue::Kind::kObject, true);
  const JsonValue* const links = reader.Member("links", JsonValue::Kind::kArray, true);
  RETURN_IF_ERROR(reader.Finish());
  ASSIGN_OR_RETURN(topology.device, ReadDevice(*device));
  absl::flat_hash_set<std::string> names;
  for (const JsonValue& each : links->items) {
    ASSIGN_OR_RETURN(Link link, ReadLink(each));
    if (!names.insert(link.name).second) return ErrorAt(each, "two links named ", link.name);
    topology.links.push_back(std::move(link));
    if (topology.DeviceCount() > kMaxDevices)
      return ErrorAt(each, "more devices than ", kMaxDevices);
  }
  return topology;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
