// Which instructions of a computation need which others, while instructions are made one.
#pragma once

#include <limits>
#include <vector>

#include "ir/computation.h"
#include "support/dense_map.h"

namespace hlokit {

// Depths of instructions, which grow along every edge and bound each search: what an instruction
// needs lies less deep. They start far apart, so that a merge moves few others.
class Ways {
 public:
  using Members = std::vector<Instruction*>;

  explicit Ways(const Computation& c);

  int64_t depth(const Instruction* i) { return depth_[Slot(i)]; }

  // Whether one of `ends` is needed, through others than `inside`, by what `starts` reads: then the
  // two cannot be one. Also where too much would have to be looked at to tell.
  bool HasWay(const Members& starts, const Members& ends, const Members& inside);

  // After instructions became a fusion with these parts: their depths, and of what comes after.
  void Merged(absl::Span<Instruction* const> parts);

 private:
  static constexpr int64_t kApart = int64_t{1} << 32;

  void SetDepth(const Instruction* i, int64_t step);
  void Deepen(Instruction* from);
  size_t Slot(const Instruction* i) const { return static_cast<size_t>(i->id() - first_id_); }

  int64_t first_id_ = std::numeric_limits<int64_t>::max();  // of the computation
  DenseMap<int64_t> depth_ = DenseMap<int64_t>(0);
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
