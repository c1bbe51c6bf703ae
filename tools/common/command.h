// Other programs: run with a time limit, their exit status and output kept.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hlokit {

struct CommandResult {
  int exit_status = 0;  // 128 + the signal's number where one ended it
  bool timed_out = false;
  std::string output;  // both streams, the first MiB
};

// Runs `command` in a shell, in a process group of its own, which is killed after `time_limit_s`
// seconds (0: never). May be called from several threads. Errors: Internal where no process or
// file can be had.
absl::StatusOr<CommandResult> RunCommand(const std::string& command, double time_limit_s);

// `word` as a shell takes it: in quotes where it holds what the shell would read otherwise;
// of `--flag=value` the value alone.
std::string ShellWord(absl::string_view word);

// A path in the folder for temporary files that no other process uses: ...-PID-NUMBER.ENDING.
std::string TemporaryPath(const std::string& stem, const std::string& ending);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
