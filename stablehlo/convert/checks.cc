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

absl::Status ConvertCheck(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(std::vector<Instruction*> operands, body.Operands(op));
  absl::string_view target = op.name;
  if (absl::ConsumeSuffix(&target, "_const")) {
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

// A value on its way to the standard output of another interpreter; here it is the value alone.
absl::Status ConvertPrint(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(Instruction * value, OnlyOperand(body, op));
  if (op.results.size() > 1) return InvalidArgument(op.name, ": expected one result");
  if (!op.results.empty()) body.Set(op.results[0], value);
  return absl::OkStatus();
}

// Names a value, for check.expect_serialized_eq after it.
absl::Status ConvertProbe(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::string name, OpAttributes(op).Word("probe_id"));
  ASSIGN_OR_RETURN(Instruction * value, OnlyOperand(body, op));
  if (op.results.size() != 1) return InvalidArgument(op.name, ": expected one result");
  body.Set(op.results[0], value);
  body.module().probes()[name] = value;
  return absl::OkStatus();
}

// Compares a value with the one of a probe that has run before, once.
absl::Status ConvertCheckProbe(BodyConverter& body, const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::string name, OpAttributes(op).Word("probe_id"));
  ASSIGN_OR_RETURN(Instruction * value, OnlyOperand(body, op));
  const auto probe = body.module().probes().find(name);
  if (probe == body.module().probes().end())
    return InvalidArgument(op.name, ": there is no probe ", name, " before it");
  if (probe->second->parent() != body.computation())
    return Unimplemented(op.name, ": the probe ", name, " is in another region");
  AddCheck(body, "check.expect_eq", {value, probe->second});
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
