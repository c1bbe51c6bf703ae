// How far code generation is, counted in functions by several threads, and what each function took.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "backends/cpu/host_program/module_emitter.h"
#include "backends/cpu/jit/jit_options.h"
#include "codegen/llvm.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Pass.h"
#include "support/clock.h"
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

// Longest first, at most `most`.
std::vector<FunctionTime> LongestFirst(std::vector<FunctionTime> times, size_t most);

// Times the functions of one part, which one thread works on one after the other.
class FunctionClock {
 public:
  // `progress` may be null, else it counts along.
  explicit FunctionClock(CompileProgress* progress) : progress_(progress) {}

  // Work begins.
  void Start() { last_ = SteadySeconds(); }
  // What passed since the last call of either was work on `function`.
  void Done(const llvm::Function& function);
  // Longest first, at most `most`.
  std::vector<FunctionTime> Longest(size_t most) const;

 private:
  CompileProgress* progress_;
  double last_ = SteadySeconds();
  llvm::StringMap<double> seconds_;
};

// At the end of a function pipeline; `clock` may be null.
class CountOptimized : public llvm::PassInfoMixin<CountOptimized> {
 public:
  explicit CountOptimized(FunctionClock* clock) : clock_(clock) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    if (clock_ != nullptr) clock_->Done(function);
    return llvm::PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }

 private:
  FunctionClock* clock_;
};

// At the end of code generation.
llvm::FunctionPass* CountGenerated(FunctionClock* clock);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
