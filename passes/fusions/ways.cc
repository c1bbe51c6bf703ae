// Depths, and searches that they bound.
#include "passes/fusions/ways.h"

#include <algorithm>
#include <limits>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"

namespace hlokit {
namespace {

constexpr size_t kMaxVisited = 256;  // in one search for a way

}  // namespace

Ways::Ways(const Computation& c) {
  const std::vector<Instruction*> order = c.PostOrder();
  for (const Instruction* i : order) first_id_ = std::min(first_id_, i->id());
  for (const Instruction* i : order) SetDepth(i, kApart);
}

void Ways::SetDepth(const Instruction* i, int64_t step) {
  int64_t depth = 0;
  for (const Instruction* operand : i->operands())
    depth = std::max(depth, depth_[Slot(operand)] + step);
  for (const Instruction* before : i->control_predecessors())
    depth = std::max(depth, depth_[Slot(before)] + step);
  depth_[Slot(i)] = depth;
}

// What stands after a new instruction may have come to stand deeper.
void Ways::Deepen(Instruction* from) {
  std::vector<Instruction*> work = {from};
  while (!work.empty()) {
    const Instruction* i = work.back();
    work.pop_back();
    const int64_t least = depth_[Slot(i)] + 1;
    const auto visit = [&](Instruction* next) {
      if (depth_[Slot(next)] >= least) return;
      depth_[Slot(next)] = least;
      work.push_back(next);
    };
    for (Instruction* user : i->users()) visit(user);
    for (Instruction* after : i->control_successors()) visit(after);
  }
}

bool Ways::HasWay(const Members& starts, const Members& ends, const Members& inside) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const Instruction* end : ends) least = std::min(least, depth_[Slot(end)]);
  absl::flat_hash_set<const Instruction*> seen;
  std::vector<const Instruction*> work;
  const auto visit = [&](const Instruction* i) {
    if (depth_[Slot(i)] >= least && seen.insert(i).second) work.push_back(i);
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
  SetDepth(parts[0]->operand(0), 1);
  for (const Instruction* part : parts) SetDepth(part, 1);
  for (size_t k = parts.size(); k-- > 0;) Deepen(parts[k]);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
