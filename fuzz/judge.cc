// Reads, verifies and prints one text.
#include "fuzz/judge.h"

#include <ctime>

#include "absl/strings/str_cat.h"
#include "fuzz/tokens.h"
#include "parser/parser.h"
#include "printer/printer.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::string FirstError(const Diagnostics& diagnostics, const SourceFile& file,
                       const absl::Status& status) {
  for (const Diagnostic& d : diagnostics.items()) {
    if (d.severity != Severity::kError) continue;
    const LineColumn at = file.Locate(d.place.offset);
    return absl::StrCat(at.line, ":", at.column, ": ", d.message, d.label.empty() ? "" : "  [",
                        d.label, d.label.empty() ? "" : "]");
  }
  return std::string(status.message());
}

std::shared_ptr<const SourceFile> FileOf(absl::string_view text) {
  return std::make_shared<const SourceFile>("text", std::string(text));
}

// With constants whole: the text of one that is left out does not say what it was. Without
// metadata: stack frames are numbered in the order of the computations' definitions.
bool IsFixedPoint(const Module& module) {
  PrintOptions whole;
  whole.large_constants = true;
  whole.metadata = false;
  const std::string printed = Print(module, whole);
  Diagnostics errors;
  const auto again = ParseModule(FileOf(printed), ParseOptions(), errors);
  return again.ok() && SortedLines(Print(**again, whole)) == SortedLines(printed);
}

}  // namespace

absl::string_view Text(Verdict verdict) {
  constexpr absl::string_view kTexts[] = {"accepted", "parser", "verifier"};
  return kTexts[static_cast<int>(verdict)];
}

Judgement Judge(absl::string_view text, const PrintOptions& options, bool check_fixed_point) {
  Judgement judgement;
  const double start = CpuSeconds();
  const auto file = FileOf(text);
  Diagnostics errors;
  const auto module = ParseModule(file, ParseOptions(), errors);
  if (!module.ok()) {
    judgement.verdict = Verdict::kParserRefuses;
    judgement.message = FirstError(errors, *file, module.status());
  } else {
    Diagnostics found;
    const absl::Status status = Verify(**module, found);
    if (!status.ok()) {
      judgement.verdict = Verdict::kVerifierRefuses;
      judgement.message = FirstError(found, *file, status);
    }
    judgement.printed = Print(**module, options);
  }
  judgement.cpu_seconds = CpuSeconds() - start;
  if (check_fixed_point && judgement.verdict == Verdict::kAccepted)
    judgement.fixed_point = IsFixedPoint(**module);
  return judgement;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
