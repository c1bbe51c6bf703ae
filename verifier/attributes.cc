// Attributes that are well spelt but say nothing sound: bounds, and frontend attributes with a
// meaning.
#include <cmath>

#include "absl/strings/numbers.h"
#include "verifier/verifier_internal.h"

namespace hlokit {
namespace {

bool IsBound(double value) { return value >= 0 && std::isfinite(value); }

// [accuracy-c1] a tolerance is finite and not negative.
void CheckAccuracy(VerifyRun& run, const Instruction& i) {
  ResultAccuracy accuracy;
  VisitAttributes(i.opcode(), i.attributes(), [&](const auto& attr) {
    if constexpr (requires { attr.result_accuracy; }) accuracy = attr.result_accuracy;
  });
  if (!IsBound(accuracy.atol) || !IsBound(accuracy.rtol) || accuracy.ulps < 0)
    run.Error(i, "accuracy-c1",
              "expects finite numbers of at least 0 as tolerances, found atol=", accuracy.atol,
              ", rtol=", accuracy.rtol, ", ulps=", accuracy.ulps);
}

// The value of a frontend attribute, or null.
const std::string* FrontendAttribute(const Instruction& i, absl::string_view key) {
  for (const auto& [name, value] : i.extras().frontend_attributes)
    if (name == key) return &value;
  return nullptr;
}

// [call-c10] a composite has a name, and attributes that are not empty; [call-c11] its version is a
// number that is not negative.
void CheckComposite(VerifyRun& run, const Instruction& i) {
  if (!i.attr<CallAttrs>().is_composite) return;
  const std::string* name = FrontendAttribute(i, "composite.name");
  const std::string* attributes = FrontendAttribute(i, "composite.attributes");
  const std::string* version = FrontendAttribute(i, "composite.version");
  if (name == nullptr || name->empty())
    run.Error(i, "call-c10", "expects composite.name in frontend_attributes, found ",
              name == nullptr ? "none" : "an empty one");
  if (attributes != nullptr && attributes->empty())
    run.Error(i, "call-c10", "expects a dictionary as composite.attributes, found an empty text");
  int64_t number = 0;
  if (version != nullptr && (!absl::SimpleAtoi(*version, &number) || number < 0))
    run.Error(i, "call-c11", "expects a number of at least 0 as composite.version, found ",
              *version);
}

// [parameter-c10] parameter_replication has an entry for each leaf.
void CheckReplication(VerifyRun& run, const Instruction& i) {
  const size_t stated = i.attr<ParameterAttrs>().replicated.size();
  const size_t leaves = Leaves(i.shape()).size();
  if (stated != 0 && stated != leaves)
    run.Error(i, "parameter-c10", "expects an entry for each of the ", leaves, " arrays of ",
              Text(i.shape()), " in parameter_replication, found ", stated);
}

}  // namespace

void CheckAttributes(VerifyRun& run) {
  run.ForEachInstruction([&](const Instruction& i) {
    CheckAccuracy(run, i);
    if (i.opcode() == Opcode::kCall) CheckComposite(run, i);
    if (i.opcode() == Opcode::kParameter) CheckReplication(run, i);
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
