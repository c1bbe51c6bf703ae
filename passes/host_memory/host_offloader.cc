// host-offloader: moves between host and device as copies between memories.
// What MoveToHost gives is copied into memory 5, S(5), and stays there through tuples, calls,
// loops, conditionals and bitcasts; where MoveToDevice reads it a copy brings it back, or the slice
// that it reads is made on the device. A moved array that is only updated into another is not
// copied: the other lies on the host from where it is made, and where that is a broadcast of zeros,
// or one that a loop writes over piece by piece, nothing but its memory is made (AllocateBuffer).
// Arguments and results that entry_computation_layout has on the host are followed alike. What
// computes with an array of the host is marked to run there (_xla_compute_type="host"); what gives
// several arrays, and the module's other results, read a copy. Values stay as they were. Cost: the
// places of moved arrays, for each move.
//   h = MoveToHost(x); t = (h, y); d = MoveToDevice(t.0)
//   ->  h = S(5) copy(x); t = (h, y); d = copy(t.0)
#include <algorithm>
#include <deque>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "analysis/in_place.h"
#include "passes/cleanup/cse.h"
#include "passes/framework/pass.h"
#include "passes/host_memory/host_paths.h"
#include "passes/rewrite/matchers.h"
#include "passes/rewrite/memory_spaces.h"

namespace hlokit {
namespace {

constexpr char kAllocateBuffer[] = "AllocateBuffer";

Instruction* CopyInto(Instruction* x, int64_t space) {
  return x->parent()->Add(Opcode::kCopy, InSpace(x->shape(), space), {x});
}

bool IsAllocation(const Instruction* i) {
  return i->opcode() == Opcode::kCustomCall && i->attr<CustomCallAttrs>().target == kAllocateBuffer;
}

// What may stand between a move and an update, or between a slice and a move back.
bool OnlyRenames(const Instruction* i) {
  return i->opcode() == Opcode::kBitcast || i->opcode() == Opcode::kCopy ||
         (i->opcode() == Opcode::kReshape && IsPassThrough(*i));
}

bool IsOnHost(const Shape* shape) {
  return shape != nullptr && shape->IsArray() && shape->has_layout && SpaceOf(*shape) == kHostSpace;
}

bool IsHostResult(const Computation& entry, const ShapeIndex& index) {
  const auto& layout = entry.module()->header().entry_layout;
  return layout && IsOnHost(SubShape(layout->result, index));
}

// The value that flows by a step; it comes from `value`.
struct Start {
  Instruction* value;
  PathStep step;
  bool is_update() const {
    return step.user != nullptr && step.user->opcode() == Opcode::kDynamicUpdateSlice &&
           step.operand == 1 && step.user->operand(0) != step.user->operand(1);
  }
};

// What following one array asks for.
struct Plan {
  std::vector<ValuePlace> on_host;
  std::vector<Instruction*> computes, moves, slices;
  std::vector<PathStep> reads;        // of what reads a copy on the device
  std::vector<PathStep> allocations;  // reads of broadcasts of which the memory is enough
  std::vector<PathStep> copies;       // reads of what comes to the host by a copy
};

class Follower {
 public:
  // Nothing where the array leaves by ways that are not followed.
  std::optional<Plan> FollowFrom(const ValuePlace& start, const PathStep* step = nullptr) {
    if (step == nullptr || step->user == nullptr || !EndsAt(*step)) Visit(start, step);
    while (!todo_.empty() && !escapes_) {
      const ValuePlace place = std::move(todo_.front());
      todo_.pop_front();
      if (place.instruction->IsRoot() && place.instruction->parent()->IsEntry())
        FollowResult(place);
      else
        FollowSteps(place);
    }
    if (escapes_) return std::nullopt;
    return std::move(plan_);
  }

