// The command line of a tool, whoever's dialect it is in: ours, that of XLA's program whose name
// the tool was called by, with XLA_FLAGS and --debug_options_file.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hlokit {

// What a tool's own flag of a name is.
enum class FlagKind : uint8_t { kUnknown, kSwitch, kWithValue };

struct ToolCall {
  std::vector<std::string> arguments;  // in the tool's own flags
  std::vector<std::string> warnings;   // of flags that have no effect, a reason each
};

// What `argv` asks of `tool`. Names under which XLA installs a program of the same work
// (run_hlo_module) have their program's flags and defaults. `knows` says what the tool's
// flag of this name is, dashes before it. A switch is turned off by `--noNAME` too. XLA_FLAGS is
// read by tools that compile; the others say that they do not. Where a flag is
// given more than once, the command line counts before XLA_FLAGS, and that before
// --debug_options_file. Errors: InvalidArgument for a flag that cannot be had here, with what to
// type instead, and for XLA_FLAGS that are no flags; NotFound for a file that --debug_options_file
// or XLA_FLAGS names.
absl::StatusOr<ToolCall> ReadToolCall(absl::string_view tool, int argc, const char* const* argv,
                                      const std::function<FlagKind(absl::string_view)>& knows);

// The words of XLA_FLAGS, quotes taken off; a value that does not begin with a dash is the name of
// a file that holds them. As in XLA, the first word without a dash ends them: `unread` gets it and
// what follows.
absl::StatusOr<std::vector<std::string>> XlaFlagWords(absl::string_view value,
                                                      std::string* unread = nullptr);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
