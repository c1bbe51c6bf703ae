// A while loop whose state is a tuple: what the passes over loops ask of it.
#pragma once

#include <optional>
#include <vector>

#include "ir/module.h"

namespace hlokit {

struct WhileState {
  Instruction* loop;
  Computation* condition;
  Computation* body;
  Instruction* parameter;  // the body's
  Instruction* root;       // the body's tuple

  // Nothing where the state is no tuple that the body builds by one.
  static std::optional<WhileState> Of(Instruction* loop);
  // Whether nothing else calls its body and its condition; `callers` is what CountCallers says.
  bool IsOnlyCaller(const std::vector<int>& callers) const {
    return callers[body->id()] == 1 && callers[condition->id()] == 1;
  }
  // True if the body gives part k as it got it.
  bool IsInvariant(int64_t k) const;
  // The part's value before the loop; makes a get-tuple-element where there is none.
  Instruction* Initial(int64_t k) const;
  // The constant that part k starts as, if it is one of an integer type.
  const Literal* InitialConstant(int64_t k) const;
  // A loop whose state has `more` after the old parts, passed on unchanged; readers of
  // its parts read the new one's, other users see a tuple of the old parts. Gives the new parts
  // inside the body; this object describes the new loop then.
  std::vector<Instruction*> Widen(const std::vector<Instruction*>& more);
};

// A loop whose state counts from a constant to a constant.
struct LoopCount {
  int64_t index;  // of the counter in the tuple
  int64_t init, step;
  int64_t trips;
};

// The part of the tuple that alone, with constants, decides the condition and its own next value;
// nothing where there is none or it is no scalar.
std::optional<int64_t> CounterIndex(const WhileState& loop);

// The parts of the tuple `parameter`, by their numbers, that `i` is computed from. Nothing where it
// needs more of the parameter than parts, or has side effects.
std::optional<DimVector> PartsRead(Instruction* i, const Instruction* parameter);

// Nothing where the start, the limit or the step is no constant, where the loop never ends, and
// where the counter would leave its type.
std::optional<LoopCount> CountLoop(const WhileState& loop);

// How often the loop runs, if CountLoop can tell.
std::optional<int64_t> TripCount(const WhileState& loop);

// Which reads of a part SinkInitial replaces.
enum class ReadsToSink {
  kAll,
  kPassedOn,  // in the body the one that it passes on, and no other of its part
};
// Copies what the initial tuple holds into the body and the condition, in the places of the parts
// that never change, where `may_sink` says so: of an instruction without operands, or whose only
// operand is one. Expects computations with this one caller. True if any was copied.
bool SinkInitial(const WhileState& loop, bool (*may_sink)(const Instruction*),
                 ReadsToSink reads = ReadsToSink::kAll);
// For SinkInitial: constants, scalar ones.
bool IsKnownConstant(const Instruction* i);
bool IsKnownScalar(const Instruction* i);

// The body passes on as they came the parts that nobody reads after the loop and that neither the
// condition nor a part that is read needs. Expects a body with this one caller. True if it changed.
bool PassOnDeadParts(const WhileState& loop);

// Takes the parts out of the tuple that the body passes on and nobody reads; `loop` is gone then.
// Expects computations with this one caller. True if any was.
bool NarrowState(const WhileState& loop);

// How many instructions call each computation, by its id.
std::vector<int> CountCallers(const Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
