// Scatters by search: each thread has one element of the result and looks for the updates of it.
//
//   r = scatter(base, indices[u], updates[u], add)     r[i] = base[i]
//   thread i:                                          for u: if (indices[u] == i) r[i] +=
//   updates[u]
//
// Updates are combined in their order, as the interpreter does, by one thread: the same bits on
// every run. The base is computed on the way, so that zeros that sums begin with are never
// in memory. Cost: elements of the base times windows (u), four instructions each.
//
// Where the base is much larger than the updates, it is copied (or lies in place), and a thread
// takes the target of one update element. The first one of a target does the work of all:
//   thread u:  i = indices[u];  if (no v < u has indices[v] == i)
//                for v >= u: if (indices[v] == i) r[i] += updates[v]
// Windows that are said to be at unique places are not searched. Cost: update elements times
// windows.
//
// Long ones whose indices are sorted (scatter-sorter sees to it) are not searched either: the first
// update of a target, whose neighbour before has another one, goes on to the last,
//   thread u:  if (indices[u - 1] != indices[u])
//                for (v = u; indices[v] == indices[u]; ++v) r[indices[u]] += updates[v]
// Cost: update elements, and the commonest target's updates one after the other; sums of floats
// share long runs among threads (scatter_run_kernels.cc).
//
// Sums, maxima and the like of integers of 32 and 64 bits do not depend on the order: the base is
// copied (or lies in place), and each thread combines one update element by an atomic operation.
// Cost: update elements, some 20 instructions each. Maxima and minima of floats likewise, as
// integers: those of positive floats order as the floats do, those of negative ones the other way,
//   maximum  v >= 0: atom.max.s32    v < 0: atom.min.u32
//   minimum  v >= 0: atom.min.s32    v < 0: atom.max.u32
//
// Small ones (sm_80 on) are one warp's: each lane takes an update element, lanes of one target find
// each other (match.any) and combine their updates from the lowest lane on, which is the order of
// the updates; 32 elements at a time:
//   lanes  0 1 2 3         lanes 0 and 2: r[7] = (r[7] + u0) + u2
//   target 7 4 7 4         lanes 1 and 3: r[4] = (r[4] + u1) + u3
// Cost: some 30 instructions for 32 elements and 10 for each further update of the commonest
// target.
//
// Batches of updates that have batches of the base for themselves are looked through alone.
//
// Limits: kMaxSearchSteps in all; more are done in order by one thread (codegen/scatter.cc).
#include "backends/cuda/scatter_kernels.h"

#include <algorithm>

#include "backends/cuda/scatter_plan_internal.h"
#include "backends/cuda/thread_group.h"
#include "codegen/scatter_starts.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "ops/dim_lists.h"

namespace hlokit {
namespace {

// What one warp does alone: elements of the base and of the updates.
constexpr int64_t kMaxTeamElements = 4096;
// Instructions: of a step of a search, of 32 elements of the base or the updates for a team.
constexpr int64_t kStepCost = 8, kTeamBaseCost = 12, kTeamUpdateCost = 100;

// Whether one warp alone takes fewer instructions than the search of all.
bool IsForTeam(const ScatterPlan& plan) {
  const int64_t base = plan.base().ElementCount(), updates = plan.updates().ElementCount();
  if (base > kMaxTeamElements || updates > kMaxTeamElements || plan.dims().unique_indices)
    return false;
  const auto warps = [](int64_t threads) { return (threads + kWarp - 1) / kWarp; };
  const int64_t search = warps(plan.by_result ? base : updates) * plan.windows * kStepCost;
  return warps(base) * kTeamBaseCost + warps(updates) * kTeamUpdateCost < search;
}

// Emits one thread's work.
class SearchEmitter {
 public:
  SearchEmitter(const ScatterPlan& plan, Builder& b, KernelArrays& arrays)
      : plan_(plan), s_(*plan.scatter), b_(b), arrays_(arrays), emitter_(b) {
    BindLeaves(emitter_, plan.e, arrays);
  }

