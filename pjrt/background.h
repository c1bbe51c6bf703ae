// Runs that go on while the framework's thread does something else.
//
// A run that depends on another is put behind it, in the same lane; a lane is a thread and a queue.
// Whatever the lanes, nothing waits for ever: runs depend on older ones only, a lane takes them in
// order, and the oldest run of all has nothing left to wait for.
//
//   lane 0:  step 1 -> step 2 (reads the result of step 1) -> ...
//   lane 1:  a run that reads neither
//
// Handing a run over and hearing of its results costs some 40 us of processor time, so short runs
// stay with the caller (RecentTime): most callers wait for the results at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>

namespace hlokit {

inline constexpr int kNoLane = -1;

// The lane with the fewest tasks.
int QuietestLane();

// Runs `task`, which must not throw, behind what is queued in a lane; in the caller's thread where
// the system starts no more threads. Waits while the lane is full.
void RunInBackground(std::function<void()> task, int lane);

// False in a forked child: its parent's threads did not come along.
bool MayRunInBackground();

// How long a program's runs take of late: the least time, as a busy machine makes any run long. It
// grows a little with each run, so that a program whose runs become long is found out after some.
// Short runs use no other thread, not for parallel loops either: the pool sleeps between runs, and
// on a busy machine a loop waits for the thread that took a part of it. Where that proves wrong,
// since many cores made the run short, they use all again.
class RecentTime {
 public:
  // A run took so long, `alone` or not. Any thread may call it; of runs that end at the same moment
  // one may count.
  void Note(double seconds, bool alone) {
    constexpr double kGrowth = 1.02;
    seconds_ = std::min(seconds, kGrowth * seconds_);
    if (alone && slow_alone_ < kTries) slow_alone_ = seconds < kSlowSeconds ? 0 : slow_alone_ + 1;
  }
  // False before the first run.
  bool IsShort() const { return seconds_ < kShortSeconds; }
  bool RunsAlone() const { return IsShort() && slow_alone_ < kTries; }

 private:
  static constexpr double kShortSeconds = 120e-6;
  static constexpr double kSlowSeconds = 4 * kShortSeconds;
  static constexpr int kTries = 8;  // in turn that were slow
  std::atomic<double> seconds_ = std::numeric_limits<double>::infinity();
  std::atomic<int> slow_alone_ = 0;
};

// Until all that was handed over before has ended.
void AwaitBackground();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
