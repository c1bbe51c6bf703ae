// Depths, and searches that they bound.
#include "passes/fusions/ways.h"

#include <algorithm>
#include <climits>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"

namespace hlokit {
namespace {

constexpr size_t kMaxVisited = 256;  // in one search for a way

}  // namespace

// It grows along every edge.
void Ways::SetDepth(const Instruction* i) {
  int depth = 0;
  for (const Instruction* operand : i->operands())
    depth = std::max(depth, depth_[operand->id()] + 1);
  for (const Instruction* before : i->control_predecessors())
    depth = std::max(depth, depth_[before->id()] + 1);
  depth_[i->id()] = depth;
}

// What stands after a new instruction may have come to stand deeper.
void Ways::Deepen(Instruction* from) {
  std::vector<Instruction*> work = {from};
  while (!work.empty()) {
    const Instruction* i = work.back();
    work.pop_back();
    const int least = depth_[i->id()] + 1;
    const auto visit = [&](Instruction* next) {
      if (depth_[next->id()] >= least) return;
      depth_[next->id()] = least;
      work.push_back(next);
    };
    for (Instruction* user : i->users()) visit(user);
    for (Instruction* after : i->control_successors()) visit(after);
  }
}

bool Ways::HasWay(const Members& starts, const Members& ends, const Members& inside) {
  int least = INT_MAX;
  for (const Instruction* end : ends) least = std::min(least, depth_[end->id()]);
  absl::flat_hash_set<const Instruction*> seen;
  std::vector<const Instruction*> work;
  const auto visit = [&](const Instruction* i) {
    if (depth_[i->id()] >= least && seen.insert(i).second) work.push_back(i);
  };
  for (const Instruction* start : starts)
    for (const Instruction* operand : start->operands())
      if (!absl::c_linear_search(inside, operand)) visit(operand);
  while (!work.empty()) {
    const Instruction* i = work.back();
    work.pop_back();
    if (absl::c_linear_search(ends, i) || seen.size() > kMaxVisited) return true;
    for (const Instruction* operand : i->operands()) visit(operand);
    for (const Instruction* before : i->control_predecessors()) visit(before);
  }
  return false;
}

void Ways::Merged(absl::Span<Instruction* const> parts) {
  SetDepth(parts[0]->operand(0));
  for (const Instruction* part : parts) SetDepth(part);
  for (size_t k = parts.size(); k-- > 0;) Deepen(parts[k]);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
