// The planner: merges values into buffers where their live ranges allow it, then packs the buffers
// into one arena.
//
// Merging uses union-find over values. Two values may share a buffer if they have the same size and
// no two members are live at one time. One exception: the last read of one may be the write of the
// other if the instruction can work in place (analysis/in_place).
//   p = f32[1000] parameter(0); a = exp(p); b = negate(a); ROOT c = add(b, b)
//   live ranges a [2,3], b [3,4]; c is the result, in the caller's memory. c may overwrite b and b
//   may overwrite a, element by element, so all three are computed in the caller's memory.
//
// The order of the steps (Share) is the order of their value: merges that save a copy of a whole
// array come first (dynamic-update-slice, loops), merges that only save memory last. A merge that
// is made is never undone.
//
// Cost: near linear. Merging tests all pairs of members, bounded by kMaxPairs; packing: see
// buffer_packing.h.
#include "analysis/buffer_assignment.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "analysis/buffer_packing.h"
#include "analysis/in_place.h"
#include "analysis/value_flow.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Above this many pairs of values two buffers are not even tried: the copy costs less than the
// search.
constexpr size_t kMaxPairs = 200000;

}  // namespace

bool Overlap(const Slice& a, const Slice& b) {
  if (a.kind != b.kind || a.kind == Slice::Kind::kNone) return false;
  if (a.kind != Slice::Kind::kArena) return a.index == b.index;
  return a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}

class BufferPlanner {
 public:
  BufferPlanner(const Module& module, ValueFlow flow, std::vector<Donation> donations)
      : module_(module), flow_(std::move(flow)) {
    out_.donations_ = std::move(donations);
  }

  absl::StatusOr<BufferAssignment> Run(int64_t limit) {
    RETURN_IF_ERROR(Pack(limit));
    Report();
    return std::move(out_);
  }

