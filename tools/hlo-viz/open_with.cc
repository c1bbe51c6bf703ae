// Starting a program on its own.
#include "tools/hlo-viz/open_with.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "support/status.h"
#include "support/threads.h"

namespace hlokit {

absl::Status OpenWith(const std::string& program, const std::string& what) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  std::string words[] = {program, what};
  char* const arguments[] = {words[0].data(), words[1].data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return NotFound(program, " cannot be started: ", std::strerror(error));
  if (auto waiter = StartThread([child] { waitpid(child, nullptr, 0); })) waiter->detach();
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
