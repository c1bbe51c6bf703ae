// One device of an ahead-of-time program: its arguments, results, constants and arena. Memory that
// the caller has not set is allocated at first use; large blocks ask for huge pages after the first
// run.
#include "runtime/aot/aot_device_internal.h"

#include <string.h>

#include <algorithm>

#include "runtime/first_use_internal.h"
#include "support/allocate.h"

static_assert(HLOKIT_AOT_ALIGNMENT == hlokit::kBlockAlignment);

namespace hlokit {
namespace {

// Of the arena, in a program's first run.
constexpr size_t kSmallPages = size_t{16} << 20;

bool IsAligned(const void* data) {
  return reinterpret_cast<uintptr_t>(data) % HLOKIT_AOT_ALIGNMENT == 0;
}

}  // namespace

void* ZeroedBlock::Allocate(int64_t bytes) {
  const size_t size = static_cast<size_t>(bytes) + kBlockAlignment;
  const bool large = size >= kHugePage;
  const size_t alignment = large ? kHugePage : kBlockAlignment;
  base_.reset(calloc(size + alignment, 1));
  void* data = base_.get();
  size_t space = size + alignment;
  if (data == nullptr || std::align(alignment, size, data, space) == nullptr) return nullptr;
  PreferHugePages(data, size);
  return data;
}

AotDevice::AotDevice(const HlokitAotModel& model, int64_t device)
    : model_(model),
      table_(static_cast<size_t>(first_result() + model.result_count)),
      own_(table_.size()),
      filled_(table_.size()) {
  memset(&context, 0, sizeof(context));
  context.struct_size = sizeof(context);
  context.call_reference = model.call_reference;
  context.queues = hlokit_queues_create();
  context.device_ordinal = static_cast<int32_t>(device);
  context.replica_id = static_cast<int32_t>(device / model.partition_count);
  context.partition_id = static_cast<int32_t>(device % model.partition_count);
  context.rng_state[0] = 0x853c49e6748fea9bULL;  // as where programs are compiled and run at once
}

bool AotDevice::Prepare(const char* weights) {
  arena_.reset(AllocateForFirstUse(static_cast<size_t>(model_.arena_bytes), kSmallPages));
  if (arena_ == nullptr) return false;
  for (int64_t i = 0; i < model_.constant_count; ++i)
    table_[model_.argument_count + i] = const_cast<char*>(weights) + model_.constant_offsets[i];
  for (int64_t i = 0; i < model_.argument_size_count; ++i) {
    const HlokitAotSize& size = model_.argument_sizes[i];
    auto* value = static_cast<int32_t*>(Argument(size.place));
    if (value == nullptr) return false;
    *value = static_cast<int32_t>(size.bound);
  }
  return true;
}

void* AotDevice::At(int64_t place, int64_t bytes) {
  if (table_[place] == nullptr) table_[place] = own_[place].Allocate(bytes);
  return table_[place];
}

void* AotDevice::Argument(int64_t i) {
  if (i < 0 || i >= model_.argument_count) return nullptr;
  return At(i, model_.arguments[i].bytes);
}

// The memory of result `i`, or of the argument that it passes through or takes the memory of.
void* AotDevice::Result(int64_t i) {
  if (i < 0 || i >= model_.result_count) return nullptr;
  void* set = table_[first_result() + i];
  const int64_t argument = std::max(model_.passed_through[i], model_.donated[i]);
  if (set != nullptr || argument < 0) return At(first_result() + i, model_.results[i].bytes);
  return Argument(argument);
}

bool AotDevice::SetArgument(int64_t i, const void* data) {
  if (i < 0 || i >= model_.argument_count || !IsAligned(data)) return false;
  table_[i] = const_cast<void*>(data);
  return true;
}

bool AotDevice::SetResult(int64_t i, void* data) {
  if (i < 0 || i >= model_.result_count || !IsAligned(data)) return false;
  table_[first_result() + i] = data;
  return true;
}

bool AotDevice::FillTable() {
  bool all = true;
  for (int64_t i = 0; i < model_.argument_count; ++i) all &= Argument(i) != nullptr;
  std::copy(table_.begin(), table_.end(), filled_.begin());
  for (int64_t i = 0; all && i < model_.result_count; ++i) {
    void* result = Result(i);
    all = result != nullptr;
    filled_[first_result() + i] = result;
    // The code finds a donated argument where the result is to lie.
    if (const int64_t from = model_.donated[i]; all && from >= 0 && result != Argument(from))
      memcpy(result, Argument(from), static_cast<size_t>(model_.results[i].bytes));
  }
  if (!all) hlokit_set_error(&context, "there is not enough memory for arguments and results");
  return all && SizesAreInRange();
}

// Refuses a run whose arguments say that there is more of them than their memory holds.
bool AotDevice::SizesAreInRange() {
  for (int64_t i = 0; i < model_.argument_size_count; ++i) {
    const HlokitAotSize& size = model_.argument_sizes[i];
    const int64_t value = *static_cast<const int32_t*>(Argument(size.place));
    if (value >= 0 && value <= size.bound) continue;
    SetKernelError(&context, "argument %s is %lld, which is not from 0 to %lld",
                   model_.arguments[size.place].name, static_cast<long long>(value),
                   static_cast<long long>(size.bound));
    return false;
  }
  return true;
}

bool AotDevice::Run() {
  model_.entry(&context, static_cast<char*>(arena_.get()), filled_.data());
  if (!settled_) {
    settled_ = true;
    PreferHugePages(arena_.get(), static_cast<size_t>(model_.arena_bytes));
  }
  if (hlokit_cancelled(&context)) hlokit_set_error(&context, "the run was cancelled");
  const int64_t check = model_.check_result;
  if (check >= 0 && *static_cast<const uint8_t*>(Result(check)) == 0)
    hlokit_set_error(&context, "the size of a dynamic dimension is out of range");
  return context.failed == 0;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
