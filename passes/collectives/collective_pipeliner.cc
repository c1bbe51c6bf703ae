// Collectives of loops, one iteration earlier or later.
//   while { s[i] = all-gather(f(i)) }
//     ->  x = f(0); while { s[i-1] = all-gather(x); x = f(i) }; s[n-1] = all-gather(x)
// Forward: the collective and all that follows from it until an array of the state is updated
// (loop_updates.h) happen an iteration later. What they read waits in the state: the start index of
// the update, other operands, and the collective's operand. Where that has as many elements as the
// update, it waits in the updated array itself, at the place of its result, and takes no memory.
// Backward: see BackwardPipeliner.
// Cost: linear in the loop's body for each collective.
#include <algorithm>
#include <functional>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "passes/cleanup/tuple_simplifier.h"
#include "passes/collectives/loop_updates.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/device_groups.h"
#include "passes/rewrite/inline_body.h"

namespace hlokit {
namespace {

using Parts = std::vector<Instruction*>;

// Values by the instructions of the loop's body that they stand for.
using Values = absl::flat_hash_map<const Instruction*, Instruction*>;

class ForwardPipeliner {
 public:
  ForwardPipeliner(const CollectiveLoop& loop, std::vector<LoopUpdates> delayed)
      : old_(loop.state), delayed_(std::move(delayed)), parts_(old_.root->operand_count()) {}

  Instruction* Make(Rewriter& r) {
    Computation* round = RoundWithoutUpdates();
    Instruction* first = CopyBody(*round, {old_.loop->operand(0)}, *old_.loop->parent(), &made_);
    GiveOwnChannels();
    Instruction* loop = MakeLoop(
        r, old_, first,
        [&](Rewriter& inside, Instruction* state) {
          return CopyBody(*round, {Updated(inside, state)}, *state->parent());
        },
        [&](Rewriter& test, Instruction* state) { return Narrow(test, state, parts_); });
    return Updated(r, loop);
  }

 private:
  // How an input of a delayed group reaches the iteration in which that happens.
  enum class Way {
    kCopied,   // follows from constants
    kPart,     // a part of the state that never changes
    kInArray,  // waits in the array that the group updates
    kKept,     // waits in a part of its own
  };

  // Whether what `input` gives can wait where the group's only update will write.
  static bool WaitsInArray(const LoopUpdates& group, const Instruction* input) {
    const Instruction* first = group.moved[0];
    return group.updates.size() == 1 && input == first->operand(0) &&
           input->shape().type == group.updates[0]->operand(1)->shape().type &&
           input->shape().ElementCount() == group.updates[0]->operand(1)->shape().ElementCount();
  }
  Way WayOf(const LoopUpdates& group, const Instruction* input) const {
    switch (KindOf(input, old_)) {
      case LoopInputKind::kConstant:
        return Way::kCopied;
      case LoopInputKind::kPart:
        return Way::kPart;
      case LoopInputKind::kOther:
        return WaitsInArray(group, input) ? Way::kInArray : Way::kKept;
    }
    return Way::kKept;
  }

  // The old body with the arrays as they were but for what waits in them, and what is kept after.
  Computation* RoundWithoutUpdates() {
    Rewriter r(*old_.body);
    Parts next(old_.root->operands().begin(), old_.root->operands().end());
    Parts temporary;
    for (const LoopUpdates& group : delayed_) {
      for (size_t k = 0; k < group.updates.size(); ++k)
        next[group.parts[k]] = group.updates[k]->operand(0);
      for (Instruction* input : group.Inputs()) {
        const Way way = WayOf(group, input);
        if (way == Way::kKept) next.push_back(input);
        if (way != Way::kInArray) continue;
        Instruction* update = group.updates[0];
        Parts operands(update->operands().begin(), update->operands().end());
        operands[1] = input;
        if (!SameDims(input->shape(), update->operand(1)->shape()))
          temporary.push_back(operands[1] = r.Reshape(input, update->operand(1)->shape()));
        temporary.push_back(r.Clone(update, update->shape(), operands));
        next[group.parts[0]] = temporary.back();
      }
    }
    Computation* round = nullptr;
    {
      const OtherRoot root(old_, next);
      round = old_.body->Clone(".round");
    }
    for (auto i = temporary.rbegin(); i != temporary.rend(); ++i) old_.body->Remove(*i);
    RemoveDead(*round);
    return round;
  }

  // The old loop's tuple, the updates that wait made.
  Instruction* Updated(Rewriter& r, Instruction* state) {
    HloWriter w(r);
    Parts parts = PartsOf(w, state);
    size_t at = parts_;
    for (const LoopUpdates& group : delayed_) {
      Values values;
      const Instruction* in_array = nullptr;
      for (const Instruction* input : group.Inputs()) {
        switch (WayOf(group, input)) {
          case Way::kCopied:
            values[input] = CopyExpression(r, input);
            break;
          case Way::kPart:
            values[input] = parts[input->tuple_index()];
            break;
          case Way::kInArray:
            in_array = input;
            break;
          case Way::kKept:
            values[input] = parts[at++];
            break;
        }
      }
      if (in_array != nullptr)
        values[in_array] = FromArray(w, in_array, *group.updates[0], parts[group.parts[0]], values);
      for (const Instruction* i : group.moved) values[i] = CloneOf(r, i, values);
      for (size_t k = 0; k < group.updates.size(); ++k) {
        values[group.updates[k]->operand(0)] = parts[group.parts[k]];
        parts[group.parts[k]] = CloneOf(r, group.updates[k], values);
      }
    }
    parts.resize(parts_);
    return w.Tuple(parts);
  }

