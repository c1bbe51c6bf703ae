// Which instructions of a computation need which others, while instructions are made one.
#pragma once

#include <vector>

#include "ir/computation.h"
#include "support/dense_map.h"

namespace hlokit {

// Depths of instructions, the lengths of the longest ways to them, which bound each search: what an
// instruction needs lies less deep.
class Ways {
 public:
  using Members = std::vector<Instruction*>;

  explicit Ways(const Computation& c) {
    for (const Instruction* i : c.PostOrder()) SetDepth(i);
  }

  int depth(const Instruction* i) { return depth_[i->id()]; }

  // Whether one of `ends` is needed, through others than `inside`, by what `starts` reads: then the
  // two cannot be one. Also where too much would have to be looked at to tell.
  bool HasWay(const Members& starts, const Members& ends, const Members& inside);

  // After instructions became a fusion with these parts: their depths, and of what comes after.
  void Merged(absl::Span<Instruction* const> parts);

 private:
  void SetDepth(const Instruction* i);
  void Deepen(Instruction* from);

  DenseMap<int> depth_ = DenseMap<int>(0);
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
