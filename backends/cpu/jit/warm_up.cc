// A reduction and a loop after it, of the kind that most modules hold.
#include "backends/cpu/jit/warm_up.h"

#include <atomic>

#include "backends/cpu/jit/compile_function_internal.h"
#include "codegen/loops.h"
#include "codegen/scalars/convert.h"
#include "codegen/scalars/type.h"
#include "support/threads.h"

namespace hlokit {
namespace {

constexpr int64_t kLength = 1024;

// x[i] = bf16(x[i] / sum(x)), over an array of bf16.
void EmitSample(llvm::Function& function) {
  Builder b(llvm::BasicBlock::Create(function.getContext(), "entry", &function));
  llvm::FastMathFlags flags;
  flags.setAllowReassoc();
  b.setFastMathFlags(flags);
  const auto at = [&](llvm::Value* i) {
    return b.CreateInBoundsGEP(b.getInt16Ty(), function.getArg(1), i);
  };
  llvm::Value* zero = llvm::ConstantFP::get(b.getFloatTy(), 0);
  const Values sum = EmitLoopCarrying(b, kLength, {zero}, [&](llvm::Value* i, const Values& sums) {
    return Values{b.CreateFAdd(sums[0], LoadElement(b, ElementType::kBF16, at(i)).re)};
  });
  EmitLoop(b, kLength, [&](llvm::Value* i) {
    llvm::Value* share = b.CreateFDiv(LoadElement(b, ElementType::kBF16, at(i)).re, sum[0]);
    StoreElement(b, ElementType::kBF16,
                 EmitConvert(b, ElementType::kF32, ElementType::kBF16, {share}), at(i));
  });
  b.CreateRetVoid();
}

void CompileSample() {
  // Whatever goes wrong here will be reported where it matters.
  CompileFunction("sample", EmitSample).status().IgnoreError();
}

}  // namespace

WarmUp::WarmUp() {
  static std::atomic<bool> done = false;
  if (std::thread::hardware_concurrency() > 1 && !done.exchange(true))
    if (std::optional<std::thread> thread = StartThread(CompileSample))
      thread_ = *std::move(thread);
}

WarmUp::~WarmUp() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
