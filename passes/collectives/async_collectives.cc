// Collectives in two halves, and in one order.
//   all-gather(x)      <->  all-gather-done(all-gather-start(x))
//   reduce-scatter(x)  ->   async-done(async-start(x), calls={reduce-scatter})
#include "passes/collectives/async_collectives.h"

#include <algorithm>
#include <limits>

#include "absl/algorithm/container.h"
#include "ir/op_facts.h"

#include "passes/framework/pass_arguments.h"
#include "passes/rewrite/async_body.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/matchers.h"
#include "passes/rewrite/memory_spaces.h"
#include "support/status.h"

namespace hlokit {
namespace {

using Made = absl::StatusOr<Instruction*>;

template <typename A>
Instruction* Pair(Instruction* i, Rewriter& r, Opcode start, Opcode done, const Shape& started) {
  const std::vector<Instruction*> operands(i->operands().begin(), i->operands().end());
  Instruction* first = r.Add(start, started, operands, i->attr<A>());
  for (Instruction* before : i->control_predecessors()) first->AddControlPredecessor(before);
  first->set_called({i->called().begin(), i->called().end()});
  return r.Add(done, i->shape(), {first});
}

// Which collectives a pass takes.
struct Chosen {
  std::vector<std::string> opcodes;  // all where none is named
  int64_t bytes = 0;                 // of the operands, at least
  bool generic = false;              // async-start and async-done for all

  static std::vector<std::string> Names(PassArguments& arguments) {
    return arguments.List("opcodes",
                          {"all-gather", "all-reduce", "all-to-all", "collective-broadcast",
                           "collective-permute", "reduce-scatter", "none"},
                          "the collectives; all where none is named");
  }
  bool Takes(Opcode opcode) const {
    return opcodes.empty() || absl::c_linear_search(opcodes, Text(opcode));
  }
  bool Takes(const Instruction& i) const {
    int64_t size = 0;
    for (const Instruction* x : i.operands()) size += x->shape().ByteSize();
    return Takes(i.opcode()) && size >= bytes;
  }
};

Made MakeAsync(Instruction* i, Rewriter& r, const Chosen& chosen) {
  if (!HasTrait(i->opcode(), kCollective) || !chosen.Takes(*i)) return nullptr;
  Instruction* x = i->operand_count() > 0 ? i->operand(0) : nullptr;
  const bool single = i->operand_count() == 1 && i->shape().IsArray();
  if (chosen.generic && single && WholeOf(i->opcode()) == std::nullopt &&
      !HasTrait(i->opcode(), kAsyncStart))
    return WrapAsync(i, r);
  switch (i->opcode()) {
    case Opcode::kAllReduce:
      return Pair<AllReduceAttrs>(i, r, Opcode::kAllReduceStart, Opcode::kAllReduceDone,
                                  i->shape());
    case Opcode::kAllGather:
      if (!single) return nullptr;
      return Pair<AllGatherAttrs>(i, r, Opcode::kAllGatherStart, Opcode::kAllGatherDone,
                                  Shape::Tuple({x->shape(), i->shape()}));
    case Opcode::kCollectivePermute:
      if (!single) return nullptr;
      return Pair<CollectivePermuteAttrs>(i, r, Opcode::kCollectivePermuteStart,
                                          Opcode::kCollectivePermuteDone,
                                          Shape::Tuple({x->shape(), i->shape()}));
    case Opcode::kAllToAll:
    case Opcode::kReduceScatter:
    case Opcode::kCollectiveBroadcast:
      return WrapAsync(i, r);
    default:
      return nullptr;
  }
}

template <typename A>
Made Joined(Instruction* done, Rewriter& r, Opcode opcode) {
  Instruction* start = done->operand(0);
  const std::vector<Instruction*> operands(start->operands().begin(), start->operands().end());
  Instruction* made = r.Add(opcode, done->shape(), operands, start->attr<A>());
  made->set_called({start->called().begin(), start->called().end()});
  return made;
}

bool IsCollectiveBody(const Computation& body) {
  return HasTrait(body.root()->opcode(), kCollective) &&
         body.instruction_count() == body.parameter_count() + 1;
}

Made MakeSync(Instruction* i, Rewriter& r) {
  if (i->operand_count() != 1) return nullptr;
  Instruction* start = i->operand(0);
  if (start->users().size() != 1 || start->IsRoot()) return nullptr;
  switch (start->opcode()) {
    case Opcode::kAllReduceStart:
      return Joined<AllReduceAttrs>(i, r, Opcode::kAllReduce);
    case Opcode::kAllGatherStart:
      return Joined<AllGatherAttrs>(i, r, Opcode::kAllGather);
    case Opcode::kCollectivePermuteStart:
      return Joined<CollectivePermuteAttrs>(i, r, Opcode::kCollectivePermute);
    case Opcode::kAsyncStart: {
      const Computation& body = *start->to_apply();
      if (i->opcode() != Opcode::kAsyncDone || !IsCollectiveBody(body)) return nullptr;
      std::vector<Instruction*> operands;
      for (const Instruction* parameter : body.root()->operands())
        operands.push_back(start->operand(parameter->parameter_number()));
      return r.Clone(body.root(), i->shape(), operands);
    }
    default:
      return nullptr;
  }
}

// What came before or after `old` by control comes before or after `made`; `old` goes. What stood
// between a start and its done stays before `made`, which has the place of the done.
void PassOn(Computation& c, Instruction* old, Instruction* made) {
  old->ReplaceAllUsesWith(made);
  for (Instruction* before : old->control_predecessors()) made->AddControlPredecessor(before);
  const std::vector<Instruction*> after(old->control_successors().begin(),
                                        old->control_successors().end());
  for (Instruction* successor : after)
    if (successor != made && !Needs(made, {successor})) successor->AddControlPredecessor(made);
  c.Remove(old);
}

}  // namespace

absl::StatusOr<bool> MakeAllSync(Computation& c, RewriteControl& control, absl::string_view name,
                                 const OnMadeSync& on_made, const TakesOpcode& takes) {
  bool changed = false;
  Rewriter r(c);
  for (Instruction* i : c.PostOrder()) {
    r.set_subject(i);
    ASSIGN_OR_RETURN(Instruction * made, MakeSync(i, r));
    if (made == nullptr) continue;
    if ((takes && !takes(made->opcode())) || !control.Permit(name, *i, *made)) {
      c.Remove(made);
      continue;
    }
    Instruction* start = i->operand(0);
    if (on_made) on_made(*start, *made);
    PassOn(c, i, made);
    PassOn(c, start, made);
    changed = true;
  }
  if (changed) RemoveUncalled(*c.module());
  return changed;
}

namespace {

absl::StatusOr<bool> ConvertToSync(Computation& c, RewriteControl& control) {
  return MakeAllSync(c, control, "convert-async-collectives-to-sync");
}

class ReplaceAsync final : public ComputationPass {
 public:
  explicit ReplaceAsync(Chosen chosen) : chosen_(std::move(chosen)) {}
  absl::string_view name() const override { return "async-collective-replacer"; }
  absl::StatusOr<bool> RunOnComputation(Computation& c) override {
    return MakeAllSync(c, control(), name(), nullptr,
                       [this](Opcode opcode) { return chosen_.Takes(opcode); });
  }

