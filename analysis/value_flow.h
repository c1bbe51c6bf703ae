// Values: which arrays a module's instructions make, who reads them when, and where control flow
// joins them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"

namespace hlokit {

// One array (or token) that exists at run time. Times count instructions of the module as executed
// in order, the computations that a while, conditional or call runs standing inside their caller's
// time.
struct FlowValue {
  enum class Kind : uint8_t { kComputed, kParameter, kConstant };
  Kind kind = Kind::kComputed;
  const Instruction* def = nullptr;
  int64_t leaf = 0;
  int64_t size = 0;    // bytes; 0: needs no memory
  int64_t number = 0;  // kParameter: leaf number among the entry's
  int64_t begin = 0;   // time of the write
  int64_t end = 0;     // time of the last read
};

// Control flow hands value `from` on as `to` (loop entry, loop back edge, branch end, module
// result).
struct FlowEdge {
  enum class Kind : uint8_t { kLoopEntry, kLoopBack, kBranch, kOutput };
  Kind kind;
  const Instruction* at;  // the while or conditional; null for the module's result
  int64_t branch = 0;
  int from, to;  // value numbers; for kOutput `to` is the leaf number of the result
};

class ValueFlow {
 public:
  static absl::StatusOr<ValueFlow> Make(const Module& module);

  std::vector<FlowValue> values;
  std::vector<FlowEdge> edges;
  std::vector<std::pair<int, int>>
      joined;  // pairs that are one buffer by nature: a loop's state and its result
  std::vector<std::vector<int>>
      by_instruction;                     // instruction id -> value number by leaf; -1 for tokens
  std::vector<const Instruction*> order;  // instructions as executed, each once
  std::vector<int64_t> time;              // instruction id -> time (start)
  int64_t end_time = 0;
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
