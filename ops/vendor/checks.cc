// Checks: custom calls that stop a run where two values differ.
//
//   custom-call(actual, expected), custom_call_target="check.expect_close",
//       backend_config={max_ulp_difference = 3 : ui64}
//
// The operations of StableHLO's dialect `check` become such calls, and the programs that JAX wrote
// for StableHLO's tests have them as they are. NaN agrees with NaN, an infinity with itself alone.
// Complex numbers agree where both parts do. Integers have to be equal, whatever the tolerance.
//
// Limit: a lower bound on the difference (min_ulp_difference) is refused.
#include "ops/vendor/checks.h"

#include "absl/strings/ascii.h"
#include "ops/vendor/call_config.h"
#include "support/status.h"
#include "types/compare.h"

namespace hlokit {
namespace {

// What a target allows where its configuration says nothing.
constexpr struct {
  absl::string_view target;
  CompareOptions allowed;
} kChecks[] = {
    {"check.eq", {/*abs_error=*/1e-3, /*rel_error=*/1e-3}},
    {"check.expect_almost_eq", {/*abs_error=*/1e-3}},
    {"check.expect_close", {/*abs_error=*/0, /*rel_error=*/0, /*ulps=*/3}},
    {"check.expect_eq", {}},
};

absl::StatusOr<CompareOptions> Allowed(const EvalContext& context, absl::string_view target) {
  CompareOptions allowed;
  for (const auto& row : kChecks)
    if (row.target == target) allowed = row.allowed;
  ASSIGN_OR_RETURN(const ConfigValue config, ParseCallConfig(context.instruction.backend_config()));
  allowed.abs_error = config.NumberOr("tolerance", allowed.abs_error);
  const double ulps = config.NumberOr("max_ulp_difference", static_cast<double>(allowed.ulps));
  allowed.ulps = ulps < 0x1p62 ? static_cast<int64_t>(ulps) : int64_t{1} << 62;
  if (config.NumberOr("min_ulp_difference", 0) != 0)
    return Unimplemented("custom-call ", target, ": min_ulp_difference is not supported");
  return allowed;
}

}  // namespace

bool IsCheckTarget(absl::string_view target) {
  for (const auto& row : kChecks)
    if (row.target == target) return true;
  return false;
}

absl::StatusOr<Literal> EvaluateCheck(const EvalContext& context) {
  const absl::string_view target = context.instruction.attr<CustomCallAttrs>().target;
  const Shape& shape = context.instruction.shape();
  const bool gives = target == "check.eq";
  const Shape expected = gives ? Shape::Scalar(ElementType::kPred) : Shape::Tuple({});
  if (context.operands.size() != 2 || !Compatible(shape, expected))
    return InvalidArgument("custom-call ", target, " takes 2 operands and gives ", Text(expected));
  ASSIGN_OR_RETURN(const CompareOptions allowed, Allowed(context, target));
  const CompareResult result = Compare(*context.operands[1], *context.operands[0], allowed);
  if (gives) {
    Literal value(shape);
    value.SetInt(0, result.equal);
    return value;
  }
  if (result.equal) return Literal(shape);
  const std::string why = result.shape_mismatch.empty() ? result.Report() : result.shape_mismatch;
  return absl::FailedPreconditionError(
      absl::StrCat(target, " does not hold: ", absl::StripTrailingAsciiWhitespace(why)));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
