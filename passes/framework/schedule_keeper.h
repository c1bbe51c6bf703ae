// Schedules while a pass that knows nothing of them runs.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ir/module.h"

namespace hlokit {

// Takes the schedules out of a module when it is made.
class ScheduleKeeper {
 public:
  explicit ScheduleKeeper(Module& module);

  // Puts them back where each still names all instructions of its computation in an order that they
  // can run in; else leaves the module without any.
  void Restore();

 private:
  // Ids tell an instruction from a later one at the same address.
  struct Kept {
    Computation* computation;
    int64_t computation_id;
    std::vector<std::pair<Instruction*, int64_t>> schedule;
  };
  static bool StillFits(const Kept& kept);

  Module& module_;
  const bool scheduled_;
  std::vector<Kept> kept_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
