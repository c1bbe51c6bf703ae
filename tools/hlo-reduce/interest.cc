// The command's run, and the memory of runs.
#include "tools/hlo-reduce/interest.h"

#include <unistd.h>

#include "absl/hash/hash.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "printer/whole_text.h"
#include "support/file.h"
#include "support/status.h"
#include "support/text.h"
#include "tools/common/command.h"

namespace hlokit {

absl::StatusOr<std::unique_ptr<Interest>> Interest::Make(const InterestOptions& options) {
  std::unique_ptr<Interest> made(new Interest(options));
  if (!made->message_.ok()) return InvalidArgument("--message: ", made->message_.error());
  return made;
}

Interest::Interest(const InterestOptions& options)
    : options_(options), message_(options.message, re2::RE2::Quiet) {}

std::string Interest::last_output() const {
  const std::lock_guard lock(mutex_);
  return last_output_;
}

absl::StatusOr<bool> Interest::Holds(const Module& module, const std::string& text) {
  const size_t hash = absl::HashOf(text);
  {
    const std::lock_guard lock(mutex_);
    if (dull_.contains(hash)) return false;
  }
  ASSIGN_OR_RETURN(const bool holds, Run(module, text));
  if (!holds) {
    const std::lock_guard lock(mutex_);
    dull_.insert(hash);
  }
  return holds;
}

absl::StatusOr<bool> Interest::Run(const Module& module, const std::string& text) {
  const std::string path = TemporaryPath("hlo-reduce", "hlo");
  const std::string inputs = TemporaryPath("hlo-reduce", "npz");
  RETURN_IF_ERROR(AtomicWriteFile(path, text));
  std::string command = absl::StrContains(options_.command, "{}")
                            ? absl::StrReplaceAll(options_.command, {{"{}", path}})
                            : absl::StrCat(options_.command, " ", path);
  if (options_.write_inputs != nullptr) {
    RETURN_IF_ERROR(options_.write_inputs(module, inputs));
    command = absl::StrReplaceAll(command, {{"{inputs}", inputs}});
  }
  ++runs_;
  const auto result = RunCommand(command, options_.time_limit_s);
  unlink(path.c_str());
  if (options_.write_inputs != nullptr) unlink(inputs.c_str());
  RETURN_IF_ERROR(result.status());
  const bool holds = !result->timed_out &&
                     (options_.any_failure ? result->exit_status != 0
                                           : result->exit_status == options_.exit_status) &&
                     (options_.message.empty() || re2::RE2::PartialMatch(result->output, message_));
  if (!holds) {
    const std::lock_guard lock(mutex_);
    last_output_ = result->timed_out ? "it took longer than the time limit\n"
                                     : absl::StrCat("exit status ", result->exit_status, "\n",
                                                    result->output.substr(0, 2000));
  }
  return holds;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
