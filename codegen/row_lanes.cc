// Rows in vectors, written as such: what LLVM's vectorizer would make of the loops over elements,
// without the time that it takes to find it.
#include <algorithm>

#include "codegen/row_emitter_internal.h"

namespace hlokit {
namespace {

// Steps of so little work (in instructions of the machine, roughly) that the next one would wait
// for their sums go four or two beside each other.
constexpr int64_t kShortStep = 3, kMediumStep = 8;
constexpr int64_t kRounding = 4;  // to bf16
constexpr int64_t kRegisterLanes = 16;

llvm::Type* VectorOf(llvm::Type* element, int64_t lanes) {
  return llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
}

// Lanes first, first + stride, ... of a vector.
llvm::Value* Lanes(Builder& b, llvm::Value* vector, int64_t first, int64_t count, int64_t stride) {
  std::vector<int> mask;
  for (int64_t k = 0; k < count; ++k) mask.push_back(static_cast<int>(first + k * stride));
  return b.CreateShuffleVector(vector, mask);
}

}  // namespace

llvm::Value* RowEmitter::Splat(llvm::Value* scalar) {
  return b_.CreateVectorSplat(static_cast<unsigned>(plan_.lanes), scalar);
}

// Leaves and broadcasts give vectors: of the step's elements, or of its even or odd ones.
void RowEmitter::BindLanes() {
  for (const Expression::Leaf& leaf : plan_.e.leaves) {
    if (!plan_.IsFull(leaf.instruction->shape())) continue;
    const ArrayRef array = arrays_.operand(leaf.operand);
    emitter_.Bind(leaf.instruction, [this, array](const ElementIndex&) {
      return plan_.pairs ? LoadAlternate(array, place_) : LoadLanes(array, place_);
    });
  }
  for (const Instruction* i : plan_.body) {
    if (!plan_.IsFullBroadcast(*i)) continue;
    if (!plan_.IsAlongRow(*i)) {
      emitter_.Bind(i, [this, i](const ElementIndex&) { return ScalarValue{splats_.at(i)}; });
      continue;
    }
    const Instruction* from = i->operand(0);
    const auto leaf =
        std::find_if(plan_.e.leaves.begin(), plan_.e.leaves.end(),
                     [&](const Expression::Leaf& l) { return l.instruction == from; });
    const ArrayRef array = arrays_.operand(leaf->operand);
    emitter_.Bind(i, [this, i, array](const ElementIndex&) {
      std::vector<llvm::Value*> multi;
      const DimVector& to = i->attr<BroadcastAttrs>().dimensions;
      for (size_t d = 0; d < to.size(); ++d)
        multi.push_back(array.shape.dims[d] == 1 ? b_.getInt64(0) : multi_[to[d]]);
      llvm::Value* place = LinearOffset(b_, ElementIndex::Multi(std::move(multi)), array.shape);
      return plan_.pairs ? LoadAlternate(array, place) : LoadLanes(array, place);
    });
  }
}

ScalarValue RowEmitter::LoadLanes(const ArrayRef& array, llvm::Value* place) {
  const ElementType type = array.shape.type;
  llvm::Type* element = MemoryType(b_.getContext(), type);
  llvm::LoadInst* load = b_.CreateAlignedLoad(VectorOf(element, plan_.lanes),
                                              b_.CreateInBoundsGEP(element, array.base, place),
                                              llvm::Align(ByteWidth(type)));
  if (array.never_written)
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));
  return FromMemoryForm(b_, type, load);
}

