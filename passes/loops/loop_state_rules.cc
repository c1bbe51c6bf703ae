// Loops with another state: the body and the condition read the old parts through a tuple that is
// made from the new ones, and what reads the loop does too; tuple-simplifier takes these apart.
//   state (i, (a, b), c), c = 5 in each round   ->   state (i, a, b)
#include "passes/loops/loop_state_rules.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/matchers.h"

namespace hlokit {
namespace {

Instruction* Part(Instruction* tuple, int64_t k) {
  const Shape shape = tuple->shape().elements[k];
  return tuple->parent()->Add(Opcode::kGetTupleElement, shape, {tuple}, GetTupleElementAttrs{k});
}

Instruction* TupleOf(Computation& c, const std::vector<Instruction*>& parts) {
  std::vector<Shape> shapes;
  for (const Instruction* part : parts) shapes.push_back(part->shape());
  return c.Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), parts);
}

bool IsPart(const Instruction* i, const Instruction* tuple, int64_t k) {
  return i->opcode() == Opcode::kGetTupleElement && i->operand(0) == tuple && i->tuple_index() == k;
}

// Makes the old state, in the computation of an instruction that has the new one.
using OldState = std::function<Instruction*(Instruction* now)>;

void DropSharding(Instruction* i) {
  if (i->HasExtras()) i->mutable_extras().sharding.reset();
}

// Whatever read `now`, whose shape becomes `state`, reads the old state made from it.
void ReadOldState(Instruction* now, const Shape& state, const OldState& old_state) {
  const std::vector<Instruction*> readers(now->users().begin(), now->users().end());
  const bool root = now->IsRoot();
  now->set_shape(state);
  DropSharding(now);
  Instruction* old = old_state(now);
  for (Instruction* reader : readers) now->ReplaceUseIn(reader, old);
  if (root) now->parent()->set_root(old);
}

// The loop with another state: `init` starts it, `next` gives the body's new result from its old
// one.
void ReplaceState(const WhileState& loop, Instruction* init, const OldState& old_state,
                  const std::function<Instruction*(Instruction* old_root)>& next) {
  const Shape state = init->shape();
  for (Instruction* parameter : {loop.condition->parameter(0), loop.body->parameter(0)})
    ReadOldState(parameter, state, old_state);
  loop.body->set_root(next(loop.body->root()));
  Instruction* old_init = loop.loop->operand(0);
  loop.loop->SetOperand(0, init);
  ReadOldState(loop.loop, state, old_state);
  old_init->parent()->RemoveIfDead(old_init);
  RemoveDead(*loop.body);
  RemoveDead(*loop.condition);
}

bool StartsAndEndsAsTuple(const WhileState& loop) {
  return loop.loop->operand(0)->opcode() == Opcode::kTuple && loop.root->users().empty();
}

// Whether something that nobody reads would keep a read of a part that is to go.
bool KeepsReads(const WhileState& loop, const std::vector<bool>& kept) {
  if (HasControlEdges(*loop.root)) return true;
  absl::flat_hash_set<const Instruction*> from;
  for (const Computation* c : {loop.body, loop.condition})
    for (const Instruction* i : c->PostOrder()) {
      bool reads = i->opcode() == Opcode::kGetTupleElement && i->operand(0) == c->parameter(0) &&
                   !kept[i->tuple_index()];
      for (const Instruction* operand : i->operands()) reads |= from.contains(operand);
      if (!reads || i == loop.root) continue;
      from.insert(i);
      if (HasControlEdges(*i)) return true;
    }
  return false;
}

