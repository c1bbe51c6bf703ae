// Reads attributes generically: the fields of an opcode's attribute struct (ir/attributes.h) are
// visited by name, and the field's type chooses the reader (ReadValue). No attribute has code of
// its own here.
//   dimensions={0,1}      field `dimensions` of type DimVector -> a list of integers
// Order: attributes of all instructions (metadata, sharding, ...), the opcode's own, called
// computations, then unknown ones, which get a "did you mean" or are kept as text. A bit per field
// finds repeated and missing attributes.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "parser/module_parser_internal.h"
#include "parser/values_internal.h"
#include "support/text.h"

namespace hlokit {
namespace {

// Where the value under this name goes among the called computations.
struct CallName {
  CallForm form;
  absl::string_view name;
  int slot;  // -1: a list of any length
};
constexpr CallName kCallNames[] = {
    {CallForm::kToApply, "to_apply", 0},
    {CallForm::kCondBody, "condition", 0},
    {CallForm::kCondBody, "body", 1},
    {CallForm::kBranches, "branch_computations", -1},
    {CallForm::kBranches, "true_computation", 0},
    {CallForm::kBranches, "false_computation", 1},
    {CallForm::kSelectScatter, "select", 0},
    {CallForm::kSelectScatter, "scatter", 1},
    {CallForm::kFusionCalls, "calls", 0},
    {CallForm::kAsyncCalls, "calls", 0},
    {CallForm::kCustomCalls, "called_computations", -1},
    {CallForm::kCustomCalls, "to_apply", 0},
};

constexpr absl::string_view kReplication = "parameter_replication";

constexpr absl::string_view kCommonNames[] = {
    "metadata",   "sharding", "backend_config", "frontend_attributes", "control-predecessors",
    "statistics", "origin"};

// Written by some versions, without a meaning (any more).
bool IsIgnored(Opcode opcode, absl::string_view name) {
  constexpr std::pair<absl::string_view, Opcode> kFormer[] = {
      {"mode", Opcode::kAllReduce},
      {"mode", Opcode::kAllReduceStart},
      {"mode", Opcode::kReduceScatter},
      {"barrier", Opcode::kAllReduce},
      {"async_group_id", Opcode::kAsyncStart},
      {"async_group_id", Opcode::kAsyncUpdate},
      {"async_group_id", Opcode::kAsyncDone},
      {"is_cross_program_prefetch", Opcode::kCopyStart},
      {"dimensions", Opcode::kRaggedAllToAll}};
  return name == kReplication || std::find(std::begin(kFormer), std::end(kFormer),
                                           std::pair(name, opcode)) != std::end(kFormer);
}

// Of the one attribute without a meaning whose values XLA looks at.
bool CheckMode(Reader& r, absl::string_view value) {
  constexpr absl::string_view kModes[] = {"cross_replica", "cross_partition",
                                          "cross_replica_and_partition", "flattened_id"};
  return std::find(std::begin(kModes), std::end(kModes), value) != std::end(kModes) ||
         r.Error(value.data(), "unknown mode '", value, "', expected one of ",
                 absl::StrJoin(kModes, ", "), DidYouMean(value, kModes));
}

// Of newer text than the XLA that hlokit is held to; kept as text.
bool IsNewer(Opcode opcode, absl::string_view name) {
  if (opcode == Opcode::kTopK && name == "is_stable") return true;
  if (opcode == Opcode::kCollectiveBroadcast && name == "has_dynamic_root") return true;
  return name == "debug_attributes";
}

absl::string_view CurrentName(absl::string_view name) {
  if (name == "all_reduce_id") return "channel_id";
  if (name == "opaque") return "backend_config";
  return name;
}

// The attributes that are the opcode's own.
std::vector<absl::string_view> OwnNames(const Instruction& instruction) {
  std::vector<absl::string_view> names;
  VisitAttributes(instruction.opcode(), instruction.attributes(), [&](const auto& attributes) {
    ForEachField<std::decay_t<decltype(attributes)>>([&](const auto& field) {
      if (field.use != FieldUse::kReadOnly) names.push_back(field.name);
    });
  });
  for (const CallName& call : kCallNames)
    if (call.form == Info(instruction.opcode()).calls) names.push_back(call.name);
  return names;
}

// What a value of the field's type may look like.
template <typename T>
std::string ExampleOf(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(SpellingsOf(value).back());
  } else if constexpr (std::is_same_v<T, bool>) {
    return "true";
  } else if constexpr (std::is_integral_v<T>) {
    return "0";
  } else if constexpr (std::is_same_v<T, DimVector>) {
    return "{0}";
  } else if constexpr (std::is_same_v<T, SliceSpec>) {
    return "{[0:2]}";
  } else if constexpr (std::is_same_v<T, PaddingConfig>) {
    return "0_1";
  } else if constexpr (std::is_same_v<T, Window>) {
    return "{size=2x2}";
  } else if constexpr (std::is_same_v<T, ConvDims>) {
    return "b01f_01io->b01f";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return "\"name\"";
  } else {
    return "";
  }
}

enum class FieldResult : uint8_t { kUnknown, kTwice, kRead, kFailed };

template <typename A>
FieldResult ReadFieldOf(Reader& reader, A& attributes, absl::string_view name, uint64_t& seen) {
  FieldResult result = FieldResult::kUnknown;
  uint64_t bit = 1;
  ForEachField<A>([&](const auto& field) {
    if (result == FieldResult::kUnknown && name == field.name) {
      if ((seen & bit) != 0) {
        result = FieldResult::kTwice;
      } else {
        seen |= bit;
        result =
            ReadValue(reader, attributes.*field.member) ? FieldResult::kRead : FieldResult::kFailed;
      }
    }
    bit <<= 1;
  });
  return result;
}

// The first required field that is missing, with an example; or nothing.
template <typename A>
std::string MissingField(uint64_t seen) {
  std::string missing;
  uint64_t bit = 1;
  ForEachField<A>([&](const auto& field) {
    if (field.use == FieldUse::kRequired && (seen & bit) == 0 && missing.empty()) {
      const std::string example = ExampleOf(A().*field.member);
      missing = field.name;
      if (!example.empty()) absl::StrAppend(&missing, ", as in ", field.name, "=", example);
    }
    bit <<= 1;
  });
  return missing;
}

// A custom-call shows an empty window that its text gives. The field cannot tell it from none, so
// it is kept as text.
void KeepEmptyWindow(Instruction& i, absl::string_view name) {
  const bool window = i.opcode() == Opcode::kCustomCall && name == "window";
  if (window && i.attr<CustomCallAttrs>().window.empty())
    i.mutable_extras().unknown.emplace_back("window", "{}");
}

}  // namespace

