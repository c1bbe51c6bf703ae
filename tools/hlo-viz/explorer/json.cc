// Texts and numbers as JSON.
#include <cmath>

#include "absl/strings/str_format.h"
#include "tools/hlo-viz/explorer/json_internal.h"

namespace hlokit {

void AppendJsonText(std::string& out, absl::string_view text) {
  out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < ' ' || c == '<') {
      absl::StrAppendFormat(&out, "\\u%04x", c);
    } else {
      out += c;
    }
  }
  out += '"';
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
