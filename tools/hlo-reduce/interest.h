// Whether a module still shows what is being looked for: a command is run on it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "ir/module.h"
#include "re2/re2.h"

namespace hlokit {

struct InterestOptions {
  // `{}` stands for the module's file, which comes last where there is none; `{inputs}` for one of
  // arguments, which `write_inputs` writes.
  std::string command;
  std::function<absl::Status(const Module& module, const std::string& path)> write_inputs;
  bool any_failure = false;  // interesting: every exit status but 0, and crashes
  int exit_status = 0;       // else this one; 128 + a signal's number
  std::string message;       // and the output matches this expression, where it is not empty
  double time_limit_s = 0;   // of one run, 0: none; a run that takes longer is not interesting
};

// May be asked from several threads.
class Interest {
 public:
  // InvalidArgument for a bad expression.
  static absl::StatusOr<std::unique_ptr<Interest>> Make(const InterestOptions& options);

  // `text` is the module's WholeText. Texts that were not interesting before are not run again.
  absl::StatusOr<bool> Holds(const Module& module, const std::string& text);

  // From now on; modules shrink, so a run that takes much longer than the first one hangs.
  void set_time_limit(double seconds) { options_.time_limit_s = seconds; }

  int64_t runs() const { return runs_; }
  // The end of what the last command printed that was not interesting; for messages.
  std::string last_output() const;

 private:
  explicit Interest(const InterestOptions& options);
  absl::StatusOr<bool> Run(const Module& module, const std::string& text);

  InterestOptions options_;
  const re2::RE2 message_;
  std::atomic<int64_t> runs_ = 0;
  mutable std::mutex mutex_;
  absl::flat_hash_set<size_t> dull_;  // hashes of texts that were not interesting
  std::string last_output_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
