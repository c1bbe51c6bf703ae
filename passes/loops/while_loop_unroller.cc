// while_loop_unroller: unrolls while loops of few iterations.
// Matches loops without side effects that count from a constant to a constant, which the state may
// carry; leaves their body, as often as they run. Inner loops first. Cost: the size of what is
// copied.
//   while (i < 3) { s = f(s) }  ->  f(f(f(s)))
#include "passes/framework/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/inline_body.h"
#include "passes/rewrite/while_state.h"

namespace hlokit {
namespace {

// A loop is unrolled that runs at most so often, and grows to at most so many instructions.
constexpr int64_t kMaxUnrolledTrips = 64;
constexpr int64_t kMaxUnrolledInstructions = 10'000;

absl::StatusOr<bool> UnrollLoops(Module& module, RewriteControl& control) {
  bool changed = false;
  int64_t made = 0;
  const std::vector<int> callers = CountCallers(module);
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : c->PostOrder()) {  // so that loops come after what they read
      const std::optional<WhileState> loop = WhileState::Of(i);
      if (!loop || i->HasSideEffect() || i->operand(0)->shape() != i->shape() ||
          loop->root->shape() != i->shape())
        continue;
      if (loop->IsOnlyCaller(callers))
        changed |= SinkInitial(*loop, IsKnownScalar);  // limits and steps that the state carries
      const std::optional<int64_t> trips = TripCount(*loop);
      if (!trips || *trips > kMaxUnrolledTrips) continue;
      const int64_t size = *trips * loop->body->instruction_count();
      if (size > kMaxUnrolledInstructions || made + size > 10 * kMaxUnrolledInstructions ||
          !control.Permit("while_loop_unroller", *i, *i))
        continue;
      made += size;
      Instruction* state = i->operand(0);
      for (int64_t trip = 0; trip < *trips; ++trip) state = CopyBody(*loop->body, {state}, *c);
      i->ReplaceAllUsesWith(state);
      c->RemoveIfDead(i);
      changed = true;
    }
  if (changed) RemoveUncalled(module);
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateWhileLoopUnroller() {
  return MakeModulePass("while_loop_unroller", UnrollLoops);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
