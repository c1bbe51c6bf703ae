// What a walk over a module finds once for everything that draws it: who calls what, in which order
// the text stands.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/module.h"

namespace hlokit {

// Stays valid while the module is not changed.
class ModuleIndex {
 public:
  explicit ModuleIndex(const Module& module);

  const Module& module() const { return *module_; }
  // In the order of the printed text: callees first.
  const std::vector<const Computation*>& computations() const { return computations_; }
  // In the order of the printed text; a snapshot.
  std::vector<const Instruction*> Instructions(const Computation& computation) const;
  // Instructions that call it; empty for the entry and what nothing calls.
  const std::vector<const Instruction*>& callers(const Computation& computation) const {
    return callers_[computation.id()];
  }
  // The body of a fusion.
  bool IsFused(const Computation& computation) const;
  // Two parameters and the one operation on them that is the result: `add` of a reduce. Such a body
  // is named, not drawn. Null where the computation is more than that.
  const Instruction* OneOperation(const Computation& computation) const;

  // The computation of that name, with or without `%`; NotFound names the nearest one.
  absl::StatusOr<const Computation*> FindComputation(absl::string_view name) const;

 private:
  const Module* module_;
  std::vector<const Computation*> computations_;
  std::vector<std::vector<const Instruction*>> callers_;  // by computation id
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
