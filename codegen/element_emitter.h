// Emits the value of one element of an HLO expression: the heart of fused loops.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "codegen/code_notes.h"
#include "codegen/element_index.h"
#include "codegen/scalars/ops.h"
#include "ir/computation.h"

namespace hlokit {

// An array in memory.
struct ArrayRef {
  llvm::Value* base = nullptr;
  Shape shape;
  bool never_written = false;  // while the program runs: an argument or a constant
};

class Accumulators;

llvm::Value* ElementPointer(Builder& b, const ArrayRef& array, const ElementIndex& index);
ScalarValue LoadFrom(Builder& b, const ArrayRef& array, const ElementIndex& index);
void StoreTo(Builder& b, const ArrayRef& array, const ElementIndex& index, ScalarValue value);

// Gives elements of the instructions of one computation, for which CanEmitElement holds
// (analysis/emittable.h). Leaves (parameters, or instructions computed elsewhere) are bound to
// arrays or to functions before use. Values are remembered while the code that computed them
// dominates.
class ElementEmitter {
 public:
  using Generator = std::function<ScalarValue(const ElementIndex&)>;
  using PartsGenerator = std::function<std::vector<ScalarValue>(const ElementIndex&)>;

  explicit ElementEmitter(Builder& builder)
      : b_(builder), notes_(WantsNotes(builder)), scopes_(1) {}

  void Bind(const Instruction* leaf, ArrayRef array);
  void Bind(const Instruction* leaf, Generator generator);
  // The same of values that have no more digits than their type.
  void BindRounded(const Instruction* leaf, Generator generator) {
    Bind(leaf, std::move(generator));
    rounded_.insert(leaf);
  }
  // For an instruction with several arrays: one value a part.
  void BindParts(const Instruction* leaf, PartsGenerator generator);

  // Element of an array-shaped instruction, or of part `leaf` of one with several arrays (variadic
  // reduce).
  ScalarValue Emit(const Instruction* instruction, const ElementIndex& index, int64_t leaf = 0);

  // The same, of the very type of the shape: what goes into memory.
  ScalarValue EmitRounded(const Instruction* instruction, const ElementIndex& index,
                          int64_t leaf = 0);

  // The same, as operations take it: rounded to its type, in the type that is computed in.
  ScalarValue EmitTaken(const Instruction* instruction, const ElementIndex& index);

  // Applies a computation over scalars; `arguments` by parameter number. One value a result leaf.
  std::vector<ScalarValue> Apply(const Computation& function,
                                 absl::Span<const ScalarValue> arguments);

  // Element types as computed: with `wide` set, narrow floats stay unrounded f32 (for reducers,
  // whose accumulators are rounded once at the end).
  void set_wide(bool wide) { wide_ = wide; }
  bool wide() const { return wide_; }
  // With `excess` set, bf16 values inside an expression are f32 values, rounded wherever anything
  // but a conversion to f32 takes them: what XLA's CPU makes of xla_allow_excess_precision.
  void set_excess(bool excess) { excess_ = excess; }
  // Whether NaNs of bf16 expressions have no more bits than bf16: where nothing is read but bf16.
  void set_plain_nans(bool plain) { plain_nans_ = plain; }
  // Short sums are written out, so that elements at constant places are asked for.
  void set_unroll(bool unroll) { unroll_ = unroll; }
  ElementType TypeOf(const Shape& shape) const;
  // Where to note the first instruction that has no code for its types.
  void set_unsupported(const Instruction** unsupported) { unsupported_ = unsupported; }

  // Code emitted between BeginScope and EndScope does not dominate what follows.
  void BeginScope() { scopes_.emplace_back(); }
  void EndScope() { scopes_.pop_back(); }

  Builder& builder() { return b_; }

 private:
  bool IsBound(const Instruction* i) const {
    return arrays_.contains(i) || generators_.contains(i);
  }

  // Whether an element needs no more than its position in memory: arrays of the shape and layout of
  // `like`, scalars, and what is computed of them element by element.
  bool GoesByPosition(const Instruction* x, const Shape& like) const;

  // How many of the reduced dimensions (`order`, slowest in memory first) are the fastest in memory
  // and can be one loop; 0 for fewer than two.
  size_t MergedDims(const Instruction& reduce, const DimVector& order) const;

  struct Key {
    const Instruction* instruction;
    ElementIndex index;
    bool operator==(const Key&) const = default;
    template <typename H>
    friend H AbslHashValue(H h, const Key& k) {
      return H::combine(std::move(h), k.instruction, k.index);
    }
  };
  using Results = std::vector<ScalarValue>;

