// How a kernel is launched, and what a launch counts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace hlokit::ptx {

// What is looked for beyond what stops every launch. Each costs a factor of some tens in time.
struct LaunchChecks {
  bool races = false;      // accesses that nothing orders; on one thread of the host
  bool unwritten = false;  // loads of shared and local memory that nothing has written
  bool registers = false;  // reads of registers that nothing has written
  bool lanes = false;      // shuffles from lanes that are not there, and their like
};

struct LaunchOptions {
  uint32_t grid[3] = {1, 1, 1};     // blocks
  uint32_t block[3] = {1, 1, 1};    // threads
  uint32_t cluster[3] = {1, 1, 1};  // blocks; the kernel's .reqnctapercluster goes before
  int64_t dynamic_shared = 0;       // bytes
  int threads = 1;                  // of the host
  int64_t max_steps = 0;            // warp instructions; 0: no limit
  double timeout = 0;               // seconds; 0: no limit
  LaunchChecks checks;
  bool profile = false;  // fill LaunchStats::counts; on one thread of the host
};

struct LaunchCounts;

struct LaunchStats {
  int64_t warp_instructions = 0;
  int64_t thread_instructions = 0;
  double seconds = 0;
  std::shared_ptr<const LaunchCounts> counts;  // null unless asked for
  std::string output;                          // of printf and assert, in the order of blocks
};

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
