// Reads the module around the computations: the HloModule line, the tables of stack frames after
// it, and what follows from both.
//
// Text that comes with a log or mail is accepted: lines before `HloModule` and glog prefixes are
// skipped. A text may also be a single computation or a single instruction without header. Files of
// other kinds (MLIR, LLVM IR, gzip, UTF-16) are recognized by their first bytes and refused by
// name.
#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "parser/extras_internal.h"
#include "parser/module_parser_internal.h"
#include "parser/origins_internal.h"
#include "parser/shapes_internal.h"
#include "parser/values_internal.h"
#include "support/text.h"

namespace hlokit {
namespace {

constexpr absl::string_view kHeaderAttributes[] = {"is_scheduled",
                                                   "entry_computation_layout",
                                                   "input_output_alias",
                                                   "buffer_donor",
                                                   "replica_count",
                                                   "num_partitions",
                                                   "alias_passthrough_params",
                                                   "allow_spmd_sharding_propagation_to_parameters",
                                                   "allow_spmd_sharding_propagation_to_output",
                                                   "frontend_attributes",
                                                   "origin_recovery_table"};

struct OtherLanguage {
  absl::string_view start, name, cure;
};
constexpr absl::string_view kToHlo =
    "; jax.jit(f).lower(...).as_text(dialect=\"hlo\") prints it, XLA's xla-translate converts";
constexpr OtherLanguage kOtherLanguages[] = {{"module @", "MLIR", kToHlo},
                                             {"module attributes", "MLIR", kToHlo},
                                             {"#loc", "MLIR", kToHlo},
                                             {"func.func @", "MLIR", kToHlo},
                                             {"func.func public", "MLIR", kToHlo},
                                             {"; ModuleID", "LLVM IR", ""},
                                             {"<!DOCTYPE", "a web page", ""},
                                             {"<html", "a web page", ""},
                                             {"#!/", "a script", ""}};

}  // namespace

// Files that are no HLO text at all, by their first bytes.
bool ModuleParser::CheckKind() {
  const absl::string_view text(reader_.begin(), reader_.end() - reader_.begin());
  if (absl::StartsWith(text, "\xFF\xFE") || absl::StartsWith(text, "\xFE\xFF"))
    return reader_.Error(reader_.begin(), "the text is UTF-16; HLO text is ASCII or UTF-8");
  if (absl::StartsWith(text, "\x1F\x8B"))
    return reader_.Error(reader_.begin(), "the file is compressed by gzip; gunzip it first");
  const absl::string_view start = text.substr(0, 1024);
  const absl::string_view first = absl::StripLeadingAsciiWhitespace(start);
  for (const OtherLanguage& language : kOtherLanguages)
    if (absl::StartsWith(first, language.start))
      return reader_.Error(first.data(), "this is ", language.name, ", not HLO text",
                           language.cure);
  return true;
}

std::unique_ptr<Module> ModuleParser::Run() {
  if (!CheckKind()) return nullptr;
  FindStart();
  bool ok = true;
  if (reader_.TryEatWord("HloModule")) {
    has_header_ = true;
    ok = ReadHeader() && ReadTables();
    if (!ok) SkipToComputation();
  } else if (StartsInstruction()) {
    ReadLoneInstruction();
  }
  while (!reader_.AtEnd()) {
    if (ReadComputation()) continue;
    if (diagnostics().full()) {
      if (!reader_.AtEnd())
        diagnostics().Warning(reader_.PlaceAt(reader_.Here()), "", "reading stops here, after ",
                              diagnostics().error_count(), " errors");
      break;
    }
    SkipToComputation();
  }
  if (diagnostics().ok() && last_ == nullptr) reader_.Expected("a computation");
  if (!diagnostics().ok()) return nullptr;
  Finish();
  return diagnostics().ok() ? std::move(owned_) : nullptr;
}

ModuleParser::ModuleParser(absl::string_view text, Module& module, const ParseOptions& options,
                           Diagnostics& diagnostics)
    : reader_(text, diagnostics), options_(options), module_(&module) {
  for (Computation* known : module.Computations())
    computations_.try_emplace(known->name(), KnownComputation{known, SourcePlace()});
}

Computation* ModuleParser::RunComputations() {
  const size_t before = module_->Computations().size();
  Computation* const entry = module_->entry();
  while (!reader_.AtEnd() && !diagnostics().full())
    if (!ReadComputation()) SkipToComputation();
  if (diagnostics().ok() && last_ == nullptr) reader_.Expected("a computation");
  std::vector<Computation*> added = module_->Computations();
  added.erase(added.begin(), added.begin() + before);
  // The module holds no text for these places.
  for (Computation* computation : added) {
    computation->set_place(SourcePlace());
    for (Instruction* i : computation->Instructions()) i->set_place(SourcePlace());
  }
  if (diagnostics().ok()) return last_;
  module_->set_entry(entry);
  for (auto computation = added.rbegin(); computation != added.rend(); ++computation)
    module_->Remove(*computation);
  return nullptr;
}

// Passes by what a log or a mail left in front of the HloModule line, and by log prefixes on every
// line.
void ModuleParser::FindStart() {
  const char* first = reader_.Here();
  if (reader_.AfterLogPrefix(first) != first) reader_.SkipLogPrefixes();
  const absl::string_view word = reader_.PeekWord();
  if (word == "HloModule" || word == "ENTRY") return;
  const absl::string_view text(reader_.begin(), reader_.end() - reader_.begin());
  const size_t brace = text.find('{');
  for (size_t at = text.find("HloModule "); at != absl::string_view::npos;
       at = text.find("HloModule ", at + 1)) {
    const size_t newline = text.rfind('\n', at);
    const size_t line = newline == absl::string_view::npos ? 0 : newline + 1;
    if (line > brace) return;  // a computation may stand before it
    const char* start = text.data() + line;
    const char* after = reader_.AfterLogPrefix(start);
    if (text.substr(after - text.data(), at - (after - text.data())).find_first_not_of(" \t") !=
        absl::string_view::npos)
      continue;
    reader_.MoveTo(start);
    if (after != start) reader_.SkipLogPrefixes();
    return;
  }
}

bool ModuleParser::ReadHeader() {
  const char* name_at = reader_.Here();
  absl::string_view name;
  if (!reader_.Name(name, "the module's name")) return false;
  if (!Reader::IsMarked(name_at, name) && IsKeyword(name))
    return reader_.Error(name_at, "'", name, "' is reserved and cannot name a module");
  module_->set_name(std::string(name));
  std::vector<absl::string_view> seen;
  while (reader_.TryEat(',')) {
    const char* at = reader_.Here();
    absl::string_view attribute;
    if (!reader_.AttributeName(attribute, "a module attribute")) return false;
    if (std::find(seen.begin(), seen.end(), attribute) != seen.end()) return Twice(attribute, at);
    seen.push_back(attribute);
    if (!ReadHeaderAttribute(attribute, at)) return false;
  }
  return true;
}

bool ModuleParser::ReadHeaderAttribute(absl::string_view name, const char* at) {
  ModuleHeader& header = module_->header();
  if (name == "is_scheduled") return reader_.Bool(header.is_scheduled);
  if (name == "entry_computation_layout") return ReadEntryLayout();
  if (name == "input_output_alias") return ReadAliases(reader_, header.aliases);
  if (name == "buffer_donor") return ReadDonors(reader_, header.donors);
  if (name == "replica_count") return reader_.Int(header.replica_count);
  if (name == "num_partitions") return reader_.Int(header.num_partitions);
  if (name == "alias_passthrough_params") return reader_.Bool(header.alias_passthrough_params);
  if (name == "allow_spmd_sharding_propagation_to_parameters")
    return ReadValue(reader_, header.propagate_sharding_to_parameters);
  if (name == "allow_spmd_sharding_propagation_to_output")
    return ReadValue(reader_, header.propagate_sharding_to_output);
  if (name == "frontend_attributes")
    return ReadFrontendAttributes(reader_, header.frontend_attributes);
  if (name == "origin_recovery_table")
    return ReadRecoveryTable(reader_, options_, header.origin_recovery);
  if (!options_.allow_unknown_attributes)
    return reader_.Error(at, "unknown module attribute '", name, "'",
                         DidYouMean(name, kHeaderAttributes),
                         "; --allow-unknown-attributes keeps it");
  absl::string_view value;
  if (!reader_.AnyValue(value)) return false;
  diagnostics().Warning(reader_.PlaceAt(at), "", "unknown module attribute '", name,
                        "' is kept as text");
  header.others.emplace_back(std::string(name), std::string(value));
  return true;
}

bool ReadEntryLayout(Reader& r, EntryLayout& layout) {
  if (!r.List('(', ')', [&] { return ReadShape(r, layout.parameters.emplace_back()); }))
    return false;
  if (!r.TryEat("->")) return r.Expected("'->' before the result's shape");
  return ReadShape(r, layout.result);
}

bool ModuleParser::ReadEntryLayout() {
  EntryLayout& layout = module_->header().entry_layout.emplace();
  return reader_.Eat('{', "before the entry's layout") &&
         hlokit::ReadEntryLayout(reader_, layout) && reader_.Eat('}', "after the entry's layout");
}

// { {0}: (0, {}, may-alias) }: output index, parameter, its index, kind. Of equal output indices
// the first counts.
bool ReadAliases(Reader& r, std::vector<InputOutputAlias>& aliases) {
  const bool ok = r.List('{', '}', [&] {
    InputOutputAlias& alias = aliases.emplace_back();
    if (!ReadValue(r, alias.output) || !r.Eat(':', "after the output index") ||
        !r.Eat('(', "before the parameter") || !r.Int(alias.parameter) ||
        !r.Eat(',', "after the parameter") || !ReadValue(r, alias.parameter_index))
      return false;
    if (r.TryEat(',')) {
      alias.must_alias = r.PeekWord() == "must-alias";
      if (!alias.must_alias && r.PeekWord() != "may-alias")
        return r.Expected("may-alias or must-alias");
      r.Word();
    }
    return r.Eat(')', "after the alias");
  });
  std::stable_sort(aliases.begin(), aliases.end(),
                   [](const auto& a, const auto& b) { return a.output < b.output; });
  aliases.erase(std::unique(aliases.begin(), aliases.end(),
                            [](const auto& a, const auto& b) { return a.output == b.output; }),
                aliases.end());
  return ok;
}

bool ReadDonors(Reader& r, std::vector<BufferDonor>& donors) {
  const bool ok = r.List('{', '}', [&] {
    BufferDonor& donor = donors.emplace_back();
    return r.Eat('(', "before a donor") && r.Int(donor.parameter) &&
           r.Eat(',', "after the parameter") && ReadValue(r, donor.index) &&
           r.Eat(')', "after a donor");
  });
  std::sort(donors.begin(), donors.end(), [](const auto& a, const auto& b) {
    return std::tie(a.parameter, a.index) < std::tie(b.parameter, b.index);
  });
  donors.erase(std::unique(donors.begin(), donors.end()), donors.end());
  return ok;
}

// `{name=1 name=2 ...}`, all of them in any order.
bool ModuleParser::ReadRowFields(absl::Span<const std::pair<absl::string_view, int64_t*>> fields) {
  if (!reader_.Eat('{', "before the row")) return false;
  uint32_t seen = 0;
  while (!reader_.TryEat('}')) {
    const char* at = reader_.Here();
    absl::string_view name;
    if (!reader_.AttributeName(name, "a field of the table")) return false;
    const auto* found =
        std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.first == name; });
    if (found == fields.end()) return reader_.Error(at, "the table has no field ", name);
    const uint32_t bit = 1u << (found - fields.begin());
    if ((seen & bit) != 0) return Twice(name, at);
    seen |= bit;
    const char* number = reader_.Here();
    int64_t& value = *found->second;
    if (!reader_.Int(value)) return false;
    if (value != static_cast<int32_t>(value))
      return reader_.Error(number, "the number does not fit in 32 bits");
    if (reader_.TryEat(',') && reader_.Peek() == '}')
      return reader_.Expected("a field after the comma");
  }
  return seen == (1u << fields.size()) - 1 ||
         reader_.Expected(absl::StrCat(fields.size(), " fields in the row before this"));
}

