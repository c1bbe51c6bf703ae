// Colours are put into the text once it is made: message lines start in the first column, what they
// show is indented.
#include "tools/common/messages.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tools/common/report.h"

namespace hlokit {
namespace {

constexpr absl::string_view kBold = "\033[1m";
constexpr absl::string_view kPlain = "\033[0m";
constexpr absl::string_view kGreen = "\033[1;32m";
struct Kind {
  absl::string_view text, colour;
};
constexpr Kind kKinds[] = {{": internal error: ", "\033[1;31m"},
                           {": error: ", "\033[1;31m"},
                           {": warning: ", "\033[1;35m"},
                           {": note: ", "\033[1;36m"}};

MessageFormat format = MessageFormat::kText;
UseColours colours = UseColours::kAuto;
std::vector<ShownMessage>* kept_messages = nullptr;

// As the conventions have it: a terminal that is not "dumb", and no NO_COLOR
// (https://no-color.org).
bool WantsColours() {
  if (colours != UseColours::kAuto) return colours == UseColours::kAlways;
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && (no_color == nullptr || *no_color == '\0') &&
         (term == nullptr || absl::string_view(term) != "dumb");
}

// `FILE:3:7: error: what`: the place bold, the kind in its colour, the message bold where it is an
// error's or a warning's.
void AppendMessageLine(std::string& out, absl::string_view line) {
  const Kind* found = nullptr;
  size_t at = absl::string_view::npos;
  for (const Kind& kind : kKinds)
    if (const size_t here = line.find(kind.text); here < at) found = &kind, at = here;
  if (found == nullptr) {
    absl::StrAppend(&out, line);
    return;
  }
  absl::StrAppend(&out, kBold, line.substr(0, at + 2), kPlain, found->colour, found->text.substr(2),
                  kPlain);
  const bool is_note = found->text == ": note: ";
  absl::StrAppend(&out, is_note ? "" : kBold, line.substr(at + found->text.size()),
                  is_note ? "" : kPlain);
}

void Write(const std::string& text) {
  ClearProgress();
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void WriteText(const std::string& text) { Write(WantsColours() ? InColours(text) : text); }

uint32_t LineOf(const SourceFile& file, SourcePlace place) {
  return place.valid() ? file.Locate(place.offset).line : 0;
}

void Keep(const Diagnostics& diagnostics, const SourceFile& file) {
  for (const Diagnostic& item : diagnostics.items()) {
    kept_messages->push_back({item.severity == Severity::kError ? "error" : "warning",
                              LineOf(file, item.place), item.message});
    for (const DiagnosticNote& note : item.notes)
      kept_messages->push_back({"note", LineOf(file, note.place), note.message});
  }
}

Diagnostics OfStatus(const absl::Status& status) {
  Diagnostics one;
  one.Error(SourcePlace(), status);
  return one;
}

void AddPlace(JsonObject& json, const SourceFile& file, SourcePlace place) {
  if (!place.valid()) return;
  const LineColumn at = file.Locate(place.offset);
  json.Add("line", static_cast<int64_t>(at.line));
  json.Add("column", static_cast<int64_t>(at.column));
  json.Add("length", static_cast<int64_t>(place.length));
}

// Without the line break at its end.
std::string OneLine(const JsonObject& json) {
  const std::string text = json.Text();
  return text.substr(0, text.size() - 1);
}

std::string AsJson(const Diagnostic& item, const SourceFile& file) {
  JsonObject json;
  json.Add("severity", item.severity == Severity::kError ? "error" : "warning");
  json.Add("file", file.name());
  AddPlace(json, file, item.place);
  if (!item.label.empty()) json.Add("label", item.label);
  json.Add("message", item.message);
  std::string notes;
  for (const DiagnosticNote& note : item.notes) {
    JsonObject inner;
    AddPlace(inner, file, note.place);
    inner.Add("message", note.message);
    absl::StrAppend(&notes, notes.empty() ? "" : ", ", OneLine(inner));
  }
  if (!notes.empty()) json.AddRaw("notes", absl::StrCat("[", notes, "]"));
  return json.Text();
}

}  // namespace

void SetMessages(MessageFormat new_format, UseColours new_colours) {
  format = new_format;
  colours = new_colours;
}

bool ErrorsHaveColours() { return format == MessageFormat::kText && WantsColours(); }

std::string InColours(absl::string_view text) {
  std::string out;
  bool shows_line = false;  // the line before this was of the source
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::StartsWith(line, " ")) {
      AppendMessageLine(out, line);
      shows_line = false;
    } else if (shows_line) {
      absl::StrAppend(&out, kGreen, line, kPlain);
      shows_line = false;
    } else {
      absl::StrAppend(&out, line);
      shows_line = true;
    }
    out += '\n';
  }
  out.pop_back();
  return out;
}

std::string AsJson(const Diagnostics& diagnostics, const SourceFile& file) {
  std::string out;
  for (const Diagnostic& item : diagnostics.items()) out += AsJson(item, file);
  return out;
}

void KeepMessages(std::vector<ShownMessage>* kept) { kept_messages = kept; }

void ShowMessages(const Diagnostics& diagnostics, const SourceFile& file) {
  if (kept_messages != nullptr) return Keep(diagnostics, file);
  if (format == MessageFormat::kJson) return Write(AsJson(diagnostics, file));
  WriteText(diagnostics.Render(file));
}

void ShowStatus(const absl::Status& status, const SourceFile& file) {
  if (kept_messages != nullptr) return Keep(OfStatus(status), file);
  if (format == MessageFormat::kJson) return Write(AsJson(OfStatus(status), file));
  WriteText(RenderStatus(status, file));
}

void ShowFault(absl::string_view tool, absl::string_view kind, const absl::Status& status) {
  if (kept_messages != nullptr) {
    kept_messages->push_back(
        {kind == "warning" ? "warning" : "error", 0, std::string(status.message())});
    return;
  }
  const std::string label = LabelOf(status);
  if (format == MessageFormat::kJson) {
    JsonObject json;
    json.Add("severity", kind);
    json.Add("tool", tool);
    if (!label.empty()) json.Add("label", label);
    json.Add("message", status.message());
    return Write(json.Text());
  }
  WriteText(absl::StrCat(tool, ": ", kind, ": ", status.message(),
                         label.empty() ? "" : absl::StrCat("  [", label, "]"), "\n"));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