  Results EmitAll(const Instruction* i, const ElementIndex& index);
  Results Compute(const Instruction* i, const ElementIndex& index);
  Results ComputeUnnoted(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitFloatConvert(const Instruction* i, ScalarValue x);
  // Whether a bf16 function is computed as such: nobody sees the digits that excess would keep.
  bool RoundsAtOnce(const Instruction* i) const;
  // Whether a value may have more digits than its type: a result of bf16 arithmetic, or of moving
  // one.
  bool HasExcess(const Instruction* i) const;
  // Operand `o` at the same place, or at no place if it is a scalar.
  ScalarValue Operand(const Instruction* i, int64_t o, const ElementIndex& index);
  // A loop that carries values, or its steps one after the other.
  Values Repeat(int64_t count, const Values& initial,
                absl::FunctionRef<Values(llvm::Value*, const Values&)> body);
  // Of a sum at result.multi: `multi` but for the dimensions `order`; empty where it makes none.
  Results EmitColumnSums(const Instruction& reduce, const Accumulators& sums,
                         const DimVector& order, std::vector<llvm::Value*> multi,
                         const ElementIndex& result);
  // The same as values of their type, where a rounding makes more than a small difference.
  ScalarValue RoundedOperand(const Instruction* i, int64_t o, const ElementIndex& index);
  ElementIndex Convey(const Instruction* i, const Shape& operand, const ElementIndex& index);
  llvm::Value* StartIndex(const Instruction* index, const ElementIndex& at, int64_t limit);

  // How an element of each opcode is computed: what the last column of ir/ops.def names.
  // Elementwise ones stand in element_emitter.cc, others in data_movement.cc, slices.cc and
  // reductions.cc.
  using Function = Results (*)(ElementEmitter&, const Instruction*, const ElementIndex&);
  template <auto emit>
  static Results Call(ElementEmitter& emitter, const Instruction* i, const ElementIndex& index) {
    return {(emitter.*emit)(i, index)};
  }
  static const Function kFunctions[kOpcodeCount];

  ScalarValue EmitNone(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitPassThrough(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitCopy(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitArithmetic(const Instruction* i, const ElementIndex& index);
  // Whether all elements of a function of one number are computed where one is asked for, as
  // vectors.
  bool ComputesTogether(const Instruction* i, ElementType type, const ElementIndex& index) const;
  ScalarValue EmitTogether(const Instruction* i, ElementType type, const ElementIndex& index);
  ScalarValue EmitDiscontinuous(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitConvertElement(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitReducePrecisionElement(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitCompareElement(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitSelectElement(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitClampElement(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitConstant(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitBroadcast(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitReshape(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitBitcast(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitTranspose(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitReverse(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitIota(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitPad(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitConcatenate(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitBitcastConvertElement(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitSlice(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitDynamicSlice(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitDynamicUpdateSlice(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitGather(const Instruction* i, const ElementIndex& index);
  Results EmitMap(const Instruction* i, const ElementIndex& index);
  Results EmitReduce(const Instruction* i, const ElementIndex& index);
  Results EmitReduceWindow(const Instruction* i, const ElementIndex& index);
  ScalarValue EmitDot(const Instruction* i, const ElementIndex& index);

  Builder& b_;
  const bool notes_;                    // whether code says which instruction it is of
  const Instruction* noted_ = nullptr;  // what it says now
  bool wide_ = false;
  bool excess_ = false;
  bool unroll_ = false;
  bool plain_nans_ = false;
  int64_t window_copies_ = 1;  // of the code that is being emitted, in windows that are written out
  const Instruction** unsupported_ = nullptr;
  absl::flat_hash_map<const Instruction*, ArrayRef> arrays_;
  absl::flat_hash_map<const Instruction*, PartsGenerator> generators_;
  absl::flat_hash_set<const Instruction*> rounded_;
  std::vector<absl::flat_hash_map<Key, Results>> scopes_;
};

// Start of a dynamic slice along one dimension: the (signed or unsigned) index value clamped to [0,
// limit], as i64.
llvm::Value* ClampStart(Builder& b, ElementType type, llvm::Value* index, int64_t limit);

// Values of several parts flattened for loops and branches, and back.
Values Flatten(absl::Span<const ScalarValue> parts);
std::vector<ScalarValue> Unflatten(const Values& values, absl::Span<const ScalarValue> like);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