  // The same for an array that is updated; what it is made from lies on the host too.
  std::optional<Plan> FollowUpdated(Instruction* update) {
    in_loop_ = IsInLoop(update);
    std::optional<Plan> plan = FollowFrom({update, {}});
    if (!plan) return std::nullopt;
    plan_ = *std::move(plan);
    std::deque<ValuePlace> origins = {{update, {}}};
    absl::flat_hash_set<ValuePlace> seen = {{update, {}}};
    while (!origins.empty() && !escapes_) {
      const ValuePlace place = std::move(origins.front());
      origins.pop_front();
      for (const PathStep& step : StepsTo(place))
        if (HasOrigins(step) && seen.insert(step.to).second) {
          plan_.on_host.push_back(step.to);
          origins.push_back(step.to);
          FollowLoopState(step.to);
        }
    }
    if (escapes_) return std::nullopt;
    return std::move(plan_);
  }

 private:
  static bool IsInLoop(const Instruction* i) {
    const std::vector<Instruction*> callers = i->parent()->Callers();
    return std::any_of(callers.begin(), callers.end(),
                       [](const Instruction* c) { return c->opcode() == Opcode::kWhile; });
  }

  // Adds a place; `step` led to it, null at the start.
  void Visit(const ValuePlace& place, const PathStep* step) {
    if (!seen_.insert(place).second) return;
    Instruction* i = place.instruction;
    if (IsUnaryCallOf(i, kMoveToHost)) plan_.moves.push_back(i);
    todo_.push_back(place);
    if (i->opcode() == Opcode::kAsyncStart) return;  // its place stands for what the done gives
    if (ArrayAt(place) == nullptr) {
      escapes_ = true;
      return;
    }
    const bool holds = HoldsOnly(i) || step == nullptr || step->user == nullptr ||
                       (i->opcode() == Opcode::kDynamicUpdateSlice && step->operand == 0);
    if (!holds) plan_.computes.push_back(i);
    plan_.on_host.push_back(place);
    if (i->opcode() == Opcode::kAsyncDone) AddAsyncPlace(i->operand(0), {1}, place.index);
    if (i->IsParameter())
      for (Instruction* caller : i->parent()->Callers())
        if (caller->opcode() == Opcode::kAsyncStart)
          AddAsyncPlace(caller, {0, i->parameter_number()}, place.index);
  }

  void AddAsyncPlace(Instruction* start, ShapeIndex index, const ShapeIndex& within) {
    index.insert(index.end(), within.begin(), within.end());
    if (ArrayAt({start, index}) != nullptr) plan_.on_host.push_back({start, std::move(index)});
  }

  // The module's result lies on the host where its layout says so; else a copy comes back.
  void FollowResult(const ValuePlace& place) {
    if (IsHostResult(*place.instruction->parent(), place.index)) return;
    if (place.index.empty())
      plan_.reads.push_back({nullptr, 0, place});
    else
      escapes_ = true;
  }

  void FollowSteps(const ValuePlace& place) {
    for (const PathStep& step : StepsFrom(place)) {
      if (step.user != nullptr && EndsAt(step)) continue;
      Visit(step.to, &step);
    }
  }

  // Whether the array goes no further on the host.
  bool EndsAt(const PathStep& step) {
    Instruction* user = step.user;
    if (IsUnaryCallOf(user, kMoveToDevice)) {
      plan_.reads.push_back(step);
      return true;
    }
    if (user->opcode() == Opcode::kSend && user->attr<SendRecvAttrs>().is_host_transfer)
      return true;
    const bool slices = step.operand == 0 && (user->opcode() == Opcode::kDynamicSlice ||
                                              (user->opcode() == Opcode::kSlice && !Strides(user)));
    if (slices && LeadsToDevice(user)) {
      if (user->opcode() == Opcode::kSlice) plan_.slices.push_back(user);
      return true;
    }
    const bool is_result = user->IsRoot() && user->parent()->IsEntry() &&
                           user->opcode() == Opcode::kTuple && step.to.index.size() == 1 &&
                           user->users().empty() && !IsHostResult(*user->parent(), step.to.index);
    const bool several = !HoldsOnly(user) && !user->shape().IsArray();
    if (!is_result && !several) return false;
    plan_.reads.push_back(step);
    return true;
  }

