// Reads the attributes that every instruction may have.
#include "parser/extras_internal.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "parser/module_parser_internal.h"
#include "parser/shardings_internal.h"
#include "parser/values_internal.h"
#include "support/text.h"

namespace hlokit {
namespace {

enum CommonBit : uint32_t {
  kMetadata = 1,
  kSharding = 2,
  kBackendConfig = 4,
  kFrontend = 8,
  kControl = 16,
  kStatistics = 32,
  kOrigin = 64,
};

CommonBit CommonFromName(absl::string_view name) {
  constexpr std::pair<absl::string_view, CommonBit> kNames[] = {{"metadata", kMetadata},
                                                                {"sharding", kSharding},
                                                                {"backend_config", kBackendConfig},
                                                                {"frontend_attributes", kFrontend},
                                                                {"control-predecessors", kControl},
                                                                {"statistics", kStatistics},
                                                                {"origin", kOrigin}};
  for (const auto& [text, bit] : kNames)
    if (text == name) return bit;
  return CommonBit();
}

// A string, unquoted, or a dictionary as it stands.
bool ReadStringOrDict(Reader& r, std::string& value, bool& is_dict) {
  is_dict = r.Peek() == '{';
  if (!is_dict) return r.String(value);
  absl::string_view text;
  if (!r.Balanced(text)) return false;
  value.assign(text.data(), text.size());
  return true;
}

struct TextPart {
  absl::string_view name;
  std::string OpMetadata::*member;
};
struct NumberPart {
  absl::string_view name;
  int64_t OpMetadata::*member;
};
constexpr TextPart kTextParts[] = {{"op_name", &OpMetadata::op_name},
                                   {"op_type", &OpMetadata::op_type},
                                   {"source_file", &OpMetadata::source_file},
                                   {"deduplicated_name", &OpMetadata::deduplicated_name},
                                   {"scheduling_name", &OpMetadata::scheduling_name},
                                   {"metadata_payload", &OpMetadata::metadata_payload}};
constexpr NumberPart kNumberParts[] = {
    {"stack_frame_id", &OpMetadata::stack_frame_id},
    {"source_line", &OpMetadata::source_line},
    {"source_end_line", &OpMetadata::source_end_line},
    {"source_column", &OpMetadata::source_column},
    {"source_end_column", &OpMetadata::source_end_column},
    {"size_of_generated_code_in_bytes", &OpMetadata::size_of_generated_code_in_bytes},
    {"size_of_memory_working_set_in_bytes", &OpMetadata::size_of_memory_working_set_in_bytes}};

enum class PartOutcome { kRead, kFailed, kUnknown };

// kUnknown leaves the reader where it is.
PartOutcome ReadMetadataPart(Reader& r, absl::string_view name, OpMetadata& metadata) {
  for (const TextPart& part : kTextParts)
    if (part.name == name)
      return r.String(metadata.*part.member) ? PartOutcome::kRead : PartOutcome::kFailed;
  for (const NumberPart& part : kNumberParts)
    if (part.name == name)
      return r.Int(metadata.*part.member) ? PartOutcome::kRead : PartOutcome::kFailed;
  absl::string_view text;
  if (name == "profile_type") {
    if (!r.Balanced(text)) return PartOutcome::kFailed;
    metadata.profile_type = std::string(text);
    return PartOutcome::kRead;
  }
  if (name == "preserve_layout")
    return r.AnyValue(text) ? PartOutcome::kRead : PartOutcome::kFailed;
  return PartOutcome::kUnknown;
}

// The value of a part that this version does not know.
bool KeepMetadataPart(Reader& r, const char* at, absl::string_view name, OpMetadata& metadata) {
  const char* value = r.Here();
  std::string ignored;
  absl::string_view text;
  const bool quoted = r.Peek() == '"';
  if (quoted ? !r.String(ignored) : r.Peek() == '{' ? !r.Balanced(text) : r.Word().empty()) {
    int64_t number = 0;
    if (quoted || !r.Int(number)) return false;
  }
  r.diagnostics().Warning(r.PlaceAt(at), "", "unknown metadata '", name, "' is kept as text");
  absl::StrAppend(&metadata.others, metadata.others.empty() ? "" : " ", name, "=",
                  absl::string_view(value, r.raw_position() - value));
  return true;
}

}  // namespace

bool ReadMetadata(Reader& r, bool keep_unknown, OpMetadata& metadata) {
  if (!r.Eat('{', "before the metadata")) return false;
  while (!r.TryEat('}')) {
    const char* at = r.Here();
    const absl::string_view name = r.Word();
    if (name.empty()) return r.Expected("a part of the metadata or '}'");
    if (!r.Eat('=', "after the name")) return false;
    const PartOutcome outcome = ReadMetadataPart(r, name, metadata);
    if (outcome == PartOutcome::kFailed) return false;
    if (outcome == PartOutcome::kUnknown) {
      if (!keep_unknown)
        return r.Error(at, "unknown metadata '", name, "'; --allow-unknown-attributes keeps it");
      if (!KeepMetadataPart(r, at, name, metadata)) return false;
    }
    r.TryEat(',');
  }
  return true;
}

bool ReadFrontendAttributes(Reader& r, FrontendAttributes& attributes) {
  const bool ok = r.List('{', '}', [&] {
    const absl::string_view key = r.Word();
    if (key.empty()) return r.Expected("a name");
    std::string value;
    bool is_dict = false;
    if (!r.Eat('=', "after the name") || !ReadStringOrDict(r, value, is_dict)) return false;
    attributes.emplace_back(std::string(key), std::move(value));
    return true;
  });
  auto by_key = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::stable_sort(attributes.begin(), attributes.end(), by_key);
  // Of equal keys the last one counts.
  auto same_key = [](const auto& a, const auto& b) { return a.first == b.first; };
  const auto end = std::unique(attributes.rbegin(), attributes.rend(), same_key);
  attributes.erase(attributes.begin(), end.base());
  return ok;
}

ModuleParser::Outcome ModuleParser::ReadCommon(Scope& scope, Instruction& instruction,
                                               absl::string_view name, Seen& seen, const char* at) {
  const CommonBit bit = CommonFromName(name);
  if (bit == 0) return Outcome::kUnknown;
  if ((seen.common & bit) != 0) return Twice(name, at), Outcome::kFailed;
  seen.common |= bit;
  auto done = [](bool ok) { return ok ? Outcome::kRead : Outcome::kFailed; };
  if (bit == kControl) return done(ReadControlPredecessors(scope, instruction));
  InstructionExtras& extras = instruction.mutable_extras();
  absl::string_view text;
  switch (bit) {
    case kMetadata:
      return done(ReadMetadata(reader_, options_.allow_unknown_attributes, extras.metadata));
    case kFrontend:
      return done(ReadFrontendAttributes(reader_, extras.frontend_attributes));
    case kBackendConfig:
      return done(ReadStringOrDict(reader_, extras.backend_config, extras.backend_config_is_raw));
    case kStatistics:
      return done(ReadStatistics(extras.statistics));
    case kSharding:
      extras.sharding = std::make_unique<Sharding>();
      return done(ReadSharding(reader_, *extras.sharding));
    default:
      if (!reader_.Balanced(text)) return Outcome::kFailed;
      extras.origin = TidySpacing(text);
      return Outcome::kRead;
  }
}

// `{visualizing_index=0,name=1.5}`, brought to one spelling; empty ones are dropped.
bool ModuleParser::ReadStatistics(std::string& text) {
  const bool ok = reader_.List('{', '}', [&] {
    const absl::string_view name = reader_.Word();
    if (name.empty()) return reader_.Expected("a name");
    double value = 0;
    if (!reader_.Eat('=', "after the name") || !reader_.Double(value)) return false;
    absl::StrAppend(&text, text.empty() ? "{" : ",", name, "=", value);
    return true;
  });
  if (!text.empty()) text += '}';
  return ok;
}

bool ModuleParser::ReadControlPredecessors(Scope& scope, Instruction& instruction) {
  return reader_.List('{', '}', [&] {
    const char* at = reader_.Here();
    absl::string_view name;
    if (!reader_.Name(name, "an instruction")) return false;
    const NameTable::Entry* entry = scope.names->Find(name);
    if (entry == nullptr || (entry->instruction == nullptr && !entry->broken))
      return Undefined(scope, name, at);
    if (entry->instruction == nullptr) return false;
    instruction.AddControlPredecessor(entry->instruction);
    return true;
  });
}

void ModuleParser::ShareExtras(const Instruction& from, Instruction& to) {
  if (!from.HasExtras()) return;
  const InstructionExtras& extras = from.extras();
  InstructionExtras& shared = to.mutable_extras();
  shared.metadata = extras.metadata;
  shared.backend_config = extras.backend_config;
  shared.backend_config_is_raw = extras.backend_config_is_raw;
  shared.frontend_attributes = extras.frontend_attributes;
  shared.statistics = extras.statistics;
  shared.origin = extras.origin;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
