// A handler of crashes that writes a reproducer: the module before the pass that crashed, and the
// command. The crashed process cannot be trusted to print a module, so that the handler starts
// hlo-opt anew, which runs the passes before that one again and writes the file. Everything that
// the handler needs is laid out before a pass runs: it only writes, forks and executes, which are
// async-signal-safe (POSIX.1-2017, 2.4.3).
#include "tools/hlo-opt/crash_watch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "support/file.h"
#include "support/scratch_folder.h"
#include "tools/common/exit_status.h"
#include "tools/common/load.h"

namespace hlokit {
namespace {

constexpr unsigned kReproducingSeconds = 120;
constexpr size_t kStackSize = size_t{1} << 16;  // of the handler: the program's own may be full

struct Signal {
  int number;
  const char* name;
};
constexpr Signal kSignals[] = {{SIGSEGV, "SIGSEGV"},
                               {SIGBUS, "SIGBUS"},
                               {SIGABRT, "SIGABRT"},
                               {SIGFPE, "SIGFPE"},
                               {SIGILL, "SIGILL"}};

struct State {
  std::vector<std::string> words;  // of the command that reproduces
  std::vector<char*> arguments;    // the same as execv takes them
  std::string format, path;        // --input-format=...; where the reproducer goes
  const char* text = nullptr;      // the module's file
  size_t text_size = 0;
  char where[512] = "";   // the words after the signal's name
  char moment[320] = "";  // --reproduce=PASS@STEPS; empty where no pass is at work
  char stack[kStackSize];
};
State* state = nullptr;

void Say(const char* text) { (void)!write(STDERR_FILENO, text, std::strlen(text)); }

[[noreturn]] void Reproduce(const int ends[2]) {
  alarm(kReproducingSeconds);
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(ends[0], STDIN_FILENO);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  close(ends[0]);
  close(ends[1]);
  execv("/proc/self/exe", state->arguments.data());
  _exit(127);
}

// True if the other process got the module and wrote the file.
bool HasReproducer() {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const pid_t child = fork();
  if (child == 0) Reproduce(ends);
  close(ends[0]);
  signal(SIGPIPE, SIG_IGN);
  for (size_t done = 0; child > 0 && done < state->text_size;) {
    const ssize_t size = write(ends[1], state->text + done, state->text_size - done);
    if (size < 0 && errno != EINTR) break;
    if (size > 0) done += static_cast<size_t>(size);
  }
  close(ends[1]);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == kExitDone;
}

void OnCrash(int number) {
  RemoveUnfinishedFile();
  RemoveScratchFolders();
  Say("hlo-opt: internal error: ");
  for (const Signal& signal : kSignals)
    if (signal.number == number) Say(signal.name);
  Say(state->where);
  Say("\n");
  if (state->moment[0] != '\0' && state->text != nullptr) {
    if (HasReproducer()) {
      Say("hlo-opt: the module as it stood before that pass, and the command: see ");
      Say(state->path.c_str());
      Say("\n");
    } else {
      Say("hlo-opt: no reproducer could be written\n");
    }
  }
  _exit(kExitInternal);
}

bool HasSanitizer() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

// The command that runs the passes before the one at work; the moment comes last.
std::vector<std::string> Words(const OptOptions& o, const std::string& spec) {
  std::vector<std::string> words = {"hlo-opt", "-", absl::StrCat("--passes=", spec)};
  for (std::string& flag : PassFlags(o)) words.push_back(std::move(flag));
  for (const std::string& fuel : o.fuel) words.push_back(absl::StrCat("--xla-fuel=", fuel));
  for (const std::string& name : o.extract) words.push_back(absl::StrCat("--extract=", name));
  words.push_back(absl::StrCat("--height=", o.extract_height));
  if (!o.verify) words.emplace_back("--no-verify");
  if (o.allow_unknown_attributes) words.emplace_back("--allow-unknown-attributes");
  words.push_back(absl::StrCat("--reproducer=", state->path));
  words.push_back(absl::StrCat("--reproduce-note=it crashed\nby: ", o.command));
  return words;
}

std::string FormatOf(const SourceFile& source) {
  const auto encoding = EncodingOf(source.name(), source.text());
  if (!encoding) return "--input-format=text";
  if (*encoding == ProtoEncoding::kBinary) return "--input-format=pb";
  return *encoding == ProtoEncoding::kText ? "--input-format=pbtxt" : "--input-format=json";
}

}  // namespace

void CrashWatch::Start(const OptOptions& options, const std::string& spec) {
  if (HasSanitizer()) return;
  state = new State;
  state->path = ReproducerPath(options);
  state->words = Words(options, spec);
  for (std::string& word : state->words) state->arguments.push_back(word.data());
  state->arguments.insert(state->arguments.end(), {nullptr, nullptr, nullptr});
  stack_t stack = {};
  stack.ss_sp = state->stack;
  stack.ss_size = kStackSize;
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = OnCrash;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND | SA_NODEFER;
  for (const Signal& signal : kSignals) sigaction(signal.number, &action, nullptr);
}

void CrashWatch::AtModule(const SourceFile& source) {
  if (state == nullptr) return;
  state->text = source.text().data();
  state->text_size = source.text().size();
  state->format = FormatOf(source);
  state->arguments[state->words.size()] = state->format.data();
  state->arguments[state->words.size() + 1] = state->moment;
  state->moment[0] = '\0';
  std::snprintf(state->where, sizeof(state->where), " while at work on %s", source.name().c_str());
}

void CrashWatch::AtPass(const PassMoment& moment) {
  if (state == nullptr) return;
  std::snprintf(state->moment, sizeof(state->moment), "--reproduce=%s@%lld", moment.pass.c_str(),
                static_cast<long long>(moment.steps_before));
  std::snprintf(state->where, sizeof(state->where), " in pass %s, after %lld steps",
                moment.pass.c_str(), static_cast<long long>(moment.steps_before));
}

void CrashWatch::AfterPasses() {
  if (state == nullptr) return;
  state->moment[0] = '\0';
  std::snprintf(state->where, sizeof(state->where), " after all passes");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