  static bool Strides(const Instruction* slice) {
    const SliceSpec& dims = slice->attr<SliceAttrs>().slice;
    return std::any_of(dims.begin(), dims.end(), [](const SliceDim& d) { return d.stride != 1; });
  }

  // Whether all that read the slice move it to the device.
  static bool LeadsToDevice(Instruction* slice) {
    std::vector<ValuePlace> work = {{slice, {}}};
    while (!work.empty()) {
      const ValuePlace place = std::move(work.back());
      work.pop_back();
      for (const PathStep& step : StepsFrom(place)) {
        if (IsUnaryCallOf(step.to.instruction, kMoveToDevice)) continue;
        if (!OnlyRenames(step.to.instruction)) return false;
        work.push_back(step.to);
      }
      if (place.instruction->IsRoot() && place.instruction->parent()->IsEntry()) return false;
    }
    return true;
  }

  // Whether what the step comes from has origins itself; else it is brought to the host there.
  bool HasOrigins(const PathStep& step) {
    Instruction* from = step.to.instruction;
    if (IsOnHost(ArrayAt(step.to)) || IsUnaryCallOf(from, kMoveToHost)) return false;
    if (IsAllocation(from)) {
      plan_.on_host.push_back(step.to);
      return false;
    }
    const bool known = !StepsTo(step.to).empty() && ArrayAt(step.to) != nullptr;
    if (known) return true;
    if (!step.to.index.empty()) {
      escapes_ = true;
    } else if (from->opcode() == Opcode::kBroadcast &&
               (IsSplat(from, 0) || (in_loop_ && !IsInLoop(from)))) {
      plan_.allocations.push_back(step);
    } else {
      plan_.copies.push_back(step);
    }
    return false;
  }

  // The condition of a loop sees the state that the body does.
  void FollowLoopState(const ValuePlace& place) {
    if (!place.instruction->IsParameter()) return;
    for (Instruction* caller : place.instruction->parent()->Callers()) {
      if (caller->opcode() != Opcode::kWhile) continue;
      for (const int64_t k : {0, 1}) Visit({caller->called(k)->parameter(0), place.index}, nullptr);
    }
    while (!todo_.empty() && !escapes_) {
      const ValuePlace next = std::move(todo_.front());
      todo_.pop_front();
      FollowSteps(next);
    }
  }

  Plan plan_;
  std::deque<ValuePlace> todo_;
  absl::flat_hash_set<ValuePlace> seen_;
  bool escapes_ = false, in_loop_ = false;
};

class Offloader {
 public:
  explicit Offloader(Module& module) : module_(module) {}

  // Arguments that come on the host.
  bool FollowArguments() {
    const auto& layout = module_.header().entry_layout;
    if (!layout) return false;
    bool changed = false;
    for (Instruction* parameter : module_.entry()->parameters()) {
      const size_t p = parameter->parameter_number();
      if (p < layout->parameters.size())
        changed |= FollowArgument(parameter, layout->parameters[p], {});
    }
    return changed;
  }

  // False where nothing can be done about the move.
  bool Offload(Instruction* move) {
    const std::vector<Start> starts = StartsOf(move);
    std::vector<Plan> plans;
    for (const Start& start : starts) {
      std::optional<Plan> plan = start.is_update()
                                     ? Follower().FollowUpdated(start.step.user)
                                     : Follower().FollowFrom(start.step.to, &start.step);
      if (!plan) return false;
      plans.push_back(*std::move(plan));
    }
    for (size_t k = 0; k < starts.size(); ++k) {
      if (!starts[k].is_update()) BringToHost(starts[k]);
      Apply(plans[k]);
    }
    const bool is_result = move->IsRoot() && move->parent()->IsEntry();
    Replace(move, is_result ? CopyInto(move->operand(0), kHostSpace) : move->operand(0));
    return true;
  }

