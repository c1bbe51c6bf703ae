// while_loop_pipeline_unroller and loop-double-buffer-transformer: loops of several rounds at once.
//   while (i < 10) body  ->  while (i < 10) { body; body }
#include <numeric>

#include "absl/strings/str_cat.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/inline_body.h"
#include "passes/rewrite/while_state.h"

namespace hlokit {
namespace {

// A body grows to at most so many instructions.
constexpr int64_t kMaxRepeatedBody = 10'000;

// Which part of the state becomes part k; -1 where the body computes it, or keeps it in its place.
// In { a' = b, b' = f(a) } part a comes from b.
int64_t CameFrom(const WhileState& loop, int64_t k) {
  const Instruction* next = loop.root->operand(k);
  if (next->opcode() != Opcode::kGetTupleElement || next->operand(0) != loop.parameter ||
      next->tuple_index() == k)
    return -1;
  return next->tuple_index();
}

// For how many rounds at once no part that moves needs a copy: 1 where none moves.
int64_t PipelineDepth(const WhileState& loop) {
  const auto parts = loop.root->operand_count();
  int64_t longest = 1, rings = 1;
  for (int64_t k = 0; k < parts; ++k) {
    int64_t length = 1, at = k;
    while (length <= parts && CameFrom(loop, at) >= 0) {
      at = CameFrom(loop, at);
      ++length;
      if (at == k) break;
    }
    if (length > 1 && at == k) {
      rings = std::lcm(rings, length - 1);
      if (rings > kMaxRepeatedBody) return rings;
    } else if (length <= parts) {
      longest = std::max(longest, length);
    }
  }
  return std::lcm(longest, rings);
}

int64_t TwoRounds(const WhileState&) { return 2; }

void Repeat(const WhileState& loop, int64_t trips, int64_t rounds) {
  Computation& outer = *loop.loop->parent();
  Instruction* state = loop.loop->operand(0);
  for (int64_t trip = 0; trip < trips % rounds; ++trip)
    state = CopyBody(*loop.body, {state}, outer);
  Computation* body = outer.module()->AddComputation(absl::StrCat(loop.body->name(), "_rounds"));
  Instruction* inside = body->AddParameter(0, loop.parameter->shape(), loop.parameter->name());
  for (int64_t round = 0; round < rounds; ++round) inside = CopyBody(*loop.body, {inside}, *body);
  body->set_root(inside);
  Instruction* made = outer.Add(loop.loop->CloneWith(loop.loop->shape(), {state}));
  made->SetCalled(1, body);
  made->mutable_extras().backend_config = {};  // it told the old number of rounds
  loop.loop->ReplaceAllUsesWith(made);
  outer.Remove(loop.loop);
}

absl::StatusOr<bool> RepeatAll(Module& module, RewriteControl& control, absl::string_view name,
                               int64_t (*rounds_of)(const WhileState&)) {
  bool changed = false;
  for (Computation* c : module.ComputationsPostOrder())  // inner loops first
    for (Instruction* i : c->PostOrder()) {
      const std::optional<WhileState> loop = WhileState::Of(i);
      if (!loop || i->HasSideEffect() || i->operand(0)->shape() != i->shape() ||
          loop->root->shape() != i->shape())
        continue;
      const std::optional<int64_t> trips = TripCount(*loop);
      const int64_t rounds = rounds_of(*loop);
      if (!trips || rounds < 2 || *trips < 2 * rounds ||
          rounds > kMaxRepeatedBody / loop->body->instruction_count() ||
          !control.Permit(name, *i, *i))
        continue;
      Repeat(*loop, *trips, rounds);
      changed = true;
    }
  if (changed) RemoveUncalled(module);
  return changed;
}

absl::StatusOr<bool> RunPipeline(Module& module, RewriteControl& control) {
  return RepeatAll(module, control, "while_loop_pipeline_unroller", PipelineDepth);
}

absl::StatusOr<bool> RunDoubleBuffer(Module& module, RewriteControl& control) {
  return RepeatAll(module, control, "loop-double-buffer-transformer", TwoRounds);
}

}  // namespace

// while_loop_pipeline_unroller. Matches loops that count from a constant to a constant and whose
// body hands parts of its state on to other places of it; leaves a body of as many rounds as such a
// part lives (for parts that go round in a ring, as many as bring each back), so that none needs a
// copy. Rounds that are left over run before the loop. Cost: the size of what is copied.
std::unique_ptr<Pass> CreateWhileLoopPipelineUnroller() {
  return MakeModulePass("while_loop_pipeline_unroller", RunPipeline);
}

// loop-double-buffer-transformer. The same with two rounds, of every such loop.
std::unique_ptr<Pass> CreateLoopDoubleBufferTransformer() {
  return MakeModulePass("loop-double-buffer-transformer", RunDoubleBuffer);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
