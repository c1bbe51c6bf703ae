// What asks where a name stands goes by the text; what asks for meanings goes by the module of the
// last analysis that had one, by names, so that it serves while a line is being typed.
//
//   definition, references, rename, highlights, symbols, folds   text (names.cc)
//   hover (shape, bytes, flops, live range, users), inlay hints  module
// A name is an instruction's of the computation around it, or a computation's of the whole file;
// `%` before it does not matter. Renaming checks that the new name is none yet where it would
// stand.
#include "tools/hlo-lsp/service/features.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "analysis/instruction_cost.h"
#include "analysis/source_line.h"
#include "ir/opcode.h"
#include "printer/printer.h"
#include "support/status.h"
#include "types/shape_bytes.h"

namespace hlokit {
namespace {

TextSpan SpanOf(SourcePlace place, absl::string_view text) {
  if (!place.valid()) return {0, 0};
  const auto size = static_cast<uint32_t>(text.size());
  return {std::min(place.offset, size), std::min(place.offset + place.length, size)};
}

Json LocationOf(const Document& document, TextSpan span) {
  return {{"uri", document.uri()}, {"range", RangeOf(document.buffer(), span)}};
}

std::vector<TextSpan> Places(Document& document, const NameAt& name) {
  const absl::string_view text = document.buffer().text();
  if (name.kind == NameKind::kComputation)
    return ComputationPlaces(text, document.computations(), name.name);
  const ComputationSpan* const in = ComputationAt(document.computations(), name.span.begin);
  if (name.kind == NameKind::kOther || in == nullptr) return {};
  return InstructionPlaces(text, *in, name.name);
}

std::optional<NameAt> NameUnder(Document& document, TextPosition at) {
  const TextBuffer& buffer = document.buffer();
  return FindName(buffer.text(), buffer.OffsetOf(at), document.computations());
}

std::optional<TextSpan> DefinitionOf(Document& document, const NameAt& name) {
  if (name.kind == NameKind::kComputation) {
    for (const ComputationSpan& span : document.computations())
      if (span.name == name.name) return span.name_span;
    return std::nullopt;
  }
  const ComputationSpan* const in = ComputationAt(document.computations(), name.span.begin);
  if (name.kind == NameKind::kOther || in == nullptr) return std::nullopt;
  return FindDefinition(document.buffer().text(), *in, name.name);
}

std::string Amount(double value, absl::string_view unit) {
  constexpr absl::string_view kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t prefix = 0;
  while (value >= 1000 && prefix + 1 < std::size(kPrefixes)) {
    value /= 1000;
    ++prefix;
  }
  return absl::StrCat(absl::StrFormat("%.4g", value), " ", kPrefixes[prefix], unit);
}

// `defined as 3 of 10, last used by %add as 7`, in the order of execution.
std::string LiveRange(const Instruction& i) {
  const std::vector<Instruction*> order = i.parent()->ScheduleOrPostOrder();
  std::unordered_map<const Instruction*, size_t> place;
  for (size_t k = 0; k < order.size(); ++k) place[order[k]] = k;
  const Instruction* last = nullptr;
  for (const Instruction* user : i.users())
    if (last == nullptr || place[user] > place[last]) last = user;
  return absl::StrCat("step ", place[&i] + 1, " of ", order.size(),
                      i.IsRoot()        ? ", the result"
                      : last == nullptr ? ", never used"
                                        : absl::StrCat(", last used by %", last->name(),
                                                       " in step ", place[last] + 1),
                      i.parent()->has_schedule() ? "" : " (not scheduled)");
}

std::string InstructionText(const Instruction& i) {
  PrintOptions options;
  options.metadata = options.backend_config = false;
  std::string text = absl::StrCat("```hlo\n", Print(i, options), "\n```\n");
  const auto row = [&](absl::string_view what, const std::string& value) {
    if (!value.empty()) absl::StrAppend(&text, "- ", what, ": ", value, "\n");
  };
  row("shape", absl::StrCat("`", Text(i.shape(), /*with_layout=*/true), "`"));
  row("size", Amount(static_cast<double>(TotalBytes(i.shape())), "B"));
  const InstructionCost cost = CostOf(i);
  if (cost.flops > 0 || cost.transcendentals > 0 || cost.bytes > 0)
    row("work",
        absl::StrCat(Amount(cost.flops, "flop"), ", moves ", Amount(cost.bytes, "B"),
                     cost.transcendentals > 0
                         ? absl::StrCat(", ", Amount(cost.transcendentals, "transcendentals"))
                         : ""));
  row("live", LiveRange(i));
  std::vector<std::string> called;
  for (const Computation* c : i.called())
    called.push_back(absl::StrCat("%", c->name(), " (", c->instruction_count(), ")"));
  row("calls", absl::StrJoin(called, ", "));
  if (i.sharding() != nullptr) row("sharding", absl::StrCat("`", Text(*i.sharding()), "`"));
  row("source", SourceLine(i));
  row("op_name", std::string(absl::string_view(i.metadata().op_name)));
  return text;
}

std::string ComputationText(const Computation& c) {
  double flops = 0, bytes = 0;
  c.ForEach([&](const Instruction* i) {
    const InstructionCost cost = CostOf(*i);
    flops += cost.flops;
    bytes += cost.bytes;
  });
  std::string text =
      absl::StrCat("```hlo\n", c.name(), "\n```\n- ", c.instruction_count(),
                   " instructions\n- work of a run, without what it calls: ", Amount(flops, "flop"),
                   ", moves ", Amount(bytes, "B"), "\n");
  std::vector<std::string> callers;
  for (const Instruction* caller : c.Callers()) {
    if (callers.size() < 10)
      callers.push_back(absl::StrCat("%", caller->name(), " in ", caller->parent()->name()));
  }
  absl::StrAppend(&text, callers.empty()
                             ? (c.IsEntry() ? "- the entry\n" : "- called by nothing\n")
                             : absl::StrCat("- called by ", absl::StrJoin(callers, ", "), "\n"));
  return text;
}

Json MarkdownHover(const TextBuffer& buffer, TextSpan span, std::string text) {
  return {{"contents", {{"kind", "markdown"}, {"value", std::move(text)}}},
          {"range", RangeOf(buffer, span)}};
}

bool IsName(const std::string& name) {
  return !name.empty() && !absl::ascii_isdigit(name[0]) &&
         std::all_of(name.begin(), name.end(), [](char c) { return IsNameByte(c) && c != ':'; });
}

}  // namespace

Json ToJson(const TextPosition& position) {
  return {{"line", position.line}, {"character", position.character}};
}

TextPosition PositionOf(const Json& position) {
  const auto number = [&](const char* key) -> int64_t {
    const auto found = position.is_object() ? position.find(key) : position.end();
    if (!position.is_object() || found == position.end() || !found->is_number_integer()) return 0;
    return std::clamp<int64_t>(found->get<int64_t>(), 0, int64_t{1} << 40);
  };
  return {number("line"), number("character")};
}

Json RangeOf(const TextBuffer& buffer, TextSpan span) {
  return {{"start", ToJson(buffer.PositionOf(span.begin))},
          {"end", ToJson(buffer.PositionOf(span.end))}};
}

Json DiagnosticsJson(const Analysis& analysis, const std::string& uri) {
  Json items = Json::array();
  const bool clean = analysis.diagnostics.items().empty();
  const TextBuffer buffer{clean ? std::string() : std::string(analysis.source->text())};
  for (const Diagnostic& diagnostic : analysis.diagnostics.items()) {
    Json item = {{"range", RangeOf(buffer, SpanOf(diagnostic.place, buffer.text()))},
                 {"severity", diagnostic.severity == Severity::kError ? 1 : 2},
                 {"source", "hlokit"},
                 {"message", diagnostic.message}};
    if (!diagnostic.label.empty()) item["code"] = diagnostic.label;
    Json related = Json::array();
    for (const DiagnosticNote& note : diagnostic.notes)
      related.push_back(
          {{"location",
            {{"uri", uri}, {"range", RangeOf(buffer, SpanOf(note.place, buffer.text()))}}},
           {"message", note.message}});
    if (!related.empty()) item["relatedInformation"] = related;
    items.push_back(std::move(item));
  }
  return {{"uri", uri}, {"version", analysis.version}, {"diagnostics", items}};
}

Json Definition(Document& document, TextPosition at) {
  const auto name = NameUnder(document, at);
  const auto span = name ? DefinitionOf(document, *name) : std::nullopt;
  return span ? LocationOf(document, *span) : Json();
}

Json References(Document& document, TextPosition at, bool with_definition) {
  Json locations = Json::array();
  const auto name = NameUnder(document, at);
  if (!name) return locations;
  const auto definition = DefinitionOf(document, *name);
  for (const TextSpan& span : Places(document, *name))
    if (with_definition || !definition || !(span == *definition))
      locations.push_back(LocationOf(document, span));
  return locations;
}

Json Highlights(Document& document, TextPosition at) {
  Json found = Json::array();
  const auto name = NameUnder(document, at);
  if (!name) return found;
  const auto definition = DefinitionOf(document, *name);
  for (const TextSpan& span : Places(document, *name))
    found.push_back({{"range", RangeOf(document.buffer(), span)},
                     {"kind", definition && span == *definition ? 3 : 2}});
  return found;
}

Json Hover(Document& document, TextPosition at) {
  const auto name = NameUnder(document, at);
  if (!name) return Json();
  const TextBuffer& buffer = document.buffer();
  if (name->kind == NameKind::kComputation) {
    const Computation* const c = document.ComputationNamed(name->name);
    return c == nullptr ? Json() : MarkdownHover(buffer, name->span, ComputationText(*c));
  }
  const ComputationSpan* const in = ComputationAt(document.computations(), name->span.begin);
  if (in == nullptr) return Json();
  if (name->kind == NameKind::kInstruction) {
    const Instruction* const i = document.InstructionNamed(in->name, name->name);
    return i == nullptr ? Json() : MarkdownHover(buffer, name->span, InstructionText(*i));
  }
  // An opcode or an attribute: of the instruction that the line defines.
  const int64_t line = buffer.LineOf(name->span.begin);
  const auto definition = ReadDefinition(buffer.Line(line), buffer.LineStart(line));
  if (!definition) return Json();
  const absl::string_view defined =
      buffer.text().substr(definition->name.begin, definition->name.end - definition->name.begin);
  const Instruction* const i = document.InstructionNamed(in->name, defined);
  return i == nullptr ? Json() : MarkdownHover(buffer, name->span, InstructionText(*i));
}

Json PrepareRename(Document& document, TextPosition at) {
  const auto name = NameUnder(document, at);
  if (!name || name->kind == NameKind::kOther) return Json();
  return {{"range", RangeOf(document.buffer(), name->span)}, {"placeholder", name->name}};
}

absl::StatusOr<Json> Rename(Document& document, TextPosition at, const std::string& new_name) {
  const auto name = NameUnder(document, at);
  if (!name || name->kind == NameKind::kOther)
    return InvalidArgument("there is no name of an instruction or computation here");
  const std::string wanted = new_name.substr(new_name[0] == '%' ? 1 : 0);
  if (!IsName(wanted)) return InvalidArgument("'", new_name, "' is no name");
  const absl::string_view text = document.buffer().text();
  const ComputationSpan* const in = ComputationAt(document.computations(), name->span.begin);
  const bool taken =
      name->kind == NameKind::kComputation
          ? std::any_of(document.computations().begin(), document.computations().end(),
                        [&](const ComputationSpan& span) { return span.name == wanted; })
          : in != nullptr && FindDefinition(text, *in, wanted).has_value();
  if (taken && wanted != name->name) return InvalidArgument("%", wanted, " is there already");
  Json edits = Json::array();
  for (const TextSpan& span : Places(document, *name))
    edits.push_back({{"range", RangeOf(document.buffer(), span)}, {"newText", wanted}});
  return Json{{"changes", {{document.uri(), edits}}}};
}

Json Symbols(Document& document) {
  constexpr int kFunction = 12, kVariable = 13;
  constexpr size_t kMaxSymbols = 60000;  // beyond them, computations alone
  const TextBuffer& buffer = document.buffer();
  Json symbols = Json::array();
  size_t count = 0;
  for (const ComputationSpan& span : document.computations()) {
    Json children = Json::array();
    const int64_t last = buffer.LineOf(span.end);
    for (int64_t line = buffer.LineOf(span.body) + 1; line <= last && count < kMaxSymbols; ++line) {
      const auto definition = ReadDefinition(buffer.Line(line), buffer.LineStart(line));
      if (!definition) continue;
      ++count;
      const auto text_of = [&](TextSpan part) {
        return std::string(buffer.text().substr(part.begin, part.end - part.begin));
      };
      const uint32_t begin = buffer.LineStart(line);
      const TextSpan whole = {begin, begin + static_cast<uint32_t>(buffer.Line(line).size())};
      children.push_back({{"name", text_of(definition->name)},
                          {"detail", text_of(definition->opcode)},
                          {"kind", kVariable},
                          {"range", RangeOf(buffer, whole)},
                          {"selectionRange", RangeOf(buffer, definition->name)}});
    }
    symbols.push_back({{"name", span.name},
                       {"detail", span.is_entry ? "ENTRY" : ""},
                       {"kind", kFunction},
                       {"range", RangeOf(buffer, {span.begin, span.end})},
                       {"selectionRange", RangeOf(buffer, span.name_span)},
                       {"children", std::move(children)}});
  }
  return symbols;
}

Json Folds(Document& document) {
  const TextBuffer& buffer = document.buffer();
  Json folds = Json::array();
  for (const ComputationSpan& span : document.computations()) {
    const int64_t first = buffer.LineOf(span.body),
                  last = buffer.LineOf(span.end > 0 ? span.end - 1 : 0);
    if (last > first) folds.push_back({{"startLine", first}, {"endLine", last}});
  }
  // The tables of files and frames before the first computation.
  if (!document.computations().empty()) {
    const int64_t end = buffer.LineOf(document.computations().front().begin);
    int64_t begin = -1;
    for (int64_t line = 0; line < end; ++line)
      if (buffer.Line(line) == "FileNames") begin = line;
    if (begin >= 0 && end - 1 > begin)
      folds.push_back({{"startLine", begin}, {"endLine", end - 1}, {"kind", "region"}});
  }
  return folds;
}

Json InlayHints(Document& document, TextRange range) {
  constexpr int64_t kMaxLines = 2000;
  const TextBuffer& buffer = document.buffer();
  Json hints = Json::array();
  const auto lines = static_cast<int64_t>(buffer.line_count());
  const int64_t first = std::clamp<int64_t>(range.start.line, 0, lines);
  const int64_t last = std::min({range.end.line, first + kMaxLines, lines - 1});
  // Names are looked up in one computation after the other.
  const ComputationSpan* current = nullptr;
  std::unordered_map<std::string, const Instruction*> by_name;
  for (int64_t line = first; line <= last; ++line) {
    const uint32_t begin = buffer.LineStart(line);
    const absl::string_view text = buffer.Line(line);
    const ComputationSpan* const in = ComputationAt(document.computations(), begin);
    const auto definition = in == nullptr ? std::nullopt : ReadDefinition(text, begin);
    if (!definition || definition->opcode.end == 0) continue;
    if (in != current) {
      current = in;
      by_name.clear();
      if (const Computation* c = document.ComputationNamed(in->name))
        c->ForEach([&](const Instruction* i) { by_name[document.TextName(*i)] = i; });
    }
    int depth = 0;
    for (size_t at = definition->opcode.end - begin; at < text.size();) {
      const char c = text[at];
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (depth <= 0 || c == '"') break;
      if (!IsNameByte(c)) {
        ++at;
        continue;
      }
      size_t end = at;
      while (end < text.size() && IsNameByte(text[end])) ++end;
      const auto found = by_name.find(std::string(text.substr(at, end - at)));
      // Where the text has the operand's shape already, it stands before the name.
      const size_t before = text.find_last_not_of(" %", at == 0 ? 0 : at - 1);
      const bool shaped = before != text.npos && (text[before] == ']' || text[before] == '}');
      if (depth == 1 && found != by_name.end() && !shaped)
        hints.push_back(
            {{"position", ToJson(buffer.PositionOf(begin + static_cast<uint32_t>(end)))},
             {"label", Text(found->second->shape())},
             {"kind", 1},
             {"paddingLeft", true}});
      at = end;
    }
  }
  return hints;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