  bool MoveBack(Instruction* move) {
    if (!SameButForSpace(move->shape(), move->operand(0)->shape())) return false;
    Replace(move, move->operand(0));
    return true;
  }

  // In functions an update that comes from an argument is copied first, so that what is written
  // and what is read by the loop can be ordered.
  bool CopyUpdates() {
    bool changed = false;
    for (Computation* c : module_.ComputationsPostOrder()) {
      if (c->IsEntry()) continue;
      for (Instruction* i : c->PostOrder()) {
        if (i->opcode() != Opcode::kDynamicUpdateSlice || !IsOnHost(&i->shape()) ||
            !ComesFromArgument(i->operand(1)))
          continue;
        Instruction* update = i->operand(1);
        i->SetOperand(1, c->Add(Opcode::kCopy, update->shape(), {update}));
        changed = true;
      }
    }
    return changed;
  }

  // Results of functions of the host that are only results of the module stay there.
  bool KeepHostResults(Instruction* start) {
    if (start->users().size() != 1 || start->users()[0]->opcode() != Opcode::kAsyncDone)
      return false;
    Instruction* done = start->users()[0];
    bool changed = false;
    if (done->shape().IsArray()) return KeepHostResult(done, {});
    for (size_t k = 0; k < done->shape().elements.size(); ++k)
      changed |= KeepHostResult(done, {static_cast<int64_t>(k)});
    return changed;
  }

  bool IsGone(const Instruction* i) const { return gone_.contains(i); }

  static bool SameButForSpace(const Shape& a, const Shape& b) {
    return SameShape(InSpace(a, 0), InSpace(b, 0));
  }

 private:
  bool FollowArgument(Instruction* parameter, const Shape& layout, const ShapeIndex& index) {
    bool changed = false;
    for (size_t k = 0; k < layout.elements.size(); ++k) {
      ShapeIndex inner = index;
      inner.push_back(static_cast<int64_t>(k));
      changed |= FollowArgument(parameter, layout.elements[k], inner);
    }
    if (!IsOnHost(&layout)) return changed;
    const std::optional<Plan> plan = Follower().FollowFrom({parameter, index});
    if (!plan) return changed;
    Apply(*plan);
    return true;
  }

  std::vector<Start> StartsOf(Instruction* move) {
    std::vector<Start> starts;
    std::deque<ValuePlace> work = {{move, {}}};
    while (!work.empty()) {
      const ValuePlace place = std::move(work.front());
      work.pop_front();
      for (const PathStep& step : StepsFrom(place)) {
        const bool on = step.user != nullptr && step.to.index.empty() &&
                        step.to.instruction == step.user && OnlyRenames(step.user);
        if (on)
          work.push_back(step.to);
        else
          starts.push_back({place.instruction, step});
      }
    }
    return starts;
  }

  Instruction* OnHost(Instruction* value) {
    Instruction*& copy = copies_[value];
    if (copy == nullptr) copy = CopyInto(value, kHostSpace);
    return copy;
  }

  void BringToHost(const Start& start) {
    if (IsOnHost(&start.value->shape())) return;
    Instruction* copy = OnHost(start.value);
    Read(start.step, start.value, copy);
  }

  // The step's reader reads `made` where it read `value`.
  static void Read(const PathStep& step, Instruction* value, Instruction* made) {
    if (step.user != nullptr)
      step.user->SetOperand(step.operand, made);
    else if (value->IsRoot())
      value->parent()->set_root(made);
  }

