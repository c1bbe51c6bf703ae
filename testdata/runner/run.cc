// Commands through the shell, outputs through FileCheck, values through the literal parser.
#include "testdata/runner/run.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "parser/parser.h"
#include "support/file.h"
#include "testdata/runner/file_check.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

constexpr absl::string_view kPlatforms[] = {"interpreter", "cpu", "ptx-sim"};
constexpr int kSeconds = 120;  // for one command

// A folder that goes away with the object.
class ScratchFolder {
 public:
  ScratchFolder() { ok_ = mkdtemp(path_.data()) != nullptr; }
  ~ScratchFolder() {
    std::error_code ignored;
    if (ok_) std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(absl::string_view name) const { return absl::StrCat(path_, "/", name); }

 private:
  std::string path_ = "/tmp/hlokit_test_XXXXXX";
  bool ok_ = false;
};

struct CommandResult {
  int exit_status = -1;
  std::string out, err;
};

CommandResult RunCommand(const std::string& command, const ScratchFolder& scratch) {
  const std::string out = scratch / "stdout", err = scratch / "stderr";
  const std::string line = absl::StrCat("cd / && export PATH=" HLOKIT_BIN ":$PATH && { ", command,
                                        "\n} >", out, " 2>", err);
  const std::string whole = absl::StrCat("timeout ", kSeconds, " sh -c '",
                                         absl::StrReplaceAll(line, {{"'", "'\\''"}}), "'");
  const int status = std::system(whole.c_str());
  CommandResult result;
  result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = ReadFile(out).value_or("");
  result.err = ReadFile(err).value_or("");
  return result;
}

std::string Expand(absl::string_view command, const TestFile& file, const ScratchFolder& scratch) {
  const std::string folder = std::filesystem::path(file.path).parent_path();
  return absl::StrReplaceAll(command, {{"%s", file.path}, {"%t", scratch / "t"}, {"%d", folder}});
}

std::string CompareGolden(const std::string& path, const std::string& output) {
  if (std::getenv("HLOKIT_UPDATE_GOLDENS") != nullptr) {
    const absl::Status written = AtomicWriteFile(path, output);
    return written.ok() ? "" : std::string(written.message());
  }
  const std::string expected = ReadFile(path).value_or("");
  if (expected == output) return "";
  return absl::StrCat(path, " says\n", expected, "but the output is\n", output,
                      "(HLOKIT_UPDATE_GOLDENS=1 takes it over)\n");
}

// All RUN lines of the file; outputs are judged together.
std::string RunCommands(const TestFile& file, const ScratchFolder& scratch) {
  std::string output;
  for (absl::string_view command : file.commands) {
    const bool refuses = absl::ConsumePrefix(&command, "not ");
    const int expected = file.exit_status >= 0 ? file.exit_status : refuses ? 2 : 0;
    const CommandResult result = RunCommand(Expand(command, file, scratch), scratch);
    if (result.exit_status != expected)
      return absl::StrCat(command, "\nexit status ", result.exit_status, ", expected ", expected,
                          "\n", result.out, result.err);
    absl::StrAppend(&output, result.out, result.err);
  }
  // Names of machines' own places have no business in expectations.
  output = absl::StrReplaceAll(output,
                               {{std::filesystem::path(file.path).parent_path().string() + "/", ""},
                                {scratch / "", "SCRATCH/"}});
  const std::string golden = absl::StrCat(file.path, ".out");
  if (std::filesystem::exists(golden)) return CompareGolden(golden, output);
  if (!file.has_checks) return "the file neither has CHECK lines nor a .out file beside it\n";
  std::string why;
  if (FileCheck(file.path, file.text, output, why)) return "";
  return absl::StrCat(why, "output:\n", output);
}

bool Near(const ValueCase& value, double expected, double actual) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  if (expected == actual) return expected != 0 || std::signbit(expected) == std::signbit(actual);
  return std::abs(expected - actual) <=
         std::max(value.absolute_error, value.relative_error * std::abs(expected));
}