bool ModuleParser::ReadAttributes(Scope& scope, const OpName& op, Instruction& instruction,
                                  Instruction* wrapped, Seen& seen, bool any) {
  while (any && reader_.TryEat(',')) {
    const char* at = reader_.Here();
    absl::string_view name;
    if (!reader_.AttributeName(name, "an attribute after the comma")) return false;
    name = CurrentName(name);
    Outcome outcome = ReadCommon(scope, instruction, name, seen, at);
    if (outcome == Outcome::kUnknown && wrapped != nullptr)
      outcome = ReadOwnField(*wrapped, name, seen.wrapped_fields, at);
    if (outcome == Outcome::kUnknown) outcome = ReadOwnField(instruction, name, seen.fields, at);
    if (outcome == Outcome::kUnknown)
      outcome = ReadCalls(wrapped != nullptr ? *wrapped : instruction, name, seen, at);
    if (outcome == Outcome::kUnknown && !UnknownAttribute(instruction, name, at)) return false;
    if (outcome == Outcome::kFailed) return false;
  }
  const bool update = wrapped != nullptr && instruction.opcode() != Opcode::kAsyncStart;
  if (update) return true;
  if (wrapped != nullptr)
    return CheckRequired(*wrapped, seen.wrapped_fields, op.at) && CheckCalls(*wrapped, seen, op.at);
  return CheckRequired(instruction, seen.fields, op.at) && CheckCalls(instruction, seen, op.at);
}

ModuleParser::Outcome ModuleParser::ReadOwnField(Instruction& instruction, absl::string_view name,
                                                 uint64_t& seen, const char* at) {
  if (instruction.IsParameter() && name == kReplication && reader_.Peek() != '{')
    return reader_.ExpectedChar('{', "before an entry for each array"), Outcome::kFailed;
  const FieldResult result = VisitAttributes(
      instruction.opcode(), instruction.mutable_attributes(),
      [&](auto& attributes) { return ReadFieldOf(reader_, attributes, name, seen); });
  if (result == FieldResult::kRead) KeepEmptyWindow(instruction, name);
  if (result == FieldResult::kRead) return Outcome::kRead;
  if (result == FieldResult::kUnknown) return Outcome::kUnknown;
  if (result == FieldResult::kTwice) Twice(name, at);
  return Outcome::kFailed;
}

