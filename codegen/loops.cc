// Counted loops and branches as basic blocks. A loop is emitted rotated: its test stands at the
// end, and a test before it is emitted only where the bounds are not constants.
//   entry:  br (begin < end), loop, exit
//   loop:   i = phi [begin, entry], [i + 1, latch] ... body ... br (i + 1 < end), loop, exit
// Loops of one step or none become straight code. Carried values are phis of the loop.
#include "codegen/loops.h"

namespace hlokit {
namespace {

// Loops that carry accumulators this often keep several of them in flight, unless one step is
// as much work as an addition takes time.
constexpr int64_t kInterleaveFrom = 128;
constexpr size_t kShortBody = 24, kMediumBody = 40;  // LLVM instructions

// Asks the vectorizer for several copies of a short body, each with its own accumulator: a float
// addition takes about four cycles, so that one sum alone leaves the adder idle most of the time.
void Interleave(llvm::Instruction* back, llvm::BasicBlock* loop) {
  const size_t size = loop->size();
  if (back->getParent() != loop || size > kMediumBody) return;
  // What writes as it goes has accumulators that are more than sums.
  for (const llvm::Instruction& i : *loop)
    if (i.mayWriteToMemory()) return;
  llvm::LLVMContext& context = back->getContext();
  llvm::Metadata* count = llvm::ConstantAsMetadata::get(
      llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), size > kShortBody ? 2 : 4));
  llvm::MDNode* hint = llvm::MDNode::get(
      context, {llvm::MDString::get(context, "llvm.loop.interleave.count"), count});
  llvm::MDNode* node = llvm::MDNode::getDistinct(context, {nullptr, hint});
  node->replaceOperandWith(0, node);
  back->setMetadata(llvm::LLVMContext::MD_loop, node);
}

llvm::BasicBlock* NewBlock(Builder& b, const char* name) {
  return llvm::BasicBlock::Create(b.getContext(), name, b.GetInsertBlock()->getParent());
}

// Whether the bounds are some x and x + 1: the one unit of a thread on a GPU.
bool IsOneStep(const llvm::Value* begin, const llvm::Value* end) {
  const auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(end);
  if (sum == nullptr || sum->getOpcode() != llvm::Instruction::Add || sum->getOperand(0) != begin)
    return false;
  const auto* one = llvm::dyn_cast<llvm::ConstantInt>(sum->getOperand(1));
  return one != nullptr && one->isOne() && sum->hasNoSignedWrap();
}

// Returns the carried values after the last step, or `initial` where there is no step.
Values EmitLoopGeneral(Builder& b, llvm::Value* begin, llvm::Value* end, const Values& initial,
                       absl::FunctionRef<Values(llvm::Value*, const Values&)> body) {
  const auto* first = llvm::dyn_cast<llvm::ConstantInt>(begin);
  const auto* last = llvm::dyn_cast<llvm::ConstantInt>(end);
  const bool known = first != nullptr && last != nullptr;
  if (known && first->getSExtValue() >= last->getSExtValue()) return initial;
  if (known && first->getSExtValue() + 1 == last->getSExtValue()) return body(begin, initial);
  if (IsOneStep(begin, end)) return body(begin, initial);
  llvm::BasicBlock* before = b.GetInsertBlock();
  // What a loop carries is combined step by step; the name says so to those who read the IR.
  llvm::BasicBlock* loop = NewBlock(b, initial.empty() ? "loop" : "reduce");
  llvm::BasicBlock* exit = NewBlock(b, "exit");
  if (known) {
    b.CreateBr(loop);
  } else {
    b.CreateCondBr(b.CreateICmpSLT(begin, end), loop, exit);
  }
  b.SetInsertPoint(loop);
  llvm::PHINode* i = b.CreatePHI(begin->getType(), 2);
  i->addIncoming(begin, before);
  Values carried;
  for (llvm::Value* v : initial) {
    llvm::PHINode* phi = b.CreatePHI(v->getType(), 2);
    phi->addIncoming(v, before);
    carried.push_back(phi);
  }
  const Values next = body(i, carried);
  llvm::Value* step = b.CreateNUWAdd(i, llvm::ConstantInt::get(i->getType(), 1));
  llvm::BasicBlock* latch = b.GetInsertBlock();
  i->addIncoming(step, latch);
  for (size_t k = 0; k < carried.size(); ++k)
    llvm::cast<llvm::PHINode>(carried[k])->addIncoming(next[k], latch);
  llvm::Instruction* back = b.CreateCondBr(b.CreateICmpSLT(step, end), loop, exit);
  if (!initial.empty() && known && last->getSExtValue() >= kInterleaveFrom) Interleave(back, loop);
  b.SetInsertPoint(exit);
  if (known) return next;
  Values result;
  for (size_t k = 0; k < initial.size(); ++k) {
    llvm::PHINode* phi = b.CreatePHI(initial[k]->getType(), 2);
    phi->addIncoming(initial[k], before);
    phi->addIncoming(next[k], latch);
    result.push_back(phi);
  }
  return result;
}

}  // namespace