// The tables FileNames, FunctionNames, FileLocations and StackFrames, in this order; all or none.
bool ModuleParser::ReadTables() {
  StackFrameTables& tables = module_->header().stack_frames;
  int64_t row = 0;
  auto rows = [&](auto item) {
    while (Reader::IsClass(reader_.Peek(), kDigit) || reader_.Peek() == '-')
      if (!reader_.Int(row) || !item()) return false;
    return true;
  };
  if (!reader_.TryEatWord("FileNames")) return true;
  if (!rows([&] { return reader_.String(tables.file_names.emplace_back()); })) return false;
  if (!reader_.TryEatWord("FunctionNames")) return reader_.Expected("FunctionNames");
  if (!rows([&] { return reader_.String(tables.function_names.emplace_back()); })) return false;
  if (!reader_.TryEatWord("FileLocations")) return reader_.Expected("FileLocations");
  const bool locations = rows([&] {
    auto& l = tables.locations.emplace_back();
    return ReadRowFields({{"file_name_id", &l.file_name_id},
                          {"function_name_id", &l.function_name_id},
                          {"line", &l.line},
                          {"end_line", &l.end_line},
                          {"column", &l.column},
                          {"end_column", &l.end_column}});
  });
  if (!locations) return false;
  if (!reader_.TryEatWord("StackFrames")) return reader_.Expected("StackFrames");
  return rows([&] {
    auto& f = tables.frames.emplace_back();
    return ReadRowFields(
        {{"file_location_id", &f.file_location_id}, {"parent_frame_id", &f.parent_frame_id}});
  });
}

