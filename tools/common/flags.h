// Command lines: what every tool does with its flags.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace hlokit {

// Adds --version, --color and --diagnostics (messages.h), makes --help end in `examples`, and reads
// all that the tool was called with: arguments in XLA's dialect where argv[0] is a name of XLA's,
// and XLA_FLAGS, are in the tool's own flags first (tool_call.h), with warnings of what has no
// effect. True if the tool should go on; else `exit_status` is what it should return: kExitDone
// after --help,
// --version, or a manual (--print-man-page, --print-completion=SHELL), kExitUsage after a message
// that names the flag and, where one is near, what was meant. From here on the program ends with
// kExitUsage and a message where standard output could not take all that was printed.
bool ParseToolFlags(CLI::App& app, int argc, const char* const* argv, absl::string_view examples,
                    int& exit_status);

// The formats of modules that --input-format takes, by our names and XLA's, made ours.
CLI::Validator ModuleFormat();

// For real numbers of at least zero: CLI11's own takes NaN, and spells out the largest double.
CLI::Validator NotNegative();
// Those above zero.
CLI::Validator Positive();

// Adds --load-pass-plugin, which fills `plugins`.
void AddPluginFlag(CLI::App& app, std::vector<std::string>& plugins);

// Comma-separated text, empty parts left out.
std::vector<std::string> SplitCommas(absl::string_view text);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
