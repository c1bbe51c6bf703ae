// Handlers that only call what signal handlers may.
#include "tools/common/signals.h"

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "support/file.h"
#include "tools/common/exit_status.h"

namespace hlokit {
namespace {

char interrupted[128], out_of_time[160], out_of_memory[128];

void Say(const char* text) {
  if (isatty(STDERR_FILENO) != 0) (void)!write(STDERR_FILENO, "\r\033[K", 4);
  (void)!write(STDERR_FILENO, text, std::strlen(text));
}

void End(int signal) {
  RemoveUnfinishedFile();
  Say(signal == SIGALRM ? out_of_time : interrupted);
  _exit(signal == SIGALRM ? kExitUsage : 128 + signal);
}

// Of an exception that nobody catches. All but a lack of memory are faults of ours.
void EndForLackOfMemory() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    RemoveUnfinishedFile();
    Say(out_of_memory);
    _exit(kExitUsage);
  } catch (...) {
  }
  std::abort();
}

}  // namespace

void EndOnSignals(const char* tool, double time_limit_s) {
  std::snprintf(interrupted, sizeof(interrupted), "%s: interrupted\n", tool);
  std::snprintf(out_of_time, sizeof(out_of_time), "%s: error: stopped after %g s (--time-limit)\n",
                tool, time_limit_s);
  std::snprintf(out_of_memory, sizeof(out_of_memory), "%s: error: out of memory\n", tool);
  std::set_terminate(EndForLackOfMemory);
  struct sigaction action = {};
  action.sa_handler = End;
  sigfillset(&action.sa_mask);
  for (int signal : {SIGINT, SIGTERM, SIGALRM}) sigaction(signal, &action, nullptr);
  if (time_limit_s <= 0) return;
  constexpr double kLongest = 1e8;  // seconds
  const double seconds = std::min(time_limit_s, kLongest);
  itimerval timer = {};
  timer.it_value.tv_sec = static_cast<time_t>(seconds);
  timer.it_value.tv_usec = std::max<suseconds_t>(
      seconds < 1 ? 1 : 0, static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6));
  setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
