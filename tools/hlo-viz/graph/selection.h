// Which instructions a picture shows: a whole module, a computation, what is near, what lies
// between.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "tools/hlo-viz/graph/module_index.h"

namespace hlokit {

struct Selection {
  std::string title;                             // "Neighbourhood of add.5, 2 steps"
  std::vector<const Instruction*> instructions;  // each once, in the order of the text
  const Instruction* centre = nullptr;           // to be highlighted, or null
};

// Every computation that the entry reaches.
Selection WholeModule(const ModuleIndex& index);

// The instructions of one computation; with `with_called`, also of those that it calls, fusions
// aside (these are drawn by their fusion).
Selection OneComputation(const ModuleIndex& index, const Computation& computation,
                         bool with_called);

struct NeighbourhoodOptions {
  int radius = 2;  // steps; a bitcast costs none
  bool operands = true, users = true;
  // Instructions beyond which nothing is shown.
  absl::flat_hash_set<const Instruction*> boundary;
  // More users than this of one instruction are left out, unless it is the centre.
  int64_t most_users = 16;
};

// What is at most `radius` steps away in the same computation. Tuples are reached, not crossed,
// unless they are the centre.
Selection Neighbourhood(const ModuleIndex& index, const Instruction& centre,
                        const NeighbourhoodOptions& options);

// What lies on any path from `from` to `to`, which stand in one computation, along operands and
// control edges; where these are more than `most`, those on the shortest paths. NotFound where
// there is no path in this direction; InvalidArgument where they stand in different computations.
absl::StatusOr<Selection> AllPaths(const ModuleIndex& index, const Instruction& from,
                                   const Instruction& to,
                                   size_t most = std::numeric_limits<size_t>::max());

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
