// small-while-loop-hoisting: outlines short loops into calls that compile into one function.
// Matches while loops whose body and condition move few bytes a round, talk to no one and call
// nothing foreign. Leaves a call, marked xla_cpu_small_call="true", of a computation that is the
// loop alone. Cost: linear.
//
// Calls around short loops.
#include "absl/strings/str_cat.h"
#include "analysis/instruction_cost.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/control_edges.h"

namespace hlokit {
namespace {

// A round of a loop that reads and writes no more than this is short; tuples count as the pointers
// that they are, as in XLA's count.
constexpr double kSmallLoopBytes = 1024;

constexpr double kPointerBytes = 8;  // of a tuple's parts
constexpr char kMark[] = "xla_cpu_small_call";

bool IsMarked(const Instruction* i) {
  for (const auto& [key, value] : i->extras().frontend_attributes)
    if (key == kMark) return value == "true";
  return false;
}

// Adds the bytes of one run of `c`; false where something in it does not belong into one function.
bool AddBytes(const Computation& c, double& bytes) {
  for (const Instruction* i : c.Instructions()) {
    constexpr uint16_t kFar = kCollective | kAsyncStart | kAsyncDone;
    if ((Info(i->opcode()).traits & kFar) != 0 || i->opcode() == Opcode::kCustomCall ||
        i->opcode() == Opcode::kInfeed || i->opcode() == Opcode::kOutfeed ||
        i->shape().HasDynamicDims())
      return false;
    const bool runs = i->opcode() == Opcode::kWhile || i->opcode() == Opcode::kConditional ||
                      i->opcode() == Opcode::kCall;
    if (!runs) bytes += CostOf(*i).bytes;
    if (i->opcode() == Opcode::kTuple)
      bytes += kPointerBytes * static_cast<double>(i->operand_count());
    if (bytes > kSmallLoopBytes) return false;
    if (runs)
      for (const Computation* called : i->called())
        if (!AddBytes(*called, bytes)) return false;
  }
  return true;
}

bool IsSmall(const Instruction* loop) {
  double bytes = 0;
  return AddBytes(*loop->called(0), bytes) && AddBytes(*loop->called(1), bytes);
}

void Hoist(Instruction* loop) {
  Computation* function =
      loop->module()->AddComputation(absl::StrCat(loop->name(), "_computation"));
  Instruction* state = function->AddParameter(0, loop->operand(0)->shape(), "tuple");
  function->set_root(function->Add(loop->CloneWith(loop->shape(), {state})));
  Instruction* call = loop->parent()->Add(Opcode::kCall, loop->shape(), {loop->operand(0)}, "call");
  call->set_called({function});
  call->CopyExtrasFrom(*loop);
  call->mutable_extras().frontend_attributes.push_back({kMark, "true"});
  loop->ReplaceAllUsesWith(call);
  loop->parent()->Remove(loop);
}

absl::StatusOr<bool> HoistSmallLoops(Computation& computation, RewriteControl& control) {
  if (computation.instruction_count() == 2 && computation.root()->opcode() == Opcode::kWhile)
    for (const Instruction* caller : computation.Callers())
      if (IsMarked(caller)) return false;
  bool changed = false;
  for (Instruction* i : computation.PostOrder()) {
    if (i->opcode() != Opcode::kWhile || HasControlEdges(*i) || !IsSmall(i) ||
        !control.Permit("small-while-loop-hoisting", *i, *i))
      continue;
    Hoist(i);
    changed = true;
  }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateSmallWhileLoopHoisting() {
  return MakeComputationPass("small-while-loop-hoisting", HoistSmallLoops);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
