// What the reader and the verifier make of a text, and how long they take.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "printer/printer.h"

namespace hlokit {

enum class Verdict { kAccepted, kParserRefuses, kVerifierRefuses };
absl::string_view Text(Verdict verdict);

struct Judgement {
  Verdict verdict = Verdict::kAccepted;
  double cpu_seconds = 0;
  std::string message;      // "LINE:COLUMN: what", the first error
  std::string printed;      // as `options` say, where the parser accepts
  bool fixed_point = true;  // what was printed reads and prints as itself
};

// `check_fixed_point`: only texts that the verifier accepts are held to it.
Judgement Judge(absl::string_view text, const PrintOptions& options, bool check_fixed_point);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
