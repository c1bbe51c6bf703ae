// Parts of rows: what all parts until now give lies in shared memory, a slot a line and reduction,
// which the line's threads read together before one writes.
#include "backends/cuda/score_rows_internal.h"

#include "codegen/scalars/ops.h"

namespace hlokit {

RunningRows::RunningRows(Builder& b, const AttentionPlan& plan)
    : slots_(
          MakeShared(b, b.getInt64Ty(),
                     static_cast<int64_t>(plan.form.form.reductions.size() + 1) * plan.block_rows)),
      lines_(plan.block_rows) {}

llvm::Value* RunningRows::SlotOf(Builder& b, size_t number, llvm::Value* line) const {
  llvm::Value* const at = b.CreateNSWAdd(line, b.Index(static_cast<int64_t>(number) * lines_));
  return b.CreateInBoundsGEP(slots_->getValueType(), slots_, {b.Index(0), at});
}

llvm::Value* RunningRows::Load(Builder& b, size_t number, llvm::Value* line,
                               llvm::Type* type) const {
  llvm::Type* const words = ToWords(b, llvm::PoisonValue::get(type))->getType();
  return FromWords(b, b.CreateLoad(words, SlotOf(b, number, line)), type);
}

void RunningRows::Store(Builder& b, size_t number, llvm::Value* line, llvm::Value* value) const {
  b.CreateStore(ToWords(b, value), SlotOf(b, number, line));
}

llvm::Value* Rescaled(Builder& b, llvm::Value* sum, llvm::Value* factor) {
  llvm::Value* const zero = llvm::ConstantFP::getZero(sum->getType());
  return b.CreateSelect(b.CreateFCmpOEQ(factor, zero), zero, b.CreateFMul(sum, factor));
}

ScoreRowEmitter::ScoreRowEmitter(const AttentionPlan& plan, ElementEmitter& emitter,
                                 ScoreLines& lines, llvm::Value* lane, llvm::Value* row,
                                 llvm::Value* line, RunningRows running)
    : GroupRowEmitter(plan.rows, emitter, lane, row, emitter.builder().getTrue(),
                      running.first_key()),
      plan_(plan),
      emitter_(emitter),
      lines_(lines),
      lane_(lane),
      line_(line),
      running_(running) {
  const Shape& scores = plan.form.scores->shape();
  emitter.BindRounded(plan.form.scores, [this, &emitter, &scores](const ElementIndex& index) {
    const ScalarValue score = lines_.Load(scores.type, line_, PlaceOf(index, scores));
    return EmitConvert(builder(), scores.type, emitter.TypeOf(scores), score);
  });
}

void ScoreRowEmitter::StoreZeros() {
  const ElementType type = plan_.weight_type();
  const int64_t keys = plan_.form.form.length;
  Builder& b = builder();
  const int64_t length = plan_.block_keys == 0 ? keys : keys % plan_.block_keys;
  const int64_t past = RoundUp(length, kStepBytes / ByteWidth(type)) - length;
  const auto store = [&] {
    for (int64_t first = 0; first < past; first += plan_.rows.threads) {
      llvm::Value* const number = b.CreateNSWAdd(lane_, b.Index(first));
      EmitIf(b, b.CreateICmpULT(number, b.Index(past)), [&] {
        lines_.Store(type, line_, b.CreateNSWAdd(number, b.Index(length)), ZeroElement(b, type));
      });
    }
  };
  if (plan_.block_keys == 0) return store();
  if (past > 0)  // in the last part
    EmitIf(b, b.CreateICmpEQ(running_.first_key(), b.Index(keys - length)), store);
}

void ScoreRowEmitter::BeginStores() {
  // All lanes have read the scores that lie where others store.
  group().Meet();
}

void ScoreRowEmitter::StoreElement(size_t, const ElementIndex& index, const ScalarValue& value) {
  const Shape& shape = plan_.rows.e.shapes[0];
  lines_.Store(plan_.weight_type(), line_, PlaceOf(index, shape),
               EmitConvert(builder(), shape.type, plan_.weight_type(), value));
}

llvm::Value* ScoreRowEmitter::Carry(const Accumulators& reduction, llvm::Value* partial) {
  if (running_.first_key() == nullptr) return partial;
  Builder& b = builder();
  const bool is_maximum = &reduction.reduce() == plan_.form.form.reductions[kMaximumSlot].reduce;
  const size_t number = is_maximum ? kMaximumSlot : kSumSlot;
  const Values carried = EmitIfElse(
      b, b.CreateICmpNE(running_.first_key(), b.Index(0)),
      [&] {
        llvm::Value* before = running_.Load(b, number, line_, partial->getType());
        if (!is_maximum) before = Rescaled(b, before, factor_);
        llvm::Value* const now = reduction.Combine(before, partial);
        return is_maximum ? Values{now, FactorOf(before, now)} : Values{now};
      },
      [&] {
        if (!is_maximum) return Values{partial};
        return Values{partial, llvm::ConstantFP::get(b.getFloatTy(), 1)};
      });
  if (is_maximum) factor_ = carried[1];
  group().Meet();  // all have read the slot
  EmitIf(b, b.CreateICmpEQ(lane_, b.Index(0)), [&] {
    running_.Store(b, number, line_, carried[0]);
    if (is_maximum) running_.Store(b, kFactorSlot, line_, factor_);
  });
  return carried[0];
}

llvm::Value* ScoreRowEmitter::FactorOf(llvm::Value* old, llvm::Value* now) {
  Builder& b = builder();
  llvm::Type* const type = old->getType();
  llvm::Value* const factor =
      EmitUnary(b, Opcode::kExponential, ElementType::kF32, {b.CreateFSub(old, now)}).re;
  llvm::Value* const none =
      b.CreateFCmpOEQ(old, llvm::ConstantFP::getInfinity(type, /*Negative=*/true));
  return b.CreateSelect(b.CreateFCmpOLT(old, now),
                        b.CreateSelect(none, llvm::ConstantFP::getZero(type), factor),
                        llvm::ConstantFP::get(type, 1));
}

llvm::Value* ScoreRowEmitter::PlaceOf(const ElementIndex& index, const Shape& shape) {
  Builder& b = builder();
  llvm::Value* const place =
      b.CreateNSWSub(LinearOffset(b, index, shape), Scale(b, row(), plan_.form.form.length));
  return running_.first_key() == nullptr ? place : b.CreateNSWSub(place, running_.first_key());
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
