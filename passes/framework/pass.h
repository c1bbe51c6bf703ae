// What a pass is: a rewrite of a module that says whether it changed anything.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/module.h"
#include "passes/framework/rewrite_control.h"

namespace hlokit {

// A pass never prints, times or verifies; the pass manager does. Results are valid modules of equal
// value.
class Pass {
 public:
  virtual ~Pass() = default;
  // As --passes takes it.
  virtual absl::string_view name() const = 0;
  // True if the module changed.
  virtual absl::StatusOr<bool> Run(Module& module) = 0;
  // True for the few passes that make, change or drop schedules: others see none, and what was
  // scheduled stays so only where they change nothing.
  virtual bool handles_schedules() const { return false; }

  // Whom the pass asks before each local rewrite; null: nobody, all may happen.
  void set_control(RewriteControl* control) { control_ = control; }

 protected:
  RewriteControl& control() const;

 private:
  RewriteControl* control_ = nullptr;
};

// A pass over each computation that runs on its own, and, where it says so, over the scalar
// functions of reduce, sort and the like (into_applied), or these and bodies of fusions
// (into_fusions).
class ComputationPass : public Pass {
 public:
  absl::StatusOr<bool> Run(Module& module) override;
  virtual absl::StatusOr<bool> RunOnComputation(Computation& computation) = 0;
  virtual bool into_fusions() const { return false; }
  virtual bool into_applied() const { return false; }
};

// A pass that is one function: over the module, or over each computation that runs on its own. One
// that makes many local rewrites takes the control too, and asks it before each.
std::unique_ptr<Pass> MakeModulePass(absl::string_view name, absl::StatusOr<bool> (*run)(Module&));
std::unique_ptr<Pass> MakeModulePass(absl::string_view name,
                                     absl::StatusOr<bool> (*run)(Module&, RewriteControl&));
std::unique_ptr<Pass> MakeComputationPass(absl::string_view name,
                                          absl::StatusOr<bool> (*run)(Computation&));
std::unique_ptr<Pass> MakeComputationPass(absl::string_view name,
                                          absl::StatusOr<bool> (*run)(Computation&,
                                                                      RewriteControl&));

// True for the computations that run on their own: the entry and what while, conditional, call and
// async-start run. By computation id.
std::vector<bool> RunningComputations(const Module& module);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
