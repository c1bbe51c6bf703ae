// A depth-first search from each collective through its users: every path must end in an update of
// a part of the state that the iteration reads nowhere else. Then the update may happen later.
// Cost: linear in the body for each collective, plus RowsWritten.
#include "passes/collectives/loop_updates.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "interpreter/interpreter.h"
#include "passes/cleanup/tuple_simplifier.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/inline_body.h"

namespace hlokit {
namespace {

using Set = absl::flat_hash_set<const Instruction*>;
using Map = absl::flat_hash_map<const Instruction*, Instruction*>;

// The most instructions of an expression that is copied or evaluated; bounds the recursion too.
constexpr size_t kMaxExpression = 256;

bool ReadsOnlyParts(const Instruction* tuple) {
  return std::all_of(tuple->users().begin(), tuple->users().end(), [](const Instruction* user) {
    return user->opcode() == Opcode::kGetTupleElement;
  });
}

bool HasOtherEffects(const Computation& body) {
  bool has = false;
  body.ForEach([&](Instruction* i) { has |= i->HasSideEffect() && !IsHostTransfer(i); });
  return has;
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

// What the update changes, optimization barriers not counted.
const Instruction* ArrayOf(const Instruction* update) {
  const Instruction* array = update->operand(0);
  while (array->opcode() == Opcode::kOptimizationBarrier && array->users().size() == 1 &&
         !HasControlEdges(*array))
    array = array->operand(0);
  return array;
}

// The part of the state of which `i` is the next value, where the iteration neither reads the part
// otherwise nor the value; nothing where `i` is something else.
std::optional<int64_t> PartUpdated(const Instruction* i, const WhileState& loop) {
  if (i->opcode() != Opcode::kDynamicUpdateSlice || i->users().size() != 1 ||
      i->users()[0] != loop.root || HasControlEdges(*i))
    return std::nullopt;
  const auto& next = loop.root->operands();
  if (std::count(next.begin(), next.end(), i) != 1) return std::nullopt;
  const int64_t k = std::find(next.begin(), next.end(), i) - next.begin();
  const Instruction* read = OnlyRead(loop.parameter, k);
  if (read == nullptr || ArrayOf(i) != read || read->users().size() != 1 ||
      std::count(i->operands().begin(), i->operands().end(), read) > 1 ||
      IsRead(loop.condition->parameter(0), k))
    return std::nullopt;
  return k;
}

// Whether the result of a collective may pass through `i` later than it does.
bool MayMove(const Instruction* i, bool inner_updates) {
  if (HasControlEdges(*i) || !i->shape().IsArray() || i->HasSideEffect()) return false;
  if (HasTrait(i->opcode(), kCollective)) return IsPlainCollective(i);
  switch (i->opcode()) {
    case Opcode::kReduce:
    case Opcode::kPad:
      return true;
    case Opcode::kCustomCall:
      return i->attr<CustomCallAttrs>().target == "LayoutConstraint";
    case Opcode::kDynamicUpdateSlice:
      return inner_updates;
    default:
      return HasTrait(i->opcode(), kElementwise) || HasTrait(i->opcode(), kMovesData);
  }
}

// A group as sets; nothing where a path from `collective` ends in anything but an update.
struct Group {
  Set moved;
  absl::flat_hash_map<Instruction*, int64_t> updates;

  bool Collect(Instruction* collective, const WhileState& loop, bool inner_updates) {
    std::vector<Instruction*> work = {collective};
    while (!work.empty()) {
      Instruction* from = work.back();
      work.pop_back();
      if (!moved.insert(from).second) continue;
      if (from->IsRoot() || from->users().empty()) return false;
      for (Instruction* user : from->users()) {
        const std::optional<int64_t> part = PartUpdated(user, loop);
        // As an index the value would be needed now.
        if (part && user->operand(1) == from &&
            std::count(user->operands().begin(), user->operands().end(), from) == 1)
          updates.emplace(user, *part);
        else if (part || !MayMove(user, inner_updates))
          return false;
        else
          work.push_back(user);
      }
    }
    return true;
  }
  bool Shares(const Group& other) const {
    return std::any_of(other.moved.begin(), other.moved.end(),
                       [&](const Instruction* i) { return moved.contains(i); }) ||
           std::any_of(other.updates.begin(), other.updates.end(),
                       [&](const auto& u) { return updates.contains(u.first); });
  }
  void Add(const Group& other) {
    moved.insert(other.moved.begin(), other.moved.end());
    updates.insert(other.updates.begin(), other.updates.end());
  }
};

LoopUpdates InOrder(const Group& group, const std::vector<Instruction*>& order) {
  LoopUpdates found;
  for (Instruction* i : order) {
    if (group.moved.contains(i)) found.moved.push_back(i);
    const auto update = group.updates.find(i);
    if (update == group.updates.end()) continue;
    found.updates.push_back(i);
    found.parts.push_back(update->second);
  }
  return found;
}

// What an expression of the counter and constants is in one iteration.
class Iteration {
 public:
  Iteration(const CollectiveLoop& loop, int64_t counter) : loop_(loop), counter_(counter) {}

  const Literal* Value(const Instruction* i) {
    const auto known = values_.find(i);
    if (known != values_.end()) return known->second.get();
    std::unique_ptr<Literal> value = Compute(i);
    return values_.emplace(i, std::move(value)).first->second.get();
  }

 private:
  std::unique_ptr<Literal> Compute(const Instruction* i) {
    const ElementType type = i->shape().type;
    if (++seen_ > kMaxExpression || !i->shape().IsArray() || i->shape().ElementCount() != 1 ||
        !(IsInteger(type) || type == ElementType::kPred))
      return nullptr;
    if (i->IsConstant())
      return i->literal() == nullptr ? nullptr : std::make_unique<Literal>(*i->literal());
    if (i->opcode() == Opcode::kGetTupleElement && i->operand(0) == loop_.state.parameter)
      return PartValue(i);
    if (!HasTrait(i->opcode(), kElementwise) && !HasTrait(i->opcode(), kMovesData)) return nullptr;
    std::vector<const Literal*> operands;
    for (const Instruction* x : i->operands()) {
      operands.push_back(Value(x));
      if (operands.back() == nullptr) return nullptr;
    }
    absl::StatusOr<Literal> value = EvaluateInstruction(*i, operands);
    return value.ok() ? std::make_unique<Literal>(*std::move(value)) : nullptr;
  }
  std::unique_ptr<Literal> PartValue(const Instruction* i) {
    const int64_t k = i->tuple_index();
    const bool is_counter = k == loop_.count.index;
    if (!is_counter && !loop_.state.IsInvariant(k)) return nullptr;
    const Literal* initial = loop_.state.InitialConstant(k);
    if (initial == nullptr) return nullptr;
    auto value = std::make_unique<Literal>(*initial);
    if (is_counter) value->SetInt(0, counter_);
    return value;
  }

  const CollectiveLoop& loop_;
  int64_t counter_;
  size_t seen_ = 0;
  absl::flat_hash_map<const Instruction*, std::unique_ptr<Literal>> values_;
};

}  // namespace

bool IsHostTransfer(const Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kSend:
    case Opcode::kSendDone:
    case Opcode::kRecv:
    case Opcode::kRecvDone:
      return i->attr<SendRecvAttrs>().is_host_transfer;
    default:
      return false;
  }
}

bool IsPlainCollective(const Instruction* i) {
  return HasTrait(i->opcode(), kCollective) && !HasTrait(i->opcode(), kAsyncStart) &&
         !HasTrait(i->opcode(), kAsyncDone) && i->operand_count() == 1 && i->shape().IsArray() &&
         !HasControlEdges(*i);
}

std::optional<CollectiveLoop> MatchCountedLoop(Instruction* i) {
  const std::optional<WhileState> state = WhileState::Of(i);
  if (!state || HasOtherEffects(*state->body) || state->condition->root()->HasSideEffect() ||
      i->operand(0)->shape() != i->shape() || state->root->shape() != i->shape() ||
      state->parameter->shape() != i->shape() ||
      state->condition->parameter(0)->shape() != i->shape() || !state->root->users().empty() ||
      !ReadsOnlyParts(state->parameter) || !ReadsOnlyParts(state->condition->parameter(0)))
    return std::nullopt;
  const std::optional<LoopCount> count = CountLoop(*state);
  if (!count || count->trips < 1) return std::nullopt;
  return CollectiveLoop{*state, *count};
}

std::vector<Instruction*> LoopUpdates::Inputs() const {
  Set seen(moved.begin(), moved.end());
  std::vector<Instruction*> inputs;
  const auto add = [&](Instruction* i) {
    if (seen.insert(i).second) inputs.push_back(i);
  };
  for (const Instruction* i : moved)
    for (Instruction* x : i->operands()) add(x);
  for (const Instruction* update : updates)
    for (Instruction* x : update->operands().subspan(1)) add(x);
  return inputs;
}

std::vector<LoopUpdates> FindLoopUpdates(const CollectiveLoop& loop,
                                         absl::Span<const Opcode> collectives, bool inner_updates) {
  const std::vector<Instruction*> order = loop.state.body->PostOrder();
  std::vector<Group> groups;
  for (Instruction* i : order) {
    Group group;
    if (!IsPlainCollective(i) || !absl::c_linear_search(collectives, i->opcode()) ||
        !group.Collect(i, loop.state, inner_updates) || group.updates.empty())
      continue;
    for (auto other = groups.begin(); other != groups.end();) {
      if (!group.Shares(*other)) {
        ++other;
        continue;
      }
      group.Add(*other);
      other = groups.erase(other);
    }
    groups.push_back(std::move(group));
  }
  std::vector<LoopUpdates> found;
  for (const Group& group : groups) found.push_back(InOrder(group, order));
  return found;
}

std::optional<int64_t> MovingDimension(const Instruction* update) {
  std::optional<int64_t> moving;
  for (int64_t d = 0; d + 2 < update->operand_count(); ++d) {
    if (update->operand(d + 2)->IsConstant()) continue;
    if (moving || !update->operand(d + 2)->shape().IsScalar()) return std::nullopt;
    moving = d;
  }
  return moving;
}

std::optional<std::vector<int64_t>> RowsWritten(const Instruction* update,
                                                const CollectiveLoop& loop) {
  const std::optional<int64_t> d = MovingDimension(update);
  if (!d) return std::nullopt;
  std::vector<int64_t> rows;
  for (int64_t k = 0; k < std::min(loop.count.trips, kMaxRows); ++k) {
    Iteration iteration(loop, loop.count.init + k * loop.count.step);
    const Literal* row = iteration.Value(update->operand(*d + 2));
    if (row == nullptr) return std::nullopt;
    rows.push_back(row->GetInt(0));
  }
  return rows;
}

namespace {

// Whether `root` follows from constants alone, without side effects: the same in each iteration.
bool DependsOnNothing(const Instruction* root) {
  Set seen;
  std::vector<const Instruction*> work = {root};
  while (!work.empty()) {
    const Instruction* i = work.back();
    work.pop_back();
    if (!seen.insert(i).second) continue;
    if (seen.size() > kMaxExpression) return false;
    const bool is_source = i->IsConstant() || i->opcode() == Opcode::kIota;
    if (!is_source &&
        (i->operand_count() == 0 || HasControlEdges(*i) ||
         (!HasTrait(i->opcode(), kElementwise) && !HasTrait(i->opcode(), kMovesData))))
      return false;
    work.insert(work.end(), i->operands().begin(), i->operands().end());
  }
  return true;
}

Instruction* CopyOnce(Rewriter& r, const Instruction* i, Map& copies) {
  const auto known = copies.find(i);
  if (known != copies.end()) return known->second;
  std::vector<Instruction*> operands;
  for (const Instruction* x : i->operands()) operands.push_back(CopyOnce(r, x, copies));
  return copies[i] = r.Clone(i, i->shape(), operands);
}

}  // namespace

LoopInputKind KindOf(const Instruction* input, const WhileState& loop) {
  if (DependsOnNothing(input)) return LoopInputKind::kConstant;
  const bool is_part =
      input->opcode() == Opcode::kGetTupleElement && input->operand(0) == loop.parameter;
  return is_part && loop.IsInvariant(input->tuple_index()) ? LoopInputKind::kPart
                                                           : LoopInputKind::kOther;
}

Instruction* CopyExpression(Rewriter& r, const Instruction* i) {
  Map copies;
  return CopyOnce(r, i, copies);
}

Instruction* MakeLoop(Rewriter& r, const WhileState& old, Instruction* start,
                      const StateWriter& round, const StateWriter& tested) {
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

Instruction* Narrow(Rewriter& r, Instruction* state, size_t parts) {
  HloWriter w(r);
  std::vector<Instruction*> narrow = PartsOf(w, state);
  narrow.resize(parts);
  return w.Tuple(narrow);
}

std::vector<Instruction*> PartsOf(HloWriter& w, Instruction* tuple) {
  std::vector<Instruction*> parts;
  for (size_t k = 0; k < tuple->shape().elements.size(); ++k)
    parts.push_back(tuple->opcode() == Opcode::kTuple ? tuple->operand(static_cast<int64_t>(k))
                                                      : w.Part(tuple, static_cast<int64_t>(k)));
  return parts;
}

std::vector<Opcode> CollectivesOf(PassArguments& arguments,
                                  absl::Span<const absl::string_view> otherwise) {
  std::vector<std::string> names =
      arguments.List("opcodes", kPipelinedCollectives, "the collectives that are moved");
  if (names.empty())
    for (absl::string_view name : otherwise) names.emplace_back(name);
  std::vector<Opcode> opcodes;
  for (const std::string& name : names) opcodes.push_back(*OpcodeFromText(name));
  return opcodes;
}

OtherRoot::OtherRoot(const WhileState& loop, absl::Span<Instruction* const> parts) : loop_(loop) {
  Rewriter r(*loop.body);
  root_ = HloWriter(r).Tuple(parts);
  for (Instruction* before : loop.root->control_predecessors())
    root_->AddControlPredecessor(before);
  loop.body->set_root(root_);
}

OtherRoot::~OtherRoot() {
  loop_.body->set_root(loop_.root);
  root_->DropControlEdges();
  loop_.body->Remove(root_);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
