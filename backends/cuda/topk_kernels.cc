// A warp, or a block for rows of more than 1024 elements, has a row in its registers. Each element
// is a word of 64 bits, whose order is that of topk: the value, as an unsigned number, above the
// place, negated, so that of equal values the first is the greatest and no two words are equal.
//
//   row 5 9 9 2, k = 2:   5:~0  9:~1  9:~2  2:~3
//   round 0: the greatest of all threads' words, 9:~1, is the first result; it becomes 0
//   round 1: 9:~2 is the second
//
// Floats are in total order, as the sort that topk stands for has them: the bits of negative ones
// are inverted, the sign of others is set. Cost: three instructions an element and round, and some
// 40 a round and warp to meet.
#include "backends/cuda/topk_kernels.h"

#include "analysis/row_topk.h"
#include "backends/cuda/ptx_code.h"
#include "backends/cuda/thread_group.h"
#include "codegen/element_emitter.h"

namespace hlokit {
namespace {

constexpr int64_t kLongestOfWarp = 1024;

class TopKEmitter {
 public:
  TopKEmitter(const RowTopK& plan, ElementType type, int64_t threads, Builder& b,
              KernelArrays& arrays, llvm::Value* unit)
      : plan_(plan),
        type_(type),
        bits_(b.getIntNTy(static_cast<unsigned>(BitWidth(type)))),
        b_(b),
        arrays_(arrays),
        group_(b, threads, b.CreateURem(unit, b.Index(threads))),
        row_(b.CreateUDiv(unit, b.Index(threads))) {}

  void Emit() {
    Values words = LoadWords();
    for (int64_t round = 0; round < plan_.k; ++round) {
      llvm::Value* best = words[0];
      for (size_t j = 1; j < words.size(); ++j) best = Greater(best, words[j]);
      best = group_.Combine(best, [&](llvm::Value* x, llvm::Value* y) { return Greater(x, y); });
      EmitIf(b_, b_.CreateICmpEQ(group_.lane(), b_.Index(0)), [&] { Store(best, round); });
      for (llvm::Value*& word : words)
        word = b_.CreateSelect(b_.CreateICmpEQ(word, best), b_.getInt64(0), word);
    }
  }

 private:
  llvm::Value* Greater(llvm::Value* x, llvm::Value* y) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, x, y);
  }

  // This thread's; 0, which no element has, beyond the row's end.
  Values LoadWords() {
    Values words;
    const int64_t threads = group_.threads();
    for (int64_t first = 0; first < plan_.length; first += threads) {
      llvm::Value* place = b_.CreateNSWAdd(group_.lane(), b_.Index(first));
      llvm::Value* inside = nullptr;
      if (first + threads > plan_.length) {
        inside = b_.CreateICmpULT(place, b_.Index(plan_.length));
        place = b_.CreateSelect(inside, place, b_.Index(0));
      }
      llvm::Value* const at = b_.CreateNSWAdd(Scale(b_, row_, plan_.length), place);
      llvm::Value* const value =
          b_.CreateLoad(bits_, ElementPointer(b_, arrays_.operand(0), ElementIndex::Linear(at)));
      llvm::Value* const high = b_.CreateShl(b_.CreateZExt(KeyOf(value), b_.getInt64Ty()), 32);
      llvm::Value* const low =
          b_.CreateXor(b_.CreateZExtOrTrunc(place, b_.getInt64Ty()), b_.getInt64(0xffffffffu));
      llvm::Value* const word = b_.CreateOr(high, low);
      words.push_back(inside == nullptr ? word : b_.CreateSelect(inside, word, b_.getInt64(0)));
    }
    return words;
  }

  llvm::Constant* SignBit() const { return llvm::ConstantInt::get(bits_, SignMask()); }
  llvm::APInt SignMask() const { return llvm::APInt::getSignMask(bits_->getBitWidth()); }
  // All ones where the sign bit is set.
  llvm::Value* SignOf(llvm::Value* x) { return b_.CreateAShr(x, bits_->getBitWidth() - 1); }

  // An unsigned number, the greater the earlier the value comes.
  llvm::Value* KeyOf(llvm::Value* x) {
    if (IsFloat(type_)) x = b_.CreateXor(x, b_.CreateOr(SignOf(x), SignBit()));
    if (IsSigned(type_)) x = b_.CreateXor(x, SignBit());
    return plan_.largest ? x : b_.CreateNot(x);
  }
  llvm::Value* ValueOf(llvm::Value* key) {
    if (!plan_.largest) key = b_.CreateNot(key);
    if (IsFloat(type_)) return b_.CreateXor(key, b_.CreateOr(b_.CreateNot(SignOf(key)), SignBit()));
    return IsSigned(type_) ? b_.CreateXor(key, SignBit()) : key;
  }

  void Store(llvm::Value* word, int64_t round) {
    const ElementIndex to =
        ElementIndex::Linear(b_.CreateNSWAdd(Scale(b_, row_, plan_.k), b_.Index(round)));
    llvm::Value* const key = b_.CreateTrunc(b_.CreateLShr(word, 32), bits_);
    b_.CreateStore(ValueOf(key), ElementPointer(b_, arrays_.result(0), to));
    b_.CreateStore(b_.CreateNot(b_.CreateTrunc(word, b_.getInt32Ty())),
                   ElementPointer(b_, arrays_.result(1), to));
  }

  const RowTopK plan_;
  const ElementType type_;
  llvm::IntegerType* const bits_;
  Builder& b_;
  KernelArrays& arrays_;
  ThreadGroup group_;
  llvm::Value* const row_;
};

}  // namespace

bool CanSelectOnGpu(const Instruction& instruction) { return RowTopKOf(instruction).has_value(); }

bool AddTopKKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  const Instruction& i = *request.expression.subject;
  const std::optional<RowTopK> plan = RowTopKOf(i);
  if (!plan.has_value()) return false;
  const int64_t threads = plan->length <= kLongestOfWarp ? kWarp : kBlockThreads;
  Kernel kernel;
  kernel.units = plan->rows * threads;
  kernel.emit = [plan = *plan, type = i.operand(0)->shape().type, threads](
                    Builder& b, KernelArrays& arrays, llvm::Value* unit, llvm::Value*) {
    TopKEmitter(plan, type, threads, b, arrays, unit).Emit();
  };
  out.push_back(std::move(kernel));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
