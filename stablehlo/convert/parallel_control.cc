// Loops and branches in which programs that run side by side meet: all that wait at one go through
// together, in step.
//
//   process 0: while(%i = 0) { i < 3 } do { all_reduce ... }      one loop whose state is that of
//   both: process 1: while(%i = 0) { i < 5 } do { all_reduce ... }      (c0, i0, ..., c1, i1, ...)
//
// The loop goes on while one of the conditions c0, c1 holds; a process whose own does not keeps its
// values (select) while the others go on. Where programs end at all, the members of a group make
// the same number of steps, so that no collective sees a value of one that has left. A branch whose
// index is a constant, as one of the process's own number is, stands in place; of others each
// branch is computed and the results selected. Cost: the operations of all members, and a select
// for each value of a loop. Limits: infeeds and checks inside are refused, as are sends that no
// receive of the same step takes.
#include <algorithm>

#include "stablehlo/convert/collectives_internal.h"
#include "stablehlo/convert/parallel_internal.h"

namespace hlokit {
namespace {

bool IsLoop(const MlirOperation& op) { return op.name == "stablehlo.while"; }

bool IsBranch(const MlirOperation& op) {
  return op.name == "stablehlo.if" || op.name == "stablehlo.case";
}

Shape Predicate() { return Shape::Scalar(ElementType::kPred).WithDefaultLayout(); }

// select(predicate, if_true, if_false) of whole arrays.
absl::StatusOr<Instruction*> Chosen(BodyConverter& body, Instruction* predicate,
                                    Instruction* if_true, Instruction* if_false) {
  const Shape& shape = if_true->shape();
  if (if_true == if_false || !shape.IsArray()) return if_true;
  Instruction* spread = predicate;
  if (shape.rank() > 0) {
    Shape wide = shape;
    wide.type = ElementType::kPred;
    ASSIGN_OR_RETURN(spread, BroadcastInto(body, predicate, wide.WithDefaultLayout(), {}));
  }
  return body.Add(Opcode::kSelect, shape, {spread, if_true, if_false});
}

Instruction* Both(BodyConverter& body, Instruction* a, Instruction* b) {
  return a == nullptr ? b : body.Add(Opcode::kAnd, {a, b});
}

std::vector<const MlirValue*> OutsideOf(BodyConverter& body, const MlirOperation& op) {
  std::vector<const MlirRegion*> regions;
  for (const MlirRegion& region : op.regions) regions.push_back(&region);
  return CapturesOf(body, regions);
}

// The values of `inputs`, and behind them those from outside that the operation's regions use.
absl::StatusOr<std::vector<Instruction*>> ValuesOf(BodyConverter& body, const MlirOperation& op,
                                                   absl::Span<const MlirValue* const> inputs) {
  std::vector<Instruction*> values;
  for (const MlirValue* input : inputs) {
    ASSIGN_OR_RETURN(values.emplace_back(), body.Value(*input));
  }
  for (const MlirValue* value : OutsideOf(body, op)) {
    ASSIGN_OR_RETURN(values.emplace_back(), body.Value(*value));
  }
  return values;
}

absl::Status CheckPredicate(const MlirOperation& op, const std::vector<Instruction*>& results) {
  if (results.size() == 1 && SameIgnoringLayout(results[0]->shape(), Predicate()))
    return absl::OkStatus();
  return InvalidArgument(op.name, ": the condition returns one predicate");
}

// A computation of a loop in step: the state that it takes, of each member its predicate and
// values.
struct LoopParts {
  LoopParts(ModuleConverter& module, const Shape& shape,
            const std::vector<std::vector<Instruction*>>& outside)
      : body(module, module.module().AddComputation("region"), nullptr) {
    Instruction* state = body.computation()->AddParameter(0, shape.WithDefaultLayout());
    int64_t next = 0;
    for (const std::vector<Instruction*>& member : outside) {
      holds.push_back(body.Element(state, next++));
      std::vector<Instruction*>& own = values.emplace_back();
      while (own.size() < member.size()) own.push_back(body.Element(state, next++));
    }
  }

