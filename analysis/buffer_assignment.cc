// The planner: joins values into buffers where their lives allow, then packs the buffers into one
// arena.
#include "analysis/buffer_assignment.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "analysis/in_place.h"
#include "analysis/value_flow.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int64_t kAlignment = 64;
// Above this many pairs of values two buffers are not even tried: the copy costs less than the
// search.
constexpr size_t kMaxPairs = 200000;

int64_t Align(int64_t bytes) { return (bytes + kAlignment - 1) & ~(kAlignment - 1); }

}  // namespace

bool Overlap(const Slice& a, const Slice& b) {
  if (a.kind != b.kind || a.kind == Slice::Kind::kNone) return false;
  if (a.kind != Slice::Kind::kArena) return a.index == b.index;
  return a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}

class BufferPlanner {
 public:
  BufferPlanner(const Module& module, ValueFlow flow) : module_(module), flow_(std::move(flow)) {}

  absl::StatusOr<BufferAssignment> Run(int64_t limit) {
    MakeBuffers();
    for (auto [a, b] : flow_.joined) Join(a, b);
    ShareWanted();
    ShareAlongEdges();
    ShareElementwise();
    RETURN_IF_ERROR(Pack(limit));
    Report();
    return std::move(out_);
  }

 private:
  struct Buffer {
    std::vector<int> members;
    Slice::Kind fixed = Slice::Kind::kNone;  // kNone: in the arena
    int64_t index = 0;                       // of the fixed place
    int64_t begin = 0, end = 0, size = 0;
    int64_t offset = 0;
  };

  void MakeBuffers() {
    const int n = static_cast<int>(flow_.values.size());
    parent_.resize(n);
    std::iota(parent_.begin(), parent_.end(), 0);
    buffers_.resize(n);
    for (int v = 0; v < n; ++v) {
      const FlowValue& value = flow_.values[v];
      Buffer& b = buffers_[v];
      b.members = {v};
      b.begin = value.begin;
      b.end = value.end;
      b.size = value.size;
      if (value.kind == FlowValue::Kind::kParameter) {
        b.fixed = Slice::Kind::kParameter;
        b.index = value.number;
      } else if (value.kind == FlowValue::Kind::kConstant) {
        b.fixed = Slice::Kind::kConstant;
        b.index = static_cast<int64_t>(out_.constants_.size());
        out_.constants_.push_back(value.def);
      }
    }
  }

  int Find(int v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }

  void Join(int x, int y) {
    int a = Find(x), b = Find(y);
    if (a == b) return;
    if (buffers_[a].members.size() < buffers_[b].members.size()) std::swap(a, b);
    Buffer& into = buffers_[a];
    Buffer& from = buffers_[b];
    parent_[b] = a;
    into.members.insert(into.members.end(), from.members.begin(), from.members.end());
    into.begin = std::min(into.begin, from.begin);
    into.end = std::max(into.end, from.end);
    into.size = std::max(into.size, from.size);
    if (from.fixed != Slice::Kind::kNone) {
      into.fixed = from.fixed;
      into.index = from.index;
    }
    from.members.clear();
  }

  // `reader` may be overwritten by `writer` in the very instruction that reads the one and defines
  // the other.
  bool Disjoint(int v, int w, int reader, int writer) const {
    const FlowValue& a = flow_.values[v];
    const FlowValue& b = flow_.values[w];
    if (a.end < b.begin || b.end < a.begin) return true;
    if (v == reader && w == writer && a.end == b.begin && a.begin < b.begin) return true;
    if (w == reader && v == writer && b.end == a.begin && b.begin < a.begin) return true;
    return false;
  }

  static bool ReadOnly(const Buffer& b) {
    return b.fixed == Slice::Kind::kParameter || b.fixed == Slice::Kind::kConstant;
  }

  bool TryJoin(int reader, int writer) {
    const int a = Find(reader), b = Find(writer);
    if (a == b) return true;
    const Buffer& x = buffers_[a];
    const Buffer& y = buffers_[b];
    if (ReadOnly(x) || ReadOnly(y) || x.size != y.size) return false;
    if (x.fixed != Slice::Kind::kNone && y.fixed != Slice::Kind::kNone) return false;
    if (x.members.size() * y.members.size() > kMaxPairs) return false;
    for (int v : x.members)
      for (int w : y.members)
        if (!Disjoint(v, w, reader, writer)) return false;
    Join(a, b);
    return true;
  }