// What follows from the whole text: the entry (the last computation where none is marked), names,
// the entry layout, schedules.
void ModuleParser::Finish() {
  if (module_->entry() == nullptr) module_->set_entry(last_);
  if (lone_) module_->set_name("_");
  if (!has_header_ && !lone_) module_->set_name(absl::StrCat("module_", module_->entry()->name()));
  FillEntryLayout();
  if (module_->header().is_scheduled) FillSchedules();
}

void ModuleParser::FillEntryLayout() {
  const Computation& entry = *module_->entry();
  auto& layout = module_->header().entry_layout;
  if (layout.has_value()) return;
  layout.emplace();
  for (const Instruction* parameter : entry.parameters())
    layout->parameters.push_back(parameter->shape());
  layout->result = entry.root()->shape();
}

// The text's order is the schedule, except in the bodies of fusions.
void ModuleParser::FillSchedules() {
  std::vector<bool> fused(module_->computation_id_bound(), false);
  for (Computation* c : module_->Computations())
    c->ForEach([&](const Instruction* i) {
      if (i->opcode() == Opcode::kFusion)
        for (const Computation* body : i->called()) fused[body->id()] = true;
    });
  for (Computation* c : module_->Computations())
    if (!fused[c->id()]) c->set_schedule(c->Instructions());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
