// What tests of threads share.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace hlokit {

// Whether `test` holds in a process of its own, where so many threads may be started.
template <typename Test>
bool HoldsWithThreads(const char* threads, const Test& test) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("HLOKIT_TEST_THREADS", threads, 1);
    _exit(test() ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