// Empty, or the first element that differs.
std::string Compare(const ValueCase& value, const Literal& expected, const Literal& actual) {
  if (expected.shape().IsTuple()) {
    if (expected.elements().size() != actual.elements().size()) return "another number of results";
    for (size_t i = 0; i < expected.elements().size(); ++i)
      if (std::string why = Compare(value, expected.elements()[i], actual.elements()[i]);
          !why.empty())
        return absl::StrCat("result ", i, ": ", why);
    return "";
  }
  if (!SameIgnoringLayout(expected.shape(), actual.shape()))
    return absl::StrCat("shape ", Text(actual.shape()), ", expected ", Text(expected.shape()));
  if (expected.shape().IsToken()) return "";
  for (int64_t i = 0; i < expected.element_count(); ++i) {
    bool same;
    if (IsFloat(expected.type())) {
      same = Near(value, expected.GetDouble(i), actual.GetDouble(i));
    } else if (IsComplex(expected.type())) {
      const auto e = expected.GetComplex(i), a = actual.GetComplex(i);
      same = Near(value, e.real(), a.real()) && Near(value, e.imag(), a.imag());
    } else {
      same = expected.GetInt(i) == actual.GetInt(i);
    }
    if (same) continue;
    std::string text = absl::StrCat("element ", i, " is ");
    AppendElementText(text, actual, i);
    text += ", expected ";
    AppendElementText(text, expected, i);
    return text;
  }
  return "";
}

// XLA reads `-0` as the integer that it looks like, although it prints negative zeros so; in test
// files and in results it means a negative zero.
std::string WithNegativeZeros(absl::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    result += text[i];
    if (text[i] != '0' || i == 0 || text[i - 1] != '-') continue;
    const bool starts = i == 1 || !(absl::ascii_isalnum(text[i - 2]) || text[i - 2] == '.');
    const bool ends =
        i + 1 == text.size() || !(absl::ascii_isalnum(text[i + 1]) || text[i + 1] == '.');
    if (starts && ends) result += ".0";
  }
  return result;
}

std::string CompareText(const ValueCase& value, const std::string& expected,
                        const std::string& actual) {
  const auto expected_literal = ParseLiteral(WithNegativeZeros(expected));
  if (!expected_literal.ok()) return absl::StrCat("EXPECT: ", expected_literal.status().message());
  const auto actual_literal = ParseLiteral(WithNegativeZeros(actual));
  if (!actual_literal.ok())
    return absl::StrCat("output: ", actual_literal.status().message(), "\n", actual);
  return Compare(value, *expected_literal, *actual_literal);
}

std::string RunCase(const TestFile& file, const ValueCase& value, absl::string_view platform,
                    const ScratchFolder& scratch) {
  std::string command =
      absl::StrCat(Expand(value.command, file, scratch), " --platform=", platform);
  for (size_t i = 0; i < value.inputs.size(); ++i) {
    const std::string path = scratch / absl::StrCat("in", i, ".txt");
    if (!AtomicWriteFile(path, WithNegativeZeros(value.inputs[i])).ok())
      return "cannot write inputs\n";
    absl::StrAppend(&command, " --input=", path);
  }
  const std::string out = scratch / "out.txt";
  absl::StrAppend(&command, " --output=", out);
  const CommandResult result = RunCommand(command, scratch);
  if (result.exit_status != 0)
    return absl::StrCat("exit status ", result.exit_status, "\n", result.out, result.err);
  const std::string text = ReadFile(out).value_or("");
  const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipWhitespace());
  if (lines.size() != value.expected.size())
    return absl::StrCat(lines.size(), " results, EXPECT has ", value.expected.size(), "\n", text);
  for (size_t device = 0; device < lines.size(); ++device)
    if (const std::string why = CompareText(value, value.expected[device], lines[device]);
        !why.empty())
      return absl::StrCat(lines.size() > 1 ? absl::StrCat("device ", device, ": ") : "", why, "\n");
  return "";
}

}  // namespace

std::string RunTestFile(const TestFile& file) {
  if (!file.problem.empty()) return file.problem;
  const ScratchFolder scratch;
  std::string failures;
  if (!file.commands.empty()) failures = RunCommands(file, scratch);
  for (size_t i = 0; i < file.cases.size(); ++i) {
    for (absl::string_view platform : kPlatforms) {
      if (std::find(file.unsupported.begin(), file.unsupported.end(), platform) !=
          file.unsupported.end())
        continue;
      const std::string why = RunCase(file, file.cases[i], platform, scratch);
      if (!why.empty()) absl::StrAppend(&failures, "case ", i, " on ", platform, ": ", why);
    }
  }
  return failures;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