  // One element of the result: its base, and all updates of it.
  void EmitResult(llvm::Value* unit) {
    const ElementIndex index = WithMulti(b_, ElementIndex::Linear(unit), plan_.e.shapes[0]);
    target_ = index.multi;
    std::vector<ScalarValue> base;
    for (int64_t k = 0; k < plan_.arrays; ++k)
      base.push_back(emitter_.Emit(s_.operand(k), ElementIndex::Multi(target_)));
    Store(CombineAll(base));
  }

  // The target of one element of the updates, whose base is in the result.
  void EmitUpdate(llvm::Value* unit) {
    std::vector<llvm::Value*> index(plan_.updates().rank(), b_.Index(0));
    DimVector order = plan_.batch;  // neighbouring threads have neighbours of one window
    for (const int64_t d : plan_.dims().update_window_dims) order.push_back(d);
    Delinearize(b_, unit, order, plan_.updates().dims, index);
    llvm::Value* number = b_.CreateUDiv(unit, b_.Index(plan_.WindowElements()));
    if (!plan_.tied.empty()) number = b_.CreateURem(number, b_.Index(plan_.windows));
    ScatterStart start = EmitScatterStart(emitter_, s_, index);
    EmitIf(b_, start.inside, [&] {
      emitter_.BeginScope();
      target_ = start.at;
      size_t next = 0;
      for (size_t d = 0; d < target_.size(); ++d)
        if (IsWindowDim(d))
          target_[d] = b_.CreateNSWAdd(target_[d], index[plan_.dims().update_window_dims[next++]]);
      if (plan_.atomic.has_value()) {
        CombineInMemory(index);
      } else if (plan_.dims().unique_indices) {
        Store(Combine(Loaded(), index));
      } else if (plan_.in_runs) {
        EmitIf(b_, b_.CreateNot(HasNeighbourBefore(number)),
               [&] { Store(CombineRun(number, Loaded())); });
      } else {
        EmitIf(b_, b_.CreateNot(IsTakenBefore(number)),
               [&] { Store(CombineFrom(number, Loaded())); });
      }
      emitter_.EndScope();
    });
  }

  // All of the scatter for lane `lane` of a warp.
  void EmitTeam(llvm::Value* lane) {
    EmitByWarp(lane, plan_.base().ElementCount(), [&](llvm::Value* element) {
      emitter_.BeginScope();
      target_ = WithMulti(b_, ElementIndex::Linear(element), plan_.e.shapes[0]).multi;
      std::vector<ScalarValue> base;
      for (int64_t k = 0; k < plan_.arrays; ++k)
        base.push_back(emitter_.Emit(s_.operand(k), ElementIndex::Multi(target_)));
      Store(base);
      emitter_.EndScope();
    });
    MeetWarp();
    const int64_t count = plan_.updates().ElementCount();
    EmitChunks(count, [&](llvm::Value* chunk) {
      llvm::Value* const element = b_.CreateNSWAdd(Scale(b_, chunk, kWarp), lane);
      CombineChunk(element,
                   count % kWarp == 0 ? nullptr : b_.CreateICmpULT(element, b_.Index(count)));
      if (count > kWarp) MeetWarp();
    });
  }

 private:
  // body(chunk) for each 32 of `count` elements.
  void EmitChunks(int64_t count, absl::FunctionRef<void(llvm::Value*)> body) {
    if (count <= kWarp) return body(b_.Index(0));
    EmitLoopCarrying(b_, (count + kWarp - 1) / kWarp, {}, [&](llvm::Value* chunk, const Values&) {
      body(chunk);
      return Values{};
    });
  }
  // body(element) for all elements below `count`, 32 at a time.
  void EmitByWarp(llvm::Value* lane, int64_t count, absl::FunctionRef<void(llvm::Value*)> body) {
    EmitChunks(count, [&](llvm::Value* chunk) {
      llvm::Value* const element = b_.CreateNSWAdd(Scale(b_, chunk, kWarp), lane);
      if (count % kWarp == 0) return body(element);
      EmitIf(b_, b_.CreateICmpULT(element, b_.Index(count)), [&] { body(element); });
    });
  }

  void MeetWarp() {
    b_.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {}, {b_.getInt32(0xffffffffu)});
  }

