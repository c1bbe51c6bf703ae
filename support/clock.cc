// Time that has gone by, told by a clock that must not go back but may.
#include "support/clock.h"

#include <algorithm>
#include <chrono>
#include <mutex>

namespace hlokit {

double SteadySeconds() {
  using Clock = std::chrono::steady_clock;
  static std::mutex mutex;
  static Clock::time_point last = Clock::now();
  static Clock::duration total{0};
  const std::lock_guard<std::mutex> lock(mutex);
  const Clock::time_point now = Clock::now();
  total += std::max(now - last, Clock::duration::zero());
  last = now;
  return std::chrono::duration<double>(total).count();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
