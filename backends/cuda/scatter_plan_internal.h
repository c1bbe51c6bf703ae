// Which way a scatter goes, and the numbers of it.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "codegen/kernels.h"
#include "codegen/scatter_starts.h"

namespace hlokit {

// A scatter's work: which of the ways, and the numbers of all.
struct ScatterPlan {
  Expression e;
  const Instruction* scatter;
  int64_t arrays;   // that are scattered together
  DimVector batch;  // of the updates: those of `tied`, then those of `searched`
  // Dimensions of the updates that number what the others' places say nothing about, and of the
  // base: a thread whose target is known need not look through them.
  std::vector<std::pair<int64_t, int64_t>> tied;
  DimVector searched;
  int64_t windows = 1;  // to look through
  bool by_result = false;
  bool in_runs = false;  // updates of a target lie together
  // How memory combines them itself, where this is worth it.
  std::optional<llvm::AtomicRMWInst::BinOp> atomic = std::nullopt;

  const Shape& base() const { return scatter->operand(0)->shape(); }
  const Shape& updates() const { return scatter->operand(arrays + 1)->shape(); }
  const ScatterAttrs& dims() const { return scatter->attr<ScatterAttrs>(); }
  int64_t WindowElements() const;
};

// Whether windows lie at the same place or have no element in common.
bool HasDisjointWindows(const Instruction& scatter);

// None for other instructions, and for scatters that no thread looks through.
std::optional<ScatterPlan> PlanScatter(const Expression& e);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