 private:
  Chosen chosen_;
};

// Calls that stand for what no opcode says yet: a collective between a start and a done.
Made RewriteCalls(Instruction* i, Rewriter& r) {
  if (!IsUnaryCallOf(i, "AsyncCollectiveDone")) return nullptr;
  const Instruction* start = i->operand(0);
  if (!IsUnaryCallOf(start, "AsyncCollectiveStart") || start->users().size() != 1) return nullptr;
  Instruction* collective = start->operand(0);
  const bool alone =
      collective->users().size() == 1 && !collective->IsRoot() && !HasControlEdges(*collective);
  if (!HasTrait(collective->opcode(), kCollective) || !alone ||
      HasTrait(collective->opcode(), kAsyncStart) || !SameShape(collective->shape(), i->shape()))
    return nullptr;
  return WrapAsync(collective, r);
}

// Each collective comes after the end of the one before it: of an asynchronous one, its done.
absl::StatusOr<bool> Linearize(Computation& c) {
  bool changed = false;
  Instruction* last = nullptr;
  for (Instruction* i : c.PostOrder()) {
    if (!HasTrait(i->opcode(), kCollective)) continue;
    if (last != nullptr && !Needs(i, {last}) && !Needs(last, {i})) {
      i->AddControlPredecessor(last);
      changed = true;
    }
    const bool starts = HasTrait(i->opcode(), kAsyncStart) && i->users().size() == 1;
    last = starts ? i->users()[0] : i;
  }
  return changed;
}

bool SameTransfer(const Instruction* a, const Instruction* b) {
  if (a->opcode() != b->opcode() || a->operands() != b->operands() || a->shape() != b->shape())
    return false;
  auto equal = [&]<typename A>(A) {
    A x = a->attr<A>(), y = b->attr<A>();
    if (x.channel_id.has_value() != y.channel_id.has_value()) return false;
    y.channel_id = x.channel_id;
    return x == y;
  };
  return a->opcode() == Opcode::kAllGather ? equal(AllGatherAttrs())
                                           : equal(CollectivePermuteAttrs());
}

// Equal transfers that `wanted` takes, at most `distance` places apart in the schedule.
absl::StatusOr<bool> ShareTransfers(Computation& c, RewriteControl& control, absl::string_view name,
                                    absl::Span<const Opcode> wanted,
                                    int64_t distance = std::numeric_limits<int64_t>::max()) {
  struct Kept {
    Instruction* transfer;
    int64_t place;
  };
  bool changed = false;
  std::vector<Kept> kept;
  int64_t place = 0;
  for (Instruction* i : c.ScheduleOrPostOrder()) {
    ++place;
    if (std::find(wanted.begin(), wanted.end(), i->opcode()) == wanted.end() || HasControlEdges(*i))
      continue;
    const auto same = std::find_if(kept.rbegin(), kept.rend(), [&](const Kept& other) {
      return place - other.place <= distance && SameTransfer(other.transfer, i);
    });
    if (same == kept.rend() || !control.Permit(name, *i, *same->transfer)) {
      kept.push_back({i, place});
      continue;
    }
    i->ReplaceAllUsesWith(same->transfer);
    c.Remove(i);
    changed = true;
  }
  return changed;
}

absl::StatusOr<bool> ShareAllGathers(Computation& c, RewriteControl& control) {
  return ShareTransfers(c, control, "all-gather-cse", {Opcode::kAllGather});
}

class ScheduleAwareCse final : public ComputationPass {
 public:
  explicit ScheduleAwareCse(int64_t distance) : distance_(distance) {}
  absl::string_view name() const override { return "schedule-aware-collective-cse"; }
  absl::StatusOr<bool> RunOnComputation(Computation& c) override {
    return ShareTransfers(c, control(), name(), {Opcode::kAllGather, Opcode::kCollectivePermute},
                          distance_);
  }

