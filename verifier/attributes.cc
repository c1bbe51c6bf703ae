// Attributes that are well spelt but say nothing sound: those kept as text, and frontend attributes
// with a meaning.
#include <cmath>

#include "absl/strings/numbers.h"
#include "ops/raw_fields.h"
#include "verifier/verifier_internal.h"

namespace hlokit {
namespace {

bool IsTolerance(absl::string_view text) {
  const auto parts = RawFields(text);
  if (!parts || parts->empty()) return false;
  for (const auto& [name, value] : *parts) {
    double number;
    if ((name != "atol" && name != "rtol" && name != "ulps") || !absl::SimpleAtod(value, &number) ||
        !(number >= 0) || std::isinf(number))
      return false;
  }
  return true;
}

// [accuracy-c1] {mode=..} or {tolerance={..}}.
void CheckAccuracy(VerifyRun& run, const Instruction& i) {
  const std::string* text = VisitAttributes(i.opcode(), i.attributes(), [](const auto& attr) {
    const std::string* found = nullptr;
    if constexpr (requires { attr.result_accuracy; }) found = &attr.result_accuracy.text;
    return found;
  });
  if (text == nullptr || text->empty()) return;
  const auto fields = RawFields(*text);
  bool sound = fields && fields->size() == 1;
  if (sound) {
    const auto& [name, value] = fields->front();
    sound = name == "mode" ? value == "default" || value == "highest"
                           : name == "tolerance" && IsTolerance(value);
  }
  if (!sound)
    run.Error(i, "accuracy-c1",
              "expects {mode=default}, {mode=highest} or {tolerance={atol=..,rtol=..,ulps=..}} as "
              "result_accuracy, found ",
              *text);
}

// [domain-c10] kind="sharding", an entry and an exit.
void CheckDomain(VerifyRun& run, const Instruction& i) {
  const std::string& text = i.attr<DomainAttrs>().domain.text;
  const auto fields = RawFields(text);
  bool kind = false, entry = false, exit = false;
  if (fields) {
    for (const auto& [name, value] : *fields) {
      kind |= name == "kind" && value == "\"sharding\"";
      entry |= name == "entry";
      exit |= name == "exit";
    }
  }
  if (!kind || !entry || !exit)
    run.Error(i, "domain-c10", "expects {kind=\"sharding\", entry={..}, exit={..}}, found ", text);
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
    if (i.opcode() == Opcode::kDomain) CheckDomain(run, i);
    if (i.opcode() == Opcode::kCall) CheckComposite(run, i);
    if (i.opcode() == Opcode::kParameter) CheckReplication(run, i);
  });
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
