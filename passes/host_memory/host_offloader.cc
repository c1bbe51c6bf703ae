// Moves between host and device as copies between memories.
// host-offloader. Takes MoveToHost and MoveToDevice away: what is moved to the host is copied into
// memory 5 and stays there through tuples, calls, loops, bitcasts and updates in place; what reads
// it by MoveToDevice, and anything else that would compute with it, reads a copy in the device's
// memory, or a slice that is made there. An array into which moved values are updated lies on the
// host from where it is made. Values stay as they were. Left alone: values that reach a computation
// by other ways (a conditional's branch, an asynchronous call).
//
// MoveToHost and MoveToDevice become copies.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "passes/framework/pass.h"

#include "passes/host_memory/host_values.h"
#include "passes/rewrite/matchers.h"
#include "passes/rewrite/memory_spaces.h"

namespace hlokit {
namespace {

void PutPlace(const ValuePlace& place) {
  Shape* shape = &place.instruction->mutable_shape();
  for (int64_t k : place.index) shape = &shape->elements[k];
  *shape = InSpace(std::move(*shape), kHostSpace);
}

Instruction* CopyInto(Instruction* x, int64_t space) {
  return x->parent()->Add(Opcode::kCopy, InSpace(x->shape(), space), {x});
}

// A move into an array on the host: that array is what has to lie there.
Instruction* Target(Instruction* move) {
  if (move->users().size() != 1 || move->IsRoot()) return move;
  Instruction* user = move->users()[0];
  const bool updates = user->opcode() == Opcode::kDynamicUpdateSlice && user->operand(1) == move &&
                       user->operand(0) != move;
  return updates ? user : move;
}

bool HoldsArrays(const HostValue& value) {
  return std::all_of(value.places.begin(), value.places.end(), [](const ValuePlace& place) {
    const Shape* shape = SubShape(place.instruction->shape(), place.index);
    return shape != nullptr && shape->IsArray() && shape->has_layout;
  });
}

class Offloader {
 public:
  // Whether an earlier run took the instruction away.
  bool Gone(const Instruction* i) const { return gone_.contains(i); }

  // False where the array leaves by ways that are not followed.
  bool Run(Instruction* move) {
    Instruction* target = Target(move);
    const HostValue value = FollowValue(target);
    if (value.escapes || !HoldsArrays(value)) return false;
    for (const ValuePlace& place : value.places)
      if (std::find(value.makers.begin(), value.makers.end(), place.instruction) ==
          value.makers.end())
        PutPlace(place);
    for (Instruction* maker : value.makers)
      if (SpaceOf(maker->shape()) != kHostSpace) BringToHost(maker);
    for (const PlaceRead& read : value.reads)
      if (!gone_.contains(read.user)) ReadOnDevice(read);
    if (target != move) Replace(move, move->operand(0));
    return true;
  }

 private:
  // The users of `old`, and whoever waits for it, go to `made`.
  void Replace(Instruction* old, Instruction* made) {
    old->ReplaceAllUsesWith(made);
    for (Instruction* before : old->control_predecessors()) made->AddControlPredecessor(before);
    const std::vector<Instruction*> after(old->control_successors().begin(),
                                          old->control_successors().end());
    for (Instruction* successor : after) successor->AddControlPredecessor(made);
    old->DropControlEdges();
    gone_.insert(old);
    old->parent()->Remove(old);
  }

  // What something else makes comes to the host by a copy; a MoveToHost is that copy.
  void BringToHost(Instruction* maker) {
    if (IsUnaryCallOf(maker, kMoveToHost))
      return Replace(maker, CopyInto(maker->operand(0), kHostSpace));
    const std::vector<Instruction*> users(maker->users().begin(), maker->users().end());
    const bool root = maker->IsRoot();
    Instruction* copy = CopyInto(maker, kHostSpace);
    for (Instruction* user : users) maker->ReplaceUseIn(user, copy);
    if (root) maker->parent()->set_root(copy);
  }

  // What reads the host's array reads a copy on the device, or makes a slice there.
  void ReadOnDevice(const PlaceRead& read) {
    Instruction* array = read.user->operand(read.operand);
    if (SpaceOf(array->shape()) != kHostSpace) return;
    if (read.user->opcode() == Opcode::kDynamicSlice && read.operand == 0 &&
        SpaceOf(read.user->shape()) != kHostSpace)
      return SliceOnDevice(read.user);
    Instruction* copy = CopyInto(array, 0);
    if (IsUnaryCallOf(read.user, kMoveToDevice) && SameShape(copy->shape(), read.user->shape()))
      return Replace(read.user, copy);
    read.user->SetOperand(read.operand, copy);
  }

  void SliceOnDevice(Instruction* slice) {
    const std::vector<Instruction*> users(slice->users().begin(), slice->users().end());
    for (Instruction* user : users)
      if (IsUnaryCallOf(user, kMoveToDevice) && SameShape(user->shape(), slice->shape()))
        Replace(user, slice);
  }

  absl::flat_hash_set<const Instruction*> gone_;
};

absl::StatusOr<bool> OffloadAll(Module& module, RewriteControl& control) {
  std::vector<Instruction*> moves;
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : c->PostOrder())
      if (IsUnaryCallOf(i, kMoveToHost) && i->shape().IsArray() &&
          SameShape(i->shape(), i->operand(0)->shape()))
        moves.push_back(i);
  bool changed = false;
  Offloader offloader;
  for (Instruction* move : moves)
    if (!offloader.Gone(move) && control.Permit("host-offloader", *move, *move))
      changed |= offloader.Run(move);
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateHostOffloader() { return MakeModulePass("host-offloader", OffloadAll); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
