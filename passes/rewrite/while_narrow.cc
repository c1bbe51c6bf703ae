// Parts of loops' tuples that nobody needs. Live are the parts read after the loop, by the
// condition, or by instructions with side effects, and what the next values of live parts read;
// this is a fixed point over at most as many rounds as parts.
#include "absl/container/flat_hash_set.h"
#include "passes/rewrite/while_state.h"

namespace hlokit {
namespace {

using Parts = std::vector<bool>;

// Marks the parts of `parameter` that the instructions above `root` read; all where it is read
// whole.
void MarkRead(const Instruction* root, const Instruction* parameter, Parts& read) {
  absl::flat_hash_set<const Instruction*> seen;
  std::vector<const Instruction*> work = {root};
  while (!work.empty()) {
    const Instruction* i = work.back();
    work.pop_back();
    if (!seen.insert(i).second) continue;
    if (i->opcode() == Opcode::kGetTupleElement && i->operand(0) == parameter) {
      read[i->tuple_index()] = true;
    } else if (i == parameter) {
      read.assign(read.size(), true);
    } else {
      work.insert(work.end(), i->operands().begin(), i->operands().end());
    }
  }
}

Parts LiveParts(const WhileState& loop) {
  Parts live(loop.loop->shape().elements.size(), false);
  if (loop.loop->IsRoot()) live.assign(live.size(), true);
  for (const Instruction* user : loop.loop->users()) {
    if (user->opcode() != Opcode::kGetTupleElement) {
      live.assign(live.size(), true);
    } else if (user->IsRoot() || !user->users().empty()) {
      live[user->tuple_index()] = true;
    }
  }
  MarkRead(loop.condition->root(), loop.condition->parameter(0), live);
  for (const Instruction* i : loop.body->Instructions())
    if (i->HasSideEffect()) MarkRead(i, loop.parameter, live);
  return live;
}

}  // namespace

// Dead parts keep their initial value: body's root takes the parameter's part.
bool PassOnDeadParts(const WhileState& loop) {
  Parts live = LiveParts(loop);
  std::vector<bool> done(live.size(), false);
  bool again = true;
  while (again) {
    again = false;
    for (size_t k = 0; k < live.size(); ++k) {
      if (!live[k] || done[k]) continue;
      done[k] = again = true;
      MarkRead(loop.root->operand(k), loop.parameter, live);
    }
  }
  bool changed = false;
  for (size_t k = 0; k < live.size(); ++k) {
    const auto part = static_cast<int64_t>(k);
    if (live[k] || loop.IsInvariant(part)) continue;
    loop.root->SetOperand(
        part, loop.body->Add(Opcode::kGetTupleElement, loop.parameter->shape().elements[k],
                             {loop.parameter}, GetTupleElementAttrs{part}));
    changed = true;
  }
  return changed;
}

namespace {

bool OnlyTakenApart(const Instruction* tuple) {
  for (const Instruction* user : tuple->users())
    if (user->opcode() != Opcode::kGetTupleElement) return false;
  return !tuple->IsRoot() && tuple->sharding() == nullptr;
}

// True if some instruction but `except` reads part k of the tuple.
bool IsPartRead(const Instruction* tuple, int64_t k, const Instruction* except) {
  for (const Instruction* part : tuple->users()) {
    if (part->tuple_index() != k) continue;
    if (part->IsRoot()) return true;
    for (const Instruction* reader : part->users())
      if (reader != except) return true;
  }
  return false;
}

// Readers of parts that are kept read them at their new places; the others go.
void Renumber(Instruction* tuple, Instruction* now, const std::vector<int64_t>& place) {
  const std::vector<Instruction*> parts(tuple->users().begin(), tuple->users().end());
  for (Instruction* part : parts) {
    const int64_t k = place[part->tuple_index()];
    if (k < 0) {
      part->parent()->Remove(part);
      continue;
    }
    part->mutable_attr<GetTupleElementAttrs>().index = k;
    if (now != tuple) part->SetOperand(0, now);
  }
}

// Where each part goes; -1 for those that go away.
std::vector<int64_t> NewPlaces(const WhileState& loop) {
  std::vector<int64_t> place;
  int64_t kept = 0;
  for (int64_t k = 0; k < loop.root->operand_count(); ++k) {
    const bool needed = !loop.IsInvariant(k) || IsPartRead(loop.loop, k, nullptr) ||
                        IsPartRead(loop.condition->parameter(0), k, nullptr) ||
                        IsPartRead(loop.parameter, k, loop.root);
    int64_t uses = 0;  // the part may be the next value of another part too
    for (const Instruction* next : loop.root->operands())
      uses += next->opcode() == Opcode::kGetTupleElement && next->operand(0) == loop.parameter &&
              next->tuple_index() == k;
    place.push_back(needed || uses > 1 ? kept++ : -1);
  }
  return place;
}

}  // namespace

// Removes parts that are invariant and read by nobody from the tuple, and renumbers the others.
bool NarrowState(const WhileState& loop) {
  Instruction* test = loop.condition->parameter(0);
  if (!OnlyTakenApart(loop.loop) || !OnlyTakenApart(loop.parameter) || !OnlyTakenApart(test) ||
      !loop.loop->backend_config().empty() || loop.root->sharding() != nullptr ||
      !loop.root->users().empty())
    return false;
  const std::vector<int64_t> place = NewPlaces(loop);
  std::vector<Instruction*> init, next;
  std::vector<Shape> shapes;
  for (size_t k = 0; k < place.size(); ++k) {
    if (place[k] < 0) continue;
    init.push_back(loop.Initial(static_cast<int64_t>(k)));
    next.push_back(loop.root->operand(k));
    shapes.push_back(loop.loop->shape().elements[k]);
  }
  if (init.size() == place.size() || init.empty()) return false;
  const Shape narrow = Shape::Tuple(std::move(shapes));
  Computation& outer = *loop.loop->parent();
  Instruction* start = outer.Add(Opcode::kTuple, narrow, init);
  loop.body->set_root(loop.body->Add(Opcode::kTuple, narrow, next));
  loop.body->Remove(loop.root);
  loop.parameter->set_shape(narrow);
  test->set_shape(narrow);
  Renumber(loop.parameter, loop.parameter, place);
  Renumber(test, test, place);
  Renumber(loop.loop, outer.Add(loop.loop->CloneWith(narrow, {start})), place);
  Instruction* old = loop.loop->operand(0);
  outer.Remove(loop.loop);
  outer.RemoveIfDead(old);
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
