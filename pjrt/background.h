// Runs that go on while the framework's thread does something else.
//
// A run that depends on another is put behind it, in the same lane; a lane is a thread and a queue.
// Whatever the lanes, nothing waits for ever: runs depend on older ones only, a lane takes them in
// order, and the oldest run of all has nothing left to wait for.
//
//   lane 0:  step 1 -> step 2 (reads the result of step 1) -> ...
//   lane 1:  a run that reads neither
//
// Handing a run over costs about 5 microseconds and a thread's wakeup, so runs that are shorter
// stay with the caller (PjrtModule::background).
#pragma once

#include <functional>

namespace hlokit {

inline constexpr int kNoLane = -1;

// The lane with the fewest tasks.
int QuietestLane();

// Runs `task`, which must not throw, behind what is queued in a lane; in the caller's thread where
// the system starts no more threads. Waits while the lane is full.
void RunInBackground(std::function<void()> task, int lane);

// False in a forked child: its parent's threads did not come along.
bool MayRunInBackground();

// Until all that was handed over before has ended.
void AwaitBackground();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
