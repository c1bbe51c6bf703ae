// The small texts that stand alone: `kind:text`, where the kind says which reader takes the rest.
#include <string>

#include "absl/strings/match.h"
#include "fuzz/target.h"
#include "parser/parser.h"
#include "printer/printer.h"
#include "support/status.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

// CHECKs that what a value prints reads back, and prints the same again.
template <typename Read, typename Print>
void CheckValue(absl::string_view text, Read read, Print print) {
  const auto value = read(text);
  if (!value.ok()) {
    CHECK(!value.status().message().empty());
    return;
  }
  const std::string printed = print(*value);
  const auto again = read(printed);
  CHECK(again.ok()) << printed << ": " << again.status().ToString();
  CHECK(print(*again) == printed) << printed << " comes back as " << print(*again);
}

std::string PrintLiteral(const Literal& literal) {
  LiteralTextOptions options;
  options.with_shape = true;
  return Text(literal, options);
}

}  // namespace

const InputKind kInputKind = InputKind::kText;

void RunOne(absl::string_view input) {
  const size_t colon = std::min(input.find(':'), input.size());
  const absl::string_view kind = input.substr(0, colon);
  const absl::string_view text = input.substr(std::min(colon + 1, input.size()));
  if (kind == "literal") {
    CheckValue(
        text, [](auto t) { return ParseLiteral(t); }, PrintLiteral);
  } else if (kind == "sharding") {
    CheckValue(text, ParseSharding, [](const Sharding& s) { return Text(s); });
  } else {
    CheckValue(text, ParseShape, [](const Shape& s) { return Text(s, true); });
  }
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
