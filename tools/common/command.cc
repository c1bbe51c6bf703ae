// Runs a shell command with a time limit: fork, exec, and a wait on a pidfd. The child leads a
// process group, so that at the limit what it started ends with it. Its output goes to an unlinked
// file, of which the first MiB is read back.
#include "tools/common/command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr size_t kMaxOutput = size_t{1} << 20;

// What the child does; never returns.
[[noreturn]] void Exec(const char* command, int output) {
  setpgid(0, 0);
  const int input = open("/dev/null", O_RDONLY);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execl("/bin/sh", "sh", "-c", command, nullptr);
  _exit(127);
}

// True if the process ended in time.
bool Wait(pid_t child, double time_limit_s, int& status) {
  const int file = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  pollfd poller = {file, POLLIN, 0};
  const int timeout = time_limit_s > 0 ? static_cast<int>(time_limit_s * 1e3) + 1 : -1;
  int ready = 1;
  while (file >= 0 && (ready = poll(&poller, 1, timeout)) < 0 && errno == EINTR) {
  }
  if (file >= 0) close(file);
  if (ready == 0) kill(-child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return ready != 0;
}

std::string ReadBack(int file) {
  std::string text(kMaxOutput, '\0');
  const ssize_t size = pread(file, text.data(), text.size(), 0);
  text.resize(size > 0 ? size : 0);
  return text;
}

}  // namespace

absl::StatusOr<CommandResult> RunCommand(const std::string& command, double time_limit_s) {
  const std::string path = TemporaryPath("hlokit-output", "txt");
  const int output = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (output < 0) return Internal("cannot write ", path);
  unlink(path.c_str());
  const pid_t child = fork();
  if (child == 0) Exec(command.c_str(), output);
  CommandResult result;
  if (child < 0) {
    close(output);
    return Internal("cannot start a process for ", command);
  }
  int status = 0;
  result.timed_out = !Wait(child, time_limit_s, status);
  result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.output = ReadBack(output);
  close(output);
  return result;
}

// The word as a POSIX shell reads it back: in single quotes unless it is plain. "--flag=a b"
// becomes --flag='a b'.
std::string ShellWord(absl::string_view word) {
  constexpr absl::string_view kPlain = "+,-./0123456789:=@_%";
  bool plain = !word.empty();
  for (const char c : word) plain &= absl::ascii_isalpha(c) || absl::StrContains(kPlain, c);
  if (plain) return std::string(word);
  if (const size_t equals = word.find('='); absl::StartsWith(word, "--") && equals != word.npos)
    return absl::StrCat(word.substr(0, equals + 1), ShellWord(word.substr(equals + 1)));
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

// A path in $TMPDIR that no other process or call of this one uses.
std::string TemporaryPath(const std::string& stem, const std::string& ending) {
  static std::atomic<int64_t> number = 0;
  const char* folder = std::getenv("TMPDIR");
  return absl::StrCat(folder != nullptr && *folder != '\0' ? folder : "/tmp", "/", stem, "-",
                      getpid(), "-", number++, ".", ending);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
