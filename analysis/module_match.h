// Which instruction of one module is which of another: matched by what they compute and by what
// uses them, not by name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/module.h"

namespace hlokit {

// What two matched instructions can differ in; bits.
enum MatchAspect : uint32_t {
  kOpcodeAspect = 1 << 0,
  kShapeAspect = 1 << 1,     // element type or dimensions
  kLayoutAspect = 1 << 2,    // where the shapes are otherwise equal
  kOperandsAspect = 1 << 3,  // an operand is not the match of the other's
  kAttributesAspect = 1 << 4,
  kCalledAspect = 1 << 5,  // calls a computation that is not the match of the other's
  kShardingAspect = 1 << 6,
  kBackendConfigAspect = 1 << 7,
  kFrontendAspect = 1 << 8,
  kControlAspect = 1 << 9,  // the number of control predecessors
  kMetadataAspect = 1 << 10,
};
// "shape, operands": names of the bits, joined.
std::string AspectsText(uint32_t aspects);

class ModuleMatch {
 public:
  ModuleMatch(const Module& before, const Module& after);

  // The partner in the other module; null where it has none.
  const Instruction* AfterOf(const Instruction* before) const { return after_of_[before->id()]; }
  const Instruction* BeforeOf(const Instruction* after) const { return before_of_[after->id()]; }
  const Computation* AfterOf(const Computation* before) const {
    return computation_after_of_[before->id()];
  }
  const Computation* BeforeOf(const Computation* after) const {
    return computation_before_of_[after->id()];
  }

  // What a matched instruction and its partner differ in; 0 where they are the same.
  uint32_t Aspects(const Instruction* before) const;

 private:
  friend class ComputationMatcher;
  void Pair(const Instruction* before, const Instruction* after);
  void Pair(const Computation* before, const Computation* after);
  bool SameCalled(const Instruction& before, const Instruction& after) const;
  void MatchComputations();

  std::vector<uint64_t> before_hashes_, after_hashes_;  // of what instructions compute, by id
  std::vector<uint64_t> before_uses_, after_uses_;      // of what they are used for
  std::vector<const Instruction*> after_of_, before_of_;
  std::vector<const Computation*> computation_after_of_, computation_before_of_;
  std::vector<std::pair<const Computation*, const Computation*>> pending_;
};

// How two modules differ, counted.
struct ModuleDifference {
  std::vector<const Instruction*> removed;  // of the first, without partner
  std::vector<const Instruction*> added;    // of the second, without partner
  std::vector<const Instruction*> changed;  // of the first, with a partner that differs
  int64_t same = 0;
  std::vector<std::string> header;  // a line for each difference of the HloModule line
  bool empty() const {
    return removed.empty() && added.empty() && changed.empty() && header.empty();
  }
};

// `ignored` holds the aspects that do not count (most callers: kMetadataAspect). Instructions in
// the printing order of their computations.
ModuleDifference Difference(const Module& before, const Module& after, const ModuleMatch& match,
                            uint32_t ignored = kMetadataAspect);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
