// The walk of computation passes.
#include "passes/pass.h"

#include "support/status.h"

namespace hlokit {
namespace {

class ModuleFunctionPass final : public Pass {
 public:
  ModuleFunctionPass(absl::string_view name, absl::StatusOr<bool> (*run)(Module&))
      : name_(name), run_(run) {}
  absl::string_view name() const override { return name_; }
  absl::StatusOr<bool> Run(Module& module) override { return run_(module); }

 private:
  absl::string_view name_;
  absl::StatusOr<bool> (*run_)(Module&);
};

class ComputationFunctionPass final : public ComputationPass {
 public:
  ComputationFunctionPass(absl::string_view name, absl::StatusOr<bool> (*run)(Computation&))
      : name_(name), run_(run) {}
  absl::string_view name() const override { return name_; }
  absl::StatusOr<bool> RunOnComputation(Computation& c) override { return run_(c); }

 private:
  absl::string_view name_;
  absl::StatusOr<bool> (*run_)(Computation&);
};

}  // namespace

std::unique_ptr<Pass> MakeModulePass(absl::string_view name, absl::StatusOr<bool> (*run)(Module&)) {
  return std::make_unique<ModuleFunctionPass>(name, run);
}

std::unique_ptr<Pass> MakeComputationPass(absl::string_view name,
                                          absl::StatusOr<bool> (*run)(Computation&)) {
  return std::make_unique<ComputationFunctionPass>(name, run);
}

std::vector<bool> RunningComputations(const Module& module) {
  std::vector<bool> running(module.computation_id_bound(), false);
  std::vector<const Computation*> work = {module.entry()};
  running[module.entry()->id()] = true;
  while (!work.empty()) {
    const Computation* c = work.back();
    work.pop_back();
    for (const Instruction* i : c->Instructions()) {
      const bool runs = i->opcode() == Opcode::kWhile || i->opcode() == Opcode::kConditional ||
                        i->opcode() == Opcode::kCall || i->opcode() == Opcode::kAsyncStart;
      if (!runs) continue;
      for (const Computation* called : i->called()) {
        if (running[called->id()]) continue;
        running[called->id()] = true;
        work.push_back(called);
      }
    }
  }
  return running;
}

absl::StatusOr<bool> ComputationPass::Run(Module& module) {
  const std::vector<bool> running = RunningComputations(module);
  bool changed = false;
  for (Computation* c : module.ComputationsPostOrder()) {
    if (!into_fusions() && !running[c->id()]) continue;
    ASSIGN_OR_RETURN(const bool here, RunOnComputation(*c));
    changed |= here;
  }
  return changed;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
