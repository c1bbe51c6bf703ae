// Buffer assignment: a place in memory for every array that a module's instructions make.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "analysis/donation.h"
#include "ir/module.h"

namespace hlokit {

// Where one array lies. Offsets and sizes in bytes.
struct Slice {
  enum class Kind : uint8_t { kNone, kArena, kParameter, kConstant, kOutput };
  Kind kind = Kind::kNone;  // kNone: tokens, and arrays without elements
  // leaf number of entry parameters or of the entry result; number of the constant
  int64_t index = 0;
  int64_t offset = 0;  // in the arena
  int64_t size = 0;
  bool operator==(const Slice&) const = default;
};
// True if the two share memory.
bool Overlap(const Slice& a, const Slice& b);

// A copy that control flow needs. Copies of one list happen at once: all reads come before all
// writes.
struct BufferCopy {
  Slice from, to;
  // Where a destination overlaps another copy's source the bytes go through this.
  Slice staging;
};

struct BufferOptions {
  int64_t limit = INT64_MAX;  // bytes of the arena
  // Lets results take the memory of arguments that the module's header donates to them.
  bool donate = false;
};

// The plan of a module. Preconditions: every computation other than those that fusions, reduce and
// the like apply to scalars has one caller (flatten-call-graph), and schedules or post orders are
// the order of execution.
class BufferAssignment {
 public:
  // Errors: ResourceExhausted if the arena would exceed the limit; Unimplemented for calls nested
  // too deep.
  static absl::StatusOr<BufferAssignment> Make(const Module& module,
                                               const BufferOptions& options = {});

  // The place of each leaf (depth first) of an instruction's result; empty for instructions that do
  // not run on their own (inside fusions and reducers).
  absl::Span<const Slice> slices(const Instruction* instruction) const;
  const Slice& slice(const Instruction* instruction, int64_t leaf = 0) const {
    return slices(instruction)[leaf];
  }

  int64_t arena_size() const { return arena_size_; }
  // The largest sum of live arena bytes at any time: what no assignment can go below.
  int64_t live_peak() const { return live_peak_; }
  // The arrays of the arena that live then, largest first.
  struct LiveArray {
    const Instruction* maker;
    int64_t leaf, size;
  };
  const std::vector<LiveArray>& at_peak() const { return at_peak_; }
  // Constants by number (Slice::index).
  const std::vector<const Instruction*>& constants() const { return constants_; }
  // Sizes of the entry parameters' and result's leaves.
  const std::vector<int64_t>& parameter_sizes() const { return parameter_sizes_; }
  const std::vector<int64_t>& output_sizes() const { return output_sizes_; }

  // Donated arguments whose memory a result takes: they lie in the result's place (kOutput) from
  // the start.
  const std::vector<Donation>& donations() const { return donations_; }

  // Before the first iteration of a while; after each run of its body; at the end of branch b of a
  // conditional; at the end of the entry.
  const std::vector<BufferCopy>& loop_entry_copies(const Instruction* loop) const;
  const std::vector<BufferCopy>& loop_back_copies(const Instruction* loop) const;
  const std::vector<BufferCopy>& branch_copies(const Instruction* conditional,
                                               int64_t branch) const;
  const std::vector<BufferCopy>& output_copies() const { return output_copies_; }

 private:
  friend class BufferPlanner;
  struct LoopCopies {
    std::vector<BufferCopy> entry, back;
    std::vector<std::vector<BufferCopy>> branches;
  };
  std::vector<std::vector<Slice>> slices_;  // by instruction id
  absl::flat_hash_map<const Instruction*, LoopCopies> copies_;
  std::vector<BufferCopy> output_copies_;
  std::vector<const Instruction*> constants_;
  std::vector<int64_t> parameter_sizes_, output_sizes_;
  int64_t arena_size_ = 0, live_peak_ = 0;
  std::vector<LiveArray> at_peak_;
  std::vector<Donation> donations_;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