 private:
  int64_t distance_;
};

}  // namespace

// async-collective-creator: all-reduce, all-gather and collective-permute become their start and
// done forms, all-to-all, reduce-scatter and collective-broadcast async-start and async-done around
// a computation of their own. Those with several operands stay where their start form would be a
// nested tuple. Options: `opcodes`, `bytes`, `generic`. Exact.
std::unique_ptr<Pass> CreateAsyncCollectiveCreator(PassArguments& arguments) {
  Chosen chosen;
  chosen.opcodes = Chosen::Names(arguments);
  chosen.bytes = arguments.Int("bytes", 0, "collectives of smaller operands stay");
  chosen.generic = arguments.Flag("generic", "all become async-start and async-done");
  return MakeExpander("async-collective-creator",
                      [chosen](Instruction* i, Rewriter& r) { return MakeAsync(i, r, chosen); });
}

// convert-async-collectives-to-sync: the inverse. Starts that anything but their done reads stay.
std::unique_ptr<Pass> CreateConvertAsyncCollectivesToSync() {
  return MakeComputationPass("convert-async-collectives-to-sync", ConvertToSync);
}

// async-collective-replacer: the same, by the name of the pass that undoes
// async-collective-creator. Option `opcodes`; "none" takes none, as XLA's pass by default does.
std::unique_ptr<Pass> CreateAsyncCollectiveReplacer(PassArguments& arguments) {
  Chosen chosen;
  chosen.opcodes = Chosen::Names(arguments);
  return std::make_unique<ReplaceAsync>(std::move(chosen));
}

// async-collective-custom-call-rewriter: a collective that only a custom call AsyncCollectiveStart
// reads, which only one of AsyncCollectiveDone reads, becomes async-start and async-done. Exact.
std::unique_ptr<Pass> CreateAsyncCollectiveCustomCallRewriter() {
  return MakeExpander("async-collective-custom-call-rewriter", RewriteCalls);
}

// collectives-schedule-linearizer: control dependences make collectives run one after another, in
// the order of their computation.
std::unique_ptr<Pass> CreateCollectivesScheduleLinearizer() {
  return MakeComputationPass("collectives-schedule-linearizer", Linearize);
}

// all-gather-cse: equal all-gathers of the same array are made once.
std::unique_ptr<Pass> CreateAllGatherCse() {
  return MakeComputationPass("all-gather-cse", ShareAllGathers);
}

// schedule-aware-collective-cse: the same of both, where the two stand no farther apart in the
// order of their computation than option `distance` says (1000), so that no array is kept for long.
std::unique_ptr<Pass> CreateScheduleAwareCollectiveCse(PassArguments& arguments) {
  return std::make_unique<ScheduleAwareCse>(
      arguments.Int("distance", 1000, "at most so many places apart"));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
