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
// on a busy machine a loop waits for the thread that took a part of it. After a few tries either
// way that is kept to unless many cores make the run much shorter.
class RecentTime {
 public:
  // A run took so long, `alone` or not. Any thread may call it; of runs that end at the same moment
  // one may count.
  void Note(double seconds, bool alone) {
    constexpr double kGrowth = 1.02;
    recent_ = std::min(seconds, kGrowth * recent_);
    Tries& tries = alone ? alone_ : together_;
    if (tries.count >= kTries) return;
    ++tries.count;
    tries.least = std::min<double>(tries.least, seconds);
  }
  // False before the first run.
  bool IsShort() const { return recent_ < kShortSeconds; }
  bool RunsAlone() const {
    constexpr double kWorth = 1.5;
    if (!IsShort() || together_.count < kTries) return false;
    return alone_.count < kTries || alone_.least < kWorth * together_.least;
  }

 private:
  static constexpr double kShortSeconds = 250e-6;
  static constexpr int kTries = 8;
  struct Tries {
    std::atomic<int> count = 0;
    std::atomic<double> least = std::numeric_limits<double>::infinity();
  };
  std::atomic<double> recent_ = std::numeric_limits<double>::infinity();
  Tries alone_, together_;
};

// Until all that was handed over before has ended.
void AwaitBackground();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