void EmitLoop(Builder& b, llvm::Value* begin, llvm::Value* end,
              absl::FunctionRef<void(llvm::Value*)> body) {
  EmitLoopGeneral(b, begin, end, {}, [&](llvm::Value* i, const Values&) {
    body(i);
    return Values();
  });
}

void EmitLoop(Builder& b, int64_t count, absl::FunctionRef<void(llvm::Value*)> body) {
  EmitLoop(b, b.Index(0), b.Index(count), body);
}

Values EmitLoopCarrying(Builder& b, int64_t count, const Values& initial,
                        absl::FunctionRef<Values(llvm::Value*, const Values&)> body) {
  return EmitLoopGeneral(b, b.Index(0), b.Index(count), initial, body);
}

Values EmitLoopCarrying(Builder& b, llvm::Value* begin, llvm::Value* end, const Values& initial,
                        absl::FunctionRef<Values(llvm::Value*, const Values&)> body) {
  return EmitLoopGeneral(b, begin, end, initial, body);
}

Values EmitWhile(Builder& b, const Values& initial,
                 absl::FunctionRef<llvm::Value*(const Values&)> condition,
                 absl::FunctionRef<Values(const Values&)> body) {
  llvm::BasicBlock* const before = b.GetInsertBlock();
  llvm::BasicBlock *const header = NewBlock(b, "test"), *const loop = NewBlock(b, "again"),
                          *const exit = NewBlock(b, "exit");
  b.CreateBr(header);
  b.SetInsertPoint(header);
  Values carried;
  for (llvm::Value* const v : initial) {
    llvm::PHINode* const phi = b.CreatePHI(v->getType(), 2);
    phi->addIncoming(v, before);
    carried.push_back(phi);
  }
  llvm::Value* const again = condition(carried);
  b.CreateCondBr(again, loop, exit);
  b.SetInsertPoint(loop);
  const Values next = body(carried);
  for (size_t k = 0; k < carried.size(); ++k)
    llvm::cast<llvm::PHINode>(carried[k])->addIncoming(next[k], b.GetInsertBlock());
  b.CreateBr(header);
  b.SetInsertPoint(exit);
  return carried;
}

void EmitIf(Builder& b, llvm::Value* condition, absl::FunctionRef<void()> body) {
  llvm::BasicBlock* then = NewBlock(b, "then");
  llvm::BasicBlock* join = NewBlock(b, "join");
  b.CreateCondBr(condition, then, join);
  b.SetInsertPoint(then);
  body();
  b.CreateBr(join);
  b.SetInsertPoint(join);
}

Values EmitIfElse(Builder& b, llvm::Value* condition, absl::FunctionRef<Values()> on_true,
                  absl::FunctionRef<Values()> on_false) {
  llvm::BasicBlock* then = NewBlock(b, "then");
  llvm::BasicBlock* otherwise = NewBlock(b, "else");
  llvm::BasicBlock* join = NewBlock(b, "join");
  b.CreateCondBr(condition, then, otherwise);
  b.SetInsertPoint(then);
  const Values yes = on_true();
  llvm::BasicBlock* yes_end = b.GetInsertBlock();
  b.CreateBr(join);
  b.SetInsertPoint(otherwise);
  const Values no = on_false();
  llvm::BasicBlock* no_end = b.GetInsertBlock();
  b.CreateBr(join);
  b.SetInsertPoint(join);
  Values result;
  for (size_t k = 0; k < yes.size(); ++k) {
    llvm::PHINode* phi = b.CreatePHI(yes[k]->getType(), 2);
    phi->addIncoming(yes[k], yes_end);
    phi->addIncoming(no[k], no_end);
    result.push_back(phi);
  }
  return result;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
