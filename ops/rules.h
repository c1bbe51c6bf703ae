// The rules of well-formed modules, by the labels that errors carry: add-c4, group-c3.
#pragma once

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace hlokit {

// A row of rules.def. `owner` is what stands before "-c" in the label: an opcode's inference
// function (the rule is then one of each op that it infers), or a name in lower case.
struct OpRule {
  absl::string_view owner;
  int number;
  absl::string_view source;
  absl::string_view text;
};

absl::Span<const OpRule> Rules();

// The rule that a label names, or null.
const OpRule* FindRule(absl::string_view label);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