ModuleParser::Outcome ModuleParser::ReadCalls(Instruction& instruction, absl::string_view name,
                                              Seen& seen, const char* at) {
  const CallForm form = Info(instruction.opcode()).calls;
  for (const CallName& call : kCallNames) {
    if (call.form != form || call.name != name) continue;
    if (call.slot < 0) {
      if (!seen.called.empty()) return Twice(name, at), Outcome::kFailed;
      return ReadCalledList(seen.called) ? Outcome::kRead : Outcome::kFailed;
    }
    if (static_cast<int>(seen.called.size()) <= call.slot)
      seen.called.resize(call.slot + 1, nullptr);
    if (seen.called[call.slot] != nullptr) return Twice(name, at), Outcome::kFailed;
    Computation* called = ReadCalled();
    seen.called[call.slot] = called;
    return called != nullptr ? Outcome::kRead : Outcome::kFailed;
  }
  return Outcome::kUnknown;
}

bool ModuleParser::CheckRequired(Instruction& instruction, uint64_t seen, const char* at) {
  if (instruction.IsParameter() && seen != 0 &&
      instruction.attr<ParameterAttrs>().replicated.empty() && !Leaves(instruction.shape()).empty())
    return reader_.RuleError(at, "parameter-c10", kReplication, " has no entries");
  const std::string missing =
      VisitAttributes(instruction.opcode(), instruction.attributes(), [&](const auto& attributes) {
        return MissingField<std::decay_t<decltype(attributes)>>(seen);
      });
  if (missing.empty()) return true;
  if (instruction.opcode() == Opcode::kBroadcast && instruction.operand_count() == 1 &&
      instruction.operand(0)->shape().IsScalar())
    return true;  // a scalar goes everywhere
  return reader_.Error(at, Text(instruction.opcode()), " needs the attribute ", missing);
}

bool ModuleParser::CheckCalls(Instruction& instruction, Seen& seen, const char* at) {
  const CallForm form = Info(instruction.opcode()).calls;
  if (form == CallForm::kNoCalls) return true;
  std::vector<Computation*>& called = seen.called;
  for (const CallName& call : kCallNames) {
    const bool optional = form == CallForm::kCustomCalls ||
                          instruction.opcode() == Opcode::kAsyncUpdate ||
                          instruction.opcode() == Opcode::kAsyncDone;
    if (call.form != form || optional) continue;
    const bool has_gap = std::find(called.begin(), called.end(), nullptr) != called.end();
    if (call.slot < 0 && !called.empty() && !has_gap) break;  // a list says all
    if (call.slot < 0) continue;
    if (call.slot < static_cast<int>(called.size()) && called[call.slot] != nullptr) continue;
    return reader_.Error(at, Text(instruction.opcode()), " needs the attribute ", call.name,
                         ", as in ", call.name, "=COMPUTATION");
  }
  instruction.set_called(std::move(called));
  return true;
}

bool ModuleParser::UnknownAttribute(Instruction& instruction, absl::string_view name,
                                    const char* at) {
  const bool ignored = IsIgnored(instruction.opcode(), name);
  const bool newer = IsNewer(instruction.opcode(), name);
  const bool kept = ignored || newer || options_.allow_unknown_attributes;
  if (!kept && reader_.LineEndBefore(at) != nullptr) {
    reader_.MoveTo(at);
    return reader_.ExpectedHere("an attribute after the comma");
  }
  if (!kept) {
    const std::vector<absl::string_view> own = OwnNames(instruction);
    NearestName nearest(name);
    for (absl::string_view known : own) nearest.Offer(known);
    for (absl::string_view known : kCommonNames) nearest.Offer(known);
    return reader_.Error(at, Text(instruction.opcode()), " has no attribute '", name, "'",
                         nearest.Hint(), "; it takes ", absl::StrJoin(own, ", "),
                         own.empty() ? "" : " and ",
                         "what every instruction does: ", absl::StrJoin(kCommonNames, ", "),
                         "; --allow-unknown-attributes keeps it");
  }
  absl::string_view value;
  if (!reader_.AnyValue(value)) return false;
  if (ignored) return name != "mode" || CheckMode(reader_, value);
  auto& unknown = instruction.mutable_extras().unknown;
  if (static_cast<int64_t>(unknown.size()) >= kMaxUnknownAttributes)
    return reader_.Error(at, "more than ", kMaxUnknownAttributes, " unknown attributes");
  for (const auto& [other, text] : unknown)
    if (other == name) return Twice(name, at);
  if (!newer)
    diagnostics().Warning(reader_.PlaceAt(at), "", "the unknown attribute '", name,
                          "' is kept as text");
  unknown.emplace_back(std::string(name), std::string(value));
  return true;
}

bool ModuleParser::Twice(absl::string_view name, const char* at) {
  return reader_.Error(at, "the attribute ", name, " is given twice");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
