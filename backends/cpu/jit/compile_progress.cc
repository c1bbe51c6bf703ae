// How much of a compilation is done: each function counts twice, once optimized and once generated.
// The callback is called at steps of a hundredth, by one thread at a time.
#include <algorithm>

#include "backends/cpu/jit/compile_progress_internal.h"

namespace hlokit {
namespace {

class GeneratedCounter final : public llvm::FunctionPass {
 public:
  explicit GeneratedCounter(FunctionClock* clock) : FunctionPass(id), clock_(clock) {}
  bool runOnFunction(llvm::Function& function) override {
    clock_->Done(function);
    return false;
  }
  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override { usage.setPreservesAll(); }

 private:
  inline static char id = 0;
  FunctionClock* clock_;
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

void FunctionClock::Done(const llvm::Function& function) {
  const double now = SteadySeconds();
  seconds_[function.getName()] += now - last_;
  last_ = now;
  if (progress_ != nullptr) progress_->Step();
}

std::vector<FunctionTime> FunctionClock::Longest(size_t most) const {
  std::vector<FunctionTime> times;
  for (const auto& entry : seconds_) times.push_back({entry.getKey().str(), entry.getValue()});
  return LongestFirst(std::move(times), most);
}

// Ties are broken by name, so that reports do not depend on the order of threads.
std::vector<FunctionTime> LongestFirst(std::vector<FunctionTime> times, size_t most) {
  std::sort(times.begin(), times.end(), [](const FunctionTime& a, const FunctionTime& b) {
    return a.seconds != b.seconds ? a.seconds > b.seconds : a.name < b.name;
  });
  if (times.size() > most) times.resize(most);
  return times;
}

llvm::FunctionPass* CountGenerated(FunctionClock* clock) { return new GeneratedCounter(clock); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
