// The accumulators of one reduction while loops go over what it reduces.
#pragma once

#include "codegen/element_emitter.h"

namespace hlokit {

// The array shape of result `k` of a reduction or window, which is a tuple where there are several.
const Shape& PartShape(const Instruction& reduce, size_t k);

// One step of a reduction or window: the new accumulators from the old ones and an element of
// each array. Narrow floats are f32 values that hold numbers of their type where steps round
// (ops/evaluate/reducer.h); a computation of several operations then rounds after each.
std::vector<ScalarValue> EmitReductionStep(ElementEmitter& emitter, const Instruction& reduction,
                                           absl::Span<const ScalarValue> arguments);

// A loop of `count` steps that carries partial results. It runs in blocks of `steps`, each from the
// identities on, whose results are combined: the rounding of a sum then grows with the length of a
// block and the number of blocks, not with `count`. One block where `count` is less than two of
// them.
//   for block: t = identity; for 256 steps s: t += x[s]; sum += t
Values EmitLoopInBlocks(Builder& b, int64_t count, int64_t steps, const Values& carried,
                        const Values& identities,
                        absl::FunctionRef<Values(const Values&, const Values&)> combine,
                        absl::FunctionRef<Values(llvm::Value*, const Values&)> body);

// Sums of more elements are made so, in blocks of kElementsOfASum where a step takes one element,
// and their inner loops of kFewSteps or more are blocks.
inline constexpr int64_t kLongSum = 4096, kElementsOfASum = 4096, kFewSteps = 16;

// While alive, float operations may be reassociated (so that LLVM keeps several partial sums) and
// products fused with additions.
class Reassociate {
 public:
  Reassociate(Builder& b, bool on) : b_(b), saved_(b.getFastMathFlags()) {
    if (!on) return;
    llvm::FastMathFlags flags = saved_;
    flags.setAllowReassoc();
    flags.setAllowContract();
    b_.setFastMathFlags(flags);
  }
  ~Reassociate() { b_.setFastMathFlags(saved_); }

 private:
  Builder& b_;
  llvm::FastMathFlags saved_;
};

// Sums this short are written out where ElementEmitter::set_unroll is on.
inline constexpr int64_t kMaxSteps = 8;

class Accumulators {
 public:
  // Emits the initial values at the builder's place. With `in_keys`, a maximum or minimum of floats
  // runs over integers in the same order: LLVM finds many of them at once in loops over elements,
  // and a step of scalars or vectors waits for one instruction, not for a chain of tests for NaN.
  Accumulators(const Instruction& reduce, ElementEmitter& emitter, bool in_keys = false);

  // Sums are made in the order of the elements, each rounded: of columns, where each lane of a
  // vector has a sum of its own.
  void KeepOrder() { reassociate_ = false; }

  const Instruction& reduce() const { return *reduce_; }
  // Whether it is a sum of f32 or f64 that may be made in any order.
  bool IsSum() const;
  void AppendInitial(Values& carried) const;
  // Takes its values from `carried` on from `used`, reduces the elements at `index`, appends the
  // new ones to `next`.
  void AppendNext(const ElementIndex& index, const Values& carried, size_t& used,
                  Values& next) const;
  // Of a reduction to one array by addition, multiplication, minimum or maximum of floats or signed
  // integers: the scalar that changes nothing, and two partial results (scalars or vectors) as one;
  // both of them accumulators, which may be keys.
  llvm::Value* IdentityElement() const;
  llvm::Value* Combine(llvm::Value* x, llvm::Value* y) const;
  // The reduction's results, in its own types, from what the loops left.
  std::vector<ScalarValue> Results(const Values& carried, size_t& used) const;

 private:
  Values CombineFlat(absl::Span<const ScalarValue> arguments) const;
  std::vector<ScalarValue> Take(const Values& carried, size_t& used) const;
  // Of a float, and back: integers that compare as floats do, NaN before or after all.
  llvm::Value* Key(llvm::Value* x) const;
  llvm::Value* FromKey(llvm::Value* key) const;

  const Instruction* reduce_;
  ElementEmitter* emitter_;
  std::vector<ScalarValue> initial_;
  bool rounds_steps_, reassociate_;
  bool wraps_late_ =
      false;  // a sum or product of integers below a byte, cut to its bits at the end
  llvm::Intrinsic::ID key_combiner_ =
      llvm::Intrinsic::not_intrinsic;  // what combines keys, if any are
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
