// Pass classes over functions, and which computations a computation pass visits: those that run
// (the entry, bodies, branches, callees), on request also reducers and comparators, and the insides
// of fusions. Callees come before callers.
#include "passes/framework/pass.h"

#include "support/status.h"

namespace hlokit {
namespace {

// The functions may or may not take the control; one class serves both.
template <typename Base, typename Unit>
class FunctionPass : public Base {
 public:
  using Plain = absl::StatusOr<bool> (*)(Unit&);
  using Controlled = absl::StatusOr<bool> (*)(Unit&, RewriteControl&);
  FunctionPass(absl::string_view name, Plain run) : name_(name), plain_(run) {}
  FunctionPass(absl::string_view name, Controlled run) : name_(name), controlled_(run) {}
  absl::string_view name() const override { return name_; }

 protected:
  absl::StatusOr<bool> Apply(Unit& unit) {
    return plain_ != nullptr ? plain_(unit) : controlled_(unit, this->control());
  }

 private:
  absl::string_view name_;
  Plain plain_ = nullptr;
  Controlled controlled_ = nullptr;
};

class ModuleFunctionPass final : public FunctionPass<Pass, Module> {
 public:
  using FunctionPass::FunctionPass;
  absl::StatusOr<bool> Run(Module& module) override { return Apply(module); }
};

class ComputationFunctionPass final : public FunctionPass<ComputationPass, Computation> {
 public:
  using FunctionPass::FunctionPass;
  absl::StatusOr<bool> RunOnComputation(Computation& c) override { return Apply(c); }
};

class PermitAll final : public RewriteControl {
 public:
  bool Permit(absl::string_view, const Instruction&, const Instruction&) override { return true; }
};

}  // namespace

RewriteControl& Pass::control() const {
  static PermitAll permit_all;
  return control_ != nullptr ? *control_ : permit_all;
}

std::unique_ptr<Pass> MakeModulePass(absl::string_view name, absl::StatusOr<bool> (*run)(Module&)) {
  return std::make_unique<ModuleFunctionPass>(name, run);
}

std::unique_ptr<Pass> MakeModulePass(absl::string_view name,
                                     absl::StatusOr<bool> (*run)(Module&, RewriteControl&)) {
  return std::make_unique<ModuleFunctionPass>(name, run);
}

std::unique_ptr<Pass> MakeComputationPass(absl::string_view name,
                                          absl::StatusOr<bool> (*run)(Computation&)) {
  return std::make_unique<ComputationFunctionPass>(name, run);
}

std::unique_ptr<Pass> MakeComputationPass(absl::string_view name,
                                          absl::StatusOr<bool> (*run)(Computation&,
                                                                      RewriteControl&)) {
  return std::make_unique<ComputationFunctionPass>(name, run);
}

namespace {

bool RunsWhatItCalls(const Instruction& i) {
  return i.opcode() == Opcode::kWhile || i.opcode() == Opcode::kConditional ||
         i.opcode() == Opcode::kCall || i.opcode() == Opcode::kAsyncStart;
}

// The entry, and what it comes to by calls of instructions that `follow` accepts.
template <typename Follow>
std::vector<bool> Reached(const Module& module, Follow follow) {
  std::vector<bool> running(module.computation_id_bound(), false);
  std::vector<const Computation*> work = {module.entry()};
  running[module.entry()->id()] = true;
  while (!work.empty()) {
    const Computation* c = work.back();
    work.pop_back();
    for (const Instruction* i : c->Instructions()) {
      if (!follow(*i)) continue;
      for (const Computation* called : i->called()) {
        if (running[called->id()]) continue;
        running[called->id()] = true;
        work.push_back(called);
      }
    }
  }
  return running;
}

}  // namespace

std::vector<bool> RunningComputations(const Module& module) {
  return Reached(module, RunsWhatItCalls);
}

absl::StatusOr<bool> ComputationPass::Run(Module& module) {
  const bool applied = into_applied();
  const std::vector<bool> running = Reached(module, [applied](const Instruction& i) {
    return applied ? i.opcode() != Opcode::kFusion : RunsWhatItCalls(i);
  });
  bool changed = false;
  std::vector<int64_t> ids;
  for (const Computation* c : module.ComputationsPostOrder())
    if (into_fusions() || running[c->id()]) ids.push_back(c->id());
  for (const int64_t id : ids) {
    // An earlier step may have removed computations that nothing calls any more.
    Computation* c = module.FindComputation(id);
    if (c == nullptr) continue;
    ASSIGN_OR_RETURN(const bool here, RunOnComputation(*c));
    changed |= here;
  }
  return changed;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
