// Reading of test files' directives.
#include "testdata/runner/test_file.h"

#include <array>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "support/file.h"

namespace hlokit {
namespace {

constexpr std::array<absl::string_view, 4> kCaseKeys = {
    "RUN-ON-EACH-BACKEND:", "INPUT:", "EXPECT:", "TOLERANCE:"};

// `--rel-error=1e-6 --abs-error=0`.
void ReadTolerance(absl::string_view text, ValueCase& value, TestFile& file) {
  for (absl::string_view flag : absl::StrSplit(text, ' ', absl::SkipWhitespace())) {
    double* const error = absl::ConsumePrefix(&flag, "--rel-error=")   ? &value.relative_error
                          : absl::ConsumePrefix(&flag, "--abs-error=") ? &value.absolute_error
                                                                       : nullptr;
    if (error == nullptr || !absl::SimpleAtod(flag, error))
      file.problem = absl::StrCat("unknown tolerance ", flag);
  }
}

void ReadCasePart(absl::string_view key, absl::string_view text, TestFile& file) {
  text = absl::StripAsciiWhitespace(text);
  if (key == "RUN-ON-EACH-BACKEND:") {
    file.cases.push_back({std::string(text), {}, {}, 0, 0});
  } else if (file.cases.empty()) {
    file.problem = absl::StrCat(key, " before RUN-ON-EACH-BACKEND:");
  } else if (key == "INPUT:") {
    file.cases.back().inputs.emplace_back(text);
  } else if (key == "EXPECT:") {
    file.cases.back().expected.emplace_back(text);
  } else {
    ReadTolerance(text, file.cases.back(), file);
  }
}

// Splits a line at the keys in it and reads each part.
void ReadCaseLine(absl::string_view line, TestFile& file) {
  while (!line.empty()) {
    absl::string_view key;
    for (absl::string_view candidate : kCaseKeys)
      if (absl::StartsWith(line, candidate)) key = candidate;
    line.remove_prefix(key.size());
    size_t end = line.size();
    for (absl::string_view next : kCaseKeys) end = std::min(end, line.find(next));
    ReadCasePart(key, line.substr(0, end), file);
    line.remove_prefix(end);
  }
}

void ReadLine(absl::string_view line, TestFile& file) {
  line = absl::StripAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, "//")) return;
  line = absl::StripLeadingAsciiWhitespace(line);
  if (absl::ConsumePrefix(&line, "RUN:")) {
    file.commands.emplace_back(absl::StripAsciiWhitespace(line));
  } else if (absl::ConsumePrefix(&line, "EXIT:")) {
    if (!absl::SimpleAtoi(line, &file.exit_status)) file.problem = "EXIT: takes a number";
  } else if (absl::ConsumePrefix(&line, "UNSUPPORTED:")) {
    for (absl::string_view platform : absl::StrSplit(line, ' ', absl::SkipWhitespace()))
      file.unsupported.emplace_back(platform);
  } else if (absl::StartsWith(line, "CHECK")) {
    file.has_checks = true;
  } else {
    for (absl::string_view key : kCaseKeys)
      if (absl::StartsWith(line, key)) return ReadCaseLine(line, file);
  }
}

}  // namespace

TestFile ReadTestFile(const std::string& path) {
  TestFile file;
  file.path = path;
  auto text = ReadFile(path);
  if (!text.ok()) {
    file.problem = std::string(text.status().message());
    return file;
  }
  file.text = *std::move(text);
  for (absl::string_view line : absl::StrSplit(file.text, '\n')) ReadLine(line, file);
  if (file.commands.empty() && file.cases.empty())
    file.problem = "no RUN: and no RUN-ON-EACH-BACKEND: line";
  for (const ValueCase& value : file.cases)
    if (value.expected.empty()) file.problem = "a case without EXPECT:";
  return file;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