  template <typename Fn>
  void ForEachSharable(bool wanted_only, Fn fn) {
    for (const Instruction* i : flow_.order) {
      const auto& results = flow_.by_instruction[i->id()];
      if (results.empty() || i->operand_count() == 0) continue;
      if (!HasOwnValues(i)) continue;
      for (int64_t o = 0; o < i->operand_count(); ++o) {
        const auto& operands = flow_.by_instruction[i->operand(o)->id()];
        for (size_t ol = 0; ol < operands.size(); ++ol) {
          if (operands[ol] < 0 || flow_.values[operands[ol]].end != flow_.time[i->id()]) continue;
          for (size_t rl = 0; rl < results.size(); ++rl) {
            bool wanted = false;
            if (results[rl] < 0 || !MayShareBuffer(*i, o, ol, rl, &wanted) ||
                (wanted_only && !wanted))
              continue;
            // The same value through another operand would be read at other places.
            if (UsedElsewhere(i, o, operands[ol])) continue;
            fn(operands[ol], results[rl]);
          }
        }
      }
    }
  }

  bool HasOwnValues(const Instruction* i) const {
    for (int id : flow_.by_instruction[i->id()])
      if (id >= 0)
        return flow_.values[id].def == i && i->opcode() != Opcode::kWhile &&
               i->opcode() != Opcode::kConditional;
    return false;
  }

  bool UsedElsewhere(const Instruction* i, int64_t operand, int value) const {
    if (HasTrait(i->opcode(), kElementwise)) return false;
    for (int64_t o = 0; o < i->operand_count(); ++o) {
      if (o == operand) continue;
      for (int id : flow_.by_instruction[i->operand(o)->id()])
        if (id == value) return true;
    }
    return false;
  }

  void ShareWanted() {
    ForEachSharable(true, [&](int reader, int writer) { TryJoin(reader, writer); });
  }

  void ShareAlongEdges() {
    for (auto it = flow_.edges.begin(); it != flow_.edges.end(); ++it)
      if (it->kind != FlowEdge::Kind::kOutput) TryJoin(it->from, it->to);
    std::set<int64_t> taken;
    for (const FlowEdge& edge : flow_.edges) {
      if (edge.kind != FlowEdge::Kind::kOutput) continue;
      Buffer& b = buffers_[Find(edge.from)];
      if (b.fixed != Slice::Kind::kNone || b.size != flow_.values[edge.from].size) continue;
      b.fixed = Slice::Kind::kOutput;
      b.index = edge.to;
    }
  }

  void ShareElementwise() {
    ForEachSharable(false, [&](int reader, int writer) { TryJoin(reader, writer); });
  }

  // Buffers by the time they begin; the free blocks of the arena by offset. Best fit.
  absl::Status Pack(int64_t limit) {
    std::vector<int> order;
    for (size_t v = 0; v < buffers_.size(); ++v)
      if (!buffers_[v].members.empty() && buffers_[v].fixed == Slice::Kind::kNone &&
          buffers_[v].size > 0)
        order.push_back(static_cast<int>(v));
    StageCopies(order);
    FindPeak(order);
    // Large and long-lived buffers first give the tighter packing; many small ones want the quick
    // way.
    if (order.size() <= 3000) {
      PackBySize(order);
    } else {
      PackByTime(order);
    }
    if (out_.arena_size_ > limit)
      return ResourceExhausted("temporary buffers need ", out_.arena_size_,
                               " bytes, more than the limit of ", limit);
    return absl::OkStatus();
  }

  void FindPeak(const std::vector<int>& order) {
    std::map<int64_t, int64_t> delta;
    for (int b : order) {
      delta[buffers_[b].begin] += Align(buffers_[b].size);
      delta[buffers_[b].end + 1] -= Align(buffers_[b].size);
    }
    int64_t live = 0, peak = 0;
    for (auto [time, bytes] : delta) {
      live += bytes;
      if (live <= out_.live_peak_) continue;
      out_.live_peak_ = live;
      peak = time;
    }
    for (int b : order)
      if (buffers_[b].begin <= peak && peak <= buffers_[b].end) NoteAtPeak(buffers_[b], peak);
    std::stable_sort(out_.at_peak_.begin(), out_.at_peak_.end(),
                     [](const auto& a, const auto& b) { return a.size > b.size; });
  }

