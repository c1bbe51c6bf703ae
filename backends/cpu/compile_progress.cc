// Counting in steps of a hundredth.
#include <algorithm>

#include "backends/cpu/compile_progress_internal.h"

namespace hlokit {
namespace {

class GeneratedCounter final : public llvm::FunctionPass {
 public:
  explicit GeneratedCounter(CompileProgress* progress) : FunctionPass(id), progress_(progress) {}
  bool runOnFunction(llvm::Function&) override {
    progress_->Step();
    return false;
  }
  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override { usage.setPreservesAll(); }

 private:
  inline static char id = 0;
  CompileProgress* progress_;
};

}  // namespace

CompileProgress::CompileProgress(const ProgressCallback& callback,
                                 const std::vector<EmittedModule::Part>& parts)
    : callback_(callback) {
  for (const EmittedModule::Part& part : parts)
    for (const llvm::Function& f : *part.module) total_ += f.isDeclaration() ? 0 : 2;
}

void CompileProgress::Step() {
  const int64_t done = ++done_;
  if (!callback_) return;
  // Who finds another thread reporting goes on.
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  const double fraction =
      std::min(1.0, static_cast<double>(done) / static_cast<double>(std::max<int64_t>(1, total_)));
  if (fraction < shown_ + 0.01) return;
  shown_ = fraction;
  callback_("compile", fraction);
}

llvm::FunctionPass* CountGenerated(CompileProgress* progress) {
  return new GeneratedCounter(progress);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
