// A reduction and a loop after it, of the kind that most modules hold.
#include "backends/cpu/jit/warm_up.h"

#include <atomic>

#include "backends/cpu/jit/host_target_internal.h"
#include "backends/cpu/jit/object_code_internal.h"
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

std::atomic<bool> real_work = false;

bool IsWanted() { return !real_work.load(std::memory_order_relaxed); }

// Whatever goes wrong here will be reported where it matters.
void CompileSample() {
  // Two machines: the pool then has one for either of two threads.
  const absl::StatusOr<PooledMachine> first = AcquireMachine(2), second = AcquireMachine(2);
  if (!first.ok() || !second.ok() || !IsWanted()) return;
  llvm::LLVMContext context;
  llvm::Module module("sample", context);
  module.setTargetTriple(Host()->triple);
  module.setDataLayout(Host()->data_layout);
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  auto* type =
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, pointer, pointer}, false);
  EmitSample(*llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "sample", module));
  TryCompiler(module, **first, IsWanted);
}

}  // namespace

WarmUp::WarmUp() {
  static std::atomic<bool> done = false;
  if (std::thread::hardware_concurrency() > 1 && !done.exchange(true))
    if (std::optional<std::thread> thread = StartThread(CompileSample))
      thread_ = *std::move(thread);
}

void EndWarmUp() { real_work = true; }

WarmUp::~WarmUp() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
