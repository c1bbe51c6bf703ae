// Checks: custom calls that stop a run where two values differ.
//
//   custom-call(actual, expected), custom_call_target="check.expect_close",
//       backend_config={max_ulp_difference = 3 : ui64}
//
// The operations of StableHLO's dialect `check` become such calls, and the programs that JAX wrote
// for StableHLO's tests have them as they are. NaN agrees with NaN, an infinity with itself alone.
// Complex numbers agree where both parts do. Integers have to be equal, whatever the tolerance. A
// lower bound on the difference (min_ulp_difference) has to be met by each element; values of which
// one alone is no finite number are as far apart as can be, and a check that allows that distance
// allows anything.
#include "ops/vendor/checks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "absl/strings/ascii.h"
#include "ops/vendor/call_config.h"
#include "support/status.h"
#include "types/compare.h"

namespace hlokit {
namespace {

// The distance of a finite number from one that is none, and what is allowed where it is.
constexpr double kAnyDistance = 0x1p62;
constexpr int64_t kNoBound = int64_t{1} << 62;

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
  allowed.ulps = ulps < kAnyDistance ? static_cast<int64_t>(ulps) : kNoBound;
  return allowed;
}

// The distance of the parts at `offset`, of scalars of that type.
double Distance(const Literal& a, const Literal& b, ElementType type, int64_t offset) {
  Literal parts[2] = {Literal(Shape::Scalar(type)), Literal(Shape::Scalar(type))};
  uint64_t bits[2] = {0, 0};
  for (int side = 0; side < 2; ++side) {
    const uint8_t* from = (side == 0 ? a : b).data() + offset;
    std::memcpy(parts[side].data(), from, ByteWidth(type));
    std::memcpy(&bits[side], from, ByteWidth(type));
  }
  const double x = parts[0].GetDouble(0), y = parts[1].GetDouble(0);
  if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
  if (!std::isfinite(x) || !std::isfinite(y)) return 0x1p64;
  return static_cast<double>(UlpDistance(type, bits[0], bits[1]));
}

// The first element of which all parts are nearer than `least` units in the last place.
std::optional<int64_t> FirstTooNear(const Literal& a, const Literal& b, double least) {
  const ElementType part = RealComponent(a.type());
  const int64_t width = ByteWidth(part), parts = IsComplex(a.type()) ? 2 : 1;
  for (int64_t i = 0; i < a.element_count(); ++i) {
    double far = 0;
    for (int64_t k = 0; k < parts; ++k)
      far = std::max(far, Distance(a, b, part, (i * parts + k) * width));
    if (far < least) return i;
  }
  return std::nullopt;
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
  ASSIGN_OR_RETURN(const ConfigValue config, ParseCallConfig(context.instruction.backend_config()));
  const Literal &actual = *context.operands[0], &wanted = *context.operands[1];
  const double least = config.NumberOr("min_ulp_difference", 0);
  if (least > 0 && IsFloat(RealComponent(actual.type())) &&
      SameIgnoringLayout(actual.shape(), wanted.shape()))
    if (const auto near = FirstTooNear(actual, wanted, std::min(least, kAnyDistance)))
      return absl::FailedPreconditionError(absl::StrCat(target, " does not hold: element ", *near,
                                                        " is nearer than ", least, " ulps"));
  if (allowed.ulps == kNoBound && actual.shape() == wanted.shape()) return Literal(shape);
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
