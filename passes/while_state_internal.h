// A while loop whose state is a tuple: what the passes over loops ask of it.
#pragma once

#include <optional>
#include <vector>

#include "ir/computation.h"

namespace hlokit {

struct WhileState {
  Instruction* loop;
  Computation* condition;
  Computation* body;
  Instruction* parameter;  // the body's
  Instruction* root;       // the body's tuple

  // Nothing where the state is no tuple that the body builds by one.
  static std::optional<WhileState> Of(Instruction* loop);
  // True if the body gives part k as it got it.
  bool IsInvariant(int64_t k) const;
  // The part's value before the loop; makes a get-tuple-element where there is none.
  Instruction* Initial(int64_t k) const;
  // The constant that part k starts as, if it is one of an integer type.
  const Literal* InitialConstant(int64_t k) const;
  // A loop whose state has `more` behind the old parts, passed on unchanged; users of the old loop
  // see a tuple of the old parts. Gives the new parts inside the body; this object describes the
  // new loop then.
  std::vector<Instruction*> Widen(const std::vector<Instruction*>& more);
};

// How often the loop runs where it counts from a constant to a constant; nothing where that is not
// plain to see.
std::optional<int64_t> TripCount(const WhileState& loop);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