  BodyConverter body;
  std::vector<Instruction*> holds;
  std::vector<std::vector<Instruction*>> values;
};

// Whether each branch is the one taken; the last one is where no other is.
absl::StatusOr<std::vector<Instruction*>> BranchesTaken(BodyConverter& body,
                                                        const MlirOperation& op) {
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, body.Operands(op));
  const bool is_if = op.name == "stablehlo.if";
  if (operands.size() != 1 || op.regions.empty() || (is_if && op.regions.size() != 2) ||
      !operands[0]->shape().IsScalar() || IsPred(operands[0]->shape().type) != is_if)
    return InvalidArgument(op.name, ": expected an operand and its branches");
  std::vector<Instruction*> taken;
  Instruction* none = nullptr;
  for (size_t i = 0; i + 1 < op.regions.size(); ++i) {
    taken.push_back(operands[0]);
    if (!is_if)
      taken[i] = body.Add(Opcode::kCompare, Predicate(),
                          {operands[0], body.Splat(static_cast<double>(i), operands[0]->shape())},
                          CompareAttrs{ComparisonDirection::kEq});
    none = Both(body, none, body.Add(Opcode::kNot, {taken[i]}));
  }
  if (none == nullptr) none = body.Splat(1, Predicate());
  taken.push_back(none);
  return taken;
}

}  // namespace

ParallelRun::ParallelRun(BodyConverter& around, const ParallelRun& outside)
    : around_(around),
      op_(outside.op_),
      inside_(true),
      replicas_(outside.replicas_),
      partitions_(outside.partitions_) {
  for (const Process& p : outside.processes_) {
    Process& own = processes_.emplace_back();
    own.replica = p.replica;
    own.partition = p.partition;
    own.done = true;
  }
}

bool ParallelRun::WaitsForOthers(const Process& p, const MlirOperation& op) const {
  return (IsLoop(op) || IsBranch(op)) && MeetingInside(op, p.body->module()) != nullptr;
}

absl::StatusOr<const MlirBlock*> ParallelRun::KnownBranch(Process& p,
                                                          const MlirOperation& op) const {
  if (!IsBranch(op) || op.regions.empty()) return nullptr;
  ASSIGN_OR_RETURN(const std::vector<Instruction*> operands, p.body->Operands(op));
  if (operands.size() != 1 || !operands[0]->shape().IsScalar()) return nullptr;
  const auto index = KnownInts(*operands[0]);
  if (!index) return nullptr;
  const int64_t last = static_cast<int64_t>(op.regions.size()) - 1;
  const int64_t taken = op.name == "stablehlo.if" ? ((*index)[0] != 0 ? 0 : 1) : (*index)[0];
  return BlockOf(op, taken < 0 || taken > last ? last : taken, 0);
}

absl::StatusOr<bool> ParallelRun::RunControl() {
  std::vector<Member> members;
  for (size_t i = 0; i < processes_.size(); ++i) {
    const MlirOperation* op = processes_[i].waits;
    if (op == nullptr || (!IsLoop(*op) && !IsBranch(*op))) continue;
    if (members.empty() || IsLoop(*op) == IsLoop(*members[0].op)) members.push_back({i, op});
  }
  if (members.empty()) return false;
  absl::Status run = IsLoop(*members[0].op) ? RunLoops(members) : RunBranches(members);
  if (!run.ok()) return WithPlace(std::move(run), members[0].op->place);
  return true;
}

absl::StatusOr<ParallelRun::RegionResults> ParallelRun::RunRegion(
    BodyConverter& inside, const std::vector<Member>& members, size_t region,
    const RegionResults& arguments, absl::Span<Instruction* const> guards) {
  ParallelRun run(inside, *this);
  for (size_t i = 0; i < members.size(); ++i) {
    const auto& [process, op] = members[i];
    if (region >= op->regions.size()) continue;
    ASSIGN_OR_RETURN(const MlirBlock* block,
                     BlockOf(*op, region, op->operands.size() - (IsBranch(*op) ? 1 : 0)));
    Process& p = run.processes_[process];
    p.body = std::make_shared<BodyConverter>(inside.module(), inside.computation(),
                                             processes_[process].body.get());
    // A loop's values, and behind them those from outside.
    const std::vector<const MlirValue*> outside = OutsideOf(*processes_[process].body, *op);
    if (arguments[i].size() != block->arguments.size() + outside.size())
      return InvalidArgument(op->name, ": region ", region, " takes other values");
    for (size_t k = 0; k < block->arguments.size(); ++k)
      p.body->Set(block->arguments[k], arguments[i][k]);
    for (size_t k = 0; k < outside.size(); ++k)
      p.body->Set(*outside[k], arguments[i][block->arguments.size() + k]);
    p.frames.push_back({block});
    p.guard = guards[i];
    p.done = false;
  }
  RETURN_IF_ERROR(run.Proceed());
  for (const auto& [channel, values] : run.sent_)
    if (!values.empty())
      return Unimplemented("stablehlo.send inside of ", members[0].op->name,
                           ", received outside of it, has no equal in HLO");
  RegionResults results;
  for (const Member& member : members)
    results.push_back(std::move(run.processes_[member.process].results));
  return results;
}