  void Apply(const Plan& plan) {
    for (const ValuePlace& place : plan.on_host)
      if (Shape* shape = IsGone(place.instruction) ? nullptr : ArrayAt(place))
        *shape = InSpace(std::move(*shape), kHostSpace);
    for (Instruction* i : plan.computes)
      if (!IsGone(i)) SetFrontendAttribute(*i, kComputeType, "host");
    for (const PathStep& step : plan.allocations) {
      Instruction* broadcast = step.to.instruction;
      if (IsOnHost(&broadcast->shape())) continue;
      CustomCallAttrs call;
      call.target = kAllocateBuffer;
      Read(step, broadcast,
           broadcast->parent()->Add(Opcode::kCustomCall, InSpace(broadcast->shape(), kHostSpace),
                                    {}, std::move(call)));
      if (broadcast->users().empty() && !broadcast->IsRoot()) {
        gone_.insert(broadcast);
        broadcast->parent()->RemoveIfDead(broadcast);
      }
    }
    for (const PathStep& step : plan.copies)
      Read(step, step.to.instruction, OnHost(step.to.instruction));
    for (const PathStep& step : plan.reads) ReadOnDevice(step);
    for (Instruction* slice : plan.slices)
      if (!IsGone(slice)) SliceByIndices(slice);
    for (Instruction* move : plan.moves)
      if (!IsGone(move)) Replace(move, move->operand(0));
  }

  void ReadOnDevice(const PathStep& step) {
    if (step.user == nullptr) {
      Instruction* root = step.to.instruction;
      if (root->IsRoot() && IsOnHost(&root->shape())) root->parent()->set_root(CopyInto(root, 0));
      return;
    }
    Instruction* array = step.user->operand(step.operand);
    if (IsOnHost(&array->shape())) step.user->SetOperand(step.operand, CopyInto(array, 0));
  }

  void SliceByIndices(Instruction* slice) {
    Computation& c = *slice->parent();
    std::vector<Instruction*> operands = {slice->operand(0)};
    DynamicSliceAttrs attrs;
    for (const SliceDim& d : slice->attr<SliceAttrs>().slice) {
      operands.push_back(c.AddConstant(Literal::R0<int32_t>(static_cast<int32_t>(d.start))));
      attrs.dynamic_slice_sizes.push_back(d.limit - d.start);
    }
    Instruction* made = c.Add(Opcode::kDynamicSlice, slice->shape(), operands, std::move(attrs));
    made->CopyExtrasFrom(*slice);
    Replace(slice, made);
  }

  // The users of `old`, and whoever waits for it, go to `made`.
  void Replace(Instruction* old, Instruction* made) {
    const bool own = made->users().empty();
    old->ReplaceAllUsesWith(made);
    const std::vector<Instruction*> before(old->control_predecessors().begin(),
                                           old->control_predecessors().end());
    const std::vector<Instruction*> after(old->control_successors().begin(),
                                          old->control_successors().end());
    if (own)
      for (Instruction* predecessor : before) made->AddControlPredecessor(predecessor);
    for (Instruction* successor : after) successor->AddControlPredecessor(made);
    old->DropControlEdges();
    copies_.erase(old);
    gone_.insert(old);
    old->parent()->Remove(old);
  }

  static bool ComesFromArgument(Instruction* i) {
    while (i->opcode() == Opcode::kGetTupleElement || i->opcode() == Opcode::kBitcast)
      i = i->operand(0);
    return i->IsParameter();
  }