  // The place of update element `element` in the base, or -1; and its values.
  Values TargetOf(llvm::Value* element, std::vector<ScalarValue>& values) {
    std::vector<llvm::Value*> index(plan_.updates().rank(), b_.Index(0));
    DimVector order = plan_.batch;
    for (const int64_t d : plan_.dims().update_window_dims) order.push_back(d);
    Delinearize(b_, element, order, plan_.updates().dims, index);
    const ScatterStart start = EmitScatterStart(emitter_, s_, index);
    llvm::Value* linear = b_.Index(0);
    size_t next = 0;
    for (size_t d = 0; d < start.at.size(); ++d) {
      llvm::Value* at = start.at[d];
      if (IsWindowDim(d)) at = b_.CreateNSWAdd(at, index[plan_.dims().update_window_dims[next++]]);
      linear = b_.CreateAdd(b_.CreateMul(linear, b_.Index(plan_.base().dims[d])), at);
    }
    for (int64_t k = 0; k < plan_.arrays; ++k)
      values.push_back(emitter_.Emit(s_.operand(plan_.arrays + 1 + k), ElementIndex::Multi(index)));
    Values all = Flatten(values);
    all.push_back(b_.CreateSelect(start.inside, b_.CreateTrunc(linear, b_.getInt32Ty()),
                                  b_.getInt32(0xffffffffu)));
    return all;
  }

  // 32 update elements, one a lane, where `valid` holds (null: all).
  void CombineChunk(llvm::Value* element, llvm::Value* valid) {
    emitter_.BeginScope();
    std::vector<ScalarValue> like;
    Values mine;
    if (valid == nullptr) {
      mine = TargetOf(element, like);
    } else {
      std::vector<llvm::Type*> types;
      mine = EmitIfElse(
          b_, valid,
          [&] {
            emitter_.BeginScope();
            Values all = TargetOf(element, like);
            for (llvm::Value* value : all) types.push_back(value->getType());
            emitter_.EndScope();
            return all;
          },
          [&] {
            Values none;
            for (llvm::Type* type : types) none.push_back(llvm::Constant::getNullValue(type));
            none.back() = b_.getInt32(0xffffffffu);
            return none;
          });
    }
    llvm::Value* const key = mine.back();
    mine.pop_back();
    llvm::Value* const inside = b_.CreateICmpSGE(key, b_.getInt32(0));
    llvm::Value* const team =
        b_.CreateSelect(inside,
                        b_.CreateIntrinsic(llvm::Intrinsic::nvvm_match_any_sync_i32, {},
                                           {b_.getInt32(0xffffffffu), key}),
                        b_.getInt32(0));
    llvm::Value* const rounds = b_.CreateIntrinsic(
        llvm::Intrinsic::nvvm_redux_sync_umax, {},
        {b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, team), b_.getInt32(0xffffffffu)});
    target_ = WithMulti(b_,
                        ElementIndex::Linear(b_.CreateZExtOrTrunc(
                            b_.CreateSelect(inside, key, b_.getInt32(0)), b_.IndexType())),
                        LogicalShape())
                  .multi;
    // All lanes of a team combine the same, so that none waits for another.
    Values carried = Flatten(Loaded());
    carried.push_back(team);
    carried = EmitLoopCarrying(
        b_, b_.Index(0), b_.CreateZExtOrTrunc(rounds, b_.IndexType()), carried,
        [&](llvm::Value*, const Values& now) { return CombineRound(now, mine, like); });
    carried.pop_back();
    MeetWarp();  // all lanes have loaded
    EmitIf(b_, inside, [&] { Store(Unflatten(carried, like)); });
    emitter_.EndScope();
  }