  // What waits in `array` where the update will write.
  static Instruction* FromArray(HloWriter& w, const Instruction* input, const Instruction& update,
                                Instruction* array, const Values& values) {
    Parts starts;
    for (const Instruction* start : update.operands().subspan(2))
      starts.push_back(values.at(start));
    const Shape& slice = update.operand(1)->shape();
    Instruction* value = w.DynamicSlice(array, starts, slice.dims);
    return SameDims(slice, input->shape()) ? value : w.rewriter().Reshape(value, input->shape());
  }

  static Instruction* CloneOf(Rewriter& r, const Instruction* i, const Values& values) {
    Parts operands;
    for (const Instruction* x : i->operands()) operands.push_back(values.at(x));
    return r.Clone(i, i->shape(), operands);
  }

  // The host tells the transfers of the first iteration, which stand before the loop, from the
  // loop's by their channels.
  void GiveOwnChannels() {
    int64_t next = LargestChannel(*old_.loop->module()) + 1;
    absl::flat_hash_map<int64_t, int64_t> channels;
    for (Instruction* i : made_) {
      if (!IsHostTransfer(i) || !i->attr<SendRecvAttrs>().channel_id) continue;
      std::optional<int64_t>& channel = i->mutable_attr<SendRecvAttrs>().channel_id;
      const auto [own, is_new] = channels.emplace(*channel, next);
      if (is_new) ++next;
      channel = own->second;
    }
  }

  WhileState old_;
  std::vector<LoopUpdates> delayed_;
  size_t parts_;
  Parts made_;  // of the first iteration
};

// Groups whose updates never write a slice twice.
std::vector<LoopUpdates> DelayedUpdates(const CollectiveLoop& loop,
                                        absl::Span<const Opcode> collectives) {
  std::vector<LoopUpdates> found;
  for (LoopUpdates& group : FindLoopUpdates(loop, collectives, false)) {
    if (std::all_of(group.updates.begin(), group.updates.end(), [&](const Instruction* update) {
          const auto rows = RowsWritten(update, loop);
          return rows && (std::is_sorted(rows->begin(), rows->end(), std::less_equal<>()) ||
                          std::is_sorted(rows->begin(), rows->end(), std::greater_equal<>()));
        }))
      found.push_back(std::move(group));
  }
  return found;
}

// Whether `i` needs only the counter, which it does need, and parts of the state that never change.
bool FollowsFromCounter(Instruction* i, const CollectiveLoop& loop) {
  const std::optional<DimVector> parts = PartsRead(i, loop.state.parameter);
  if (!parts || std::find(parts->begin(), parts->end(), loop.count.index) == parts->end())
    return false;
  return std::all_of(parts->begin(), parts->end(),
                     [&](int64_t k) { return k == loop.count.index || loop.state.IsInvariant(k); });
}

// Collectives that the round before could make. One that only becomes state was made so already.
Parts Fetchable(const CollectiveLoop& loop, absl::Span<const Opcode> collectives) {
  Parts found;
  for (Instruction* i : loop.state.body->PostOrder()) {
    if (!IsPlainCollective(i) || !absl::c_linear_search(collectives, i->opcode()) ||
        !FollowsFromCounter(i, loop))
      continue;
    if (std::any_of(i->users().begin(), i->users().end(),
                    [&](const Instruction* user) { return user != loop.state.root; }))
      found.push_back(i);
  }
  return found;
}

class BackwardPipeliner {
 public:
  BackwardPipeliner(const CollectiveLoop& loop, const Parts& fetched)
      : old_(loop.state), count_(loop.count), parts_(old_.root->operand_count()) {
    // Copies of the body whose root gives the collectives too.
    Parts next(old_.root->operands().begin(), old_.root->operands().end());
    next.insert(next.end(), fetched.begin(), fetched.end());
    {
      const OtherRoot root(old_, next);
      fetch_ = old_.body->Clone(".fetch");
      round_ = old_.body->Clone(".round");
    }
    GiveFetched();
    TakeFetched();
  }

  Instruction* Make(Rewriter& r) {
    Computation& outer = *old_.loop->parent();
    Instruction* start = old_.loop->operand(0);
    Instruction* loop = MakeLoop(
        r, old_, Joined(r, start, CopyBody(*fetch_, {start}, outer)),
        [&](Rewriter& inside, Instruction* state) {
          Instruction* next = RunRound(inside, state);
          return Joined(inside, next, CopyBody(*fetch_, {next}, *state->parent()));
        },
        [&](Rewriter& test, Instruction* state) { return Stepped(test, state); });
    return RunRound(r, loop);
  }

