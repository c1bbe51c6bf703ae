// scan_loop_accumulator_input_unification: makes a loop write the rows of the array that it reads,
// instead of a second array.
// Matches loops that read rows of an array which never changes, row i in round i, and write as many
// rows of an array of that shape which nothing else in the loop reads: rows are read from the
// written array, which starts as the read one. The old start of that array must not matter: every
// row is written. Exact.
//   y[i] = f(x[i])  ->  y starts as x; y[i] = f(y[i])
#include <algorithm>

#include "passes/framework/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/while_state.h"

namespace hlokit {
namespace {

using State = WhileState;

// The one read of part k in `tuple`'s computation, if one instruction alone uses it.
Instruction* OnlyUser(const Instruction* tuple, int64_t k, Instruction*& read) {
  read = nullptr;
  for (Instruction* part : tuple->users()) {
    if (part->opcode() != Opcode::kGetTupleElement) return nullptr;
    if (part->tuple_index() != k) continue;
    if (read != nullptr) return nullptr;
    read = part;
  }
  return read != nullptr && read->users().size() == 1 && !read->IsRoot() ? read->users()[0]
                                                                         : nullptr;
}

bool IsReadIn(const Instruction* tuple, int64_t k) {
  return std::any_of(tuple->users().begin(), tuple->users().end(), [&](const Instruction* user) {
    return user->opcode() != Opcode::kGetTupleElement || user->tuple_index() == k;
  });
}

// Whether `starts` are the counter, then zeros, of rows as wide as `whole` is.
bool IsRowOfRound(absl::Span<Instruction* const> starts, const Shape& whole, const Shape& row,
                  const State& loop, const LoopCount& count) {
  const auto is_zero = [](const Instruction* i) {
    return i->IsConstant() && i->literal() != nullptr && i->literal()->GetInt(0) == 0;
  };
  return static_cast<int64_t>(starts.size()) == whole.rank() && whole.rank() > 0 &&
         starts[0]->opcode() == Opcode::kGetTupleElement &&
         starts[0]->operand(0) == loop.parameter && starts[0]->tuple_index() == count.index &&
         count.init == 0 && count.step == 1 && whole.dims[0] == count.trips && row.dims[0] == 1 &&
         std::equal(whole.dims.begin() + 1, whole.dims.end(), row.dims.begin() + 1) &&
         std::all_of(starts.begin() + 1, starts.end(), is_zero);
}

// The accumulator that part k is: its update, if rows of rounds are written and nothing is read.
Instruction* UpdateOf(const State& loop, const LoopCount& count, int64_t k) {
  Instruction* update = loop.root->operand(k);
  Instruction* read = nullptr;
  if (update->opcode() != Opcode::kDynamicUpdateSlice || update->users().size() != 1 ||
      OnlyUser(loop.parameter, k, read) != update || update->operand(0) != read ||
      std::count(update->operands().begin(), update->operands().end(), read) != 1 ||
      std::count(loop.root->operands().begin(), loop.root->operands().end(), update) != 1 ||
      IsReadIn(loop.condition->parameter(0), k))
    return nullptr;
  return IsRowOfRound(update->operands().subspan(2), update->shape(), update->operand(1)->shape(),
                      loop, count)
             ? update
             : nullptr;
}

// The slice that alone reads part k, which never changes, row by row.
Instruction* SliceOf(const State& loop, const LoopCount& count, int64_t k, const Shape& shape) {
  if (!loop.IsInvariant(k) || loop.loop->shape().elements[k] != shape ||
      IsReadIn(loop.condition->parameter(0), k))
    return nullptr;
  Instruction* slice = nullptr;
  for (Instruction* part : loop.parameter->users()) {
    if (part->tuple_index() != k) continue;
    for (Instruction* user : part->users()) {
      if (user == loop.root) continue;
      if (slice != nullptr || user->opcode() != Opcode::kDynamicSlice || user->operand(0) != part)
        return nullptr;
      slice = user;
    }
  }
  return slice != nullptr &&
                 IsRowOfRound(slice->operands().subspan(1), shape, slice->shape(), loop, count)
             ? slice
             : nullptr;
}

bool Unify(const State& loop, const LoopCount& count, RewriteControl& control) {
  bool changed = false;
  const int64_t parts = loop.root->operand_count();
  for (int64_t k = 0; k < parts; ++k) {
    Instruction* update = UpdateOf(loop, count, k);
    if (update == nullptr) continue;
    for (int64_t input = 0; input < parts; ++input) {
      Instruction* slice = SliceOf(loop, count, input, update->shape());
      Instruction* start = loop.loop->operand(0);
      if (slice == nullptr || start->opcode() != Opcode::kTuple || start->users().size() != 1 ||
          start->operand(input) == start->operand(k) ||
          !control.Permit("scan_loop_accumulator_input_unification", *slice, *update))
        continue;
      slice->SetOperand(0, update->operand(0));
      start->SetOperand(k, start->operand(input));
      changed = true;
      break;
    }
  }
  return changed;
}

absl::StatusOr<bool> UnifyAccumulators(Module& module, RewriteControl& control) {
  bool changed = false;
  const std::vector<int> callers = CountCallers(module);
  for (Computation* c : module.ComputationsPostOrder()) {
    bool changed_here = false;
    for (Instruction* i : c->PostOrder()) {
      const std::optional<State> loop = State::Of(i);
      if (!loop || !loop->IsOnlyCaller(callers)) continue;
      const auto count = CountLoop(*loop);
      if (!count || IsReadIn(loop->parameter, -1) || !Unify(*loop, *count, control)) continue;
      RemoveDead(*loop->body);
      changed_here = true;
    }
    if (changed_here) RemoveDead(*c);
    changed |= changed_here;
  }
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateScanLoopAccumulatorInputUnification() {
  return MakeModulePass("scan_loop_accumulator_input_unification", UnifyAccumulators);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