  // The values and the lanes still to come, after those of the lowest of these.
  Values CombineRound(const Values& now, const Values& mine, const std::vector<ScalarValue>& like) {
    llvm::Value* const rest = now.back();
    llvm::Value* const lane =
        b_.CreateIntrinsic(llvm::Intrinsic::cttz, {b_.getInt32Ty()}, {rest, b_.getFalse()});
    Values theirs;
    for (llvm::Value* value : mine) theirs.push_back(ReadLane(b_, value, lane));
    const Values values(now.begin(), now.end() - 1);
    Values next = EmitIfElse(
        b_, b_.CreateICmpNE(rest, b_.getInt32(0)),
        [&] {
          emitter_.BeginScope();
          std::vector<ScalarValue> both = Unflatten(values, like);
          for (const ScalarValue& update : Unflatten(theirs, like)) both.push_back(update);
          Values combined = Flatten(emitter_.Apply(*s_.to_apply(), both));
          emitter_.EndScope();
          return combined;
        },
        [&] { return values; });
    next.push_back(b_.CreateAnd(rest, b_.CreateSub(rest, b_.getInt32(1))));
    return next;
  }

  // The base's with its dimensions in their order, for TargetOf's places.
  Shape LogicalShape() const { return Shape::Array(plan_.base().type, plan_.base().dims); }

  bool IsWindowDim(size_t d) const {
    return IsScatterWindowDim(plan_.dims(), static_cast<int64_t>(d));
  }

  std::vector<ScalarValue> Loaded() {
    std::vector<ScalarValue> values;
    for (int64_t k = 0; k < plan_.arrays; ++k)
      values.push_back(
          LoadFrom(b_, {arrays_.result(k).base, plan_.e.shapes[k]}, ElementIndex::Multi(target_)));
    return values;
  }

  void Store(const std::vector<ScalarValue>& values) {
    for (int64_t k = 0; k < plan_.arrays; ++k)
      StoreTo(b_, {arrays_.result(k).base, plan_.e.shapes[k]}, ElementIndex::Multi(target_),
              values[k]);
  }

  // Whether window number `number` has the target; `index` becomes the update element for it.
  llvm::Value* Hits(llvm::Value* number, std::vector<llvm::Value*>& index) {
    index.assign(plan_.updates().rank(), b_.Index(0));
    Delinearize(b_, number, plan_.searched, plan_.updates().dims, index);
    for (const auto& [update, base] : plan_.tied) index[update] = target_[base];
    const ScatterStart start = EmitScatterStart(emitter_, s_, index);
    // An element of the base that equals the start of a window of one element lies inside.
    llvm::Value* hit = IsInsideWhereHit() ? b_.getTrue() : start.inside;
    size_t next = 0;
    for (size_t d = 0; d < target_.size(); ++d) {
      if (!IsWindowDim(d)) {
        hit = b_.CreateAnd(hit, b_.CreateICmpEQ(target_[d], start.at[d]));
        continue;
      }
      llvm::Value* const offset = b_.CreateSub(target_[d], start.at[d]);
      const int64_t u = plan_.dims().update_window_dims[next++];
      // A whole window inside can only start at 0.
      const bool starts_at_zero = plan_.updates().dims[u] == plan_.base().dims[d] &&
                                  !(IsInsideWhereHit() && IsScattered(static_cast<int64_t>(d)));
      if (!starts_at_zero)
        hit = b_.CreateAnd(hit, b_.CreateICmpULT(offset, b_.Index(plan_.updates().dims[u])));
      index[u] = offset;
    }
    return hit;
  }

  bool IsScattered(int64_t d) const {
    return Contains(plan_.dims().scatter_dims_to_operand_dims, d);
  }

  bool IsInsideWhereHit() const {
    const int bits = BitWidth(s_.operand(plan_.arrays)->shape().type);
    return bits <= static_cast<int>(b_.IndexType()->getBitWidth()) &&  // else starts were cut
           HasDisjointWindows(s_);
  }

  llvm::Value* IsTakenBefore(llvm::Value* number) {
    return EmitLoopCarrying(b_, b_.Index(0), number, {b_.getFalse()},
                            [&](llvm::Value* earlier, const Values& taken) {
                              emitter_.BeginScope();
                              std::vector<llvm::Value*> index;
                              llvm::Value* const hit = Hits(earlier, index);
                              emitter_.EndScope();
                              return Values{b_.CreateOr(taken[0], hit)};
                            })[0];
  }