absl::Status ParallelRun::RunLoops(const std::vector<Member>& members) {
  RegionResults values;
  std::vector<Instruction*> guards, state;
  for (const auto& [process, op] : members) {
    BodyConverter& body = *processes_[process].body;
    RETURN_IF_ERROR(CheckRegions(*op, 2));
    if (op->results.size() != op->operands.size())
      return InvalidArgument(op->name, ": expected as many results as operands");
    ASSIGN_OR_RETURN(values.emplace_back(), ValuesOf(body, *op, op->operands));
    guards.push_back(processes_[process].guard);
  }
  ASSIGN_OR_RETURN(RegionResults holds, RunRegion(around_, members, 0, values, guards));
  for (size_t i = 0; i < members.size(); ++i) {
    RETURN_IF_ERROR(CheckPredicate(*members[i].op, holds[i]));
    state.push_back(Both(around_, guards[i], holds[i][0]));
    state.insert(state.end(), values[i].begin(), values[i].end());
  }
  Instruction* start = around_.Tuple(state);
  ModuleConverter& module = around_.module();
  LoopParts condition(module, start->shape(), values), step(module, start->shape(), values);
  Instruction* any = condition.holds[0];
  for (size_t i = 1; i < members.size(); ++i)
    any = condition.body.Add(Opcode::kOr, {any, condition.holds[i]});
  condition.body.Return({any});

  ASSIGN_OR_RETURN(const RegionResults next,
                   RunRegion(step.body, members, 1, step.values, step.holds));
  for (size_t i = 0; i < members.size(); ++i) {
    if (next[i].size() != members[i].op->operands.size())
      return InvalidArgument(members[i].op->name, ": the body returns ", next[i].size(),
                             " values, expected ", members[i].op->operands.size());
    for (size_t k = 0; k < next[i].size(); ++k) {
      ASSIGN_OR_RETURN(step.values[i][k],
                       Chosen(step.body, step.holds[i], next[i][k], step.values[i][k]));
    }
  }
  ASSIGN_OR_RETURN(holds, RunRegion(step.body, members, 0, step.values, step.holds));
  std::vector<Instruction*> after;
  for (size_t i = 0; i < members.size(); ++i) {
    RETURN_IF_ERROR(CheckPredicate(*members[i].op, holds[i]));
    after.push_back(Both(step.body, step.holds[i], holds[i][0]));
    after.insert(after.end(), step.values[i].begin(), step.values[i].end());
  }
  step.body.Return(after, /*always_tuple=*/true);

  Instruction* loop = around_.Add(Opcode::kWhile, start->shape(), {start});
  loop->set_called({condition.body.computation(), step.body.computation()});
  int64_t place = 0;
  for (size_t i = 0; i < members.size(); ++i) {
    std::vector<Instruction*> results;
    for (size_t k = 0; k < members[i].op->operands.size(); ++k)
      results.push_back(around_.Element(loop, place + 1 + static_cast<int64_t>(k)));
    place += 1 + static_cast<int64_t>(values[i].size());
    Finish(processes_[members[i].process], results);
  }
  return absl::OkStatus();
}

absl::Status ParallelRun::RunBranches(const std::vector<Member>& members) {
  RegionResults values, taken, results;  // of each member: whether it takes a branch
  size_t most = 0;
  for (const auto& [process, op] : members) {
    ASSIGN_OR_RETURN(values.emplace_back(), ValuesOf(*processes_[process].body, *op, {}));
    ASSIGN_OR_RETURN(taken.emplace_back(), BranchesTaken(*processes_[process].body, *op));
    results.emplace_back();
    most = std::max(most, op->regions.size());
  }
  for (size_t branch = 0; branch < most; ++branch) {
    std::vector<Instruction*> guards;
    for (size_t i = 0; i < members.size(); ++i)
      guards.push_back(branch >= taken[i].size()
                           ? nullptr
                           : Both(around_, processes_[members[i].process].guard, taken[i][branch]));
    ASSIGN_OR_RETURN(const RegionResults made, RunRegion(around_, members, branch, values, guards));
    for (size_t i = 0; i < members.size(); ++i) {
      if (branch >= taken[i].size()) continue;
      const MlirOperation& op = *members[i].op;
      if (made[i].size() != op.results.size())
        return InvalidArgument(op.name, ": branch ", branch, " returns ", made[i].size(),
                               " values, expected ", op.results.size());
      if (branch == 0) results[i] = made[i];
      for (size_t k = 0; k < made[i].size(); ++k) {
        ASSIGN_OR_RETURN(results[i][k],
                         Chosen(around_, taken[i][branch], made[i][k], results[i][k]));
      }
    }
  }
  for (size_t i = 0; i < members.size(); ++i) Finish(processes_[members[i].process], results[i]);
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