// The even or the odd ones of twice as many elements. Those of bf16 come out of words, in whose low
// half the even one lies.
ScalarValue RowEmitter::LoadAlternate(const ArrayRef& array, llvm::Value* place) {
  const ElementType type = array.shape.type;
  const bool in_words = type == ElementType::kBF16;
  llvm::Value*& loaded = words_[{array.base, place}];
  if (loaded == nullptr) {
    llvm::Type* element = MemoryType(b_.getContext(), type);
    llvm::Type* vector =
        in_words ? VectorOf(b_.getInt32Ty(), plan_.lanes) : VectorOf(element, 2 * plan_.lanes);
    llvm::LoadInst* load = b_.CreateAlignedLoad(
        vector, b_.CreateInBoundsGEP(element, array.base, place), llvm::Align(ByteWidth(type)));
    if (array.never_written)
      load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                        llvm::MDNode::get(b_.getContext(), {}));
    loaded = load;
  }
  if (!in_words) return FromMemoryForm(b_, type, Lanes(b_, loaded, odd_, plan_.lanes, 2));
  llvm::Value* bits = odd_ == 0 ? b_.CreateShl(loaded, 16) : b_.CreateAnd(loaded, 0xffff0000u);
  return {b_.CreateBitCast(bits, VectorOf(b_.getFloatTy(), plan_.lanes))};
}

void RowEmitter::EmitSplats(int pass) {
  const auto needed = NeededIn(plan_, pass);
  const auto row_value = [&](const Instruction* i) {
    const Instruction* from = i->operand(0);
    if (from->shape().IsScalar()) return emitter_.Emit(from, ElementIndex::Multi({})).re;
    std::vector<llvm::Value*> multi;
    const DimVector& to = i->attr<BroadcastAttrs>().dimensions;
    for (size_t d = 0; d < to.size(); ++d)
      multi.push_back(from->shape().dims[d] == 1 ? b_.getInt64(0) : multi_[to[d]]);
    return emitter_.Emit(from, ElementIndex::Multi(std::move(multi))).re;
  };
  for (const Instruction* i : plan_.body)
    if (plan_.IsFullBroadcast(*i) && !plan_.IsAlongRow(*i) && needed.contains(i) &&
        !splats_.contains(i))
      splats_[i] = Splat(row_value(i));
  for (const Instruction* i : plan_.body) {
    if (!DividesByRowValue(i) || !needed.contains(i) || divisors_.contains(i)) continue;
    const Divisor divisor = PrepareDivisor(b_, row_value(i->operand(1)));
    divisors_[i] = {Splat(divisor.value), Splat(divisor.reciprocal), Splat(divisor.scale)};
  }
}

int64_t RowEmitter::Unrolled(int pass) const {
  int64_t work = 0;
  for (const RowForm::Reduction& r : form_.reductions) work += r.pass == pass ? 1 : 0;
  for (const Instruction* i : NeededIn(plan_, pass)) {
    if (IsCostly(*i)) return 1;
    const bool moves = i->opcode() == Opcode::kBroadcast || i->opcode() == Opcode::kConvert;
    if (!plan_.IsFull(i->shape()) || moves) continue;
    work += i->shape().type == ElementType::kBF16 ? 1 + kRounding : 1;
  }
  int64_t steps = work <= kShortStep ? 4 : work <= kMediumStep ? 2 : 1;
  steps = std::max<int64_t>(1, steps * kRegisterLanes / plan_.step());
  if (pass + 1 == form_.passes && !plan_.full_roots.empty()) steps = 1;
  while (form_.length / plan_.step() % steps != 0) steps /= 2;
  return steps;
}

Values RowEmitter::EmitLanes(int pass, const std::vector<RunningReduction>& running) {
  const int64_t unrolled = Unrolled(pass);
  const size_t parts = static_cast<size_t>(unrolled) * (plan_.pairs ? 2 : 1);
  Values carried;
  for (size_t p = 0; p < parts; ++p)
    for (const RunningReduction& r : running) carried.push_back(Splat(r.Neutral()));
  const int64_t d = form_.within[0];
  llvm::Value* outside = multi_[d];
  const Values sums = EmitLoopCarrying(
      b_, form_.length / plan_.step() / unrolled, carried,
      [&](llvm::Value* group, const Values& values) {
        Values next;
        size_t used = 0;
        llvm::Value* first = Scale(b_, group, plan_.step() * unrolled);
        for (int64_t u = 0; u < unrolled; ++u) {
          at_ = u == 0 ? first : b_.CreateNSWAdd(first, b_.getInt64(u * plan_.step()));
          multi_[d] = at_;
          EmitStep(pass, running, values, used, next);
        }
        return next;
      });
  multi_[d] = outside;
  return Collect(running, sums, parts);
}

