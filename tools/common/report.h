// What tools tell scripts and terminals about a run: --json files, times, memory, progress bars.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "support/clock.h"
#include "support/progress.h"

namespace hlokit {

// A flat JSON object, keys in the order they were added.
class JsonObject {
 public:
  void Add(absl::string_view key, double value);  // null where not finite
  void Add(absl::string_view key, int64_t value);
  void Add(absl::string_view key, int value) { Add(key, static_cast<int64_t>(value)); }
  void Add(absl::string_view key, absl::string_view text);
  void Add(absl::string_view key, const char* text) { Add(key, absl::string_view(text)); }
  void AddRaw(absl::string_view key, absl::string_view json);  // a value that is JSON already
  std::string Text() const;                                    // with a newline at the end

 private:
  std::string body_;
};

// Seconds since it was made or last taken.
class Stopwatch {
 public:
  double Seconds() const { return SteadySeconds() - start_; }
  // Seconds so far; starts anew.
  double Take() {
    const double seconds = Seconds();
    start_ = SteadySeconds();
    return seconds;
  }

 private:
  double start_ = SteadySeconds();
};

// The most memory that this process has held, in MiB.
int64_t PeakRssMib();

// Draws a bar on standard error once work has lasted half a second; empty where standard error is
// no terminal.
ProgressCallback TerminalProgress();
// Wipes the bar, if one was drawn, before a message.
void ClearProgress();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
