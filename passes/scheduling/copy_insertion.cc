// copy-insertion: inserts the copies that make in-place updates and buffer sharing correct.
// Matches arrays that share memory by their nature: a loop's initial value, its state and the next
// one; the array that dynamic-update-slice, scatter or sort changes; the module's result. Leaves a
// copy where one of them is a constant or a parameter, is needed twice, or may still be read when
// the other is written (in some order of execution that operands allow). Tuples decomposed and
// instructions without use are removed. Expects bodies with one caller (flatten-call-graph). Cost:
// the size of a computation for each array with several readers. Copies that stand in the module
// already are kept only where one would be inserted; transition_copies.h has those around pinned
// buffers and transfers.
//   u = dynamic-update-slice(x, ...); r = negate(x)    r may run after u: u gets a copy of x
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "analysis/in_place.h"
#include "passes/framework/fingerprint.h"
#include "passes/framework/pass.h"
#include "passes/rewrite/control_edges.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/while_state.h"
#include "passes/scheduling/transition_copies.h"

namespace hlokit {
namespace {

// An array by the instruction that made it: bitcasts and parts of tuples looked through.
struct Origin {
  const Instruction* made;
  ShapeIndex part;  // innermost last, of tuples that are not built here
  bool operator==(const Origin&) const = default;
};

Origin OriginOf(const Instruction* i) {
  Origin origin{i, {}};
  while (true) {
    const Instruction*& at = origin.made;
    if (at->opcode() == Opcode::kBitcast) {
      at = at->operand(0);
    } else if (at->opcode() == Opcode::kGetTupleElement) {
      origin.part.push_back(at->tuple_index());
      at = at->operand(0);
    } else if (at->opcode() == Opcode::kTuple && !origin.part.empty()) {
      at = at->operand(origin.part.back());
      origin.part.pop_back();
    } else {
      return origin;
    }
  }
}

// The state of a loop is its body's to change; the entry's parameters are not.
bool IsReadOnly(const Origin& origin) {
  return origin.made->IsConstant() ||
         (origin.made->IsParameter() && origin.made->parent()->IsEntry());
}

// Whether a tuple is there for conditionals alone.
bool IsForBranches(const Instruction* tuple) {
  return !tuple->IsRoot() &&
         std::all_of(tuple->users().begin(), tuple->users().end(), [](const Instruction* user) {
           return user->opcode() == Opcode::kConditional;
         });
}

// A copy that was in the module and was bypassed: Copied() takes it again where one is needed.
bool IsUnusedCopy(const Instruction* i) {
  return i->opcode() == Opcode::kCopy && i->users().empty() && !i->IsRoot();
}

// Those who read the array `i`, through bitcasts, and through conditionals, which may give it back;
// the tuple `except` does not count.
std::vector<const Instruction*> Readers(const Instruction* i, const Instruction* except) {
  std::vector<const Instruction*> readers, work = {i};
  absl::flat_hash_set<const Instruction*> seen;
  while (!work.empty()) {
    const Instruction* at = work.back();
    work.pop_back();
    for (const Instruction* user : at->users()) {
      if (user == except || IsUnusedCopy(user)) continue;
      const bool hands_on = user->opcode() == Opcode::kBitcast ||
                            user->opcode() == Opcode::kGetTupleElement ||
                            (user->opcode() == Opcode::kTuple && IsForBranches(user));
      if (!hands_on) readers.push_back(user);
      if ((hands_on || user->opcode() == Opcode::kConditional) && seen.insert(user).second)
        work.push_back(user);
    }
  }
  return readers;
}

absl::flat_hash_set<const Instruction*> Ancestors(const Instruction* of) {
  absl::flat_hash_set<const Instruction*> found;
  std::vector<const Instruction*> work = {of};
  while (!work.empty()) {
    const Instruction* at = work.back();
    work.pop_back();
    for (const Instruction* operand : at->operands())
      if (found.insert(operand).second) work.push_back(operand);
    for (const Instruction* before : at->control_predecessors())
      if (found.insert(before).second) work.push_back(before);
  }
  return found;
}

// True if all `readers` but `writer` itself are done before `writer` starts, whatever the order.
bool AllReadBefore(const std::vector<const Instruction*>& readers, const Instruction* writer) {
  bool alone = true;
  for (const Instruction* reader : readers) alone &= reader == writer;
  if (alone) return true;
  const absl::flat_hash_set<const Instruction*> before = Ancestors(writer);
  for (const Instruction* reader : readers) {
    if (reader != writer && !before.contains(reader)) return false;
    // Tuples and control flow hand the array on to readers that are not seen from here.
    const bool hands_on = reader->opcode() == Opcode::kTuple || !reader->called().empty();
    if (hands_on && reader != writer && reader->opcode() != Opcode::kFusion &&
        reader->opcode() != Opcode::kConditional)
      return false;
  }
  return true;
}

Instruction* Copied(Instruction* i) {
  for (Instruction* user : i->users())
    if (IsUnusedCopy(user) && user->shape() == i->shape()) return user;
  return i->parent()->Add(Opcode::kCopy, i->shape(), {i});
}

// A conditional that runs a computation as one of its branches, and the branch's argument.
struct Branch {
  const Instruction* conditional = nullptr;
  const Instruction* argument = nullptr;
};

// True if `copy` keeps a branch from giving back, as part of its result, an array that others still
// read after the conditional.
bool KeepsArgument(const Instruction& copy, const Branch& branch) {
  const Instruction* root = copy.parent()->root();
  const bool is_result =
      copy.IsRoot() || (root->opcode() == Opcode::kTuple &&
                        std::find(root->operands().begin(), root->operands().end(), &copy) !=
                            root->operands().end());
  const Origin origin = OriginOf(copy.operand(0));
  if (branch.conditional == nullptr || !is_result || !origin.made->IsParameter()) return false;
  const Instruction* given = branch.argument;
  for (auto at = origin.part.rbegin(); at != origin.part.rend(); ++at) {
    if (given->opcode() != Opcode::kTuple) break;
    given = given->operand(*at);
  }
  std::vector<const Instruction*> readers = Readers(given, branch.argument);
  std::erase(readers, branch.conditional);
  return !AllReadBefore(readers, branch.conditional);
}

// Users of copies that change no layout read what was copied.
void BypassCopies(Computation& computation, const Branch& branch) {
  const auto holds = [&](const Instruction* user) {  // the state of a loop and the like
    return user->opcode() == Opcode::kTuple && (branch.conditional == nullptr || !user->IsRoot());
  };
  for (Instruction* i : computation.PostOrder()) {
    if (i->opcode() != Opcode::kCopy || IsUnusedCopy(i) || !i->shape().IsArray() ||
        i->shape() != i->operand(0)->shape() || HasControlEdges(*i) || i->sharding() != nullptr ||
        !i->backend_config().empty() || KeepsArgument(*i, branch) ||
        std::any_of(i->users().begin(), i->users().end(), holds))
      continue;
    i->ReplaceAllUsesWith(i->operand(0));
  }
}

void CopyOperand(Instruction* user, int64_t k) { user->SetOperand(k, Copied(user->operand(k))); }

// The operand that `i` writes into; -1 where it makes its own array.
int64_t WrittenOperand(const Instruction* i) {
  for (int64_t k = 0; k < i->operand_count(); ++k) {
    bool wanted = false;
    if (i->operand(k)->shape().IsArray() && i->shape().IsArray() &&
        MayShareBuffer(*i, k, 0, 0, &wanted) && wanted)
      return k;
  }
  return -1;
}

void CopyForUpdates(Computation& computation) {
  for (Instruction* i : computation.PostOrder()) {
    const int64_t k = IsPin(*i) ? 0 : WrittenOperand(i);
    if (k < 0) continue;
    const Instruction* x = i->operand(k);
    const Origin origin = OriginOf(x);
    if (IsReadOnly(origin) || x->IsRoot() || !AllReadBefore(Readers(x, nullptr), i))
      CopyOperand(i, k);
  }
}

// Each part of the initial tuple that changes must be an array of the loop's own.
void CopyInitial(const WhileState& loop) {
  Instruction* init = loop.loop->operand(0);
  if (init->opcode() != Opcode::kTuple) return;
  std::vector<Origin> taken;
  for (int64_t k = 0; k < init->operand_count(); ++k) {
    const Instruction* x = init->operand(k);
    if (!x->shape().IsArray() || loop.IsInvariant(k)) continue;
    const Origin origin = OriginOf(x);
    bool copies = IsReadOnly(origin) || x->IsRoot() ||
                  std::find(taken.begin(), taken.end(), origin) != taken.end();
    taken.push_back(origin);
    if (!copies) copies = !AllReadBefore(Readers(x, init), loop.loop);
    if (copies) CopyOperand(init, k);
  }
}

// True if `reader` only hands part k of the loop to an inner loop that gives it back as `next`.
bool PassesThroughLoop(const WhileState& loop, int64_t k, const Instruction* reader,
                       const Origin& next) {
  if (reader->opcode() != Opcode::kTuple || next.made->opcode() != Opcode::kWhile ||
      next.made->operand(0) != reader || reader->users().size() != 1 || next.part.size() != 1)
    return false;
  for (int64_t o = 0; o < reader->operand_count(); ++o)
    if ((OriginOf(reader->operand(o)) == Origin{loop.parameter, {k}}) != (o == next.part[0]))
      return false;
  return true;
}

// True if fusion `i` is a scatter into its operand `k`, which it reads for nothing else.
bool ScattersInto(const Instruction& i, int64_t k) {
  if (i.opcode() != Opcode::kFusion) return false;
  const Instruction* root = i.to_apply()->root();
  const Instruction* into = i.to_apply()->parameter(k);
  return root->opcode() == Opcode::kScatter && root->operand_count() == 3 &&
         root->operand(0) == into && into->users().size() == 1 &&
         std::count(root->operands().begin(), root->operands().end(), into) == 1 &&
         root->shape() == into->shape();
}

// True if part k may be written by the instruction that computes its next value.
bool MayUpdatePart(const WhileState& loop, int64_t k) {
  const Instruction* next = loop.root->operand(k);
  const Origin origin = OriginOf(next);
  if (origin.made->IsConstant()) return false;
  if (origin.made->IsParameter())
    return origin.part == ShapeIndex{k};  // a bitcast of itself at most
  for (const Instruction* part : loop.parameter->users()) {
    if (part->opcode() != Opcode::kGetTupleElement) return false;
    if (part->tuple_index() != k) continue;
    std::vector<const Instruction*> readers = Readers(part, nullptr);
    std::erase_if(readers, [&](const Instruction* reader) {
      return PassesThroughLoop(loop, k, reader, origin);
    });
    if (!AllReadBefore(readers, origin.made)) return false;
    for (int64_t o = 0; o < origin.made->operand_count(); ++o) {
      bool wanted = false;
      const Instruction* operand = origin.made->operand(o);
      if (OriginOf(operand) == Origin{loop.parameter, {k}} && origin.part.empty() &&
          !MayShareBuffer(*origin.made, o, 0, 0, &wanted) && !ScattersInto(*origin.made, o))
        return false;
    }
  }
  return true;
}

// Which parts only change places with each other in each round: a -> b -> c -> a.
std::vector<bool> RotatedParts(const WhileState& loop) {
  const int64_t count = loop.root->operand_count();
  std::vector<int64_t> from(count, -1);
  for (int64_t k = 0; k < count; ++k) {
    const Origin origin = OriginOf(loop.root->operand(k));
    if (origin.made == loop.parameter && origin.part.size() == 1) from[k] = origin.part[0];
  }
  std::vector<bool> rotated(count, false);
  for (int64_t k = 0; k < count; ++k) {
    int64_t at = from[k], steps = 1;
    while (at >= 0 && at != k && steps++ < count) at = from[at];
    rotated[k] = at == k && from[k] != k;
  }
  return rotated;
}

void CopyNext(const WhileState& loop) {
  const std::vector<bool> rotated = RotatedParts(loop);
  std::vector<Origin> taken;
  for (int64_t k = 0; k < loop.root->operand_count(); ++k) {
    const Instruction* next = loop.root->operand(k);
    if (!next->shape().IsArray()) continue;
    const Origin origin = OriginOf(next);
    const bool twice = std::find(taken.begin(), taken.end(), origin) != taken.end();
    taken.push_back(origin);
    if (loop.IsInvariant(k) && !twice) continue;
    if (!twice && MayUpdatePart(loop, k)) continue;
    CopyOperand(loop.root, k);
    // No order of single copies turns a circle round; XLA, too, takes each out and puts it back.
    if (rotated[k]) CopyOperand(loop.root, k);
  }
}

bool IsDonated(const Module& module, const Origin& origin, int64_t leaf) {
  for (const InputOutputAlias& alias : module.header().aliases)
    if (origin.made->IsParameter() && alias.parameter == origin.made->parameter_number() &&
        alias.parameter_index.empty() == origin.part.empty() &&
        (alias.output.empty() ? 0 : alias.output[0]) == leaf)
      return true;
  return false;
}

void CopyResults(Module& module) {
  Computation& entry = *module.entry();
  Instruction* root = entry.root();
  if (root->shape().IsArray()) {
    const Origin origin = OriginOf(root);
    if (!IsReadOnly(origin) || IsDonated(module, origin, 0)) return;
    entry.set_root(Copied(root));
    return;
  }
  if (root->opcode() != Opcode::kTuple) return;
  std::vector<Origin> taken;
  for (int64_t k = 0; k < root->operand_count(); ++k) {
    if (!root->operand(k)->shape().IsArray()) continue;
    const Origin origin = OriginOf(root->operand(k));
    const bool twice = std::find(taken.begin(), taken.end(), origin) != taken.end();
    taken.push_back(origin);
    if (twice || (IsReadOnly(origin) && !IsDonated(module, origin, k))) CopyOperand(root, k);
  }
}

// The tuple that `tuple` is all parts of, in order; null where there is none.
Instruction* TupleRebuilt(const Instruction& tuple) {
  Instruction* whole = nullptr;
  for (int64_t k = 0; k < tuple.operand_count(); ++k) {
    const Instruction* part = tuple.operand(k);
    if (part->opcode() != Opcode::kGetTupleElement || part->tuple_index() != k) return nullptr;
    if (k == 0) whole = part->operand(0);
    if (part->operand(0) != whole) return nullptr;
  }
  return whole != nullptr && whole->shape() == tuple.shape() ? whole : nullptr;
}

// get-tuple-element(tuple(..., x, ...)) is x; a tuple of all parts of another is that one, but for
// the roots of loops, whose parts are copied one by one.
void TakeTuplesApart(Computation& computation, bool is_body) {
  for (Instruction* i : computation.PostOrder()) {
    if (i->opcode() == Opcode::kTuple && !(is_body && i->IsRoot()) && i->sharding() == nullptr) {
      Instruction* const whole = TupleRebuilt(*i);
      if (whole != nullptr && (i->IsRoot() || !i->users().empty())) {
        i->ReplaceAllUsesWith(whole);
      }
      continue;
    }
    if (i->opcode() != Opcode::kGetTupleElement || i->operand(0)->opcode() != Opcode::kTuple)
      continue;
    Instruction* part = i->operand(0)->operand(i->tuple_index());
    if (part->shape() != i->shape() || (i->users().empty() && !i->IsRoot())) continue;
    i->ReplaceAllUsesWith(part);
  }
}

absl::StatusOr<bool> Run(Module& module) {
  const Fingerprint before(
      module);  // a copy that is bypassed and one made in its place are no change
  const std::vector<bool> running = RunningComputations(module);
  std::vector<bool> is_body(module.computation_id_bound(), false);
  std::vector<Branch> branch_of(module.computation_id_bound());
  std::vector<Computation*> run;
  for (Computation* c : module.ComputationsPostOrder()) {
    if (!running[c->id()]) continue;
    run.push_back(c);
    for (const Instruction* i : c->Instructions()) {
      if (i->opcode() == Opcode::kWhile) is_body[i->called(1)->id()] = true;
      if (i->opcode() != Opcode::kConditional) continue;
      for (size_t k = 0; k < i->called().size(); ++k)
        branch_of[i->called(k)->id()] = {i, i->operand(static_cast<int64_t>(k) + 1)};
    }
  }
  for (Computation* c : run) {
    // In the body of a loop a copy's place tells which of several it is to be.
    if (!is_body[c->id()]) BypassCopies(*c, branch_of[c->id()]);
    TakeTuplesApart(*c, is_body[c->id()]);
    for (Instruction* i : c->PostOrder())
      if (const std::optional<WhileState> loop = WhileState::Of(i); loop) {
        CopyInitial(*loop);
        CopyAroundTransfers(*loop);
        CopyNext(*loop);
      }
    CopyForUpdates(*c);
  }
  CopyResults(module);
  for (Computation* c : run) RemoveDead(*c);
  return !before.SameText(Fingerprint(module));
}

}  // namespace

std::unique_ptr<Pass> CreateCopyInsertion() { return MakeModulePass("copy-insertion", Run); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
