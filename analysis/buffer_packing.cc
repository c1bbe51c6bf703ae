// Greedy packing in several orders. This is interval packing in two dimensions (time by bytes),
// which is NP-hard; the greedy result is optimal on nearly all modules (docs/performance.md,
// Memory).
//
// Buffers are placed one after the other. Each goes to the smallest gap (best fit), or to the first
// (first fit), among the buffers that are placed already and live at the same time. After a try the
// buffers that reach the end of the arena move to the front of the order, and the try is repeated.
// The search ends when the arena equals the peak of live bytes, or the budget is used up.
//
// Cost: n^2 per try, kMaxPairsTried in total. Above kMaxPlaced buffers a single pass by time
// allocates and frees blocks as malloc would: n log n for the order, times the number of free
// blocks.
#include "analysis/buffer_packing.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace hlokit {
namespace {

// Above this many buffers one quick pass by time has to do.
constexpr size_t kMaxPlaced = 3000;
// Pairs of buffers that all tries together may look at.
constexpr size_t kMaxPairsTried = 30'000'000;
constexpr int kMaxRepairs = 24;

using Order = std::vector<int>;

class Packer {
 public:
  explicit Packer(absl::Span<BufferLife> buffers) : buffers_(buffers) {
    for (const BufferLife& b : buffers) sizes_.push_back(ArenaSize(b.size));
    best_.resize(buffers.size());
  }

  int64_t Run(int64_t live_peak) {
    const size_t pairs = std::max<size_t>(1, buffers_.size() * buffers_.size());
    size_t tries = std::max<size_t>(1, kMaxPairsTried / pairs);
    const auto done = [&] { return best_size_ <= live_peak || tries == 0; };
    for (const Order& start : Orders()) {
      Order order = start;
      for (int repair = 0; repair < kMaxRepairs && !done(); ++repair) {
        for (const bool best_fit : {true, false}) {
          if (done()) break;
          --tries;
          Place(order, best_fit);
        }
        if (!Promote(order)) break;
      }
    }
    for (size_t b = 0; b < buffers_.size(); ++b) buffers_[b].offset = best_[b];
    return best_size_;
  }

 private:
  // By size; by bytes times time; by time alone.
  std::vector<Order> Orders() const {
    const auto ordered = [&](auto key) {
      Order order(buffers_.size());
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) > key(b); });
      return order;
    };
    const auto life = [&](int b) { return buffers_[b].end - buffers_[b].begin + 1; };
    return {ordered([&](int b) { return sizes_[b]; }), ordered([&](int b) {
              return static_cast<double>(sizes_[b]) * static_cast<double>(life(b));
            }),
            ordered(life)};
  }

  // Buffers in their order, each into the smallest gap that takes it (or the first).
  void Place(const Order& order, bool best_fit) {
    Order placed;  // by offset
    placed.reserve(order.size());
    size_ = 0;
    for (int b : order) {
      BufferLife& buffer = buffers_[b];
      buffer.offset = GapFor(b, placed, best_fit);
      size_ = std::max(size_, buffer.offset + sizes_[b]);
      placed.insert(
          std::upper_bound(placed.begin(), placed.end(), b,
                           [&](int x, int y) { return buffers_[x].offset < buffers_[y].offset; }),
          b);
    }
    if (size_ >= best_size_) return;
    best_size_ = size_;
    for (size_t b = 0; b < buffers_.size(); ++b) best_[b] = buffers_[b].offset;
  }

  int64_t GapFor(int b, const Order& placed, bool best_fit) const {
    const BufferLife& buffer = buffers_[b];
    int64_t at = 0, best = -1, best_gap = INT64_MAX;
    for (int p : placed) {
      const BufferLife& other = buffers_[p];
      if (other.end < buffer.begin || buffer.end < other.begin) continue;
      const int64_t gap = other.offset - at;
      if (gap >= sizes_[b] && gap < best_gap) {
        if (!best_fit) return at;
        best = at;
        best_gap = gap;
      }
      at = std::max(at, other.offset + sizes_[p]);
    }
    return best >= 0 ? best : at;
  }

  // Brings what ends the arena to the front of the order; false where it stands there.
  bool Promote(Order& order) const {
    const auto ends = [&](int b) { return buffers_[b].offset + sizes_[b] == size_; };
    const bool stands = ends(order.front());
    std::stable_partition(order.begin(), order.end(), ends);
    return !stands;
  }

  absl::Span<BufferLife> buffers_;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> best_;  // offsets
  int64_t size_ = 0, best_size_ = INT64_MAX;
};

// Buffers by the time they begin; the free blocks of the arena by offset.
class TimePacker {
 public:
  explicit TimePacker(absl::Span<BufferLife> buffers) : buffers_(buffers) {}

  int64_t Run() {
    Order order(buffers_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return buffers_[a].begin < buffers_[b].begin; });
    int64_t arena = 0;
    std::multimap<int64_t, int> ends;
    for (int b : order) {
      BufferLife& buffer = buffers_[b];
      while (!ends.empty() && ends.begin()->first < buffer.begin) {
        Release(buffers_[ends.begin()->second]);
        ends.erase(ends.begin());
      }
      Take(buffer);
      arena = std::max(arena, buffer.offset + ArenaSize(buffer.size));
      ends.emplace(buffer.end, b);
    }
    return arena;
  }

 private:
  void Take(BufferLife& buffer) {
    const int64_t size = ArenaSize(buffer.size);
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it)
      if (it->second >= size && (best == free_.end() || it->second < best->second)) best = it;
    buffer.offset = best->first;
    const int64_t rest = best->second - size;
    free_.erase(best);
    if (rest > 0) free_[buffer.offset + size] = rest;
  }

  void Release(const BufferLife& b) {
    auto at = free_.emplace(b.offset, ArenaSize(b.size)).first;
    const auto next = std::next(at);
    if (next != free_.end() && at->first + at->second == next->first) {
      at->second += next->second;
      free_.erase(next);
    }
    if (at == free_.begin()) return;
    const auto before = std::prev(at);
    if (before->first + before->second != at->first) return;
    before->second += at->second;
    free_.erase(at);
  }

  absl::Span<BufferLife> buffers_;
  std::map<int64_t, int64_t> free_ = {{0, INT64_MAX / 2}};  // offset -> size
};

}  // namespace

int64_t ArenaSize(int64_t bytes) { return (bytes + kArenaAlignment - 1) & ~(kArenaAlignment - 1); }

int64_t PackBuffers(absl::Span<BufferLife> buffers, int64_t live_peak) {
  if (buffers.empty()) return 0;
  if (buffers.size() > kMaxPlaced) return TimePacker(buffers).Run();
  return Packer(buffers).Run(live_peak);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
