// How long work reports how far it is, and learns that it should stop.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hlokit {

// Called with a stage ("compile") and the fraction done, 0 to 1; returns false to interrupt the
// work.
using ProgressCallback = std::function<bool(absl::string_view stage, double fraction)>;

// One stage of `total` steps over an optional callback, which is called about a hundred times
// however many steps there are.
class Progress {
 public:
  // `callback` may be empty; it and `stage` must outlive the object.
  Progress(const ProgressCallback& callback, absl::string_view stage, long total)
      : callback_(callback), stage_(stage), total_(total > 0 ? total : 1) {}

  // Counts `steps` as done. Cancelled where the callback asked to stop.
  absl::Status Step(long steps = 1) {
    done_ += steps;
    if (!callback_ || (done_ < next_ && done_ < total_)) return absl::OkStatus();
    next_ = done_ + total_ / 100;
    double fraction =
        done_ < total_ ? static_cast<double>(done_) / static_cast<double>(total_) : 1.0;
    if (callback_(stage_, fraction)) return absl::OkStatus();
    return absl::CancelledError("interrupted");
  }

 private:
  const ProgressCallback& callback_;
  absl::string_view stage_;
  long total_;
  long done_ = 0;
  long next_ = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