// The loop without the parts of which `kept` says no; what reads the loop reads `instead`, a tuple
// of the old parts in which those are nowhere else than in the loop's operand or in other parts.
void DropParts(const WhileState& loop, const std::vector<bool>& kept,
               const std::vector<int64_t>& instead) {
  std::vector<int64_t> place(kept.size(), -1);
  std::vector<Instruction*> init, next;
  for (size_t k = 0, to = 0; k < kept.size(); ++k) {
    if (!kept[k]) continue;
    place[k] = static_cast<int64_t>(to++);
    init.push_back(loop.Initial(static_cast<int64_t>(k)));
    next.push_back(loop.root->operand(k));
  }
  Instruction* start = TupleOf(*loop.loop->parent(), init);
  loop.body->set_root(TupleOf(*loop.body, next));
  RemoveDead(*loop.body);
  RemoveDead(*loop.condition);
  for (Instruction* parameter : {loop.condition->parameter(0), loop.parameter}) {
    const std::vector<Instruction*> parts(parameter->users().begin(), parameter->users().end());
    for (Instruction* part : parts)
      part->mutable_attr<GetTupleElementAttrs>().index = place[part->tuple_index()];
    parameter->set_shape(start->shape());
    DropSharding(parameter);
  }
  Instruction* old_init = loop.loop->operand(0);
  loop.loop->SetOperand(0, start);
  ReadOldState(loop.loop, start->shape(), [&](Instruction* now) {
    std::vector<Instruction*> parts;
    for (size_t k = 0; k < kept.size(); ++k) {
      const int64_t from = kept[k] ? static_cast<int64_t>(k) : instead[k];
      parts.push_back(from >= 0 ? Part(now, place[from]) : Part(old_init, static_cast<int64_t>(k)));
    }
    return TupleOf(*now->parent(), parts);
  });
  old_init->parent()->RemoveIfDead(old_init);
}

// Reads of the parts that `survivor` names others for read those.
void ReadSurvivors(const WhileState& loop, const std::vector<int64_t>& survivor) {
  for (Instruction* parameter : {loop.condition->parameter(0), loop.parameter}) {
    const std::vector<Instruction*> parts(parameter->users().begin(), parameter->users().end());
    absl::flat_hash_map<int64_t, Instruction*> made;
    for (Instruction* part : parts) {
      const int64_t to = survivor[part->tuple_index()];
      if (to < 0) continue;
      Instruction*& read = made[to];
      if (read == nullptr) read = Part(parameter, to);
      part->ReplaceAllUsesWith(read);
      part->parent()->Remove(part);
    }
  }
}

template <typename Key>
std::vector<int64_t> Survivors(const std::map<Key, std::vector<int64_t>>& alike, size_t parts) {
  std::vector<int64_t> survivor(parts, -1);
  for (const auto& [key, indices] : alike)
    for (size_t k = 1; k < indices.size(); ++k) survivor[indices[k]] = indices[0];
  return survivor;
}

bool AnySurvives(const std::vector<int64_t>& survivor) {
  return std::any_of(survivor.begin(), survivor.end(), [](int64_t to) { return to >= 0; });
}

std::vector<bool> Kept(const std::vector<int64_t>& survivor) {
  std::vector<bool> kept;
  for (const int64_t to : survivor) kept.push_back(to < 0);
  return kept;
}

}  // namespace

bool MergeRepeatedParts(const WhileState& old_loop) {
  if (!StartsAndEndsAsTuple(old_loop)) return false;
  WhileState loop = old_loop;
  bool changed = false;
  const auto ids = [](absl::Span<Instruction* const> list) {
    std::vector<int64_t> ids;
    for (const Instruction* i : list) ids.push_back(i->id());
    return ids;
  };
  std::map<int64_t, std::vector<int64_t>> passed;
  for (int64_t k = 0; k < loop.root->operand_count(); ++k)
    if (loop.IsInvariant(k)) passed[loop.loop->operand(0)->operand(k)->id()].push_back(k);
  const std::vector<int64_t> survivor = Survivors(passed, loop.root->operand_count());
  if (AnySurvives(survivor) && !KeepsReads(loop, Kept(survivor))) {
    ReadSurvivors(loop, survivor);
    DropParts(loop, Kept(survivor), std::vector<int64_t>(survivor.size(), -1));
    loop.root = loop.body->root();
    changed = true;
  }
  std::map<std::vector<int64_t>, std::vector<int64_t>> updated;
  for (int64_t k = 0; k < loop.root->operand_count(); ++k) {
    const Instruction* next = loop.root->operand(k);
    if (next->opcode() != Opcode::kDynamicUpdateSlice ||
        !IsPart(next->operand(0), loop.parameter, k))
      continue;
    std::vector<int64_t> key = {loop.loop->operand(0)->operand(k)->id()};
    for (const int64_t id : ids(next->operands().subspan(1))) key.push_back(id);
    updated[key].push_back(k);
  }
  const std::vector<int64_t> first = Survivors(updated, loop.root->operand_count());
  if (AnySurvives(first) && !KeepsReads(loop, Kept(first))) {
    ReadSurvivors(loop, first);
    DropParts(loop, Kept(first), first);
    changed = true;
  }
  return changed;
}

