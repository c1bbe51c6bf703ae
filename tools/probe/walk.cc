// Loops are run here, a round at a time; everything between calls on the side itself.
#include "tools/probe/walk.h"

#include "absl/strings/str_cat.h"
#include "ops/evaluate/control.h"
#include "passes/rewrite/extract.h"
#include "support/status.h"

namespace hlokit {
namespace {

absl::StatusOr<CompiledModule> ProgramOf(const Side& side, const Computation& computation) {
  ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ExtractComputation(computation));
  return CompiledModule::Make(side, std::move(module));
}

absl::Status ForEachRound(const Side& side, const Instruction& loop, const Literal& init,
                          const VisitRun& visit) {
  const Computation& condition = *loop.called(0);
  const Computation& body = *loop.called(1);
  ASSIGN_OR_RETURN(const CompiledModule test, ProgramOf(side, condition));
  ASSIGN_OR_RETURN(const CompiledModule step, ProgramOf(side, body));
  Literal state;
  const Literal* current = &init;
  for (int64_t round = 0;; ++round) {
    ASSIGN_OR_RETURN(bool on, visit(condition, round, {current}));
    if (!on) return absl::OkStatus();
    ASSIGN_OR_RETURN(const Literal holds, test.Run({current}));
    if (holds.GetInt(0) == 0) return absl::OkStatus();
    ASSIGN_OR_RETURN(on, visit(body, round, {current}));
    if (!on) return absl::OkStatus();
    ASSIGN_OR_RETURN(state, step.Run({current}));
    current = &state;
  }
}

}  // namespace

std::string Text(const CallPath& path) {
  std::string text;
  for (const CallPathStep& site : path) {
    text += site.caller->name();
    if (site.round >= 0) absl::StrAppend(&text, "[", site.round, "]");
    text += '/';
  }
  return text;
}

bool RunsComputations(Opcode opcode) {
  return opcode == Opcode::kWhile || opcode == Opcode::kConditional || opcode == Opcode::kCall ||
         opcode == Opcode::kFusion;
}

absl::Status ForEachRun(const Side& side, const Instruction& caller,
                        absl::Span<const Literal* const> operands, const VisitRun& visit) {
  if (!RunsComputations(caller.opcode()) || caller.called().empty()) return absl::OkStatus();
  if (caller.opcode() == Opcode::kWhile) return ForEachRound(side, caller, *operands[0], visit);
  if (caller.opcode() != Opcode::kConditional)
    return visit(*caller.to_apply(), -1, operands).status();
  const int64_t branch = BranchIndex(*operands[0], static_cast<int64_t>(caller.called().size()));
  return visit(*caller.called(branch), -1, {operands[branch + 1]}).status();
}

ComputationSet ComputationsWith(const Module& module,
                                const std::function<bool(const Instruction&)>& wanted) {
  ComputationSet found;
  for (const Computation* c : module.ComputationsPostOrder())  // called ones first
    for (const Instruction* i : c->Instructions()) {
      bool holds = wanted(*i);
      if (RunsComputations(i->opcode()))
        for (const Computation* called : i->called()) holds |= found.contains(called);
      if (holds) found.insert(c);
    }
  return found;
}

namespace {

class Walker {
 public:
  Walker(const Side& side, const ComputationSet& into, const VisitPath& visit)
      : side_(side), into_(into), visit_(visit) {}

  // Nests as deep as the module's calls do, which a parser's limit keeps from being deep.
  absl::StatusOr<bool> Walk(const Computation& computation,
                            absl::Span<const Literal* const> arguments) {
    ASSIGN_OR_RETURN(bool on, visit_(path_, computation, arguments));
    for (const Instruction* i : computation.ScheduleOrPostOrder()) {
      if (!on) return false;
      if (!CallsInto(*i)) continue;
      ASSIGN_OR_RETURN(const std::vector<Literal> operands, OperandValues(side_, *i, arguments));
      path_.push_back({i, -1});
      RETURN_IF_ERROR(
          ForEachRun(side_, *i, PointersTo(operands),
                     [&](const Computation& called, int64_t round,
                         absl::Span<const Literal* const> given) -> absl::StatusOr<bool> {
                       path_.back().round = round;
                       if (!into_.contains(&called)) return true;
                       ASSIGN_OR_RETURN(on, Walk(called, given));
                       return on;
                     }));
      path_.pop_back();
    }
    return on;
  }

 private:
  bool CallsInto(const Instruction& i) const {
    if (!RunsComputations(i.opcode())) return false;
    for (const Computation* called : i.called())
      if (into_.contains(called)) return true;
    return false;
  }

  const Side& side_;
  const ComputationSet& into_;
  const VisitPath& visit_;
  CallPath path_;
};

}  // namespace

absl::Status WalkRuns(const Side& side, const Module& module,
                      absl::Span<const Literal* const> arguments, const ComputationSet& into,
                      const VisitPath& visit) {
  return Walker(side, into, visit).Walk(*module.entry(), arguments).status();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
