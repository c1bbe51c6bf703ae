// From flags to a selection.
#include "tools/hlo-viz/select.h"

#include "passes/rewrite/extract.h"
#include "support/status.h"

namespace hlokit {
namespace {

absl::StatusOr<Selection> SelectNear(const ModuleIndex& index, const VizOptions& o) {
  NeighbourhoodOptions near;
  near.radius = o.radius;
  near.users = o.operands_of.empty();
  near.operands = o.users_of.empty();
  const std::string& name = !o.instruction.empty()   ? o.instruction
                            : !o.operands_of.empty() ? o.operands_of
                                                     : o.users_of;
  ASSIGN_OR_RETURN(const Instruction* centre, FindInstruction(index.module(), name));
  for (const std::string& stop : o.boundary) {
    ASSIGN_OR_RETURN(const Instruction* found, FindInstruction(index.module(), stop));
    near.boundary.insert(found);
  }
  return Neighbourhood(index, *centre, near);
}

absl::StatusOr<Selection> SelectPaths(const ModuleIndex& index, const VizOptions& o) {
  if (o.from.empty() || o.to.empty())
    return InvalidArgument("--from and --to go together: all paths from one to the other");
  ASSIGN_OR_RETURN(const Instruction* from, FindInstruction(index.module(), o.from));
  ASSIGN_OR_RETURN(const Instruction* to, FindInstruction(index.module(), o.to));
  return AllPaths(index, *from, *to);
}

}  // namespace

const Computation* WholeComputation(const ModuleIndex& index, const VizOptions& o) {
  if (!o.instruction.empty() || !o.from.empty() || !o.to.empty() || !o.operands_of.empty() ||
      !o.users_of.empty())
    return nullptr;
  if (o.computation.empty()) return index.module().entry();
  const auto found = index.FindComputation(o.computation);
  return found.ok() ? *found : nullptr;
}

absl::StatusOr<Selection> Select(const ModuleIndex& index, const VizOptions& o) {
  const int kinds = !o.computation.empty() + !o.instruction.empty() +
                    (!o.from.empty() || !o.to.empty()) + !o.operands_of.empty() +
                    !o.users_of.empty();
  if (kinds > 1)
    return InvalidArgument(
        "--computation, --instruction, --from and --to, --operands-of and --users-of exclude each "
        "other");
  if (!o.boundary.empty() && o.instruction.empty() && o.operands_of.empty() && o.users_of.empty())
    return InvalidArgument(
        "--boundary limits what --instruction, --operands-of or --users-of draw");
  if (kinds == 0) return WholeModule(index);
  if (!o.from.empty() || !o.to.empty()) return SelectPaths(index, o);
  if (o.computation.empty()) return SelectNear(index, o);
  ASSIGN_OR_RETURN(const Computation* computation, index.FindComputation(o.computation));
  return OneComputation(index, *computation, true);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
