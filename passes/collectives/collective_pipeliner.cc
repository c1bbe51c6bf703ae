// Collectives of loops, one round earlier or later, or after all rounds.
//   while { s[i] = all-gather(f(i)) }
//     ->  x = f(0); while { s[i-1] = all-gather(x); x = f(i) }; s[n-1] = all-gather(x)
#include <algorithm>

#include "passes/cleanup/tuple_simplifier.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/inline_body.h"
#include "passes/rewrite/while_state.h"

namespace hlokit {
namespace {

using Parts = std::vector<Instruction*>;

struct CountedLoop {
  WhileState state;
  LoopCount count;
};

bool ReadsOnlyParts(const Instruction* tuple) {
  return std::all_of(tuple->users().begin(), tuple->users().end(), [](const Instruction* user) {
    return user->opcode() == Opcode::kGetTupleElement;
  });
}

std::optional<CountedLoop> Match(Instruction* i) {
  const std::optional<WhileState> state = WhileState::Of(i);
  if (!state || i->HasSideEffect() || i->operand(0)->shape() != i->shape() ||
      state->root->shape() != i->shape() || state->parameter->shape() != i->shape() ||
      state->condition->parameter(0)->shape() != i->shape() || state->root->users().size() != 0 ||
      !ReadsOnlyParts(state->parameter) || !ReadsOnlyParts(state->condition->parameter(0)))
    return std::nullopt;
  const std::optional<LoopCount> count = CountLoop(*state);
  if (!count || count->trips < 1) return std::nullopt;
  return CountedLoop{*state, *count};
}

bool IsPlainCollective(const Instruction* i) {
  return HasTrait(i->opcode(), kCollective) && !HasTrait(i->opcode(), kAsyncStart) &&
         !HasTrait(i->opcode(), kAsyncDone) && i->operand_count() == 1 && i->shape().IsArray() &&
         i->control_predecessors().empty() && i->control_successors().empty();
}

// The only read of part k within the tuple's computation; null where there are more, or none.
Instruction* OnlyRead(const Instruction* tuple, int64_t k) {
  Instruction* read = nullptr;
  for (Instruction* user : tuple->users()) {
    if (user->tuple_index() != k) continue;
    if (read != nullptr) return nullptr;
    read = user;
  }
  return read;
}

bool IsRead(const Instruction* tuple, int64_t k) {
  return std::any_of(tuple->users().begin(), tuple->users().end(),
                     [&](const Instruction* user) { return user->tuple_index() == k; });
}

Parts PartsOf(HloWriter& w, Instruction* tuple) {
  Parts parts;
  for (size_t k = 0; k < tuple->shape().elements.size(); ++k)
    parts.push_back(w.Part(tuple, static_cast<int64_t>(k)));
  return parts;
}

// An update of part `part`, and what makes it out of a collective: after that, in order, what
// only changes the form of its result.
struct Delayed {
  int64_t part;
  Instruction* update;
  Instruction* collective;
  Parts forms;
};

bool ChangesForm(const Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kReshape:
    case Opcode::kBitcast:
    case Opcode::kTranspose:
    case Opcode::kBroadcast:
    case Opcode::kCopy:
    case Opcode::kConvert:
    case Opcode::kNegate:
      return i->control_predecessors().empty() && i->control_successors().empty();
    default:
      return false;
  }
}

// The update that part k gets in each round, if a collective makes it and nothing else reads any of
// these, nor the part.
std::optional<Delayed> DelayedUpdate(const WhileState& loop, int64_t k) {
  Instruction* update = loop.root->operand(k);
  const auto places =
      std::count(loop.root->operands().begin(), loop.root->operands().end(), update);
  if (update->opcode() != Opcode::kDynamicUpdateSlice || update->users().size() != 1 ||
      places != 1 || !update->control_predecessors().empty() ||
      !update->control_successors().empty())
    return std::nullopt;
  const Instruction* read = OnlyRead(loop.parameter, k);
  if (read == nullptr || update->operand(0) != read || read->users().size() != 1 ||
      IsRead(loop.condition->parameter(0), k) ||
      std::count(update->operands().begin(), update->operands().end(), read) != 1)
    return std::nullopt;
  Delayed delayed{k, update, nullptr, {}};
  Instruction* value = update->operand(1);
  while (ChangesForm(value) && value->users().size() == 1) {
    delayed.forms.push_back(value);
    value = value->operand(0);
  }
  std::reverse(delayed.forms.begin(), delayed.forms.end());
  if (!IsPlainCollective(value) || value->users().size() != 1) return std::nullopt;
  delayed.collective = value;
  return delayed;
}

// The update of `into`, from what was kept.
Instruction* MakeUpdate(Rewriter& r, const Delayed& delayed, Instruction* into,
                        absl::Span<Instruction* const> kept) {
  Instruction* value = r.Clone(delayed.collective, delayed.collective->shape(), {kept[0]});
  for (const Instruction* form : delayed.forms) value = r.Clone(form, form->shape(), {value});
  Parts operands = {into, value};
  operands.insert(operands.end(), kept.begin() + 1, kept.end());
  return r.Clone(delayed.update, delayed.update->shape(), operands);
}

// A loop over `start` with the body that `round` writes: it gets the state and gives the next. The
// condition is the old one on what `tested` makes of the state.
template <typename Round, typename Tested>
Instruction* MakeLoop(Rewriter& r, const WhileState& old, Instruction* start, Round round,
                      Tested tested) {
  Module& module = *old.loop->module();
  Computation* body = module.AddComputation(old.body->name());
  Rewriter inside(*body);
  body->set_root(round(inside, body->AddParameter(0, start->shape())));
  Computation* condition = module.AddComputation(old.condition->name());
  Rewriter test(*condition);
  Instruction* state = tested(test, condition->AddParameter(0, start->shape()));
  condition->set_root(CopyBody(*old.condition, {state}, *condition));
  for (Computation* c : {body, condition}) {
    SimplifyTuples(*c);
    RemoveDead(*c);
  }
  Instruction* loop = r.Add(Opcode::kWhile, start->shape(), {start});
  loop->set_called({condition, body});
  return loop;
}

// The parts of `state` that the old loop had, as its tuple.
Instruction* Narrow(Rewriter& r, Instruction* state, size_t parts) {
  HloWriter w(r);
  Parts narrow = PartsOf(w, state);
  narrow.resize(parts);
  return w.Tuple(narrow);
}

class ForwardPipeliner {
 public:
  ForwardPipeliner(const CountedLoop& loop, std::vector<Delayed> delayed)
      : old_(loop.state), delayed_(std::move(delayed)), parts_(old_.root->operand_count()) {}

