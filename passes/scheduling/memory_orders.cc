// Orders of execution with low peak memory.
//
// Finding the best order is NP-hard; four candidates are simulated and the best one is kept:
// - the post order;
// - depth first, operands with the largest need first (Sethi-Ullman numbering with bytes for
// registers);
// - depth first, operands first that many instructions wait for;
// - a list schedule that always takes the ready instruction that frees most bytes. Memory is
// attributed to makers: tuples, bitcasts and loops forward the memory of their operands. A called
// computation counts with its own peak (`inner`). Cost: n log n for each order, linear for each
// simulation.
#include "passes/scheduling/memory_orders.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "types/shape_bytes.h"

namespace hlokit {
namespace {

using Order = std::vector<Instruction*>;
using Numbers = absl::InlinedVector<int, 2>;

constexpr size_t kMaxMakers = 64;   // of a tuple; a larger one counts as memory of nobody's
constexpr double kMaxBytes = 1e15;  // where sums over all paths stop growing

// True if the result lies where operands lie.
bool Forwards(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kBitcast:
    case Opcode::kWhile:
    case Opcode::kOptimizationBarrier:
    case Opcode::kAddDependency:
      return true;
    default:
      return false;
  }
}

// A computation as numbers: instructions in post order, what each makes, keeps and waits for.
class Graph {
 public:
  Graph(const Computation& c, const InnerPeaks& inner) : order_(c.PostOrder()) {
    int64_t largest = 0;
    for (const Instruction* i : order_) largest = std::max(largest, int64_t{i->id()});
    number_.assign(largest + 1, -1);
    for (size_t n = 0; n < order_.size(); ++n) number_[order_[n]->id()] = static_cast<int>(n);
    nodes_.resize(order_.size());
    for (size_t n = 0; n < order_.size(); ++n) Fill(nodes_[n], *order_[n], inner);
    std::vector<int> seen(order_.size(), -1);
    for (size_t n = 0; n < order_.size(); ++n) {
      Node& node = nodes_[n];
      for (int operand : node.operands)
        for (int maker : nodes_[operand].makers)
          if (std::exchange(seen[maker], static_cast<int>(n)) != static_cast<int>(n))
            node.reads.push_back(maker);
      if (node.forwards && node.reads.size() <= kMaxMakers) node.makers = node.reads;
      if (node.own > 0) node.makers.push_back(static_cast<int>(n));
      for (int maker : node.reads) nodes_[maker].readers.push_back(static_cast<int>(n));
      for (int before : node.before) nodes_[before].after.push_back(static_cast<int>(n));
    }
    const int root = number_[c.root()->id()];
    kept_.assign(order_.size(), 0);
    kept_[root] = 1;
    if (nodes_[root].forwards)
      for (int maker : nodes_[root].reads) kept_[maker] = 1;
  }

  Order Plain() const { return order_; }

  // Depth first from what has no users; operands in the order of `before`, largest first.
  template <typename Key>
  Order DepthFirst(const Key& key) const {
    Order order;
    std::vector<int> stack;
    std::vector<char> state(nodes_.size(), 0);  // 1: open, 2: done
    for (size_t n = nodes_.size(); n-- > 0;)
      if (nodes_[n].after.empty()) stack.push_back(static_cast<int>(n));
    while (!stack.empty()) {
      const int top = stack.back();
      if (state[top] != 0) {
        stack.pop_back();
        if (state[top] == 1) order.push_back(order_[top]);
        state[top] = 2;
        continue;
      }
      state[top] = 1;
      Numbers next = nodes_[top].before;
      std::stable_sort(next.begin(), next.end(), [&](int a, int b) { return key(a) < key(b); });
      for (int n : next)
        if (state[n] == 0) stack.push_back(n);
    }
    return order;
  }

  // What needs most memory while it is computed comes first.
  Order ByNeed() const {
    std::vector<int64_t> need(nodes_.size(), 0);
    for (size_t n = 0; n < nodes_.size(); ++n) {
      need[n] = nodes_[n].own + nodes_[n].inner;
      for (int before : nodes_[n].before) need[n] = std::max(need[n], need[before]);
    }
    return DepthFirst([&](int n) { return need[n]; });
  }

  // What many wait for comes first, then what holds much memory.
  Order ByWaiting() const {
    std::vector<double> waiting(nodes_.size(), 0), behind(nodes_.size(), 0);
    for (size_t n = 0; n < nodes_.size(); ++n) {
      const Node& node = nodes_[n];
      waiting[n] = std::max<double>(0, static_cast<double>(node.after.size()) - 1);
      behind[n] = static_cast<double>(node.own);
      for (int before : node.before) {
        waiting[n] = std::min(kMaxBytes, waiting[n] + waiting[before]);
        behind[n] = std::min(kMaxBytes, behind[n] + behind[before]);
      }
    }
    return DepthFirst([&](int n) { return std::make_pair(waiting[n], behind[n]); });
  }

