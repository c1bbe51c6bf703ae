// Look-ups in operations and attributes, and types as text.
#include "stablehlo/ir/mlir.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace hlokit {
namespace {

const MlirAttribute* FindIn(const MlirAttributes& attributes, absl::string_view name) {
  for (const auto& [key, value] : attributes)
    if (key == name) return value;
  return nullptr;
}

}  // namespace

const MlirAttribute* MlirAttribute::Field(absl::string_view name) const {
  return FindIn(fields, name);
}

const MlirAttribute* MlirOperation::Find(absl::string_view attribute) const {
  return FindIn(attributes, attribute);
}

// Regions nest deeply in hostile programs, so their operations are deleted without recursion.
MlirOperation::~MlirOperation() {
  std::vector<std::unique_ptr<MlirOperation>> doomed;
  auto take = [&doomed](MlirOperation& operation) {
    for (MlirRegion& region : operation.regions)
      for (auto& block : region.blocks)
        if (block != nullptr)
          for (auto& inner : block->operations) doomed.push_back(std::move(inner));
    operation.regions.clear();
  };
  take(*this);
  while (!doomed.empty()) {
    std::unique_ptr<MlirOperation> last = std::move(doomed.back());
    doomed.pop_back();
    if (last != nullptr) take(*last);
  }
}

const MlirAttribute* MlirModule::Add(MlirAttribute attribute) {
  auto count = [&attribute](const MlirAttribute* part) {
    if (part != nullptr && attribute.parts <= kMaxAttributeParts) attribute.parts += part->parts;
  };
  for (const MlirAttribute* element : attribute.elements) count(element);
  for (const auto& [name, value] : attribute.fields) count(value);
  return &attributes_.emplace_back(std::move(attribute));
}

namespace {

int64_t CountParts(const Shape& shape) {
  int64_t parts = 1;
  for (const Shape& element : shape.elements) parts += CountParts(element);
  return parts;
}

}  // namespace

std::string WithoutVersion(absl::string_view name) {
  const size_t mark = name.rfind("_v");
  const bool versioned = mark != name.npos && mark + 2 < name.size() &&
                         absl::ascii_isdigit(static_cast<unsigned char>(name[mark + 2]));
  return std::string(name.substr(0, versioned ? mark : name.size()));
}

std::string NameForVhlo(absl::string_view operation) {
  std::string name = WithoutVersion(absl::StripPrefix(operation, "vhlo."));
  const bool function = name == "func" || name == "call" || name == "return";
  return absl::StrCat(function ? "func." : "stablehlo.", name);
}

std::string CommonName(absl::string_view operation) {
  if (absl::StartsWith(operation, "vhlo.")) return NameForVhlo(operation);
  absl::string_view own = operation;
  if (!absl::ConsumePrefix(&own, "mhlo.")) return std::string(operation);
  if (own == "topk") return "chlo.top_k";
  for (const char* other :
       {"acos", "acosh", "asin", "asinh", "atanh", "cosh", "erf", "ragged_dot", "scan", "sinh"})
    if (own == other) return absl::StrCat("chlo.", own);
  for (const char* only : {"add_dependency", "bitcast", "copy", "fusion", "stochastic_convert",
                           "xla.rng_get_and_update_state"})
    if (own == only) return std::string(operation);
  return absl::StrCat("stablehlo.", own);
}

bool FitsTuple(const std::vector<Shape>& elements) {
  int64_t parts = 0;
  for (const Shape& element : elements)
    if ((parts += CountParts(element)) > kMaxTupleParts) return false;
  return true;
}

absl::string_view MlirModule::Keep(absl::string_view name) {
  return names_.emplace_back(name.data(), name.size());
}

std::string Text(const MlirType& type) {
  if (type.HasShape()) return Text(type.shape);
  if (type.kind == MlirType::Kind::kOpaque) return type.text;
  return type.kind == MlirType::Kind::kFunction ? "function type" : "none";
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
