// A copy of memory, and a loop of independent multiplications and additions.
#include "backends/cpu/jit/roofline.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "backends/cpu/jit/compile_function_internal.h"
#include "codegen/loops.h"
#include "support/clock.h"
#include "support/threads.h"

namespace hlokit {
namespace {

constexpr int kTries = 3;
constexpr size_t kCopied = 48 << 20;  // bytes a thread
constexpr int64_t kSteps = 1 << 20;
constexpr int kChains = 10;  // hide the latency of an operation
constexpr unsigned kLanes = 16;

// The shortest of several times that all threads take for `work`.
double Fastest(int threads, const std::function<void(int)>& work) {
  double best = 1e30;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const double start = SteadySeconds();
    RunOnThreads(threads, threads, [&](int64_t t) { work(static_cast<int>(t)); });
    best = std::min(best, SteadySeconds() - start);
  }
  return best;
}

double BytesPerSecond(int threads) {
  std::vector<std::vector<char>> from(threads), to(threads);
  for (int t = 0; t < threads; ++t) {
    from[t].assign(kCopied, 1);
    to[t].assign(kCopied, 0);
  }
  const double seconds =
      Fastest(threads, [&](int t) { std::memcpy(to[t].data(), from[t].data(), kCopied); });
  return 2.0 * static_cast<double>(kCopied) * threads / seconds;
}

// Chains of x = x * x + x, whose sum goes to the second argument.
void EmitChains(llvm::Function& function) {
  Builder b(llvm::BasicBlock::Create(function.getContext(), "entry", &function));
  auto* type = llvm::FixedVectorType::get(b.getFloatTy(), kLanes);
  Values chains;
  for (int k = 0; k < kChains; ++k) chains.push_back(llvm::ConstantFP::get(type, 1e-6 * k));
  chains = EmitLoopCarrying(b, kSteps, chains, [&](llvm::Value*, const Values& values) {
    Values next;
    for (llvm::Value* v : values)
      next.push_back(b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {v, v, v}));
    return next;
  });
  llvm::Value* sum = chains[0];
  for (int k = 1; k < kChains; ++k) sum = b.CreateFAdd(sum, chains[k]);
  b.CreateAlignedStore(sum, function.getArg(1), llvm::Align(4));
  b.CreateRetVoid();
}

double FlopsPerSecond(int threads) {
  const auto code = CompileFunction("roofline", EmitChains);
  if (!code.ok()) return 0;
  const double seconds = Fastest(threads, [&](int) {
    float sums[kLanes];
    (*code)->entry()(nullptr, reinterpret_cast<char*>(sums), nullptr);
  });
  return 2.0 * kLanes * kChains * static_cast<double>(kSteps) * threads / seconds;
}

}  // namespace

double Roofline::Seconds(double flops, double bytes) const {
  return std::max(flops_per_second > 0 ? flops / flops_per_second : 0,
                  bytes_per_second > 0 ? bytes / bytes_per_second : 0);
}

Roofline MeasureRoofline(int threads) {
  if (threads <= 0) threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return {FlopsPerSecond(threads), BytesPerSecond(threads)};
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
