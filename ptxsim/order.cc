// A weak topological order of a function's basic blocks.
//
// The strongly connected components of the graph are ranked topologically; inside a loop, its head
// comes first and the rest is ordered in the same way without the head. So the ranks of a loop are
// contiguous, and what follows it ranks above all of it. Costs edges times the depth of loops.
// Source: F. Bourdoncle, "Efficient chaotic iteration strategies with widenings" (1993).
#include <algorithm>
#include <vector>

#include "ptxsim/decode.h"

namespace hlokit::ptx {
namespace {

struct BasicBlock {
  uint32_t first = 0, last = 0;  // ops
  std::vector<uint32_t> next;    // blocks
};

bool EndsBlock(const Op& op) {
  return op.kind == Op::kBranch || op.kind == Op::kBranchIndexed || op.kind == Op::kExit ||
         op.kind == Op::kReturn;
}

class Orderer {
 public:
  explicit Orderer(Code& code) : code_(code) { MakeBlocks(); }

  void Run() {
    std::vector<uint32_t> all(blocks_.size());
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    level_.assign(blocks_.size(), 0);
    OrderSubgraph(all, 0);
    code_.order.resize(code_.ops.size());
    uint32_t rank = 0;
    for (uint32_t block : sorted_)
      for (uint32_t op = blocks_[block].first; op <= blocks_[block].last; ++op)
        code_.order[op] = rank++;
  }

 private:
  void MakeBlocks();
  // Ranks `nodes`, those of level `level`.
  void OrderSubgraph(const std::vector<uint32_t>& nodes, uint32_t level);
  std::vector<std::vector<uint32_t>> Components(const std::vector<uint32_t>& nodes, uint32_t level);
  bool IsLoop(const std::vector<uint32_t>& component) const;

  Code& code_;
  std::vector<BasicBlock> blocks_;
  std::vector<uint32_t> level_;
  std::vector<uint32_t> sorted_;
};

void Orderer::MakeBlocks() {
  const std::vector<Op>& ops = code_.ops;
  std::vector<bool> leads(ops.size() + 1, false);
  leads[0] = true;
  for (uint32_t i = 0; i < ops.size(); ++i) {
    if (ops[i].kind == Op::kBranch) leads[ops[i].target] = true;
    if (EndsBlock(ops[i])) leads[i + 1] = true;
  }
  for (uint32_t target : code_.targets) leads[target] = true;
  std::vector<uint32_t> block_of(ops.size());
  for (uint32_t i = 0; i < ops.size(); ++i) {
    if (leads[i]) blocks_.push_back({.first = i, .last = i, .next = {}});
    blocks_.back().last = i;
    block_of[i] = static_cast<uint32_t>(blocks_.size() - 1);
  }
  for (BasicBlock& block : blocks_) {
    const Op& op = ops[block.last];
    // Edges are tried in this order: what falls through ranks first where nothing else decides.
    if (op.kind == Op::kBranch) block.next.push_back(block_of[op.target]);
    if (op.kind == Op::kBranchIndexed)
      for (uint32_t i = 0; i < op.list_size; ++i)
        block.next.push_back(block_of[code_.targets[op.list + i]]);
    const bool falls = !EndsBlock(op) || op.guard != kNoSlot;
    if (falls && block.last + 1 < ops.size()) block.next.push_back(block_of[block.last + 1]);
  }
}

// Tarjan's algorithm with a stack of its own; components come in topological order.
std::vector<std::vector<uint32_t>> Orderer::Components(const std::vector<uint32_t>& nodes,
                                                       uint32_t level) {
  struct Visit {
    uint32_t node, edge;
  };
  std::vector<std::vector<uint32_t>> components;
  std::vector<uint32_t> number(blocks_.size(), 0), low(blocks_.size(), 0), stack;
  std::vector<bool> on_stack(blocks_.size(), false);
  uint32_t next = 1;
  for (uint32_t root : nodes) {
    if (number[root] != 0) continue;
    std::vector<Visit> visits = {{root, 0}};
    while (!visits.empty()) {
      Visit& visit = visits.back();
      const uint32_t node = visit.node;
      if (visit.edge == 0 && number[node] == 0) {
        number[node] = low[node] = next++;
        stack.push_back(node);
        on_stack[node] = true;
      }
      if (visit.edge < blocks_[node].next.size()) {
        const uint32_t other = blocks_[node].next[visit.edge++];
        if (level_[other] != level) continue;
        if (number[other] == 0) {
          visits.push_back({other, 0});
        } else if (on_stack[other]) {
          low[node] = std::min(low[node], number[other]);
        }
        continue;
      }
      if (low[node] == number[node]) {
        components.emplace_back();
        uint32_t member;
        do {
          member = stack.back();
          stack.pop_back();
          on_stack[member] = false;
          components.back().push_back(member);
        } while (member != node);
      }
      visits.pop_back();
      if (!visits.empty()) low[visits.back().node] = std::min(low[visits.back().node], low[node]);
    }
  }
  std::reverse(components.begin(), components.end());
  return components;
}

bool Orderer::IsLoop(const std::vector<uint32_t>& component) const { return component.size() > 1; }

void Orderer::OrderSubgraph(const std::vector<uint32_t>& nodes, uint32_t level) {
  for (std::vector<uint32_t>& component : Components(nodes, level)) {
    // The node that the search entered it by.
    const uint32_t head = component.back();
    sorted_.push_back(head);
    if (!IsLoop(component)) {
      level_[head] = ~uint32_t{0};
      continue;
    }
    component.pop_back();
    level_[head] = ~uint32_t{0};
    std::sort(component.begin(), component.end());
    for (uint32_t node : component) level_[node] = level + 1;
    OrderSubgraph(component, level + 1);
  }
}

}  // namespace

void ComputeOrder(Code& code) { Orderer(code).Run(); }

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
