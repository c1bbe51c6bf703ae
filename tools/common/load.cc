// Reading, cleaning, parsing and verifying a module.
#include "tools/common/load.h"

#include <cctype>
#include <cstdio>

#include "absl/strings/match.h"
#include "parser/parser.h"
#include "support/file.h"
#include "support/memory.h"
#include "support/status.h"
#include "tools/common/report.h"
#include "verifier/verifier.h"

namespace hlokit {
namespace {

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Length of `I0521 12:04:45.123456   77 file.cc:12] ` at the start of `line`, or 0.
size_t LogPrefixLength(absl::string_view line) {
  constexpr absl::string_view kSeverities = "IWEF";
  if (line.size() < 24 || kSeverities.find(line[0]) == absl::string_view::npos) return 0;
  for (int i = 1; i <= 4; ++i)
    if (!IsDigit(line[i])) return 0;
  if (line[5] != ' ' || !IsDigit(line[6]) || !IsDigit(line[7]) || line[8] != ':') return 0;
  const size_t end = line.find("] ");
  if (end != absl::string_view::npos) return end + 2;
  return line.back() == ']' ? line.size() : 0;
}

// Prints what was collected and gives the first error, if there is one.
absl::Status Report(const Diagnostics& diagnostics, const SourceFile& source, absl::Status status) {
  if (!diagnostics.items().empty()) {
    const std::string text = diagnostics.Render(source);
    std::fwrite(text.data(), 1, text.size(), stderr);
    if (!diagnostics.ok()) return diagnostics.ToStatus();
  } else if (!status.ok()) {
    const std::string text = RenderStatus(status, source);
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
  return status;
}

}  // namespace

bool BlankLogPrefixes(std::string& text) {
  bool any = false;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    const size_t length = LogPrefixLength(absl::string_view(text).substr(start, end - start));
    text.replace(start, length, length, ' ');
    any |= length > 0;
    start = end + 1;
  }
  return any;
}

absl::StatusOr<std::shared_ptr<const SourceFile>> ReadSource(const std::string& path) {
  if (absl::EndsWith(path, ".pb") || absl::EndsWith(path, ".pbtxt"))
    return InvalidArgument(
        path, ": protobuf dumps are not read yet; dump as text (--xla_dump_hlo_as_text)");
  ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  // A look at the first character spares most files the walk over all lines.
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && absl::StrContains("IWEF", absl::string_view(&text[first], 1)))
    BlankLogPrefixes(text);
  return std::make_shared<const SourceFile>(path == "-" ? "<stdin>" : path, std::move(text));
}

absl::StatusOr<LoadedModule> LoadModule(std::shared_ptr<const SourceFile> source,
                                        const LoadOptions& options) {
  LoadedModule loaded;
  Stopwatch watch;
  constexpr size_t kHeapPerByte = 10;  // what a module takes, and the tables used to read it
  ExpectHeapUse(kHeapPerByte * source->text().size());
  Diagnostics diagnostics;
  ParseOptions parse_options;
  parse_options.allow_unknown_attributes = options.allow_unknown_attributes;
  auto parsed = ParseModule(source, parse_options, diagnostics);
  RETURN_IF_ERROR(Report(diagnostics, *source, parsed.status()));
  loaded.module = *std::move(parsed);
  loaded.parse_s = watch.Take();
  if (!options.verify) return loaded;
  Diagnostics found;
  RETURN_IF_ERROR(Report(found, *source, Verify(*loaded.module, found)));
  loaded.verify_s = watch.Take();
  return loaded;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
