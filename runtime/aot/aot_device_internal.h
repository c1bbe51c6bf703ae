// One device of a program compiled ahead of time: its memory, and one run of it.
#pragma once

#include <stdlib.h>

#include <memory>
#include <vector>

#include "runtime/aot.h"

namespace hlokit {

struct FreeMemory {
  void operator()(void* p) const { free(p); }
};
using HeapMemory = std::unique_ptr<void, FreeMemory>;

// An array's memory, zeros at first: pages that are fresh from the system are so already.
class ZeroedBlock {
 public:
  // Null where memory is short.
  void* Allocate(int64_t bytes);

 private:
  HeapMemory base_;
};

class AotDevice {
 public:
  AotDevice(const HlokitAotModel& model, int64_t device);
  ~AotDevice() { hlokit_queues_destroy(static_cast<HlokitQueues*>(context.queues)); }
  AotDevice(const AotDevice&) = delete;
  AotDevice& operator=(const AotDevice&) = delete;

  // Temporary memory, constants and the sizes of dynamic arguments. False where memory is short.
  bool Prepare(const char* weights);

  // As hlokit_aot_argument and its like.
  void* Argument(int64_t i);
  void* Result(int64_t i);
  bool SetArgument(int64_t i, const void* data);
  bool SetResult(int64_t i, void* data);

  // False where an array has no memory or a size is out of range; the context says which.
  bool FillTable();
  // After FillTable. False where the context has an error.
  bool Run();

  HlokitRunContext context;

 private:
  int64_t first_result() const { return model_.argument_count + model_.constant_count; }
  void* At(int64_t place, int64_t bytes);
  bool SizesAreInRange();

  const HlokitAotModel& model_;
  HeapMemory arena_;
  std::vector<void*> table_;      // arguments, constants, results
  std::vector<ZeroedBlock> own_;  // memory of the device itself, by its place in the table
  std::vector<void*> filled_;     // the table of a run
  bool settled_ = false;          // has run
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
