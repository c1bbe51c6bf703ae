// Time that has gone by, told by a clock that must not go back but may.
#pragma once

namespace hlokit {

// Seconds since the first call of the process; differences of two calls are never negative. A step
// back of the machine's steady clock, which POSIX forbids and machines that were suspended or moved
// have shown, counts as no time, so that nobody waits for the clock to catch up. Thread-safe; about
// 50 ns.
double SteadySeconds();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