  Instruction* Make(Rewriter& r) {
    Computation* round = RoundWithoutUpdates();
    HloWriter w(r);
    Instruction* first =
        w.Tuple(PartsOf(w, CopyBody(*round, {old_.loop->operand(0)}, *old_.loop->parent())));
    Instruction* loop = MakeLoop(
        r, old_, first,
        [&](Rewriter& inside, Instruction* state) {
          return CopyBody(*round, {Updated(inside, state)}, *state->parent());
        },
        [&](Rewriter& test, Instruction* state) { return Narrow(test, state, parts_); });
    return Updated(r, loop);
  }

 private:
  // The old body with the parts left as they were, and what is kept after them.
  Computation* RoundWithoutUpdates() {
    Computation* round = old_.body->Clone(".round");
    Rewriter r(*round);
    Parts next(round->root()->operands().begin(), round->root()->operands().end());
    for (const Delayed& delayed : delayed_) {
      Instruction* update = next[delayed.part];
      next[delayed.part] = update->operand(0);
      Instruction* x = update->operand(1);
      for (size_t k = 0; k <= delayed.forms.size(); ++k) x = x->operand(0);
      next.push_back(x);
      next.insert(next.end(), update->operands().begin() + 2, update->operands().end());
    }
    round->set_root(HloWriter(r).Tuple(next));
    RemoveDead(*round);
    return round;
  }