  // Decides what shares memory. Returns the donations that this honours: where some are missing,
  // the plan is to be made again with these alone.
  std::vector<Donation> Share() {
    MakeBuffers();
    for (auto [a, b] : flow_.joined) Join(a, b);
    ShareWanted();
    ShareLoopState();
    ShareAlongControl();
    std::vector<Donation> honoured = ShareDonated();
    PlaceResults();
    ShareElementwise();
    return honoured;
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
        const Donation* donation = DonationOf(value.number);
        b.fixed = donation != nullptr ? Slice::Kind::kOutput : Slice::Kind::kParameter;
        b.index = donation != nullptr ? donation->result : value.number;
      } else if (value.kind == FlowValue::Kind::kConstant) {
        b.fixed = Slice::Kind::kConstant;
        b.index = static_cast<int64_t>(out_.constants_.size());
        out_.constants_.push_back(value.def);
      }
    }
  }

  const Donation* DonationOf(int64_t parameter) const {
    for (const Donation& donation : out_.donations_)
      if (donation.parameter == parameter) return &donation;
    return nullptr;
  }

  int Find(int v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }

  // The smaller set goes into the larger, so that each value moves O(log n) times.
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

  // `in_place`: where the one's last read is the other's write, both may be in one place.
  bool TryJoin(int reader, int writer, bool in_place = true) {
    const int a = Find(reader), b = Find(writer);
    if (a == b) return true;
    const Buffer& x = buffers_[a];
    const Buffer& y = buffers_[b];
    if (ReadOnly(x) || ReadOnly(y) || x.size != y.size) return false;
    if (x.fixed != Slice::Kind::kNone && y.fixed != Slice::Kind::kNone) return false;
    if (x.members.size() * y.members.size() > kMaxPairs) return false;
    for (int v : x.members)
      for (int w : y.members)
        if (!Disjoint(v, w, in_place ? reader : -1, in_place ? writer : -1)) return false;
    Join(a, b);
    return true;
  }

  template <typename Fn>
  void ForEachSharable(bool wanted_only, Fn fn) {
    for (const Instruction* i : flow_.order) {
      const auto& results = flow_.by_instruction[i->id()];
      if (results.empty() || i->operand_count() == 0) continue;
      if (!HasOwnValues(i)) continue;
      BufferSharing sharing(*i);
      for (int64_t o = 0; o < i->operand_count(); ++o) {
        const auto& operands = flow_.by_instruction[i->operand(o)->id()];
        for (size_t ol = 0; ol < operands.size(); ++ol) {
          if (operands[ol] < 0 || flow_.values[operands[ol]].end != flow_.time[i->id()]) continue;
          for (size_t rl = 0; rl < results.size(); ++rl) {
            bool wanted = false;
            if (results[rl] < 0 || !sharing.May(o, ol, rl, &wanted) || (wanted_only && !wanted))
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
    const bool elementwise = HasTrait(i->opcode(), kElementwise);
    for (int64_t o = 0; o < i->operand_count(); ++o) {
      if (o == operand) continue;
      // x + transpose(x), which is x in another layout, does read other places.
      if (elementwise && SameMemoryOrder(i->operand(o)->shape(), i->operand(operand)->shape()))
        continue;
      for (int id : flow_.by_instruction[i->operand(o)->id()])
        if (id == value) return true;
    }
    return false;
  }

  // Where the emitter would have to copy the operand first: updates, scatters, sorts.
  void ShareWanted() {
    ForEachSharable(true, [&](int reader, int writer) { TryJoin(reader, writer); });
  }

  // What a loop's body makes of an array of its state, by the array's last reader, over it: any
  // other place would cost a copy each time around.
  void ShareLoopState() {
    for (const FlowEdge& edge : flow_.edges)
      if (edge.kind == FlowEdge::Kind::kLoopBack) next_state_[edge.from].push_back(edge.to);
    if (next_state_.empty()) return;
    ForEachSharable(false, [&](int reader, int writer) {
      const auto found = next_state_.find(writer);
      if (found == next_state_.end()) return;
      for (const int state : found->second)
        if (Find(state) == Find(reader)) TryJoin(reader, writer);
    });
  }

  // True for one array of a loop's next state computed over another of the old one: both would go
  // through staging buffers.
  bool MixesState(int reader, int writer) {
    const auto found = next_state_.find(writer);
    if (found == next_state_.end()) return false;
    const int place = Find(reader);
    const auto lies_there = [&](int state) { return Find(state) == place; };
    if (std::any_of(found->second.begin(), found->second.end(), lies_there)) return false;
    return std::any_of(next_state_.begin(), next_state_.end(), [&](const auto& other) {
      return std::any_of(other.second.begin(), other.second.end(), lies_there);
    });
  }

  // Each edge that is not merged becomes a copy of the array (StageCopies, Report).
  void ShareAlongControl() {
    for (const FlowEdge& edge : flow_.edges)
      if (edge.kind != FlowEdge::Kind::kOutput) TryJoin(edge.from, edge.to);
  }

  // The result that a donated argument is for must come to lie in its memory: by what shares
  // already, over the argument by its last reader, or after it.
  std::vector<Donation> ShareDonated() {
    std::vector<Donation> honoured;
    if (out_.donations_.empty()) return honoured;
    absl::flat_hash_map<int64_t, int> arguments, results;
    for (size_t v = 0; v < flow_.values.size(); ++v)
      if (flow_.values[v].kind == FlowValue::Kind::kParameter)
        arguments[flow_.values[v].number] = static_cast<int>(v);
    for (const FlowEdge& edge : flow_.edges)
      if (edge.kind == FlowEdge::Kind::kOutput) results[edge.to] = edge.from;
    absl::flat_hash_map<int, int> wanted;  // result -> the argument that it should replace
    for (const Donation& donation : out_.donations_)
      if (arguments.contains(donation.parameter) && results.contains(donation.result))
        wanted[results.at(donation.result)] = arguments.at(donation.parameter);
    ForEachSharable(false, [&](int reader, int writer) {
      const auto found = wanted.find(writer);
      if (found != wanted.end() && Find(found->second) == Find(reader)) TryJoin(reader, writer);
    });
    for (const Donation& donation : out_.donations_) {
      const auto argument = arguments.find(donation.parameter);
      const auto result = results.find(donation.result);
      if (argument == arguments.end() || result == results.end()) continue;
      if (TryJoin(argument->second, result->second, /*in_place=*/false))
        honoured.push_back(donation);
    }
    return honoured;
  }

  // A result of the module is computed in the caller's memory, unless its buffer is one already.
  void PlaceResults() {
    for (const FlowEdge& edge : flow_.edges) {
      if (edge.kind != FlowEdge::Kind::kOutput) continue;
      Buffer& b = buffers_[Find(edge.from)];
      if (b.fixed != Slice::Kind::kNone || b.size != flow_.values[edge.from].size) continue;
      b.fixed = Slice::Kind::kOutput;
      b.index = edge.to;
    }
  }

  void ShareElementwise() {
    ForEachSharable(false, [&](int reader, int writer) {
      if (!MixesState(reader, writer)) TryJoin(reader, writer);
    });
  }

  absl::Status Pack(int64_t limit) {
    std::vector<int> order;
    for (size_t v = 0; v < buffers_.size(); ++v)
      if (!buffers_[v].members.empty() && buffers_[v].fixed == Slice::Kind::kNone &&
          buffers_[v].size > 0)
        order.push_back(static_cast<int>(v));
    StageCopies(order);
    FindPeak(order);
    std::vector<BufferLife> lives;
    for (int b : order) lives.push_back({buffers_[b].begin, buffers_[b].end, buffers_[b].size});
    out_.arena_size_ = PackBuffers(absl::MakeSpan(lives), out_.live_peak_);
    for (size_t k = 0; k < order.size(); ++k) buffers_[order[k]].offset = lives[k].offset;
    if (out_.arena_size_ > limit)
      return ResourceExhausted("temporary buffers need ", out_.arena_size_,
                               " bytes, more than the limit of ", limit);
    return absl::OkStatus();
  }

  // The bytes that are live at one time: a lower bound of any packing. A sweep over begins and
  // ends.
  void FindPeak(const std::vector<int>& order) {
    std::map<int64_t, int64_t> delta;
    for (int b : order) {
      delta[buffers_[b].begin] += ArenaSize(buffers_[b].size);
      delta[buffers_[b].end + 1] -= ArenaSize(buffers_[b].size);
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
    out_.at_peak_.push_back({latest->def, latest->leaf, ArenaSize(buffer.size)});
  }

  // Copies that happen at one time are parallel assignments. Where one's target is another's source
  // (a loop that swaps two arrays), the source goes through a staging buffer first:
  //   s0, s1 = s1, s0   becomes   t = s0; s0 = s1; s1 = t
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
  absl::flat_hash_map<int, std::vector<int>> next_state_;  // by result of a body: the state it is
  absl::flat_hash_map<const FlowEdge*, int> staged_;
  BufferAssignment out_;
};

absl::StatusOr<BufferAssignment> BufferAssignment::Make(const Module& module,
                                                        const BufferOptions& options) {
  ASSIGN_OR_RETURN(const ValueFlow flow, ValueFlow::Make(module));
  std::vector<Donation> donations;
  if (options.donate) donations = FindDonations(module);
  while (true) {
    BufferPlanner planner(module, flow, donations);
    std::vector<Donation> honoured = planner.Share();
    if (honoured == donations) return planner.Run(options.limit);
    donations = std::move(honoured);  // fewer, so this ends
  }
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
