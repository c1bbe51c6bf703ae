// A module as a tree of scopes: computations, the scopes of op_names, and of what is too long to be
// looked at in one piece, blocks that come again and again, such as layers, and other parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/hlo-viz/graph/module_index.h"

namespace hlokit {

struct Scope {
  enum class Kind : uint8_t {
    kComputation,  // the root of a computation's tree
    kNamed,        // `layer_0/attention`, of op_names
    kPart,         // a stretch of a longer scope, as parts.h cuts it
    kRepeats,      // one whose children look alike
  };
  Kind kind = Kind::kComputation;
  int parent = -1;  // -1: a computation
  std::string label;
  const Computation* computation = nullptr;
  std::vector<int> children;                     // scopes directly inside
  std::vector<const Instruction*> instructions;  // directly inside, in the order of the text
  int64_t size = 0;                              // instructions inside, at any depth
};

class ScopeTree {
 public:
  explicit ScopeTree(const ModuleIndex& index);

  // Parents before children; a computation's scopes stand together.
  const std::vector<Scope>& scopes() const { return scopes_; }
  int root_of(const Computation& computation) const { return root_of_[computation.id()]; }
  int scope_of(const Instruction& instruction) const { return scope_of_[instruction.id()]; }
  // The child of `scope` (a scope's number, or -1 where it stands there itself) that holds
  // `instruction`, which is inside `scope`.
  int ChildHolding(int scope, const Instruction& instruction) const;

 private:
  friend class ScopeBuilder;
  std::vector<Scope> scopes_;
  std::vector<int> root_of_;   // by computation id
  std::vector<int> scope_of_;  // by instruction id
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