  // The old loop's tuple, the updates that wait made.
  Instruction* Updated(Rewriter& r, Instruction* state) {
    HloWriter w(r);
    Parts parts = PartsOf(w, state);
    size_t at = parts_;
    for (const Delayed& delayed : delayed_) {
      const size_t size = delayed.update->operand_count() - 1;
      parts[delayed.part] =
          MakeUpdate(r, delayed, parts[delayed.part], absl::MakeConstSpan(parts).subspan(at, size));
      at += size;
    }
    parts.resize(parts_);
    return w.Tuple(parts);
  }

  WhileState old_;
  std::vector<Delayed> delayed_;
  size_t parts_;
};

std::vector<Delayed> DelayedUpdates(const CountedLoop& loop) {
  std::vector<Delayed> found;
  for (int64_t k = 0; k < loop.state.root->operand_count(); ++k) {
    auto update = DelayedUpdate(loop.state, k);
    // One that reads the state as it stands was delayed before.
    if (update && update->collective->operand(0)->opcode() != Opcode::kGetTupleElement)
      found.push_back(*std::move(update));
  }
  return found;
}

// Whether `i` needs only the counter, which it does need, and parts of the state that never change.
bool FollowsFromCounter(Instruction* i, const CountedLoop& loop) {
  const std::optional<DimVector> parts = PartsRead(i, loop.state.parameter);
  if (!parts || std::find(parts->begin(), parts->end(), loop.count.index) == parts->end())
    return false;
  return std::all_of(parts->begin(), parts->end(),
                     [&](int64_t k) { return k == loop.count.index || loop.state.IsInvariant(k); });
}

// Collectives that the round before could make. One that only becomes state was made so already.
Parts Fetchable(const CountedLoop& loop) {
  Parts found;
  for (Instruction* i : loop.state.body->PostOrder()) {
    if (!IsPlainCollective(i) || !FollowsFromCounter(i, loop)) continue;
    if (std::any_of(i->users().begin(), i->users().end(),
                    [&](const Instruction* user) { return user != loop.state.root; }))
      found.push_back(i);
  }
  return found;
}

class BackwardPipeliner {
 public:
  BackwardPipeliner(const CountedLoop& loop, const Parts& fetched)
      : old_(loop.state), count_(loop.count), parts_(old_.root->operand_count()) {
    // Copies of the body whose root gives the collectives too.
    Parts next(old_.root->operands().begin(), old_.root->operands().end());
    next.insert(next.end(), fetched.begin(), fetched.end());
    Rewriter r(*old_.body);
    Instruction* whole = HloWriter(r).Tuple(next);
    old_.body->set_root(whole);
    fetch_ = old_.body->Clone(".fetch");
    round_ = old_.body->Clone(".round");
    old_.body->set_root(old_.root);
    old_.body->Remove(whole);
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

// Whether the update writes row i of an array of as many rows as the loop has rounds, in round i.
bool WritesRowOfRound(const Delayed& delayed, const CountedLoop& loop) {
  const Instruction* update = delayed.update;
  const Shape& rows = update->shape();
  const Shape& row = update->operand(1)->shape();
  if (rows.rank() == 0 || update->operand_count() != 2 + rows.rank() || loop.count.init != 0 ||
      loop.count.step != 1 || rows.dims[0] != loop.count.trips || row.dims[0] != 1)
    return false;
  const Instruction* at = update->operand(2);
  while (at->opcode() == Opcode::kReshape || at->opcode() == Opcode::kConvert) at = at->operand(0);
  if (at->opcode() != Opcode::kGetTupleElement || at->operand(0) != loop.state.parameter ||
      at->tuple_index() != loop.count.index || BitWidth(update->operand(2)->shape().type) < 32)
    return false;
  return std::equal(rows.dims.begin() + 1, rows.dims.end(), row.dims.begin() + 1);
}

std::vector<Delayed> SinkableUpdates(const CountedLoop& loop) {
  std::vector<Delayed> found;
  for (int64_t k = 0; k < loop.state.root->operand_count(); ++k) {
    auto update = DelayedUpdate(loop.state, k);
    if (!update || update->collective->opcode() != Opcode::kAllReduce ||
        !WritesRowOfRound(*update, loop))
      continue;
    if (std::all_of(update->forms.begin(), update->forms.end(), [](const Instruction* form) {
          return form->opcode() == Opcode::kReshape || form->opcode() == Opcode::kTranspose ||
                 form->opcode() == Opcode::kCopy;
        }))
      found.push_back(*std::move(update));
  }
  return found;
}

Instruction* ReduceBehind(Rewriter& r, const WhileState& old, const std::vector<Delayed>& updates) {
  Parts next(old.root->operands().begin(), old.root->operands().end());
  Instruction* loop = MakeLoop(
      r, old, old.loop->operand(0),
      [&](Rewriter&, Instruction* state) {
        Computation& body = *state->parent();
        Parts all = next;
        for (const Delayed& u : updates) all.push_back(u.collective);
        Rewriter outer(*old.body);
        Instruction* whole = HloWriter(outer).Tuple(all);
        old.body->set_root(whole);
        Instruction* copy = CopyBody(*old.body, {state}, body);
        old.body->set_root(old.root);
        old.body->Remove(whole);
        for (size_t k = next.size(); k < all.size(); ++k)
          copy->operand(k)->ReplaceAllUsesWith(copy->operand(k)->operand(0));
        Rewriter inner(body);
        return HloWriter(inner).Tuple(
            Parts(copy->operands().begin(), copy->operands().begin() + next.size()));
      },
      [](Rewriter&, Instruction* state) { return state; });
  HloWriter w(r);
  Parts parts = PartsOf(w, loop);
  for (const Delayed& u : updates)
    parts[u.part] = r.Clone(u.collective, u.update->shape(), {parts[u.part]});
  return w.Tuple(parts);
}

// Rewrites each loop that `find` finds something in by what `make` makes of it.
template <typename Find, typename Makes>
absl::StatusOr<bool> Pipeline(Computation& c, RewriteControl& control, absl::string_view name,
                              Find find, Makes make) {
  bool changed = false;
  for (Instruction* i : c.PostOrder()) {
    const std::optional<CountedLoop> loop = Match(i);
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

absl::StatusOr<bool> PipelineForward(Computation& c, RewriteControl& control) {
  return Pipeline(c, control, "collective-pipeliner-forward", DelayedUpdates,
                  [](Rewriter& r, const CountedLoop& loop, const std::vector<Delayed>& found) {
                    return ForwardPipeliner(loop, found).Make(r);
                  });
}
absl::StatusOr<bool> PipelineBackward(Computation& c, RewriteControl& control) {
  return Pipeline(c, control, "collective-pipeliner-backward", Fetchable,
                  [](Rewriter& r, const CountedLoop& loop, const Parts& found) {
                    return BackwardPipeliner(loop, found).Make(r);
                  });
}
absl::StatusOr<bool> SinkForward(Computation& c, RewriteControl& control) {
  return Pipeline(c, control, "collective-pipeliner-forward-sink", SinkableUpdates,
                  [](Rewriter& r, const CountedLoop& loop, const std::vector<Delayed>& found) {
                    return ReduceBehind(r, loop.state, found);
                  });
}

}  // namespace

// collective-pipeliner-forward. Matches collectives whose result, perhaps reshaped or converted, a
// round does nothing with but write it into a part of the state that it does not read: each round
// makes that of the round before, which waits in the state; the last is made after the loop.
std::unique_ptr<Pass> CreateCollectivePipelinerForward() {
  return MakeComputationPass("collective-pipeliner-forward", PipelineForward);
}

// collective-pipeliner-backward. Matches collectives that need only the loop's counter and what
// never changes: each round makes that of the next round, the first is made before the loop, and
// the last round runs after it.
std::unique_ptr<Pass> CreateCollectivePipelinerBackward() {
  return MakeComputationPass("collective-pipeliner-backward", PipelineBackward);
}

// collective-pipeliner-forward-sink. Matches all-reduces that each round writes as a row of its own
// of an array that the loop fills from the first row to the last: one all-reduce of the whole array
// follows the loop.
std::unique_ptr<Pass> CreateCollectivePipelinerForwardSink() {
  return MakeComputationPass("collective-pipeliner-forward-sink", SinkForward);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
