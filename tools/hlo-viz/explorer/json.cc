// Texts and numbers as JSON.
#include <cmath>

#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "support/json_value.h"
#include "tools/hlo-viz/explorer/json_internal.h"

namespace hlokit {

// A page may hold the text inside <script>, where `</` would end it.
void AppendJsonText(std::string& out, absl::string_view text) {
  out += absl::StrReplaceAll(JsonQuote(text), {{"<", "\\u003c"}});
}

void AppendJsonNumber(std::string& out, double value) {
  constexpr double kExact = 9007199254740992.0;
  if (!std::isfinite(value)) {
    out += '0';
  } else if (std::abs(value) < kExact && value == std::floor(value)) {
    absl::StrAppend(&out, static_cast<int64_t>(value));
  } else {
    absl::StrAppendFormat(&out, "%.7g", value);
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
