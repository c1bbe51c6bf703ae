// memory-space-assignment: assigns short-lived buffers to a small fast memory space.
// Puts arrays that an instruction makes and plain instructions of the same computation read into
// memory `space` (1) for all of their lives, those first that cost fewest bytes per read, as long
// as never more than `bytes` (16 MiB) lie there at once; what loops, calls and branches put there
// counts with what lies there around them. Greedy, without copies between the memories: parameters,
// constants, results, parts of tuples and what lives longer than 1000 instructions stay. Values
// stay as they were, and schedules. Cost: linear, times the longest life.
//
// Live ranges of arrays, and which of them fit the fast memory space together.
#include <algorithm>
#include <limits>

#include "absl/container/flat_hash_map.h"
#include "analysis/instruction_cost.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/memory_spaces.h"

namespace hlokit {
namespace {

constexpr size_t kLongestLife = 1000;  // instructions

// From the place where it is made to that of its last reader.
struct Life {
  Instruction* made;
  size_t begin, end;
  double cost;  // bytes kept for one read
};

// Neither control flow nor anything that hands its operands or results on as they are.
bool IsPlainInstruction(const Instruction* i) {
  const Opcode op = i->opcode();
  return !CostsNothing(op) && op != Opcode::kCustomCall && op != Opcode::kDynamicUpdateSlice &&
         op != Opcode::kScatter && !HasTrait(op, kCollective) && !HasTrait(op, kAsyncStart) &&
         !HasTrait(op, kAsyncDone) && !i->HasSideEffect() && i->shape().IsArray() &&
         i->shape().has_layout && SpaceOf(i->shape()) == 0;
}

class Assignment {
 public:
  Assignment(int64_t bytes, int64_t space, RewriteControl& control)
      : bytes_(bytes), space_(space), control_(control) {}

  bool Run(const Module& module) {
    const std::vector<bool> running = RunningComputations(module);
    std::vector<Computation*> order = module.ComputationsPostOrder();
    std::reverse(order.begin(), order.end());  // callers first
    bool changed = false;
    for (Computation* c : order)
      if (running[c->id()]) changed |= Place(*c);
    return changed;
  }

 private:
  bool Place(const Computation& c) {
    const std::vector<Instruction*> order = c.ScheduleOrPostOrder();
    const auto known = free_bytes_.find(&c);
    std::vector<int64_t> free(order.size(), known == free_bytes_.end() ? bytes_ : known->second);
    bool changed = false;
    for (const Life& life : LivesOf(order)) {
      const int64_t bytes = life.made->shape().ByteSize();
      const auto first = free.begin() + static_cast<std::ptrdiff_t>(life.begin);
      const auto last = free.begin() + static_cast<std::ptrdiff_t>(life.end) + 1;
      if (*std::min_element(first, last) < bytes ||
          !control_.Permit("memory-space-assignment", *life.made, *life.made))
        continue;
      for (auto at = first; at != last; ++at) *at -= bytes;
      life.made->set_shape(InSpace(life.made->shape(), space_));
      changed = true;
    }
    for (size_t k = 0; k < order.size(); ++k)
      for (const Computation* called : order[k]->called()) {
        int64_t& left =
            free_bytes_.try_emplace(called, std::numeric_limits<int64_t>::max()).first->second;
        left = std::min(left, free[k]);
      }
    return changed;
  }

  static std::vector<Life> LivesOf(const std::vector<Instruction*>& order) {
    absl::flat_hash_map<const Instruction*, size_t> place;
    for (size_t k = 0; k < order.size(); ++k) place[order[k]] = k;
    std::vector<Life> lives;
    for (size_t k = 0; k < order.size(); ++k) {
      Instruction* i = order[k];
      const bool plain = IsPlainInstruction(i) && !i->IsRoot() && !i->users().empty() &&
                         std::all_of(i->users().begin(), i->users().end(), IsPlainInstruction);
      if (!plain) continue;
      size_t end = k;
      for (const Instruction* user : i->users()) end = std::max(end, place.at(user));
      if (end - k > kLongestLife) continue;
      const auto reads = static_cast<double>(i->users().size() + 1);
      lives.push_back(
          {i, k, end,
           static_cast<double>(i->shape().ByteSize()) * static_cast<double>(end - k + 1) / reads});
    }
    std::stable_sort(lives.begin(), lives.end(),
                     [](const Life& a, const Life& b) { return a.cost < b.cost; });
    return lives;
  }

  int64_t bytes_, space_;
  RewriteControl& control_;
  absl::flat_hash_map<const Computation*, int64_t> free_bytes_;  // what callers leave
};

class MemorySpaceAssignment final : public Pass {
 public:
  MemorySpaceAssignment(int64_t bytes, int64_t space) : bytes_(bytes), space_(space) {}
  absl::string_view name() const override { return "memory-space-assignment"; }
  bool handles_schedules() const override { return true; }
  absl::StatusOr<bool> Run(Module& module) override {
    return space_ > 0 && Assignment(bytes_, space_, control()).Run(module);
  }

 private:
  int64_t bytes_, space_;
};

}  // namespace

std::unique_ptr<Pass> CreateMemorySpaceAssignment(PassArguments& arguments) {
  const int64_t bytes =
      arguments.Int("bytes", int64_t{16} << 20, "at most so many lie there at once");
  return std::make_unique<MemorySpaceAssignment>(
      bytes, arguments.Int("space", 1, "the number of the memory, above 0"));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
