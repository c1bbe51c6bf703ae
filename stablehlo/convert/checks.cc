// Operations of the dialect `check`, which StableHLO's tests compare values with, as custom calls:
//
//   check.expect_eq_const %0, dense<1> : tensor<2xi64>
//     ->  () custom-call(%0, constant), custom_call_target="check.expect_eq"
//
// ops/vendor/checks.h says what the calls do. Bounds stand in the call's configuration.
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "stablehlo/convert/converter_internal.h"

namespace hlokit {
namespace {

// The tolerance of check.expect_almost_eq where it has none; the custom call's own is wider.
constexpr double kTolerance = 1e-4;

absl::StatusOr<std::string> BoundsOf(const MlirOperation& op, absl::string_view target) {
  const OpAttributes attributes(op);
  if (target == "check.expect_almost_eq") {
    double tolerance = kTolerance;
    if (attributes.Has("tolerance")) {
      ASSIGN_OR_RETURN(tolerance, attributes.Float("tolerance"));
    }
    return absl::StrCat("{tolerance = ", tolerance, " : f64}");
  }
  std::string text;
  for (const char* name : {"min_ulp_difference", "max_ulp_difference"}) {
    const MlirAttribute* found = op.Find(name);
    if (found == nullptr) continue;
    const bool is_int = found->kind == MlirAttribute::Kind::kInt;
    // Of 64 bits without sign: the highest stand for no bound.
    constexpr double kHighest = 0x1p62;
    const int64_t ulps = is_int && found->integer >= 0 ? found->integer
                         : is_int || found->number >= kHighest
                             ? static_cast<int64_t>(kHighest)
                             : static_cast<int64_t>(found->number);
    absl::StrAppend(&text, text.empty() ? "{" : ", ", name, " = ", ulps, " : i64");
  }
  if (!text.empty()) text += '}';
  return text;
}

Instruction* AddCheck(BodyConverter& body, std::string target,
                      absl::Span<Instruction* const> operands) {
  CustomCallAttrs call;
  call.target = std::move(target);
  call.has_side_effect = true;
  call.api_version = CustomCallApiVersion::kTypedFfi;
  return body.Add(Opcode::kCustomCall, Shape::Tuple({}), operands, std::move(call));
}

absl::StatusOr<Instruction*> OnlyOperand(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  if (operands.size() != 1) return InvalidArgument(op.name, ": expected one operand");
  return operands[0];
}

}  // namespace

absl::StatusOr<int64_t> IterationOf(const MlirOperation& op) {
  const MlirAttribute* found = op.Find("iter");
  if (found == nullptr) return 0;
  const bool is_int = found->kind == MlirAttribute::Kind::kInt;
  if (!is_int && !(found->number >= 0 && found->number < 1e9))
    return InvalidArgument(op.name, ": iter is no number of a run");
  return is_int ? found->integer : static_cast<int64_t>(found->number);
}

absl::Status ConvertCheck(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(std::vector<Instruction*> operands, body.Operands(op));
  absl::string_view target = op.name;
  // The first names of the dialect.
  const bool old_eq = target == "check.eq", old_near = target == "check.almost_eq";
  if (old_eq) target = "check.expect_eq";
  if (old_near) target = "check.expect_almost_eq";
  if (absl::ConsumeSuffix(&target, "_const") || old_eq || old_near) {
    const MlirAttribute* value = op.Find("value");
    if (value == nullptr) return InvalidArgument(op.name, ": the attribute value is missing");
    ASSIGN_OR_RETURN(Literal constant, LiteralOf(*value));
    operands.push_back(body.Constant(std::move(constant)));
  }
  if (operands.size() != 2) return InvalidArgument(op.name, ": expected two values");
  Instruction* made = AddCheck(body, std::string(target.data(), target.size()), operands);
  ASSIGN_OR_RETURN(const std::string bounds, BoundsOf(op, target));
  if (!bounds.empty()) {
    made->mutable_extras().backend_config = SharedText(bounds);
    made->mutable_extras().backend_config_is_raw = true;
  }
  return absl::OkStatus();
}

// A value on its way to the standard output of another interpreter; here it is the value alone. So
// is `stablehlo.trace` of old artifacts, which has no result.
absl::Status ConvertPrint(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(Instruction * value, OnlyOperand(body, op));
  if (op.results.size() > 1) return InvalidArgument(op.name, ": expected one result");
  if (!op.results.empty()) body.Set(op.results[0], value);
  return absl::OkStatus();
}

namespace {

Instruction* NumberOf(BodyConverter& body, int64_t number) {
  Literal literal(Shape::Scalar(ElementType::kS64).WithDefaultLayout());
  literal.SetInt(0, number);
  return body.Splat(literal, literal.shape());
}

ProbeRecord& RecordOf(BodyConverter& body, const std::string& name, const std::set<int64_t>& wanted,
                      const Shape& shape) {
  const auto [place, added] = body.probes().try_emplace(name);
  if (!added) return place->second;
  place->second.count = NumberOf(body, 0);
  for (const int64_t run : wanted) place->second.values[run] = body.Splat(0.0, shape);
  return place->second;
}

}  // namespace

std::vector<Instruction*> PartsOf(const ProbeRecord& record) {
  std::vector<Instruction*> parts = {record.count};
  for (const auto& [run, value] : record.values) parts.push_back(value);
  return parts;
}

void SetParts(ProbeRecord& record, absl::Span<Instruction* const> parts) {
  record.count = parts[0];
  size_t next = 1;
  for (auto& [run, value] : record.values) value = parts[next++];
}

absl::StatusOr<std::vector<std::string>> ProbesIn(BodyConverter& body, const MlirRegion& region) {
  std::vector<std::string> names;
  for (const auto& block : region.blocks)
    for (const auto& op : block->operations) {
      for (const MlirRegion& inner : op->regions) {
        ASSIGN_OR_RETURN(const std::vector<std::string> more, ProbesIn(body, inner));
        names.insert(names.end(), more.begin(), more.end());
      }
      if (op->name != "interpreter.probe" || op->results.size() != 1) continue;
      ASSIGN_OR_RETURN(const std::string name, OpAttributes(*op).Word("probe_id"));
      const auto wanted = body.module().wanted_probes().find(name);
      if (wanted == body.module().wanted_probes().end()) continue;
      const Shape shape = BodyConverter::ShapeOf(*op->results[0].type);
      if (!shape.IsArray()) return Unimplemented(op->name, ": expected an array");
      RecordOf(body, name, wanted->second, shape);
      names.push_back(name);
    }
  return names;
}

// Names a value, for check.expect_serialized_eq after it.
absl::Status ConvertProbe(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::string name, OpAttributes(op).Word("probe_id"));
  ASSIGN_OR_RETURN(Instruction * value, OnlyOperand(body, op));
  if (op.results.size() != 1) return InvalidArgument(op.name, ": expected one result");
  body.Set(op.results[0], value);
  const auto wanted = body.module().wanted_probes().find(name);
  if (wanted == body.module().wanted_probes().end()) return absl::OkStatus();
  const Shape& shape = value->shape();
  if (!shape.IsArray()) return Unimplemented(op.name, ": expected an array");
  ProbeRecord& record = RecordOf(body, name, wanted->second, shape);
  for (auto& [run, kept] : record.values) {
    if (!SameIgnoringLayout(kept->shape(), shape))
      return InvalidArgument(op.name, ": there are probes ", name, " of two shapes");
    const Shape flag = Shape::Scalar(ElementType::kPred).WithDefaultLayout();
    Instruction* now = body.Add(Opcode::kCompare, flag, {record.count, NumberOf(body, run)},
                                CompareAttrs{ComparisonDirection::kEq});
    if (!shape.IsScalar())
      now =
          body.Add(Opcode::kBroadcast, shape.WithType(ElementType::kPred), {now}, BroadcastAttrs());
    kept = body.Add(Opcode::kSelect, shape, {now, value, kept});
  }
  record.count = body.Add(Opcode::kAdd, {record.count, NumberOf(body, 1)});
  return absl::OkStatus();
}

// Compares a value with the one of a probe that has run before, the first or the one of that
// number.
absl::Status ConvertCheckProbe(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::string name, OpAttributes(op).Word("probe_id"));
  ASSIGN_OR_RETURN(Instruction * value, OnlyOperand(body, op));
  const auto probe = body.probes().find(name);
  if (probe == body.probes().end())
    return InvalidArgument(op.name, ": there is no probe ", name, " before it");
  ASSIGN_OR_RETURN(const int64_t run, IterationOf(op));
  const auto kept = probe->second.values.find(run);
  if (kept == probe->second.values.end())
    return InvalidArgument(op.name, ": the probe ", name, " has no run ", run);
  AddCheck(body, "check.expect_eq", {value, kept->second});
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