  bool KeepHostResult(Instruction* done, const ShapeIndex& index) {
    std::vector<ValuePlace> places = {{done, index}};
    absl::flat_hash_set<ValuePlace> seen(places.begin(), places.end());
    bool is_result = false;
    for (size_t at = 0; at < places.size(); ++at)
      for (const PathStep& step : StepsFrom(ValuePlace(places[at]))) {
        if (!StaysOnHost(step, is_result)) return false;
        if (seen.insert(step.to).second) places.push_back(step.to);
      }
    if (!is_result || ArrayAt({done, index}) == nullptr) return false;
    Instruction* start = done->operand(0);
    ShapeIndex output = {1};
    output.insert(output.end(), index.begin(), index.end());
    places.push_back({start, output});
    places.push_back({start->to_apply()->root(), index});
    for (const PathStep& step : StepsTo(ValuePlace(places.back()))) {
      if (step.to.instruction->IsParameter()) return false;
      places.push_back(step.to);
    }
    bool changed = false;
    for (const ValuePlace& place : places) {
      if (IsUnaryCallOf(place.instruction, kMoveToHost)) continue;
      Shape* shape = ArrayAt(place);
      if (shape == nullptr || IsOnHost(shape)) continue;
      *shape = InSpace(std::move(*shape), kHostSpace);
      changed = true;
    }
    for (const ValuePlace& place : places)
      if (IsUnaryCallOf(place.instruction, kMoveToHost)) {
        Replace(place.instruction, place.instruction->operand(0));
        changed = true;
      }
    return changed;
  }

  static bool StaysOnHost(const PathStep& step, bool& is_result) {
    const Instruction* i = step.to.instruction;
    if (!HoldsOnly(i) || i->opcode() == Opcode::kAsyncStart || i->opcode() == Opcode::kAsyncDone ||
        (step.user != nullptr && step.user->opcode() == Opcode::kAsyncStart) ||
        (i->opcode() == Opcode::kCustomCall && !IsUnaryCallOf(i, kMoveToHost)))
      return false;
    if (i->IsRoot() && i->parent()->IsEntry()) {
      if (!IsHostResult(*i->parent(), step.to.index)) return false;
      is_result = true;
    }
    return true;
  }

  Module& module_;
  absl::flat_hash_map<const Instruction*, Instruction*> copies_;  // on the host
  absl::flat_hash_set<const Instruction*> gone_;
};

// Calls of `target` that name an array of their operand's shape; callers before what they call,
// in the order that they run.
void CollectMoves(Computation* c, absl::string_view target,
                  absl::flat_hash_set<const Computation*>& seen, std::vector<Instruction*>& moves) {
  if (!seen.insert(c).second) return;
  for (Instruction* i : c->PostOrder()) {
    if (IsUnaryCallOf(i, target) && i->shape().IsArray() &&
        Offloader::SameButForSpace(i->shape(), i->operand(0)->shape()))
      moves.push_back(i);
    for (Computation* called : i->called()) CollectMoves(called, target, seen, moves);
  }
}

std::vector<Instruction*> MovesOf(Module& module, absl::string_view target) {
  std::vector<Instruction*> moves;
  absl::flat_hash_set<const Computation*> seen;
  CollectMoves(module.entry(), target, seen, moves);
  return moves;
}

void MergeCopies(Module& module) {
  for (Computation* c : module.ComputationsPostOrder()) MergeEqual(*c);
}

absl::StatusOr<bool> OffloadAll(Module& module, RewriteControl& control) {
  Offloader offloader(module);
  bool changed = false;
  for (Computation* c : module.ComputationsPostOrder())
    for (Instruction* i : c->PostOrder())
      if (!offloader.IsGone(i) && i->opcode() == Opcode::kAsyncStart &&
          i->attr<AsyncAttrs>().async_execution_thread == kHostThread)
        changed |= offloader.KeepHostResults(i);
  changed |= offloader.FollowArguments();
  bool all = true;
  for (Instruction* move : MovesOf(module, kMoveToHost)) {
    if (offloader.IsGone(move)) continue;
    const bool offloaded =
        control.Permit("host-offloader", *move, *move) && offloader.Offload(move);
    changed |= offloaded;
    all &= offloaded;
  }
  if (all)  // else some belong to moves that stay
    for (Instruction* move : MovesOf(module, kMoveToDevice)) changed |= offloader.MoveBack(move);
  changed |= offloader.CopyUpdates();
  if (changed) MergeCopies(module);
  return changed;
}

}  // namespace

std::unique_ptr<Pass> CreateHostOffloader() { return MakeModulePass("host-offloader", OffloadAll); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
