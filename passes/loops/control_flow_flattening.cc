// control-flow-flattening: fixes trip counts and replaces communication with zeros, for
// measurements on one device.
// For measuring how fast a program is away from its host and the other devices: changes values.
// Loops run `while-execution-count` (1) rounds, whatever their condition says; infeeds and what
// collectives give become zeros, outfeeds go (`keep-infeed-outfeed`, `keep-comm` leave them).
// Starts and dones of collectives stay. Cost: linear.
//   while { body }  ->  while (i < N) { body }        all-reduce(x)  ->  zeros
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/post_order_of.h"
#include "passes/rewrite/while_state.h"
#include "support/status.h"

namespace hlokit {
namespace {

struct Wishes {
  int64_t rounds = 1;
  bool keep_feeds = false, keep_comm = false;
};

// Zeros, and tokens for tokens; null for what is neither.
Instruction* Zeros(const Shape& shape, Rewriter& r) {
  if (shape.IsToken()) return r.Add(Opcode::kAfterAll, shape, {});
  if (shape.IsArray()) return shape.HasDynamicDims() ? nullptr : r.Splat(shape, 0);
  if (!shape.IsTuple()) return nullptr;
  std::vector<Instruction*> parts;
  for (const Shape& element : shape.elements) {
    parts.push_back(Zeros(element, r));
    if (parts.back() == nullptr) return nullptr;
  }
  return r.Add(Opcode::kTuple, shape, parts);
}

bool IsCommunication(Opcode opcode) {
  return opcode == Opcode::kAllReduce || opcode == Opcode::kAllGather ||
         opcode == Opcode::kReduceScatter || opcode == Opcode::kAllToAll ||
         opcode == Opcode::kCollectivePermute || opcode == Opcode::kCollectiveBroadcast ||
         opcode == Opcode::kRaggedAllToAll;
}

Instruction* Flatten(Instruction* loop, int64_t rounds, Rewriter& r) {
  const auto state = WhileState::Of(loop);
  if (state && TripCount(*state) == rounds) return nullptr;
  Computation* body = loop->called(1);
  if (rounds < 1) return loop->operand(0);
  HloWriter w(r);
  if (rounds == 1) return w.Call(body, {loop->operand(0)});
  return CountedLoop(w, loop->name(), rounds, {loop->operand(0)},
                     [&](HloWriter& inner, Instruction*, absl::Span<Instruction* const> parts) {
                       return std::vector<Instruction*>{inner.Call(body, {parts[0]})};
                     })[0];
}

absl::StatusOr<Instruction*> Visit(Instruction* i, Rewriter& r, const Wishes& wishes) {
  switch (i->opcode()) {
    case Opcode::kWhile:
      return Flatten(i, wishes.rounds, r);
    case Opcode::kInfeed:
      return wishes.keep_feeds ? nullptr : Zeros(i->shape(), r);
    default:
      return IsCommunication(i->opcode()) && !wishes.keep_comm ? Zeros(i->shape(), r) : nullptr;
  }
}

bool RemoveOutfeeds(Module& module) {
  bool changed = false;
  for (Computation* c : module.Computations())
    for (Instruction* i : PostOrderOf(*c, Opcode::kOutfeed)) {
      i->DropControlEdges();
      i->ReplaceAllUsesWith(i->operand(i->operand_count() - 1));
      c->Remove(i);
      changed = true;
    }
  return changed;
}

class ControlFlowFlattening final : public Pass {
 public:
  explicit ControlFlowFlattening(const Wishes& wishes) : wishes_(wishes) {}
  absl::string_view name() const override { return "control-flow-flattening"; }

  absl::StatusOr<bool> Run(Module& module) override {
    const bool fed = !wishes_.keep_feeds && RemoveOutfeeds(module);
    const auto others =
        MakeExpander(name(), [this](Instruction* i, Rewriter& r) { return Visit(i, r, wishes_); });
    others->set_control(&control());
    ASSIGN_OR_RETURN(const bool changed, others->Run(module));
    return changed || fed;
  }

 private:
  const Wishes wishes_;
};

}  // namespace

std::unique_ptr<Pass> CreateControlFlowFlattening(PassArguments& arguments) {
  Wishes wishes;
  wishes.rounds = arguments.Int("while-execution-count", 1, "rounds of each loop");
  wishes.keep_feeds = arguments.Flag("keep-infeed-outfeed", "leave infeeds and outfeeds");
  wishes.keep_comm = arguments.Flag("keep-comm", "leave collectives");
  return std::make_unique<ControlFlowFlattening>(wishes);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