 private:
  void GiveFetched() {
    Rewriter r(*fetch_);
    const absl::Span<Instruction* const> all = fetch_->root()->operands();
    fetch_->set_root(HloWriter(r).Tuple(Parts(all.begin() + parts_, all.end())));
    RemoveDead(*fetch_);
  }
  void TakeFetched() {
    Rewriter r(*round_);
    HloWriter w(r);
    Instruction* whole = round_->root();
    Instruction* given = round_->AddParameter(1, fetch_->root()->shape());
    for (size_t k = parts_; k < static_cast<size_t>(whole->operand_count()); ++k)
      whole->operand(k)->ReplaceAllUsesWith(w.Part(given, static_cast<int64_t>(k - parts_)));
    round_->set_root(w.Tuple(Parts(whole->operands().begin(), whole->operands().begin() + parts_)));
    RemoveDead(*round_);
  }
  // The state after a round with what was fetched for it.
  Instruction* RunRound(Rewriter& r, Instruction* state) {
    HloWriter w(r);
    const Parts parts = PartsOf(w, state);
    return CopyBody(*round_,
                    {w.Tuple(absl::MakeConstSpan(parts).first(parts_)),
                     w.Tuple(absl::MakeConstSpan(parts).subspan(parts_))},
                    *state->parent());
  }
  static Instruction* Joined(Rewriter& r, Instruction* state, Instruction* fetched) {
    HloWriter w(r);
    Parts parts = PartsOf(w, state);
    const Parts more = PartsOf(w, fetched);
    parts.insert(parts.end(), more.begin(), more.end());
    return w.Tuple(parts);
  }
  // The old state as the condition would see it a round later.
  Instruction* Stepped(Rewriter& r, Instruction* state) {
    HloWriter w(r);
    Parts parts = PartsOf(w, state);
    parts.resize(parts_);
    Instruction*& counter = parts[count_.index];
    counter = w.WithInteger(Opcode::kAdd, counter, count_.step);
    return w.Tuple(parts);
  }

  WhileState old_;
  LoopCount count_;
  size_t parts_;
  Computation *fetch_ = nullptr, *round_ = nullptr;
};

// Rewrites each loop that `find` finds something in by what `make` makes of it.
template <typename Find, typename Makes>
absl::StatusOr<bool> Pipeline(Computation& c, RewriteControl& control, absl::string_view name,
                              Find find, Makes make) {
  bool changed = false;
  for (Instruction* i : c.PostOrder()) {
    const std::optional<CollectiveLoop> loop = MatchCountedLoop(i);
    if (!loop) continue;
    const auto found = find(*loop);
    if (found.empty() || !control.Permit(name, *i, *i)) continue;
    Rewriter r(c);
    r.set_subject(i);
    i->ReplaceAllUsesWith(make(r, *loop, found));
    c.RemoveIfDead(i);
    changed = true;
  }
  if (!changed) return false;
  SimplifyTuples(c);
  RemoveDead(c);
  RemoveUncalled(*c.module());
  return true;
}

// Moves what `find` finds in a loop, by a Pipeliner.
template <typename Pipeliner, auto find>
class CollectivePipeliner : public ComputationPass {
 public:
  CollectivePipeliner(absl::string_view name, std::vector<Opcode> collectives)
      : name_(name), collectives_(std::move(collectives)) {}
  absl::string_view name() const override { return name_; }
  absl::StatusOr<bool> RunOnComputation(Computation& c) override {
    return Pipeline(
        c, control(), name(), [&](const CollectiveLoop& loop) { return find(loop, collectives_); },
        [](Rewriter& r, const CollectiveLoop& loop, const auto& found) {
          return Pipeliner(loop, found).Make(r);
        });
  }

 private:
  absl::string_view name_;
  std::vector<Opcode> collectives_;
};

}  // namespace

// collective-pipeliner-forward. Matches collectives whose result, perhaps reshaped, converted,
// summed or combined with other values, an iteration does nothing with but write it as a slice of
// arrays of the state that it does not read: each iteration finishes what the one before has begun;
// the last is finished after the loop. Option `opcodes`: the collectives.
std::unique_ptr<Pass> CreateCollectivePipelinerForward(PassArguments& arguments) {
  return std::make_unique<CollectivePipeliner<ForwardPipeliner, DelayedUpdates>>(
      "collective-pipeliner-forward", CollectivesOf(arguments, {"all-reduce", "reduce-scatter"}));
}

// collective-pipeliner-backward. Matches collectives that need only the loop's counter and what
// never changes: each iteration makes that of the next, the first is made before the loop, and the
// last iteration runs after it. Option `opcodes`: the collectives.
std::unique_ptr<Pass> CreateCollectivePipelinerBackward(PassArguments& arguments) {
  return std::make_unique<CollectivePipeliner<BackwardPipeliner, Fetchable>>(
      "collective-pipeliner-backward", CollectivesOf(arguments, kPipelinedCollectives));
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
