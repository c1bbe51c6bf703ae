// How far code generation is, counted in functions by several threads.
#pragma once

#include <atomic>
#include <mutex>

#include "codegen/llvm.h"
#include "codegen/module_emitter.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Pass.h"
#include "support/progress.h"

namespace hlokit {

// Each function counts when its IR is optimised and when its code is generated.
class CompileProgress {
 public:
  // `callback` may be empty; it must outlive the object.
  CompileProgress(const ProgressCallback& callback, const std::vector<EmittedModule::Part>& parts);

  void Step();

 private:
  const ProgressCallback& callback_;
  int64_t total_ = 0;
  std::atomic<int64_t> done_ = 0;
  std::mutex mutex_;
  double shown_ = 0;  // guarded by mutex_
};

// At the end of a function pipeline.
class CountOptimized : public llvm::PassInfoMixin<CountOptimized> {
 public:
  explicit CountOptimized(CompileProgress* progress) : progress_(progress) {}
  llvm::PreservedAnalyses run(llvm::Function&, llvm::FunctionAnalysisManager&) {
    if (progress_ != nullptr) progress_->Step();
    return llvm::PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }

 private:
  CompileProgress* progress_;
};

// At the end of code generation.
llvm::FunctionPass* CountGenerated(CompileProgress* progress);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
