// Dead code elimination: instructions without users or effects, from users to operands in one pass;
// then computations that the entry cannot reach. Linear.
#include "passes/cleanup/dce.h"

#include "passes/rewrite/dead_code.h"

namespace hlokit {
namespace {

absl::StatusOr<bool> Run(Module& module) {
  bool changed = false;
  for (Computation* c : module.Computations()) changed |= RemoveDead(*c);
  return RemoveUncalled(module) || changed;
}

}  // namespace

std::unique_ptr<Pass> CreateDce() { return MakeModulePass("dce", Run); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
