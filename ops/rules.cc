// The table of rules and the way from a label to its row.
#include "ops/rules.h"

#include <array>

#include "absl/strings/numbers.h"
#include "ir/opcode.h"

namespace hlokit {
namespace {

constexpr OpRule kRules[] = {
#define HLO_RULE(owner, number, source, text) {#owner, number, source, text},
#include "ops/rules.def"
#undef HLO_RULE
};

// The inference function of each opcode, by name.
constexpr std::array<absl::string_view, kOpcodeCount> kInferName = {{
#define HLO_OP(enumerator, text, arity, attrs, calls, traits, infer, evaluate, ...) #infer,
#include "ir/ops.def"
#undef HLO_OP
}};

const OpRule* Find(absl::string_view owner, int number) {
  for (const OpRule& rule : kRules)
    if (rule.number == number && rule.owner == owner) return &rule;
  return nullptr;
}

}  // namespace

absl::Span<const OpRule> Rules() { return kRules; }

const OpRule* FindRule(absl::string_view label) {
  const size_t at = label.rfind("-c");
  int number = 0;
  if (at == absl::string_view::npos || !absl::SimpleAtoi(label.substr(at + 2), &number))
    return nullptr;
  const absl::string_view name = label.substr(0, at);
  if (const OpRule* rule = Find(name, number)) return rule;
  for (int i = 0; i < kOpcodeCount; ++i) {
    if (Text(static_cast<Opcode>(i)) != name) continue;
    if (const OpRule* rule = Find(kInferName[i], number)) return rule;
    return Find("Each", number);
  }
  return nullptr;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
