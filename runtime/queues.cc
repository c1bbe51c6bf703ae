// Infeed and outfeed queues: two lists of items, each with a lock. A waiting program wakes every
// kCancelInterval to see whether its run was cancelled.
#include "runtime/queues.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <vector>

#include "runtime/context.h"

namespace hlokit {
namespace {

using Item = std::vector<std::vector<char>>;

Item MakeItem(int64_t count, const void* const* arrays, const int64_t* bytes) {
  Item item(count);
  for (int64_t i = 0; i < count; ++i) {
    const char* from = static_cast<const char*>(arrays[i]);
    item[i].assign(from, from + bytes[i]);
  }
  return item;
}

bool HasSizes(const Item& item, int64_t count, const int64_t* bytes) {
  if (static_cast<int64_t>(item.size()) != count) return false;
  for (int64_t i = 0; i < count; ++i) {
    if (static_cast<int64_t>(item[i].size()) != bytes[i]) return false;
  }
  return true;
}

class Queue {
 public:
  void Push(Item item) {
    std::lock_guard<std::mutex> lock(mutex_);
    items_.push_back(std::move(item));
    arrived_.notify_one();
  }

  // Waits for an item, at most that long.
  bool Wait(std::chrono::milliseconds timeout) {
    std::unique_lock<std::mutex> lock(mutex_);
    return arrived_.wait_for(lock, timeout, [&] { return !items_.empty(); });
  }

  // Copies the oldest item out and drops it; false (and it stays) if there is none or its sizes
  // differ.
  bool Take(int64_t count, void* const* arrays, const int64_t* bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (items_.empty() || !HasSizes(items_.front(), count, bytes)) return false;
    for (int64_t i = 0; i < count; ++i) {
      if (bytes[i] > 0) memcpy(arrays[i], items_.front()[i].data(), bytes[i]);
    }
    items_.pop_front();
    return true;
  }

  void Drop() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!items_.empty()) items_.pop_front();
  }

  int64_t FrontSizes(int64_t capacity, int64_t* bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (items_.empty()) return -1;
    const Item& item = items_.front();
    for (size_t i = 0; i < item.size() && static_cast<int64_t>(i) < capacity; ++i)
      bytes[i] = item[i].size();
    return static_cast<int64_t>(item.size());
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Item> items_;
};

HlokitQueues* QueuesOf(void* ctx, const char* what) {
  auto* run = static_cast<HlokitRunContext*>(ctx);
  if (run != nullptr && run->queues != nullptr) return static_cast<HlokitQueues*>(run->queues);
  SetKernelError(ctx, "the program uses %s, but the run has no queues", what);
  return nullptr;
}

constexpr std::chrono::milliseconds kCancelInterval(10);

}  // namespace
}  // namespace hlokit

struct HlokitQueues {
  hlokit::Queue infeed, outfeed;
};

extern "C" {

HlokitQueues* hlokit_queues_create(void) { return new HlokitQueues; }
void hlokit_queues_destroy(HlokitQueues* queues) { delete queues; }

void hlokit_infeed_push(HlokitQueues* queues, int64_t count, const void* const* arrays,
                        const int64_t* bytes) {
  queues->infeed.Push(hlokit::MakeItem(count, arrays, bytes));
}

int32_t hlokit_outfeed_pop(HlokitQueues* queues, int64_t count, void* const* arrays,
                           const int64_t* bytes, int64_t timeout_ms) {
  return queues->outfeed.Wait(std::chrono::milliseconds(timeout_ms)) &&
         queues->outfeed.Take(count, arrays, bytes);
}

int64_t hlokit_outfeed_front(HlokitQueues* queues, int64_t capacity, int64_t* bytes) {
  return queues->outfeed.FrontSizes(capacity, bytes);
}

void hlokit_infeed(void* ctx, int64_t count, void* const* results, const int64_t* bytes) {
  HlokitQueues* queues = hlokit::QueuesOf(ctx, "infeed");
  if (queues == nullptr) return;
  while (!queues->infeed.Wait(hlokit::kCancelInterval)) {
    if (hlokit_cancelled(ctx)) return hlokit_set_error(ctx, "cancelled while waiting for infeed");
  }
  if (!queues->infeed.Take(count, results, bytes)) {
    queues->infeed.Drop();  // or all later runs would find it too
    hlokit_set_error(
        ctx, "the infeed item's arrays differ in number or size from the instruction's shape");
  }
}

void hlokit_outfeed(void* ctx, int64_t count, const void* const* operands, const int64_t* bytes) {
  HlokitQueues* queues = hlokit::QueuesOf(ctx, "outfeed");
  if (queues != nullptr && !hlokit_cancelled(ctx))
    queues->outfeed.Push(hlokit::MakeItem(count, operands, bytes));
}

}  // extern "C"
// SPDX-License-Identifier: Apache-2.0
