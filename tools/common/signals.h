// How a tool ends early: Ctrl-C, a request to terminate, time or memory that has run out.
#pragma once

#include <string>

namespace hlokit {

// From now on SIGINT and SIGTERM end the program with exit status 128 + their number, and so does
// the end of `time_limit_s` seconds (0: none), or of memory in any thread, with kExitUsage: after a
// message, without the part of an output file that was being written, and without a half-drawn
// progress bar. So do SIGABRT (of a failed CHECK) and signals of bad addresses and instructions,
// with kExitInternal; sanitizers keep their own handlers. `tool` must live for ever. Lack of memory
// and faults before it are told too, from the program's first constructor on.
void EndOnSignals(const char* tool, double time_limit_s);

// What SIGINT, SIGTERM and faults say besides, from now on: "rank 1: device 2 at all-reduce %x".
// Called now and then by one thread.
void SayWhenInterrupted(const std::string& text);

// A library that calls exit() does not do so in silence: that is said, unless EndsByItself was
// called before. Open MPI does it where a connection ends.
void SayWhenEndedByOthers();
void EndsByItself();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
