// Gets LLVM ready while a tool still reads its files.
#pragma once

#include <thread>

namespace hlokit {

// Compiles a small loop on a thread of its own, once a process: the first compilation pays for
// LLVM's tables, lazily made and read in page by page, and most of that can happen before there is
// a module to compile. The destructor waits. Does nothing where there is one core.
class WarmUp {
 public:
  WarmUp();
  ~WarmUp();

 private:
  std::thread thread_;
};

// From now on a module is compiled, which needs all cores: what a WarmUp has not done yet is left.
void EndWarmUp();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