namespace {

void CollectLeaves(Instruction* value, std::vector<Instruction*>& leaves) {
  if (!value->shape().IsTuple()) return leaves.push_back(value);
  for (size_t k = 0; k < value->shape().elements.size(); ++k)
    CollectLeaves(Part(value, static_cast<int64_t>(k)), leaves);
}

Instruction* Nested(Instruction* flat, const Shape& shape, int64_t& next) {
  if (!shape.IsTuple()) return Part(flat, next++);
  std::vector<Instruction*> parts;
  for (const Shape& element : shape.elements) parts.push_back(Nested(flat, element, next));
  return TupleOf(*flat->parent(), parts);
}

Instruction* Flat(Instruction* value) {
  std::vector<Instruction*> leaves;
  CollectLeaves(value, leaves);
  return TupleOf(*value->parent(), leaves);
}

}  // namespace

bool FlattenState(const WhileState& loop) {
  const Shape state = loop.loop->shape();
  const bool nested = std::any_of(state.elements.begin(), state.elements.end(),
                                  [](const Shape& element) { return element.IsTuple(); });
  if (!nested || !StartsAndEndsAsTuple(loop)) return false;
  ReplaceState(
      loop, Flat(loop.loop->operand(0)),
      [&](Instruction* now) {
        int64_t next = 0;
        return Nested(now, state, next);
      },
      Flat);
  return true;
}

namespace {

// Which parts of the state each instruction of the body and the condition is computed from in one
// round, and which instructions hang together.
class StateUse {
 public:
  explicit StateUse(const WhileState& loop)
      : loop_(loop), parts_(loop.root->operand_count()), needed_(parts_), by_others_(parts_) {
    for (Computation* c : {loop.body, loop.condition})
      for (Instruction* i : c->PostOrder()) Visit(i);
    for (int64_t k = 0; k < parts_; ++k) {
      const std::vector<bool>& from = uses_.at(loop.root->operand(k));
      for (int64_t p = 0; p < parts_; ++p)
        if (p != k && from[p]) by_others_[p] = true;
    }
  }

  bool IsNeeded(int64_t k) const { return needed_[k]; }  // by the condition or side effects
  bool IsReadByOthers(int64_t k) const { return by_others_[k]; }  // than its own next value

  // The parts of each group that hangs together: those it gives and those it reads.
  std::vector<std::vector<int64_t>> Groups() {
    std::map<const Instruction*, std::vector<int64_t>> groups;
    for (int64_t k = 0; k < parts_; ++k) groups[Leader(loop_.root->operand(k))].push_back(k);
    for (Computation* c : {loop_.body, loop_.condition})
      for (const Instruction* part : c->parameter(0)->users())
        if (part != loop_.root) groups[Leader(part)].push_back(part->tuple_index());
    std::vector<std::vector<int64_t>> lists;
    for (auto& [leader, parts] : groups) lists.push_back(std::move(parts));
    return lists;
  }

 private:
  bool Counts(const Instruction* i) const {
    return i != loop_.parameter && i != loop_.condition->parameter(0) && i != loop_.root;
  }

  void Visit(Instruction* i) {
    if (!Counts(i)) return;
    std::vector<bool> uses(parts_, false);
    const bool is_part =
        i->opcode() == Opcode::kGetTupleElement && i->operand(0) == i->parent()->parameter(0);
    if (is_part) {
      uses[i->tuple_index()] = true;
      Join(loop_.root->operand(i->tuple_index()), i);
    }
    for (const Instruction* operand : i->operands()) {
      if (!Counts(operand)) continue;
      const std::vector<bool>& from = uses_.at(operand);
      for (int64_t p = 0; p < parts_; ++p)
        if (from[p]) uses[p] = true;
      if (!is_part) Join(operand, i);
    }
    if (i->HasSideEffect() || i == loop_.condition->root())
      for (int64_t p = 0; p < parts_; ++p)
        if (uses[p]) needed_[p] = true;
    uses_[i] = std::move(uses);
  }

  const Instruction* Leader(const Instruction* i) {
    while (true) {
      const auto at = leader_.find(i);
      if (at == leader_.end() || at->second == i) return i;
      i = at->second;
    }
  }
  void Join(const Instruction* a, const Instruction* b) {
    a = Leader(a);
    b = Leader(b);
    if (a != b) leader_[a] = b;
  }

