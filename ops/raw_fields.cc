// Splitting of braced text at its own commas.
#include "ops/raw_fields.h"

#include "absl/strings/ascii.h"

namespace hlokit {
namespace {

// The length of the first field: up to a comma outside of inner braces and quotes.
size_t FieldLength(absl::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && quoted) {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted) {
      depth += (text[i] == '{') - (text[i] == '}');
      if (text[i] == ',' && depth == 0) return i;
    }
  }
  return text.size();
}

}  // namespace

std::optional<std::vector<std::pair<absl::string_view, absl::string_view>>> RawFields(
    absl::string_view braced) {
  braced = absl::StripAsciiWhitespace(braced);
  if (braced.size() < 2 || braced.front() != '{' || braced.back() != '}') return std::nullopt;
  braced = braced.substr(1, braced.size() - 2);
  std::vector<std::pair<absl::string_view, absl::string_view>> fields;
  while (!absl::StripAsciiWhitespace(braced).empty()) {
    const size_t length = FieldLength(braced);
    const absl::string_view field = braced.substr(0, length);
    braced.remove_prefix(length < braced.size() ? length + 1 : length);
    const size_t equals = field.find('=');
    if (equals == absl::string_view::npos) return std::nullopt;
    fields.emplace_back(absl::StripAsciiWhitespace(field.substr(0, equals)),
                        absl::StripAsciiWhitespace(field.substr(equals + 1)));
  }
  return fields;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
