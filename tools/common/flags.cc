// CLI11's errors in our words.
#include "tools/common/flags.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>

#include "CLI/CLI.hpp"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "support/text.h"
#include "tools/common/arguments.h"
#include "tools/common/exit_status.h"
#include "tools/common/manual.h"
#include "tools/common/messages.h"
#include "tools/common/tool_call.h"
#include "tools/common/xla_flags.h"

#ifndef HLOKIT_VERSION
#define HLOKIT_VERSION "0.1.0"
#endif

namespace hlokit {
namespace {

// The long names that the tool knows, as typed.
std::vector<std::string> KnownFlags(const CLI::App& app) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  for (const CLI::App* group : app.get_subcommands([](const CLI::App*) { return true; }))
    for (std::string& name : KnownFlags(*group)) known.push_back(std::move(name));
  return known;
}

// " (did you mean --passes?)" for the first argument in `message` that begins with dashes.
std::string Suggestion(const CLI::App& app, absl::string_view message) {
  const size_t start = message.find("--");
  if (start == absl::string_view::npos) return "";
  absl::string_view word = message.substr(start);
  word = word.substr(0, word.find_first_of(" =,:]"));
  const std::vector<std::string> known = KnownFlags(app);
  const std::vector<absl::string_view> candidates(known.begin(), known.end());
  if (std::find(candidates.begin(), candidates.end(), word) != candidates.end()) return "";
  return DidYouMean(word, candidates);
}

// CLI11 reads a switch's value as a number where it is no word for true or false, and lets what
// the standard library throws at that pass: the argument to blame.
std::string ArgumentThatIsNoBool(const CLI::App& app, absl::Span<const std::string> arguments) {
  for (const std::string& argument : arguments) {
    const size_t end = argument.find('=');
    const CLI::Option* option = app.get_option_no_throw(argument.substr(0, end));
    int64_t value;
    if (end != std::string::npos && option != nullptr && option->get_items_expected_max() == 0 &&
        !absl::SimpleAtoi(absl::string_view(argument).substr(end + 1), &value))
      return argument;
  }
  return "a switch";
}

// "Could not convert: --seed = x" in words that say what would do.
std::string WhatWasExpected(const CLI::App& app, const std::string& message) {
  const size_t start = message.find("--"), end = message.find(" = ");
  if (start == std::string::npos || end == std::string::npos || end < start) return message;
  const std::string name = message.substr(start, end - start);
  const CLI::Option* option = app.get_option_no_throw(name);
  const bool is_switch = option != nullptr && option->get_items_expected_max() == 0;
  return absl::StrCat(name, ": expected ", is_switch ? "true or false" : "a number", ", given ",
                      message.substr(end + 3));
}

// CLI11 takes the nearest number for one out of range.
void RefuseHugeNumbers(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty()) continue;
    for (const std::string& text : option->results()) {
      const size_t sign = absl::StartsWith(text, "-") ? 1 : 0;
      int64_t small;
      uint64_t large;
      if (text.size() > sign && text.find_first_not_of("0123456789", sign) == std::string::npos &&
          !absl::SimpleAtoi(text, &small) && !absl::SimpleAtoi(text, &large))
        throw CLI::ValidationError(option->get_name(), text + " is out of range");
    }
  }
}

// Names of XLA's flags with underscores, as everybody types them.
std::string InXlaSpelling(std::string text) {
  constexpr char kStart[] = "--xla-";
  for (size_t at = text.find(kStart); at != text.npos; at = text.find(kStart, at))
    for (at += 2; at < text.size() && (absl::ascii_isalnum(text[at]) || text[at] == '-'); ++at)
      if (text[at] == '-') text[at] = '_';
  return text;
}

// Says what is wrong, and how to see the flags.
int UsageError(const CLI::App& app, const std::string& what) {
  const std::string text = InXlaSpelling(what + Suggestion(app, what));
  std::fprintf(stderr, "%s: error: %s\nRun %s --help for its flags.\n", app.get_name().c_str(),
               text.c_str(), app.get_name().c_str());
  return kExitUsage;
}

// A full disk behind standard output shows when the last of it is written.
void CheckStandardOutput() {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  std::fprintf(stderr, "error: cannot write standard output: %s\n", std::strerror(errno));
  std::_Exit(kExitUsage);
}

// Flags that all tools have.
struct CommonFlags {
  std::string colours = "auto", format = "text";
};

void AddCommonFlags(CLI::App& app, absl::string_view examples, CommonFlags& flags) {
  app.set_version_flag("--version", absl::StrCat(app.get_name(), " (hlokit) ", HLOKIT_VERSION));
  app.footer(std::string(examples));
  app.add_option("--color,--colour", flags.colours,
                 "of messages: auto (on a terminal, unless NO_COLOR is set), always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
  app.add_option("--diagnostics", flags.format,
                 "errors and warnings: text, or json, an object a line")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT");
  for (CLI::Option* option : app.get_options({}))  // --list=a,b FILE: FILE is no part of the list
    if (!option->get_positional()) option->allow_extra_args(false);
}

// Whether a word is empty that no flag before it takes. CLI11 would take it for the name of a group
// of options, for ever.
bool HasEmptyWord(const CLI::App& app, const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (!words[i].empty()) continue;
    const CLI::Option* before = i == 0 ? nullptr : app.get_option_no_throw(words[i - 1]);
    if (before == nullptr || before->get_items_expected_max() == 0) return true;
  }
  return false;
}