  std::vector<ScalarValue> Combine(std::vector<ScalarValue> values,
                                   const std::vector<llvm::Value*>& index) {
    for (int64_t k = 0; k < plan_.arrays; ++k)
      values.push_back(emitter_.Emit(s_.operand(plan_.arrays + 1 + k), ElementIndex::Multi(index)));
    return emitter_.Apply(*s_.to_apply(), values);
  }

  void CombineInMemory(const std::vector<llvm::Value*>& index) {
    llvm::Value* const at = ElementPointer(b_, {arrays_.result(0).base, plan_.e.shapes[0]},
                                           ElementIndex::Multi(target_));
    const ScalarValue update = emitter_.Emit(s_.operand(2), ElementIndex::Multi(index));
    if (llvm::AtomicRMWInst::isFPOperation(*plan_.atomic))
      CombineFloatInMemory(at, update.re, *plan_.atomic == llvm::AtomicRMWInst::FMax);
    else
      Atomically(*plan_.atomic, at, update.re);
  }

  void Atomically(llvm::AtomicRMWInst::BinOp operation, llvm::Value* at, llvm::Value* value) {
    b_.CreateAtomicRMW(operation, at, value, llvm::MaybeAlign(), llvm::AtomicOrdering::Monotonic,
                       DeviceScope());
  }
  llvm::SyncScope::ID DeviceScope() { return b_.getContext().getOrInsertSyncScopeID("device"); }

  // A NaN becomes the one that no later update changes: of a maximum the positive, of a minimum the
  // negative one. One that was in the base stays, for every thread finds it there.
  void CombineFloatInMemory(llvm::Value* at, llvm::Value* update, bool is_maximum) {
    using Atomic = llvm::AtomicRMWInst;
    llvm::Type* const type = update->getType();
    llvm::IntegerType* const word = b_.getIntNTy(type->getScalarSizeInBits());
    llvm::LoadInst* const loaded =
        b_.CreateAlignedLoad(word, at, llvm::Align(word->getBitWidth() / 8));
    loaded->setAtomic(llvm::AtomicOrdering::Monotonic, DeviceScope());
    llvm::Value* const old = b_.CreateBitCast(loaded, type);
    // Of equals, too: zeros have signs.
    llvm::Value* const matters =
        is_maximum ? b_.CreateFCmpUGE(update, old) : b_.CreateFCmpULE(update, old);
    EmitIf(b_, b_.CreateAnd(matters, b_.CreateFCmpORD(old, old)), [&] {
      llvm::Value* const nan = llvm::ConstantFP::getQNaN(type, /*Negative=*/!is_maximum);
      llvm::Value* const bits =
          b_.CreateBitCast(b_.CreateSelect(b_.CreateFCmpUNO(update, update), nan, update), word);
      llvm::Value* const is_negative = b_.CreateICmpSLT(bits, llvm::ConstantInt::get(word, 0));
      EmitIf(b_, is_negative,
             [&] { Atomically(is_maximum ? Atomic::UMin : Atomic::UMax, at, bits); });
      EmitIf(b_, b_.CreateNot(is_negative),
             [&] { Atomically(is_maximum ? Atomic::Max : Atomic::Min, at, bits); });
    });
  }

  // `base` combined with the updates of the target, from window number `first` on.
  std::vector<ScalarValue> CombineFrom(llvm::Value* first, const std::vector<ScalarValue>& base) {
    const Values last = EmitLoopCarrying(
        b_, first, b_.Index(plan_.windows), Flatten(base),
        [&](llvm::Value* number, const Values& carried) { return Step(number, carried, base); });
    return Unflatten(last, base);
  }

  // Whether the window before number `number` has the target.
  llvm::Value* HasNeighbourBefore(llvm::Value* number) {
    return EmitIfElse(
        b_, b_.CreateICmpNE(number, b_.Index(0)),
        [&] {
          emitter_.BeginScope();
          std::vector<llvm::Value*> index;
          llvm::Value* const hit = Hits(b_.CreateNSWSub(number, b_.Index(1)), index);
          emitter_.EndScope();
          return Values{hit};
        },
        [&] { return Values{b_.getFalse()}; })[0];
  }

