// Shardings and frontend attributes, which stand beside an operation's own.
#include <algorithm>

#include "absl/strings/strip.h"
#include "parser/parser.h"
#include "stablehlo/convert/converter_internal.h"
#include "stablehlo/ir/print.h"

namespace hlokit {
namespace {

// Attributes that XLA passes on under another name, as MLIR prints them.
constexpr std::pair<const char*, const char*> kPassedOn[] = {
    {"sdy.sharding", "xla.sdy.sharding"},
    {"sdy.sharding_rule", "xla.sdy.sharding_rule"},
};

// `{devices=[1,1]0}`, as frameworks write for a mesh of one device: XLA takes it for no sharding.
bool IsOneTile(absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "{devices=[")) return false;
  const size_t end = text.find(']');
  return end != text.npos && text.substr(0, end).find_first_not_of("1,") == text.npos &&
         text.substr(0, end).find("11") == text.npos;
}

// Errors carry no place in `text`: the operation's is meant.
absl::Status SetSharding(const std::string& text, Instruction& instruction) {
  if (IsOneTile(text)) return absl::OkStatus();
  absl::StatusOr<Sharding> sharding = ParseSharding(text);
  if (!sharding.ok())
    return InvalidArgument("mhlo.sharding = \"", text, "\": ", sharding.status().message());
  instruction.mutable_extras().sharding = std::make_unique<Sharding>(*std::move(sharding));
  return absl::OkStatus();
}

}  // namespace

void AddFrontendAttribute(Instruction& instruction, const std::string& name,
                          const std::string& value) {
  auto& all = instruction.mutable_extras().frontend_attributes;
  const auto place =
      std::lower_bound(all.begin(), all.end(), name,
                       [](const auto& a, const std::string& b) { return a.first < b; });
  if (place == all.end() || place->first != name) all.insert(place, {name, value});
}

absl::Status SetExtraAttributes(const MlirAttributes& attributes, Instruction& instruction) {
  for (const auto& [name, value] : attributes) {
    if (name == "mhlo.sharding") {
      RETURN_IF_ERROR(SetSharding(value->text, instruction));
    } else if (name == "mhlo.frontend_attributes") {
      for (const auto& [key, text] : value->fields)
        AddFrontendAttribute(
            instruction, key,
            text->kind == MlirAttribute::Kind::kString ? text->text : PrintMlir(*text));
    } else {
      // A rule of sdy in bytecode is not read; it guides propagation alone.
      const bool unread = value->kind == MlirAttribute::Kind::kOpaque && value->text.empty();
      for (const auto& [from, to] : kPassedOn)
        if (name == from && !unread) AddFrontendAttribute(instruction, to, PrintMlir(*value));
    }
  }
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