  const WhileState& loop_;
  const int64_t parts_;
  std::vector<bool> needed_, by_others_;
  absl::flat_hash_map<const Instruction*, std::vector<bool>> uses_;
  absl::flat_hash_map<const Instruction*, const Instruction*> leader_;
};

std::vector<bool> ReadAfter(const Instruction* loop, int64_t parts) {
  std::vector<bool> read(parts, loop->IsRoot());
  for (const Instruction* user : loop->users()) {
    if (user->opcode() != Opcode::kGetTupleElement) return std::vector<bool>(parts, true);
    read[user->tuple_index()] = true;
  }
  return read;
}

}  // namespace

bool RemoveDeadParts(const WhileState& loop) {
  const int64_t parts = loop.root->operand_count();
  if (parts == 0 || !loop.root->users().empty()) return false;
  StateUse use(loop);
  const std::vector<bool> read = ReadAfter(loop.loop, parts);
  std::vector<bool> kept(parts, true);
  for (int64_t k = 0; k < parts; ++k)
    if (!read[k] && !use.IsNeeded(k) && !use.IsReadByOthers(k)) kept[k] = false;
  for (const std::vector<int64_t>& group : use.Groups()) {
    const bool dead = std::all_of(group.begin(), group.end(), [&](int64_t k) {
      return (!read[k] || loop.IsInvariant(k)) && !use.IsNeeded(k);
    });
    if (dead)
      for (const int64_t k : group) kept[k] = false;
  }
  if (std::all_of(kept.begin(), kept.end(), [](bool keep) { return keep; })) return false;
  if (KeepsReads(loop, kept)) return false;
  DropParts(loop, kept, std::vector<int64_t>(parts, -1));
  return true;
}

bool RemoveConstantParts(const WhileState& loop) {
  if (!StartsAndEndsAsTuple(loop)) return false;
  Instruction* start = loop.loop->operand(0);
  std::vector<const Instruction*> constant(loop.root->operand_count(), nullptr);
  bool any = false, all = true;
  for (int64_t k = 0; k < loop.root->operand_count(); ++k) {
    const Instruction *first = start->operand(k), *next = loop.root->operand(k);
    const bool same = IsKnownConstant(first) && IsKnownConstant(next) &&
                      first->shape() == next->shape() && *first->literal() == *next->literal();
    if (same) constant[k] = first;
    any |= same;
    all &= same;
  }
  if (!any) return false;
  if (all) {
    loop.loop->ReplaceAllUsesWith(start);
    return true;
  }
  const auto without = [&](Instruction* whole) {
    std::vector<Instruction*> parts;
    for (size_t k = 0; k < constant.size(); ++k)
      if (constant[k] == nullptr) parts.push_back(Part(whole, static_cast<int64_t>(k)));
    return TupleOf(*whole->parent(), parts);
  };
  ReplaceState(
      loop, without(start),
      [&](Instruction* now) {
        std::vector<Instruction*> parts;
        int64_t next = 0;
        for (const Instruction* c : constant) {
          if (c == nullptr)
            parts.push_back(Part(now, next++));
          else if (c->parent() == now->parent())
            parts.push_back(const_cast<Instruction*>(c));
          else
            parts.push_back(now->parent()->Add(c->CloneWith(c->shape(), {})));
        }
        return TupleOf(*now->parent(), parts);
      },
      without);
  return true;
}

namespace {

// The scalar constant that is added to part k in each round; null where that is not all.
const Instruction* StepOf(const WhileState& loop, int64_t k, ElementType type) {
  const Instruction* next = loop.root->operand(k);
  if (next->opcode() != Opcode::kAdd || next->shape().type != type) return nullptr;
  for (const int64_t o : {0, 1}) {
    const Instruction *part = next->operand(o), *step = next->operand(1 - o);
    if (IsPart(part, loop.parameter, k) && IsKnownScalar(step)) return step;
  }
  return nullptr;
}

bool IsScalarInteger(const Instruction* i, int64_t value) {
  return IsKnownScalar(i) && i->literal()->GetInt(0) == value;
}

}  // namespace

