// Line lookup, the caret rendering, and labels and places as status payloads.
#include "support/diagnostics.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/types/optional.h"
#include "support/display.h"
#include "support/limits.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr char kLabelKey[] = "hlokit/label";
constexpr char kPlaceKey[] = "hlokit/place";
constexpr size_t kWindow = kMaxLineShown;
constexpr size_t kWindowBefore = 60;  // of these, before the caret
constexpr absl::string_view kIndent = "  ";
constexpr absl::string_view kCut = "...";

bool ContinuesCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The part of a line that is shown, in bytes, without splitting a character.
struct Window {
  size_t begin;
  size_t end;
};

Window WindowAround(absl::string_view line, size_t caret) {
  if (line.size() <= kWindow) return {0, line.size()};
  size_t begin = caret > kWindowBefore ? caret - kWindowBefore : 0;
  size_t end = std::min(line.size(), begin + kWindow);
  begin = std::min(begin, end - std::min(end, kWindow));
  for (int i = 0; i < 3 && begin > 0 && ContinuesCharacter(line[begin]); ++i) --begin;
  for (int i = 0; i < 3 && end < line.size() && ContinuesCharacter(line[end]); ++i) ++end;
  return {begin, end};
}

void AppendExcerpt(const SourceFile& file, SourcePlace place, std::string* out) {
  absl::string_view line = file.LineAt(place.offset);
  size_t caret = std::min<size_t>(file.Locate(place.offset).column - 1, line.size());
  Window window = WindowAround(line, caret);
  absl::string_view before = kIndent, lead = window.begin > 0 ? kCut : "";
  absl::StrAppend(out, before, lead,
                  PrintableLine(line.substr(window.begin, window.end - window.begin)),
                  window.end < line.size() ? kCut : "", "\n");
  size_t marked_end = std::max(caret + 1, std::min(caret + place.length, window.end));
  size_t width =
      caret < line.size() ? BlanksLike(line.substr(caret, marked_end - caret)).size() : 1;
  absl::StrAppend(out, before, std::string(lead.size(), ' '),
                  BlanksLike(line.substr(window.begin, caret - window.begin)), "^",
                  std::string(width > 0 ? width - 1 : 0, '~'), "\n");
}

void AppendMessage(const SourceFile& file, SourcePlace place, absl::string_view kind,
                   absl::string_view message, absl::string_view label, std::string* out) {
  absl::StrAppend(out, file.name());
  if (place.valid()) {
    LineColumn at = file.Locate(place.offset);
    absl::StrAppend(out, ":", at.line, ":", at.column);
  }
  absl::StrAppend(out, ": ", kind, ": ", message);
  if (!label.empty()) absl::StrAppend(out, "  [", label, "]");
  absl::StrAppend(out, "\n");
  if (place.valid()) AppendExcerpt(file, place, out);
}

absl::string_view KindText(Severity severity) {
  return severity == Severity::kError ? "error" : "warning";
}

void AppendHidden(int hidden, absl::string_view kind, std::string* out) {
  if (hidden > 0)
    absl::StrAppend(out, hidden, " more ", kind, hidden == 1 ? "" : "s", " not shown\n");
}

}  // namespace

SourceFile::SourceFile(std::string name, absl::string_view text, std::shared_ptr<const void> owner)
    : name_(std::move(name)),
      text_(text),
      owner_(std::move(owner)),
      lines_(std::make_shared<Lines>()) {}

SourceFile::SourceFile(std::string name, std::shared_ptr<const std::string> text)
    : SourceFile(std::move(name), *text, text) {}

SourceFile::SourceFile(std::string name, std::string text)
    : SourceFile(std::move(name), std::make_shared<const std::string>(std::move(text))) {}

absl::string_view SourceFile::TextAt(SourcePlace place) const {
  if (!place.valid() || place.offset > text_.size()) return {};
  return text().substr(place.offset, place.length);
}

const std::vector<uint32_t>& SourceFile::LineStarts() const {
  std::call_once(lines_->once, [this] {
    std::vector<uint32_t>& starts = lines_->starts;
    starts.push_back(0);
    for (size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1)) {
      starts.push_back(static_cast<uint32_t>(at + 1));
    }
  });
  return lines_->starts;
}

LineColumn SourceFile::Locate(uint32_t offset) const {
  offset = std::min<uint64_t>(offset, text_.size());
  const std::vector<uint32_t>& starts = LineStarts();
  auto after = std::upper_bound(starts.begin(), starts.end(), offset);
  return {static_cast<uint32_t>(after - starts.begin()), offset - *(after - 1) + 1};
}

absl::string_view SourceFile::LineAt(uint32_t offset) const {
  offset = std::min<uint64_t>(offset, text_.size());
  LineColumn at = Locate(offset);
  absl::string_view line = text().substr(offset - (at.column - 1));
  line = line.substr(0, line.find('\n'));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

Diagnostics::Handle Diagnostics::Error(SourcePlace place, const absl::Status& status) {
  SourcePlace own = PlaceOf(status);
  return Error(own.valid() ? own : place, LabelOf(status), status.message());
}

Diagnostic* Diagnostics::Add(Severity severity, SourcePlace place, absl::string_view label,
                             std::string message) {
  int& count = severity == Severity::kError ? error_count_ : warning_count_;
  if (count++ >= kMaxKept) return nullptr;
  items_.push_back({severity, place, std::string(label), Quotable(message, kMaxMessage), {}});
  return &items_.back();
}

std::string Diagnostics::Render(const SourceFile& file) const {
  std::string out;
  for (const Diagnostic& item : items_) {
    AppendMessage(file, item.place, KindText(item.severity), item.message, item.label, &out);
    for (const DiagnosticNote& note : item.notes) {
      AppendMessage(file, note.place, "note", note.message, "", &out);
    }
  }
  AppendHidden(error_count_ - kMaxKept, "error", &out);
  AppendHidden(warning_count_ - kMaxKept, "warning", &out);
  return out;
}

absl::Status Diagnostics::ToStatus() const {
  for (const Diagnostic& item : items_) {
    if (item.severity != Severity::kError) continue;
    return WithPlace(LabeledError(item.label, item.message), item.place);
  }
  return absl::OkStatus();
}

absl::Status WithLabel(absl::Status status, absl::string_view label) {
  if (!status.ok() && !label.empty()) status.SetPayload(kLabelKey, absl::Cord(label));
  return status;
}

std::string LabelOf(const absl::Status& status) {
  absl::optional<absl::Cord> label = status.GetPayload(kLabelKey);
  return label.has_value() ? std::string(*label) : std::string();
}

absl::Status WithPlace(absl::Status status, SourcePlace place) {
  if (status.ok() || !place.valid() || PlaceOf(status).valid()) return status;
  absl::string_view bytes(reinterpret_cast<const char*>(&place), sizeof(place));
  status.SetPayload(kPlaceKey, absl::Cord(bytes));
  return status;
}

SourcePlace PlaceOf(const absl::Status& status) {
  SourcePlace place;
  absl::optional<absl::Cord> payload = status.GetPayload(kPlaceKey);
  if (payload.has_value() && payload->size() == sizeof(place)) {
    std::string bytes(*payload);
    std::memcpy(&place, bytes.data(), sizeof(place));
  }
  return place;
}

std::string RenderStatus(const absl::Status& status, const SourceFile& file) {
  std::string out;
  AppendMessage(file, PlaceOf(status), "error", status.message(), LabelOf(status), &out);
  return out;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
