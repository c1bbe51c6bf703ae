// Command lines: what every tool does with its flags before and after CLI11 reads them.
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

// The arguments after the program's name, with the dialects of a shell user's habits made one:
// underscores in a flag's name become dashes (`--num_partitions=2`), and `-flag` of two letters or
// more becomes `--flag`, and `-f=value` two arguments. Values and what stands after `--` stay as
// they are.
std::vector<std::string> NormalizeArguments(int argc, const char* const* argv);

// Adds --version, --color and --diagnostics (messages.h), makes --help end in `examples`, and reads
// `arguments`. True if the tool should go on; else `exit_status` is what it should return:
// kExitDone after --help or --version, kExitUsage after a message that names the flag and, where
// one is near, what was meant. From here on the program ends with kExitUsage and a message where
// standard output could not take all that was printed.
bool ParseFlags(CLI::App& app, const std::vector<std::string>& arguments,
                absl::string_view examples, int& exit_status);

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
