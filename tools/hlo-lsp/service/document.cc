// Computations move with edits inside one of them; other edits have them found anew when asked for.
//
// Two things are known of a document: its text, always current, and the module of the last analysis
// that could be read, which may be some keystrokes old. While a line is half typed the text does
// not parse, and hover and completion go on with that older module, by names.
// Where computations begin and end is kept as offsets. An edit within one body that adds or removes
// no brace, quote, comment or line moves the offsets after it; only other edits cost a scan of the
// whole text.
#include "tools/hlo-lsp/service/document.h"

#include "absl/strings/match.h"
#include "parser/parser.h"
#include "stablehlo/stablehlo.h"
#include "support/clock.h"
#include "verifier/verifier.h"

namespace hlokit {

std::shared_ptr<const Analysis> Analyze(const std::string& name,
                                        std::shared_ptr<const std::string> text, int64_t version) {
  const double start = SteadySeconds();
  auto analysis = std::make_shared<Analysis>();
  analysis->version = version;
  analysis->source = std::make_shared<const SourceFile>(name, std::move(text));
  if (IsMlir(analysis->source->text())) {
    const auto module = ReadStablehlo(analysis->source);
    if (!module.ok()) analysis->diagnostics.Error({0, 0}, module.status());
  } else if (analysis->source->text().find_first_not_of(" \t\r\n") != absl::string_view::npos) {
    auto module = ParseModule(analysis->source, ParseOptions(), analysis->diagnostics);
    if (module.ok()) {
      analysis->module = *std::move(module);
      Verify(*analysis->module, analysis->diagnostics).IgnoreError();
    }
  }
  analysis->seconds = SteadySeconds() - start;
  return analysis;
}

void Document::Edit(std::optional<TextRange> range, absl::string_view inserted) {
  if (!range) {
    buffer_ = TextBuffer(std::string(inserted));
    computations_.reset();
    return;
  }
  const uint32_t begin = buffer_.OffsetOf(range->start);
  const uint32_t end = std::max(begin, buffer_.OffsetOf(range->end));
  if (computations_) {
    const absl::string_view removed = buffer_.text().substr(begin, end - begin);
    // What opens or closes nothing moves what comes after it.
    const auto plain = [](absl::string_view text) {
      return text.find_first_of("{}\"/*\n\\") == text.npos;
    };
    const ComputationSpan* in = ComputationAt(*computations_, begin);
    if (in != nullptr && begin >= in->body && end < in->end && plain(removed) && plain(inserted)) {
      const auto moved = static_cast<uint32_t>(inserted.size()) - (end - begin);  // may wrap
      for (auto at = computations_->begin() + (in - computations_->data());
           at != computations_->end(); ++at) {
        at->end += moved;
        if (&*at == in) continue;
        at->begin += moved;
        at->body += moved;
        at->name_span.begin += moved;
        at->name_span.end += moved;
      }
    } else {
      computations_.reset();
    }
  }
  buffer_.Replace(begin, end, inserted);
}

const std::vector<ComputationSpan>& Document::computations() {
  if (!computations_) computations_ = FindComputations(buffer_.text());
  return *computations_;
}

std::shared_ptr<const Analysis> Document::set_analysis(std::shared_ptr<const Analysis> analysis) {
  if (analysis->module != nullptr || analysis_ == nullptr) analysis_.swap(analysis);
  return analysis;
}

const Computation* Document::ComputationNamed(absl::string_view name) const {
  if (analysis_ == nullptr || analysis_->module == nullptr) return nullptr;
  for (const Computation* c : static_cast<const Module&>(*analysis_->module).Computations())
    if (c->name() == name) return c;
  return nullptr;
}

// The parser makes a name unique by `.N` behind it, so the text at the instruction's place decides.
const Instruction* Document::InstructionNamed(absl::string_view computation,
                                              absl::string_view name) const {
  const Computation* const in = ComputationNamed(computation);
  if (in == nullptr) return nullptr;
  const Instruction* found = nullptr;
  in->ForEach([&](const Instruction* i) {
    if (absl::StartsWith(i->name(), name) && TextName(*i) == name) found = i;
  });
  return found;
}

std::string Document::TextName(const Instruction& i) const {
  const absl::string_view text = analysis_->source->text();
  if (!i.place().valid() || i.place().offset >= text.size()) return i.name();
  size_t begin = text.rfind('\n', i.place().offset);
  begin = begin == text.npos ? 0 : begin + 1;
  const size_t end = std::min(text.find('\n', begin), text.size());
  const auto definition =
      ReadDefinition(text.substr(begin, end - begin), static_cast<uint32_t>(begin));
  if (!definition) return i.name();
  return std::string(
      text.substr(definition->name.begin, definition->name.end - definition->name.begin));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
