// Arguments that several runs of a program have in common: weights, which nobody declared frozen.
//
// Arrays on a device never change. One that comes to the same parameter again and again is treated
// as if the caller had named it in CompileOptions::frozen_parameters: what products pack of it is
// kept (runtime/dot/frozen_arrays.h) until the array is deleted or another comes in its place.
//
// Example: logits(weights, x), called with the same weights and a new x each time. The third call
// packs the weights and keeps that; the fourth multiplies at once.
// Cost: a lock and a comparison for each large parameter of a run; memory for as much again as the
// weights take, which PackedForms bounds by what the machine can spare.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backends/device.h"
#include "runtime/dot/frozen_arrays.h"

namespace hlokit {

// Of one program. Any number of runs may ask at once.
class SeenArguments {
 public:
  SeenArguments();
  ~SeenArguments();
  SeenArguments(const SeenArguments&) = delete;
  SeenArguments& operator=(const SeenArguments&) = delete;

  // The packed forms of constants, declared parameters and seen ones. A run holds them, as they are
  // replaced where an array is given up.
  std::shared_ptr<PackedForms> forms() const;

  // Notes that `memory` is argument `slot` of a run (null: unknown memory). Gives the number by
  // which its packed forms are known once kRunsToFreeze runs in turn had it, from
  // `first_number` on; nothing before.
  std::optional<int64_t> Note(size_t slot, const std::shared_ptr<DeviceMemory>& memory,
                              int64_t first_number);

  // Gives up what is kept of arrays that are gone, in all programs of the process; looks at most
  // ten times a second. Called by each run.
  static void GiveUpDeleted();

  static constexpr int64_t kRunsToFreeze = 3;

 private:
  struct Slot {
    std::weak_ptr<DeviceMemory> memory;
    int64_t runs = 0;                   // in turn that had it
    int64_t needed = kRunsToFreeze;     // doubled whenever a frozen array was replaced
    std::optional<int64_t> number;      // once it is frozen
  };
  void GiveUp(Slot& slot);  // mutex_ is held
  void GiveUpGone();

  mutable std::mutex mutex_;
  std::vector<Slot> slots_;
  int64_t made_ = 0;  // numbers
  std::shared_ptr<PackedForms> forms_ = std::make_shared<PackedForms>();
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
