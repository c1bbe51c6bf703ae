// Reads the attributes that every instruction may have.
//
// Metadata, sharding, control predecessors, frontend attributes, backend configs and statistics.
// Instructions that came from one line of a program have the same metadata, which is read once and
// shared.
#include "parser/extras_internal.h"
#include "parser/metadata_internal.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "parser/module_parser_internal.h"
#include "parser/normalize.h"
#include "parser/origins_internal.h"
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

// A string, unquoted, or a dictionary as it stands; `unescaped` may hold what `value` shows.
bool ReadStringOrDict(Reader& r, absl::string_view& value, std::string& unescaped, bool& is_dict) {
  is_dict = r.Peek() == '{';
  return is_dict ? r.Balanced(value) : r.String(value, unescaped);
}

}  // namespace

void NormalizeBackendConfig(std::string& config) {
  constexpr absl::string_view kKey = "\"wait_on_operation_queues\"";
  for (size_t start = config.find(kKey.data()); start != std::string::npos;
       start = config.find(kKey.data(), start)) {
    absl::string_view rest = absl::string_view(config).substr(start + kKey.size());
    bool empty = true;
    for (const char* part : {":", "[", "]", ","}) {
      rest = absl::StripLeadingAsciiWhitespace(rest);
      empty = empty && absl::ConsumePrefix(&rest, part);
    }
    if (empty)
      config.erase(start, config.size() - rest.size() - start);
    else
      start += kKey.size();
  }
}

bool ReadStatistics(Reader& r, std::string& text) {
  text.clear();
  bool any = false;
  const bool ok = r.List('{', '}', [&] {
    absl::string_view name;
    if (!r.AttributeName(name, "a name")) return false;
    if (text.empty()) {
      int64_t index = 0;
      if (!r.Int(index)) return false;
      text = absl::StrCat("{visualizing_index=", index);
      return true;
    }
    double value = 0;
    const char* at = r.Here();
    if (!r.AttributeNumber(value)) return false;
    if (std::isinf(value)) return r.Error(at, "a statistic cannot be infinite");
    absl::StrAppend(&text, ",", name, "=", value);
    return any = true;
  });
  text = any ? absl::StrCat(text, "}") : std::string();
  return ok;
}

bool ReadFrontendAttributes(Reader& r, FrontendAttributes& attributes) {
  const bool ok = r.List('{', '}', [&] {
    absl::string_view key, value;
    std::string unescaped;
    bool is_dict = false;
    if (!r.AttributeName(key, "a name") || !ReadStringOrDict(r, value, unescaped, is_dict))
      return false;
    attributes.emplace_back(std::string(key), std::string(value));
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
  if (bit == kMetadata) return done(ReadSharedMetadata(instruction));
  InstructionExtras& extras = instruction.mutable_extras();
  absl::string_view text;
  std::string made;
  bool ok = true;
  switch (bit) {
    case kFrontend:
      return done(ReadFrontendAttributes(reader_, extras.frontend_attributes));
    case kBackendConfig:
      if (!ReadStringOrDict(reader_, text, made, extras.backend_config_is_raw))
        return Outcome::kFailed;
      made = std::string(text);
      NormalizeBackendConfig(made);
      extras.backend_config = texts_.Get(made);
      return Outcome::kRead;
    case kStatistics:
      ok = ReadStatistics(reader_, made);
      extras.statistics = made;
      return done(ok);
    case kSharding:
      extras.sharding = std::make_unique<Sharding>();
      return done(ReadSharding(reader_, *extras.sharding));
    default:
      ok = ReadOrigin(reader_, made);
      extras.origin = made;
      return done(ok);
  }
}

// Instructions that came from one line of a program have the same metadata.
bool ModuleParser::ReadSharedMetadata(Instruction& instruction) {
  const absl::string_view text = reader_.PeekBraced();
  if (const Shared<OpMetadata>* known = metadata_.Find(text); known != nullptr) {
    instruction.set_metadata(*known);
    reader_.MoveTo(text.end());
    return true;
  }
  OpMetadata metadata;
  if (!ReadMetadata(reader_, options_.allow_unknown_attributes, texts_, metadata)) return false;
  const bool plain = metadata.others.empty() && reader_.raw_position() == text.end();
  instruction.set_metadata(std::move(metadata));
  if (plain) metadata_.Add(text, instruction.shared_metadata());
  return true;
}

bool ModuleParser::ReadControlPredecessors(Scope& scope, Instruction& instruction) {
  const char* start = reader_.Here();
  const bool ok = reader_.List('{', '}', [&] {
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
  return ok && (!instruction.control_predecessors().empty() ||
                reader_.Error(start, "control-predecessors names no instruction"));
}

// As in XLA, these attributes of an asynchronous operation are also those of what it runs.
void ModuleParser::GiveToWrapped(const Instruction& async, uint32_t common) {
  if ((common & ~(kSharding | kControl)) == 0) return;
  const Instruction* start = &async;
  while (start->called().empty() && start->operand_count() > 0 &&
         Info(start->opcode()).calls == CallForm::kAsyncCalls)
    start = start->operand(0);
  if (start->opcode() != Opcode::kAsyncStart || start->called().empty()) return;
  Instruction& wrapped = *start->called(0)->root();
  if ((common & kMetadata) != 0) wrapped.set_metadata(async.shared_metadata());
  if ((common & ~kMetadata) == 0) return;
  const InstructionExtras& from = async.extras();
  InstructionExtras& to = wrapped.mutable_extras();
  if ((common & kFrontend) != 0) to.frontend_attributes = from.frontend_attributes;
  if ((common & kStatistics) != 0) to.statistics = from.statistics;
  if ((common & kOrigin) != 0) to.origin = from.origin;
  if ((common & kBackendConfig) == 0) return;
  to.backend_config = from.backend_config;
  to.backend_config_is_raw = from.backend_config_is_raw;
}

void ModuleParser::ShareExtras(const Instruction& from, Instruction& to) {
  to.set_metadata(from.shared_metadata());
  if (!from.HasExtras()) return;
  const InstructionExtras& extras = from.extras();
  InstructionExtras& shared = to.mutable_extras();
  shared.backend_config = extras.backend_config;
  shared.backend_config_is_raw = extras.backend_config_is_raw;
  shared.frontend_attributes = extras.frontend_attributes;
  shared.statistics = extras.statistics;
  shared.origin = extras.origin;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
