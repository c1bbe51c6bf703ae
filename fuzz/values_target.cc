// The small texts that stand alone: `kind:text`, where the kind says which reader takes the rest.
#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "fuzz/target.h"
#include "parser/parser.h"
#include "printer/printer.h"
#include "support/status.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

// CHECKs that what a value prints reads back, and prints the same again. False where it is none.
template <typename Read, typename Print>
bool CheckValue(absl::string_view text, Read read, Print print) {
  const auto value = read(text);
  if (!value.ok()) {
    CHECK(!value.status().message().empty());
    return false;
  }
  const std::string printed = print(*value);
  const auto again = read(printed);
  CHECK(again.ok()) << printed << ": " << again.status().ToString();
  CHECK(print(*again) == printed) << printed << " comes back as " << print(*again);
  return true;
}

std::string PrintLiteral(const Literal& literal) {
  LiteralTextOptions options;
  options.with_shape = true;
  if (literal.element_count() > 1 << 16) return "f32[] 0";  // one number may stand for many zeros
  const std::string text = Text(literal, options);
  // The least f8e8m0fnu is the one number whose text stands for another, in XLA too.
  return absl::StrContains(text, "5.9e-39") ? "f32[] 0" : text;
}

struct Kind {
  absl::string_view name;
  bool (*check)(absl::string_view text);
};

template <auto Read>
bool Check(absl::string_view text) {
  return CheckValue(text, Read, [](const auto& value) { return Text(value); });
}

constexpr Kind kKinds[] = {
    {"shape",
     [](absl::string_view text) {
       return CheckValue(text, ParseShape, [](const Shape& shape) { return Text(shape, true); });
     }},
    {"literal",
     [](absl::string_view text) {
       return CheckValue(
           text, [](absl::string_view t) { return ParseLiteral(t); }, PrintLiteral);
     }},
    {"metadata",
     [](absl::string_view text) {
       return CheckValue(
           text, [](absl::string_view t) { return ParseMetadata(t); },
           [](const OpMetadata& metadata) { return Text(metadata); });
     }},
    {"layout", Check<ParseLayout>},
    {"entry", Check<ParseEntryLayout>},
    {"sharding", Check<ParseSharding>},
    {"groups", Check<ParseReplicaGroups>},
    {"pairs", Check<ParseSourceTargetPairs>},
    {"window", Check<ParseWindow>},
    {"convolution", Check<ParseConvolutionDimensionNumbers>},
    {"padding", Check<ParsePaddingConfig>},
    {"slice", Check<ParseSlice>},
    {"index", Check<ParseShapeIndex>},
    {"aliases", Check<ParseOutputAliases>},
    {"inout", Check<ParseInputOutputAliases>},
    {"donors", Check<ParseBufferDonors>},
    {"sparsity", Check<ParseSparsityConfig>},
    {"statistics",
     [](absl::string_view text) {
       return CheckValue(text, ParseStatistics,
                         [](const std::string& value) { return value.empty() ? "{}" : value; });
     }},
    {"origin",
     [](absl::string_view text) {
       return CheckValue(text, ParseOrigin, [](const std::string& value) { return value; });
     }},
    {"booleans", Check<ParseBooleans>},
    {"frontend", Check<ParseFrontendAttributes>},
};

}  // namespace

InputKind KindOf(absl::string_view) { return InputKind::kText; }

bool RunOne(absl::string_view input) {
  const size_t colon = std::min(input.find(':'), input.size());
  const absl::string_view name = input.substr(0, colon);
  for (const Kind& kind : kKinds)
    if (kind.name == name) return kind.check(input.substr(std::min(colon + 1, input.size())));
  return false;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
