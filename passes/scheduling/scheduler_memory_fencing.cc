// scheduler-memory-fencing: keeps a later scheduler from holding large buffers for longer than the
// schedule at hand does.
// Windows are the pairs of starts and dones of a scheduled computation, in order of their starts. A
// buffer of `min-bytes` or more whose last reader runs in a window, or before it and after those
// that end earlier, is over by the start of the window `slack` further on: a control dependence
// says so, where data says nothing of the kind. Latency hiding may still move the reader by `slack`
// windows, and no further.
//   big = add(p, p); s1 = start; wg = multiply(big, big); d1 = done(s1); s2 = start; d2 = done(s2)
//     ->  s2 with control-predecessors={wg}, for slack 1
// Buffers that leave the computation, come from outside it or are never read set no bounds. What
// lies in another's memory (tuples and their parts, bitcasts, loops' state, arrays updated in their
// places) is that buffer. Changes no values. Cost: linear in the computation, and for each buffer
// the search of ways between two instructions.
#include <algorithm>
#include <map>

#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/device_groups.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Places in the schedule, by which windows are ordered.
struct AsyncWindow {
  Instruction* start;
  int64_t from, to;
};

using Places = std::map<const Instruction*, int64_t>;

std::vector<AsyncWindow> WindowsOf(const Computation& c, const Places& places) {
  std::vector<AsyncWindow> windows;
  for (Instruction* start : c.schedule()) {
    if (!HasTrait(start->opcode(), kAsyncStart)) continue;
    int64_t last = -1;
    for (const Instruction* user : start->users())
      if (HasTrait(user->opcode(), kAsyncDone)) last = std::max(last, places.at(user));
    if (last >= 0) windows.push_back({start, places.at(start), last});
  }
  return windows;
}

// Whether the result of `i` lies where operand k lies.
bool LiesInOperand(const Instruction& i, int64_t k) {
  switch (i.opcode()) {
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kBitcast:
    case Opcode::kOptimizationBarrier:
    case Opcode::kWhile:
      return true;
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kScatter:
      return k == 0;
    default:
      return HasTrait(i.opcode(), kAsyncStart);  // it holds what it reads up to its done
  }
}

// The last instruction that reads the buffer of `def`; null where none does or where it leaves the
// computation.
Instruction* LastReader(Instruction* def, const Places& places) {
  Instruction* last = nullptr;
  std::vector<Instruction*> same = {def};
  std::map<const Instruction*, bool> seen;
  while (!same.empty()) {
    const Instruction* x = same.back();
    same.pop_back();
    if (x->IsRoot()) return nullptr;
    for (Instruction* user : x->users()) {
      if (seen[user]) continue;
      seen[user] = true;
      for (int64_t k = 0; k < user->operand_count(); ++k) {
        if (user->operand(k) != x || !LiesInOperand(*user, k)) continue;
        same.push_back(user);
        break;
      }
      if (user->opcode() != Opcode::kTuple && user->opcode() != Opcode::kGetTupleElement &&
          user->opcode() != Opcode::kBitcast &&
          (last == nullptr || places.at(user) > places.at(last)))
        last = user;
    }
  }
  return last;
}

// Bytes of the largest array of its own that an instruction writes.
int64_t OwnBytes(const Instruction& i) {
  if (i.IsParameter() || i.IsConstant()) return 0;
  for (int64_t k = 0; k < i.operand_count(); ++k)
    if (LiesInOperand(i, k) && !HasTrait(i.opcode(), kAsyncStart)) return 0;
  int64_t most = 0;
  for (const ShapeLeaf& leaf : Leaves(i.shape()))
    if (leaf.shape->IsArray()) most = std::max(most, leaf.shape->ByteSize());
  return most;
}

class MemoryFencing final : public ComputationPass {
 public:
  MemoryFencing(int64_t least, int64_t slack) : least_(least), slack_(slack) {}
  absl::string_view name() const override { return "scheduler-memory-fencing"; }
  bool handles_schedules() const override { return true; }

  absl::StatusOr<bool> Run(Module& module) override {
    if (slack_ < 0) return InvalidArgument("slack is ", slack_, ", must be 0 or more");
    return ComputationPass::Run(module);
  }

  absl::StatusOr<bool> RunOnComputation(Computation& c) override {
    if (!c.has_schedule()) return false;
    Places places;
    for (const Instruction* i : c.schedule()) {
      const auto place = static_cast<int64_t>(places.size());
      places[i] = place;
    }
    const std::vector<AsyncWindow> windows = WindowsOf(c, places);
    bool changed = false;
    for (Instruction* def : c.schedule()) {
      if (OwnBytes(*def) < least_) continue;
      Instruction* reader = LastReader(def, places);
      if (reader == nullptr) continue;
      Instruction* fenced = StartAfter(windows, places.at(reader));
      if (fenced == nullptr || Needs(fenced, {reader}) ||
          !control().Permit(name(), *reader, *fenced))
        continue;
      fenced->AddControlPredecessor(reader);
      changed = true;
    }
    return changed;
  }

 private:
  // The start that waits for what is read last at `place`; null where there is none.
  Instruction* StartAfter(const std::vector<AsyncWindow>& windows, int64_t place) const {
    size_t k = 0;
    while (k < windows.size() && windows[k].to <= place) ++k;
    k += static_cast<size_t>(slack_);
    while (k < windows.size() && windows[k].from <= place) ++k;
    return k < windows.size() ? windows[k].start : nullptr;
  }

  int64_t least_, slack_;
};

}  // namespace

// scheduler-memory-fencing: see above. Options: `min-bytes`, the size from which buffers count
// (1048576); `slack`, how many windows further a reader may move (1). Errors: InvalidArgument for a
// slack below 0.
std::unique_ptr<Pass> CreateSchedulerMemoryFencing(PassArguments& arguments) {
  const int64_t least =
      arguments.Int("min-bytes", int64_t{1} << 20, "bytes from which buffers count");
  const int64_t slack = arguments.Int("slack", 1, "windows further that a reader may move");
  return std::make_unique<MemoryFencing>(least, slack);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