  // `base` combined with the updates from window number `first` on while they have the target.
  std::vector<ScalarValue> CombineRun(llvm::Value* first, const std::vector<ScalarValue>& base) {
    Values start = Flatten(base);
    start.push_back(first);
    const auto values_of = [&](const Values& carried) {
      return Unflatten(Values(carried.begin(), carried.end() - 1), base);
    };
    std::vector<llvm::Value*> index;
    emitter_.BeginScope();
    const Values end = EmitWhile(
        b_, start,
        [&](const Values& carried) {
          llvm::Value* const there = b_.CreateICmpULT(carried.back(), b_.Index(plan_.windows));
          llvm::Value* const last = b_.Index(plan_.windows - 1);
          llvm::Value* const hit =
              Hits(b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, carried.back(), last), index);
          return b_.CreateAnd(there, hit);
        },
        [&](const Values& carried) {
          emitter_.BeginScope();
          Values next = Flatten(Combine(values_of(carried), index));
          emitter_.EndScope();
          next.push_back(b_.CreateNSWAdd(carried.back(), b_.Index(1)));
          return next;
        });
    emitter_.EndScope();
    return values_of(end);
  }

  // The same from the first window on; several steps are written out, so that most are a load, a
  // comparison and a branch.
  std::vector<ScalarValue> CombineAll(const std::vector<ScalarValue>& base) {
    constexpr int64_t kSteps = 16;
    const int64_t rest = plan_.windows % kSteps;
    Values values = EmitLoopCarrying(
        b_, plan_.windows / kSteps, Flatten(base), [&](llvm::Value* group, const Values& carried) {
          Values next = carried;
          for (int64_t k = 0; k < kSteps; ++k)
            next = Step(b_.CreateNSWAdd(Scale(b_, group, kSteps), b_.Index(k)), next, base);
          return next;
        });
    for (int64_t k = plan_.windows - rest; k < plan_.windows; ++k)
      values = Step(b_.Index(k), values, base);
    return Unflatten(values, base);
  }

  // The values after window `number`; `like` says of what types they are.
  Values Step(llvm::Value* number, const Values& values, const std::vector<ScalarValue>& like) {
    emitter_.BeginScope();
    std::vector<llvm::Value*> index;
    llvm::Value* const hit = Hits(number, index);
    const Values next = EmitIfElse(
        b_, hit,
        [&] {
          emitter_.BeginScope();
          Values combined = Flatten(Combine(Unflatten(values, like), index));
          emitter_.EndScope();
          return combined;
        },
        [&] { return values; });
    emitter_.EndScope();
    return next;
  }

  const ScatterPlan& plan_;
  const Instruction& s_;
  Builder& b_;
  KernelArrays& arrays_;
  ElementEmitter emitter_;
  std::vector<llvm::Value*> target_;  // in the base
};

}  // namespace

bool AddTeamScatterKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  const std::optional<ScatterPlan> plan = PlanScatter(request.expression);
  if (!plan.has_value() || plan->in_runs || !IsForTeam(*plan)) return false;
  Kernel kernel;
  kernel.units = kWarp;
  kernel.emit = [plan = *plan](Builder& b, KernelArrays& arrays, llvm::Value* unit, llvm::Value*) {
    SearchEmitter(plan, b, arrays).EmitTeam(unit);
  };
  out.push_back(std::move(kernel));
  return true;
}

bool AddSearchedScatterKernels(const KernelRequest& request, std::vector<Kernel>& out) {
  const std::optional<ScatterPlan> plan = PlanScatter(request.expression);
  if (!plan.has_value()) return false;
  const bool by_result = plan->by_result && !plan->atomic.has_value();
  if (!by_result)
    for (int64_t k = 0; k < plan->arrays; ++k)
      AddScatterBase(request, plan->scatter->operand(k), k, out);
  Kernel kernel;
  kernel.units = (by_result ? plan->base() : plan->updates()).ElementCount();
  kernel.emit = [=, plan = *plan](Builder& b, KernelArrays& arrays, llvm::Value* unit,
                                  llvm::Value*) {
    SearchEmitter emitter(plan, b, arrays);
    if (by_result)
      emitter.EmitResult(unit);
    else
      emitter.EmitUpdate(unit);
  };
  out.push_back(std::move(kernel));
  return true;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