bool MergeCounters(const WhileState& loop, ElementType type) {
  if (!StartsAndEndsAsTuple(loop)) return false;
  const int64_t parts = loop.root->operand_count();
  Instruction* start = loop.loop->operand(0);
  std::vector<const Instruction*> step(parts, nullptr);
  int64_t counter = -1, steps = 0;
  for (int64_t k = 0; k < parts; ++k) {
    const Instruction* by = StepOf(loop, k, type);
    if (by == nullptr || loop.root->operand(k)->shape() != start->operand(k)->shape()) continue;
    if (counter < 0 && IsScalarInteger(by, 1) && IsScalarInteger(start->operand(k), 0)) {
      counter = k;
    } else {
      step[k] = by;
      ++steps;
    }
  }
  if (steps + (counter >= 0 ? 1 : 0) < 2) return false;
  const Shape scalar = Shape::Scalar(type).WithDefaultLayout();
  const bool added = counter < 0;
  const auto number = [&](Computation& c, int64_t value) {
    Literal literal(scalar);
    literal.SetInt(0, value);
    return c.AddConstant(std::move(literal));
  };
  std::vector<Instruction*> init(start->operands().begin(), start->operands().end());
  if (added) {
    counter = parts;
    init.push_back(number(*start->parent(), 0));
  }
  ReplaceState(
      loop, TupleOf(*start->parent(), init),
      [&](Instruction* now) {
        Computation& c = *now->parent();
        std::vector<Instruction*> old;
        for (int64_t k = 0; k < parts; ++k) {
          old.push_back(Part(now, k));
          if (step[k] == nullptr) continue;
          Instruction* rounds =
              c.Add(Opcode::kMultiply, scalar,
                    {Part(now, counter), number(c, step[k]->literal()->GetInt(0))});
          const Shape shape = old.back()->shape();
          if (!shape.IsScalar()) rounds = c.Add(Opcode::kReshape, shape, {rounds});
          old.back() = c.Add(Opcode::kAdd, shape, {old.back(), rounds});
        }
        return TupleOf(c, old);
      },
      [&](Instruction* old_root) {
        Computation& c = *old_root->parent();
        std::vector<Instruction*> next;
        for (int64_t k = 0; k < parts; ++k)
          next.push_back(Part(step[k] != nullptr ? c.parameter(0) : old_root, k));
        if (added)
          next.push_back(
              c.Add(Opcode::kAdd, scalar, {Part(c.parameter(0), counter), number(c, 1)}));
        return TupleOf(c, next);
      });
  return true;
}

bool DecideComparisons(const WhileState& loop) {
  const std::optional<LoopCount> count = CountLoop(loop);
  if (!count) return false;
  for (Instruction* i : loop.body->Instructions()) {
    if (i->opcode() != Opcode::kCompare || !IsPart(i->operand(0), loop.parameter, count->index) ||
        !IsKnownScalar(i->operand(1)) || !i->shape().IsScalar())
      continue;
    const auto direction = i->attr<CompareAttrs>().direction;
    const bool less = direction == ComparisonDirection::kLt;
    if (!less && direction != ComparisonDirection::kGt) continue;
    const int64_t limit = i->operand(1)->literal()->GetInt(0);
    const int64_t last = count->init + (count->trips - 1) * count->step;
    const int64_t low = std::min(count->init, last), high = std::max(count->init, last);
    std::optional<bool> holds;
    if (less ? high < limit : low > limit) holds = true;
    if (less ? low >= limit : high <= limit) holds = false;
    if (!holds || count->trips == 0) continue;
    Literal decided(Shape::Scalar(ElementType::kPred).WithDefaultLayout());
    decided.SetInt(0, *holds ? 1 : 0);
    i->ReplaceAllUsesWith(loop.body->AddConstant(std::move(decided)));
    loop.body->Remove(i);
    return true;
  }
  return false;
}

bool PropagateConstants(const WhileState& loop) {
  const Instruction* start = loop.loop->operand(0);
  if (start->opcode() != Opcode::kTuple) return false;
  std::vector<const Instruction*> constant(loop.root->operand_count(), nullptr);
  for (int64_t k = 0; k < loop.root->operand_count(); ++k)
    if (loop.IsInvariant(k) && IsKnownScalar(start->operand(k))) constant[k] = start->operand(k);
  bool changed = false;
  for (Instruction* parameter : {loop.condition->parameter(0), loop.parameter}) {
    const std::vector<Instruction*> users(parameter->users().begin(), parameter->users().end());
    for (Instruction* part : users) {
      if (part->opcode() != Opcode::kGetTupleElement || part->users().empty()) continue;
      const Instruction* value = constant[part->tuple_index()];
      if (value == nullptr || value->shape() != part->shape()) continue;
      part->ReplaceAllUsesWith(part->parent()->Add(value->CloneWith(value->shape(), {})));
      changed = true;
    }
  }
  return changed;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