void RowEmitter::EmitStep(int pass, const std::vector<RunningReduction>& running,
                          const Values& carried, size_t& used, Values& next) {
  place_ = b_.CreateNSWAdd(row_start_, at_);
  words_.clear();
  std::vector<llvm::Value*> low(plan_.full_roots.size());
  for (odd_ = 0; odd_ < (plan_.pairs ? 2 : 1); ++odd_) {
    emitter_.BeginScope();
    const ElementIndex index = ElementIndex::Multi(multi_, place_);
    StoreLanes(pass, index, low);
    for (const RunningReduction& r : running) r.AppendNext(index, carried, used, next);
    emitter_.EndScope();
  }
}

// Stores what is kept from this pass on, and the roots in the last one: of pairs the even elements
// wait in `low` for the odd ones.
void RowEmitter::StoreLanes(int pass, const ElementIndex& index, std::vector<llvm::Value*>& low) {
  const auto store = [&](const ArrayRef& array, llvm::Value* place, llvm::Value* value) {
    llvm::Type* element = MemoryType(b_.getContext(), array.shape.type);
    b_.CreateAlignedStore(value, b_.CreateInBoundsGEP(element, array.base, place),
                          llvm::Align(ByteWidth(array.shape.type)));
  };
  for (size_t k = 0; k < plan_.kept.size(); ++k)
    if (plan_.kept[k].pass == pass)
      store(
          rooms_[k], at_,
          ToMemoryForm(b_, rooms_[k].shape.type, emitter_.Emit(plan_.kept[k].instruction, index)));
  if (pass + 1 != form_.passes) return;
  std::vector<llvm::Value*> values;  // all reads before any write
  for (size_t r : plan_.full_roots) {
    const ScalarValue value = emitter_.EmitRounded(plan_.e.roots[r], index, plan_.e.root_leaves[r]);
    values.push_back(plan_.pairs
                         ? b_.CreateBitCast(value.re, VectorOf(b_.getInt32Ty(), plan_.lanes))
                         : ToMemoryForm(b_, plan_.e.shapes[r].type, value));
  }
  for (size_t k = 0; k < values.size(); ++k) {
    const ArrayRef array = arrays_.result(static_cast<int64_t>(plan_.full_roots[k]));
    if (!plan_.pairs) {
      store(array, place_, values[k]);
    } else if (odd_ == 0) {
      low[k] = b_.CreateLShr(values[k], 16);
    } else {
      store(array, place_, b_.CreateOr(low[k], values[k]));
    }
  }
}

// One value of each reduction from its `count` vectors: these first, then their halves.
Values RowEmitter::Collect(const std::vector<RunningReduction>& running, const Values& parts,
                           size_t count) {
  Values results;
  for (size_t r = 0; r < running.size(); ++r) {
    std::vector<llvm::Value*> sums;
    for (size_t p = 0; p < count; ++p) sums.push_back(parts[p * running.size() + r]);
    for (; sums.size() > 1; sums.pop_back()) {
      llvm::Value*& first = sums[sums.size() - 2];
      first = running[r].Combine(first, sums.back());
    }
    llvm::Value* sum = sums[0];
    for (int64_t lanes = plan_.lanes / 2; lanes > 0; lanes /= 2)
      sum = running[r].Combine(Lanes(b_, sum, 0, lanes, 1), Lanes(b_, sum, lanes, lanes, 1));
    sum = b_.CreateExtractElement(sum, uint64_t{0});
    Values initial;
    running[r].AppendInitial(initial);
    results.push_back(running[r].Combine(initial[0], sum));
  }
  return results;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
