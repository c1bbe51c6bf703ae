// Documents of the language server: edited at odd positions, analysed, asked everything.
//
// The text is a document. Its own bytes choose edits and the positions that are asked about, some
// of them far outside. Answers must be texts of JSON, their positions inside the document, and the
// lines after edits those of the same text opened anew.
// Limits: messages, order and threads are tried by scripts/tools/lsp_messages.py.
#include <functional>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "fuzz/target.h"
#include "support/status.h"
#include "tools/hlo-lsp/service/document.h"
#include "tools/hlo-lsp/service/features.h"

namespace hlokit {
namespace {

// A stream of numbers that the text decides.
class Choices {
 public:
  explicit Choices(absl::string_view text) : state_(std::hash<std::string>()(std::string(text))) {}
  uint64_t Next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 33;
  }
  // Mostly a number below `n`, sometimes one that is no line and no character.
  int64_t Position(int64_t n) {
    constexpr int64_t kOdd[] = {-1, std::numeric_limits<int64_t>::max(),
                                std::numeric_limits<int64_t>::min(), int64_t{1} << 32, 1 << 20};
    if (Next() % 8 == 0) return kOdd[Next() % std::size(kOdd)];
    return static_cast<int64_t>(Next() % static_cast<uint64_t>(n + 2));
  }
  TextPosition At(const TextBuffer& buffer) {
    const int64_t line = Position(static_cast<int64_t>(buffer.line_count()));
    const auto length = static_cast<int64_t>(buffer.Line(line).size());
    return {line, Position(length)};
  }

 private:
  uint64_t state_;
};

void CheckBuffer(const TextBuffer& edited) {
  const TextBuffer fresh{std::string(edited.text())};
  CHECK(edited.line_count() == fresh.line_count());
  for (size_t line = 0; line < fresh.line_count(); ++line) {
    const auto number = static_cast<int64_t>(line);
    CHECK(edited.LineStart(number) == fresh.LineStart(number));
    CHECK(edited.LineOf(edited.LineStart(number)) == number);
  }
}

void Ask(Document& document, Choices& choices) {
  const TextPosition at = choices.At(document.buffer()), to = choices.At(document.buffer());
  const Json answers[] = {Definition(document, at),
                          References(document, at, /*with_definition=*/true),
                          Highlights(document, at),
                          Hover(document, at),
                          PrepareRename(document, at),
                          Symbols(document),
                          Folds(document),
                          InlayHints(document, {at, to}),
                          Completions(document, at),
                          SemanticTokens(document, at.line, to.line)};
  for (const Json& answer : answers)
    (void)answer.dump(-1, ' ', false, Json::error_handler_t::replace);
  for (const char* name : {"renamed", "", "a b", "x"}) {
    const auto renamed = Rename(document, at, name);
    CHECK(renamed.ok() || !renamed.status().message().empty());
  }
}

}  // namespace

InputKind KindOf(absl::string_view) { return InputKind::kText; }

bool RunOne(absl::string_view input) {
  Choices choices(input);
  Document document("file:///fuzz.hlo", 1, std::string(input));
  bool read = false;
  for (int64_t version = 1; version < 4; ++version) {
    auto analysis = Analyze("fuzz.hlo", document.buffer().Snapshot(), version);
    (void)DiagnosticsJson(*analysis, document.uri());
    if (version == 1) read = analysis->module != nullptr;
    document.set_analysis(std::move(analysis));
    Ask(document, choices);
    const TextRange range = {choices.At(document.buffer()), choices.At(document.buffer())};
    const size_t from = choices.Next() % (input.size() + 1);
    document.Edit(range, input.substr(from, choices.Next() % 16));
    CheckBuffer(document.buffer());
    Ask(document, choices);  // of a text that is newer than the analysis
  }
  return read;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