  // Always what frees most (less what it makes) of what could come next.
  Order ByFreed() const {
    std::vector<int> waits(nodes_.size(), 0), unread(nodes_.size(), 0);
    using Entry = std::tuple<int64_t, int>;  // bytes that it adds, place in post order
    std::vector<int64_t> added(nodes_.size(), 0);
    std::set<Entry> ready;
    const auto cost = [&](int n) {
      int64_t bytes = nodes_[n].own;
      for (int maker : nodes_[n].reads)
        if (unread[maker] == 1 && !kept_[maker]) bytes -= nodes_[maker].own;
      return nodes_[n].forwards ? INT64_MIN : bytes;
    };
    for (size_t n = 0; n < nodes_.size(); ++n) {
      waits[n] = static_cast<int>(nodes_[n].before.size());
      unread[n] = static_cast<int>(nodes_[n].readers.size());
    }
    std::vector<char> is_ready(nodes_.size(), 0);
    const auto insert = [&](int n) {
      is_ready[n] = 1;
      added[n] = cost(n);
      ready.insert({added[n], n});
    };
    for (size_t n = 0; n < nodes_.size(); ++n)
      if (waits[n] == 0) insert(static_cast<int>(n));
    Order order;
    while (!ready.empty()) {
      const int n = std::get<1>(*ready.begin());
      ready.erase(ready.begin());
      is_ready[n] = 0;
      waits[n] = -1;
      order.push_back(order_[n]);
      for (int after : nodes_[n].after)
        if (--waits[after] == 0) insert(after);
      for (int maker : nodes_[n].reads) {
        if (--unread[maker] != 1) continue;
        for (int reader : nodes_[maker].readers) {
          if (!is_ready[reader]) continue;
          ready.erase({added[reader], reader});
          insert(reader);
        }
      }
    }
    return order;
  }

  int64_t Peak(const Order& order) const {
    std::vector<int> last(nodes_.size(), -1);
    for (size_t t = 0; t < order.size(); ++t)
      for (int maker : nodes_[NumberOf(order[t])].reads) last[maker] = static_cast<int>(t);
    std::vector<int64_t> freed(order.size() + 1, 0);
    for (size_t n = 0; n < nodes_.size(); ++n)
      if (last[n] >= 0 && !kept_[n]) freed[last[n]] += nodes_[n].own;
    int64_t alive = 0, peak = 0;
    for (size_t t = 0; t < order.size(); ++t) {
      const Node& node = nodes_[NumberOf(order[t])];
      alive += node.own;
      peak = std::max(peak, alive + node.inner);
      alive -= freed[t];
    }
    return peak;
  }

 private:
  struct Node {
    int64_t own = 0;    // bytes that it makes
    int64_t inner = 0;  // bytes inside what it calls
    bool forwards = false;
    Numbers operands;
    Numbers before, after;           // operands and control predecessors; the other way
    Numbers makers, reads, readers;  // whose memory it passes on, reads; who reads its own
  };

  void Fill(Node& node, const Instruction& i, const InnerPeaks& inner) const {
    node.forwards = Forwards(i);
    if (!node.forwards && !i.IsParameter() && !i.IsConstant()) node.own = TotalBytes(i.shape());
    if (i.opcode() == Opcode::kWhile || i.opcode() == Opcode::kConditional ||
        i.opcode() == Opcode::kCall)
      for (const Computation* called : i.called())
        if (called->id() < static_cast<int64_t>(inner.size()))
          node.inner = std::max(node.inner, inner[called->id()]);
    for (const Instruction* operand : i.operands()) node.operands.push_back(NumberOf(operand));
    std::sort(node.operands.begin(), node.operands.end());
    node.operands.erase(std::unique(node.operands.begin(), node.operands.end()),
                        node.operands.end());
    node.before = node.operands;
    for (const Instruction* before : i.control_predecessors())
      if (std::find(node.before.begin(), node.before.end(), NumberOf(before)) == node.before.end())
        node.before.push_back(NumberOf(before));
  }

  int NumberOf(const Instruction* i) const { return number_[i->id()]; }
  const Order order_;
  std::vector<int> number_;  // instruction id -> place in post order
  std::vector<Node> nodes_;
  std::vector<char> kept_;  // results, which live to the end
};

}  // namespace

std::vector<Instruction*> MemoryOrder(const Computation& computation, const InnerPeaks& inner,
                                      int64_t& peak) {
  const Graph graph(computation, inner);
  Order best = graph.Plain();
  peak = graph.Peak(best);
  for (Order& order : std::vector<Order>{graph.ByNeed(), graph.ByWaiting(), graph.ByFreed()}) {
    if (order.size() != best.size()) continue;
    const int64_t bytes = graph.Peak(order);
    if (bytes >= peak) continue;
    peak = bytes;
    best = std::move(order);
  }
  return best;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