  // A buffer is named after the last of its arrays that has begun by then.
  void NoteAtPeak(const Buffer& buffer, int64_t peak) {
    const FlowValue* latest = nullptr;
    for (int v : buffer.members) {
      if (v < 0 || flow_.values[v].begin > peak) continue;
      if (latest == nullptr || flow_.values[v].begin > latest->begin) latest = &flow_.values[v];
    }
    if (latest == nullptr || latest->def == nullptr) return;
    out_.at_peak_.push_back({latest->def, latest->leaf, Align(buffer.size)});
  }

  void PackBySize(std::vector<int> order) {
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return buffers_[a].size > buffers_[b].size; });
    std::vector<int> placed;  // by offset
    for (int b : order) {
      Buffer& buffer = buffers_[b];
      const int64_t size = Align(buffer.size);
      int64_t at = 0, best = -1, best_gap = INT64_MAX;
      for (int p : placed) {
        const Buffer& other = buffers_[p];
        if (other.end < buffer.begin || buffer.end < other.begin) continue;
        if (other.offset - at >= size && other.offset - at < best_gap) {
          best = at;
          best_gap = other.offset - at;
        }
        at = std::max(at, other.offset + Align(other.size));
      }
      buffer.offset = best >= 0 ? best : at;
      out_.arena_size_ = std::max(out_.arena_size_, buffer.offset + size);
      placed.insert(
          std::upper_bound(placed.begin(), placed.end(), b,
                           [&](int x, int y) { return buffers_[x].offset < buffers_[y].offset; }),
          b);
    }
  }

  void PackByTime(std::vector<int> order) {
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return buffers_[a].begin < buffers_[b].begin; });
    std::map<int64_t, int64_t> free_blocks = {{0, INT64_MAX / 2}};  // offset -> size
    std::multimap<int64_t, int> ends;
    auto release = [&](const Buffer& b) {
      auto at = free_blocks.emplace(b.offset, Align(b.size)).first;
      auto next = std::next(at);
      if (next != free_blocks.end() && at->first + at->second == next->first) {
        at->second += next->second;
        free_blocks.erase(next);
      }
      if (at == free_blocks.begin()) return;
      auto before = std::prev(at);
      if (before->first + before->second != at->first) return;
      before->second += at->second;
      free_blocks.erase(at);
    };
    for (int b : order) {
      Buffer& buffer = buffers_[b];
      while (!ends.empty() && ends.begin()->first < buffer.begin) {
        release(buffers_[ends.begin()->second]);
        ends.erase(ends.begin());
      }
      const int64_t size = Align(buffer.size);
      auto best = free_blocks.end();
      for (auto it = free_blocks.begin(); it != free_blocks.end(); ++it)
        if (it->second >= size && (best == free_blocks.end() || it->second < best->second))
          best = it;
      buffer.offset = best->first;
      const int64_t rest = best->second - size;
      free_blocks.erase(best);
      if (rest > 0) free_blocks[buffer.offset + size] = rest;
      out_.arena_size_ = std::max(out_.arena_size_, buffer.offset + size);
      ends.emplace(buffer.end, b);
    }
  }

  // Copies of one moment that are sources of others' destinations go through a buffer of their own.
  void StageCopies(std::vector<int>& order) {
    std::map<std::pair<const Instruction*, int64_t>, std::vector<const FlowEdge*>> groups;
    for (const FlowEdge& edge : flow_.edges) {
      if (edge.kind == FlowEdge::Kind::kOutput || Find(edge.from) == Find(edge.to)) continue;
      if (flow_.values[edge.to].size == 0) continue;
      const int64_t key = edge.kind == FlowEdge::Kind::kLoopEntry  ? -2
                          : edge.kind == FlowEdge::Kind::kLoopBack ? -1
                                                                   : edge.branch;
      groups[{edge.at, key}].push_back(&edge);
      // A branch's results begin after the last branch, yet each branch writes them at its own end.
      Buffer& from = buffers_[Find(edge.from)];
      from.end = std::max(from.end, flow_.values[edge.to].begin);
    }
    for (auto& [key, edges] : groups) {
      std::set<int> written;
      for (const FlowEdge* e : edges) written.insert(Find(e->to));
      for (const FlowEdge* e : edges) {
        if (written.count(Find(e->from)) == 0) continue;
        Buffer staging;
        staging.members = {-1};
        staging.size = flow_.values[e->to].size;
        staging.begin = flow_.values[e->from].end;
        staging.end = std::max(staging.begin, flow_.values[e->to].begin);
        staged_[e] = static_cast<int>(buffers_.size());
        order.push_back(static_cast<int>(buffers_.size()));
        buffers_.push_back(staging);
        parent_.push_back(static_cast<int>(parent_.size()));
      }
    }
  }

  Slice SliceOf(int buffer, int64_t size) const {
    const Buffer& b = buffers_[buffer];
    if (size == 0) return {};
    if (b.fixed == Slice::Kind::kNone) return {Slice::Kind::kArena, 0, b.offset, size};
    return {b.fixed, b.index, 0, size};
  }
  Slice SliceOfValue(int value) {
    return value < 0 ? Slice() : SliceOf(Find(value), flow_.values[value].size);
  }

  void Report() {
    out_.slices_.resize(module_.id_bound());
    for (const Instruction* i : flow_.order)
      for (int v : flow_.by_instruction[i->id()]) out_.slices_[i->id()].push_back(SliceOfValue(v));
    ReportSizes();
    for (const FlowEdge& edge : flow_.edges) {
      if (edge.kind == FlowEdge::Kind::kOutput) {
        const Slice from = SliceOfValue(edge.from);
        const Slice to = {Slice::Kind::kOutput, edge.to, 0, from.size};
        if (from.size > 0 && !(from == to)) out_.output_copies_.push_back({from, to, {}});
        continue;
      }
      BufferCopy copy = {SliceOfValue(edge.from), SliceOfValue(edge.to), {}};
      BufferAssignment::LoopCopies& copies = out_.copies_[edge.at];
      if (edge.kind == FlowEdge::Kind::kBranch) copies.branches.resize(edge.at->called().size());
      if (copy.to.size == 0 || copy.from == copy.to) continue;
      if (auto staged = staged_.find(&edge); staged != staged_.end())
        copy.staging = SliceOf(staged->second, copy.to.size);
      if (edge.kind == FlowEdge::Kind::kLoopEntry) copies.entry.push_back(copy);
      if (edge.kind == FlowEdge::Kind::kLoopBack) copies.back.push_back(copy);
      if (edge.kind == FlowEdge::Kind::kBranch) copies.branches[edge.branch].push_back(copy);
    }
  }

  void ReportSizes() {
    const Computation& entry = *module_.entry();
    for (const Instruction* p : entry.parameters())
      for (const ShapeLeaf& leaf : Leaves(p->shape()))
        out_.parameter_sizes_.push_back(leaf.shape->ByteSize());
    for (const ShapeLeaf& leaf : Leaves(entry.root()->shape()))
      out_.output_sizes_.push_back(leaf.shape->ByteSize());
  }

  const Module& module_;
  ValueFlow flow_;
  std::vector<int> parent_;
  std::vector<Buffer> buffers_;
  absl::flat_hash_map<const FlowEdge*, int> staged_;
  BufferAssignment out_;
};

