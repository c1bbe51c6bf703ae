// Handlers of signals and of exceptions that nobody catches: remove unfinished files, say one line,
// end with the documented status. They call only functions that are safe in signal handlers.
#include "tools/common/signals.h"

#include <cxxabi.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <typeinfo>

#include "support/file.h"
#include "support/scratch_folder.h"
#include "tools/common/exit_status.h"

namespace hlokit {
namespace {

struct Fault {
  int number;
  const char* text;
};
constexpr Fault kFaults[] = {{SIGABRT, "SIGABRT\n"}, {SIGSEGV, "SIGSEGV\n"},
                             {SIGBUS, "SIGBUS\n"},   {SIGFPE, "SIGFPE\n"},
                             {SIGILL, "SIGILL\n"},   {SIGTRAP, "SIGTRAP\n"}};

char interrupted[128], out_of_time[160];
// What is being done: the handler reads one half, while the other may be written.
char doing[2][512];
std::atomic<const char*> doing_now{nullptr};
std::atomic<bool> ends_by_itself{false};
char fault_stack[size_t{1} << 16];  // of EndForFault: the program's own may be full
const char* name = nullptr;         // the tool's; null before EndOnSignals

void Say(const char* text) {
  if (isatty(STDERR_FILENO) != 0) (void)!write(STDERR_FILENO, "\r\033[K", 4);
  (void)!write(STDERR_FILENO, text, std::strlen(text));
}

// With the tool's name before it.
void SayAs(const char* text) {
  Say(name != nullptr ? name : program_invocation_short_name);
  (void)!write(STDERR_FILENO, text, std::strlen(text));
}

void SayDoing() {
  if (const char* const text = doing_now.load(); text != nullptr) Say(text);
}

// What nobody will finish or need.
void CleanUp() {
  RemoveUnfinishedFile();
  RemoveScratchFolders();
}

void End(int signal) {
  CleanUp();
  Say(signal == SIGALRM ? out_of_time : interrupted);
  if (signal != SIGALRM) SayDoing();
  _exit(signal == SIGALRM ? kExitUsage : 128 + signal);
}

// Of an exception that nobody catches. All but a lack of memory are faults of ours. Looking at the
// exception's type allocates nothing; throwing it again would.
void EndForLackOfMemory() {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type == nullptr ||
      (*type != typeid(std::bad_alloc) && *type != typeid(std::bad_array_new_length)))
    std::abort();
  CleanUp();
  SayAs(": error: out of memory\n");
  _exit(kExitUsage);
}

// Of a failed CHECK, a bad address, a library that gives up. hlo-opt has words of its own
// (CrashWatch).
void EndForFault(int signal) {
  CleanUp();
  SayAs(": internal error: ");
  for (const auto& [number, text] : kFaults)
    if (number == signal) (void)!write(STDERR_FILENO, text, std::strlen(text));
  SayDoing();
  _exit(kExitInternal);
}

bool HasSanitizer() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
  return __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
  return false;
#endif
}

// Sanitizers keep their own handlers.
// On a stack of their own, since a fault may be that the program's is full.
void EndOnFaults() {
  if (HasSanitizer()) return;
  stack_t stack = {};
  stack.ss_sp = fault_stack;
  stack.ss_size = sizeof(fault_stack);
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = EndForFault;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND | SA_NODEFER;
  for (const Fault& fault : kFaults) sigaction(fault.number, &action, nullptr);
}

#if defined(__linux__)
// Before the constructors of shared libraries, LLVM's among them, which allocate.
void SetHandlers(int, char**, char**) {
  std::set_terminate(EndForLackOfMemory);
  EndOnFaults();
}
__attribute__((section(".preinit_array"),
               used)) void (*const set_handlers_first)(int, char**, char**) = SetHandlers;
#endif

}  // namespace

void SayWhenInterrupted(const std::string& text) {
  char* const free = doing_now.load() == doing[0] ? doing[1] : doing[0];
  std::snprintf(free, sizeof doing[0], "%s: %.*s\n", name != nullptr ? name : "",
                static_cast<int>(sizeof doing[0] - 64), text.c_str());
  doing_now.store(free);
}

void EndsByItself() { ends_by_itself.store(true); }

void SayWhenEndedByOthers() {
  std::atexit([] {
    if (ends_by_itself.load()) return;
    CleanUp();
    SayAs(": error: a library has ended this process\n");
    SayDoing();
  });
}

void EndOnSignals(const char* tool, double time_limit_s) {
  std::snprintf(interrupted, sizeof(interrupted), "%s: interrupted\n", tool);
  std::snprintf(out_of_time, sizeof(out_of_time), "%s: error: stopped after %g s (--time-limit)\n",
                tool, time_limit_s);
  name = tool;
  std::set_terminate(EndForLackOfMemory);
  EndOnFaults();
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