// False where the tool should end with `exit_status`.
bool Parse(CLI::App& app, const std::vector<std::string>& arguments, const CommonFlags& flags,
           int& exit_status) {
  if (HasEmptyWord(app, arguments)) {
    exit_status = UsageError(app, "an argument, or the value of a flag that takes none, is empty");
    return false;
  }
  try {
    // CLI11 takes them from the back.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    RefuseHugeNumbers(app);
    SetMessages(flags.format == "json" ? MessageFormat::kJson : MessageFormat::kText,
                flags.colours == "always"  ? UseColours::kAlways
                : flags.colours == "never" ? UseColours::kNever
                                           : UseColours::kAuto);
    return true;
  } catch (const CLI::Success& success) {  // --help, --version
    app.exit(success);
    exit_status = kExitDone;
  } catch (const CLI::ConversionError& error) {
    exit_status = UsageError(app, WhatWasExpected(app, error.what()));
  } catch (const CLI::Error& error) {
    exit_status = UsageError(app, error.what());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    exit_status = UsageError(
        app, absl::StrCat(ArgumentThatIsNoBool(app, arguments), ": expected true or false"));
  }
  return false;
}

// What --help says of a name of XLA's.
std::string XlaHelp(const XlaProgram& program) {
  std::string text =
      absl::StrCat("\n\nAs ", program.name, " it takes the flags of XLA's program too:\n ");
  size_t width = 1;
  for (const XlaFlag& row : XlaFlags()) {
    if ((row.callers & program.caller) == 0 || !HasMeaning(row)) continue;
    width += row.name.size() + 1;
    absl::StrAppend(&text, width > 100 ? "\n " : "", " ", row.name);
    if (width > 100) width = row.name.size() + 2;
  }
  return text;
}

// --print-man-page and --print-completion=SHELL, by which the build makes what packages hold. True
// where that was asked for.
bool PrintManual(CLI::App& app, absl::string_view path, const std::vector<std::string>& arguments,
                 const XlaProgram* program, absl::string_view examples, int& exit_status) {
  constexpr absl::string_view kCompletion = "--print-completion=";
  if (arguments.size() != 1) return false;
  const std::string name(path.substr(path.rfind('/') + 1));
  absl::StatusOr<std::string> text;
  if (arguments[0] == "--print-man-page") {
    text = ManPage(app, name, examples, HLOKIT_VERSION);
  } else if (absl::StartsWith(arguments[0], kCompletion)) {
    std::vector<std::string> more;
    for (const XlaFlag& row : XlaFlags())
      if (program != nullptr && (row.callers & program->caller) != 0 && HasMeaning(row))
        more.push_back(absl::StrReplaceAll(row.name.substr(2), {{"-", "_"}}));
    for (std::string& flag : more) flag = "--" + flag;
    text = CompletionScript(app, name, arguments[0].substr(kCompletion.size()), more);
  } else {
    return false;
  }
  exit_status = text.ok() ? kExitDone : UsageError(app, std::string(text.status().message()));
  if (text.ok()) std::fputs(text->c_str(), stdout);
  return true;
}

}  // namespace

bool ParseToolFlags(CLI::App& app, int argc, const char* const* argv, absl::string_view examples,
                    int& exit_status) {
  std::atexit(CheckStandardOutput);
  const XlaProgram* program = argc > 0 ? FindXlaProgram(argv[0]) : nullptr;
  if (program != nullptr && program->tool != app.get_name()) program = nullptr;
  const std::string all_examples =
      absl::StrCat(examples, program != nullptr ? XlaHelp(*program) : "");
  CommonFlags common;
  AddCommonFlags(app, all_examples, common);
  if (argc > 0 &&
      PrintManual(app, argv[0], NormalizeArguments(argc, argv), program, all_examples, exit_status))
    return false;
  const auto knows = [&](absl::string_view name) {
    const CLI::Option* option = app.get_option_no_throw(std::string(name));
    if (option == nullptr) return FlagKind::kUnknown;
    return option->get_items_expected_max() == 0 ? FlagKind::kSwitch : FlagKind::kWithValue;
  };
  const auto call = ReadToolCall(app.get_name(), argc, argv, knows);
  if (!call.ok()) {
    exit_status = UsageError(app, std::string(call.status().message()));
    return false;
  }
  if (!Parse(app, call->arguments, common, exit_status)) return false;
  for (const std::string& warning : call->warnings)
    ShowFault(app.get_name(), "warning", absl::InvalidArgumentError(warning));
  return true;
}

CLI::Validator ModuleFormat() {
  const CLI::Validator known = CLI::IsMember({"text", "pb", "pbtxt", "json", "stablehlo"});
  return CLI::Validator(
      [known](std::string& text) {
        if (text == "hlo" || text == "txt") text = "text";
        if (text == "mlir" || text == "mhlo") text = "stablehlo";
        return known(text);
      },
      "FORMAT");
}

// Checks as doubles, which hold every flag's range.
CLI::Validator NotNegative() {
  return CLI::Validator(
      [](std::string& text) {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && value >= 0) return std::string();
        return "expected a number of at least 0, given " + text;
      },
      "NONNEGATIVE");
}

CLI::Validator Positive() {
  return CLI::Validator(
      [](std::string& text) {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && value > 0) return std::string();
        return "expected a number above 0, given " + text;
      },
      "POSITIVE");
}

void AddPluginFlag(CLI::App& app, std::vector<std::string>& plugins) {
  app.add_option("--load-pass-plugin", plugins,
                 "a shared object with passes of one's own (examples/pass_plugin)")
      ->type_name("FILE");
}

std::vector<std::string> SplitCommas(absl::string_view text) {
  return absl::StrSplit(text, ',', absl::SkipWhitespace());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