absl::StatusOr<BufferAssignment> BufferAssignment::Make(const Module& module, int64_t limit) {
  ASSIGN_OR_RETURN(ValueFlow flow, ValueFlow::Make(module));
  return BufferPlanner(module, std::move(flow)).Run(limit);
}

absl::Span<const Slice> BufferAssignment::slices(const Instruction* i) const {
  return slices_[i->id()];
}

namespace {
const std::vector<BufferCopy>& NoCopies() {
  static const auto* const none = new std::vector<BufferCopy>;
  return *none;
}
}  // namespace

const std::vector<BufferCopy>& BufferAssignment::loop_entry_copies(const Instruction* loop) const {
  auto found = copies_.find(loop);
  return found == copies_.end() ? NoCopies() : found->second.entry;
}

const std::vector<BufferCopy>& BufferAssignment::loop_back_copies(const Instruction* loop) const {
  auto found = copies_.find(loop);
  return found == copies_.end() ? NoCopies() : found->second.back;
}

const std::vector<BufferCopy>& BufferAssignment::branch_copies(const Instruction* i,
                                                               int64_t branch) const {
  auto found = copies_.find(i);
  if (found == copies_.end() || branch >= static_cast<int64_t>(found->second.branches.size()))
    return NoCopies();
  return found->second.branches[branch];
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
