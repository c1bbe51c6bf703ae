// How a tool ends early: Ctrl-C, a request to terminate, time or memory that has run out.
#pragma once

namespace hlokit {

// From now on SIGINT and SIGTERM end the program with exit status 128 + their number, and so does
// the end of `time_limit_s` seconds (0: none), or of memory in any thread, with kExitUsage: after a
// message, without the part of an output file that was being written, and without a half-drawn
// progress bar. So do SIGABRT (of a failed CHECK) and signals of bad addresses and instructions,
// with kExitInternal; sanitizers keep their own handlers. `tool` must live for ever. Lack of memory
// and faults before it are told too, from the program's first constructor on.
void EndOnSignals(const char* tool, double time_limit_s);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
