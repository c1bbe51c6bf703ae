// Scores of attention in shared memory, and what is made of them, row by row.
#pragma once

#include "backends/cuda/attention_plan_internal.h"
#include "backends/cuda/row_emitter_internal.h"

namespace hlokit {

// A block's lines of scores, then of what is made of them.
class ScoreLines {
 public:
  ScoreLines(Builder& b, llvm::Value* base, int64_t line_bytes)
      : b_(b), base_(base), line_bytes_(line_bytes) {}

  SharedRows rows(ElementType type) const { return {base_, line_bytes_, type}; }
  llvm::Value* At(ElementType type, llvm::Value* row, llvm::Value* column) const {
    llvm::Value* const byte =
        b_.CreateNSWAdd(Scale(b_, row, line_bytes_), Scale(b_, column, ByteWidth(type)));
    return b_.CreateInBoundsGEP(b_.getInt8Ty(), base_, byte);
  }
  void Store(ElementType type, llvm::Value* row, llvm::Value* column, const ScalarValue& value) {
    b_.CreateStore(ToMemoryForm(b_, type, value), At(type, row, column));
  }
  // Neighbours in the form of memory, the first at a multiple of their number, at most 16 bytes
  // each.
  void StoreTogether(ElementType type, llvm::Value* row, llvm::Value* column,
                     const Values& elements) {
    const size_t most = std::min<size_t>(elements.size(), 16 / ByteWidth(type));
    for (size_t first = 0; first < elements.size(); first += most) {
      llvm::Value* all = llvm::PoisonValue::get(
          llvm::FixedVectorType::get(elements[0]->getType(), static_cast<unsigned>(most)));
      for (size_t k = 0; k < most; ++k)
        all = b_.CreateInsertElement(all, elements[first + k], static_cast<uint64_t>(k));
      llvm::Value* const at = b_.CreateNSWAdd(column, b_.Index(static_cast<int64_t>(first)));
      b_.CreateAlignedStore(all, At(type, row, at), llvm::Align(most * ByteWidth(type)));
    }
  }
  ScalarValue Load(ElementType type, llvm::Value* row, llvm::Value* column) {
    const ArrayRef place{At(type, row, column), Shape::Array(type, {1})};
    return LoadFrom(b_, place, ElementIndex::Linear(b_.Index(0)));
  }

 private:
  Builder& b_;
  llvm::Value* const base_;
  const int64_t line_bytes_;
};

// Of a softmax whose rows come in parts, for each line of the block: the maximum and the sum until
// now, and the factor of what was summed before the last part.
inline constexpr size_t kMaximumSlot = 0, kSumSlot = 1, kFactorSlot = 2;
class RunningRows {
 public:
  RunningRows() = default;
  RunningRows(Builder& b, const AttentionPlan& plan);

  // Of the part; null where rows are whole.
  llvm::Value* first_key() const { return first_key_; }
  void set_first_key(llvm::Value* key) { first_key_ = key; }
  llvm::Value* Load(Builder& b, size_t number, llvm::Value* line, llvm::Type* type) const;
  void Store(Builder& b, size_t number, llvm::Value* line, llvm::Value* value) const;

 private:
  llvm::Value* SlotOf(Builder& b, size_t number, llvm::Value* line) const;

  llvm::GlobalVariable* slots_ = nullptr;
  int64_t lines_ = 0;
  llvm::Value* first_key_ = nullptr;
};
// A sum of parts before, `factor` times; nothing where that is 0, whatever the sum is.
llvm::Value* Rescaled(Builder& b, llvm::Value* sum, llvm::Value* factor);

// One row of scores, or of a part of them, by its threads, in its place.
class ScoreRowEmitter final : public GroupRowEmitter {
 public:
  // `line`: of the block's. `running`: where rows come in parts.
  ScoreRowEmitter(const AttentionPlan& plan, ElementEmitter& emitter, ScoreLines& lines,
                  llvm::Value* lane, llvm::Value* row, llvm::Value* line, RunningRows running);

  // Zeros up to the end of the last step that reads the line.
  void StoreZeros();

 private:
  void BeginStores() override;
  void StoreElement(size_t, const ElementIndex& index, const ScalarValue& value) override;
  llvm::Value* Carry(const Accumulators& reduction, llvm::Value* partial) override;

  // What sums of the parts before are to be multiplied by: exp(old - now); 0 where there was
  // nothing yet but -inf, of whose exponentials nothing but NaN is known.
  llvm::Value* FactorOf(llvm::Value* old, llvm::Value* now);
  // Of the line.
  llvm::Value* PlaceOf(const ElementIndex& index, const Shape& shape);

  const AttentionPlan& plan_;
  ElementEmitter& emitter_;
  ScoreLines& lines_;
  llvm::Value *const lane_, *const line_;
  const RunningRows running_;
  llvm::Value* factor_ = nullptr;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
